/* Sessions one after another, until every operation was asked for; what was covered. */
#include "ops.h"

#include "breaks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SESSION 24 /* operations on one system */
#define SHOWN 40   /* violations that are printed */

struct campaign {
    const struct sim_operation *all;
    size_t n;
    size_t *order; /* of this epoch */
    uint64_t epoch;
    struct sim_ops_tally tally;
    int sessions, failed;
};

static uint64_t per_epoch(const struct campaign *c)
{
    return (c->n + SESSION - 1) / SESSION;
}

/* Another order in every epoch, in each of which every operation stands once. */
static void shuffle(struct campaign *c, uint64_t epoch)
{
    uint64_t x = epoch + 1;

    if (c->order && c->epoch == epoch)
        return;
    free(c->order);
    c->order = rco_calloc(c->n, sizeof *c->order);
    c->epoch = epoch;
    for (size_t i = 0; i < c->n; i++)
        c->order[i] = i;
    for (size_t i = c->n - 1; i > 0; i--) {
        size_t j, swap = c->order[i];

        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        j = (size_t)((x >> 33) % (i + 1));
        c->order[i] = c->order[j];
        c->order[j] = swap;
    }
}

static void begin(struct campaign *c)
{
    *c = (struct campaign){0};
    c->n = sim_operations(&c->all);
    c->tally.ran = rco_calloc(c->n, 1);
    c->tally.quiet = rco_calloc(c->n, 1);
}

static void end(struct campaign *c)
{
    free(c->order);
    free(c->tally.ran);
    free(c->tally.quiet);
}

static bool run(struct campaign *c, uint64_t session, bool verbose)
{
    size_t at = (size_t)(session % per_epoch(c)) * SESSION;
    int before = c->tally.violations;

    shuffle(c, session / per_epoch(c));
    c->tally.violations = 0;
    sim_ops_session(session + session / per_epoch(c), c->order + at,
                    c->n - at < SESSION ? c->n - at : SESSION, verbose, &c->tally);
    c->sessions++;
    if (!c->tally.violations) {
        c->tally.violations = before;
        return true;
    }
    if (c->failed++ < SHOWN) {
        printf("VIOLATION %s\n  after %s\n  replay: build/sim/sim", c->tally.text, c->tally.after);
        for (int b = 1; b < SIM_BREAKS; b++)
            if (sim_break_is((enum sim_break)b))
                printf("_broken --break %s", sim_break_name((enum sim_break)b));
        printf(" ops-replay %" PRIu64 "\n", session);
    }
    c->tally.violations += before;
    return false;
}

/* --- coverage --- */

static bool same_property(const struct sim_operation *a, const struct sim_operation *b)
{
    return a->kind == b->kind && strcmp(a->path, b->path) == 0;
}

/* Counts properties, and prints those that no operation was carried out on. */
static int print_coverage(const struct campaign *c, bool complete)
{
    int properties = 0, covered = 0, pairs = 0;

    for (size_t i = 0, next; i < c->n; i = next) {
        bool ran = false;

        for (next = i; next < c->n && same_property(&c->all[i], &c->all[next]); next++) {
            ran |= c->tally.ran[next];
            pairs += c->tally.ran[next];
        }
        properties++;
        covered += ran;
        if (!ran && complete)
            printf("NOT COVERED %s %s\n", rco_kind_info(c->all[i].kind)->kind, c->all[i].path);
    }
    printf("coverage: %d of %d properties, %d of %zu pairs of property and mutation\n", covered,
           properties, pairs, c->n);
    return complete && covered < properties;
}

static int finish(struct campaign *c, bool complete)
{
    const struct sim_ops_tally *t = &c->tally;
    int bad = print_coverage(c, complete);

    bad += sim_ops_print_rule_coverage(complete);
    if (complete)
        bad += sim_op_stale_entries(c->all, t->quiet, c->n);
    printf("%d operations in %d sessions, %d failed: %d refused, %d moved nothing, %d taken back, "
           "%d kept; %d under a fault, %d compared with a fresh system, %d systems given up, "
           "%d not possible; %.1f s of CPU\n",
           t->done, c->sessions, c->failed, t->refused, t->unmoved, t->reverted, t->kept, t->faults,
           t->compared, t->rebuilt, t->skipped, (double)clock() / CLOCKS_PER_SEC);
    end(c);
    return bad || c->failed;
}

int sim_ops_campaign(uint64_t from, int count)
{
    struct campaign c;
    bool complete = count == 0;

    begin(&c);
    for (uint64_t k = from;; k++) {
        if (complete ? c.tally.done >= SIM_OPS_LEAST && k - from >= per_epoch(&c)
                     : c.tally.done >= count)
            break;
        run(&c, k, false);
    }
    return finish(&c, complete);
}

int sim_ops_replay(uint64_t session)
{
    struct campaign c;

    begin(&c);
    run(&c, session, true);
    return finish(&c, false);
}

int sim_ops_hunt(int sessions)
{
    struct campaign c;
    bool found = false;

    begin(&c);
    for (uint64_t k = 0; k < (uint64_t)sessions && !found; k++)
        found = !run(&c, k, false);
    printf("%s after %d operations\n", found ? "found" : "NOT FOUND", c.tally.done);
    end(&c);
    return found ? 0 : 1;
}
