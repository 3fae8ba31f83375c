/* The packed form of a record. For pkg/json only.
 *
 * struct   presence bits, one per field, rounded up to bytes; then the present fields in order
 * INT      zigzag varint                    BOOL  one byte
 * ENUM     varint                           TIME  zigzag varint: difference to the time before it
 * in list     varint count, items                    this record (seconds, or microseconds for
 * MicroTime) map      varint count, keys (interned) and values string   varint header: kind in the
 * low three bits, the rest as the kind says
 *
 * Strings of a record that were written in full are numbered; a repeat is a reference to the first.
 */
#ifndef RCO_JSON_PACKING_H
#define RCO_JSON_PACKING_H

#include <stdint.h>

enum rco_pack_kind {
    RCO_PACK_TEXT,    /* header: length; bytes */
    RCO_PACK_HEX,     /* header: number of bytes; lower-case hex in binary */
    RCO_PACK_UUID,    /* 16 bytes */
    RCO_PACK_DECIMAL, /* varint; digits without a leading zero */
    RCO_PACK_INTERN,  /* header: id in the table */
    RCO_PACK_REPEAT,  /* header: number of an earlier string of this record */
    RCO_PACK_PREFIX   /* header: number of an earlier string; varint: how much of it this one begins
                       * with; varint: length of the rest; bytes */
};

#define RCO_PACK_KIND_BITS 3
/* Strings of a record beyond these are not numbered. */
#define RCO_PACK_MAX_NUMBERED 256
/* Times count from 2024-01-01T00:00:00Z, in seconds. */
#define RCO_PACK_EPOCH INT64_C(1704067200)

#endif
