/* Written by `make generate` from rco_elector_decide and rco_elector_after. Not to be edited. */
/*
 * row Read Ours Look
 * row Read Others Look
 * row Read Missing Look
 * row Read Failed ReadFirst
 * row Create Ours Lead
 * row Create Others ReadFirst
 * row Create Missing ReadFirst
 * row Create Failed ReadFirst
 * row Acquire Ours Lead
 * row Acquire Others ReadFirst
 * row Acquire Missing ReadFirst
 * row Acquire Failed ReadFirst
 * row Renew Ours Lead
 * row Renew Others ReadFirst
 * row Renew Missing ReadFirst
 * row Renew Failed ReadFirst
 * row Release Ours GivenBack
 * row Release Others GivenBack
 * row Release Missing ReadFirst
 * row Release Failed ReadFirst
 */
#define THEN_LOOK 0
#define THEN_LEAD 1
#define THEN_GIVEN_BACK 2
#define THEN_READ_FIRST 3
#define DO_READ 0
#define DO_CREATE 1
#define DO_ACQUIRE 2
#define DO_RENEW 3
#define DO_RELEASE 4
#define DO_WAIT 5
#define DO_LOST 6
c_decl {
    static const char *const state_names[] = {"Read", "Create", "Acquire", "Renew", "Release", "Wait", "Lost"};
}

#define GOT_OURS 0
#define GOT_OTHERS 1
#define GOT_MISSING 2
#define GOT_FAILED 3
c_decl {
    static const char *const input_names[] = {"Ours", "Others", "Missing", "Failed"};
}

/* HOLDER: 0 nobody, 1 we, 2 another. */
#define VIEW(leading, overdue, releasing, known, exists, holder, expired) \
    ((leading) * 96 + (overdue) * 48 + (releasing) * 24 + (known) * 12 + (exists) * 6 + \
     (holder) * 2 + (expired))
#define VIEWS 192
#define TABLE_DECIDE(view) ( \
    (view) <= 11 -> DO_READ : ( \
    (view) <= 17 -> DO_CREATE : ( \
    (view) <= 21 -> DO_ACQUIRE : ( \
    (view) <= 22 -> DO_WAIT : ( \
    (view) <= 23 -> DO_ACQUIRE : ( \
    (view) <= 47 -> DO_WAIT : ( \
    (view) <= 59 -> DO_READ : ( \
    (view) <= 65 -> DO_CREATE : ( \
    (view) <= 69 -> DO_ACQUIRE : ( \
    (view) <= 70 -> DO_WAIT : ( \
    (view) <= 71 -> DO_ACQUIRE : ( \
    (view) <= 95 -> DO_WAIT : ( \
    (view) <= 107 -> DO_READ : ( \
    (view) <= 115 -> DO_LOST : ( \
    (view) <= 117 -> DO_RENEW : ( \
    (view) <= 119 -> DO_LOST : ( \
    (view) <= 131 -> DO_READ : ( \
    (view) <= 139 -> DO_LOST : ( \
    (view) <= 141 -> DO_RELEASE : ( \
    DO_LOST ))))))))))))))))))))

#define TABLE_AFTER(action, answer) ( \
    ((action) == DO_READ && (answer) == GOT_OURS) -> THEN_LOOK : ( \
    ((action) == DO_READ && (answer) == GOT_OTHERS) -> THEN_LOOK : ( \
    ((action) == DO_READ && (answer) == GOT_MISSING) -> THEN_LOOK : ( \
    ((action) == DO_READ && (answer) == GOT_FAILED) -> THEN_READ_FIRST : ( \
    ((action) == DO_CREATE && (answer) == GOT_OURS) -> THEN_LEAD : ( \
    ((action) == DO_CREATE && (answer) == GOT_OTHERS) -> THEN_READ_FIRST : ( \
    ((action) == DO_CREATE && (answer) == GOT_MISSING) -> THEN_READ_FIRST : ( \
    ((action) == DO_CREATE && (answer) == GOT_FAILED) -> THEN_READ_FIRST : ( \
    ((action) == DO_ACQUIRE && (answer) == GOT_OURS) -> THEN_LEAD : ( \
    ((action) == DO_ACQUIRE && (answer) == GOT_OTHERS) -> THEN_READ_FIRST : ( \
    ((action) == DO_ACQUIRE && (answer) == GOT_MISSING) -> THEN_READ_FIRST : ( \
    ((action) == DO_ACQUIRE && (answer) == GOT_FAILED) -> THEN_READ_FIRST : ( \
    ((action) == DO_RENEW && (answer) == GOT_OURS) -> THEN_LEAD : ( \
    ((action) == DO_RENEW && (answer) == GOT_OTHERS) -> THEN_READ_FIRST : ( \
    ((action) == DO_RENEW && (answer) == GOT_MISSING) -> THEN_READ_FIRST : ( \
    ((action) == DO_RENEW && (answer) == GOT_FAILED) -> THEN_READ_FIRST : ( \
    ((action) == DO_RELEASE && (answer) == GOT_OURS) -> THEN_GIVEN_BACK : ( \
    ((action) == DO_RELEASE && (answer) == GOT_OTHERS) -> THEN_GIVEN_BACK : ( \
    ((action) == DO_RELEASE && (answer) == GOT_MISSING) -> THEN_READ_FIRST : ( \
    ((action) == DO_RELEASE && (answer) == GOT_FAILED) -> THEN_READ_FIRST : ( \
    0 )))))))))))))))))))))
