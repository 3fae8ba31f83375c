#include "verbs.h"

#include "base/str.h"

#include <string.h>

static const struct {
    const char *word;
    enum rco_target_kind kind;
} words[] = {
    {"deploymentspecification", RCO_TARGET_SPEC},
    {"deploymentspecifications", RCO_TARGET_SPEC},
    {"deploymentspecification.runtimecloud.io", RCO_TARGET_SPEC},
    {"depspec", RCO_TARGET_SPEC},
    {"spec", RCO_TARGET_SPEC},
    {"environment", RCO_TARGET_ENV},
    {"environments", RCO_TARGET_ENV},
    {"environment.runtimecloud.io", RCO_TARGET_ENV},
    {"renv", RCO_TARGET_ENV},
    {"env", RCO_TARGET_ENV},
    {"provisioningrun", RCO_TARGET_RUN},
    {"provisioningruns", RCO_TARGET_RUN},
    {"provisioningrun.runtimecloud.io", RCO_TARGET_RUN},
    {"prun", RCO_TARGET_RUN},
    {"run", RCO_TARGET_RUN},
};

static int parse_kind(const char *text, size_t n, enum rco_target_kind *out, struct rco_error *err)
{
    rco_autofree char *word = rco_strndup(text, n);
    const char *all[RCO_ARRAY_LEN(words)];
    const char *near;

    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++) {
        all[i] = words[i].word;
        if (strcasecmp(words[i].word, word) == 0) {
            *out = words[i].kind;
            return 0;
        }
    }
    near = rco_text_nearest(word, all, RCO_ARRAY_LEN(words));
    return rco_error_set(
        err, RCO_EINVALID,
        "\"%.60s\" is not a kind this command knows%s%s%s (depspec, environment or run)", word,
        near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int rco_target_parse(const char *text, struct rco_target *out, struct rco_error *err)
{
    const char *slash = strchr(text, '/');
    struct rco_target target = {.kind = RCO_TARGET_SPEC, .name = slash ? slash + 1 : text};

    if (slash && parse_kind(text, (size_t)(slash - text), &target.kind, err) < 0)
        return -1;
    if (!rco_is_dns_subdomain(target.name))
        return rco_error_set(
            err, RCO_EINVALID,
            "\"%.80s\" cannot be a name: names have lower-case letters, digits, '-' and '.'",
            target.name);
    *out = target;
    return 0;
}
