/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c: appends proofs and a document timestamp to each document of a completed submission. The timestamp covers
 * everything before it, so the signatures can be validated as long as the chain of the timestamp can, and another one
 * renews it. All documents are stamped in one round. It is a transition: if it is interrupted, nothing has changed, and
 * of two at the same time one finds that the other has done it. */
#include "service/seals/seal_document.h"

#include <string.h>

#define PATIENCE apr_time_from_sec(24 * 3600) /* how long a completed submission waits for newer proofs */
#define WAIT apr_time_from_sec(60)            /* before it is looked whether there are proofs */
#define PAUSE apr_time_from_sec(24 * 3600)    /* before the authorities are asked again for timestamps that end later */
#define QUEUED 100                            /* the most jobs of an organisation that wait */
#define ID_LENGTH 12 /* digits of the SHA-256 of the document, which name the field of the timestamp */

typedef struct archiving_t {
    const sr_archive_options_t *options;
    const apr_array_header_t *proofs; /* sr_pdf_proof_t; or NULL */
    sr_archived_t *result;
    sr_blobs_t *documents;
    apr_array_header_t *waiting; /* waiting_t */
    apr_pool_t *pool;
} archiving_t;

/* A document that waits for its timestamp. */
typedef struct waiting_t {
    sr_document_state_t *document;
    sr_pdf_revision_t revision;
} waiting_t;

static sr_error_t *archive_extend(const sr_service_t *own, archiving_t *a, sr_document_state_t *document)
{
    sr_joined_t joined;
    const char *sha256 = sr_document_state_sha256(document);
    const apr_array_header_t *files = sr_document_state_files(document, a->pool);
    SR_TRY(sr_blobs_join(&joined, a->documents, files, false, a->pool));
    if (strcmp(joined.sha256, sha256) != 0)
        return sr_seal_failed(a->pool, document->uuid, "the SHA-256 of the stored document is wrong");
    const sr_pdf_archival_t archival = {.id = apr_pstrndup(a->pool, sha256, ID_LENGTH),
                                        .base_size = document->base_size,
                                        .proofs = a->proofs,
                                        .digest = joined.digest};
    waiting_t *waiting = apr_array_push(a->waiting);
    waiting->document = document;
    SR_TRY(sr_pdf_archive(&waiting->revision, own->pdf, joined.descriptor, joined.size, &archival, a->pool));
    return waiting->revision.fault == SR_PDF_DONE ? NULL
                                                  : sr_seal_failed(a->pool, "archiving", waiting->revision.reason);
}

static sr_error_t *extend_all(const sr_service_t *service, archiving_t *a, const sr_signing_t *signing)
{
    apr_pool_t *work; /* destroying it releases the worker */
    apr_pool_create(&work, a->pool);
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, work);
    const sr_service_t own = sr_service_for_request(service, owner, work);
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        if (sr_document_state_is_signed(document)) SR_TRY(archive_extend(&own, a, document));
    }
    apr_pool_destroy(work);
    return NULL;
}

/* Adds a stamped revision to the transition and to the evidence. */
static void archive_keep(const sr_transition_t *transition, const waiting_t *waiting, const sr_stamp_t *stamp,
                         json_t *evidence)
{
    const sr_pdf_revision_t *revision = &waiting->revision;
    json_t *said =
        sr_transition_revise(transition, waiting->document, revision->bytes, revision->length, revision->sha256, true);
    sr_seal_stamped(said, stamp->time, stamp->authority);
    json_array_append_new(evidence, said);
}

/* Gets the timestamps, and sets *until to the end of the first one. */
static sr_error_t *get_stamps(const sr_service_t *service, archiving_t *a, sr_stamp_t **stamps, apr_time_t *until)
{
    sr_timestamps_t *timestamps = service->child->timestamps;
    const int count = a->waiting->nelts;
    sr_stamp_t *all = *stamps = apr_pcalloc(a->pool, sizeof **stamps * (apr_size_t)(count + 1));
    for (int i = 0; i < count; i++)
        memcpy(all[i].digest, APR_ARRAY_IDX(a->waiting, i, waiting_t).revision.digest, SR_TIMESTAMP_DIGEST);
    SR_TRY(sr_timestamps_make(timestamps, all, count, a->pool));
    sr_sealing_want(service, &all[0], a->pool);
    *until = 0;
    for (int i = 0; i < count; i++) {
        apr_time_t end;
        SR_TRY(sr_timestamps_end(&end, timestamps, all[i].token, all[i].length, a->pool));
        if (!*until || end < *until) *until = end;
    }
    return NULL;
}

