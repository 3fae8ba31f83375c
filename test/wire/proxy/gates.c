#include "gates.h"

#include "base/str.h"

#include <stdio.h>

struct fp_gate *fp_gate_of(struct fp_gates *gates, const char *res)
{
    for (size_t i = 0; i < gates->n; i++)
        if (rco_streq(gates->all[i].res, res))
            return &gates->all[i];
    if (gates->n == FP_GATES_MAX)
        return NULL;
    snprintf(gates->all[gates->n].res, sizeof gates->all[0].res, "%s", res);
    return &gates->all[gates->n++];
}

static bool fits(const struct fp_gate *gate, const char *res)
{
    return rco_streq(gate->res, res) || rco_streq(gate->res, "all");
}

bool fp_gate_is_frozen(const struct fp_gates *gates, const char *res)
{
    for (size_t i = 0; i < gates->n; i++)
        if (fits(&gates->all[i], res) && gates->all[i].frozen)
            return true;
    return false;
}

bool fp_gate_is_stale(const struct fp_gates *gates, const char *res)
{
    for (size_t i = 0; i < gates->n; i++)
        if (fits(&gates->all[i], res) && gates->all[i].stale)
            return true;
    return false;
}

int fp_gate_skew(const struct fp_gates *gates, const char *res)
{
    int most = 0;

    for (size_t i = 0; i < gates->n; i++)
        if (fits(&gates->all[i], res) && gates->all[i].skew_ms > most)
            most = gates->all[i].skew_ms;
    return most;
}

bool fp_gate_is_cut(const struct fp_gates *gates, const char *res, unsigned number)
{
    for (size_t i = 0; i < gates->n; i++)
        if (fits(&gates->all[i], res) && number < gates->all[i].cut)
            return true;
    return false;
}
