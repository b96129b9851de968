/* SPDX-License-Identifier: Apache-2.0 */
/* submission_lock.c: the submission lock lets one transition of a submission happen at a time. On PostgreSQL it is a
 * lease, a row that all hosts see, and the commit of the transition ends it. If the holder was a process of this
 * machine and is dead, the next process that waits ends the lease. A lease of another machine ends by its time. On
 * SQLite the lock is a file lock. The lock only saves work: of two transitions at the same time the second one gets
 * SR_STALE. So the wait for the lock may end without it, and a lease may be lost.
 *
 * While the database is away, a lease cannot be ended, and its holder is alive. Such leases are kept here until the
 * database answers: the next request of this process that waits for a lock ends them, or the job thread. */
#include "service/submissions/submission_lock.h"

#include <apr_general.h>
#include <pthread.h>
#include <stdlib.h>

#define LEASE apr_time_from_sec(30) /* longer than signing takes */
#define SHORTEST_PAUSE 5000
#define LONGEST_PAUSE 50000

/* The leases of this process that could not be ended. There are as many as requests were interrupted, and no more than
 * LEFT_MOST: others end by their time. */
#define LEFT_MOST 256
typedef struct left_t {
    int database;
    char submission[SR_UUID_LENGTH + 1], holder[160];
} left_t;
static struct {
    pthread_mutex_t mutex;
    int count;
    left_t leases[LEFT_MOST];
} left = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void left_add(int database, const char *submission, const char *holder)
{
    pthread_mutex_lock(&left.mutex);
    if (left.count < LEFT_MOST) {
        left_t *lease = &left.leases[left.count++];
        lease->database = database;
        apr_cpystrn(lease->submission, submission, sizeof lease->submission);
        apr_cpystrn(lease->holder, holder, sizeof lease->holder);
    }
    pthread_mutex_unlock(&left.mutex);
}

/* Removes a lease of this database, and copies it. Returns false if there is none. */
static bool left_take(left_t *lease, int database)
{
    bool found = false;
    pthread_mutex_lock(&left.mutex);
    for (int i = 0; i < left.count && !found; i++) {
        if (left.leases[i].database != database) continue;
        *lease = left.leases[i];
        left.leases[i] = left.leases[--left.count];
        found = true;
    }
    pthread_mutex_unlock(&left.mutex);
    return found;
}

/* Returns a random time between half of the pause and the pause, so that waiting threads do not try at the same
 * time. */
static apr_interval_time_t lock_jitter(apr_interval_time_t pause)
{
    unsigned char random;
    if (apr_generate_random_bytes(&random, 1)) return pause;
    return pause / 2 + pause / 2 * random / 255;
}

static sr_error_t *lock_late(apr_pool_t *pool)
{
    return sr_error_because(
        sr_error(pool, SR_EUNAVAILABLE, "Another request for this submission is in progress, try again in a moment"),
        pool, "the wait for a submission's lock was too long");
}

static sr_error_t *submission_lock_lock_end(const sr_submission_lock_t *lock, const char *holder, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    return sr_store_lock_release(lock->service->database, &outcome, lock->submission, holder, pool);
}

/* Ends the lease of this lock, now or later. */
static void lock_leave(const sr_submission_lock_t *lock)
{
    if (submission_lock_lock_end(lock, lock->holder, lock->pool))
        left_add(lock->service->database->number, lock->submission, lock->holder);
}

void sr_submission_lock_repeat(sr_store_source_t *database, apr_pool_t *pool)
{
    left_t lease;
    while (left_take(&lease, database->number)) {
        const sr_service_t service = {.database = database};
        const sr_submission_lock_t lock = {
            .service = &service, .submission = lease.submission, .holder = lease.holder, .pool = pool};
        sr_error_t *error = submission_lock_lock_end(&lock, lock.holder, pool);
        if (!error) continue;
        left_add(lease.database, lease.submission, lease.holder);
        return;
    }
}

