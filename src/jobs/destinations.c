/* SPDX-License-Identifier: Apache-2.0 */
/* destinations.c: shares the transfers of a job thread. Organisations get fair shares first, and then the
 * destinations of each organisation. The calls of a destination decide its state:
 *
 *    NEW ──answered within 1 s──▶ GOOD, or QUICK within 0.1 s      ≥ 1 s──▶ SLOW      no answer for ≥ 1 s──▶ DEAD
 *
 * Every call that ends decides the state again. NEW and DEAD destinations have one call under way. SLOW ones share a
 * small number of calls, and GOOD ones have up to SR_EACH. For QUICK ones more jobs are claimed, which wait in this
 * process, because a transaction with many claims costs nearly as little as one with few. No organisation or
 * destination gets more than half of what the others leave free, so that there is always room for one more. */
#include "jobs/destinations.h"

#include <apr_strings.h>
#include <string.h>

enum {
    EACH_QUICK = 128,
    MOST_NEW = 64,  /* calls of NEW destinations that have taken less than SLOW */
    MOST_SLOW = 64, /* calls of destinations whose last call was slow, or that have a slow call under way */
    MOST_UNSURE = 128
};
#define QUICK apr_time_from_msec(100)
#define SLOW apr_time_from_sec(1)
#define FORGOTTEN apr_time_from_sec(600)

static bool is_sure(const sr_destination_t *destination)
{
    return destination->state == SR_DESTINATION_GOOD || destination->state == SR_DESTINATION_QUICK;
}

/* --- finding one */

/* Returns true if `destination` should be replaced rather than `other`. Only destinations without transfers are
 * replaced: first those in a state other than GOOD and QUICK, then those that were used longest ago. There are more
 * destinations than transfers, so one can always be replaced. */
static bool is_better_to_lose(const sr_destination_t *destination, const sr_destination_t *other)
{
    if (!other) return true;
    return is_sure(destination) != is_sure(other) ? is_sure(other) : destination->used_at < other->used_at;
}

sr_destination_t *sr_destinations_find(sr_destinations_t *all, int database, apr_int64_t organization, const char *name)
{
    const apr_time_t now = sr_time_steady();
    sr_destination_t *found = NULL;

    for (int i = 0; i < SR_DESTINATIONS; i++) {
        sr_destination_t *one = &all->destinations[i];
        if (one->organization == organization && one->database == database && !strcmp(one->name, name)) {
            if (!one->taken && now - one->used_at > FORGOTTEN) one->state = SR_DESTINATION_NEW;
            return one;
        }
        if (!one->taken && is_better_to_lose(one, found)) found = one;
    }
    sr_assert(found); /* there are more destinations than transfers */
    *found = (sr_destination_t){.database = database, .organization = organization, .used_at = now};
    apr_cpystrn(found->name, name, sizeof found->name);
    return found;
}

static sr_cursor_t *cursor_of(sr_destinations_t *all, int database, apr_int64_t organization)
{
    sr_cursor_t *oldest = &all->cursors[0];

    for (int i = 0; i < SR_CURSORS; i++) {
        sr_cursor_t *cursor = &all->cursors[i];
        if (cursor->organization == organization && cursor->database == database) return cursor;
        if (cursor->used_at < oldest->used_at) oldest = cursor;
    }
    *oldest = (sr_cursor_t){.database = database, .organization = organization};
    return oldest;
}

void sr_destinations_take(sr_destinations_t *all, sr_destination_t *destination)
{
    destination->used_at = sr_time_steady();
    destination->taken++;
    if (destination->state != SR_DESTINATION_NEW) return;
    sr_cursor_t *cursor = cursor_of(all, destination->database, destination->organization);
    cursor->used_at = destination->used_at;
    apr_cpystrn(cursor->after, destination->name, sizeof cursor->after);
}

void sr_destinations_judge(sr_destination_t *destination, bool answered, apr_interval_time_t took)
{
    destination->state = took >= SLOW               ? answered ? SR_DESTINATION_SLOW : SR_DESTINATION_DEAD
                         : answered && took < QUICK ? SR_DESTINATION_QUICK
                                                    : SR_DESTINATION_GOOD;
}

bool sr_destinations_is_stalled(apr_interval_time_t since)
{
    return since >= SLOW;
}

/* --- shares */

typedef struct share_t {
    int database;
    apr_int64_t organization;
    int taken, fresh, slow; /* transfers in all, of NEW destinations, and of slow ones */
} share_t;

static int atleast(int number, int least)
{
    return number < least ? least : number;
}

static int least_of(int one, int other)
{
    return one < other ? one : other;
}

/* Returns how many transfers an owner of `own` transfers may get in addition, if there are `most` and `all` are
 * taken. */
static int destinations_half_of(int most, int all, int own)
{
    return atleast((most - (all - own) + 1) / 2 - own, 0);
}

/* Returns true if the state is SLOW or DEAD, or if a call under way has taken long already, in any state. */
static bool is_slow(const sr_destination_t *destination)
{
    return destination->state == SR_DESTINATION_SLOW || destination->state == SR_DESTINATION_DEAD
           || destination->stalled;
}

static void share_count(share_t *share, const sr_destination_t *destination)
{
    share->taken += destination->taken;
    if (is_slow(destination)) share->slow += destination->taken;
    else if (destination->state == SR_DESTINATION_NEW) share->fresh += destination->taken;
}

