/* lanes.c: how the room of a delivery thread is shared. Fair shares go to organisations first, then to destinations: a
 * destination of an organisation is a lane. A lane proves by its calls what it is good for:
 *
 *   NEW ──answered within 1 s──▶ GOOD, or QUICK within 0.1 s      ≥ 1 s──▶ SLOW      no answer for ≥ 1 s──▶ DEAD
 *
 * and every call that ends judges it again. NEW and DEAD lanes have one call under way, SLOW ones a share of few, GOOD
 * ones SR_EACH. For QUICK ones more are claimed, which wait here: a transaction costs nearly the same for few and many.
 * Nobody gets more than half of what the others have left, so that there is always room for one more. */
#include "jobs/lanes.h"

#include <apr_strings.h>
#include <string.h>
#include <time.h>

enum {
    EACH_QUICK = 128,
    MOST_NEW = 64,  /* calls of NEW lanes that are younger than SLOW */
    MOST_SLOW = 64, /* of lanes whose last call was slow, or is */
    MOST_UNSURE = 128
};
#define QUICK apr_time_from_msec(100)
#define SLOW apr_time_from_sec(1)
#define FORGOTTEN apr_time_from_sec(600)

apr_time_t sr_lanes_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return apr_time_from_sec(now.tv_sec) + now.tv_nsec / 1000;
}

static bool is_sure(const sr_lane_t *lane)
{
    return lane->state == SR_LANE_GOOD || lane->state == SR_LANE_QUICK;
}

/* --- which lane */

/* Lanes that are empty can be replaced, first those that have proved nothing. There are more lanes than slots. */
static bool is_better_to_lose(const sr_lane_t *lane, const sr_lane_t *other)
{
    if (!other) return true;
    return is_sure(lane) != is_sure(other) ? is_sure(other) : lane->used_at < other->used_at;
}

sr_lane_t *sr_lanes_find(sr_lanes_t *lanes, int database, apr_int64_t organization, const char *destination)
{
    const apr_time_t now = sr_lanes_clock();
    sr_lane_t *found = NULL;

    for (int i = 0; i < SR_LANES; i++) {
        sr_lane_t *lane = &lanes->lanes[i];
        if (lane->organization == organization && lane->database == database && !strcmp(lane->name, destination)) {
            if (!lane->taken && now - lane->used_at > FORGOTTEN) lane->state = SR_LANE_NEW;
            return lane;
        }
        if (!lane->taken && is_better_to_lose(lane, found)) found = lane;
    }
    *found = (sr_lane_t){.database = database, .organization = organization, .used_at = now};
    apr_cpystrn(found->name, destination, sizeof found->name);
    return found;
}

static sr_place_t *place_of(sr_lanes_t *lanes, int database, apr_int64_t organization)
{
    sr_place_t *oldest = &lanes->places[0];

    for (int i = 0; i < SR_PLACES; i++) {
        sr_place_t *place = &lanes->places[i];
        if (place->organization == organization && place->database == database) return place;
        if (place->used_at < oldest->used_at) oldest = place;
    }
    *oldest = (sr_place_t){.database = database, .organization = organization};
    return oldest;
}

void sr_lanes_take(sr_lanes_t *lanes, sr_lane_t *lane)
{
    lane->used_at = sr_lanes_clock();
    lane->taken++;
    if (lane->state != SR_LANE_NEW) return;
    sr_place_t *place = place_of(lanes, lane->database, lane->organization);
    place->used_at = lane->used_at;
    apr_cpystrn(place->after, lane->name, sizeof place->after);
}

void sr_lanes_judge(sr_lane_t *lane, bool answered, apr_interval_time_t took)
{
    lane->state = took >= SLOW               ? answered ? SR_LANE_SLOW : SR_LANE_DEAD
                  : answered && took < QUICK ? SR_LANE_QUICK
                                             : SR_LANE_GOOD;
}

bool sr_lanes_is_stalled(apr_interval_time_t since)
{
    return since >= SLOW;
}

/* --- shares */

typedef struct share_t {
    int database;
    apr_int64_t organization;
    int taken, fresh, slow; /* slots: all, of NEW lanes, of slow ones */
} share_t;

static int atleast(int number, int least)
{
    return number < least ? least : number;
}

static int least_of(int one, int other)
{
    return one < other ? one : other;
}

/* What there is for whom has `own`, of `most`, of which `all` are taken. */
static int half_of(int most, int all, int own)
{
    return atleast((most - (all - own) + 1) / 2 - own, 0);
}

/* A call of a NEW lane that has not been answered for a while is slow; so is a sure lane with such a call. */
static bool is_slow(const sr_lane_t *lane)
{
    return lane->state == SR_LANE_SLOW || lane->state == SR_LANE_DEAD || lane->stalled;
}

static void count(share_t *share, const sr_lane_t *lane)
{
    share->taken += lane->taken;
    if (is_slow(lane)) share->slow += lane->taken;
    else if (lane->state == SR_LANE_NEW) share->fresh += lane->taken;
}

