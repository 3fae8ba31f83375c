/* What the informer caches keep. Each function drops, from an object that was just decoded, what no
 * decision reads, so that a record costs hundreds of bytes. A field that a decision begins to read
 * must be taken out of here: test/unit/decide/cases_test.c decides every case on whole objects,
 * too. */
#ifndef RCO_DECIDE_COMPACT_H
#define RCO_DECIDE_COMPACT_H

struct rco_arena;

/* A ConfigMap with more keys is kept without its data, but with this key, which none can have. */
#define RCO_CONFIGMAP_KEYS_MAX 128
#define RCO_CONFIGMAP_TOO_MANY_KEYS "/"

/* OBJ is the kind's struct, SCRATCH the arena it lives in. */
void rco_compact_namespace(void *obj, struct rco_arena *scratch);
void rco_compact_env(void *obj, struct rco_arena *scratch);
/* Name and whether it is fenced; the rest of a Node changes often and concerns nobody here. */
void rco_compact_node(void *obj, struct rco_arena *scratch);
void rco_compact_depspec(void *obj, struct rco_arena *scratch);
/* Final runs whose finalizer is gone keep identity, result and what retention needs. */
void rco_compact_run(void *obj, struct rco_arena *scratch);
void rco_compact_job(void *obj, struct rco_arena *scratch);
void rco_compact_pod(void *obj, struct rco_arena *scratch);
/* Values are replaced by their SHA-256 in hex: a decision only asks whether one changed. */
void rco_compact_configmap(void *obj, struct rco_arena *scratch);
void rco_compact_pvc(void *obj, struct rco_arena *scratch);

#endif
