/* SPDX-License-Identifier: Apache-2.0 */
/* draft_send.c: a draft is sent. One transition does what a creation does, with the documents that are stored. */
#include "service/drafts/draft.h"
#include "service/submissions/copies.h"
#include "service/submissions/creation.h"
#include "service/submissions/invite.h"
#include "service/submissions/transition.h"
#include "service/submissions/uploads.h"

typedef struct sending_t {
    const char *token; /* the uuid of the caller's; NULL: it is sent by the placement link */
    const char *known; /* an If-Match header, or NULL */
    sr_inviting_t inviting;
    int attempts;
    const char *hash; /* of the last event */
} sending_t;

/* --- the checks that a creation makes beside those of its fields */

static sr_error_t *send_check_life(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool)
{
    sr_submission_t *submission = &signing->submission;
    if ((submission->send_email || submission->options.copies) && !service->child->sends_mail)
        return sr_error(pool, SR_EUNAVAILABLE, "This service sends no mail (SigreqSMTP): the draft cannot be sent");
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        SR_TRY(sr_authentication_check(service, signer->authentication, pool));
    }
    if (!submission->expires_at && service->settings->expiry)
        submission->expires_at = signing->clock + service->settings->expiry;
    if (submission->expires_at && submission->expires_at <= signing->clock)
        return sr_error(pool, SR_EBADREQUEST, "expiresAt must be in the future");
    return NULL;
}

static sr_error_t *send_count_mails(sending_t *sending, const sr_submission_t *submission, apr_pool_t *pool)
{
    int others;
    const apr_array_header_t *addresses = sr_creation_addresses(&others, submission, pool);
    sr_invite_give_back(&sending->inviting); /* of an attempt before this one */
    return addresses->nelts ? sr_invite_take(&sending->inviting, addresses, others, pool) : NULL;
}

/* --- what the checks have made of the documents */

static apr_array_header_t *send_documents(const apr_array_header_t *documents, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, documents->nelts, sizeof(sr_sent_arg_t));
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        const char *rewritten = sr_creation_rewritten(document);
        APR_ARRAY_PUSH(rows, sr_sent_arg_t) = (sr_sent_arg_t){
            .document = document->uuid, .sha256 = rewritten, .size = rewritten ? document->base_size : 0};
    }
    return rows;
}

/* Stores what the checks have made. After SR_STALE, no cached key is used. */
static sr_error_t *send_keep(const sr_service_t *service, sr_transition_t *transition, sending_t *sending,
                             const sr_draft_work_t *work)
{
    apr_pool_t *pool = transition->pool;
    sr_submission_t *submission = &transition->signing->submission;
    sr_blobs_t *documents = work->request.uploads->documents;
    if (sending->attempts++) SR_TRY(sr_uploads_stale(service, &work->preflight, &work->request, pool));
    SR_TRY(sr_service_folder(service, documents, pool));
    SR_TRY(sr_uploads_commit(service, transition->contents, &work->preflight, &work->request, pool));
    SR_TRY(sr_contents_folder(&transition->folder, documents, pool));
    submission->documents = sr_document_states(work->preflight.documents, pool);
    const apr_array_header_t *revisions = sr_creation_revisions(submission, pool);
    if (revisions) apr_array_cat(transition->revisions, revisions);
    transition->sent = send_documents(submission->documents, pool);
    return NULL;
}

/* --- the transition */

static void send_invite(const sr_service_t *service, sr_transition_t *transition, const apr_array_header_t *due)
{
    const sr_signing_t *signing = transition->signing;
    const sr_inviter_t inviter = {signing->organization, signing->environment, service->set_base_url,
                                  sr_service_theme(service, transition->pool)};
    const apr_array_header_t *viewers = signing->submission.viewers;
    for (int i = 0; i < due->nelts; i++)
        sr_transition_invite(service, transition, APR_ARRAY_IDX(due, i, const sr_signer_t *));
    if (signing->submission.send_email)
        sr_views_write(transition->jobs, &signing->submission, &inviter, false, transition->pool);
    for (int i = 0; viewers && i < viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(viewers, i, sr_viewer_t);
        if (!viewer->when_completed && !viewer->is_copy)
            APR_ARRAY_PUSH(transition->seen, sr_viewer_change_arg_t) =
                (sr_viewer_change_arg_t){.uuid = viewer->uuid, .sent_at = transition->now};
    }
}

static void send_release(const sr_service_t *service, sr_transition_t *transition, sending_t *sending)
{
    sr_submission_t *submission = &transition->signing->submission;
    apr_array_header_t *due = apr_array_make(transition->pool, 4, sizeof(sr_signer_t *));
    sr_state_change(NULL, &submission->state, SR_ACTION_RELEASE);
    submission->updated_at = transition->now;
    sr_submission_due(submission, due, transition->now);
    for (int i = 0; i < submission->signers->nelts; i++)
        sr_transition_change(transition, &APR_ARRAY_IDX(submission->signers, i, sr_signer_t));
    json_t *detail = sr_creation_detail(submission, sending->token, false, transition->pool);
    if (!sending->token) json_object_set_new(detail, "by", json_string("placement"));
    sr_transition_event(transition, NULL, "created", json_incref(detail));
    sending->hash = transition->hash;
    sr_transition_notify(transition, "sent");
    send_invite(service, transition, due);
}

static sr_error_t *send_draft(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    sending_t *sending = baton;
    sr_draft_work_t work;
    SR_TRY(sr_draft_may(&transition->signing->submission, transition->pool));
    SR_TRY(sr_draft_match(sending->known, transition->signing, transition->pool));
    sr_error_t *error = sr_draft_check(service, &work, transition->signing, NULL, 0, true, NULL, transition->pool);
    if (!error) error = send_check_life(service, transition->signing, transition->pool);
    if (!error) error = send_count_mails(sending, &transition->signing->submission, transition->pool);
    if (!error) error = send_keep(service, transition, sending, &work);
    sr_uploads_drop(&work.preflight);
    if (!error) send_release(service, transition, sending);
    return error;
}

sr_error_t *sr_service_draft_send(const sr_service_t *service, sr_shown_submission_t *shown,
                                  const sr_draft_subject_t *subject, const char *known, const sr_client_t *client,
                                  apr_pool_t *pool)
{
    const sr_subject_t whose = sr_draft_subject(subject);
    sending_t sending = {.token = subject->token, .known = known};
    sr_signing_t *signing;
    sr_token_t *token;
    if (!subject->placement && !sending.token) {
        SR_TRY(sr_service_authenticate(service, &token, subject->token_hash, pool));
        sending.token = token->uuid;
    }
    SR_TRY(sr_service_draft(service, &signing, subject, pool));
    sending.inviting = (sr_inviting_t){service, signing->organization_uuid, signing->environment, NULL};
    sr_error_t *error = sr_transition_take(service, &signing, &whose, client, send_draft, &sending, pool);
    if (error) sr_invite_give_back(&sending.inviting);
    SR_TRY(error);
    shown->representation = sr_submission_render(&signing->submission, pool);
    shown->tag = sr_representation_tag(sending.hash, signing->submission.saves, pool);
    return NULL;
}
