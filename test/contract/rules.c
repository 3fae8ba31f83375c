/* Rules of our definitions that look at what was before: what is immutable, the edges of a run.
 * Each row is asked of both servers; the words of a refusal are part of it. */
#include "check.h"

#include "api/zz_generated_types.h"

#include <string.h>

#define H64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define H64B "baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define RECEIPT(adds, digest)                                                                      \
    "\"planReceipt\":{\"adds\":" adds ",\"changes\":0,\"deletes\":0,\"replaces\":0,\"sames\":0,"   \
    "\"inputsHash\":\"" H64 "\",\"programVersion\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\","  \
    "\"planDigest\":\"" digest "\",\"operationsDigest\":\"" H64 "\",\"baseStateDigest\":\"" H64    \
    "\",\"workspaceDigest\":\"" H64 "\",\"engineVersion\":\"v3\",\"plannedAt\":"                   \
    "\"2026-01-01T00:00:00Z\"}"
#define PLANNED "\"state\":\"Planned\"," RECEIPT("1", H64)
#define APPLIED "\"state\":\"Applied\",\"applyReceipt\":{\"result\":\"Succeeded\"}"
#define EDGE                                                                                       \
    "status.state: Invalid value: \"object\": this change of state is not one of a run's edges "   \
    "(Applied, Failed, Rejected and Cancelled are final; a re-run is a new ProvisioningRun)"
#define STATUS(x) "{\"status\":{" x "}}"
#define STATE(x) STATUS("\"state\":\"" x "\"")

struct rule {
    const char *plural;    /* of the kind */
    bool status;           /* the patches are of the status */
    const char *before[6]; /* patches that are accepted, in turn */
    const char *patch;
    const char *message; /* NULL: accepted */
};

#define RUN_SPEC                                                                                   \
    "spec: Invalid value: \"object\": a run's spec is immutable except for cancel; a re-run is a " \
    "new ProvisioningRun"

