#include "run.h"

#include "oracle.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer than a sweep with its jitter: what is late shows before the end is judged. */
#define QUIET (720 * SIM_S)
#define LIMIT (INT64_C(12) * 3600 * SIM_S)
#define SWEEP (660 * SIM_S)

/* The first line of WANT or GOT that the other does not have. */
static void compare(struct sim *s, const char *want, const char *got)
{
    while (*want && *got) {
        size_t n = strcspn(want, "\n"), m = strcspn(got, "\n"), at = 0;

        if (n == m && memcmp(want, got, n) == 0) {
            want += n + (want[n] == '\n');
            got += m + (got[m] == '\n');
            continue;
        }
        while (at < n && at < m && want[at] == got[at])
            at++;
        at = at > 60 ? at - 60 : 0;
        sim_violation(s, "end-state", "%.*s: want ...%.*s, got ...%.*s", (int)(n < 60 ? n : 60),
                      want, (int)(n - at < 120 ? n - at : 120), want + at,
                      (int)(m - at < 120 ? m - at : 120), got + at);
        return;
    }
    if (*want || *got)
        sim_violation(s, "end-state", "%s: %.200s", *want ? "missing" : "more than the reference",
                      *want ? want : got);
}

static void judge(struct sim *s, const struct sim_run_options *o)
{
    rco_autobuf dump = RCO_BUF_INIT;

    sim_check_end(s);
    sim_check_quiet(s, (o->sweeps ? o->sweeps : 2) * SWEEP);
    if (o->counts)
        sim_write_counts(s, o->counts);
    if (o->write_counts)
        sim_check_writes(s, o->write_counts, o->more_writes);
    if (!o->dump && !o->reference)
        return;
    sim_dump(s, &dump);
    if (o->reference)
        compare(s, o->reference, rco_buf_str(&dump));
    if (o->dump)
        rco_buf_add(o->dump, dump.data, dump.len);
}

void sim_run_plan(const struct sim_plan *plan, const struct sim_run_options *o,
                  struct sim_result *ret)
{
    struct sim *s = sim_new(plan, sim_workload_find(plan->workload), o->verbose);

    s->write_log = o->write_log;
    if (!sim_run(s, QUIET, LIMIT))
        sim_violation(s, "stable", "not at rest after %d hours (step %zu of %zu)",
                      (int)(LIMIT / SIM_S / 3600), s->step, s->workload->n_steps);
    if (s->violations == 0)
        judge(s, o);
    *ret = (struct sim_result){.violations = s->violations,
                               .hash = s->hash,
                               .writes = s->writes,
                               .changes = s->operator_changes,
                               .gets = s->gets,
                               .engines = s->engines,
                               .virtual_s = s->now / SIM_S,
                               .peaks = s->peaks};
    snprintf(ret->text, sizeof ret->text, "%s", s->first_violation);
    sim_free(s);
}

/* --- random plans --- */

