/* What the proxy reads of objects: who they are, never what they say. */
#ifndef FP_OBJECT_H
#define FP_OBJECT_H

#include "base/buf.h"

#include <stdbool.h>

struct fp_object {
    char kind[64];
    char ns[256];
    char name[256];
    char uid[64];
    char rv[64];
    char end[8]; /* of a bookmark: the annotation that ends the initial events */
};

/* Of an object's text. False when it is none; then everything is "". */
bool fp_object_read(const char *json, size_t n, struct fp_object *ret);
/* Of a frame of a watch: TYPE (16 bytes) and its object. *RET_AT and *RET_LENGTH are where the
 * object stands in the text. */
bool fp_frame_read(const char *json, size_t n, char *type, struct fp_object *ret, size_t *ret_at,
                   size_t *ret_length);
/* The items of a list, one call for each, and the list's resourceVersion into RV (64 bytes), kind
 * into KIND (64) and apiVersion into VERSION (64). False when it is no list. */
bool fp_list_read(const char *json, size_t n, char *kind, char *version, char *rv,
                  void (*item)(void *ctx, const char *text, size_t n), void *ctx);

#endif
