/* Text for people: ages, sizes, counts, clean remote strings, placeholders in command templates. */
#ifndef RCO_CLI_TEXT_H
#define RCO_CLI_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How output may look. Found out once from the terminal and the environment, then passed on. */
struct rco_style {
    bool color;   /* ANSI colours */
    bool unicode; /* glyphs such as a check mark; otherwise words only */
    int width;    /* columns of the terminal; 0 = not a terminal: never cut */
};

enum rco_ink { RCO_INK_PLAIN, RCO_INK_BOLD, RCO_INK_DIM, RCO_INK_GOOD, RCO_INK_BUSY, RCO_INK_BAD };

/* Appends S in INK (the bare text when colours are off). S is cleaned as by rco_text_clean. */
void rco_text_ink(struct rco_buf *out, const struct rco_style *style, enum rco_ink ink,
                  const char *s);

/* Appends S, which came from the network, so that it cannot steer a terminal: control characters,
 * broken UTF-8 and direction overrides become '?', newlines and tabs become one space. NULL adds
 * nothing. */
void rco_text_clean(struct rco_buf *out, const char *s);
/* The same for a piece of a log: newlines and tabs stay. */
void rco_text_clean_log(struct rco_buf *out, const char *bytes, size_t n);

/* Length of the well-formed UTF-8 sequence at S (at most N bytes) with its code point; 0 = broken.
 */
size_t rco_text_utf8(const char *s, size_t n, uint32_t *ret_point);
/* False for characters that move the cursor, colour the screen or turn the reading direction. */
bool rco_text_is_harmless(uint32_t point);

/* Columns that S takes: code points, without ANSI colour sequences. */
size_t rco_text_width(const char *s);
/* Appends S cut to at most WIDTH columns, with "..." at the cut; WIDTH 0 = whole. */
void rco_text_cut(struct rco_buf *out, const char *s, size_t width);

/* "12s", "4m", "3h", "5d" since T; "-" when T is 0. Never negative (clocks differ). */
void rco_text_age(struct rco_buf *out, rco_wall now, rco_wall t);
/* "12s", "4m10s", "3h5m": the time between two moments; "-" when either is 0. */
void rco_text_span(struct rco_buf *out, rco_wall from, rco_wall to);
/* "2026-11-30 06:40:24Z"; "-" when T is 0. */
void rco_text_time(struct rco_buf *out, rco_wall t);
/* "06:40:24". */
void rco_text_clock(struct rco_buf *out, rco_wall t);
/* "812 B", "12.3 KiB", "4.0 MiB". */
void rco_text_size(struct rco_buf *out, int64_t bytes);

/* Appends S as a word of a command that can be pasted: quoted where a shell would see something in
 * it. */
void rco_text_word(struct rco_buf *out, const char *s);

/* One placeholder of a template: NAME without braces. */
struct rco_text_var {
    const char *name;
    const char *value;
};

/* TEMPLATE with each {name} replaced by its value (cleaned; unknown and NULL ones by "?"). */
const char *rco_text_expand(struct rco_arena *a, const char *template,
                            const struct rco_text_var *vars, size_t n_vars);

/* Number of single-character edits from A to B, or LIMIT when it is at least that. */
unsigned rco_text_distance(const char *a, const char *b, unsigned limit);
/* The one of WORDS (N, entries may be NULL) that S most likely meant, or NULL when none is near. */
const char *rco_text_nearest(const char *s, const char *const *words, size_t n);

#endif
