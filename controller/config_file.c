#include "config_file.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/quantity.h"
#include "json/codec.h"
#include "json/yaml.h"

#include <string.h>

struct amounts {
    const char *cpu, *memory;
};
struct resources {
    struct amounts requests, limits;
    bool has_requests, has_limits;
};
struct runner {
    const char *image, *image_pull_policy;
    struct resources resources;
    bool has_resources;
    const char *node_selector, *tolerations; /* JSON text */
};
struct state_volume {
    const char *size, *storage_class;
};
struct file {
    const char *default_tenant;
    const char *editions; /* JSON text; read by the capacity decisions to come */
    struct runner runner;
    bool has_runner;
    struct state_volume state_volume;
    bool has_state_volume;
    int64_t history_limit;
    bool has_history_limit;
};

#define NAMED(NAME) .name = (NAME), .name_len = sizeof(NAME) - 1
#define STRING(NAME, T, F)                                                                         \
    {                                                                                              \
        NAMED(NAME), .type = RCO_FIELD_STRING, .offset = offsetof(T, F), .max = 1024               \
    }
#define RAW(NAME, T, F)                                                                            \
    {                                                                                              \
        NAMED(NAME), .type = RCO_FIELD_RAW, .offset = offsetof(T, F)                               \
    }
#define STRUCT(NAME, T, F, SUB)                                                                    \
    {                                                                                              \
        NAMED(NAME), .type = RCO_FIELD_STRUCT, .offset = offsetof(T, F),                           \
                     .aux_offset = offsetof(T, has_##F), .sub = &(SUB)                             \
    }
#define SCHEMA(VAR, NAME, T)                                                                       \
    static const struct rco_schema VAR = {NAME, sizeof(T), VAR##_fields,                           \
                                          RCO_ARRAY_LEN(VAR##_fields)}

static const struct rco_field amounts_fields[] = {
    STRING("cpu", struct amounts, cpu),
    STRING("memory", struct amounts, memory),
};
SCHEMA(amounts, "resources", struct amounts);
static const struct rco_field resources_fields[] = {
    STRUCT("requests", struct resources, requests, amounts),
    STRUCT("limits", struct resources, limits, amounts),
};
SCHEMA(resources, "resources", struct resources);
static const struct rco_field runner_fields[] = {
    STRING("image", struct runner, image),
    STRING("imagePullPolicy", struct runner, image_pull_policy),
    STRUCT("resources", struct runner, resources, resources),
    RAW("nodeSelector", struct runner, node_selector),
    RAW("tolerations", struct runner, tolerations),
};
SCHEMA(runner, "runner", struct runner);
static const struct rco_field state_volume_fields[] = {
    STRING("size", struct state_volume, size),
    STRING("storageClassName", struct state_volume, storage_class),
};
SCHEMA(state_volume, "stateVolume", struct state_volume);
static const struct rco_field file_fields[] = {
    STRING("defaultTenant", struct file, default_tenant),
    RAW("editions", struct file, editions),
    STRUCT("runner", struct file, runner, runner),
    STRUCT("stateVolume", struct file, state_volume, state_volume),
    {NAMED("historyLimit"), .type = RCO_FIELD_INT, .offset = offsetof(struct file, history_limit),
     .aux_offset = offsetof(struct file, has_history_limit)},
};
SCHEMA(file, "config", struct file);

static int check(const struct file *f, struct rco_error *err)
{
    const struct {
        const char *key, *value;
    } memory[] = {
        {"runner.resources.requests.memory", f->runner.resources.requests.memory},
        {"runner.resources.limits.memory", f->runner.resources.limits.memory},
        {"stateVolume.size", f->state_volume.size},
    };
    const char *cpu = f->runner.resources.requests.cpu, *policy = f->runner.image_pull_policy;
    int64_t ignored;

    for (size_t i = 0; i < RCO_ARRAY_LEN(memory); i++)
        if (memory[i].value && rco_quantity_bytes(memory[i].value, &ignored, err) < 0)
            return rco_error_wrap(err, "%s", memory[i].key);
    if (cpu && rco_quantity_cpu(cpu, &ignored, err) < 0)
        return rco_error_wrap(err, "runner.resources.requests.cpu");
    if (policy && !rco_streq(policy, "Always") && !rco_streq(policy, "IfNotPresent") &&
        !rco_streq(policy, "Never"))
        return rco_error_set(
            err, RCO_EINVALID,
            "runner.imagePullPolicy: \"%s\" is none of Always, IfNotPresent, Never", policy);
    if (f->has_history_limit && (f->history_limit < 0 || f->history_limit > 10000))
        return rco_error_set(err, RCO_EINVALID, "historyLimit must be between 0 and 10000");
    return 0;
}

/* "" where the file says nothing keeps the default. */
static void set(const char **field, const char *value)
{
    if (!rco_str_empty(value))
        *field = value;
}

static void apply(const struct file *f, struct rco_decide_config *c)
{
    if (f->default_tenant)
        c->default_tenant = f->default_tenant;
    set(&c->runner_image, f->runner.image);
    set(&c->job.image_pull_policy, f->runner.image_pull_policy);
    set(&c->job.engine_cpu_request, f->runner.resources.requests.cpu);
    set(&c->job.engine_memory_request, f->runner.resources.requests.memory);
    set(&c->job.engine_memory_limit, f->runner.resources.limits.memory);
    set(&c->job.node_selector, f->runner.node_selector);
    set(&c->job.tolerations, f->runner.tolerations);
    set(&c->state_size, f->state_volume.size);
    set(&c->state_storage_class, f->state_volume.storage_class);
    if (f->has_history_limit)
        c->history_limit = f->history_limit;
}

int rco_config_file_parse(const char *yaml, size_t n, const char *source, struct rco_arena *a,
                          struct rco_decide_config *config, struct rco_error *err)
{
    struct file f;

    if (rco_yaml_decode_strict(&file, yaml, n, a, &f, err) < 0 || check(&f, err) < 0)
        return rco_error_wrap(err, "configuration file %s", source);
    apply(&f, config);
    return 0;
}

int rco_config_file_load(const char *path, struct rco_arena *a, struct rco_decide_config *config,
                         struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (!path)
        return 0;
    if (rco_file_read(path, RCO_CONFIG_FILE_MAX, &text, err) < 0)
        return rco_error_wrap(err, "configuration file");
    return rco_config_file_parse(text.data, text.len, path, a, config, err);
}