/* Stamps all documents, unless that renews nothing. Otherwise an authority whose certificate ends soon would stamp them
 * again and again. */
static sr_error_t *archive_stamp_all(const sr_service_t *service, archiving_t *a, sr_transition_t *transition,
                                     json_t *evidence)
{
    const apr_time_t before = transition->signing->submission.stamped_until;
    sr_stamp_t *stamps;
    apr_time_t until;
    SR_TRY(get_stamps(service, a, &stamps, &until));
    if (before && until <= before) {
        a->result->again = PAUSE;
        return NULL;
    }
    for (int i = 0; i < a->waiting->nelts; i++) {
        waiting_t *waiting = &APR_ARRAY_IDX(a->waiting, i, waiting_t);
        SR_TRY(sr_pdf_seal(&waiting->revision, stamps[i].token, stamps[i].length, a->pool));
        archive_keep(transition, waiting, &stamps[i], evidence);
    }
    transition->stamped_until = until;
    a->result->archived = true;
    return NULL;
}

/* --- when it is time */

/* A new timestamp proves that the old one was valid, with the proofs of the old one's chain. The proofs of all that is
 * older are in the document. */
static sr_error_t *is_time_to_renew(bool *is, const sr_service_t *service, archiving_t *a,
                                    const sr_transition_t *transition)
{
    const apr_interval_time_t renew = a->options->renew;
    const apr_interval_time_t left = transition->signing->submission.stamped_until - transition->now;
    bool complete;
    *is = false;
    if (!renew || left > renew) return NULL;
    SR_TRY(sr_renewal_proofs(service, &a->proofs, &complete, a->documents, transition->signing, a->pool));
    *is = complete || left <= renew / 2;
    if (!*is) a->result->again = WAIT;
    return NULL;
}

/* Returns the SHA-256 of the certificate whose proofs are added, or NULL: the certificate of the
 * service's seal. No authority may have issued it in the test environment, so that nothing is known of it. */
static const char *service_seal_of(const sr_service_t *service, const sr_archive_options_t *options,
                                   sr_environment_t environment, apr_pool_t *pool)
{
    const sr_cms_identity_t *seal = sr_sealing_of_service(service, environment);
    if (options->seals[environment] || !seal || !service->child->proofs) return options->seals[environment];
    const char *sha256 = sr_cms_identity_certificate(seal)->sha256;
    const bool is_known = sr_proof_cache_get(service->child->proofs, sha256, pool) != NULL;
    return environment == SR_PRODUCTION || is_known ? sha256 : NULL;
}

/* The same for a submission. An organisation's own seal has sealed it, unless its certificate is younger. */
static const char *archive_seal_of(const sr_service_t *service, const sr_archive_options_t *options,
                                   const sr_signing_t *signing, apr_pool_t *pool)
{
    static const char unknown[] = ""; /* there are no proofs of it */
    const sr_cms_own_t *own = sr_sealing_own(service, signing);
    const sr_cms_identity_t *seal = own ? sr_sealing_of_own(own) : NULL;
    if (own && !seal) return unknown;
    if (seal && sr_cms_identity_certificate(seal)->from <= signing->submission.closed_at)
        return sr_cms_identity_certificate(seal)->sha256;
    return service_seal_of(service, options, signing->environment, pool);
}

/* Proofs that were made after the last signature prove that nothing was revoked when it was made. */
static bool is_time_to_archive(const sr_service_t *service, archiving_t *a, const sr_transition_t *transition)
{
    const apr_time_t closed_at = transition->signing->submission.closed_at;
    const char *seal = archive_seal_of(service, a->options, transition->signing, a->pool);
    apr_time_t since = 0;
    a->proofs = seal ? sr_sealing_proofs(service, &since, seal, a->pool) : NULL;
    const bool is = !seal || transition->now - closed_at > PATIENCE || (a->proofs && since > closed_at);
    if (!is) a->result->again = WAIT;
    return is;
}

