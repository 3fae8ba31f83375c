/* Written by `make generate` from the transition rule of crds/runtimecloud.io_provisioningruns.yaml. Not to be edited. */
/*
 * row Unset Pending
 * row Pending Planning
 * row Pending Failed
 * row Pending Cancelled
 * row Planning Planned
 * row Planning Failed
 * row Planning Cancelled
 * row Planned AwaitingApproval
 * row Planned Applying
 * row Planned Cancelled
 * row AwaitingApproval Applying
 * row AwaitingApproval Rejected
 * row Applying Applied
 * row Applying Failed
 */
#define RUN_UNSET 0
#define RUN_UNKNOWN 1
#define RUN_PENDING 2
#define RUN_PLANNING 3
#define RUN_PLANNED 4
#define RUN_AWAITING_APPROVAL 5
#define RUN_APPLYING 6
#define RUN_APPLIED 7
#define RUN_FAILED 8
#define RUN_REJECTED 9
#define RUN_CANCELLED 10
c_decl {
    static const char *const state_names[] = {"Unset", "Unknown", "Pending", "Planning", "Planned", "AwaitingApproval", "Applying", "Applied", "Failed", "Rejected", "Cancelled"};
}

#define TABLE_MAY(from, to) ( \
    ((from) == RUN_UNSET && (to) == RUN_PENDING) -> true : ( \
    ((from) == RUN_PENDING && (to) == RUN_PLANNING) -> true : ( \
    ((from) == RUN_PENDING && (to) == RUN_FAILED) -> true : ( \
    ((from) == RUN_PENDING && (to) == RUN_CANCELLED) -> true : ( \
    ((from) == RUN_PLANNING && (to) == RUN_PLANNED) -> true : ( \
    ((from) == RUN_PLANNING && (to) == RUN_FAILED) -> true : ( \
    ((from) == RUN_PLANNING && (to) == RUN_CANCELLED) -> true : ( \
    ((from) == RUN_PLANNED && (to) == RUN_AWAITING_APPROVAL) -> true : ( \
    ((from) == RUN_PLANNED && (to) == RUN_APPLYING) -> true : ( \
    ((from) == RUN_PLANNED && (to) == RUN_CANCELLED) -> true : ( \
    ((from) == RUN_AWAITING_APPROVAL && (to) == RUN_APPLYING) -> true : ( \
    ((from) == RUN_AWAITING_APPROVAL && (to) == RUN_REJECTED) -> true : ( \
    ((from) == RUN_APPLYING && (to) == RUN_APPLIED) -> true : ( \
    ((from) == RUN_APPLYING && (to) == RUN_FAILED) -> true : ( \
    false )))))))))))))))
#define TABLE_FINAL(s) ((s) == RUN_APPLIED || (s) == RUN_FAILED || (s) == RUN_REJECTED || (s) == RUN_CANCELLED)