static uint64_t mix(uint64_t *x)
{
    uint64_t z = *x += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int pick(uint64_t *x, int n)
{
    return (int)(mix(x) % (uint64_t)n);
}

static void random_fault(uint64_t *x, struct sim_fault *f)
{
    static const int errors[] = {401, 409, 410, 429, 500, 502, 503, 504};
    static const int skewed[] = {RCO_KIND_DEPSPEC, RCO_KIND_RUN, RCO_KIND_JOB,
                                 RCO_KIND_POD,     RCO_KIND_ENV, RCO_KIND_CONFIGMAP};
    /* Faults of the operator's side are the most frequent. */
    enum sim_fault_type type = (enum sim_fault_type)(1 + pick(x, SIM_ERRORS));

    *f = (struct sim_fault){.at = 1 + pick(x, 60)};
    /* Some strike when the user acts: what is undone at once may never be seen. */
    if (type > SIM_LOSE_ANSWER && pick(x, 3) == 0)
        f->at = -1 - pick(x, 5);
    if (pick(x, 6) == 0)
        type = (enum sim_fault_type)(SIM_KILL_RUNNER + pick(x, SIM_FAULT_TYPES - SIM_KILL_RUNNER));
    f->type = type;
    switch (type) {
    case SIM_FREEZE:
    case SIM_RESTALE:
    case SIM_HIDE:
        f->length = (1 + pick(x, 30)) * SIM_S;
        break;
    case SIM_PAUSE:
        f->length = (4 + pick(x, 37)) * SIM_S;
        break;
    case SIM_DEAF:
        f->length = 600 * SIM_S;
        break;
    case SIM_OUTAGE:
        f->length = (pick(x, 4) ? 30 + pick(x, 600) : 3600) * SIM_S;
        break;
    case SIM_SKEW:
        f->length = (5 + pick(x, 60)) * SIM_S;
        f->arg = skewed[pick(x, RCO_ARRAY_LEN(skewed))];
        break;
    case SIM_CLOCK:
        f->arg = pick(x, 2) ? 3600 : -3600;
        break;
    case SIM_ERRORS:
        f->length = (1 + pick(x, 20)) * SIM_S;
        f->arg = errors[pick(x, RCO_ARRAY_LEN(errors))];
        break;
    case SIM_KILL_RUNNER:
    case SIM_LOSE_NODE:
    case SIM_DELETE_JOB:
        f->at = 1 + pick(x, 3);
        f->arg = 1 + pick(x, 6);
        f->length = (60 + pick(x, 900)) * SIM_S;
        break;
    default:
        break;
    }
}

void sim_plan_random(uint64_t seed, struct sim_plan *ret)
{
    uint64_t x = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;

    *ret = (struct sim_plan){.seed = seed, .replicas = 1};
    ret->workload = sim_workloads[pick(&x, (int)sim_n_workloads)].name;
    ret->streaming = pick(&x, 3) == 0;
    ret->twice = pick(&x, 5) == 0;
    ret->slow = pick(&x, 3) == 0;
    ret->page = pick(&x, 3) ? 0 : 1 + pick(&x, 3);
    ret->front_loss = pick(&x, 4) ? 0 : 10 + pick(&x, 30);
    if (pick(&x, 4) == 0) {
        ret->replicas = 2;
        ret->election = true;
    }
    ret->n_faults = pick(&x, 5);
    for (int i = 0; i < ret->n_faults; i++)
        random_fault(&x, &ret->faults[i]);
}

/* --- words --- */

static bool parse_fault(const char *text, struct sim_fault *f)
{
    char name[32];
    size_t n = strcspn(text, ":");
    char *rest;

    if (n >= sizeof name)
        return false;
    memcpy(name, text, n);
    name[n] = '\0';
    *f = (struct sim_fault){.type = sim_fault_parse(name)};
    if (f->type == SIM_FAULT_NONE || text[n] != ':')
        return false;
    f->at = (int)strtol(text + n + 1, &rest, 10);
    if (*rest == ':')
        f->length = strtoll(rest + 1, &rest, 10) * SIM_MS;
    if (*rest == ':')
        f->arg = (int)strtol(rest + 1, &rest, 10);
    return *rest == '\0';
}

static bool parse_word(const char *word, struct sim_plan *p)
{
    size_t n = strcspn(word, "=");
    const char *value = word[n] ? word + n + 1 : "";
    const struct {
        const char *key;
        int *number;
        bool *flag;
    } keys[] = {{"replicas", &p->replicas, NULL},
                {"page", &p->page, NULL},
                {"front-loss", &p->front_loss, NULL},
                {"election", NULL, &p->election},
                {"streaming", NULL, &p->streaming},
                {"twice", NULL, &p->twice},
                {"slow", NULL, &p->slow}};

    if (rco_str_has_prefix(word, "workload=")) {
        const struct sim_workload *w = sim_workload_find(value);

        p->workload = w ? w->name : NULL;
        return w != NULL;
    }
    if (rco_str_has_prefix(word, "seed=")) {
        p->seed = strtoull(value, NULL, 10);
        return true;
    }
    if (rco_str_has_prefix(word, "fault="))
        return p->n_faults < SIM_FAULTS_MAX && parse_fault(value, &p->faults[p->n_faults++]);
    for (size_t i = 0; i < RCO_ARRAY_LEN(keys); i++) {
        if (strlen(keys[i].key) != n || strncmp(keys[i].key, word, n) != 0)
            continue;
        if (keys[i].number)
            *keys[i].number = atoi(value);
        else
            *keys[i].flag = atoi(value) != 0;
        return true;
    }
    return false;
}

bool sim_plan_parse(char *const *words, int n, struct sim_plan *ret, const char **ret_why)
{
    *ret = (struct sim_plan){.replicas = 1, .workload = "create", .seed = 1};
    for (int i = 0; i < n; i++) {
        if (!parse_word(words[i], ret)) {
            *ret_why = words[i];
            return false;
        }
    }
    return true;
}
