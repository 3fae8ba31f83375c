#include "stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_S 120 /* how long one write may stand still: a stopped operator reads later */

static SSL_CTX *fail(SSL_CTX *context, const char *what)
{
    fprintf(stderr, "faultproxy: %s: %s\n", what, ERR_reason_error_string(ERR_peek_last_error()));
    SSL_CTX_free(context);
    return NULL;
}

SSL_CTX *fp_server_context(const char *cert, const char *key)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (!context || SSL_CTX_use_certificate_chain_file(context, cert) != 1)
        return fail(context, cert);
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        return fail(context, key);
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    return context;
}

SSL_CTX *fp_client_context(const char *ca)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    if (!context || SSL_CTX_load_verify_file(context, ca) != 1)
        return fail(context, ca);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    return context;
}

static void set_options(int fd)
{
    int on = 1;
    struct timeval send = {.tv_sec = SEND_S};

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send, sizeof send);
}

static bool wait_for(int fd, short events, int ms)
{
    struct pollfd p = {.fd = fd, .events = events};
    int rc;

    do
        rc = poll(&p, 1, ms);
    while (rc < 0 && errno == EINTR);
    return rc > 0;
}

/* SHAKE is SSL_accept or SSL_connect; it may take FP_HANDSHAKE_MS for each flight. */
static int handshake(struct fp_stream *s, int (*shake)(SSL *))
{
    for (;;) {
        int rc, why;

        if (shake == SSL_accept && !wait_for(s->fd, POLLIN, FP_HANDSHAKE_MS))
            return -1;
        ERR_clear_error();
        rc = shake(s->ssl);
        if (rc == 1)
            return 0;
        why = SSL_get_error(s->ssl, rc);
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
            return -1;
    }
}

int fp_stream_accept(struct fp_stream *s, int fd, SSL_CTX *context)
{
    *s = (struct fp_stream){.fd = fd};
    set_options(fd);
    s->ssl = SSL_new(context);
    SSL_set_fd(s->ssl, fd);
    if (handshake(s, SSL_accept) == 0)
        return 0;
    fp_stream_reset(s);
    return -1;
}

int fp_stream_connect(struct fp_stream *s, int port, SSL_CTX *context)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    *s = (struct fp_stream){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (s->fd < 0 || connect(s->fd, (const struct sockaddr *)&to, sizeof to) < 0) {
        fp_stream_close(s);
        return -1;
    }
    set_options(s->fd);
    if (!context)
        return 0;
    s->ssl = SSL_new(context);
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s->ssl), "127.0.0.1");
    SSL_set_fd(s->ssl, s->fd);
    if (handshake(s, SSL_connect) == 0)
        return 0;
    fp_stream_reset(s);
    return -1;
}

bool fp_stream_pending(const struct fp_stream *s)
{
    return s->ssl && SSL_pending(s->ssl) > 0;
}

bool fp_stream_readable(const struct fp_stream *s, int ms)
{
    return s->fd < 0 || fp_stream_pending(s) || wait_for(s->fd, POLLIN | POLLRDHUP, ms);
}

static int read_plain(struct fp_stream *s, char *out, size_t n)
{
    ssize_t got;

    do
        got = recv(s->fd, out, n, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 ? FP_FAILED : (int)got;
}

int fp_stream_read(struct fp_stream *s, char *out, size_t n, int ms)
{
    if (n > INT_MAX)
        n = INT_MAX;
    for (;;) {
        int rc, why;

        if (s->fd < 0)
            return FP_FAILED;
        if (!fp_stream_pending(s) && !wait_for(s->fd, POLLIN, ms))
            return FP_TIMEOUT;
        if (!s->ssl)
            return read_plain(s, out, n);
        ERR_clear_error();
        rc = SSL_read(s->ssl, out, (int)n);
        if (rc > 0)
            return rc;
        why = SSL_get_error(s->ssl, rc);
        if (why == SSL_ERROR_ZERO_RETURN)
            return FP_EOF;
        if (why != SSL_ERROR_WANT_READ)
            return FP_FAILED;
    }
}

int fp_stream_write(struct fp_stream *s, const char *bytes, size_t n)
{
    while (n) {
        int rc;

        if (s->fd < 0)
            return -1;
        ERR_clear_error();
        if (s->ssl)
            rc = SSL_write(s->ssl, bytes, n > INT_MAX ? INT_MAX : (int)n);
        else
            rc = (int)send(s->fd, bytes, n, MSG_NOSIGNAL);
        if (rc <= 0)
            return -1;
        bytes += rc;
        n -= (size_t)rc;
    }
    return 0;
}

void fp_stream_half_close(struct fp_stream *s)
{
    if (s->fd >= 0)
        shutdown(s->fd, SHUT_WR);
}

static void release(struct fp_stream *s)
{
    SSL_free(s->ssl);
    if (s->fd >= 0)
        close(s->fd);
    *s = FP_STREAM_INIT;
}

void fp_stream_reset(struct fp_stream *s)
{
    const struct linger now = {.l_onoff = 1};

    if (s->fd >= 0)
        setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    release(s);
}

void fp_stream_close(struct fp_stream *s)
{
    if (s->ssl && SSL_is_init_finished(s->ssl))
        SSL_shutdown(s->ssl);
    release(s);
}
