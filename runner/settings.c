#include "settings.h"

#include "base/file.h"
#include "base/str.h"
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

bool rco_settings_has(const char *text, const char *key)
{
    size_t len = strlen(key);
    for (const char *line = text; line && *line;) {
        if (strncmp(line, key, len) == 0 && line[len] == ':')
            return true;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

/* A scalar in double quotes: salts and keys hold ':' and '='. */
static void add_line(const char *text, const char *key, const char *value, struct rco_buf *out)
{
    if (rco_str_empty(value) || rco_settings_has(text, key))
        return;
    rco_buf_addf(out, "%s: \"", key);
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c >= 0x20 && *c != '"' && *c != '\\')
            rco_buf_addc(out, *c);
    rco_buf_adds(out, "\"\n");
}

static int read_fd(int fd, struct rco_buf *out, struct rco_error *err)
{
    char bytes[16384];
    ssize_t n;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        if (rco_buf_add_capped(out, bytes, (size_t)n, RCO_SETTINGS_MAX, err) < 0)
            return -1;
    return n < 0 ? rco_error_errno(err, errno, "read") : 0;
}

int rco_settings_complete(struct rco_engine *e, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT, lines = RCO_BUF_INIT;
    const struct rco_state_facts *s = &e->base;
    const char *stack = strrchr(e->r->job.stack, '/');
    const char *dir = rco_str_or_empty(e->fetched.settings_dir);
    const char *name = rco_arena_printf(&e->r->arena, "%s%sPulumi.%s.yaml", dir, *dir ? "/" : "",
                                        stack ? stack + 1 : e->r->job.stack);
    rco_autoclose int fd = rco_open_beneath(e->dir, name, O_RDWR | O_APPEND | O_NONBLOCK, &err);
    if (fd < 0 && err.code == RCO_ENOTFOUND) {
        /* Nothing there, so nothing to follow either: O_EXCL. */
        fd = openat(e->dir, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0660);
        if (fd < 0)
            rco_error_errno(&err, errno, "make %s", name);
    }
    if (fd < 0 || read_fd(fd, &text, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, "settings file of the stack");
    const char *t = rco_buf_str(&text);
    bool own = rco_settings_has(t, "encryptionsalt") || rco_settings_has(t, "encryptedkey");
    if (own)
        return 0;
    if (text.len && t[text.len - 1] != '\n')
        rco_buf_addc(&lines, '\n');
    if (rco_streq(s->provider_type, "passphrase")) {
        add_line(t, "encryptionsalt", s->provider_salt, &lines);
    } else if (rco_streq(s->provider_type, "cloud")) {
        add_line(t, "secretsprovider", s->provider_url, &lines);
        add_line(t, "encryptedkey", s->provider_key, &lines);
    }
    if (lines.len && rco_fd_write_all(fd, lines.data, lines.len, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_SOURCE, &err, "settings file of the stack");
    return 0;
}
