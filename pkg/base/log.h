/* Structured logs on stderr: a constant message, then key/value pairs. JSON or text. */
#ifndef RCO_BASE_LOG_H
#define RCO_BASE_LOG_H

#include <stddef.h>
#include <stdint.h>

enum rco_log_level { RCO_LOG_DEBUG, RCO_LOG_INFO, RCO_LOG_WARN, RCO_LOG_ERROR };
enum rco_log_format { RCO_LOG_JSON, RCO_LOG_TEXT };

/* The log level is the one mutable global of the program, set once at start. */
void rco_log_setup(enum rco_log_level level, enum rco_log_format format);
/* Whether a line of LEVEL would be written. */
int rco_log_enabled(enum rco_log_level level);

/* One pair. Values are text or an integer. */
struct rco_log_field {
    const char *key;
    const char *text; /* NULL: use number */
    int64_t number;
};

/* Writes one line (at most 8 KiB, longer values are cut) with time, level, MSG and the N fields. */
void rco_log_fields(enum rco_log_level level, const char *msg, const struct rco_log_field *fields,
                    size_t n);

#define RCO_S(KEY, TEXT) ((struct rco_log_field){.key = (KEY), .text = (TEXT) ? (TEXT) : ""})
#define RCO_N(KEY, NUMBER) ((struct rco_log_field){.key = (KEY), .number = (int64_t)(NUMBER)})
/* rco_log(RCO_LOG_INFO, "lease acquired", RCO_S("lease", name), RCO_N("transitions", n)); */
#define rco_log(LEVEL, MSG, ...)                                                                   \
    do {                                                                                           \
        if (rco_log_enabled(LEVEL)) {                                                              \
            const struct rco_log_field rco_fields_[] = {{0}, ##__VA_ARGS__};                       \
            rco_log_fields((LEVEL), (MSG), rco_fields_ + 1,                                        \
                           sizeof(rco_fields_) / sizeof(rco_fields_[0]) - 1);                      \
        }                                                                                          \
    } while (0)

#endif
