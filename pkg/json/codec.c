#include "json/codec.h"

#include "json/access.h"

#include <string.h>

const char *rco_words_name(const char *const *words, int v)
{
    if (v <= 0)
        return "";
    for (int i = 2; *words; words++, i++)
        if (i == v)
            return *words;
    return "Unknown";
}

int rco_words_parse(const char *const *words, const char *word)
{
    if (!word)
        return 0;
    for (int i = 2; *words; words++, i++)
        if (strcmp(*words, word) == 0)
            return i;
    return 1;
}

bool rco_field_present(const struct rco_field *f, const void *obj)
{
    switch ((enum rco_field_type)f->type) {
    case RCO_FIELD_ENUM:
        return *RCO_AT(int, obj, f) > 1;
    case RCO_FIELD_TIME:
    case RCO_FIELD_TIME_MICRO:
        return *RCO_AT(rco_wall, obj, f) != 0;
    case RCO_FIELD_STRUCT:
        return f->flags & RCO_FIELD_ALWAYS || *RCO_HAS(obj, f);
    case RCO_FIELD_INT:
    case RCO_FIELD_BOOL:
        return *RCO_HAS(obj, f);
    case RCO_FIELD_STRING:
    case RCO_FIELD_LIST_STRUCT:
    case RCO_FIELD_LIST_STRING:
    case RCO_FIELD_MAP_STRING:
    case RCO_FIELD_RAW:
        break;
    }
    return *RCO_AT(void *, obj, f) != NULL;
}

void *rco_field_item(const struct rco_field *f, const void *obj, size_t i)
{
    return *RCO_AT(char *, obj, f) + i * f->sub->size;
}