/* Finds the proofs. *is is false if it is not time to archive the submission. */
static sr_error_t *is_time(bool *is, const sr_service_t *service, archiving_t *a, const sr_transition_t *transition)
{
    if (transition->signing->submission.stamped_until) return is_time_to_renew(is, service, a, transition);
    *is = is_time_to_archive(service, a, transition);
    return NULL;
}

/* --- the transition */

static sr_error_t *archive(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    archiving_t *a = baton;
    sr_submission_t *submission = &transition->signing->submission;
    json_t *detail = sr_json_own(json_object(), transition->pool), *evidence = json_array();
    json_object_set_new(detail, "documents", evidence);
    if (submission->state != SR_SUBMISSION_COMPLETED)
        return sr_error(transition->pool, SR_ECONFLICT, "Only a completed submission can be archived");
    *a->result = (sr_archived_t){false};
    a->pool = transition->pool;
    bool is;
    SR_TRY(is_time(&is, service, a, transition));
    if (!is) return NULL;
    a->waiting = apr_array_make(a->pool, 4, sizeof(waiting_t));
    SR_TRY(extend_all(service, a, transition->signing));
    SR_TRY(archive_stamp_all(service, a, transition, evidence));
    if (!a->result->archived) return NULL;
    /* the deadline was met, but the database compares it with the time of this commit */
    if (submission->expires_at && submission->expires_at <= transition->signing->clock)
        transition->deadline = SR_DEADLINE_AFTER;
    submission->updated_at = transition->now;
    submission->stamped_until = transition->stamped_until;
    sr_transition_event(transition, NULL, "archived", json_incref(detail));
    SR_TRY(sr_contents_folder(&transition->folder, a->documents, transition->pool));
    return sr_contents_store(service, transition->contents, a->documents, transition->pool);
}

sr_error_t *sr_service_archive(const sr_service_t *service, sr_archived_t *result, const char *uuid,
                               const sr_archive_options_t *options, apr_pool_t *pool)
{
    archiving_t a = {.options = options, .result = result};
    const sr_subject_t subject = {.submission = uuid, .locks = true};
    sr_signing_t *signing;
    sr_assert(service->child->timestamps);
    SR_TRY(sr_service_documents(&a.documents, service, pool));
    SR_TRY(sr_service_folder(service, a.documents, pool));
    return sr_transition_run(service, &signing, &subject, NULL, archive, &a, pool);
}

sr_error_t *sr_service_archive_due(const sr_service_t *service, apr_interval_time_t *again, const char *uuid,
                                   const sr_archive_options_t *options, apr_pool_t *pool)
{
    sr_archived_t result = {false};
    sr_error_t *error = sr_service_archive(service, &result, uuid, options, pool);
    *again = error ? 0 : result.again;
    return error ? sr_transition_error(error) : NULL;
}

/* Returns the time of the last completion for which it is time to archive. */
static apr_time_t ripe_until(const sr_service_t *service, const sr_archive_options_t *options,
                             sr_environment_t environment, apr_pool_t *pool)
{
    const apr_time_t now = sr_time_now();
    const char *seal = service_seal_of(service, options, environment, pool);
    apr_time_t since = 0;
    if (!seal) return now;
    const bool complete = sr_sealing_proofs(service, &since, seal, pool) != NULL;
    return complete && since - 1 > now - PATIENCE ? since - 1 : now - PATIENCE;
}

sr_error_t *sr_service_archive_queue(const sr_service_t *service, apr_int64_t *due, const sr_archive_options_t *options,
                                     apr_pool_t *pool)
{
    const apr_time_t test = ripe_until(service, options, SR_TEST, pool);
    const apr_time_t production = ripe_until(service, options, SR_PRODUCTION, pool);
    const sr_archiving_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_job_archive(service->database, &outcome, &row, test, production,
                                options->renew ? sr_time_now() + options->renew : 0, sr_time_now(), QUEUED, pool));
    *due = row->due;
    if (row->made) sr_service_wake(service);
    return NULL;
}
