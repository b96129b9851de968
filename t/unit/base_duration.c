/* SPDX-License-Identifier: Apache-2.0 */
/* base_duration.c: tests of src/base/duration.c. */
#include "base/base.h"
#include "tap.h"

static void test_read(void)
{
    static const struct {
        const char *text;
        apr_int64_t seconds;
    } cases[] = {
        {"P3D", 259200},   {"PT1H", 3600},       {"P1DT12H", 129600},
        {"PT90M", 5400},   {"P2W", 1209600},     {"P1DT2H3M4S", 93784},
        {"PT36H", 129600}, {"PT0S", 0},          {"P0D", 0},
        {"PT1H0S", 3600},  {"P007D", 7 * 86400}, {"P365D", 31536000},
        {"PT3600S", 3600}, {"PT1M1S", 61},       {"P999999999D", APR_INT64_C(86399999913600)},
    };
    apr_interval_time_t duration;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ok(sr_duration_parse(&duration, cases[i].text), "%s is a duration", cases[i].text);
        is_int(duration, apr_time_from_sec(cases[i].seconds), "the duration has the right length");
    }
}

static void test_refused(void)
{
    static const char *const wrong[] = {
        "",       "P",     "3D",        "p3d",    "P3",    "PD",    "PT",    "P1DT",   "P3H",
        "PT3D",   "P1Y",   "P1M",       "P1Y3D",  "P1W1D", "P1D1W", "PT1W",  "P1DT1W", "PT1S1M",
        "PT1H1H", "P1D1D", "P1.5D",     "P1,5D",  "-P1D",  "P-1D",  "P+1D",  "P 1D",   "P1D ",
        " P1D",   "P1DX",  "P1DT1HT1M", "P1WT1H", "P2WW",  "PW",    "P1D\n", "P0x1D",  "P1234567890D",
    };
    apr_interval_time_t duration;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ok(!sr_duration_parse(&duration, wrong[i]), "\"%s\" is none", wrong[i]);
        is_int(duration, 0, "what is no duration gives 0");
    }
}

int main(void)
{
    test_read();
    test_refused();
    return done();
}
