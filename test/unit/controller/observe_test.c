/* What observe functions make of the caches: stores with the indexes and compaction of the
 * program's own table, filled with objects as the API server sends them. */
#include "observe.h"

#include "api/zz_generated_types.h"
#include "decide/deployment.h"
#include "decide/run.h"
#include "loop/loop_virtual.h"
#include "mailbox.h"
#include "setup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define RUN_UID "7c2e9a41-5b0d-4000-8000-000000000001"

struct caches {
    struct rco_loop *loop;
    struct rco_intern *intern;
    struct rco_world world;
    struct rco_setup_storage setup;
    struct rco_store *stores[RCO_KIND_COUNT];
    struct rco_observer observer;
    struct rco_arena a;
};

static void wake(void *ctx, const char *ns, const char *run)
{
    (void)ctx;
    (void)ns;
    (void)run;
}

static int set_up(void **state)
{
    struct caches *c = rco_calloc(1, sizeof *c);

    c->loop = rco_loop_virtual_new(1);
    c->intern = rco_intern_new();
    c->world = (struct rco_world){.loop = c->loop,
                                  .mailbox = rco_mailbox_new(c->loop, wake, NULL),
                                  .config = {.operator_namespace = "runtime-cloud"}};
    rco_setup_fill(&c->setup, &c->world);
    for (size_t i = 0; i < c->setup.setup.n_informers; i++) {
        const struct rco_informer_spec *spec = &c->setup.setup.informers[i];
        struct rco_store *store = rco_store_new(spec->kind, c->intern);

        rco_store_set_compact(store, spec->compact);
        for (size_t k = 0; k < spec->n_indexes; k++)
            rco_store_add_index(store, &spec->indexes[k]);
        c->stores[spec->kind] = store;
        c->observer.stores[spec->kind] = c->world.stores[spec->kind] = store;
    }
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    struct caches *c = *state;

    for (int k = 0; k < RCO_KIND_COUNT; k++)
        rco_store_free(c->stores[k]);
    rco_mailbox_free(c->world.mailbox);
    rco_intern_free(c->intern);
    rco_loop_virtual_free(c->loop);
    rco_arena_release(&c->a);
    free(c);
    return 0;
}

static void put(struct caches *c, enum rco_kind kind, const char *json)
{
    rco_autoarena scratch = RCO_ARENA_INIT;
    const struct rco_schema *schema = rco_kind_info(kind)->schema;
    void *obj = rco_arena_alloc(&scratch, schema->size);
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_codec_decode(schema, json, strlen(json), &scratch, obj, &err) < 0)
        fail_msg("%s", err.msg);
    rco_store_upsert(c->stores[kind], obj, &scratch);
}

static void put_run(struct caches *c)
{
    put(c, RCO_KIND_RUN,
        "{\"metadata\":{\"name\":\"web-v1-b1\",\"namespace\":\"team-a\",\"uid\":\"" RUN_UID "\","
        "\"resourceVersion\":\"5\"},\"spec\":{\"environmentId\":\"dev\"}}");
}

static void put_pod(struct caches *c, const char *name, const char *node)
{
    rco_autofree char *json = rco_asprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"team-a\",\"uid\":\"u-%s\","
        "\"resourceVersion\":\"6\",\"labels\":{\"runtimecloud.io/run-uid\":\"" RUN_UID "\","
        "\"runtimecloud.io/run\":\"web-v1-b1\"}},\"spec\":{\"nodeName\":\"%s\"}}",
        name, name, node);

    put(c, RCO_KIND_POD, json);
}

