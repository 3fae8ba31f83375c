/* Screens: facts and explanation in, text or JSON out. Pure; the golden tests print what they give.
 */
#ifndef RCO_CLI_RENDER_H
#define RCO_CLI_RENDER_H

#include "base/buf.h"
#include "explain.h"
#include "text.h"

/* One specification with its explanation, as a row of the table. */
struct rco_render_row {
    struct rco_facts facts;
    struct rco_explanation explanation;
};

enum rco_detail { RCO_DETAIL_NORMAL, RCO_DETAIL_WIDE };
enum rco_scope_shown { RCO_SHOW_ONE_NAMESPACE, RCO_SHOW_ALL_NAMESPACES };

struct rco_render {
    const struct rco_style *style;
    rco_wall now;
    enum rco_detail detail;
    enum rco_scope_shown scope;
};

/* The screen of one specification, one Environment, one run. */
void rco_render_spec(const struct rco_render *r, const struct rco_facts *f,
                     const struct rco_explanation *x, struct rco_buf *out);
void rco_render_env(const struct rco_render *r, const struct rco_facts *f,
                    const struct rco_explanation *x, const struct rco_render_row *rows,
                    size_t n_rows, struct rco_buf *out);
void rco_render_run(const struct rco_render *r, const struct rco_facts *f,
                    const struct rco_explanation *x, struct rco_buf *out);
/* What, why, who and next: the screen of `why`. NAME is like "run/shop-1". */
void rco_render_why(const struct rco_render *r, const char *name, const struct rco_explanation *x,
                    struct rco_buf *out);

/* Tables. */
void rco_render_specs(const struct rco_render *r, const struct rco_render_row *rows, size_t n,
                      struct rco_buf *out);
void rco_render_runs(const struct rco_render *r, const struct rco_run *const *runs, size_t n,
                     struct rco_buf *out);

/* One line about how far a run is, for run watch: "Planning   pod x runs fetch". No newline. */
void rco_render_progress(const struct rco_render *r, const struct rco_facts *f,
                         struct rco_buf *out);

/* The documents of -o json, apiVersion cli.runtimecloud.io/v1 (docs/cli.md describes them). */
void rco_render_spec_json(const struct rco_facts *f, const struct rco_explanation *x,
                          struct rco_buf *out);
void rco_render_specs_json(const struct rco_render_row *rows, size_t n, struct rco_buf *out);
void rco_render_env_json(const struct rco_facts *f, const struct rco_explanation *x,
                         const struct rco_render_row *rows, size_t n_rows, struct rco_buf *out);
/* KIND is the API's kind of the object, META its metadata. */
void rco_render_why_json(const char *kind, const struct rco_meta *meta,
                         const struct rco_explanation *x, struct rco_buf *out);

#endif
