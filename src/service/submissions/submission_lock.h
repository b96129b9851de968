/* SPDX-License-Identifier: Apache-2.0 */
/* submission_lock.h: the submission lock, for transition.c. */
#ifndef SR_SERVICE_SUBMISSIONS_SUBMISSION_LOCK_H
#define SR_SERVICE_SUBMISSIONS_SUBMISSION_LOCK_H

#include "service/private.h"

#define SR_SUBMISSION_LOCK_WAIT apr_time_from_sec(10)

typedef struct sr_submission_lock_t {
    const sr_service_t *service;
    const char *submission; /* its uuid */
    const char *holder;     /* the name of this process, made for this lock */
    sr_file_lock_t *file;   /* NULL if the lock is a lease in the database */
    bool ended;             /* the commit of a transition has ended the lease */
    apr_pool_t *pool;
} sr_submission_lock_t;

/* Takes the lock of the submission, and reads *signing again if it has changed since it was read. Waits
 * at most SR_SUBMISSION_LOCK_WAIT and then returns SR_EUNAVAILABLE. A lock that is not released ends with the process.
 * Processes on other machines can take it 30 seconds after it was taken. After an error there is nothing to release. */
sr_error_t *sr_submission_lock_take(sr_submission_lock_t *lock, const sr_service_t *service, sr_signing_t **signing,
                                    const sr_subject_t *subject, apr_pool_t *pool);
void sr_submission_lock_release(sr_submission_lock_t *lock);
/* Ends leases that could not be ended before. */
void sr_submission_lock_repeat(sr_store_source_t *database, apr_pool_t *pool);

#endif
