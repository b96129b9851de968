/* SPDX-License-Identifier: Apache-2.0 */
/* destinations.c: shares the transfers of a job thread. No organisation gets more than half of the transfers that the
 * others leave. The last call of a destination decides how many calls it may have at the same time:
 *
 *    16  it has ended within 1 s: the destination is quick
 *     4  it was answered after 1 s or more
 *     1  it was not answered, or there was none within the last 10 minutes
 *
 * For a quick destination more jobs are claimed, which wait in this process, because a transaction with many claims
 * costs nearly as little as one with few. All others together have half of the transfers, so that quick ones always
 * find one. */
#include "jobs/destinations.h"

#include <apr_strings.h>
#include <string.h>

enum {
    CALLS_UNKNOWN = 1,
    CALLS_SLOW = 4,
    CALLS_QUICK = 16,
    CLAIMS_QUICK = 128,
    MOST_OTHER = SR_TRANSFERS / 2 /* transfers of destinations that are not quick */
};
#define SLOW apr_time_from_sec(1)
#define LATELY apr_time_from_sec(60)
#define FORGOTTEN apr_time_from_sec(600)

static bool is_quick(const sr_destination_t *destination)
{
    return destination->calls == CALLS_QUICK;
}

/* There are more destinations than transfers, so one without transfers can always be replaced. */
sr_destination_t *sr_destinations_find(sr_destinations_t *all, int database, apr_int64_t organization, const char *name)
{
    const apr_time_t now = sr_time_steady();
    sr_destination_t *found = NULL;
    for (int i = 0; i < SR_DESTINATIONS; i++) {
        sr_destination_t *one = &all->destinations[i];
        if (one->organization == organization && one->database == database && !strcmp(one->name, name)) {
            if (!one->taken && now - one->used_at > FORGOTTEN) one->calls = CALLS_UNKNOWN;
            return one;
        }
        if (!one->taken && (!found || one->used_at < found->used_at)) found = one;
    }
    sr_assert(found);
    *found = (sr_destination_t){.database = database, .organization = organization, .calls = CALLS_UNKNOWN};
    apr_cpystrn(found->name, name, sizeof found->name);
    return found;
}

void sr_destinations_take(sr_destination_t *destination)
{
    destination->used_at = sr_time_steady();
    destination->taken++;
}

void sr_destinations_wait(sr_destination_t *destination, apr_interval_time_t since)
{
    if (since >= SLOW && is_quick(destination)) destination->calls = CALLS_SLOW;
}

void sr_destinations_judge(sr_destination_t *destination, bool answered, apr_interval_time_t took)
{
    destination->calls = took < SLOW ? CALLS_QUICK : answered ? CALLS_SLOW : CALLS_UNKNOWN;
}

bool sr_destinations_is_full(const sr_destination_t *destination)
{
    return !is_quick(destination) && destination->taken > destination->calls;
}

bool sr_destinations_has_room(const sr_destination_t *destination)
{
    return !is_quick(destination) && destination->taken < destination->calls;
}

/* --- shares */

typedef struct share_t {
    int database;
    apr_int64_t organization;
    int taken, other;             /* transfers in all, and of destinations that are not quick */
    const sr_destination_t *last; /* the last one of these that got a transfer; NULL: none has got one lately */
} share_t;

/* Returns how many transfers an owner of `own` transfers may get in addition, if there are `most` and `all` are
 * taken. */
static int destinations_half_of(int most, int all, int own)
{
    const int room = (most - (all - own) + 1) / 2 - own;
    return room > 0 ? room : 0;
}

static void share_count(share_t *share, const sr_destination_t *destination)
{
    share->taken += destination->taken;
    if (is_quick(destination)) return;
    share->other += destination->taken;
    if (!share->last || destination->used_at > share->last->used_at) share->last = destination;
}

/* Computes the shares of all organisations. The first share is the sum. */
static int share_count_all(share_t shares[SR_DESTINATIONS + 1], const sr_destinations_t *all)
{
    const apr_time_t now = sr_time_steady();
    int count = 1;
    shares[0] = (share_t){.taken = 0};
    for (int i = 0; i < SR_DESTINATIONS; i++) {
        const sr_destination_t *one = &all->destinations[i];
        int at = 1;
        if (!one->taken && now - one->used_at > LATELY) continue;
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
    const char *after = own->last ? own->last->name : "";
    json_t *share = json_object();
    json_object_set_new(share, "after", json_string(after));
    json_object_set_new(share, "room", json_integer(destinations_half_of(SR_TRANSFERS, all->taken, own->taken)));
    json_object_set_new(share, "other", json_integer(destinations_half_of(MOST_OTHER, all->other, own->other)));
    return share;
}

/* Lists quick destinations, and others that may have no further call now. */
static void list_destination(json_t *listed, const sr_destination_t *destination, apr_time_t now)
{
    const int room = (is_quick(destination) ? CLAIMS_QUICK : destination->calls) - destination->taken;
    char key[24];
    if (is_quick(destination) ? !destination->taken && now - destination->used_at > FORGOTTEN : room > 0) return;
    apr_snprintf(key, sizeof key, "%" APR_INT64_T_FMT, destination->organization);
    if (!json_object_get(listed, key)) json_object_set_new(listed, key, json_object());
    json_object_set_new(json_object_get(listed, key), destination->name, json_integer(room > 0 ? room : 0));
}

void sr_destinations_shares(json_t *batch, const sr_destinations_t *all, int database)
{
    share_t shares[SR_DESTINATIONS + 1];
    const int count = share_count_all(shares, all), other = MOST_OTHER - shares->other;
    json_t *organizations = json_object(), *listed = json_object();
    char key[24];
    for (int i = 1; i < count; i++) {
        if (shares[i].database != database) continue;
        apr_snprintf(key, sizeof key, "%" APR_INT64_T_FMT, shares[i].organization);
        json_object_set_new(organizations, key, share_json(&shares[0], &shares[i]));
    }
    for (int i = 0; i < SR_DESTINATIONS; i++)
        if (all->destinations[i].calls && all->destinations[i].database == database)
            list_destination(listed, &all->destinations[i], sr_time_steady());
    json_object_set_new(batch, "share", share_json(&shares[0], &(share_t){.taken = 0}));
    json_object_set_new(batch, "other", json_integer(other > 0 ? other : 0));
    json_object_set_new(batch, "organizations", organizations);
    json_object_set_new(batch, "destinations", listed);
}
