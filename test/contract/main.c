/* The contract tests: the same questions asked of the simulator and of a real kube-apiserver.
 *
 *   contract [-v] sim [WORDS]        the simulator; only cases whose names contain WORDS
 *   contract [-v] real DIR [WORDS]   the server of control-plane.sh's directory DIR
 *   contract lies                    each falsified simulator must fail
 *
 * Each case prints "ok contract BED: NAME" or "FAIL contract BED: NAME" after what did not hold. */
#include "check.h"
#include "lies.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct contract_case *const tables[] = {
    object_cases,    patch_cases,  status_cases, lifecycle_cases, owner_cases,
    schema_cases,    rule_cases,   list_cases,   page_cases,      watch_cases,
    namespace_cases, access_cases, job_cases};

/* What a run of all cases came to. */
struct tally {
    unsigned passed, failed;
    char first[128]; /* case that failed first */
};

static void make_namespace(struct bed *b, unsigned number)
{
    b->ns = bed_text(b, "c%u-%d", number, (int)getpid()); /* a server may have seen another run */
    bed_do(b, "POST", at(b, "namespaces", NULL),
           bed_text(b,
                    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
                    b->ns));
}

static void run(struct bed *b, const struct contract_case *c, unsigned number, struct tally *t)
{
    rco_mono began = rco_loop_now(b->loop);

    b->failures = 0;
    make_namespace(b, number);
    c->run(b);
    if (b->failures)
        printf("FAIL contract %s: %s\n", b->name, c->name);
    else
        printf("ok contract %s: %s (%.1f s)\n", b->name, c->name,
               (double)(rco_loop_now(b->loop) - began) / 1e9);
    if (b->failures && t->failed++ == 0)
        snprintf(t->first, sizeof t->first, "%s", c->name);
    t->passed += b->failures == 0;
}

/* Runs the cases whose names contain WORDS. */
static struct tally run_all(struct bed *b, const char *words)
{
    struct tally t = {0};
    unsigned number = 0;

    for (size_t i = 0; i < RCO_ARRAY_LEN(tables); i++)
        for (const struct contract_case *c = tables[i]; c->name; c++) {
            number++;
            if (strstr(c->name, words))
                run(b, c, number, &t);
        }
    return t;
}

static struct tally run_lie(const struct lie *lie)
{
    struct bed *b = bed_sim_new(1);
    struct tally t;

    b->lie = lie;
    t = run_all(b, "");
    bed_sim_free(b);
    return t;
}

/* What the cases print about a falsified server is of no interest. */
static int find_lies(void)
{
    int missed = 0, out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    for (size_t i = 0; i < n_lies; i++) {
        struct tally t;

        fflush(stdout);
        dup2(null, STDOUT_FILENO);
        t = run_lie(&lies[i]);
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
        missed += t.failed == 0;
        printf("%s contract lie: %s: %u cases fail%s%s\n", t.failed ? "ok" : "FAIL", lies[i].name,
               t.failed, t.failed ? ", first: " : "", t.first);
    }
    close(null);
    close(out);
    return missed ? 1 : 0;
}

static int run_bed(struct bed *b, const char *words, bool verbose)
{
    struct tally t;

    if (!b)
        return 2;
    b->verbose = verbose;
    t = run_all(b, words);
    printf("contract %s: %u cases hold, %u do not\n", b->name, t.passed, t.failed);
    return t.failed || t.passed == 0;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    char **args = argv + 1 + verbose;
    int n = argc - 1 - verbose, rc = 2;
    struct bed *b;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (n >= 1 && strcmp(args[0], "lies") == 0)
        return find_lies();
    if (n >= 1 && strcmp(args[0], "sim") == 0) {
        b = bed_sim_new(1);
        rc = run_bed(b, n > 1 ? args[1] : "", verbose);
        bed_sim_free(b);
    } else if (n >= 2 && strcmp(args[0], "real") == 0) {
        b = bed_real_new(args[1]);
        rc = run_bed(b, n > 2 ? args[2] : "", verbose);
        if (b)
            bed_real_free(b);
    } else {
        fprintf(stderr, "usage: contract [-v] sim [WORDS] | real DIR [WORDS] | lies\n");
    }
    return rc;
}
