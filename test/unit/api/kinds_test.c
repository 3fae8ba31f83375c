/* The registry, the generated tables against what the CRDs say, and metadata. */
#include "api/kinds.h"
#include "api/labels.h"
#include "api/zz_generated_types.h"
#include "base/file.h"
#include "json/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void every_kind_has_a_row(void **state)
{
    for (int k = RCO_KIND_NONE + 1; k < RCO_KIND_COUNT; k++) {
        const struct rco_kind_info *info = rco_kind_info(k);
        if (!*info->kind || !*info->plural || !*info->version || !info->schema)
            fail_msg("kind %d has no complete row", k);
    }
    assert_string_equal(rco_kind_info(RCO_KIND_NONE)->kind, "");
}

static void api_versions_leave_out_the_core_group(void **state)
{
    char out[128];
    rco_kind_api_version(RCO_KIND_POD, out);
    assert_string_equal(out, "v1");
    rco_kind_api_version(RCO_KIND_RUN, out);
    assert_string_equal(out, "runtimecloud.io/v1alpha1");
    assert_true(rco_kind_info(RCO_KIND_RUN)->namespaced);
    assert_false(rco_kind_info(RCO_KIND_TENANT)->namespaced);
    assert_string_equal(rco_kind_info(RCO_KIND_PVC)->plural, "persistentvolumeclaims");
}

/* Every object begins with its metadata: callers rely on the cast. */
static void metadata_is_the_first_member_of_every_object(void **state)
{
    for (int k = RCO_KIND_NONE + 1; k < RCO_KIND_COUNT; k++) {
        const struct rco_field *f = &rco_kind_info(k)->schema->fields[0];
        assert_string_equal(f->name, "metadata");
        assert_int_equal(f->offset, 0);
        assert_ptr_equal(f->sub, &rco_meta_schema);
    }
}

static void check_schema(const struct rco_schema *s, int depth)
{
    assert_true(depth < RCO_JSON_MAX_DEPTH);
    assert_true(s->n_fields >= 1 && s->n_fields <= RCO_SCHEMA_MAX_FIELDS);
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct rco_field *f = &s->fields[i];
        assert_int_equal(f->name_len, strlen(f->name));
        assert_true(f->offset < s->size && f->aux_offset < s->size);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(f->name, s->fields[k].name);
        if (f->type == RCO_FIELD_STRUCT || f->type == RCO_FIELD_LIST_STRUCT)
            check_schema(f->sub, depth + 1);
        if (f->type == RCO_FIELD_ENUM)
            assert_non_null(f->words);
    }
}

static void the_generated_tables_are_sound(void **state)
{
    for (int k = RCO_KIND_NONE + 1; k < RCO_KIND_COUNT; k++)
        check_schema(rco_kind_info(k)->schema, 0);
    check_schema(&rco_runner_receipt_schema, 0);
    check_schema(&rco_runner_start_schema, 0);
}

static void an_object_is_encoded_with_its_header(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_tokenreview review = {.spec = {.token = "t"}, .has_spec = true};
    rco_kind_encode(RCO_KIND_TOKENREVIEW, &review, &out);
    assert_string_equal(out.data,
                        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                        "\"metadata\":{},\"spec\":{\"token\":\"t\"}}");
}

static void the_status_of_an_object_is_found(void **state)
{
    struct rco_run run = {0};
    assert_ptr_equal(rco_kind_status(RCO_KIND_RUN, &run), &run.status);
    assert_null(rco_kind_status(RCO_KIND_CONFIGMAP, &run));
}

/* The machine of design 1.4, written down a second time on purpose. */
static void the_transitions_of_a_run_are_exactly_those_of_the_design(void **state)
{
    static const enum rco_run_state edges[][2] = {
        {RCO_RUN_STATE_UNSET, RCO_RUN_STATE_PENDING},
        {RCO_RUN_STATE_PENDING, RCO_RUN_STATE_PLANNING},
        {RCO_RUN_STATE_PENDING, RCO_RUN_STATE_FAILED},
        {RCO_RUN_STATE_PENDING, RCO_RUN_STATE_CANCELLED},
        {RCO_RUN_STATE_PLANNING, RCO_RUN_STATE_PLANNED},
        {RCO_RUN_STATE_PLANNING, RCO_RUN_STATE_FAILED},
        {RCO_RUN_STATE_PLANNING, RCO_RUN_STATE_CANCELLED},
        {RCO_RUN_STATE_PLANNED, RCO_RUN_STATE_AWAITING_APPROVAL},
        {RCO_RUN_STATE_PLANNED, RCO_RUN_STATE_APPLYING},
        {RCO_RUN_STATE_PLANNED, RCO_RUN_STATE_CANCELLED},
        {RCO_RUN_STATE_AWAITING_APPROVAL, RCO_RUN_STATE_APPLYING},
        {RCO_RUN_STATE_AWAITING_APPROVAL, RCO_RUN_STATE_REJECTED},
        {RCO_RUN_STATE_APPLYING, RCO_RUN_STATE_APPLIED},
        {RCO_RUN_STATE_APPLYING, RCO_RUN_STATE_FAILED},
    };
    for (int from = RCO_RUN_STATE_UNSET; from <= RCO_RUN_STATE_CANCELLED; from++) {
        bool any = false;
        for (int to = RCO_RUN_STATE_UNSET; to <= RCO_RUN_STATE_CANCELLED; to++) {
            bool want = false;
            for (size_t i = 0; i < RCO_ARRAY_LEN(edges); i++)
                want |= (int)edges[i][0] == from && (int)edges[i][1] == to;
            if (rco_run_state_may_become(from, to) != want)
                fail_msg("%s -> %s should%s be allowed", rco_run_state_name(from),
                         rco_run_state_name(to), want ? "" : " not");
            any |= want;
        }
        if (from > RCO_RUN_STATE_UNKNOWN)
            assert_int_equal(rco_run_state_is_final(from), !any);
    }
    assert_false(rco_run_state_is_final(RCO_RUN_STATE_UNKNOWN));
}