static const struct rule rules[] = {
    /* DeploymentSpecification */
    {"deploymentspecifications",
     false,
     {0},
     "{\"spec\":{\"tenantId\":\"other\"}}",
     "spec.tenantId: Invalid value: \"object\": tenantId is immutable; make a new "
     "DeploymentSpecification instead"},
    {"deploymentspecifications",
     false,
     {0},
     "{\"spec\":{\"environmentId\":\"other\"}}",
     "spec.environmentId: Invalid value: \"object\": environmentId is immutable; make a new "
     "DeploymentSpecification in the other environment instead"},
    {"deploymentspecifications",
     false,
     {0},
     "{\"spec\":{\"kind\":\"Environment\"}}",
     "spec.kind: Invalid value: \"object\": kind is immutable; make a new DeploymentSpecification "
     "instead"},
    {"deploymentspecifications",
     false,
     {0},
     "{\"spec\":{\"stackName\":\"other\"}}",
     "spec.stackName: Forbidden: stackName is immutable (its default is <projectId>-<name>): "
     "another "
     "stack would leave what is deployed without an owner; make a new DeploymentSpecification "
     "instead"},
    {"deploymentspecifications", false, {0}, "{\"spec\":{\"stackName\":\"shop-x\"}}", NULL},
    {"deploymentspecifications",
     false,
     {"{\"spec\":{\"stackName\":\"shop-x\"}}"},
     "{\"spec\":{\"stackName\":null}}",
     NULL},
    {"deploymentspecifications",
     false,
     {0},
     "{\"spec\":{\"programVersion\":\"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}}",
     NULL},
    /* Environment */
    {"environments",
     false,
     {0},
     "{\"spec\":{\"tenantId\":\"other\"}}",
     "spec.tenantId: Invalid value: \"object\": tenantId is immutable; make a new Environment "
     "instead"},
    {"environments",
     false,
     {0},
     "{\"spec\":{\"projectId\":\"other\"}}",
     "spec.projectId: Invalid value: \"object\": projectId is immutable; make a new Environment "
     "instead"},
    {"environments", false, {0}, "{\"spec\":{\"class\":\"staging\"}}", NULL},
    /* ProvisioningRun: its spec */
    {"provisioningruns", false, {0}, "{\"spec\":{\"tenantId\":\"other\"}}", RUN_SPEC},
    {"provisioningruns", false, {0}, "{\"spec\":{\"specificationVersion\":2}}", RUN_SPEC},
    {"provisioningruns", false, {0}, "{\"spec\":{\"environmentClass\":\"staging\"}}", RUN_SPEC},
    {"provisioningruns",
     false,
     {0},
     "{\"spec\":{\"specificationRef\":{\"name\":\"other\"}}}",
     RUN_SPEC},
    {"provisioningruns",
     false,
     {0},
     "{\"spec\":{\"snapshot\":{\"timeoutSeconds\":61}}}",
     "spec.snapshot: Invalid value: \"object\": a run's snapshot is immutable; a re-run is a new "
     "ProvisioningRun"},
    {"provisioningruns", false, {0}, "{\"spec\":{\"cancel\":{\"by\":\"somebody\"}}}", NULL},
    {"provisioningruns",
     false,
     {"{\"spec\":{\"cancel\":{\"by\":\"somebody\"}}}"},
     "{\"spec\":{\"cancel\":null}}",
     "spec.cancel: Invalid value: \"object\": cancel is immutable once set"},
    {"provisioningruns",
     false,
     {"{\"spec\":{\"cancel\":{\"by\":\"somebody\"}}}"},
     "{\"spec\":{\"cancel\":{\"by\":\"another\"}}}",
     "spec.cancel: Invalid value: \"object\": cancel is immutable once set"},
    /* ProvisioningRun: its states */
    {"provisioningruns", true, {0}, STATE("Pending"), NULL},
    {"provisioningruns",
     true,
     {0},
     STATE("Planning"),
     "status.state: Invalid value: \"object\": the first state of a run must be Pending"},
    {"provisioningruns",
     true,
     {STATE("Pending")},
     STATUS("\"state\":null"),
     "status.state: Invalid value: \"object\": state must not be removed"},
    {"provisioningruns", true, {STATE("Pending")}, STATE("Planning"), NULL},
    {"provisioningruns", true, {STATE("Pending")}, STATE("Failed"), NULL},
    {"provisioningruns", true, {STATE("Pending")}, STATE("Cancelled"), NULL},
    {"provisioningruns", true, {STATE("Pending")}, STATUS(PLANNED), EDGE},
    {"provisioningruns", true, {STATE("Pending"), STATE("Planning")}, STATUS(PLANNED), NULL},
    {"provisioningruns", true, {STATE("Pending"), STATE("Planning")}, STATE("Pending"), EDGE},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning")},
     STATE("Planned"),
     "status.state: Invalid value: \"object\": the plan must be recorded (planReceipt) before a "
     "run "
     "goes beyond Planning"},
    {"provisioningruns", true, {STATE("Pending"), STATE("Failed")}, STATE("Planning"), EDGE},
    {"provisioningruns", true, {STATE("Pending"), STATE("Failed")}, STATE("Pending"), EDGE},
    {"provisioningruns", true, {STATE("Pending"), STATE("Cancelled")}, STATE("Planning"), EDGE},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
     STATUS(RECEIPT("1", H64B)),
     "status.planReceipt: Invalid value: \"object\": planReceipt is immutable once recorded; a "
     "re-run is a new ProvisioningRun"},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
     STATUS("\"planReceipt\":{\"adds\":2}"),
     "status.planReceipt: Invalid value: \"object\": planReceipt is immutable once recorded; a "
     "re-run is a new ProvisioningRun"},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
     STATE("Applying"),
     NULL},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
     STATE("AwaitingApproval"),
     NULL},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED), STATE("AwaitingApproval")},
     STATE("Rejected"),
     NULL},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED), STATE("AwaitingApproval"),
      STATE("Rejected")},
     STATE("Applying"),
     EDGE},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
     STATUS(APPLIED),
     EDGE},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED), STATE("Applying")},
     STATUS(APPLIED),
     NULL},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED), STATE("Applying")},
     STATE("Applied"),
     "status.state: Invalid value: \"object\": an Applied run must have an applyReceipt"},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED), STATE("Applying"), STATUS(APPLIED)},
     STATE("Failed"),
     EDGE},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning"), STATUS(PLANNED), STATE("Applying"), STATUS(APPLIED)},
     STATUS("\"applyReceipt\":{\"result\":\"Failed\"}"),
     "status.applyReceipt: Invalid value: \"object\": applyReceipt is immutable once recorded; a "
     "re-run is a new ProvisioningRun"},
    {"provisioningruns",
     true,
     {STATE("Pending"), STATE("Planning")},
     STATUS("\"applyReceipt\":{\"result\":\"Failed\"}"),
     "status.applyReceipt: Invalid value: \"object\": an applyReceipt needs a planReceipt and a "
     "run "
     "that applied"},
    {"provisioningruns",
     true,
     {STATUS("\"startedAt\":\"2026-01-01T00:00:00Z\"")},
     STATUS("\"startedAt\":\"2026-01-01T00:00:01Z\""),
     "status.startedAt: Invalid value: \"object\": startedAt is immutable once set"},
    {"provisioningruns",
     true,
     {STATUS("\"completedAt\":\"2026-01-01T00:00:00Z\"")},
     STATUS("\"completedAt\":null"),
     "status.completedAt: Invalid value: \"object\": completedAt is immutable once set"},
    {"provisioningruns",
     true,
     {STATUS("\"provisioningRunId\":\"a\"")},
     STATUS("\"provisioningRunId\":\"b\""),
     "status.provisioningRunId: Invalid value: \"object\": provisioningRunId is immutable"},
};

