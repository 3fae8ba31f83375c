/* Store + reflector + handlers of one kind. */
#ifndef RCO_RUNTIME_INFORMER_H
#define RCO_RUNTIME_INFORMER_H

#include "runtime/reflector.h"
#include "runtime/store.h"

/* One row of the program's table of watched kinds. Everything is borrowed for the life of the
 * informer. */
struct rco_informer_spec {
    enum rco_kind kind;
    const char *ns;             /* NULL = all namespaces */
    const char *label_selector; /* NULL = none */
    const char *field_selector; /* NULL = none */
    rco_compact_fn compact;     /* NULL = keep everything */
    const struct rco_index *indexes;
    size_t n_indexes;
};

struct rco_informer;

struct rco_informer_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_list_gate *gate;
    struct rco_intern *intern;
    enum rco_list_mode mode;
    struct rco_reflector_handler handler; /* passed on */
};

/* Copies SPEC and OPTIONS; what they point to is borrowed. Stopped, with an empty store. */
struct rco_informer *rco_informer_new(const struct rco_informer_spec *spec,
                                      const struct rco_informer_options *options);
void rco_informer_free(struct rco_informer *i);
/* Called for each change, including those of the first list. */
void rco_informer_add_handler(struct rco_informer *i, rco_store_fn fn, void *ctx);
void rco_informer_start(struct rco_informer *i);
void rco_informer_stop(struct rco_informer *i);
bool rco_informer_has_synced(const struct rco_informer *i);
struct rco_store *rco_informer_store(struct rco_informer *i);
struct rco_reflector *rco_informer_reflector(struct rco_informer *i);

#endif
