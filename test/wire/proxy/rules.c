#include "rules.h"

#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[FP_ACTIONS] = {
    [FP_NOTHING] = "nothing",
    [FP_CRASH_BEFORE] = "crash-before",
    [FP_CRASH_COMMIT] = "crash-commit",
    [FP_CRASH_REPLY] = "crash-reply",
    [FP_LOSE_REQUEST] = "lose-request",
    [FP_LOSE_ANSWER] = "lose-answer",
    [FP_STATUS] = "status",
    [FP_FORGE] = "forge",
    [FP_TWICE] = "twice",
    [FP_DELAY] = "delay",
    [FP_DROP] = "drop",
    [FP_DUPLICATE] = "duplicate",
    [FP_ERROR] = "error",
    [FP_SPLIT] = "split",
    [FP_TRUNCATE] = "truncate",
    [FP_HALF_CLOSE] = "half-close",
    [FP_BLACK_HOLE] = "black-hole",
    [FP_RESET] = "reset",
    [FP_SLOW] = "slow",
    [FP_GARBAGE] = "garbage",
    [FP_BIG] = "big",
    [FP_NUL] = "nul",
    [FP_UTF8] = "utf8",
};

const char *fp_action_name(enum fp_action action)
{
    return names[action];
}

static int set_action(struct fp_rule *rule, const char *word, struct rco_error *err)
{
    for (int i = FP_NOTHING + 1; i < FP_ACTIONS; i++) {
        if (rco_streq(names[i], word)) {
            rule->action = (enum fp_action)i;
            return 0;
        }
    }
    return rco_error_set(err, RCO_EINVALID, "do=%s: no such fault", word);
}

static int set(struct fp_rule *rule, const char *key, const char *value, struct rco_error *err)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } texts[] = {
        {"on", rule->on, sizeof rule->on},          {"res", rule->res, sizeof rule->res},
        {"sub", rule->sub, sizeof rule->sub},       {"name", rule->name, sizeof rule->name},
        {"retry", rule->retry, sizeof rule->retry}, {"reason", rule->reason, sizeof rule->reason},
        {"cause", rule->cause, sizeof rule->cause},
    };
    unsigned long number = strtoul(value, NULL, 10);

    for (size_t i = 0; i < RCO_ARRAY_LEN(texts); i++) {
        if (rco_streq(texts[i].key, key)) {
            snprintf(texts[i].text, texts[i].size, "%s", value);
            return 0;
        }
    }
    if (rco_streq(key, "do"))
        return set_action(rule, value, err);
    if (rco_streq(key, "write"))
        rule->write = number;
    else if (rco_streq(key, "nth"))
        rule->nth = (unsigned)number;
    else if (rco_streq(key, "times"))
        rule->times = (unsigned)number;
    else if (rco_streq(key, "status"))
        rule->status = (int)number;
    else if (rco_streq(key, "ms"))
        rule->ms = (int)number;
    else
        return rco_error_set(err, RCO_EINVALID, "%s=: no such word", key);
    return 0;
}

int fp_rules_arm(struct fp_rules *rules, char *words, struct rco_error *err)
{
    struct fp_rule rule = {.nth = 1, .times = 1};
    char *rest = words, *word = strtok_r(rest, " ", &rest);

    if (!word || rules->n == FP_RULES_MAX)
        return rco_error_set(err, RCO_EINVALID, "a rule needs an id; at most %d rules",
                             FP_RULES_MAX);
    snprintf(rule.id, sizeof rule.id, "%s", word);
    while ((word = strtok_r(rest, " ", &rest))) {
        char *equals = strchr(word, '=');

        if (!equals)
            return rco_error_set(err, RCO_EINVALID, "\"%s\" is not KEY=VALUE", word);
        *equals = '\0';
        if (set(&rule, word, equals + 1, err) < 0)
            return -1;
    }
    if (!*rule.on || rule.action == FP_NOTHING)
        return rco_error_set(err, RCO_EINVALID, "a rule needs on= and do=");
    rules->all[rules->n++] = rule;
    return 0;
}

void fp_rules_disarm(struct fp_rules *rules, const char *id)
{
    size_t kept = 0;

    for (size_t i = 0; i < rules->n; i++)
        if (!rco_streq(id, "all") && !rco_streq(rules->all[i].id, id))
            rules->all[kept++] = rules->all[i];
    rules->n = kept;
}

static bool is_about(const struct fp_rule *rule, const struct fp_target *t, const char *name)
{
    if (*rule->res && !rco_streq(rule->res, t->res))
        return false;
    if (*rule->sub && !rco_streq(rule->sub, *t->sub ? t->sub : "-"))
        return false;
    return !*rule->name || rco_glob_match(rule->name, name);
}

/* Whether the rule, which fits, strikes this time. */
static bool strikes(struct fp_rule *rule)
{
    rule->seen++;
    if (rule->seen < rule->nth || (rule->times && rule->fired >= rule->times))
        return false;
    rule->fired++;
    return true;
}

struct fp_rule *fp_rules_request(struct fp_rules *rules, const struct fp_target *t, unsigned long k)
{
    for (size_t i = 0; i < rules->n; i++) {
        struct fp_rule *rule = &rules->all[i];
        bool on = rco_streq(rule->on, fp_verb_name(t->verb)) || rco_streq(rule->on, "request") ||
                  (rco_streq(rule->on, "write") && k > 0);

        if (on && (!rule->write || rule->write == k) && is_about(rule, t, t->name) && strikes(rule))
            return rule;
    }
    return NULL;
}

struct fp_rule *fp_rules_frame(struct fp_rules *rules, const struct fp_target *t, const char *type,
                               const char *name)
{
    bool bookmark = rco_streq(type, "BOOKMARK");

    for (size_t i = 0; i < rules->n; i++) {
        struct fp_rule *rule = &rules->all[i];

        if (rco_streq(rule->on, bookmark ? "bookmark" : "frame") && is_about(rule, t, name) &&
            strikes(rule))
            return rule;
    }
    return NULL;
}