static void make(struct bed *b, const struct rule *rule, const char *class)
{
    if (strcmp(rule->plural, "environments") == 0)
        make_environment(b, "x");
    else if (strcmp(rule->plural, "deploymentspecifications") == 0)
        make_specification(b, "x");
    else
        make_run(b, "x", class);
}

/* Asks one rule of an object of its own, and takes that away. */
static void ask(struct bed *b, const struct rule *rule, const char *class)
{
    const char *path = at(b, rule->plural, rule->status ? "x/status" : "x");
    const char *kind = rule->plural[0] == 'e'   ? "Environment"
                       : rule->plural[0] == 'd' ? "DeploymentSpecification"
                                                : "ProvisioningRun";
    const char *what = bed_text(b, "%s %.100s", rule->plural, rule->patch);
    struct reply r;

    make(b, rule, class);
    for (size_t i = 0; rule->before[i]; i++) {
        r = bed_do(b, "PATCH", path, rule->before[i]);
        check_code(b, rule->before[i], &r, 200);
    }
    r = bed_do(b, "PATCH", path, rule->patch);
    if (!rule->message) {
        check_code(b, what, &r, 200);
    } else {
        check_refusal(b, what, &r, 422, "Invalid",
                      bed_text(b, "%s.runtimecloud.io \"x\" is invalid: %s", kind, rule->message));
        check_cause(b, what, &r,
                    strstr(rule->message, ": Forbidden: ") ? "FieldValueForbidden"
                                                           : "FieldValueInvalid",
                    bed_text(b, "%.*s", (int)strcspn(rule->message, ":"), rule->message));
    }
    bed_do(b, "DELETE", at(b, rule->plural, "x"), NULL);
}

static void ask_all(struct bed *b, const char *plural, bool status)
{
    size_t n = 0;

    for (size_t i = 0; i < RCO_ARRAY_LEN(rules); i++) {
        if (strcmp(rules[i].plural, plural) != 0 || rules[i].status != status)
            continue;
        ask(b, &rules[i], "development");
        n++;
    }
    check(b, "there are such rules", n > 0);
}

static void specifications(struct bed *b)
{
    ask_all(b, "deploymentspecifications", false);
}

static void environments(struct bed *b)
{
    ask_all(b, "environments", false);
}

static void run_specs(struct bed *b)
{
    ask_all(b, "provisioningruns", false);
}

static void run_states(struct bed *b)
{
    ask_all(b, "provisioningruns", true);
}