/* Computes the shares of all organisations. The first share is the sum. */
static int share_count_all(share_t shares[SR_DESTINATIONS + 1], const sr_destinations_t *all)
{
    int count = 1;

    shares[0] = (share_t){.taken = 0};
    for (int i = 0; i < SR_DESTINATIONS; i++) {
        const sr_destination_t *one = &all->destinations[i];
        int at = 1;
        if (!one->taken) continue;
        while (at < count && (shares[at].organization != one->organization || shares[at].database != one->database))
            at++;
        if (at == count) shares[count++] = (share_t){.database = one->database, .organization = one->organization};
        share_count(&shares[at], one);
        share_count(&shares[0], one);
    }
    return count;
}

static json_t *share_json(const share_t *all, const share_t *own)
{
    const int unsure = destinations_half_of(MOST_UNSURE, all->fresh + all->slow, own->fresh + own->slow);
    json_t *share = json_object();

    json_object_set_new(share, "room", json_integer(destinations_half_of(SR_TRANSFERS, all->taken, own->taken)));
    json_object_set_new(share, "new",
                        json_integer(least_of(destinations_half_of(MOST_NEW, all->fresh, own->fresh), unsure)));
    json_object_set_new(share, "slow", json_integer(destinations_half_of(MOST_SLOW, all->slow, own->slow)));
    return share;
}

static int slow_calls(const sr_destinations_t *all)
{
    int slow = 0;

    for (int i = 0; i < SR_DESTINATIONS; i++)
        if (is_slow(&all->destinations[i])) slow += all->destinations[i].taken;
    return slow;
}

/* Returns how many transfers a destination may have in all. */
static int most_of(const sr_destination_t *destination, int busy, int slow)
{
    if (destination->state == SR_DESTINATION_NEW || destination->state == SR_DESTINATION_DEAD) return 1;
    if (is_slow(destination)) return least_of(atleast((MOST_SLOW - (slow - destination->taken)) / 4, 1), SR_EACH);
    if (destination->state == SR_DESTINATION_GOOD) return SR_EACH;
    return least_of(atleast((SR_TRANSFERS - (busy - destination->taken)) / 2, SR_EACH), EACH_QUICK);
}

bool sr_destinations_is_full(const sr_destinations_t *all, const sr_destination_t *destination)
{
    if (is_sure(destination) && !destination->stalled) return false;
    return destination->taken > most_of(destination, 0, slow_calls(all));
}

int sr_destinations_calls(const sr_destinations_t *all, const sr_destination_t *destination)
{
    if (is_sure(destination) && !destination->stalled) return SR_EACH;
    return most_of(destination, 0, slow_calls(all));
}

static bool destinations_is_listed(const sr_destination_t *destination, int database, apr_time_t now)
{
    if (!*destination->name || destination->database != database) return false;
    return destination->taken || (destination->state != SR_DESTINATION_NEW && now - destination->used_at <= FORGOTTEN);
}

/* Returns the array of an organisation in an object whose keys are their numbers. */
static json_t *array_of(json_t *object, apr_int64_t organization)
{
    char name[24];

    apr_snprintf(name, sizeof name, "%" APR_INT64_T_FMT, organization);
    if (!json_object_get(object, name)) json_object_set_new(object, name, json_array());
    return json_object_get(object, name);
}

static json_t *listed_json(sr_destinations_t *all, int database, const share_t *sum)
{
    const apr_time_t now = sr_time_steady();
    json_t *listed = json_object();

    all->first = (all->first + 1)
                 % SR_DESTINATIONS; /* the order changes each time, so that all slow destinations get their turn */
    for (int i = 0; i < SR_DESTINATIONS; i++) {
        const sr_destination_t *one = &all->destinations[(i + all->first) % SR_DESTINATIONS];
        if (!destinations_is_listed(one, database, now)) continue;
        const int room = atleast(most_of(one, sum->taken, sum->slow) - one->taken, 0);
        json_t *row = json_array();
        json_array_append_new(row, json_string(one->name));
        json_array_append_new(row, json_boolean(!is_sure(one) || one->stalled));
        json_array_append_new(row, json_integer(room));
        json_array_append_new(array_of(listed, one->organization), row);
    }
    return listed;
}

static json_t *cursors_json(const sr_destinations_t *all, int database)
{
    json_t *after = json_object();
    char name[24];

    for (int i = 0; i < SR_CURSORS; i++) {
        const sr_cursor_t *cursor = &all->cursors[i];
        if (!*cursor->after || cursor->database != database) continue;
        apr_snprintf(name, sizeof name, "%" APR_INT64_T_FMT, cursor->organization);
        json_object_set_new(after, name, json_string(cursor->after));
    }
    return after;
}

void sr_destinations_shares(json_t *batch, sr_destinations_t *all, int database)
{
    share_t shares[SR_DESTINATIONS + 1];
    const int count = share_count_all(shares, all);
    json_t *organizations = json_object();
    char name[24];

    json_object_set_new(batch, "share", share_json(&shares[0], &(share_t){.taken = 0}));
    json_object_set_new(batch, "new",
                        json_integer(least_of(atleast(MOST_NEW - shares->fresh, 0),
                                              atleast(MOST_UNSURE - shares->fresh - shares->slow, 0))));
    json_object_set_new(batch, "slow", json_integer(atleast(MOST_SLOW - shares->slow, 0)));
    for (int i = 1; i < count; i++) {
        if (shares[i].database != database) continue;
        apr_snprintf(name, sizeof name, "%" APR_INT64_T_FMT, shares[i].organization);
        json_object_set_new(organizations, name, share_json(&shares[0], &shares[i]));
    }
    json_object_set_new(batch, "organizations", organizations);
    json_object_set_new(batch, "after", cursors_json(all, database));
    json_object_set_new(batch, "destinations", listed_json(all, database, &shares[0]));
}