static void words_and_values_belong_together(void **state)
{
    assert_string_equal(rco_run_state_name(RCO_RUN_STATE_AWAITING_APPROVAL), "AwaitingApproval");
    assert_int_equal(rco_run_state_parse("AwaitingApproval"), RCO_RUN_STATE_AWAITING_APPROVAL);
    assert_int_equal(rco_env_class_parse("production"), RCO_ENV_CLASS_PRODUCTION);
    assert_int_equal(rco_env_class_parse("prod"), RCO_ENV_CLASS_UNKNOWN);
    assert_int_equal(rco_pod_phase_parse("Unknown"), RCO_POD_PHASE_UNKNOWN);
    assert_string_equal(rco_pod_phase_name(RCO_POD_PHASE_UNKNOWN), "Unknown");
}

static void *read_object(const char *path, enum rco_kind kind, struct rco_arena *a)
{
    rco_autobuf json = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_schema *schema = rco_kind_info(kind)->schema;
    void *obj = rco_arena_alloc(a, schema->size);
    if (rco_file_read(path, 1 << 20, &json, &err) < 0 ||
        rco_codec_decode(schema, json.data, json.len, a, obj, &err) < 0)
        fail_msg("%s: %s", path, err.msg);
    return obj;
}

static void metadata_is_read_as_far_as_we_need_it(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_depspec *d =
        read_object("test/data/objects/depspec.json", RCO_KIND_DEPSPEC, &a);
    const struct rco_meta *m = &d->metadata;
    assert_string_equal(m->name, "shop-web");
    assert_string_equal(m->ns, "team-a");
    assert_int_equal(m->generation, 7);
    assert_string_equal(rco_meta_label(m, "team"), "checkout");
    assert_null(rco_meta_label(m, "absent"));
    assert_string_equal(rco_meta_annotation(m, RCO_ANNOTATION_RUN_NOW), "2026-11-30T06:00");
    assert_int_equal(m->n_annotations, 1); /* the one of kubectl is not kept */
    assert_true(rco_meta_has_finalizer(m, RCO_FINALIZER_SPECIFICATION));
    assert_false(rco_meta_has_finalizer(m, RCO_FINALIZER_RUN));
    assert_int_equal(m->deletion, 0);
}

static void a_pod_of_a_real_cluster_is_read(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_pod *p = read_object("test/data/objects/pod.json", RCO_KIND_POD, &a);
    assert_int_equal(p->status.phase, RCO_POD_PHASE_RUNNING);
    assert_string_equal(p->spec.node_name, "node-1");
    assert_int_equal(p->status.n_container_statuses, 1);
    const struct rco_container_status *c = &p->status.container_statuses[0];
    assert_string_equal(c->name, "engine");
    assert_true(c->has_state && c->state.has_terminated && !c->state.has_running);
    assert_true(c->state.terminated.has_exit_code && c->state.terminated.exit_code == 0);
    assert_true(p->metadata.owners[0].has_controller && p->metadata.owners[0].controller);
    assert_string_equal(p->metadata.owners[0].kind, "Job");
}

/* Bytes of a record in the store, which hold the memory budget of design 3.4. */
static void packed_records_stay_small(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf packed = RCO_BUF_INIT;
    struct rco_intern *t = rco_intern_new();
    const struct rco_depspec *d =
        read_object("test/data/objects/depspec.json", RCO_KIND_DEPSPEC, &a);
    rco_codec_pack(&rco_depspec_schema, d, t, &packed);
    assert_in_range(packed.len, 1, 370);
    rco_buf_clear(&packed);
    const struct rco_run *r = read_object("test/data/objects/run.json", RCO_KIND_RUN, &a);
    rco_codec_pack(&rco_run_schema, r, t, &packed);
    assert_in_range(packed.len, 1, 1300);
    rco_intern_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_row),
        cmocka_unit_test(api_versions_leave_out_the_core_group),
        cmocka_unit_test(metadata_is_the_first_member_of_every_object),
        cmocka_unit_test(the_generated_tables_are_sound),
        cmocka_unit_test(an_object_is_encoded_with_its_header),
        cmocka_unit_test(the_status_of_an_object_is_found),
        cmocka_unit_test(the_transitions_of_a_run_are_exactly_those_of_the_design),
        cmocka_unit_test(words_and_values_belong_together),
        cmocka_unit_test(metadata_is_read_as_far_as_we_need_it),
        cmocka_unit_test(a_pod_of_a_real_cluster_is_read),
        cmocka_unit_test(packed_records_stay_small),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