static void put_node(struct caches *c, const char *name, const char *rv, const char *taint,
                     const char *ready)
{
    rco_autofree char *json =
        rco_asprintf("{\"metadata\":{\"name\":\"%s\",\"uid\":\"n-%s\",\"resourceVersion\":\"%s\","
                     "\"labels\":{\"kubernetes.io/os\":\"linux\"}},"
                     "\"spec\":{\"podCIDR\":\"10.0.0.0/"
                     "24\",\"taints\":[{\"key\":\"node.kubernetes.io/unreachable\","
                     "\"effect\":\"NoSchedule\"},{\"key\":\"%s\",\"value\":\"nodeshutdown\","
                     "\"effect\":\"NoExecute\"}]},"
                     "\"status\":{\"images\":[{\"names\":[\"a\"],\"sizeBytes\":7}],\"conditions\":["
                     "{\"type\":\"MemoryPressure\",\"status\":\"Unknown\"},{\"type\":\"Ready\","
                     "\"status\":\"%s\"}]}}",
                     name, name, rv, taint, ready);

    put(c, RCO_KIND_NODE, json);
}

static const struct rco_run_observed *observe_run(struct caches *c)
{
    struct rco_key key = rco_key_of("team-a", "web-v1-b1");
    struct rco_error err = RCO_ERROR_INIT;
    void *snapshot = NULL;

    assert_int_equal(rco_observe_run(&c->world, &c->observer, &key, &c->a, &snapshot, &err), 0);
    assert_non_null(snapshot);
    return snapshot;
}

static void a_node_that_is_declared_off_and_silent_is_fenced(void **state)
{
    struct caches *c = *state;
    const struct rco_run_observed *o;

    put_run(c);
    put_pod(c, "p-off", "off");
    put_pod(c, "p-alive", "alive");
    put_pod(c, "p-silent", "silent");
    put_pod(c, "p-gone", "gone");
    put_pod(c, "p-unbound", "");
    put_node(c, "off", "1", "node.kubernetes.io/out-of-service", "Unknown");
    put_node(c, "alive", "2", "node.kubernetes.io/out-of-service", "True");
    put_node(c, "silent", "3", "node.kubernetes.io/unschedulable", "Unknown");
    put_node(c, "elsewhere", "4", "node.kubernetes.io/out-of-service", "False");
    o = observe_run(c);
    assert_int_equal(o->n_pods, 5);
    assert_int_equal(o->n_fenced_nodes, 1);
    assert_string_equal(o->fenced_nodes[0], "off");
    assert_int_equal(o->n_gone_nodes, 1);
    assert_string_equal(o->gone_nodes[0], "gone");
}

static void what_a_run_that_is_gone_left_behind_is_on_nodes_too(void **state)
{
    struct caches *c = *state;
    const struct rco_run_observed *o;

    put_pod(c, "p-off", "off");
    put_node(c, "off", "1", "node.kubernetes.io/out-of-service", "False");
    o = observe_run(c);
    assert_null(o->run);
    assert_int_equal(o->n_fenced_nodes, 1);
}

static void a_node_costs_no_more_than_its_name(void **state)
{
    struct caches *c = *state;
    const struct rco_node *node;

    put_node(c, "off", "1", "node.kubernetes.io/out-of-service", "Unknown");
    node = rco_lister_get(c->stores[RCO_KIND_NODE], NULL, "off", &c->a);
    assert_true(rco_node_is_fenced(node));
    assert_int_equal(node->metadata.n_labels, 0);
    assert_int_equal(node->spec.n_taints, 1);
    assert_int_equal(node->status.n_conditions, 0);
    put_node(c, "off", "2", "node.kubernetes.io/out-of-service", "True");
    node = rco_lister_get(c->stores[RCO_KIND_NODE], NULL, "off", &c->a);
    assert_false(rco_node_is_fenced(node));
    assert_int_equal(node->spec.n_taints, 0);
}

static void put_claim(struct caches *c, const char *name, const char *holder)
{
    rco_autofree char *json = rco_asprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"runtime-cloud\",\"uid\":\"u-%s\","
        "\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"%s\"}}",
        name, name, holder);

    put(c, RCO_KIND_LEASE, json);
}

