/* SPDX-License-Identifier: Apache-2.0 */
/* retain.c: deletes the closed submissions whose retention is over (SigreqRetention). Each is deleted like DELETE does,
 * in a transaction of its own, so a killed process leaves nothing half done, and two processes may do this at the same
 * time.
 *
 * A run takes all of them, by environment and outcome, and of these by time. It consists of short calls, because the
 * job thread sends nothing meanwhile. A submission that cannot be deleted is tried again by the next run. */
#include "service/private.h"

#define MOST 8                                /* submissions of one call */
#define LONGEST apr_time_from_msec(100)       /* after this time a call begins no other submission */
#define KINDS (2 * SR_SUBMISSION_STATE_COUNT) /* of an environment and an outcome */

typedef struct call_t {
    const sr_service_t *service;
    sr_retained_t *at;
    int left, deleted;
    apr_time_t until;
    sr_error_t *error; /* the last one */
    apr_pool_t *pool;
} call_t;

/* Deletes a submission, unless another process was faster or it has come under legal hold. */
static void retain_erase(call_t *call, const char *submission, apr_pool_t *scratch_pool)
{
    const sr_caller_t caller = {.submission = submission};
    sr_error_t *error = sr_service_erase(call->service, &caller, scratch_pool);
    const bool settled =
        error && (error->code == SR_EGONE || error->code == SR_ECONFLICT || error->code == SR_ENOTFOUND);
    if (!error) call->deleted++;
    else if (!settled) call->error = sr_error_copy(error, call->pool);
    call->left = error && error->code == SR_EUNAVAILABLE ? 0 : call->left - 1;
}

/* Goes on with one kind. *over is false if there may be more of it. */
static sr_error_t *retain(call_t *call, bool *over, apr_interval_time_t age)
{
    const char *environment = sr_environment_name((sr_environment_t)(call->at->kind / SR_SUBMISSION_STATE_COUNT));
    const char *state = sr_submission_state_name((sr_submission_state_t)(call->at->kind % SR_SUBMISSION_STATE_COUNT));
    const int most = call->left;
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    apr_pool_t *each;
    int i = 0;
    *over = false;
    SR_TRY(sr_store_retention_past(call->service->database, &outcome, &rows, environment, state, age,
                                   call->at->closed_at, call->at->id, most, call->pool));
    apr_pool_create(&each, call->pool);
    for (; i < rows->nelts && call->left && sr_time_steady() < call->until; i++) {
        const sr_retained_row_t *row = &APR_ARRAY_IDX(rows, i, sr_retained_row_t);
        apr_pool_clear(each);
        retain_erase(call, row->submission, each);
        call->at->closed_at = row->closed_at;
        call->at->id = row->id;
    }
    apr_pool_destroy(each);
    *over = i == rows->nelts && i < most;
    return NULL;
}

sr_error_t *sr_service_retain(const sr_service_t *service, int *deleted, sr_retained_t *at,
                              const sr_retention_t *retention, apr_pool_t *pool)
{
    call_t call = {service, at, MOST, 0, sr_time_steady() + LONGEST, NULL, pool};
    sr_error_t *error = NULL;
    bool over = true;
    if (at->kind < 0 || at->kind >= KINDS) *at = (sr_retained_t){0};
    for (int i = 0; i < KINDS && over && !error; i++) {
        const apr_interval_time_t age =
            retention->of[at->kind / SR_SUBMISSION_STATE_COUNT][at->kind % SR_SUBMISSION_STATE_COUNT];
        if (age) error = retain(&call, &over, age);
        if (over && !error) *at = (sr_retained_t){.kind = (at->kind + 1) % KINDS};
    }
    *deleted = call.deleted;
    return error ? error : call.error;
}
