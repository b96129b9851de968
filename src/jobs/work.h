/* SPDX-License-Identifier: Apache-2.0 */
/* work.h: jobs whose work may block, each in a thread of its own. Private to src/jobs. */
#ifndef SR_JOBS_WORK_H
#define SR_JOBS_WORK_H

#include "jobs/jobs.h"

typedef struct sr_work_t sr_work_t;

/* Starts a thread that does the work of a job (options->work), or, if the job is a mail, reads its files
 * (options->files). It wakes `multi` when it has ended. The options must
 * live until sr_work_end. Returns NULL if there is no thread. */
sr_work_t *sr_work_begin(const sr_jobs_options_t *options, CURLM *multi, const sr_job_t *job);
/* Returns true if sr_work_end does not wait. */
bool sr_work_has_ended(const sr_work_t *work);
/* Waits for the thread and sets the result, which lives as long as `pool`. Without `result` (NULL) it only waits, and
 * the work is freed. */
void sr_work_end(sr_work_t *work, sr_call_result_t *result, apr_pool_t *pool);

#endif
