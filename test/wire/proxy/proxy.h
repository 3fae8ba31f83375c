/* The fault proxy: what its threads share. It stands between one operator and an API server, speaks
 * HTTP/1.1 to both, shows the operator one namespace of the cluster, counts its effective writes,
 * and does harm as told over the control socket (control.h). One thread for each connection;
 * everything here is under the lock unless it says otherwise. */
#ifndef FP_PROXY_H
#define FP_PROXY_H

#include "gates.h"
#include "history.h"
#include "rules.h"
#include "stream.h"
#include "target.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>

#define FP_CONNECTIONS_MAX 256

struct fp_options {
    int port, upstream;
    const char *cert, *key, *ca; /* NULL: bytes pass as they are, TLS ends at the API server */
    const char *ns;              /* the only namespace that is shown; "" = all */
    const char *election;        /* name of the election's Lease, whose writes do not count */
    const char *control, *trace; /* paths */
};

struct fp_proxy {
    struct fp_options options; /* constant */
    SSL_CTX *server, *client;  /* constant; NULL when bytes pass */
    pthread_mutex_t lock;
    pthread_mutex_t one_write; /* writes that count go one by one, so that k has one meaning */
    struct fp_rules rules;
    struct fp_gates gates;
    struct fp_history history;
    FILE *trace;
    int64_t began_ms;
    pid_t operator_pid;    /* 0 = not told */
    unsigned long writes;  /* effective ones so far */
    unsigned long answers; /* all */
    unsigned watches;      /* number of the next watch */
    unsigned connections;
    int open[FP_CONNECTIONS_MAX]; /* sockets of the operator's side, -1 = free */
};

/* Milliseconds that only grow. */
int64_t fp_now_ms(void);
/* Sleeps so long, whatever signals come. */
void fp_sleep_ms(int ms);
/* SIGKILL for the operator, if it is known. Under the lock. */
void fp_kill_operator(struct fp_proxy *p);
/* One operator connection until its end; frees nothing of P. Without the lock. */
void fp_serve(struct fp_proxy *p, int fd);
/* The same without a look at what passes. */
void fp_pass(struct fp_proxy *p, int fd);

#endif