static void put_specification(struct caches *c, const char *name, const char *uid,
                              const char *blocked_by)
{
    rco_autofree char *json =
        rco_asprintf("{\"metadata\":{\"name\":\"%s\",\"namespace\":\"team-a\",\"uid\":\"%s\","
                     "\"resourceVersion\":\"8\"},\"spec\":{\"environmentId\":\"dev\"},"
                     "\"status\":{\"failure\":{\"class\":\"Config\",\"blockedBy\":\"%s\"}}}",
                     name, uid, blocked_by);

    put(c, RCO_KIND_DEPSPEC, json);
}

static const struct rco_depspec_observed *observe_specification(struct caches *c, const char *name)
{
    struct rco_key key = rco_key_of("team-a", name);
    struct rco_error err = RCO_ERROR_INIT;
    void *snapshot = NULL;

    assert_int_equal(rco_observe_deployment(&c->world, &c->observer, &key, &c->a, &snapshot, &err),
                     0);
    return snapshot;
}

static void a_refused_specification_sees_the_claim_that_it_waits_for(void **state)
{
    struct caches *c = *state;
    const struct rco_depspec_observed *o;

    put_specification(c, "late", "u-late", "rco-claim-1");
    o = observe_specification(c, "late");
    assert_null(o->blocking_claim);
    put_claim(c, "rco-claim-1", "u-first");
    o = observe_specification(c, "late");
    assert_non_null(o->blocking_claim);
    assert_false(o->blocking_holder_exists);
    put_specification(c, "first", "u-first", "");
    o = observe_specification(c, "late");
    assert_true(o->blocking_holder_exists);
    assert_int_equal(
        rco_lister_count(c->stores[RCO_KIND_DEPSPEC], RCO_INDEX_BLOCKED_BY, "rco-claim-1"), 1);
}

static void a_run_sees_all_claims_of_its_specification(void **state)
{
    struct caches *c = *state;

    put(c, RCO_KIND_RUN,
        "{\"metadata\":{\"name\":\"web-v1-b1\",\"namespace\":\"team-a\",\"uid\":\"" RUN_UID "\","
        "\"resourceVersion\":\"5\"},\"spec\":{\"environmentId\":\"dev\",\"specificationId\":\"u-"
        "web\"}}");
    put_claim(c, "rco-claim-1", "u-web");
    put_claim(c, "rco-claim-2", "u-other");
    put_claim(c, "rco-claim-3", "u-web");
    assert_int_equal(observe_run(c)->n_held_claims, 2);
}

static void what_a_label_says_in_another_namespace_is_nothing(void **state)
{
    struct caches *c = *state;
    const struct rco_run_observed *o;

    put_run(c);
    put(c, RCO_KIND_POD,
        "{\"metadata\":{\"name\":\"evil\",\"namespace\":\"team-b\",\"uid\":\"e\","
        "\"resourceVersion\":"
        "\"9\",\"labels\":{\"runtimecloud.io/run-uid\":\"" RUN_UID "\",\"runtimecloud.io/run\":"
        "\"web-v1-b1\",\"runtimecloud.io/environment\":\"dev\"},\"finalizers\":[\"runtimecloud.io/"
        "engine\"]}}");
    put(c, RCO_KIND_JOB,
        "{\"metadata\":{\"name\":\"rco-7c2e9a415b0d-p\",\"namespace\":\"team-b\",\"uid\":\"j\","
        "\"resourceVersion\":\"9\",\"labels\":{\"runtimecloud.io/run-uid\":\"" RUN_UID "\"}}}");
    o = observe_run(c);
    assert_int_equal(o->n_pods, 0);
    assert_int_equal(o->n_other_pods, 0);
    assert_int_equal(o->n_jobs, 0);
}

/* The bytes that the store of KIND keeps for the object that JSON shows. */
static size_t cost(struct caches *c, enum rco_kind kind, const char *json)
{
    struct rco_store_stats before, after;

    rco_store_stats(c->stores[kind], &before);
    put(c, kind, json);
    rco_store_stats(c->stores[kind], &after);
    return after.record_bytes - before.record_bytes;
}

