/* The simulator's API server: the transport of a replica that does not exist, in virtual time. */
#include "bed.h"

#include "kubelet.h"
#include "sim.h"
#include "transport.h"
#include "workload.h"

#include <string.h>

/* Who sends over a link is SIM_OPERATOR plus its number: this one is the user. */
#define LINK_USER (SIM_USER - SIM_OPERATOR)

#define SLICE (5 * SIM_MS)

struct sim_bed {
    struct bed bed; /* first */
    struct sim_plan plan;
    struct sim *sim;
};

static struct sim *sim_of(struct bed *b)
{
    return ((struct sim_bed *)b)->sim;
}

static void nothing(void *ctx)
{
    (void)ctx;
}

static bool wait(struct bed *b, int64_t length, bool (*until)(void *ctx), void *ctx)
{
    struct sim *s = sim_of(b);
    rco_mono end = s->now + length;

    while (!until(ctx)) {
        if (s->now >= end)
            return false;
        sim_after(s, SLICE, nothing, NULL); /* else time would stand when nothing is to come */
        sim_idle(s, SLICE);
    }
    return true;
}

static void admit_pods(struct bed *b, const char *ns)
{
    (void)b;
    (void)ns;
}

static void compact(struct bed *b)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++)
        sim_of(b)->kinds[k].compacted = sim_of(b)->revision;
}

static const char *pod_token(struct bed *b, const char *ns, const char *pod, const char *audience)
{
    for (struct sim_pod *p = sim_of(b)->pods; p; p = p->next)
        if (strcmp(p->ns, ns) == 0 && strcmp(p->name, pod) == 0)
            return bed_text(b, "%s%s%s", p->token, strcmp(audience, BED_AUDIENCE) ? "." : "",
                            strcmp(audience, BED_AUDIENCE) ? audience : "");
    return NULL;
}

static const char *old_token(struct bed *b, const char *name)
{
    (void)b;
    (void)name;
    return "2:1";
}

static void bind(struct bed *b, const char *ns, const char *pod)
{
    struct sim *s = sim_of(b);

    sim_patch(s, SIM_CLUSTER, RCO_KIND_POD, ns, pod, false,
              sim_tree_f(&s->arena, "{\"spec\":{\"nodeName\":\"node-1\"}}"));
}

static const struct bed_ops ops = {.wait = wait,
                                   .admit_pods = admit_pods,
                                   .compact = compact,
                                   .pod_token = pod_token,
                                   .old_token = old_token,
                                   .bind = bind};

struct bed *bed_sim_new(uint64_t seed)
{
    struct sim_bed *x = rco_calloc(1, sizeof *x);

    x->plan.seed = seed;
    x->plan.replicas = 0;
    x->sim = sim_new(&x->plan, NULL, false);
    x->bed.ops = &ops;
    x->bed.name = "sim";
    x->bed.loop = x->sim->loop;
    x->bed.transports[BED_ADMIN] =
        sim_link_transport(sim_link_new(x->sim, LINK_USER, x->sim->loop));
    x->bed.transports[BED_OPERATOR] = sim_link_transport(sim_link_new(x->sim, 0, x->sim->loop));
    return &x->bed;
}

void bed_sim_free(struct bed *b)
{
    struct sim_bed *x = (struct sim_bed *)b;

    while (x->sim->links)
        sim_link_free(x->sim->links);
    sim_free(x->sim);
    rco_arena_release(&b->arena);
    free(x);
}
