/* SPDX-License-Identifier: Apache-2.0 */
/* option_check.c: checks the values of sigreqctl's options, so that a value that would be refused or misread later is
 * reported at once. */
#include "ctl/ctl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_CHARACTERS 500
#define MAX_DAYS 36500
#define MAX_ROWS 10000

const char *ctl_check_text(const char **value, apr_pool_t *pool)
{
    return sr_text_is_blank(*value) ? "must not be blank" : sr_text_fault(*value, NAME_MAX_CHARACTERS, pool);
}

const char *ctl_check_pgsql(const char **value, apr_pool_t *pool)
{
    return strcmp(*value, "pgsql") == 0 ? NULL : "must be pgsql";
}

/* Others can read the command line. The user and password of a URL are before an "@". */
const char *ctl_check_params(const char **value, apr_pool_t *pool)
{
    const char *scheme = strstr(*value, "://");
    const char *at = scheme ? strchr(scheme, '@') : NULL;
    const char *colon = at ? memchr(scheme + 3, ':', (apr_size_t)(at - scheme) - 3) : NULL;
    return strstr(*value, "password=") || colon
               ? "must not have a password, because others can see the command line (ps): use --config, or PGPASSFILE"
               : NULL;
}

const char *ctl_check_email(const char **value, apr_pool_t *pool)
{
    const char *wrong = ctl_check_text(value, pool);
    return wrong || sr_text_is_email(*value) ? wrong : "must be of the form name@host.domain, without spaces";
}

const char *ctl_check_environment(const char **value, apr_pool_t *pool)
{
    return strcmp(*value, "test") != 0 && strcmp(*value, "production") != 0 ? "must be test or production" : NULL;
}

const char *ctl_check_uuid(const char **value, apr_pool_t *pool)
{
    return sr_uuid_valid(*value) ? NULL : "must be a uuid";
}

const char *ctl_check_quota(const char **value, apr_pool_t *pool)
{
    apr_int64_t number = 0;
    if (strcmp(*value, "unlimited") == 0) {
        *value = NULL;
        return NULL;
    }
    for (const char *c = *value; *c; c++) {
        if (!isdigit((unsigned char)*c) || number > 1000000000000000) return "must be a number from 0, or unlimited";
        number = number * 10 + (*c - '0');
    }
    if (!**value) return "must be a number from 0, or unlimited";
    *value = apr_psprintf(pool, "%" APR_INT64_T_FMT, number);
    return NULL;
}

const char *ctl_check_url(const char **value, apr_pool_t *pool)
{
    if (strcmp(*value, "none") == 0) {
        *value = NULL;
        return NULL;
    }
    const char *fault = sr_webhook_url_fault(*value, pool);
    return fault ? apr_psprintf(pool, "must be a URL that can be called, or none: %s", fault) : NULL;
}

const char *ctl_check_since(const char **value, apr_pool_t *pool)
{
    apr_time_t when;
    if (!sr_time_parse(&when, *value)) return "must be a date such as 2027-01-31 or 2027-01-31T12:00:00Z";
    *value = apr_psprintf(pool, "%" APR_TIME_T_FMT, when);
    return NULL;
}

const char *ctl_check_until(const char **value, apr_pool_t *pool)
{
    const bool date = strlen(*value) == strlen("2027-01-31");
    const char *wrong = ctl_check_since(value, pool);
    if (!wrong && date) *value = apr_psprintf(pool, "%" APR_TIME_T_FMT, apr_atoi64(*value) + CTL_DAY);
    return wrong;
}

const char *ctl_check_expires(const char **value, apr_pool_t *pool)
{
    const char *wrong = ctl_check_since(value, pool);
    return !wrong && apr_atoi64(*value) <= sr_time_now() ? "is in the past" : wrong;
}

const char *ctl_check_period(const char **value, apr_pool_t *pool)
{
    const apr_size_t digits = strspn(*value, "0123456789");
    const char *unit = *value + digits;
    apr_interval_time_t period = 0;
    if (!strcmp(unit, "d")) sr_duration_parse(&period, apr_psprintf(pool, "P%.*sD", (int)digits, *value));
    else if (!strcmp(unit, "h")) sr_duration_parse(&period, apr_psprintf(pool, "PT%.*sH", (int)digits, *value));
    if (period <= 0 || period > MAX_DAYS * CTL_DAY) return "must be a number of days or hours: 30d, 12h";
    *value = apr_psprintf(pool, "%" APR_TIME_T_FMT, period);
    return NULL;
}

/* Returns a number of days, or a number that is too large for any option if the text is not a number. */
static int option_check_days_of(const char *value)
{
    int days;
    return sr_text_number(&days, value) ? days : MAX_DAYS + 1;
}

const char *ctl_check_days(const char **value, apr_pool_t *pool)
{
    const int days = option_check_days_of(*value);
    return days < 1 || days > MAX_DAYS ? "must be a number from 1 to 36500" : NULL;
}

const char *ctl_check_unused(const char **value, apr_pool_t *pool)
{
    return option_check_days_of(*value) > MAX_DAYS ? "must be a number from 0 to 36500" : NULL;
}

const char *ctl_check_limit(const char **value, apr_pool_t *pool)
{
    int rows;
    return sr_text_number(&rows, *value) && rows >= 1 && rows <= MAX_ROWS ? NULL : "must be a number from 1 to 10000";
}

const char *ctl_check_status(const char **value, apr_pool_t *pool)
{
    sr_submission_state_t state;
    return sr_submission_state_parse(&state, *value)
               ? NULL
               : "must be open, completed, refused, cancelled, expired, deleted or draft";
}