/* Labels and annotations of ours, more and larger than anybody needs. */
static void add_junk(struct rco_buf *b, const char *list, int n, int size)
{
    rco_buf_addf(b, "\"%s\":{\"runtimecloud.io/run-now\":\"%0*d\"", list, size, 1);
    for (int i = 0; i < n; i++)
        rco_buf_addf(b, ",\"runtimecloud.io/junk-%d\":\"%0*d\"", i, size, 0);
    rco_buf_adds(b, "}");
}

static void what_a_tenant_adds_to_an_object_costs_nothing(void **state)
{
    static const enum rco_kind kinds[] = {RCO_KIND_POD, RCO_KIND_JOB,     RCO_KIND_CONFIGMAP,
                                          RCO_KIND_PVC, RCO_KIND_DEPSPEC, RCO_KIND_ENV};
    struct caches *c = *state;

    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds); i++) {
        rco_autobuf b = RCO_BUF_INIT;
        size_t bytes;

        rco_buf_adds(&b, "{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\",\"uid\":\"u\","
                         "\"resourceVersion\":\"1\",");
        add_junk(&b, "labels", 500, 60);
        rco_buf_adds(&b, ",");
        add_junk(&b, "annotations", 4, 60000);
        rco_buf_adds(&b, "}}");
        bytes = cost(c, kinds[i], rco_buf_str(&b));
        if (bytes > 600)
            fail_msg("%s: %zu bytes", rco_kind_info(kinds[i])->kind, bytes);
    }
}

static void a_configmap_with_too_many_keys_is_kept_without_them(void **state)
{
    struct caches *c = *state;
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_adds(&b, "{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\",\"uid\":\"u\","
                     "\"resourceVersion\":\"1\"},\"data\":{\"k\":\"v\"");
    for (int i = 0; i < 2000; i++)
        rco_buf_addf(&b, ",\"%d\":\"\"", i);
    rco_buf_adds(&b, "}}");
    assert_in_range(cost(c, RCO_KIND_CONFIGMAP, rco_buf_str(&b)), 1, 300);
}

static void a_pod_of_many_containers_costs_as_much_as_a_few(void **state)
{
    struct caches *c = *state;
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_adds(&b, "{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\",\"uid\":\"u\","
                     "\"resourceVersion\":\"1\",\"finalizers\":[\"runtimecloud.io/engine\"");
    for (int i = 0; i < 1000; i++)
        rco_buf_addf(&b, ",\"example.com/%0200d\"", i);
    rco_buf_adds(&b, "]},\"status\":{\"containerStatuses\":[");
    for (int i = 0; i < 1000; i++)
        rco_buf_addf(&b,
                     "%s{\"name\":\"c%d\",\"state\":{\"waiting\":{\"reason\":\"X\",\"message\":\"%"
                     "02000d\"}},"
                     "\"lastState\":{\"terminated\":{\"message\":\"%05000d\"}}}",
                     i ? "," : "", i, 0, 0);
    rco_buf_adds(&b, "]}}");
    assert_in_range(cost(c, RCO_KIND_POD, rco_buf_str(&b)), 1, 16 * 700);
}

#define TEST(F) cmocka_unit_test_setup_teardown(F, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(a_node_that_is_declared_off_and_silent_is_fenced),
        TEST(what_a_run_that_is_gone_left_behind_is_on_nodes_too),
        TEST(a_node_costs_no_more_than_its_name),
        TEST(a_refused_specification_sees_the_claim_that_it_waits_for),
        TEST(a_run_sees_all_claims_of_its_specification),
        TEST(what_a_label_says_in_another_namespace_is_nothing),
        TEST(what_a_tenant_adds_to_an_object_costs_nothing),
        TEST(a_configmap_with_too_many_keys_is_kept_without_them),
        TEST(a_pod_of_many_containers_costs_as_much_as_a_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
