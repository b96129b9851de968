/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c: the kinds of jobs (kinds.def). Reads a claimed job, and decides whether a failed one is tried again. */
#include "jobs/kinds.h"

#include <string.h>

static const sr_job_kind_t builtin[] = {
#define SR_JOB_KIND(name, repeat, attempts, pause, lease, most, metric, begin)                                         \
    {name, repeat, attempts, pause, lease, most, metric, begin},
#include "jobs/kinds.def"
#undef SR_JOB_KIND
};

void sr_kinds_default(sr_jobs_options_t *options)
{
    if (options->kinds) return;
    options->kinds = builtin;
    options->kind_count = (int)(sizeof builtin / sizeof *builtin);
}

static const sr_job_kind_t *kind_named(const sr_jobs_options_t *options, const char *name)
{
    for (int i = 0; i < options->kind_count; i++)
        if (!strcmp(options->kinds[i].name, name)) return &options->kinds[i];
    return NULL;
}

json_t *sr_kinds_leases(const sr_jobs_options_t *options)
{
    json_t *leases = json_object();
    for (int i = 0; i < options->kind_count; i++)
        if (!options->runs || options->runs(options->baton, options->kinds[i].name))
            json_object_set_new(leases, options->kinds[i].name, json_integer(options->kinds[i].lease));
    return leases;
}

json_t *sr_kinds_repeated(const sr_jobs_options_t *options)
{
    json_t *repeated = json_object();
    for (int i = 0; i < options->kind_count; i++) {
        const sr_job_kind_t *kind = &options->kinds[i];
        if (kind->repeat != SR_REPEAT_FAILED) continue;
        json_object_set_new(repeated, kind->name,
                            json_pack("{s:i,s:I}", "attempts", kind->attempts, "pause", (json_int_t)kind->pause));
    }
    return repeated;
}

sr_error_t *sr_job_read(sr_job_t *job, const sr_jobs_options_t *options, const sr_job_row_t *row, apr_pool_t *pool)
{
    json_t *body = NULL;
    *job = (sr_job_t){.kind = kind_named(options, row->kind),
                      .id = row->id,
                      .organization = row->organization,
                      .attempts = (int)row->attempts,
                      .due_at = row->due_at,
                      .destination = apr_pstrdup(pool, row->destination),
                      .url = apr_pstrdup(pool, row->url),
                      .token = apr_pstrdup(pool, row->token)};
    SR_TRY(sr_json_read(&body, row->body, pool));
    job->body = body;
    if (!job->kind || !json_is_object(body))
        return sr_error(pool, SR_EINTERNAL, "Job %" APR_INT64_T_FMT " of the database cannot be read", job->id);
    return NULL;
}

apr_interval_time_t sr_job_pause(const sr_job_t *job, const sr_call_result_t *result)
{
    const sr_job_kind_t *kind = job->kind;
    if (result->success) return result->again;
    if (job->attempts + 1 >= kind->attempts) return 0;
    if (kind->repeat == SR_REPEAT_NEVER || (kind->repeat == SR_REPEAT_UNACCEPTED && !result->unaccepted)) return 0;
    return kind->pause << job->attempts;
}

/* --- what begins them */

/* Calls a webhook with the event's body and the two members that belong to the call. */
CURL *sr_webhook_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    json_t *body = sr_json_own(json_object(), pool);
    (void)result;
    json_object_set_new(body, "userTokenId", sr_json_string_or_null(job->token));
    json_object_set_new(body, "webhookUrl", json_string(job->url));
    json_object_update(body, (json_t *)job->body);
    return sr_call_begin(call, job->url, sr_json_text(body, pool));
}

static CURL *kinds_mail(sr_call_t *call, const sr_mail_t *mail, const sr_job_t *job, sr_call_result_t *result,
                        apr_pool_t *pool)
{
    if (!mail || !mail->folder) return sr_mail_begin(call, mail, job->body, &result->error, pool);
    sr_mail_keep(call, mail, job->body, result, pool);
    return NULL;
}

