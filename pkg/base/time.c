#include "base/time.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define US_PER_DAY (INT64_C(86400) * RCO_US_PER_S)
#define MAX_DURATION_NS (INT64_C(3660) * 86400 * RCO_NS_PER_S)

/* Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant's days_from_civil). */
static int64_t days_from_civil(int64_t y, unsigned m, unsigned d)
{
    int64_t era;
    unsigned yoe, doy, doe;

    y -= m <= 2;
    era = (y >= 0 ? y : y - 399) / 400;
    yoe = (unsigned)(y - era * 400);
    doy = (153 * (m + (m > 2 ? -3U : 9U)) + 2) / 5 + d - 1;
    doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + (int64_t)doe - 719468;
}

static void civil_from_days(int64_t z, int64_t *y, unsigned *m, unsigned *d)
{
    int64_t era;
    unsigned doe, yoe, doy, mp;

    z += 719468;
    era = (z >= 0 ? z : z - 146096) / 146097;
    doe = (unsigned)(z - era * 146097);
    yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    mp = (5 * doy + 2) / 153;
    *d = doy - (153 * mp + 2) / 5 + 1;
    *m = mp < 10 ? mp + 3 : mp - 9;
    *y = (int64_t)yoe + era * 400 + (*m <= 2);
}

/* Reads exactly N digits at *P. */
static bool digits(const char **p, int n, int *ret)
{
    int v = 0;

    for (int i = 0; i < n; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return false;
        v = v * 10 + (**p - '0');
    }
    *ret = v;
    return true;
}

