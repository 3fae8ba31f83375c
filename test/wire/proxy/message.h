/* HTTP/1.1 messages: heads, and bodies by length or in chunks. */
#ifndef FP_MESSAGE_H
#define FP_MESSAGE_H

#include "stream.h"

#include "base/buf.h"

#include <stdint.h>

#define FP_HEAD_MAX (64 * 1024)
#define FP_BODY_MAX (32 * 1024 * 1024)

/* A stream and what was read from it too far. */
struct fp_reader {
    struct fp_stream *stream; /* borrowed */
    struct rco_buf ahead;
};

struct fp_head {
    struct rco_buf text; /* lines with CRLF, without the empty one */
    char method[16];     /* of a request */
    char *path;          /* of a request, with its query */
    int status;          /* of an answer */
    int64_t length;      /* of the body; -1 = not said */
    bool chunked;
};

void fp_head_release(struct fp_head *head);
#define fp_autohead rco_cleanup(fp_head_release) struct fp_head

/* Reads the head of a request or an answer (within MS, -1 = ever): 1, or an fp_io. A head that
 * breaks off, is over its cap or none is FP_FAILED. */
int fp_request_head(struct fp_reader *r, struct fp_head *ret, int ms);
int fp_answer_head(struct fp_reader *r, struct fp_head *ret, int ms);
/* The whole body (nothing for none); -1 when it breaks off or is larger than FP_BODY_MAX. */
int fp_body(struct fp_reader *r, const struct fp_head *head, struct rco_buf *out);
/* Adds the next chunk to OUT: 1; or an fp_io, FP_EOF being the last one. */
int fp_chunk(struct fp_reader *r, struct rco_buf *out, int ms);
/* Adds the lines of HEAD but the first, and but those about the connection and the body's length.
 */
void fp_head_copy_fields(const struct fp_head *head, struct rco_buf *out);

#endif
