/* The list of findings of `check`. */
#ifndef RCO_CLI_CHECK_H
#define RCO_CLI_CHECK_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli.h"
#include "text.h"

#define RCO_CHECK_MAX_ITEMS 64

enum rco_check_result {
    RCO_CHECK_OK,
    RCO_CHECK_NOTE,    /* worth knowing; not a fault */
    RCO_CHECK_UNKNOWN, /* could not be looked at, mostly for lack of rights */
    RCO_CHECK_WARNING, /* works, but not as it should */
    RCO_CHECK_FAILED   /* the product cannot work like this */
};

struct rco_check_item {
    enum rco_check_result result;
    const char *section; /* "Cluster", "Installation", "Rights in team-a", ... */
    const char *name;    /* "server version" */
    const char *message;
    const char *next; /* command or step, or NULL */
};

struct rco_checks {
    struct rco_arena *arena;
    struct rco_check_item items[RCO_CHECK_MAX_ITEMS];
    size_t n;
    const char *section; /* of the items added from now on */
};

/* Items added from now on stand under SECTION, a literal. */
void rco_check_section(struct rco_checks *c, const char *section);
/* Adds one; beyond RCO_CHECK_MAX_ITEMS they are dropped. NEXT may be NULL. */
void rco_check_add(struct rco_checks *c, enum rco_check_result result, const char *name,
                   const char *next, const char *fmt, ...) RCO_PRINTF(5, 6);
/* Something that could not be looked at because of ERR. */
void rco_check_unknown(struct rco_checks *c, const char *name, const struct rco_error *err);
/* 1 when an item failed, else 0. */
int rco_check_exit(const struct rco_checks *c);

/* The screen of all items, by section, with the sum at its end. */
void rco_check_render(const struct rco_checks *c, const struct rco_style *style,
                      struct rco_buf *out);
/* The document of kind Check. */
void rco_check_json(const struct rco_checks *c, struct rco_buf *out);
/* "ok", "note", "unknown", "warning", "failed". */
const char *rco_check_word(enum rco_check_result result);

/* The parts. Each adds its items; a server that cannot be reached at all is RCO_EUNAVAILABLE. */
RCO_MUST_CHECK int rco_check_cluster(struct rco_cli *cli, struct rco_checks *c,
                                     struct rco_error *err);
void rco_check_installation(struct rco_cli *cli, struct rco_checks *c);
void rco_check_rights(struct rco_cli *cli, struct rco_checks *c);
void rco_check_namespace(struct rco_cli *cli, struct rco_checks *c);

#endif