/* The first share is everybody's. */
static int count_all(share_t shares[SR_LANES + 1], const sr_lanes_t *lanes)
{
    int count_of = 1;

    shares[0] = (share_t){.taken = 0};
    for (int i = 0; i < SR_LANES; i++) {
        const sr_lane_t *lane = &lanes->lanes[i];
        int at = 1;
        if (!lane->taken) continue;
        while (at < count_of
               && (shares[at].organization != lane->organization || shares[at].database != lane->database))
            at++;
        if (at == count_of)
            shares[count_of++] = (share_t){.database = lane->database, .organization = lane->organization};
        count(&shares[at], lane);
        count(&shares[0], lane);
    }
    return count_of;
}

static json_t *share_json(const share_t *all, const share_t *own)
{
    const int unsure = half_of(MOST_UNSURE, all->fresh + all->slow, own->fresh + own->slow);
    json_t *share = json_object();

    json_object_set_new(share, "room", json_integer(half_of(SR_SLOTS, all->taken, own->taken)));
    json_object_set_new(share, "new", json_integer(least_of(half_of(MOST_NEW, all->fresh, own->fresh), unsure)));
    json_object_set_new(share, "slow", json_integer(half_of(MOST_SLOW, all->slow, own->slow)));
    return share;
}

static int slow_calls(const sr_lanes_t *lanes)
{
    int slow = 0;

    for (int i = 0; i < SR_LANES; i++)
        if (is_slow(&lanes->lanes[i])) slow += lanes->lanes[i].taken;
    return slow;
}

/* How many slots a lane may have in all. */
static int most_of(const sr_lane_t *lane, int busy, int slow)
{
    if (lane->state == SR_LANE_NEW || lane->state == SR_LANE_DEAD) return 1;
    if (is_slow(lane)) return least_of(atleast((MOST_SLOW - (slow - lane->taken)) / 4, 1), SR_EACH);
    if (lane->state == SR_LANE_GOOD) return SR_EACH;
    return least_of(atleast((SR_SLOTS - (busy - lane->taken)) / 2, SR_EACH), EACH_QUICK);
}

bool sr_lanes_is_full(const sr_lanes_t *lanes, const sr_lane_t *lane)
{
    return (!is_sure(lane) || lane->stalled) && lane->taken > most_of(lane, 0, slow_calls(lanes));
}

int sr_lanes_calls(const sr_lanes_t *lanes, const sr_lane_t *lane)
{
    return is_sure(lane) && !lane->stalled ? SR_EACH : most_of(lane, 0, slow_calls(lanes));
}

static bool is_listed(const sr_lane_t *lane, int database, apr_time_t now)
{
    if (!*lane->name || lane->database != database) return false;
    return lane->taken || (lane->state != SR_LANE_NEW && now - lane->used_at <= FORGOTTEN);
}

static json_t *lanes_json(sr_lanes_t *lanes, int database, const share_t *all)
{
    const apr_time_t now = sr_lanes_clock();
    json_t *listed = json_object();
    char name[24];

    lanes->first = (lanes->first + 1) % SR_LANES; /* of slow ones not always the same come first */
    for (int i = 0; i < SR_LANES; i++) {
        const sr_lane_t *lane = &lanes->lanes[(i + lanes->first) % SR_LANES];
        if (!is_listed(lane, database, now)) continue;
        const int room = atleast(most_of(lane, all->taken, all->slow) - lane->taken, 0);
        apr_snprintf(name, sizeof name, "%" APR_INT64_T_FMT, lane->organization);
        if (!json_object_get(listed, name)) json_object_set_new(listed, name, json_array());
        json_t *row = json_array();
        json_array_append_new(row, json_string(lane->name));
        json_array_append_new(row, json_boolean(!is_sure(lane) || lane->stalled));
        json_array_append_new(row, json_integer(room));
        json_array_append_new(json_object_get(listed, name), row);
    }
    return listed;
}

void sr_lanes_shares(json_t *turn, sr_lanes_t *lanes, int database)
{
    share_t shares[SR_LANES + 1];
    const int count_of = count_all(shares, lanes);
    json_t *organizations = json_object();
    char name[24];

    json_object_set_new(turn, "share", share_json(&shares[0], &(share_t){.taken = 0}));
    json_object_set_new(turn, "new",
                        json_integer(least_of(atleast(MOST_NEW - shares->fresh, 0),
                                              atleast(MOST_UNSURE - shares->fresh - shares->slow, 0))));
    json_object_set_new(turn, "slow", json_integer(atleast(MOST_SLOW - shares->slow, 0)));
    for (int i = 1; i < count_of; i++) {
        if (shares[i].database != database) continue;
        apr_snprintf(name, sizeof name, "%" APR_INT64_T_FMT, shares[i].organization);
        json_object_set_new(organizations, name, share_json(&shares[0], &shares[i]));
    }
    json_object_set_new(turn, "organizations", organizations);
    json_t *after = json_object();
    for (int i = 0; i < SR_PLACES; i++) {
        const sr_place_t *place = &lanes->places[i];
        if (!*place->after || place->database != database) continue;
        apr_snprintf(name, sizeof name, "%" APR_INT64_T_FMT, place->organization);
        json_object_set_new(after, name, json_string(place->after));
    }
    json_object_set_new(turn, "after", after);
    json_object_set_new(turn, "lanes", lanes_json(lanes, database, &shares[0]));
}
