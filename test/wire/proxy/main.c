/* The fault proxy. Usage: faultproxy --port=N --upstream=N --control=SOCKET --trace=FILE
 *   [--cert=FILE --key=FILE --ca=FILE]  ends TLS here; without them bytes pass as they are
 *   [--namespace=NS] [--election=LEASE]
 * Ends when its standard input does. */
#include "control.h"
#include "proxy.h"

#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG 64
#define STACK (512 * 1024)

int64_t fp_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void fp_sleep_ms(int ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

void fp_kill_operator(struct fp_proxy *p)
{
    if (p->operator_pid > 0)
        kill(p->operator_pid, SIGKILL);
    p->operator_pid = 0;
}

/* --- threads --- */

struct job {
    struct fp_proxy *proxy;
    int fd;
    size_t slot;
};

static void *serve(void *arg)
{
    struct job job = *(struct job *)arg;
    struct fp_proxy *p = job.proxy;

    free(arg);
    if (p->server)
        fp_serve(p, dup(job.fd));
    else
        fp_pass(p, dup(job.fd));
    pthread_mutex_lock(&p->lock);
    p->open[job.slot] = -1;
    p->connections--;
    pthread_mutex_unlock(&p->lock);
    close(job.fd);
    return NULL;
}

static void *control(void *arg)
{
    struct job job = *(struct job *)arg;

    free(arg);
    fp_control_serve(job.proxy, job.fd);
    return NULL;
}

static int start(void *(*body)(void *), struct fp_proxy *p, int fd, size_t slot)
{
    struct job *job = rco_calloc(1, sizeof *job);
    pthread_attr_t attr;
    pthread_t thread;
    int rc;

    *job = (struct job){.proxy = p, .fd = fd, .slot = slot};
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK);
    rc = pthread_create(&thread, &attr, body, job);
    pthread_attr_destroy(&attr);
    if (rc)
        free(job);
    return rc ? -1 : 0;
}

static void reset(int fd)
{
    const struct linger now = {.l_onoff = 1};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

/* A connection of the operator gets a slot and a thread, or is reset. */
static void take(struct fp_proxy *p, int fd)
{
    size_t slot = 0;

    pthread_mutex_lock(&p->lock);
    while (slot < FP_CONNECTIONS_MAX && p->open[slot] >= 0)
        slot++;
    if (p->gates.refuse || slot == FP_CONNECTIONS_MAX) {
        reset(fd);
    } else {
        p->open[slot] = fd;
        p->connections++;
        if (start(serve, p, fd, slot) < 0) {
            p->open[slot] = -1;
            p->connections--;
            reset(fd);
        }
    }
    pthread_mutex_unlock(&p->lock);
}

static void *listen_for_control(void *arg)
{
    struct job job = *(struct job *)arg;

    free(arg);
    for (;;) {
        int fd = accept4(job.fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0 && start(control, job.proxy, fd, 0) < 0)
            close(fd);
    }
    return NULL;
}

static void *listen_for_operator(void *arg)
{
    struct job job = *(struct job *)arg;

    free(arg);
    for (;;) {
        int fd = accept4(job.fd, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0)
            take(job.proxy, fd);
    }
    return NULL;
}

/* --- start --- */

static int die(const char *what)
{
    fprintf(stderr, "faultproxy: %s: %s\n", what, strerror(errno));
    return -1;
}

static int listen_tcp(int port)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 || listen(fd, BACKLOG) < 0)
        return die("--port");
    return fd;
}

static int listen_unix(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return die(path);
    }
    strcpy(at.sun_path, path);
    unlink(path);
    if (bind(fd, (const struct sockaddr *)&at, sizeof at) < 0 || listen(fd, BACKLOG) < 0)
        return die(path);
    return fd;
}

static bool option(const char *arg, const char *name, const char **ret)
{
    size_t n = strlen(name);

    if (strncmp(arg, name, n) != 0 || arg[n] != '=')
        return false;
    *ret = arg + n + 1;
    return true;
}

static int parse(int argc, char **argv, struct fp_options *o)
{
    const char *port = "0", *upstream = "0";

    *o = (struct fp_options){.ns = "", .election = "", .control = "", .trace = ""};
    for (int i = 1; i < argc; i++) {
        if (!option(argv[i], "--port", &port) && !option(argv[i], "--upstream", &upstream) &&
            !option(argv[i], "--control", &o->control) && !option(argv[i], "--trace", &o->trace) &&
            !option(argv[i], "--cert", &o->cert) && !option(argv[i], "--key", &o->key) &&
            !option(argv[i], "--ca", &o->ca) && !option(argv[i], "--namespace", &o->ns) &&
            !option(argv[i], "--election", &o->election)) {
            fprintf(stderr, "faultproxy: unknown argument %s\n", argv[i]);
            return -1;
        }
    }
    o->port = atoi(port);
    o->upstream = atoi(upstream);
    if (o->port <= 0 || o->upstream <= 0 || !*o->control || !*o->trace) {
        fprintf(stderr, "faultproxy: --port, --upstream, --control and --trace are needed\n");
        return -1;
    }
    return 0;
}

static int set_up(struct fp_proxy *p)
{
    const struct fp_options *o = &p->options;

    for (size_t i = 0; i < FP_CONNECTIONS_MAX; i++)
        p->open[i] = -1;
    p->began_ms = fp_now_ms();
    p->trace = fopen(o->trace, "ae");
    if (!p->trace)
        return die(o->trace);
    if (!o->cert)
        return 0;
    p->server = fp_server_context(o->cert, o->key ? o->key : "");
    p->client = fp_client_context(o->ca ? o->ca : "");
    return p->server && p->client ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct fp_proxy p = {.lock = PTHREAD_MUTEX_INITIALIZER, .one_write = PTHREAD_MUTEX_INITIALIZER};
    char byte;
    int tcp, unix_fd;

    signal(SIGPIPE, SIG_IGN);
    if (parse(argc, argv, &p.options) < 0 || set_up(&p) < 0)
        return 2;
    tcp = listen_tcp(p.options.port);
    unix_fd = listen_unix(p.options.control);
    if (tcp < 0 || unix_fd < 0 || start(listen_for_operator, &p, tcp, 0) < 0 ||
        start(listen_for_control, &p, unix_fd, 0) < 0)
        return 2;
    puts("ready");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    _exit(0); /* its threads end with it */
}
