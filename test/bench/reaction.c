/* How long the operator takes from an event to the first byte of the PATCH that answers it.
 *
 *   reaction SERVER CA CERT KEY PORT_FILE PID_FILE EVENTS
 *
 * Forwards TCP between the operator and the API server, without looking inside, and notes when the
 * bytes of an event were handed to the operator's socket and when the first bytes of a request came
 * back. The events are made one at a time, by turning spec.suspend of a specification on and off:
 * each is answered by one status write. EVENTS changes are spread over the 100
 * specifications of bench-0001.
 *
 * Right before an event is handed on, as many bytes go to a child that does nothing but answer,
 * over the same kind of socket: what the machine itself takes, with all that runs on it. Forwarder,
 * child and operator have real-time priority where that is allowed, so that it is the operator that
 * is measured and not who else wants a CPU.
 *
 * The listening port is written to PORT_FILE; measuring begins when PID_FILE holds the operator's
 * pid. Prints one line: events answered, then p50, p90 and p99 in microseconds of the operator, of
 * the child, and of the operator's own share, which is the difference of the two at each event;
 * last the mean CPU time of the operator for an event, with what it does after its answer. Then it
 * goes on forwarding until killed. */
#include "base/buf.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 256
#define CHUNK 65536
#define WARM_UP 20
#define PAUSE_US 15000
#define PATIENCE_US 2000000
#define TARGETS 100
#define EVENT_BYTES 4600 /* on the wire, as the operator sees them */
#define PATCH_BYTES 1300
#define REQUEST_BYTES_MIN 200 /* less is HTTP/2's own: window updates, pings */
#define PRIORITY_SELF 20
#define PRIORITY_OPERATOR 10

struct connection {
    int down, up; /* to the operator, to the API server; -1 = closed */
};

struct sample {
    int64_t wall, echo, own; /* ns */
};

struct reaction {
    const char *server, *ca, *cert, *key;
    int port;
    int epoll;
    struct connection connections[CONNECTIONS];
    int n_connections;
    const char *pid_file;
    int schedstat;
    int events;
    int64_t cpu_ns; /* of the operator, for all events */
    /* Between the two threads: an event is expected, then answered. */
    atomic_int state; /* 0 = idle, 1 = a change is being made, 2 = its answer came */
    int n_warm;
    int64_t sent_at;
    bool event_sent;
    int echo;        /* socket to the child */
    int64_t echo_ns; /* of the current event */
    struct sample *samples;
    int n_samples;
};

static void die(const char *why)
{
    fprintf(stderr, "reaction: %s\n", why);
    exit(1);
}

/* --- time --- */

