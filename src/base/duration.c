/* SPDX-License-Identifier: Apache-2.0 */
/* duration.c: reads durations of ISO 8601 that have an exact length: weeks, or days, hours, minutes and seconds. A year
 * and a month have no exact length, so they are refused, as are fractions and signs. */
#include "base/base.h"

#include <string.h>

#define MAX_DIGITS 9

/* Reads "<digits><unit>", where the unit is the first character of *units or a later one. *units then begins after
 * that unit, so each unit is read once and in order. Adds the length to *seconds. */
static bool take_component(const char **text, const char **units, const apr_int64_t *lengths, apr_int64_t *seconds)
{
    apr_int64_t number = 0;
    int digits = 0;
    for (; **text >= '0' && **text <= '9' && digits < MAX_DIGITS; (*text)++, digits++)
        number = number * 10 + (**text - '0');
    const char *unit = digits && **text ? strchr(*units, **text) : NULL;
    if (!unit) return false;
    *seconds += number * lengths[strlen(unit) - 1];
    *units = unit + 1;
    (*text)++;
    return true;
}

/* Reads components until the end of the text or `end`. There must be at least one. */
static bool take_components(const char **text, char end, const char *units, const apr_int64_t *lengths,
                            apr_int64_t *seconds)
{
    do {
        if (!take_component(text, &units, lengths, seconds)) return false;
    } while (**text && **text != end);
    return true;
}

bool sr_duration_parse(apr_interval_time_t *duration, const char *text)
{
    /* the seconds of each unit, that of the last unit first */
    static const apr_int64_t week[] = {604800}, day[] = {86400}, clock[] = {1, 60, 3600};
    apr_int64_t seconds = 0;
    *duration = 0;
    if (*text++ != 'P') return false;
    if (strchr(text, 'W')) {
        if (!take_components(&text, '\0', "W", week, &seconds)) return false;
    } else {
        if (*text != 'T' && !take_components(&text, 'T', "D", day, &seconds)) return false;
        if (*text == 'T' && (text++, !take_components(&text, '\0', "HMS", clock, &seconds))) return false;
    }
    *duration = apr_time_from_sec(seconds);
    return true;
}
