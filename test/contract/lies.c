#include "lies.h"

#include "base/arena.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

const struct lie lies[] = {
    {"versions are ignored", LIE_REQUEST, "\"resourceVersion\"", "\"resourceVersiom\""},
    {"preconditions of deletes are ignored", LIE_REQUEST, "\"preconditions\"", "\"preconditiond\""},
    {"finalizers are ignored", LIE_REQUEST, "\"finalizers\"", "\"finalizerz\""},
    {"owners are ignored", LIE_REQUEST, "\"ownerReferences\"", "\"ownerReferencez\""},
    {"status is part of the object", LIE_PATH, "/status", ""},
    {"label selectors are ignored", LIE_PATH, "labelSelector=", "labelSelectos="},
    {"field selectors are ignored", LIE_PATH, "fieldSelector=", "fieldSelectos="},
    {"page tokens are ignored", LIE_PATH, "continue=", "continuf="},
    {"watches begin anywhere", LIE_PATH,
     "watch=true&resourceVersion=", "watch=true&resourceVersiom="},
    {"no streaming lists", LIE_PATH, "sendInitialEvents=true", "sendInitialEvents=tru"},
    {"watches never end", LIE_PATH, "timeoutSeconds=", "timeoutSecondz="},
    {"removals look like changes", LIE_ANSWER, "\"type\":\"DELETED\"", "\"type\":\"MODIFIED\""},
    {"an end mark is an ordinary bookmark", LIE_ANSWER, "k8s.io/initial-events-end",
     "k8s.io/other"},
    {"old versions are another error", LIE_ANSWER, "\"reason\":\"Expired\"", "\"reason\":\"Gone\""},
    {"a taken name is a conflict", LIE_ANSWER, "\"reason\":\"AlreadyExists\"",
     "\"reason\":\"Conflict\""},
    {"generations stand still", LIE_ANSWER, "\"generation\":2", "\"generation\":1"},
    {"refusals by rules are bad requests", LIE_STATUS, "422", "400"},
    {"what is missing is forbidden", LIE_STATUS, "404", "403"},
    {"created is the same as updated", LIE_STATUS, "201", "200"},
    {"conditions come in another order", LIE_ANSWER, "\"type\":\"FailureTarget\"",
     "\"type\":\"FailureTarges\""},
};
const size_t n_lies = sizeof lies / sizeof *lies;

const char *lie_text(struct rco_arena *a, const struct lie *lie, enum lie_where where,
                     const char *text, size_t n, size_t *ret_n)
{
    rco_autobuf out = RCO_BUF_INIT;
    size_t len;

    *ret_n = n;
    if (!lie || lie->where != where || !text)
        return text;
    len = strlen(lie->from);
    for (size_t i = 0; i < n;) {
        if (i + len <= n && memcmp(text + i, lie->from, len) == 0) {
            rco_buf_adds(&out, lie->to);
            i += len;
        } else {
            rco_buf_addc(&out, text[i++]);
        }
    }
    *ret_n = out.len;
    return rco_arena_strndup(a, rco_buf_str(&out), out.len);
}

int lie_status(const struct lie *lie, int status)
{
    return lie && lie->where == LIE_STATUS && atoi(lie->from) == status ? atoi(lie->to) : status;
}
