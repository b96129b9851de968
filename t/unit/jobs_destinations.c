/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_destinations.c: tests of src/jobs/destinations.c: how many calls a destination may have, and the shares of
 * organisations. */
#include "jobs/destinations.h"

#include "tap.h"

static sr_destinations_t all;
static apr_pool_t *pool;

/* Returns the shares of the next batch. */
static json_t *shares(void)
{
    json_t *batch = sr_json_own(json_object(), pool);
    sr_destinations_shares(batch, &all, 0);
    return batch;
}

static int number(const json_t *object, const char *name)
{
    return (int)json_integer_value(json_object_get(object, name));
}

/* Returns the room of a listed destination of organisation 1; -1 if it is not listed. */
static int room_of(const char *name)
{
    const json_t *listed = json_object_get(json_object_get(json_object_get(shares(), "destinations"), "1"), name);
    return listed ? (int)json_integer_value(listed) : -1;
}

static void check_calls(void)
{
    sr_destination_t *one = sr_destinations_find(&all, 0, 1, "a.org");
    is_int(one->calls, 1, "an unknown destination has one call");
    is_int(room_of("a.org"), -1, "an unknown destination is not listed");
    sr_destinations_take(one);
    is_int(room_of("a.org"), 0, "a destination that has all its calls is listed without room");
    sr_destinations_judge(one, true, apr_time_from_msec(999));
    is_int(one->calls, 16, "after a call of less than a second a destination has 16 calls");
    is_int(room_of("a.org"), 127, "128 jobs are claimed for a quick destination");
    ok(!sr_destinations_has_room(one), "many jobs of a quick destination are claimed at once, so no batch follows");
    sr_destinations_wait(one, apr_time_from_msec(999));
    is_int(one->calls, 16, "a call under way changes nothing for a second");
    sr_destinations_wait(one, apr_time_from_sec(1));
    is_int(one->calls, 4, "after a second a quick destination has 4 calls");
    sr_destinations_judge(one, true, apr_time_from_sec(1));
    is_int(one->calls, 4, "a response after a second gives a destination 4 calls");
    ok(sr_destinations_has_room(one), "a slow destination with one transfer has room for another");
    for (int i = 0; i < 3; i++) sr_destinations_take(one);
    ok(!sr_destinations_has_room(one), "a slow destination with 4 transfers has no room");
    ok(!sr_destinations_is_full(one), "4 transfers of a slow destination are not too many");
    is_int(room_of("a.org"), 0, "a slow destination with 4 transfers is listed without room");
    sr_destinations_take(one);
    ok(sr_destinations_is_full(one), "5 transfers of a slow destination are too many");
    sr_destinations_judge(one, false, apr_time_from_sec(15));
    is_int(one->calls, 1, "without a response in time a destination has one call");
    sr_destinations_judge(one, false, apr_time_from_msec(1));
    is_int(one->calls, 16, "a connection that is refused at once is quick");
    one->taken = 0;
}

/* Takes as many transfers for unknown destinations of an organisation as it may have. Returns their number. */
static int take_all(int organization)
{
    const char *key = apr_psprintf(pool, "%d", organization);
    for (int taken = 0;; taken++) {
        const json_t *batch = shares(), *own = json_object_get(json_object_get(batch, "organizations"), key);
        if (!own) own = json_object_get(batch, "share");
        if (!number(own, "room") || !number(own, "other") || !number(batch, "other")) return taken;
        sr_destinations_take(sr_destinations_find(&all, 0, organization, apr_psprintf(pool, "%d.org", taken)));
    }
}

static void check_shares(void)
{
    is_int(take_all(1), 64, "unknown names get a quarter of the transfers");
    is_int(take_all(2), 32, "unknown names of another organisation get half of the rest");
    for (int organization = 3; organization < 20; organization++) take_all(organization);
    is_int(number(shares(), "other"), 0, "many organisations use up what unknown names may have");
    ok(number(json_object_get(shares(), "share"), "room") >= 64,
       "quick destinations have room while unknown names have none");
    is_int((int)(sr_destinations_find(&all, 0, 1, "0.org")->taken), 1, "a destination with transfers is not replaced");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    check_calls();
    check_shares();
    apr_pool_destroy(pool); /* a sanitizer does not look into pools for the JSON values of others */
    return done();
}