/* Patches that bring a new run to STATE, in turn. */
static const char *const *way_to(enum rco_run_state state)
{
    static const char *const ways[][6] = {
        [RCO_RUN_STATE_PENDING] = {STATE("Pending")},
        [RCO_RUN_STATE_PLANNING] = {STATE("Pending"), STATE("Planning")},
        [RCO_RUN_STATE_PLANNED] = {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
        [RCO_RUN_STATE_AWAITING_APPROVAL] = {STATE("Pending"), STATE("Planning"), STATUS(PLANNED),
                                             STATE("AwaitingApproval")},
        [RCO_RUN_STATE_APPLYING] = {STATE("Pending"), STATE("Planning"), STATUS(PLANNED),
                                    STATE("Applying")},
        [RCO_RUN_STATE_APPLIED] = {STATE("Pending"), STATE("Planning"), STATUS(PLANNED),
                                   STATE("Applying"), STATUS(APPLIED)},
        [RCO_RUN_STATE_FAILED] = {STATE("Pending"), STATE("Failed")},
        [RCO_RUN_STATE_REJECTED] = {STATE("Pending"), STATE("Planning"), STATUS(PLANNED),
                                    STATE("AwaitingApproval"), STATE("Rejected")},
        [RCO_RUN_STATE_CANCELLED] = {STATE("Pending"), STATE("Cancelled")},
    };

    return ways[state];
}

static bool needs_plan(enum rco_run_state to)
{
    return to == RCO_RUN_STATE_PLANNED || to == RCO_RUN_STATE_AWAITING_APPROVAL ||
           to == RCO_RUN_STATE_APPLYING || to == RCO_RUN_STATE_APPLIED ||
           to == RCO_RUN_STATE_REJECTED;
}

/* The state TO with every receipt that it could need. */
static const char *patch_to(struct bed *b, enum rco_run_state to)
{
    return bed_text(b, "{\"status\":{\"state\":\"%s\"%s%s}}", rco_run_state_name(to),
                    needs_plan(to) ? "," RECEIPT("1", H64) : "",
                    to == RCO_RUN_STATE_APPLIED ? ",\"applyReceipt\":{\"result\":\"Succeeded\"}"
                                                : "");
}

static void ask_edge(struct bed *b, enum rco_run_state from, enum rco_run_state to)
{
    const char *what = bed_text(b, "%s to %s", rco_run_state_name(from), rco_run_state_name(to));
    const char *path = at(b, "provisioningruns", "x/status");
    struct reply r;

    make_run(b, "x", "development");
    for (const char *const *way = way_to(from); *way; way++)
        bed_do(b, "PATCH", path, *way);
    r = bed_do(b, "GET", at(b, "provisioningruns", "x"), NULL);
    check_at(b, &r, "status|state", rco_run_state_name(from));
    r = bed_do(b, "PATCH", path, patch_to(b, to));
    if (rco_run_state_may_become(from, to)) {
        check_code(b, what, &r, 200);
        check_at(b, &r, "status|state", rco_run_state_name(to));
    } else {
        check_refusal(b, what, &r, 422, "Invalid", NULL);
        check_cause(b, what, &r, "FieldValueInvalid", "status.state");
        check(b, what, strstr(r.text, "is not one of a run's edges") != NULL);
    }
    bed_do(b, "DELETE", at(b, "provisioningruns", "x"), NULL);
}

/* Each state to each other one: the operator's table, the rule in the definition and the simulator.
 */
static void all_edges(struct bed *b)
{
    for (int from = RCO_RUN_STATE_PENDING; from <= RCO_RUN_STATE_CANCELLED; from++)
        for (int to = RCO_RUN_STATE_PENDING; to <= RCO_RUN_STATE_CANCELLED; to++)
            if (from != to)
                ask_edge(b, (enum rco_run_state)from, (enum rco_run_state)to);
}

static void production(struct bed *b)
{
    static const struct rule refused = {"provisioningruns",
                                        true,
                                        {STATE("Pending"), STATE("Planning"), STATUS(PLANNED)},
                                        STATE("Applying"),
                                        "status.state: Forbidden: an apply to an environment of "
                                        "class production needs an approval, "
                                        "which this version cannot record"};
    static const struct rule empty = {
        "provisioningruns",
        true,
        {STATE("Pending"), STATE("Planning"), STATUS("\"state\":\"Planned\"," RECEIPT("0", H64))},
        STATE("Applying"),
        NULL};

    ask(b, &refused, "production");
    ask(b, &empty, "production");
}

static void two_at_once(struct bed *b)
{
    struct reply r;

    make_environment(b, "x");
    r = bed_do(b, "PATCH", at(b, "environments", "x"),
               "{\"spec\":{\"tenantId\":\"other\",\"projectId\":\"other\"}}");
    check_refusal(b, "patch", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"x\" is invalid: [spec.tenantId: Invalid value: "
                  "\"object\": tenantId is immutable; make a new Environment instead, "
                  "spec.projectId: Invalid value: \"object\": projectId is immutable; make a new "
                  "Environment instead]");
}

/* The project is part of a stack's default name. */
static void project_of_a_specification(struct bed *b)
{
    struct reply r;

    make_specification(b, "x");
    r = bed_do(b, "PATCH", at(b, "deploymentspecifications", "x"),
               "{\"spec\":{\"projectId\":\"other\"}}");
    check_refusal(b, "patch", &r, 422, "Invalid", NULL);
    check_cause(b, "patch", &r, "FieldValueInvalid", "spec.projectId");
    check_cause(b, "patch", &r, "FieldValueForbidden", "spec.stackName");
}

static void on_create(struct bed *b)
{
    struct reply r = bed_do(
        b, "POST", at(b, "environments", NULL),
        "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"Environment\",\"metadata\":{"
        "\"name\":\"a234567890123456789012345678901234567890x\"},\"spec\":{\"tenantId\":"
        "\"default\","
        "\"projectId\":\"shop\",\"class\":\"development\",\"git\":{\"allowedRepositories\":["
        "\"https://git.example.com/team\"]}}}");

    check_refusal(
        b, "a long name", &r, 422, "Invalid",
        "Environment.runtimecloud.io \"a234567890123456789012345678901234567890x\" is "
        "invalid: metadata: Invalid value: \"object\": an Environment's name must be at most "
        "40 characters*");
}

const struct contract_case rule_cases[] = {
    {"what is immutable in a DeploymentSpecification", specifications},
    {"what is immutable in an Environment", environments},
    {"what is immutable in a run", run_specs},
    {"the edges of a run and its receipts", run_states},
    {"every state of a run to every other", all_edges},
    {"a run of class production does not apply", production},
    {"two broken rules are both named", two_at_once},
    {"the project of a specification, and its stack", project_of_a_specification},
    {"rules hold for creates", on_create},
    {0}};
