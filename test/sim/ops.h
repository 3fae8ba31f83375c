/* The operation campaign: what people do to the objects of a living system, generated from the
 * schemas of the CRDs, one change after another. See docs/simulation.md, "Operations". */
#ifndef RCO_SIM_OPS_H
#define RCO_SIM_OPS_H

#include "schema.h"
#include "sim.h"

#define SIM_OPS_LEAST 8000 /* operations of one run in CI */

enum sim_mutation {
    SIM_OP_DELETE, /* the property goes */
    SIM_OP_EMPTY,  /* "", [], {} */
    SIM_OP_CHANGE, /* another value that is allowed */
    SIM_OP_TOGGLE, /* true and false */
    SIM_OP_DOUBLE, /* integers */
    SIM_OP_HALF,
    SIM_OP_PLUS_TWO,
    SIM_OP_LOWEST,
    SIM_OP_HIGHEST,
    SIM_OP_BELOW,
    SIM_OP_ABOVE,
    SIM_OP_LONGEST,  /* a string of the greatest length */
    SIM_OP_TOO_LONG, /* one more */
    SIM_OP_NON_ASCII,
    SIM_OP_MISFIT,     /* not what the pattern says */
    SIM_OP_WORD,       /* each word of an enum */
    SIM_OP_WRONG_WORD, /* one that is none */
    SIM_OP_PUSH,       /* lists */
    SIM_OP_POP,
    SIM_OP_DUPLICATE,
    SIM_OP_TOO_MANY,
    SIM_OP_UNKNOWN, /* a field that no schema knows */
    SIM_OP_WRONG_TYPE,
    SIM_OP_VALUE, /* one that means something, from a table */
    SIM_OP_SCENE, /* something happens to what is referred to */
    SIM_MUTATIONS
};

struct sim_operation {
    enum rco_kind kind;
    const char *path; /* "spec|runner|pod|env|[]|name": [] is the first item, {} the first member */
    const struct sim_schema *schema; /* of the property */
    enum sim_mutation mutation;
    int index;           /* which word */
    const char *literal; /* VALUE: JSON */
    const struct sim_scene *scene;
};

const char *sim_mutation_name(enum sim_mutation m);

/* --- ops_values.c: what operations there are --- */

/* All of them in a fixed order; the array lives as long as the process. */
size_t sim_operations(const struct sim_operation **ret);
/* The object TREE after the operation, to be asked of the API server; NULL where it cannot be done
 * to this object (no last item to take away). */
const struct rco_value *sim_operation_apply(const struct sim_operation *op, struct rco_arena *a,
                                            const struct rco_value *tree);
/* The merge patch that turns OLD into NOW; NULL when they are equal. */
const struct rco_value *sim_merge_patch(struct rco_arena *a, const struct rco_value *old,
                                        const struct rco_value *now);

/* --- ops_table.c: what only people know about the properties --- */

/* Values of property PATH that mean something, JSON texts ended by NULL; NULL = none. */
const char *const *sim_op_values(enum rco_kind kind, const char *path);
/* A value that is allowed at PATH for sure, JSON; NULL: whatever the schema lets through. */
const char *sim_op_example(enum rco_kind kind, const char *path);
/* Why the operation may change nothing else, from the reviewed list; NULL: it must show. */
const char *sim_op_no_effect(const struct sim_operation *op);
/* Entries of that list that no operation of ALL matched which showed nowhere (QUIET); prints them
 * and returns how many. */
int sim_op_stale_entries(const struct sim_operation *all, const unsigned char *quiet, size_t n);

struct sim_scene {
    const char *name;
    void (*act)(struct sim *s);
    void (*undo)(struct sim *s);
    bool healthy; /* the specification is Ready afterwards */
};
extern const struct sim_scene sim_scenes[];
extern const size_t sim_n_scenes;

/* --- ops_world.c: the living system --- */

/* Makes what the specification refers to, then Tenant, Environment and specification with the
 * specs of these texts (NULL: the first of VARIANT). */
void sim_ops_populate(struct sim *s, int variant, const struct rco_buf specs[3]);
/* Which object of the system is of KIND, NULL when it is gone; of RUN the newest. */
const struct sim_version *sim_ops_object(struct sim *s, enum rco_kind kind);
/* Lets time pass until nothing changes and nothing is under way; PATIENT: nor is tried again later,
 * as after a fault. */
void sim_ops_settle(struct sim *s, bool patient);
/* A new run by request, and its end. */
void sim_ops_run(struct sim *s);
/* Ready, and nothing to wait for. */
bool sim_ops_is_good(struct sim *s);
/* The newest run was made from the Environment as it is now. */
bool sim_ops_is_fresh(struct sim *s);

/* --- ops_view.c: what can be seen --- */

enum sim_view {
    SIM_VIEW_ALL,
    SIM_VIEW_EFFECTS /* without the specs that people write */
};
/* Appends what the objects say and the newest run does, without what is counted or timed. */
void sim_ops_view(struct sim *s, enum sim_view which, struct rco_buf *out);

/* --- ops_rules.c: rules of the schemas --- */

/* An object of KIND was refused with MESSAGE. */
void sim_ops_rule_spoke(enum rco_kind kind, const char *message);
/* A line a rule of the CRDs; a rule that is not known here ends the process. */
void sim_ops_print_rules(void);
/* Prints how many of the rules spoke; not 0 when COMPLETE and one that people can break did not. */
int sim_ops_print_rule_coverage(bool complete);

/* --- ops_session.c: one system, some operations --- */

struct sim_ops_tally {
    int done, skipped, refused, unmoved, reverted, kept, faults, compared, rebuilt;
    int violations;
    char text[512];             /* the first violation */
    char after[160];            /* the operation after which it was */
    unsigned char *ran, *quiet; /* of each operation: it was carried out; it showed nowhere */
};

/* Carries out N operations (indexes into sim_operations) on a new system; all that is chosen
 * follows from SEED. */
void sim_ops_session(uint64_t seed, const size_t *which, size_t n, bool verbose,
                     struct sim_ops_tally *tally);

/* --- ops_campaign.c --- */

/* Sessions FROM, FROM+1, ... until COUNT operations are done; 0: until every operation was asked
 * for once and SIM_OPS_LEAST are done. Returns the exit status. */
int sim_ops_campaign(uint64_t from, int count);
/* One session with a readable trace. */
int sim_ops_replay(uint64_t session);
/* Sessions until the first violation; 0 when there is one. */
int sim_ops_hunt(int sessions);

#endif
