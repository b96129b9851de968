/* rates.c: the values of SigreqRateLimit. Each limit is inherited on its own: a section that sets one leaves the others
 * as they are. */
#include "conf/conf.h"

#include <string.h>

static const char *const names[SR_RATE_COUNT] = {
    [SR_RATE_TOKEN] = "token",
    [SR_RATE_LINK] = "link",
    [SR_RATE_ADDRESS] = "address",
    [SR_RATE_FAILURES] = "failures",
};

const char *sr_conf_read_rates(sr_rates_t *rates, const char *text)
{
    for (int i = 0; i < SR_RATE_COUNT; i++) {
        const size_t length = strlen(names[i]);
        sr_rate_t rate = {0, 0};
        if (strncasecmp(text, names[i], length) || text[length] != '=') continue;
        const char *value = text + length + 1;
        const bool none = !strcasecmp(value, "none");
        if (none && i == SR_RATE_FAILURES) return "must limit failures, such as failures=1000/s";
        if (!none && !sr_rate_parse(&rate, value)) break;
        rates->of[i] = rate;
        rates->given |= 1u << i;
        return NULL;
    }
    return "must be token=, link=, address= or failures= with a rate such as 100/s, 60/min, 1000/h, or none";
}

void sr_conf_merge_rates(sr_rates_t *merged, const sr_rates_t *over)
{
    for (int i = 0; i < SR_RATE_COUNT; i++)
        if (over->given >> i & 1) merged->of[i] = over->of[i];
    merged->given |= over->given;
}
