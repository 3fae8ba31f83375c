/* What a model has been through, printed at the end of pan: `visited STATE INPUT`. Included by the
 * models' embedded C, after the generated names. */
#include <stdio.h>

static unsigned char visits[64][64];

static void visit(unsigned state, unsigned input)
{
    visits[state][input] = 1;
}

__attribute__((destructor)) static void print_visits(void)
{
    for (unsigned s = 0; s < sizeof(state_names) / sizeof(state_names[0]); s++)
        for (unsigned i = 0; i < sizeof(input_names) / sizeof(input_names[0]); i++)
            if (visits[s][i])
                printf("visited %s %s\n", state_names[s], input_names[i]);
}
