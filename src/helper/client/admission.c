/* SPDX-License-Identifier: Apache-2.0 */
/* admission.c: limits how many requests for pages are served at once. Each of them occupies a thread of httpd while its
 * page is made, and everybody with a signing link can send as many as they like. The requests are counted by
 * submission, by organisation and in total. A request over a limit is refused at once, so that threads remain for other
 * requests.
 *
 * Requests are counted for this process, because its threads are its own, and for all processes that share the memory.
 * A place is one 64-bit number, so taking and releasing it is one atomic operation. A process that was killed leaves
 * its places occupied. They are released when no place is left and their process does not exist any more.
 */
#include "helper/client/worker.h"

#include <apr_atomic.h>
#include <apr_hash.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"

enum { PLACES = 4096, VISITS = 16 };
#define AGAIN apr_time_from_sec(2) /* when a client that was refused may try again */

/* A place contains a process id, a hash of the submission and a hash of the organisation. 0: it is free. A process id
 * has at most 22 bits. */
#define NAME_BITS 21
#define NAME_MASK ((1u << NAME_BITS) - 1)

struct sr_pdf_visit_t {
    sr_pdf_shared_t *shared;
    int place; /* -1 after the visit has ended */
};

/* A browser requests six pages at once. */
#define OF_SUBMISSION(all) (6 + ((all)-8) / 4)
#define OF_ORGANIZATION(all) (7 * (all) / 8)

apr_size_t sr_pdf_visits_size(void)
{
    return PLACES * sizeof(apr_uint64_t);
}

void sr_pdf_gate_create(sr_pdf_shared_t *shared, const sr_pdf_options_t *options, apr_pool_t *pool)
{
    const int visits = options->visits ? options->visits : VISITS;
    shared->visits = options->visit_places ? options->visit_places : apr_pcalloc(pool, sr_pdf_visits_size());
    shared->visit_room = visits < PLACES ? visits : PLACES;
    shared->visit_room_of_all = options->visits_of_all ? options->visits_of_all : shared->visit_room;
    if (shared->visit_room_of_all > PLACES) shared->visit_room_of_all = PLACES;
}

/* Two names with the same hash share one limit. */
static apr_uint64_t admission_number_of(const char *name)
{
    apr_ssize_t length = APR_HASH_KEY_STRING;
    return apr_hashfunc_default(name, &length) & NAME_MASK;
}

static pid_t process_of(apr_uint64_t visit)
{
    return (pid_t)(visit >> (2 * NAME_BITS));
}

/* Puts the visit into a free place. Returns the index of the place, or -1 if no place is free. */
static int admission_take_place(const sr_pdf_shared_t *shared, apr_uint64_t visit)
{
    for (int i = 0; i < shared->visit_room_of_all; i++)
        if (!apr_atomic_read64(&shared->visits[i]) && !apr_atomic_cas64(&shared->visits[i], visit, 0)) return i;
    return -1;
}

static void admission_leave_place(const sr_pdf_shared_t *shared, int place)
{
    apr_atomic_set64(&shared->visits[place], 0);
}

typedef struct count_t {
    int all, of_submission, of_organization;
} count_t;

static void add_visit(count_t *count, apr_uint64_t one, apr_uint64_t visit)
{
    count->all++;
    count->of_organization += (one & NAME_MASK) == (visit & NAME_MASK);
    count->of_submission += (one >> NAME_BITS & NAME_MASK) == (visit >> NAME_BITS & NAME_MASK);
}

static bool is_within(const count_t *count, int room)
{
    return count->all <= room && count->of_submission <= OF_SUBMISSION(room)
           && count->of_organization <= OF_ORGANIZATION(room);
}

/* Returns true if no limit is exceeded, including this visit. It is already in its place, so two visits that begin at
 * the same time both count both. */
static bool admission_is_allowed(const sr_pdf_shared_t *shared, apr_uint64_t visit)
{
    count_t here = {0}, all = {0};
    for (int i = 0; i < shared->visit_room_of_all; i++) {
        const apr_uint64_t one = apr_atomic_read64(&shared->visits[i]);
        if (!one) continue;
        add_visit(&all, one, visit);
        if (process_of(one) == process_of(visit)) add_visit(&here, one, visit);
    }
    return is_within(&all, shared->visit_room_of_all) && is_within(&here, shared->visit_room);
}

static int try_place(const sr_pdf_shared_t *shared, apr_uint64_t visit)
{
    int place = admission_take_place(shared, visit);
    if (place < 0 || admission_is_allowed(shared, visit)) return place;
    admission_leave_place(shared, place);
    return -1;
}

/* Releases the places of processes that do not exist any more. Returns true if there were any. */
static bool free_places_of_the_dead(const sr_pdf_shared_t *shared)
{
    bool found = false;
    for (int i = 0; i < shared->visit_room_of_all; i++) {
        const apr_uint64_t one = apr_atomic_read64(&shared->visits[i]);
        if (!one || process_of(one) == shared->owner || !kill(process_of(one), 0) || errno != ESRCH) continue;
        found |= apr_atomic_cas64(&shared->visits[i], 0, one) == one;
    }
    return found;
}

void sr_pdf_visit_end(sr_pdf_visit_t *visit)
{
    if (visit->place < 0) return;
    admission_leave_place(visit->shared, visit->place);
    visit->place = -1;
}

static apr_status_t end_visit(void *data)
{
    sr_pdf_visit_t *visit = data;
    if (visit->shared->owner == getpid()) sr_pdf_visit_end(visit);
    return APR_SUCCESS;
}

sr_error_t *sr_pdf_visit_begin(sr_pdf_visit_t **visit, sr_pdf_pool_t *workers, const char *submission,
                               const char *organization, apr_pool_t *pool)
{
    sr_pdf_shared_t *shared = workers->shared;
    const apr_uint64_t process = (apr_uint64_t)shared->owner << (2 * NAME_BITS);
    const apr_uint64_t one = process | admission_number_of(submission) << NAME_BITS | admission_number_of(organization);
    int place = try_place(shared, one);
    if (place < 0 && free_places_of_the_dead(shared)) place = try_place(shared, one);
    if (place < 0) {
        sr_metrics_count(SR_METRIC_LIMITED, sr_metrics_number(SR_LABEL_LIMIT, "pages"), 0, 1);
        return sr_error_retry(
            sr_error(pool, SR_EUNAVAILABLE, "Too many pages are requested at once, try again in a moment"), AGAIN);
    }
    *visit = apr_palloc(pool, sizeof **visit);
    **visit = (sr_pdf_visit_t){shared, place};
    apr_pool_cleanup_register(pool, *visit, end_visit, apr_pool_cleanup_null);
    return NULL;
}
