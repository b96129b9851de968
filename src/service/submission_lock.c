/* SPDX-License-Identifier: Apache-2.0 */
/* submission_lock.c: the submission lock: one transition of a submission at a time. On PostgreSQL it is a lease, a row
 * for all hosts. A lease of a dead process of this machine is ended by the next one that waits for it; a lease of
 * another machine ends by its time. On SQLite the lock is a file lock. It only saves work: two transitions at once are
 * both tried, and SR_STALE says which one came second. So the wait for it may end, and a lease may be lost. */
#include "service/submission_lock.h"

#include <apr_general.h>

#define LEASE apr_time_from_sec(30) /* longer than signing takes */
#define SHORTEST_PAUSE 5000
#define LONGEST_PAUSE 50000

/* Half of the pause or more, so that those who wait do not ask at the same time. */
static apr_interval_time_t lock_jitter(apr_interval_time_t pause)
{
    unsigned char random;
    if (apr_generate_random_bytes(&random, 1)) return pause;
    return pause / 2 + pause / 2 * random / 255;
}

static sr_error_t *lock_late(apr_pool_t *pool)
{
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Others are at work here, try again in a moment"), pool,
                            "the wait for a submission's lock was too long");
}

static sr_error_t *lock_end(const sr_submission_lock_t *lock, const char *holder, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    return sr_store_lock_release(lock->service->database, &outcome, lock->submission, holder, pool);
}

/* Waits, unless the holder is dead: then its lease is ended. */
static sr_error_t *lock_wait(const sr_submission_lock_t *lock, const char *holder, apr_interval_time_t pause,
                             apr_pool_t *pool)
{
    if (holder && sr_process_is_dead(lock->holder, holder)) return lock_end(lock, holder, pool);
    apr_sleep(lock_jitter(pause));
    return NULL;
}

static sr_error_t *lock_file(sr_submission_lock_t *lock, apr_time_t until, apr_pool_t *pool)
{
    sr_blobs_t *documents;
    SR_TRY(sr_blobs_folder(&documents, lock->service->documents_root, pool));
    return sr_file_lock_take(&lock->file, documents, lock->submission, until, pool);
}

sr_error_t *sr_submission_lock_take(sr_submission_lock_t *lock, const sr_service_t *service, const char *submission,
                                    apr_pool_t *pool)
{
    const apr_time_t until = apr_time_now() + SR_SUBMISSION_LOCK_WAIT;
    apr_pool_t *each;
    sr_error_t *error = NULL;
    sr_outcome_t outcome = SR_STALE;
    const sr_holder_row_t *row;
    *lock = (sr_submission_lock_t){service, submission, sr_process_name(pool), NULL, pool};
    apr_pool_create(&each, pool);
    for (apr_interval_time_t pause = SHORTEST_PAUSE;; pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE) {
        error = sr_store_lock_take(service->database, &outcome, &row, submission, lock->holder, LEASE, each);
        if (error) return error; /* it lives in a part of the pool that stays */
        if (outcome != SR_STALE) break;
        if (apr_time_now() >= until) return lock_late(pool);
        SR_TRY(lock_wait(lock, row->holder, pause, each));
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
    return outcome == SR_MISSING ? lock_file(lock, until, pool) : NULL;
}

void sr_submission_lock_release(sr_submission_lock_t *lock)
{
    if (lock->file) sr_file_lock_release(lock->file);
    else (void)lock_end(lock, lock->holder, lock->pool);
}
