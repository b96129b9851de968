/* SPDX-License-Identifier: Apache-2.0 */
/* rates.c: the values of SigreqRateLimit and SigreqMailLimit. Each limit is inherited separately: a section that sets
 * one limit keeps the others. */
#include "conf/conf.h"

#include <string.h>

static const char *const names[][SR_RATES_MOST] = {
    [SR_CONF_REQUESTS] =
        {
            [SR_RATE_TOKEN] = "token",
            [SR_RATE_LINK] = "link",
            [SR_RATE_ADDRESS] = "address",
            [SR_RATE_FAILURES] = "failures",
            [SR_RATE_VERIFY] = "verify",
            [SR_RATE_PREVIEW] = "preview",
        },
    [SR_CONF_INVITATIONS] =
        {
            [SR_MAIL_RATE_ORGANIZATION] = "organization",
            [SR_MAIL_RATE_RECIPIENT] = "recipient",
            [SR_MAIL_RATE_TEST_ORGANIZATION] = "test-organization",
            [SR_MAIL_RATE_TEST_RECIPIENT] = "test-recipient",
            [SR_MAIL_RATE_HOOK] = "hook",
            [SR_MAIL_RATE_HOOK_RECIPIENT] = "hook-recipient",
            [SR_MAIL_RATE_HOOK_PREFIX] = "hook-prefix",
        },
};

static const char *const wanted[] = {
    [SR_CONF_REQUESTS] =
        "must be token=, link=, address=, failures=, verify= or preview= with a rate such as 100/s, 60/min, 1000/h, "
        "or none",
    [SR_CONF_INVITATIONS] =
        "must be organization=, recipient=, test-organization=, test-recipient=, hook=, hook-recipient= or "
        "hook-prefix= with a rate such as 20/h, 1000/d, or none",
};

static const char *rates_read_one(sr_rates_t *rates, sr_conf_limited_t what, const char *text)
{
    for (int i = 0; i < SR_RATES_MOST && names[what][i]; i++) {
        const size_t length = strlen(names[what][i]);
        sr_rate_t rate = {0, 0};
        if (strncasecmp(text, names[what][i], length) != 0 || text[length] != '=') continue;
        const char *value = text + length + 1;
        const bool none = !strcasecmp(value, "none");
        if (none && what == SR_CONF_REQUESTS && i == SR_RATE_FAILURES)
            return "must limit failures, such as failures=1000/s";
        if (!none && !sr_rate_parse(&rate, value)) break;
        rates->of[i] = rate;
        rates->given |= 1u << i;
        return NULL;
    }
    return wanted[what];
}

const char *sr_conf_read_rates(apr_pool_t *pool, sr_rates_t *rates, sr_conf_limited_t what, const char *text)
{
    const char *wrong = NULL;
    while (*text && !wrong) wrong = rates_read_one(rates, what, ap_getword_white(pool, &text));
    return wrong;
}

void sr_conf_merge_rates(sr_rates_t *merged, const sr_rates_t *over)
{
    for (int i = 0; i < SR_RATES_MOST; i++)
        if (over->given >> i & 1) merged->of[i] = over->of[i];
    merged->given |= over->given;
}