CURL *sr_invitation_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    return kinds_mail(call, call->options->mail, job, result, pool);
}

CURL *sr_job_go_on(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    sr_mail_t mail = *call->options->mail;
    mail.files = result->files;
    *result = (sr_call_result_t){0};
    return kinds_mail(call, &mail, job, result, pool);
}

/* Sends a mail if the database has said so (SR_OK). Otherwise it is over, and the history says why. */
static CURL *kinds_mail_if(sr_outcome_t outcome, const char *otherwise, sr_error_t *error, sr_call_t *call,
                           const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    if (!error && outcome == SR_OK) return sr_invitation_begin(call, job, result, pool);
    result->unaccepted = error != NULL;
    result->error = error ? error->message : otherwise;
    result->detail = error ? sr_error_text(error, false, pool) : NULL;
    return NULL;
}

static sr_store_source_t *kinds_database(const sr_call_t *call, const sr_job_t *job, apr_pool_t *pool)
{
    return call->options->database(call->options->baton, job->database, pool);
}

/* Sends a reminder if the signer is still due. */
CURL *sr_reminder_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    const char *signer = sr_json_string(job->body, "reminds");
    sr_outcome_t outcome = SR_MISSING;
    sr_error_t *error =
        signer ? sr_store_signing_reminds(kinds_database(call, job, pool), &outcome, signer, pool) : NULL;
    return kinds_mail_if(outcome, "not sent, because the signer is not asked to sign any more", error, call, job,
                         result, pool);
}

/* Sends a code if the signer can still enter it. */
CURL *sr_code_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    const char *ends = sr_json_string(job->body, "expiresAt");
    sr_outcome_t outcome = SR_MISSING;
    apr_time_t until;
    sr_error_t *error = ends && sr_time_parse(&until, ends)
                            ? sr_store_job_code(kinds_database(call, job, pool), &outcome, until, pool)
                            : NULL;
    return kinds_mail_if(outcome, "not sent, because the code is not valid any more", error, call, job, result, pool);
}

/* Sends a copy or the link of a viewer if the link shows something. A copy with files begins with reading them. */
CURL *sr_copy_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    const char *submission = sr_json_string(job->body, "shows"), *viewer = sr_json_string(job->body, "viewer");
    const bool copies = json_is_true(json_object_get(job->body, "copies"));
    sr_outcome_t outcome = SR_MISSING;
    sr_error_t *error = submission ? sr_store_signing_shows(kinds_database(call, job, pool), &outcome, submission,
                                                            viewer, copies, SR_COPY_LIFETIME, pool)
                                   : NULL;
    const bool attaches = json_is_true(json_object_get(job->body, "attach")) && call->options->mail;
    if (!error && outcome == SR_OK && attaches && call->options->files) {
        call->work = sr_work_begin(call->options, call->multi, job);
        if (call->work) return NULL;
        error = sr_error(pool, SR_EUNAVAILABLE, "there is no thread that reads the files");
    }
    return kinds_mail_if(outcome, "not sent, because the link shows nothing any more", error, call, job, result, pool);
}

CURL *sr_timer_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    const sr_jobs_options_t *options = call->options;
    const char *submission = sr_json_string(job->body, "submission");
    sr_error_t *error = options->timer && submission ? options->timer(options->baton, job->database, job->kind->name,
                                                                      submission, &result->again, pool)
                                                     : sr_error(pool, SR_EINTERNAL, "This process has no such work");
    result->success = !error;
    result->error = error ? error->message : NULL;
    result->detail = error ? sr_error_text(error, false, pool) : NULL;
    return NULL;
}

CURL *sr_archive_begin(sr_call_t *call, const sr_job_t *job, sr_call_result_t *result, apr_pool_t *pool)
{
    (void)pool;
    if (call->options->work && sr_json_string(job->body, "submission"))
        call->work = sr_work_begin(call->options, call->multi, job);
    if (!call->work) result->error = "This process cannot do this work";
    return NULL;
}
