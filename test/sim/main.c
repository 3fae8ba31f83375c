/* The simulator as a program; see docs/simulation.md. */
#include "breaks.h"
#include "campaign.h"
#include "ops.h"
#include "run.h"
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int usage(void)
{
    fputs("usage: sim [--break NAME] COMMAND\n"
          "  replay WORD...       one plan, with a readable trace\n"
          "  seed N               the plan of seed N, with a readable trace\n"
          "  plans [PER_WORKLOAD] every planned fault of every workload\n"
          "  seeds FROM COUNT     random plans\n"
          "  hunt SEEDS           plans and seeds until the first violation; succeeds when there "
          "is one\n"
          "  switches             what --break can break\n"
          "  soak HOURS FROM      random plans for HOURS of real time\n"
          "  words N              the plan of seed N as words\n"
          "  ops FROM COUNT       operations on living systems (0: every one, 2,000 and more)\n"
          "  rules                of the CRDs, as they are read here\n"
          "  ops-replay SESSION   one session of them, with a readable trace\n"
          "  ops-hunt SESSIONS    sessions until the first violation\n"
          "  workloads            their names\n",
          stderr);
    return 2;
}

static int replay(const struct sim_plan *plan)
{
    struct sim_result r;
    rco_autobuf words = RCO_BUF_INIT;

    sim_plan_write(plan, &words);
    printf("plan: %s\n", rco_buf_str(&words));
    sim_run_plan(plan, &(struct sim_run_options){.verbose = true}, &r);
    printf("%d violations%s%s; %d writes, %d changes, %" PRId64 " engines, %" PRId64
           " virtual seconds, trace %016" PRIx64 "\n",
           r.violations, r.violations ? ": " : "", r.text, r.writes, r.changes, r.engines,
           r.virtual_s, r.hash);
    return r.violations ? 1 : 0;
}

static int replay_words(int argc, char **argv)
{
    struct sim_plan plan;
    const char *why = NULL;

    if (!sim_plan_parse(argv, argc, &plan, &why)) {
        fprintf(stderr, "sim: not a word of a plan: %s\n", why);
        return 2;
    }
    return replay(&plan);
}

static int command(int argc, char **argv)
{
    struct sim_plan plan;

    if (argc >= 1 && strcmp(argv[0], "replay") == 0)
        return replay_words(argc - 1, argv + 1);
    if (argc == 2 && strcmp(argv[0], "seed") == 0) {
        sim_plan_random(strtoull(argv[1], NULL, 10), &plan);
        return replay(&plan);
    }
    if (argc == 2 && strcmp(argv[0], "words") == 0) {
        rco_autobuf words = RCO_BUF_INIT;

        sim_plan_random(strtoull(argv[1], NULL, 10), &plan);
        sim_plan_write(&plan, &words);
        puts(rco_buf_str(&words));
        return 0;
    }
    if (argc >= 1 && strcmp(argv[0], "plans") == 0)
        return sim_campaign_plans(argc > 1 ? atoi(argv[1]) : 0);
    if (argc == 3 && strcmp(argv[0], "seeds") == 0)
        return sim_campaign_seeds(strtoull(argv[1], NULL, 10), atoi(argv[2]));
    if (argc == 2 && strcmp(argv[0], "hunt") == 0)
        return sim_campaign_hunt(atoi(argv[1]));
    if (argc == 1 && strcmp(argv[0], "switches") == 0) {
        for (int b = 1; b < SIM_BREAKS; b++)
            printf("%-16s %s\n", sim_break_name((enum sim_break)b),
                   sim_break_text((enum sim_break)b));
        return 0;
    }
    if (argc == 3 && strcmp(argv[0], "soak") == 0)
        return sim_campaign_soak(atof(argv[1]), strtoull(argv[2], NULL, 10));
    if (argc == 3 && strcmp(argv[0], "ops") == 0)
        return sim_ops_campaign(strtoull(argv[1], NULL, 10), atoi(argv[2]));
    if (argc == 1 && strcmp(argv[0], "rules") == 0) {
        sim_ops_print_rules();
        return 0;
    }
    if (argc == 2 && strcmp(argv[0], "ops-replay") == 0)
        return sim_ops_replay(strtoull(argv[1], NULL, 10));
    if (argc == 2 && strcmp(argv[0], "ops-hunt") == 0)
        return sim_ops_hunt(atoi(argv[1]));
    if (argc == 1 && strcmp(argv[0], "workloads") == 0) {
        for (size_t i = 0; i < sim_n_workloads; i++)
            printf("%-24s %s\n", sim_workloads[i].name, sim_workloads[i].text);
        return 0;
    }
    return usage();
}

static bool choose_break(const char *name)
{
    for (int b = 1; b < SIM_BREAKS; b++)
        if (strcmp(sim_break_name((enum sim_break)b), name) == 0)
            return sim_break_set((enum sim_break)b);
    return false;
}

int main(int argc, char **argv)
{
    int at = 1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--break") == 0) {
        if (!choose_break(argv[2])) {
            fprintf(stderr, "sim: no such switch here: %s\n", argv[2]);
            return 2;
        }
        at = 3;
    }
    return command(argc - at, argv + at);
}
