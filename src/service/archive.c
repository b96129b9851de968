/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c: appends proofs and a document timestamp to each document of a completed submission. The timestamp covers
 * everything before it, so the signatures can be validated as long as the chain of the timestamp can, and another one
 * renews it. All documents are stamped in one round. It is a transition: if it is interrupted, nothing has changed, and
 * of two at the same time one finds that the other has done it. */
#include "service/seal.h"

#include <string.h>

#define PATIENCE apr_time_from_sec(24 * 3600) /* how long a completed submission waits for newer proofs */
#define ID_LENGTH 12 /* digits of the SHA-256 of the document, which name the field of the timestamp */

typedef struct archiving_t {
    const sr_archive_options_t *options;
    const apr_array_header_t *proofs; /* sr_pdf_proof_t; or NULL */
    bool archived;
    sr_blobs_t *documents;
    apr_array_header_t *waiting; /* waiting_t */
    apr_pool_t *pool;
} archiving_t;

/* A document that waits for its timestamp. */
typedef struct waiting_t {
    sr_document_state_t *document;
    sr_pdf_revision_t revision;
} waiting_t;

static sr_error_t *extend(const sr_service_t *own, archiving_t *a, sr_document_state_t *document)
{
    sr_joined_t joined;
    const char *sha256 = sr_document_state_sha256(document);
    const apr_array_header_t *files = sr_document_state_files(document, a->pool);
    SR_TRY(sr_blobs_join(&joined, a->documents, files, false, a->pool));
    if (strcmp(joined.sha256, sha256) != 0)
        return sr_seal_failed(a->pool, document->uuid, "what is stored is not what was stored");
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
        if (document->revisions->nelts) SR_TRY(extend(&own, a, document));
    }
    apr_pool_destroy(work);
    return NULL;
}

/* Adds a stamped revision to the transition and to the evidence. */
static void keep(const sr_transition_t *transition, const waiting_t *waiting, const sr_stamp_t *stamp, json_t *evidence)
{
    const sr_pdf_revision_t *revision = &waiting->revision;
    json_t *said =
        sr_transition_revise(transition, waiting->document, revision->bytes, revision->length, revision->sha256, true);
    sr_seal_stamped(said, stamp->time, stamp->authority);
    json_array_append_new(evidence, said);
}

static sr_error_t *stamp_all(const sr_service_t *service, archiving_t *a, sr_transition_t *transition, json_t *evidence)
{
    sr_timestamps_t *timestamps = service->child->timestamps;
    const int count = a->waiting->nelts;
    sr_stamp_t *stamps = apr_pcalloc(a->pool, sizeof *stamps * (apr_size_t)(count + 1));
    for (int i = 0; i < count; i++)
        memcpy(stamps[i].digest, APR_ARRAY_IDX(a->waiting, i, waiting_t).revision.digest, SR_TIMESTAMP_DIGEST);
    SR_TRY(sr_timestamps_make(timestamps, stamps, count, a->pool));
    sr_sealing_want(service, &stamps[0], a->pool);
    for (int i = 0; i < count; i++) {
        waiting_t *waiting = &APR_ARRAY_IDX(a->waiting, i, waiting_t);
        apr_time_t end;
        SR_TRY(sr_timestamps_end(&end, timestamps, stamps[i].token, stamps[i].length, a->pool));
        if (!transition->stamped_until || end < transition->stamped_until) transition->stamped_until = end;
        SR_TRY(sr_pdf_seal(&waiting->revision, stamps[i].token, stamps[i].length, a->pool));
        keep(transition, waiting, &stamps[i], evidence);
    }
    return NULL;
}

/* Finds the proofs. Returns false if it is not time to archive the submission. Proofs that were made after the last
 * signature prove that nothing was revoked when it was made. */
static bool is_time(const sr_service_t *service, archiving_t *a, const sr_transition_t *transition)
{
    const sr_submission_t *submission = &transition->signing->submission;
    const char *seal = a->options->seals[transition->signing->environment];
    apr_time_t since = 0;
    if (submission->stamped_until > transition->now + a->options->renew) return false;
    a->proofs = seal ? sr_sealing_proofs(service, &since, seal, a->pool) : NULL;
    return !seal || submission->stamped_until || transition->now - submission->closed_at > PATIENCE
           || (a->proofs && since > submission->closed_at);
}

static sr_error_t *archive(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    archiving_t *a = baton;
    sr_submission_t *submission = &transition->signing->submission;
    json_t *detail = sr_json_own(json_object(), transition->pool), *evidence = json_array();
    json_object_set_new(detail, "documents", evidence);
    if (submission->state != SR_SUBMISSION_COMPLETED)
        return sr_error(transition->pool, SR_ECONFLICT, "Only a completed submission can be archived");
    a->archived = false;
    a->pool = transition->pool;
    if (!is_time(service, a, transition)) return NULL;
    a->waiting = apr_array_make(a->pool, 4, sizeof(waiting_t));
    SR_TRY(extend_all(service, a, transition->signing));
    SR_TRY(stamp_all(service, a, transition, evidence));
    /* the deadline was met, but the database compares it with the time of this commit */
    if (submission->expires_at && submission->expires_at <= transition->signing->clock)
        transition->deadline = SR_DEADLINE_AFTER;
    submission->updated_at = transition->now;
    submission->stamped_until = transition->stamped_until;
    sr_transition_event(transition, NULL, "archived", json_incref(detail));
    SR_TRY(sr_contents_folder(&transition->folder, a->documents, transition->pool));
    SR_TRY(sr_contents_store(service, transition->contents, a->documents, transition->pool));
    a->archived = true;
    return NULL;
}

sr_error_t *sr_service_archive(const sr_service_t *service, bool *archived, const char *uuid,
                               const sr_archive_options_t *options, apr_pool_t *pool)
{
    archiving_t a = {.options = options};
    const sr_subject_t subject = {.submission = uuid, .locks = true};
    sr_signing_t *signing;
    sr_assert(service->child->timestamps);
    SR_TRY(sr_blobs_folder(&a.documents, service->documents_root, pool));
    SR_TRY(sr_service_folder(service, a.documents, pool));
    SR_TRY(sr_transition_run(service, &signing, &subject, NULL, archive, &a, pool));
    *archived = a.archived;
    return NULL;
}