/* CPU time of the operator, in ns. */
static int64_t read_schedstat(const struct reaction *r)
{
    char text[128];
    ssize_t n = r->schedstat < 0 ? 0 : pread(r->schedstat, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return strtoll(text, NULL, 10);
}

/* --- priority --- */

static void come_first(long pid, int priority)
{
    const struct sched_param param = {.sched_priority = priority};

    if (sched_setscheduler((pid_t)pid, SCHED_FIFO, &param) < 0)
        fprintf(stderr, "reaction: no real-time priority: %s\n", strerror(errno));
}

/* --- the events --- */

static size_t drop(char *data, size_t size, size_t n, void *ctx)
{
    (void)data;
    (void)ctx;
    return size * n;
}

static bool answered(struct reaction *r)
{
    for (int waited = 0; waited < PATIENCE_US; waited += 1000) {
        if (atomic_load(&r->state) == 2)
            return true;
        usleep(1000);
    }
    return false;
}

static void transfer(int fd, bool out, size_t n)
{
    static const char zeros[EVENT_BYTES];
    char bytes[EVENT_BYTES];

    while (n > 0) {
        ssize_t m = out ? send(fd, zeros, n, MSG_NOSIGNAL) : recv(fd, bytes, n, 0);

        if (m <= 0)
            exit(0); /* the other side is gone */
        n -= (size_t)m;
    }
}

static int64_t echo(const struct reaction *r)
{
    rco_mono began = rco_clock_mono();

    transfer(r->echo, true, EVENT_BYTES);
    transfer(r->echo, false, 1);
    began = rco_clock_mono() - began;
    transfer(r->echo, false, PATCH_BYTES - 1);
    return began;
}

static void change(struct reaction *r, CURL *curl, int i)
{
    rco_autofree char *url = rco_asprintf("%s/apis/runtimecloud.io/v1alpha1/namespaces/bench-0001/"
                                          "deploymentspecifications/web-%05d",
                                          r->server, 100 + i % TARGETS);
    const char *body =
        i / TARGETS % 2 ? "{\"spec\":{\"suspend\":false}}" : "{\"spec\":{\"suspend\":true}}";

    atomic_store(&r->state, 1);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    if (curl_easy_perform(curl) != CURLE_OK)
        die("the API server refused a change of a specification");
    if (!answered(r))
        fprintf(stderr, "reaction: change %d was not answered\n", i);
    atomic_store(&r->state, 0);
    /* The operator sees its own write, then it is quiet again. */
    usleep(PAUSE_US);
}

static void *drive(void *ctx)
{
    struct reaction *r = ctx;
    CURL *curl = curl_easy_init();
    struct curl_slist *headers =
        curl_slist_append(NULL, "Content-Type: application/merge-patch+json");

    curl_easy_setopt(curl, CURLOPT_CAINFO, r->ca);
    curl_easy_setopt(curl, CURLOPT_SSLCERT, r->cert);
    curl_easy_setopt(curl, CURLOPT_SSLKEY, r->key);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PATCH");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    r->cpu_ns = read_schedstat(r);
    for (int i = 0; i < r->events; i++)
        change(r, curl, i);
    r->cpu_ns = read_schedstat(r) - r->cpu_ns;
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    atomic_store(&r->state, 3);
    return NULL;
}

/* Begins when the operator is there. */
static void *wait_and_drive(void *ctx)
{
    struct reaction *r = ctx;
    char path[64];
    long pid = 0;

    while (pid == 0) {
        FILE *f = fopen(r->pid_file, "re");

        if (f && fscanf(f, "%ld", &pid) != 1)
            pid = 0;
        if (f)
            fclose(f);
        usleep(50000);
    }
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/schedstat", pid, pid);
    r->schedstat = open(path, O_RDONLY | O_CLOEXEC);
    come_first(pid, PRIORITY_OPERATOR);
    return drive(ctx);
}

/* --- what is seen --- */

static void see_event(struct reaction *r)
{
    if (atomic_load(&r->state) != 1)
        return;
    r->event_sent = true;
    r->echo_ns = echo(r);
    r->sent_at = rco_clock_mono();
}

/* NOW is before the N bytes were read. A renewal of the Lease looks the same: one in four seconds,
 * against less than a millisecond in which it would be taken for an answer. */
static void see_request(struct reaction *r, rco_mono now, size_t n)
{
    struct sample *s;

    if (!r->event_sent || n < REQUEST_BYTES_MIN || atomic_load(&r->state) != 1)
        return;
    r->event_sent = false;
    if (r->n_warm < WARM_UP) {
        r->n_warm++;
    } else {
        s = &r->samples[r->n_samples++];
        s->wall = now - r->sent_at;
        s->echo = r->echo_ns;
        s->own = s->wall > s->echo ? s->wall - s->echo : 0;
    }
    atomic_store(&r->state, 2);
}

/* --- forwarding --- */

static int dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        die("cannot connect to the API server");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void watch(const struct reaction *r, int fd, int connection, bool up)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)connection << 1 | up};

    epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e);
}

static void accept_one(struct reaction *r, int listener)
{
    int one = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct connection *c;

    if (fd < 0)
        return;
    if (r->n_connections == CONNECTIONS)
        die("too many connections");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c = &r->connections[r->n_connections];
    *c = (struct connection){.down = fd, .up = dial(r->port)};
    watch(r, c->down, r->n_connections, false);
    watch(r, c->up, r->n_connections, true);
    r->n_connections++;
}

static void close_both(struct connection *c)
{
    if (c->down >= 0)
        close(c->down);
    if (c->up >= 0)
        close(c->up);
    c->down = c->up = -1;
}

