/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.h: the kinds of jobs, for the files of src/jobs. Other folders use jobs.h. */
#ifndef SR_JOBS_KINDS_H
#define SR_JOBS_KINDS_H

#include "jobs/call.h"

/* Sets the kinds of the options to the rows of kinds.def, if the options have none. */
void sr_kinds_default(sr_jobs_options_t *options);
/* Returns how long a claim is valid, of each kind that this process runs at present: {"<kind>":<microseconds>}. New
 * reference. */
json_t *sr_kinds_leases(const sr_jobs_options_t *options);
/* Returns the kinds that are also tried again after an interruption: {"<kind>":{"attempts":…,"pause":…}}. New
 * reference. */
json_t *sr_kinds_repeated(const sr_jobs_options_t *options);

/* Makes a job from a row of SR_OP_JOB_BATCH. Everything in the job is allocated in the pool. Errors: SR_EINTERNAL. */
sr_error_t *sr_job_read(sr_job_t *job, const sr_jobs_options_t *options, const sr_job_row_t *row, apr_pool_t *pool);
/* Returns the microseconds to wait before the next attempt after an attempt with this result; 0: there is none. */
apr_interval_time_t sr_job_pause(const sr_job_t *job, const sr_call_result_t *result);
/* Begins the mail of a job whose work has read its files (result->files), as its begin does. */
CURL *sr_job_go_on(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool);

/* Declares the functions of kinds.def that begin an attempt (sr_job_kind_t). */
#define SR_JOB_KIND(name, repeat, attempts, pause, lease, most, metric, begin)                                         \
    CURL *begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool);
#include "jobs/kinds.def"
#undef SR_JOB_KIND

#endif
