/* SPDX-License-Identifier: Apache-2.0 */
/* base_time.c: tests of src/base/time.c. */
#include "base/base.h"
#include "tap.h"

static const struct {
    const char *text, *formatted;
} accepted[] = {
    {"2026-11-20", "2026-11-20T00:00:00.000Z"},
    {"2026-11-20T18:09:23.123Z", "2026-11-20T18:09:23.123Z"},
    {"2026-11-20T18:09:23Z", "2026-11-20T18:09:23.000Z"},
    {"2026-11-20t18:09z", "2026-11-20T18:09:00.000Z"},
    {"2026-11-20T18:09:23.5+02:00", "2026-11-20T16:09:23.500Z"},
    {"2026-11-20T18:09:23,5-0230", "2026-11-20T20:39:23.500Z"},
    {"2026-12-31T23:30:00-01", "2027-01-01T00:30:00.000Z"},
    {"2024-02-29", "2024-02-29T00:00:00.000Z"},
    {"2000-02-29", "2000-02-29T00:00:00.000Z"},
    {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
    {"0001-01-01", "0001-01-01T00:00:00.000Z"},
    {"9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"},
};

static const char *const refused[] = {
    "",
    "x",
    "2026",
    "2026-11",
    "2026-1-20",
    "2026-13-01",
    "2026-00-01",
    "2026-11-31",
    "2026-11-00",
    "2023-02-29",
    "1900-02-29",
    "0000-01-01",
    "20261120",
    "2026-11-20T",
    "2026-11-20T18",
    "2026-11-20T18:09",
    "2026-11-20T18:09:23",
    "2026-11-20 18:09:23Z",
    "2026-11-20T24:00:00Z",
    "2026-11-20T18:60:00Z",
    "2026-11-20T18:09:60Z",
    "2026-11-20T18:09:23.Z",
    "2026-11-20T18:09:23ZZ",
    "2026-11-20T18:09:23+",
    "2026-11-20T18:09:23+2",
    "2026-11-20T18:09:23+02:",
    "2026-11-20T18:09:23+02:60",
    "2026-11-20T18:09:23+24:00",
    " 2026-11-20",
    "2026-11-20 ",
    "-2026-11-20",
    "2026-11-20T18:09:23.123Zx",
    "99999-01-01",
};

int main(void)
{
    apr_pool_t *pool;
    apr_time_t when;
    apr_size_t i;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (i = 0; i < sizeof accepted / sizeof accepted[0]; i++)
        if (ok(sr_time_parse(&when, accepted[i].text), "reads %s", accepted[i].text))
            is_str(sr_time_format(when, pool), accepted[i].formatted, "the text is the right time");
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ok(!sr_time_parse(&when, refused[i]), "refuses '%s'", refused[i]);

    ok(sr_time_parse(&when, "2026-11-20T18:09:23.123456Z"), "reads microseconds");
    is_int(when, APR_TIME_C(1795198163123456), "microseconds are kept");
    is_str(sr_time_format(0, pool), "1970-01-01T00:00:00.000Z", "1970 is formatted");
    is_str(sr_json_text(sr_json_own(sr_time_json(when), pool), pool), "\"2026-11-20T18:09:23.123Z\"", "a time as JSON");
    is_str(sr_json_text(sr_json_own(sr_time_json(0), pool), pool), "null", "0 as JSON is null");
    sr_time_stop(APR_TIME_C(1795198163123456));
    is_int(sr_time_now(), APR_TIME_C(1795198163123000), "a test can set the clock");
    sr_time_stop(0);
    ok(llabs(sr_time_now() - apr_time_now()) < apr_time_from_sec(60), "the clock is the host's again");

    const apr_time_t date = sr_time_now(), steady = sr_time_steady();
    ok(sr_time_steady() >= steady, "the clock for durations does not go back");
    sr_time_forward(apr_time_from_sec(3600));
    ok(sr_time_now() >= date + apr_time_from_sec(3600), "the clock is put forward by an hour");
    ok(sr_time_steady() >= steady + apr_time_from_sec(3600), "the clock for durations is put forward, too");
    sr_time_forward(-apr_time_from_sec(3600));
    ok(sr_time_steady() < steady + apr_time_from_sec(3600), "the clock for durations is put back");
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
