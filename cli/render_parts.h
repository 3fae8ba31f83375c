/* What the screens share. */
#ifndef RCO_CLI_RENDER_PARTS_H
#define RCO_CLI_RENDER_PARTS_H

#include "render.h"
#include "json/writer.h"

#define RCO_RENDER_LABEL_WIDTH 12
#define RCO_RENDER_MAX_WHY 100 /* columns of what a table says of one row */

/* "Label      " at the beginning of a line; what follows is the caller's, with its newline. */
void rco_render_label(struct rco_buf *out, const char *label);
/* A whole line: label and cleaned text. NULL or "" text writes nothing. */
void rco_render_field(struct rco_buf *out, const char *label, const char *text);
/* Glyph of a health (only where the terminal has glyphs) and the word, in its colour. */
void rco_render_health(const struct rco_style *s, const struct rco_explanation *x,
                       struct rco_buf *out);
enum rco_ink rco_render_ink(enum rco_health health);
enum rco_ink rco_render_state_ink(enum rco_run_state state);
/* "Why:", "Who:" and "Next:" lines, those that there are. */
void rco_render_reasons(const struct rco_style *s, const struct rco_explanation *x,
                        struct rco_buf *out);
/* "+2 ~1 -0 +-3": counts of a plan or apply. */
void rco_render_counts(const struct rco_style *s, int64_t adds, int64_t changes, int64_t deletes,
                       int64_t replaces, struct rco_buf *out);
/* First 12 characters of a digest or commit; "-" when absent. */
void rco_render_short(struct rco_buf *out, const char *hex);

/* Members of the current JSON object: health, state, message, why, who, next. */
void rco_render_json_explanation(struct rco_json_writer *w, const struct rco_explanation *x);
/* Begins a document of ours. */
void rco_render_json_begin(struct rco_json_writer *w, const char *kind, struct rco_buf *out);
/* Member KEY with a time, nothing when it is 0. */
void rco_render_json_time(struct rco_json_writer *w, const char *key, rco_wall t);
/* Member KEY with name, state and counts of a run; nothing for NULL. */
void rco_render_json_run(struct rco_json_writer *w, const char *key, const struct rco_run *run);

#endif
