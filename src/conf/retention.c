/* SPDX-License-Identifier: Apache-2.0 */
/* retention.c: the values of SigreqRetention. The directive belongs to the process and not to a location, because a
 * submission does not record the location that made it. */
#include "conf/conf.h"

#include <string.h>

#define DAY apr_time_from_sec(86400)
#define YEAR (366 * DAY) /* ten years are never shorter than ten calendar years */

/* Parses "90d" or "10y". Returns 0 if it is neither. */
static apr_interval_time_t retention_read_time(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 5 || !strchr("dy", text[digits]) || !text[digits] || text[digits + 1]) return 0;
    return apr_atoi64(text) * (text[digits] == 'y' ? YEAR : DAY);
}

static const char *set_one(sr_retention_t *retention, sr_environment_t environment, sr_submission_state_t state,
                           apr_interval_time_t time)
{
    if (retention->of[environment][state]) return "must set each outcome of an environment only once";
    retention->of[environment][state] = time;
    retention->limited = true;
    return NULL;
}

/* Reads "OUTCOME=TIME". */
static const char *retention_read_one(apr_pool_t *pool, sr_retention_t *retention, sr_environment_t environment,
                                      const char *text)
{
    const char *value = strchr(text, '='), *wrong = NULL;
    const char *name = value ? apr_pstrmemdup(pool, text, (size_t)(value - text)) : text;
    const bool all = !strcmp(name, "all");
    const apr_interval_time_t time = value ? retention_read_time(value + 1) : 0;
    bool known = false;
    for (int i = SR_SUBMISSION_COMPLETED; i <= SR_SUBMISSION_EXPIRED && value && !wrong; i++) {
        if (!all && strcmp(name, sr_submission_state_name((sr_submission_state_t)i)) != 0) continue;
        known = true;
        wrong = time ? set_one(retention, environment, (sr_submission_state_t)i, time)
                     : "must use times of at least 1d, such as 90d or 10y";
    }
    return known ? wrong : "must set completed=, refused=, cancelled=, expired= or all= after the environment";
}

const char *sr_conf_read_retention(apr_pool_t *pool, sr_retention_t *retention, const char *text)
{
    sr_environment_t environment;
    const char *wrong = NULL;
    if (!sr_environment_parse(&environment, ap_getword_conf(pool, &text))) return "must begin with production or test";
    if (!*text) return "must set completed=, refused=, cancelled=, expired= or all= after the environment";
    while (*text && !wrong) wrong = retention_read_one(pool, retention, environment, ap_getword_conf(pool, &text));
    return wrong;
}
