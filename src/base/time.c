/* SPDX-License-Identifier: Apache-2.0 */
/* time.c: ISO 8601. Times are written in one form and read in several: a date, or a date-time of RFC 3339, also with
 * an offset in the basic form. The parser is written by hand, because strptime depends on the locale and reads
 * neither fractions nor "Z". */
#include "base/base.h"

#include <apr_atomic.h>
#include <string.h>
#include <time.h>

#define FORMAT_SIZE 64 /* the text has 24 bytes; years far outside of 0..9999 need more */

static void format(char buffer[FORMAT_SIZE], apr_time_t when)
{
    apr_time_t microseconds = when % APR_USEC_PER_SEC;
    time_t seconds = (time_t)(when / APR_USEC_PER_SEC);
    struct tm tm;
    if (microseconds < 0) { /* before 1970, division rounds towards zero, which is the wrong direction */
        microseconds += APR_USEC_PER_SEC;
        seconds--;
    }
    gmtime_r(&seconds, &tm);
    apr_snprintf(buffer, FORMAT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900, tm.tm_mon + 1,
                 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(microseconds / 1000));
}

/* What tests change. */
static volatile apr_uint64_t stopped_at; /* 0: sr_time_now uses the host's clock */
static volatile apr_uint64_t ahead;      /* added to both clocks */

apr_time_t sr_time_now(void)
{
    const apr_time_t at = (apr_time_t)apr_atomic_read64(&stopped_at);
    return (at ? at : apr_time_now() + (apr_time_t)apr_atomic_read64(&ahead)) / 1000 * 1000;
}

apr_time_t sr_time_steady(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return apr_time_from_sec(now.tv_sec) + now.tv_nsec / 1000 + (apr_time_t)apr_atomic_read64(&ahead);
}

void sr_time_stop(apr_time_t at)
{
    apr_atomic_set64(&stopped_at, (apr_uint64_t)at);
}

void sr_time_forward(apr_interval_time_t interval)
{
    apr_atomic_add64(&ahead, (apr_uint64_t)interval);
}

const char *sr_time_format(apr_time_t when, apr_pool_t *pool)
{
    char buffer[FORMAT_SIZE];
    format(buffer, when);
    return apr_pstrdup(pool, buffer);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the compiler checks the format of each caller */
void sr_time_print(char text[SR_TIME_PRINTED], const char *format, apr_time_t when)
{
    const time_t seconds = (time_t)apr_time_sec(when);
    struct tm tm;
    if (!gmtime_r(&seconds, &tm) || !strftime(text, SR_TIME_PRINTED, format, &tm)) *text = '\0';
}
#pragma GCC diagnostic pop

json_t *sr_time_json(apr_time_t when)
{
    char buffer[FORMAT_SIZE];
    if (when == 0) return json_null();
    format(buffer, when);
    return json_string(buffer);
}

/* Reads exactly `count` digits. Returns false if the number is not from `least` to `most`. */
static bool time_take_number(const char **text, int count, int least, int most, int *value)
{
    for (*value = 0; count > 0; count--, (*text)++) {
        if (**text < '0' || **text > '9') return false;
        *value = *value * 10 + (**text - '0');
    }
    return *value >= least && *value <= most;
}

static bool take_character(const char **text, const char *allowed)
{
    if (!**text || !strchr(allowed, **text)) return false;
    (*text)++;
    return true;
}

static bool take_date(const char **text, struct tm *tm)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day, last;
    if (!time_take_number(text, 4, 1, 9999, &year) || !take_character(text, "-")) return false;
    if (!time_take_number(text, 2, 1, 12, &month) || !take_character(text, "-")) return false;
    last = lengths[month - 1];
    if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) last = 29;
    if (!time_take_number(text, 2, 1, last, &day)) return false;
    tm->tm_year = year - 1900;
    tm->tm_mon = month - 1;
    tm->tm_mday = day;
    return true;
}

/* Reads hh:mm[:ss[.fraction]]. Digits below microseconds are ignored. */
static bool take_clock(const char **text, struct tm *tm, int *microseconds)
{
    int unit = 100000;
    if (!time_take_number(text, 2, 0, 23, &tm->tm_hour) || !take_character(text, ":")) return false;
    if (!time_take_number(text, 2, 0, 59, &tm->tm_min)) return false;
    if (!take_character(text, ":")) return true;
    if (!time_take_number(text, 2, 0, 59, &tm->tm_sec)) return false;
    if (!take_character(text, ".,")) return true;
    if (**text < '0' || **text > '9') return false;
    for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10) *microseconds += unit * (**text - '0');
    return true;
}

/* Reads Z, ±hh:mm, ±hhmm or ±hh. */
static bool take_offset(const char **text, int *seconds)
{
    int hours, minutes = 0, sign;
    if (take_character(text, "Zz")) return true;
    sign = **text == '-' ? -1 : 1;
    if (!take_character(text, "+-") || !time_take_number(text, 2, 0, 23, &hours)) return false;
    if ((take_character(text, ":") || **text) && !time_take_number(text, 2, 0, 59, &minutes)) return false;
    *seconds = sign * (hours * 3600 + minutes * 60);
    return true;
}

bool sr_time_parse(apr_time_t *when, const char *text)
{
    struct tm tm;
    int microseconds = 0, offset = 0;
    memset(&tm, 0, sizeof tm);
    if (!take_date(&text, &tm)) return false;
    if (*text) {
        if (!take_character(&text, "Tt") || !take_clock(&text, &tm, &microseconds)) return false;
        if (!take_offset(&text, &offset) || *text) return false;
    }
    *when = ((apr_time_t)timegm(&tm) - offset) * APR_USEC_PER_SEC + microseconds;
    return true;
}
