#include "api/validate.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

static char *lower(struct rco_arena *a, const char *s, size_t n)
{
    char *out = rco_arena_strndup(a, s, n);
    for (char *p = out; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return out;
}

static int refuse(struct rco_error *err, const char *why)
{
    return rco_error_set(err, RCO_EINVALID, "the program reference %s", why);
}

static bool has_forbidden(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || *s == 0x7f || strchr("?#%\\", *s))
            return true;
    return false;
}

static bool is_host(const char *s, size_t n)
{
    if (!n || s[0] == '-' || s[0] == '.')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr(".-_[]:", s[i]))
            return false;
    return true;
}

static bool is_user(const char *s, size_t n)
{
    if (!n || s[0] == '-')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("._-", s[i]))
            return false;
    return true;
}

static bool all_digits(const char *s)
{
    return *s && s[strspn(s, "0123456789")] == '\0' && strlen(s) <= 5;
}

/* Cuts the port off HOST (which may be an IPv6 address in brackets). */
static void take_port(char *host, const char **ret_port)
{
    char *bracket = strrchr(host, ']');
    char *colon = strrchr(bracket ? bracket : host, ':');
    *ret_port = NULL;
    if (!colon || !all_digits(colon + 1))
        return;
    *colon = '\0';
    *ret_port = colon + 1;
}

static int parse_authority(const char *s, size_t n, struct rco_arena *a,
                           struct rco_program_ref *ret, struct rco_error *err)
{
    const char *at = memrchr(s, '@', n);
    if (at && memchr(s, ':', (size_t)(at - s)))
        return refuse(err,
                      "must not carry a password; put it into the Secret that the Environment's "
                      "git.credentialsSecretRef names");
    if (at && rco_streq(ret->scheme, "https"))
        return refuse(err, "must not carry a user name with https; put it into the Secret that the "
                           "Environment's git.credentialsSecretRef names");
    if (at && !is_user(s, (size_t)(at - s)))
        return refuse(err, "has a user name that is none");
    const char *host = at ? at + 1 : s;
    size_t host_len = (size_t)(s + n - host);
    if (!is_host(host, host_len))
        return refuse(err, "must name a host after the scheme");
    if (at)
        ret->user = rco_arena_strndup(a, s, (size_t)(at - s));
    char *text = lower(a, host, host_len);
    take_port(text, &ret->port);
    ret->host = text;
    if (strchr(text, ':') && text[0] != '[')
        return refuse(err, "has a port that is none");
    return 0;
}

/* Appends the parts of S..S+N to OUT with one slash between them, leaving out empty ones and ".".
 */
static int add_parts(struct rco_buf *out, const char *s, size_t n, struct rco_error *err)
{
    const char *end = s + n;
    while (s < end) {
        size_t len = 0;
        while (s + len < end && s[len] != '/')
            len++;
        if (len == 2 && memcmp(s, "..", 2) == 0)
            return refuse(err, "must not contain '..': the path must stay in the repository");
        if (len && !(len == 1 && *s == '.')) {
            if (out->len)
                rco_buf_addc(out, '/');
            rco_buf_add(out, s, len);
        }
        s += len + 1;
    }
    return 0;
}

static int parse_paths(const char *s, struct rco_arena *a, struct rco_program_ref *ret,
                       struct rco_error *err)
{
    rco_autobuf repository = RCO_BUF_INIT;
    rco_autobuf path = RCO_BUF_INIT;
    const char *cut = strstr(s, "//");
    if (!cut || !cut[2])
        return refuse(err, "must have // between the repository and the path of the program in it; "
                           "the root of the repository is written //.");
    if (cut[2] == '/' || strstr(cut + 2, "//"))
        return refuse(err, "must have exactly one // between the repository and the path");
    if (add_parts(&repository, s, (size_t)(cut - s), err) < 0 ||
        add_parts(&path, cut + 2, strlen(cut + 2), err) < 0)
        return -1;
    if (!repository.len)
        return refuse(err, "must name a repository after the host");
    ret->path = path.len ? rco_arena_strdup(a, path.data) : ".";
    ret->repository = rco_arena_printf(
        a, "%s://%s%s%s%s%s/%s", ret->scheme, rco_str_or_empty(ret->user), ret->user ? "@" : "",
        ret->host, ret->port ? ":" : "", rco_str_or_empty(ret->port), repository.data);
    return 0;
}

int rco_program_ref_parse(const char *ref, struct rco_arena *a, struct rco_program_ref *ret,
                          struct rco_error *err)
{
    struct rco_program_ref out = {0};
    const char *mark = ref ? strstr(ref, "://") : NULL;
    if (!mark)
        return refuse(err, "must be <repository URL>//<path>, for example "
                           "https://git.example.com/team/infra.git//environments/dev");
    if (strlen(ref) > RCO_PROGRAM_REF_MAX)
        return refuse(err, "is too long");
    if (has_forbidden(ref))
        return refuse(err,
                      "must not contain spaces, control characters, '?', '#', '%' or a backslash");
    out.scheme = lower(a, ref, (size_t)(mark - ref));
    if (!rco_streq(out.scheme, "https") && !rco_streq(out.scheme, "ssh"))
        return refuse(err,
                      "must begin with https:// or ssh:// (write ssh://git@host/path in place of "
                      "git@host:path)");
    const char *authority = mark + 3;
    size_t n = strcspn(authority, "/");
    if (parse_authority(authority, n, a, &out, err) < 0)
        return -1;
    if (!authority[n])
        return refuse(err, "must name a repository after the host");
    if (parse_paths(authority + n, a, &out, err) < 0)
        return -1;
    *ret = out;
    return 0;
}

bool rco_is_commit(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    return (n == 40 || n == 64) && rco_is_lower_hex(s, n);
}
