/* A TLS or plain connection with blocking I/O; one thread uses it at a time. */
#ifndef FP_STREAM_H
#define FP_STREAM_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>

#define FP_HANDSHAKE_MS 10000

struct fp_stream {
    int fd;   /* -1 = closed */
    SSL *ssl; /* NULL = plain */
};

#define FP_STREAM_INIT ((struct fp_stream){.fd = -1})

enum fp_io { FP_TIMEOUT = -2, FP_FAILED = -1, FP_EOF = 0 };

/* The contexts of the two sides. CERT and KEY are what the operator is shown, CA is whom the API
 * server is believed by. HTTP/1.1 is all that is offered. NULL after a message on stderr. */
SSL_CTX *fp_server_context(const char *cert, const char *key);
SSL_CTX *fp_client_context(const char *ca);

/* Takes FD over and shakes hands as a server; -1 leaves S closed. */
int fp_stream_accept(struct fp_stream *s, int fd, SSL_CTX *context);
/* To 127.0.0.1:PORT, whose certificate must be good for that address; CONTEXT NULL = plain. */
int fp_stream_connect(struct fp_stream *s, int port, SSL_CTX *context);
/* Up to N bytes: their number, FP_EOF, FP_FAILED, or FP_TIMEOUT when none came in MS (-1 = ever).
 */
int fp_stream_read(struct fp_stream *s, char *out, size_t n, int ms);
/* All of it, or -1. */
int fp_stream_write(struct fp_stream *s, const char *bytes, size_t n);
/* Whether bytes were received that nobody has read. */
bool fp_stream_pending(const struct fp_stream *s);
/* Whether the peer has closed or spoken, without taking anything; waits up to MS. */
bool fp_stream_readable(const struct fp_stream *s, int ms);
/* Ends our direction alone. */
void fp_stream_half_close(struct fp_stream *s);
/* With TCP RST, so that what was sent before may be lost too. */
void fp_stream_reset(struct fp_stream *s);
/* In order. A closed one may be closed again. */
void fp_stream_close(struct fp_stream *s);

#endif
