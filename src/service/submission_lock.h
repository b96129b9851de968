/* SPDX-License-Identifier: Apache-2.0 */
/* submission_lock.h: the submission lock, for transition.c. */
#ifndef SR_SUBMISSION_LOCK_H
#define SR_SUBMISSION_LOCK_H

#include "service/private.h"

#define SR_SUBMISSION_LOCK_WAIT apr_time_from_sec(10)

typedef struct sr_submission_lock_t {
    const sr_service_t *service;
    const char *submission; /* its uuid */
    const char *holder;     /* the name of this process, made for this lock */
    sr_file_lock_t *file;   /* NULL: the database has the lock */
    apr_pool_t *pool;
} sr_submission_lock_t;

/* Waits SR_SUBMISSION_LOCK_WAIT at most; then it is SR_EUNAVAILABLE. A lock that is not released ends with the process;
 * for those who wait on other machines, 30 seconds after it was taken. */
sr_error_t *sr_submission_lock_take(sr_submission_lock_t *lock, const sr_service_t *service, const char *submission,
                                    apr_pool_t *pool);
void sr_submission_lock_release(sr_submission_lock_t *lock);

#endif
