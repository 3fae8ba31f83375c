/* Rules for the metadata of every kind: names, labels, finalizers. */
#include "refusal.h"

#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 253
#define LABEL_MAX_LEN 63

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* RFC 1123: labels joined by dots. */
static bool is_subdomain(const char *s)
{
    size_t n = strlen(s);

    if (n == 0 || n > NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool edge = i == 0 || i + 1 == n || s[i - 1] == '.' || s[i + 1] == '.';

        if (!is_lower_alnum(s[i]) && (edge ? true : s[i] != '-' && s[i] != '.'))
            return false;
    }
    return true;
}

static bool is_label_value(const char *s)
{
    size_t n = strlen(s);

    if (n > LABEL_MAX_LEN)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_alnum(s[i]) && (i == 0 || i + 1 == n || !strchr("-_.", s[i])))
            return false;
    return true;
}

static void check_labels(struct rco_arena *a, const struct rco_value *labels,
                         struct sim_causes *causes)
{
    for (const struct rco_value *l = labels ? labels->first : NULL; l; l = l->next)
        if (!is_label_value(rco_str_or_empty(l->text)))
            sim_cause_add(
                a, causes, "FieldValueInvalid", "metadata.labels",
                "Invalid value: \"%s\": a valid label must be an empty string or consist "
                "of alphanumeric characters, '-', '_' or '.', and must start and end with "
                "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                rco_str_or_empty(l->text));
}

static void check_finalizers(struct rco_arena *a, const struct rco_value *list,
                             struct sim_causes *causes)
{
    size_t i = 0;

    for (const struct rco_value *f = list ? list->first : NULL; f; f = f->next, i++)
        if (!strchr(f->text, '/') && strcmp(f->text, "foregroundDeletion") != 0 &&
            strcmp(f->text, "orphan") != 0 && strcmp(f->text, "kubernetes") != 0)
            sim_cause_add(
                a, causes, "FieldValueInvalid", rco_arena_printf(a, "metadata.finalizers[%zu]", i),
                "Invalid value: \"%s\": name is neither a standard finalizer name nor is it "
                "fully qualified",
                f->text);
}

/* Finalizers that a deletion under way finds for the first time. */
static void check_new_finalizers(struct rco_arena *a, const struct rco_value *list,
                                 const struct rco_value *old, struct sim_causes *causes)
{
    rco_autobuf text = RCO_BUF_INIT;

    for (const struct rco_value *f = list ? list->first : NULL; f; f = f->next)
        if (!sim_tree_has(old, "metadata|finalizers", f->text))
            rco_buf_addf(&text, "%s\"%s\"", text.len ? ", " : "", f->text);
    if (text.len)
        sim_cause_add(a, causes, "FieldValueForbidden", "metadata.finalizers",
                      "Forbidden: no new finalizers can be added if the object is being deleted, "
                      "found new finalizers []string{%s}",
                      rco_buf_str(&text));
}

void sim_check_meta(struct rco_arena *a, const struct rco_value *tree, const struct rco_value *old,
                    struct sim_causes *causes)
{
    const struct rco_value *list = sim_tree_get(tree, "metadata|finalizers");
    const char *name = sim_tree_str(tree, "metadata|name");

    if (!old && !is_subdomain(rco_str_or_empty(name)))
        sim_cause_add(
            a, causes, "FieldValueInvalid", "metadata.name",
            "Invalid value: \"%s\": a lowercase RFC 1123 subdomain must consist of lower case "
            "alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
            "character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
            rco_str_or_empty(name));
    check_labels(a, sim_tree_get(tree, "metadata|labels"), causes);
    check_finalizers(a, list, causes);
    if (old && sim_tree_get(old, "metadata|deletionTimestamp"))
        check_new_finalizers(a, list, old, causes);
}