/* Waits. If the holder is dead, its lease is ended instead. */
static sr_error_t *lock_wait(const sr_submission_lock_t *lock, const char *holder, apr_interval_time_t pause,
                             apr_pool_t *pool)
{
    if (holder && sr_process_is_dead(lock->holder, holder)) return submission_lock_lock_end(lock, holder, pool);
    sr_submission_lock_repeat(lock->service->database, pool);
    apr_sleep(lock_jitter(pause));
    return NULL;
}

static sr_error_t *lock_file(sr_submission_lock_t *lock, apr_time_t until, apr_pool_t *pool)
{
    sr_blobs_t *documents;
    SR_TRY(sr_service_documents(&documents, lock->service, pool));
    return sr_file_lock_take(&lock->file, documents, lock->submission, until, pool);
}

/* *body is what the database read under the lease: NULL if nothing has changed. *outcome is SR_MISSING if the database
 * keeps no leases. */
static sr_error_t *lock_lease(sr_outcome_t *outcome, const char **body, const sr_submission_lock_t *lock,
                              const sr_signing_t *signing, apr_time_t until, apr_pool_t *pool)
{
    const sr_lease_row_t *row;
    apr_pool_t *each;
    apr_pool_create(&each, pool);
    for (apr_interval_time_t pause = SHORTEST_PAUSE;; pause = pause * 2 < LONGEST_PAUSE ? pause * 2 : LONGEST_PAUSE) {
        /* an error is in a part of the pool that is not cleared */
        sr_error_t *error =
            sr_store_lock_take(lock->service->database, outcome, &row, lock->submission, lock->holder, LEASE,
                               signing->signer ? signing->signer->uuid : NULL, signing->version, each);
        if (error) lock_leave(lock); /* the connection may have been lost after the commit */
        SR_TRY(error);
        if (*outcome != SR_MISSING) SR_TRY(sr_service_refusal(*outcome, pool));
        if (*outcome != SR_STALE) break;
        if (sr_time_steady() >= until) return lock_late(pool);
        SR_TRY(lock_wait(lock, row->holder, pause, each));
        apr_pool_clear(each);
    }
    *body = *outcome == SR_OK ? apr_pstrdup(pool, row->body) : NULL;
    apr_pool_destroy(each);
    return NULL;
}

/* A submission that a caller's token has found is read by that token again: it may have been revoked while this
 * waited. */
static sr_error_t *lock_read(const sr_submission_lock_t *lock, sr_signing_t **signing, const sr_subject_t *subject,
                             const char *body, bool leased, apr_pool_t *pool)
{
    if (body) SR_TRY(sr_service_subject_parse(lock->service, signing, subject, body, pool));
    if (leased && subject->signer) return NULL;
    return sr_service_subject_refresh(lock->service, signing, subject, pool);
}

sr_error_t *sr_submission_lock_take(sr_submission_lock_t *lock, const sr_service_t *service, sr_signing_t **signing,
                                    const sr_subject_t *subject, apr_pool_t *pool)
{
    const apr_time_t until = sr_time_steady() + SR_SUBMISSION_LOCK_WAIT;
    sr_outcome_t outcome;
    const char *body = NULL;
    *lock = (sr_submission_lock_t){
        .service = service, .submission = (*signing)->submission.uuid, .holder = sr_process_name(pool), .pool = pool};
    SR_TRY(lock_lease(&outcome, &body, lock, *signing, until, pool));
    if (outcome == SR_MISSING) SR_TRY(lock_file(lock, until, pool));
    sr_error_t *error = lock_read(lock, signing, subject, body, outcome == SR_OK, pool);
    if (error) sr_submission_lock_release(lock);
    return error;
}

void sr_submission_lock_release(sr_submission_lock_t *lock)
{
    if (lock->file) sr_file_lock_release(lock->file);
    else if (!lock->ended) lock_leave(lock);
}