static void forward(struct reaction *r, int connection, bool from_up)
{
    static char bytes[CHUNK];
    struct connection *c = &r->connections[connection];
    int from = from_up ? c->up : c->down, to = from_up ? c->down : c->up;
    rco_mono now;
    ssize_t n;

    if (from < 0)
        return;
    now = rco_clock_mono();
    n = recv(from, bytes, sizeof bytes, 0);
    if (n <= 0) {
        close_both(c);
        return;
    }
    if (from_up)
        see_event(r);
    else
        see_request(r, now, (size_t)n);
    for (ssize_t done = 0; done < n;) {
        ssize_t m = send(to, bytes + done, (size_t)(n - done), MSG_NOSIGNAL);

        if (m <= 0) {
            close_both(c);
            return;
        }
        done += m;
    }
}

/* The child: answers each event with the bytes of a PATCH. */
static int start_echo(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof address;
    int one = 1, fd, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listener < 0 || bind(listener, (struct sockaddr *)&address, n) < 0 ||
        listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&address, &n) < 0)
        die("cannot listen");
    if (fork() == 0) {
        come_first(0, PRIORITY_OPERATOR);
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (;;) {
            transfer(fd, false, EVENT_BYTES);
            transfer(fd, true, PATCH_BYTES);
        }
    }
    fd = dial(ntohs(address.sin_port));
    close(listener);
    return fd;
}

static int make_listener(const char *port_file)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FILE *f;

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) < 0 || listen(fd, 64) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &n) < 0)
        die("cannot listen");
    f = fopen(port_file, "we");
    if (!f)
        die("cannot write the port");
    fprintf(f, "%d\n", ntohs(address.sin_port));
    fclose(f);
    return fd;
}

/* --- the result --- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static void print(const struct reaction *r, size_t offset)
{
    int64_t *values = rco_calloc((size_t)r->n_samples + 1, sizeof *values);

    for (int i = 0; i < r->n_samples; i++)
        memcpy(&values[i], (const char *)&r->samples[i] + offset, sizeof *values);
    qsort(values, (size_t)r->n_samples, sizeof *values, by_value);
    printf(" %lld %lld %lld", (long long)values[r->n_samples / 2] / 1000,
           (long long)values[r->n_samples * 9 / 10] / 1000,
           (long long)values[r->n_samples * 99 / 100] / 1000);
    free(values);
}

int main(int argc, char **argv)
{
    static struct reaction r;
    pthread_t driver;
    int listener;

    if (argc != 8)
        die("usage: reaction SERVER CA CERT KEY PORT_FILE PID_FILE EVENTS");
    r.server = argv[1];
    r.ca = argv[2];
    r.cert = argv[3];
    r.key = argv[4];
    r.port = atoi(strrchr(argv[1], ':') + 1);
    r.pid_file = argv[6];
    r.events = atoi(argv[7]);
    r.samples = rco_calloc((size_t)r.events, sizeof *r.samples);
    r.schedstat = -1;
    r.echo = start_echo();
    come_first(0, PRIORITY_SELF);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    r.epoll = epoll_create1(EPOLL_CLOEXEC);
    listener = make_listener(argv[5]);
    watch(&r, listener, CONNECTIONS, false);
    if (pthread_create(&driver, NULL, wait_and_drive, &r) != 0)
        die("cannot start a thread");
    for (bool printed = false;;) {
        struct epoll_event e[16];
        int n = epoll_wait(r.epoll, e, 16, 100);

        for (int i = 0; i < n; i++) {
            if (e[i].data.u32 >> 1 == CONNECTIONS)
                accept_one(&r, listener);
            else
                forward(&r, (int)(e[i].data.u32 >> 1), e[i].data.u32 & 1);
        }
        if (!printed && atomic_load(&r.state) == 3) {
            printf("%d", r.n_samples);
            print(&r, offsetof(struct sample, wall));
            print(&r, offsetof(struct sample, echo));
            print(&r, offsetof(struct sample, own));
            printf(" %lld\n", (long long)r.cpu_ns / 1000 / r.events);
            fflush(stdout);
            printed = true;
        }
    }
}
