/* What the tests of this folder share: one loop, one client of a real kube-apiserver, waiting, and
 * single requests about ConfigMaps in one namespace. */
#ifndef RCO_WIRE_CLIENT_WORLD_H
#define RCO_WIRE_CLIENT_WORLD_H

#include "http/client.h"
#include "kube/client.h"
#include "kube/credentials.h"

#define S RCO_NS_PER_S
#define MS RCO_NS_PER_MS
#define NS "wire"

struct wire_world {
    struct rco_loop *loop;
    struct rco_kube_config config;
    struct rco_credentials *credentials;
    struct rco_http_client *http;
    struct rco_kube_client *client;
    struct rco_timer *poll;
    /* the wait under way */
    bool (*until)(void *ctx);
    void *until_ctx;
    rco_mono give_up;
    bool timed_out;
    /* the last answer */
    bool answered;
    enum rco_code code;
    char msg[512], uid[64], rv[64];
};

/* The one of this process; cmocka gives tests no other way to share it. */
extern struct wire_world wire;

int wire_set_up(void **state);
int wire_tear_down(void **state);

/* Runs the loop until UNTIL holds; the test fails when WHAT did not come within NS_MAX. */
void wire_wait_for(const char *what, bool (*until)(void *ctx), void *ctx, int64_t ns_max);
void wire_run_for(int64_t ns);
/* *FLAG, for wire_wait_for. */
bool wire_is_true(void *flag);

/* Takes an answer over into CTX, a wire_world. */
void wire_on_answer(void *ctx, const struct rco_kube_result *r, const struct rco_error *err);
/* Asks and waits; the answer stands in `wire`. */
enum rco_code wire_request(const struct rco_kube_request *q);
/* MORE: "" or further members. */
enum rco_code wire_create(enum rco_kind kind, const char *ns, const char *name, const char *more);
enum rco_code wire_get(const char *name);
enum rco_code wire_patch(const char *name, const char *rv, const char *value);
enum rco_code wire_delete(const char *name, const char *uid);

#endif