static bool expect(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static bool leap(int y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static bool valid_date(int y, int m, int d)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (y < 1970 || m < 1 || m > 12 || d < 1)
        return false;
    return d <= days[m - 1] + (m == 2 && leap(y));
}

/* Fraction in microseconds; digits beyond the sixth are dropped. At least one digit. */
static bool fraction(const char **p, int64_t *ret_us)
{
    int64_t us = 0, unit = 100000;
    int n = 0;

    for (; **p >= '0' && **p <= '9'; (*p)++, n++) {
        us += (**p - '0') * unit;
        unit /= 10;
    }
    *ret_us = us;
    return n > 0 && n <= 18;
}

/* Z or +hh:mm / -hh:mm; offset in seconds. */
static bool zone(const char **p, int *ret_s)
{
    int sign, h, m;

    if (**p == 'Z' || **p == 'z') {
        (*p)++;
        *ret_s = 0;
        return true;
    }
    if (**p != '+' && **p != '-')
        return false;
    sign = **p == '-' ? -1 : 1;
    (*p)++;
    if (!digits(p, 2, &h) || !expect(p, ':') || !digits(p, 2, &m) || h > 23 || m > 59)
        return false;
    *ret_s = sign * (h * 3600 + m * 60);
    return true;
}

static bool parse_wall(const char *p, rco_wall *ret)
{
    int y, mo, d, h, mi, s, offset;
    int64_t us = 0;

    if (!digits(&p, 4, &y) || !expect(&p, '-') || !digits(&p, 2, &mo) || !expect(&p, '-') ||
        !digits(&p, 2, &d) || !valid_date(y, mo, d))
        return false;
    if (*p != 'T' && *p != 't')
        return false;
    p++;
    if (!digits(&p, 2, &h) || !expect(&p, ':') || !digits(&p, 2, &mi) || !expect(&p, ':') ||
        !digits(&p, 2, &s) || h > 23 || mi > 59 || s > 60)
        return false;
    if (*p == '.') {
        p++;
        if (!fraction(&p, &us))
            return false;
    }
    if (!zone(&p, &offset) || *p)
        return false;
    if (s == 60) {
        s = 59;
        us = 999999;
    }
    *ret = days_from_civil(y, (unsigned)mo, (unsigned)d) * US_PER_DAY +
           (h * INT64_C(3600) + mi * 60 + s - offset) * RCO_US_PER_S + us;
    return true;
}

int rco_wall_parse(const char *s, rco_wall *ret, struct rco_error *err)
{
    rco_wall t;

    if (!s || !parse_wall(s, &t))
        return rco_error_set(err, RCO_EINVALID, "\"%.64s\" is not an RFC 3339 time", s ? s : "");
    *ret = t;
    return 0;
}

/* V in WIDTH digits, and what stands behind them. */
static void put_digits(char *out, unsigned v, size_t width, char behind)
{
    out[width] = behind;
    while (width-- > 0) {
        out[width] = (char)('0' + v % 10);
        v /= 10;
    }
}

static int format_seconds(rco_wall t, char *out, int64_t *ret_us)
{
    int64_t day = t / US_PER_DAY, rest = t % US_PER_DAY, y;
    unsigned m, d;

    if (rest < 0) {
        rest += US_PER_DAY;
        day--;
    }
    civil_from_days(day, &y, &m, &d);
    *ret_us = rest % RCO_US_PER_S;
    rest /= RCO_US_PER_S;
    if (y < 0 || y > 9999)
        return snprintf(out, RCO_TIME_STR_MAX, "%04d-%02u-%02uT%02d:%02d:%02d", (int)y, m, d,
                        (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60));
    /* Each status has a dozen of them. */
    put_digits(out, (unsigned)y, 4, '-');
    put_digits(out + 5, m, 2, '-');
    put_digits(out + 8, d, 2, 'T');
    put_digits(out + 11, (unsigned)(rest / 3600), 2, ':');
    put_digits(out + 14, (unsigned)(rest / 60 % 60), 2, ':');
    put_digits(out + 17, (unsigned)(rest % 60), 2, '\0');
    return 19;
}

void rco_wall_format(rco_wall t, char *out)
{
    int64_t us;
    int n = format_seconds(t, out, &us);

    snprintf(out + n, (size_t)(RCO_TIME_STR_MAX - n), "Z");
}

void rco_wall_format_micro(rco_wall t, char *out)
{
    int64_t us;
    int n = format_seconds(t, out, &us);

    snprintf(out + n, (size_t)(RCO_TIME_STR_MAX - n), ".%06dZ", (int)us);
}

/* Unit at *P in nanoseconds, 0 when there is none of ours. */
static int64_t unit(const char **p)
{
    if (strncmp(*p, "ms", 2) == 0) {
        *p += 2;
        return RCO_NS_PER_MS;
    }
    switch (*(*p)++) {
    case 'h':
        return 3600 * RCO_NS_PER_S;
    case 'm':
        return 60 * RCO_NS_PER_S;
    case 's':
        return RCO_NS_PER_S;
    default:
        return 0;
    }
}

/* One "<number><unit>" element. */
static bool element(const char **p, int64_t *ret_ns)
{
    int64_t whole = 0, u, ns;
    double part = 0, scale = 0.1;
    const char *start = *p;

    for (; **p >= '0' && **p <= '9'; (*p)++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, **p - '0', &whole))
            return false;
    if (*p == start)
        return false;
    if (**p == '.') {
        (*p)++;
        for (start = *p; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
            part += (**p - '0') * scale;
        if (*p == start || *p - start > 9)
            return false;
    }
    u = unit(p);
    if (!u || __builtin_mul_overflow(whole, u, &ns))
        return false;
    return !__builtin_add_overflow(ns, (int64_t)(part * (double)u + 0.5), ret_ns);
}

int rco_duration_parse(const char *s, int64_t *ret_ns, struct rco_error *err)
{
    int64_t total = 0, ns;
    const char *p = s ? s : "";

    if (strcmp(p, "0") == 0) {
        *ret_ns = 0;
        return 0;
    }
    if (!*p)
        return rco_error_set(err, RCO_EINVALID,
                             "a duration is empty; write for example 30s or 1h30m");
    while (*p)
        if (!element(&p, &ns) || __builtin_add_overflow(total, ns, &total) ||
            total > MAX_DURATION_NS)
            return rco_error_set(
                err, RCO_EINVALID,
                "\"%.64s\" is not a duration of at most 3660 days such as 30s or 1h30m", s);
    *ret_ns = total;
    return 0;
}

void rco_duration_format(int64_t ns, char *out)
{
    int64_t s = ns / RCO_NS_PER_S;
    char *p = out;
    const char *end = out + RCO_TIME_STR_MAX;

    if (ns < 0)
        ns = s = 0;
    if (s == 0) {
        snprintf(out, RCO_TIME_STR_MAX, "%dms", (int)(ns / RCO_NS_PER_MS));
        return;
    }
    if (s >= 3600)
        p += snprintf(p, (size_t)(end - p), "%lldh", (long long)(s / 3600));
    if (s / 60 % 60)
        p += snprintf(p, (size_t)(end - p), "%dm", (int)(s / 60 % 60));
    if (s % 60)
        snprintf(p, (size_t)(end - p), "%ds", (int)(s % 60));
}
