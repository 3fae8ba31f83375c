/* docs/decisions.md shows the tables as they are. RCO_UPDATE_DOCS=1 writes them there. */
#include "tree.h"

#include "decide/deployment.h"
#include "decide/environment.h"
#include "decide/run.h"

#define DOCUMENT "docs/decisions.md"

static void read_document(struct rco_buf *out)
{
    char block[4096];
    FILE *f = fopen(DOCUMENT, "r");
    if (!f)
        fail_msg("%s cannot be opened", DOCUMENT);
    for (size_t n; (n = fread(block, 1, sizeof(block), f)) > 0;)
        rco_buf_add(out, block, n);
    fclose(f);
}

/* Appends OLD to OUT with what stands between the marks of NAME replaced. */
static void replace(const char *old, const char *name, void (*print)(struct rco_buf *),
                    struct rco_buf *out)
{
    char begin[64], end[64];
    snprintf(begin, sizeof(begin), "<!-- begin %s -->\n", name);
    snprintf(end, sizeof(end), "<!-- end %s -->", name);
    const char *from = strstr(old, begin), *to = strstr(old, end);
    if (!from || !to || to < from)
        fail_msg("%s has no marks for %s", DOCUMENT, name);
    rco_buf_add(out, old, (size_t)(from - old) + strlen(begin));
    print(out);
    rco_buf_adds(out, to);
}

static void test_document_shows_the_tables(void **state)
{
    rco_autobuf old = RCO_BUF_INIT, a = RCO_BUF_INIT, b = RCO_BUF_INIT, want = RCO_BUF_INIT;
    read_document(&old);
    replace(rco_buf_str(&old), "environment", rco_env_print_rows, &a);
    replace(rco_buf_str(&a), "deployment", rco_depspec_print_rows, &b);
    replace(rco_buf_str(&b), "run", rco_run_print_rows, &want);
    if (getenv("RCO_UPDATE_DOCS")) {
        FILE *f = fopen(DOCUMENT, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(want.data, 1, want.len, f), want.len);
        assert_int_equal(fclose(f), 0);
        return;
    }
    if (strcmp(rco_buf_str(&old), rco_buf_str(&want)) != 0)
        fail_msg("%s is not what the tables say; run this test with RCO_UPDATE_DOCS=1", DOCUMENT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_shows_the_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
