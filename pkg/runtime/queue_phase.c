#include "runtime/queue_phase.h"

#define NEVER RCO_QUEUE_PHASE_COUNT

static const unsigned char table[RCO_QUEUE_PHASE_COUNT][RCO_QUEUE_INPUT_COUNT] = {
    [RCO_QUEUE_IDLE] = {RCO_QUEUE_READY, NEVER, NEVER, NEVER, RCO_QUEUE_IDLE},
    [RCO_QUEUE_READY] = {RCO_QUEUE_READY, RCO_QUEUE_RUNNING, NEVER, NEVER, RCO_QUEUE_IDLE},
    [RCO_QUEUE_RUNNING] = {RCO_QUEUE_AGAIN, NEVER, RCO_QUEUE_IDLE, RCO_QUEUE_IDLE,
                           RCO_QUEUE_RUNNING},
    [RCO_QUEUE_AGAIN] = {RCO_QUEUE_AGAIN, NEVER, RCO_QUEUE_READY, RCO_QUEUE_IDLE,
                         RCO_QUEUE_RUNNING},
};

enum rco_queue_phase rco_queue_next(enum rco_queue_phase phase, enum rco_queue_input input)
{
    return (enum rco_queue_phase)table[phase][input];
}

const char *rco_queue_phase_name(enum rco_queue_phase phase)
{
    static const char *const names[] = {"Idle", "Ready", "Running", "Again"};

    return phase < RCO_QUEUE_PHASE_COUNT ? names[phase] : "Never";
}

const char *rco_queue_input_name(enum rco_queue_input input)
{
    static const char *const names[] = {"Add", "Take", "Done", "DoneLast", "Expel"};

    return names[input];
}
