#include "control.h"

#include "trace.h"

#include "base/str.h"
#include "json/writer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct command {
    struct fp_proxy *proxy;
    const char *a, *b, *c; /* words after the verb, "" when absent */
    char *rest;            /* all of them */
    struct rco_buf *out;
    int stop_ms; /* to wait outside of the lock, then SIGCONT */
};

static int bad(struct command *c, const char *why)
{
    rco_buf_addf(c->out, "error %s", why);
    return -1;
}

static int run_pid(struct command *c)
{
    c->proxy->operator_pid = (pid_t)atoi(c->a);
    return 0;
}

static int run_arm(struct command *c)
{
    struct rco_error err = RCO_ERROR_INIT;

    return fp_rules_arm(&c->proxy->rules, c->rest, &err) < 0 ? bad(c, err.msg) : 0;
}

static int run_disarm(struct command *c)
{
    fp_rules_disarm(&c->proxy->rules, c->a);
    return 0;
}

static int set_gate(struct command *c, bool frozen, bool stale)
{
    struct fp_gate *gate = *c->a ? fp_gate_of(&c->proxy->gates, c->a) : NULL;

    if (!gate)
        return bad(c, "which resource?");
    gate->frozen = frozen;
    gate->stale = stale;
    return 0;
}

static int run_freeze(struct command *c)
{
    return set_gate(c, true, false);
}

static int run_stale(struct command *c)
{
    return set_gate(c, true, true);
}

static int run_release(struct command *c)
{
    return set_gate(c, false, false);
}

static int run_skew(struct command *c)
{
    struct fp_gate *gate = *c->a ? fp_gate_of(&c->proxy->gates, c->a) : NULL;

    if (!gate)
        return bad(c, "which resource?");
    gate->skew_ms = atoi(c->b);
    return 0;
}

static int run_cut(struct command *c)
{
    struct fp_gate *gate = *c->a ? fp_gate_of(&c->proxy->gates, c->a) : NULL;

    if (!gate)
        return bad(c, "which resource?");
    gate->cut = c->proxy->watches;
    return 0;
}

static int run_hold(struct command *c)
{
    struct fp_hold *hold = &c->proxy->gates.hold;

    if (!*c->b)
        return bad(c, "hold RES NAME MS");
    snprintf(hold->res, sizeof hold->res, "%s", c->a);
    snprintf(hold->name, sizeof hold->name, "%s", c->b);
    hold->until_ms = fp_now_ms() + atoi(c->c);
    return 0;
}

static void cut_all(struct fp_proxy *p)
{
    for (size_t i = 0; i < FP_CONNECTIONS_MAX; i++)
        if (p->open[i] >= 0)
            shutdown(p->open[i], SHUT_RDWR);
}

static int run_refuse(struct command *c)
{
    c->proxy->gates.refuse = rco_streq(c->a, "on");
    if (c->proxy->gates.refuse)
        cut_all(c->proxy);
    return 0;
}

static int run_black_hole(struct command *c)
{
    c->proxy->gates.black_hole = rco_streq(c->a, "on");
    return 0;
}

static int run_kill(struct command *c)
{
    fp_kill_operator(c->proxy);
    return 0;
}

static int run_stop(struct command *c)
{
    if (c->proxy->operator_pid <= 0 || kill(c->proxy->operator_pid, SIGSTOP) < 0)
        return bad(c, "no operator to stop");
    c->stop_ms = atoi(c->a);
    return 0;
}

static int run_mark(struct command *c)
{
    (void)c;
    return 0;
}

static int run_stats(struct command *c)
{
    const struct fp_proxy *p = c->proxy;
    struct rco_json_writer w;

    rco_buf_adds(c->out, "ok ");
    rco_json_writer_init(&w, c->out);
    rco_json_begin_object(&w);
    rco_json_kv_int(&w, "writes", (int64_t)p->writes);
    rco_json_kv_int(&w, "answers", (int64_t)p->answers);
    rco_json_kv_int(&w, "connections", p->connections);
    rco_json_kv_int(&w, "hidden", p->gates.hold.hidden);
    rco_json_kv_object(&w, "fired");
    for (size_t i = 0; i < p->rules.n; i++)
        rco_json_kv_int(&w, p->rules.all[i].id, p->rules.all[i].fired);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    return 0;
}

static const struct {
    const char *word;
    int (*run)(struct command *c);
} verbs[] = {
    {"pid", run_pid},
    {"arm", run_arm},
    {"disarm", run_disarm},
    {"freeze", run_freeze},
    {"stale", run_stale},
    {"release", run_release},
    {"skew", run_skew},
    {"cut", run_cut},
    {"hold", run_hold},
    {"refuse", run_refuse},
    {"black-hole", run_black_hole},
    {"kill", run_kill},
    {"stop", run_stop},
    {"stats", run_stats},
    {"mark", run_mark},
};

static int find_and_run(struct command *c, const char *verb)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(verbs); i++)
        if (rco_streq(verbs[i].word, verb))
            return verbs[i].run(c);
    return bad(c, "no such command");
}

static void run(struct fp_proxy *p, char *line, struct rco_buf *out)
{
    char words[FP_COMMAND_MAX], *save = NULL;
    struct command c = {.proxy = p, .out = out};
    char *verb = strtok_r(line, " ", &c.rest);

    snprintf(words, sizeof words, "%s", c.rest ? c.rest : "");
    c.a = rco_str_or_empty(strtok_r(words, " ", &save));
    c.b = rco_str_or_empty(strtok_r(NULL, " ", &save));
    c.c = rco_str_or_empty(strtok_r(NULL, " ", &save));
    pthread_mutex_lock(&p->lock);
    if (!rco_streq(verb, "stats"))
        fp_trace(p, &(struct fp_entry){.what = "control", .fault = verb, .text = c.rest});
    find_and_run(&c, rco_str_or_empty(verb));
    pthread_mutex_unlock(&p->lock);
    if (c.stop_ms) {
        fp_sleep_ms(c.stop_ms);
        kill(p->operator_pid, SIGCONT);
    }
    if (!out->len)
        rco_buf_adds(out, "ok");
}

void fp_control_serve(struct fp_proxy *p, int fd)
{
    char line[FP_COMMAND_MAX];
    FILE *in = fdopen(fd, "r");

    while (in && fgets(line, sizeof line, in)) {
        rco_autobuf out = RCO_BUF_INIT;

        line[strcspn(line, "\n")] = '\0';
        run(p, line, &out);
        rco_buf_addc(&out, '\n');
        if (send(fd, out.data, out.len, MSG_NOSIGNAL) < 0)
            break;
    }
    if (in)
        fclose(in);
    else
        close(fd);
}
