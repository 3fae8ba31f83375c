#include "redraw.h"

#include "base/str.h"

#include <time.h>

static void pause_ms(int64_t ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

static void show(struct rco_cli *cli, const struct rco_buf *screen, int64_t number)
{
    rco_autobuf out = RCO_BUF_INIT;

    if (cli->style.width)
        rco_buf_adds(&out, "\033[H\033[2J"); /* home, clear */
    else if (number)
        rco_buf_adds(&out, "---\n");
    rco_buf_add(&out, screen->data, screen->len);
    rco_cli_print(cli, &out);
}

int rco_redraw(struct rco_cli *cli, rco_screen screen)
{
    rco_autobuf before = RCO_BUF_INIT;

    if (cli->opt->watch && rco_cli_wants_json(cli))
        return rco_cli_usage_error(
            cli, "--watch shows screens for people: use it without -o json or yaml");
    for (int64_t i = 0;; i++) {
        rco_autobuf now = RCO_BUF_INIT;
        struct rco_error err = RCO_ERROR_INIT;
        int code = RCO_EXIT_NOT_FINE;

        if (screen(cli, &now, &code, &err) < 0)
            return rco_cli_fail(cli, &err);
        if (rco_cli_wants_json(cli) && !cli->opt->watch)
            return rco_cli_print_json(cli, &now) ? RCO_EXIT_NOT_FINE : code;
        if (!cli->opt->watch) {
            rco_cli_print(cli, &now);
            return code;
        }
        if (!rco_streq(rco_buf_str(&before), rco_buf_str(&now)))
            show(cli, &now, i);
        rco_buf_clear(&before);
        rco_buf_add(&before, now.data, now.len);
        rco_cli_renew(cli);
        pause_ms(RCO_REDRAW_INTERVAL_MS);
    }
}
