/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h: the kinds of jobs, for the files of src/jobs. What others may know of kinds is in jobs.h. */
#ifndef SR_KINDS_H
#define SR_KINDS_H

#include "jobs/call.h"

/* The rows of kinds.def, if the options have no kinds. */
void sr_kinds_default(sr_jobs_options_t *options);
/* How long a claim of each kind holds: {"<kind>":<microseconds>}. */
json_t *sr_kinds_leases(const sr_jobs_options_t *options);
/* The kinds that are tried again also when an attempt was interrupted: {"<kind>":{"attempts","pause"}}. */
json_t *sr_kinds_repeated(const sr_jobs_options_t *options);

/* Makes a job of a row that SR_OP_JOB_BATCH gave. What the job points to is in the pool. Errors: SR_EINTERNAL. */
sr_error_t *sr_job_read(sr_job_t *job, const sr_jobs_options_t *options, const sr_job_row_t *row, apr_pool_t *pool);
/* How long to wait before the next attempt of a job whose attempt ended like this. 0: the job is over. */
apr_interval_time_t sr_job_pause(const sr_job_t *job, const sr_call_result_t *result);

/* What begins the kinds of kinds.def. */
CURL *sr_webhook_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool);
CURL *sr_invitation_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool);

#endif
