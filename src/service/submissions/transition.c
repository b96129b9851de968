/* SPDX-License-Identifier: Apache-2.0 */
/* transition.c: a transition of a submission is one transaction. Its argument has the last event that was read. If
 * the submission has changed since, nothing is written and the transition begins again with the new state. The
 * submission lock is taken before the submission is read, so this is rare, even if all signers sign at the same
 * time. */
#include "service/submissions/transition.h"

#include <string.h>

#include "metrics/metrics.h"

#define ATTEMPTS 20

/* Returns the client of an event: of one by the signer who acts, or by a caller. An event that follows from another one
 * ("due", "completed"), and one of the service itself, has none. */
static sr_client_t transition_client_of(const sr_transition_t *transition, const char *signer)
{
    const sr_signer_t *acts = transition->signing->signer;
    const bool own = !acts || (signer && !strcmp(signer, acts->uuid));
    return own && transition->client ? *transition->client : (sr_client_t){0};
}

void sr_transition_event(sr_transition_t *transition, const char *signer, const char *kind, json_t *detail)
{
    json_t *own = sr_json_own(detail ? detail : json_object(), transition->pool);
    APR_ARRAY_PUSH(transition->told, const char *) = kind;
    sr_event_text_t text;
    const sr_event_t event = {kind, transition->now, signer, transition_client_of(transition, signer), own};
    sr_event_write(&text, &event, ++transition->number, transition->hash, transition->pool);
    transition->hash = text.hash;
    sr_feed_tell(transition->feed, &event, text.hash, transition->pool);
    APR_ARRAY_PUSH(transition->events, sr_event_arg_t) = (sr_event_arg_t){text.hash, text.body, text.personal};
}

void sr_transition_tell(sr_transition_t *transition, const char *type, const char *signer, json_t *detail)
{
    APR_ARRAY_PUSH(transition->feed, sr_told_t) =
        (sr_told_t){.type = type,
                    .signer = signer,
                    .detail = detail,
                    .mark = apr_pstrndup(transition->pool, transition->hash, SR_FEED_MARK)};
}

void sr_transition_notify(sr_transition_t *transition, const char *kind)
{
    const char **end = transition->kinds;
    while (*end) end++;
    *end = kind;
}

void sr_transition_change(sr_transition_t *transition, sr_signer_t *signer)
{
    for (int i = 0; i < transition->changed->nelts; i++)
        if (APR_ARRAY_IDX(transition->changed, i, sr_signer_t *) == signer) return;
    APR_ARRAY_PUSH(transition->changed, sr_signer_t *) = signer;
}

void sr_transition_end_sessions(sr_transition_t *transition, const sr_signer_t *signer)
{
    APR_ARRAY_PUSH(transition->ended, sr_ended_arg_t) = (sr_ended_arg_t){.signer = signer->uuid};
}

void sr_transition_ignore_deadline(sr_transition_t *transition)
{
    const sr_submission_t *submission = &transition->signing->submission;
    const bool is_over = submission->expires_at && submission->expires_at <= transition->signing->clock;
    if (submission->state != SR_SUBMISSION_OPEN && is_over) transition->deadline = SR_DEADLINE_AFTER;
}

json_t *sr_transition_revise(const sr_transition_t *transition, sr_document_state_t *document, const void *bytes,
                             apr_size_t length, const char *whole_sha256, bool archives)
{
    const char *before = sr_document_state_sha256(document);
    const sr_revised_t revised = {.size = (apr_off_t)length,
                                  .sha256 = sr_sha256_hex(bytes, length, transition->pool),
                                  .whole_sha256 = apr_pstrdup(transition->pool, whole_sha256),
                                  .whole_size = sr_document_state_size(document) + (apr_off_t)length,
                                  .archives = archives};
    APR_ARRAY_PUSH(transition->contents, sr_content_t) =
        (sr_content_t){.sha256 = revised.sha256, .size = revised.size, .bytes = bytes};
    APR_ARRAY_PUSH(document->revisions, sr_revised_t) = revised;
    APR_ARRAY_PUSH(transition->revisions, sr_revision_arg_t) = (sr_revision_arg_t){.document = document->uuid,
                                                                                   .number = document->revisions->nelts,
                                                                                   .sha256 = revised.sha256,
                                                                                   .size = revised.size,
                                                                                   .whole_sha256 = revised.whole_sha256,
                                                                                   .whole_size = revised.whole_size};
    return json_pack("{s:s,s:s,s:s}", "uuid", document->uuid, "before", before, "after", revised.whole_sha256);
}

void sr_transition_invite(const sr_service_t *service, sr_transition_t *transition, const sr_signer_t *signer)
{
    const sr_signing_t *signing = transition->signing;
    const sr_inviter_t inviter = {signing->organization, signing->environment, service->set_base_url,
                                  sr_service_theme(service, transition->pool)};
    if (!signing->submission.send_email || !signer->email) return;
    json_array_append_new(transition->jobs,
                          sr_invitation_row(&signing->submission, signer, &inviter, transition->pool));
}

void sr_transition_due(const sr_service_t *service, sr_transition_t *transition)
{
    apr_array_header_t *due = apr_array_make(transition->pool, 4, sizeof(sr_signer_t *));
    sr_submission_due(&transition->signing->submission, due, transition->now);
    for (int i = 0; i < due->nelts; i++) {
        sr_signer_t *signer = APR_ARRAY_IDX(due, i, sr_signer_t *);
        sr_transition_change(transition, signer);
        sr_transition_event(transition, signer->uuid, "due", NULL);
        sr_transition_invite(service, transition, signer);
    }
}

/* The webhooks to call. Their bodies show the state that is committed with them. Links begin with the base URL of
 * the creation and not with the host of the signer's request, because receivers follow them with their token. */
static json_t *webhooks_json(const sr_service_t *service, const sr_transition_t *transition)
{
    const sr_signing_t *signing = transition->signing;
    const char *base_url = service->set_base_url ? service->set_base_url : signing->base_url;
    json_t *list = json_array();
    for (const char *const *kind = transition->kinds; *kind; kind++) {
        const bool is_sent = !strcmp(*kind, "sent"), all = is_sent || !strcmp(*kind, "completed");
        const sr_webhook_t webhook = {.kind = *kind,
                                      .at = transition->now,
                                      .submission = signing->submission.uuid,
                                      .signer = all ? NULL : signing->signer->uuid,
                                      .environment = signing->environment,
                                      .external_id = all ? NULL : signing->submission.external_id,
                                      .metadata = all ? NULL : signing->submission.metadata};
        if (!(is_sent || (all ? signing->tell_completed : signing->tell_signed))) continue;
        const char *told = all ? sr_submission_render(&signing->submission, transition->pool)
                               : sr_signer_render(&signing->submission, signing->signer, transition->pool);
        json_array_append_new(list, sr_webhook_row(&webhook, told, base_url, transition->pool));
    }
    json_array_extend(list, transition->jobs);
    return list;
}

void sr_transition_open(sr_transition_t *transition)
{
    if (sr_signing_may(transition->signing, SR_ACTION_OPEN, transition->pool)) return;
    sr_signing_open(transition->signing, transition->now);
    sr_transition_change(transition, transition->signing->signer);
    sr_transition_event(transition, transition->signing->signer->uuid, "opened", NULL);
}

/* Returns the fields of a signer of a draft that is sent, or of one who has signed, if some of them have values;
 * otherwise NULL. */
static json_t *filled_fields(const sr_transition_t *transition, const sr_signer_t *signer)
{
    if (!transition->sent && (signer->state != SR_SIGNER_COMPLETED || !sr_entries_any(signer))) return NULL;
    return sr_json_own(sr_signer_fields_json(signer), transition->pool);
}

/* Returns NULL if there is nothing to write. An empty object removes it from the row. */
static json_t *authentication_of(const sr_transition_t *transition, const sr_signer_t *signer)
{
    bool ends = false;
    for (int i = 0; i < transition->ended->nelts; i++)
        ends = ends || APR_ARRAY_IDX(transition->ended, i, sr_ended_arg_t).signer == signer->uuid;
    if (!signer->authentication && ends) return sr_json_own(json_object(), transition->pool);
    return sr_authentication_json(signer->authentication, transition->pool);
}

static apr_array_header_t *changed_signers(const sr_transition_t *transition)
{
    const apr_array_header_t *signers = transition->changed;
    apr_array_header_t *rows = apr_array_make(transition->pool, signers->nelts, sizeof(sr_signer_change_arg_t));
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = APR_ARRAY_IDX(signers, i, const sr_signer_t *);
        APR_ARRAY_PUSH(rows, sr_signer_change_arg_t) =
            (sr_signer_change_arg_t){.uuid = signer->uuid,
                                     .state = sr_signer_state_name(signer->state),
                                     .due_at = signer->due_at,
                                     .opened_at = signer->opened_at,
                                     .completed_at = signer->completed_at,
                                     .refused_at = signer->refused_at,
                                     .refusal_reason = signer->refusal_reason,
                                     .ip = signer->ip,
                                     .user_agent = signer->user_agent,
                                     .signature_type = signer->signature_type,
                                     .consent = signer->consent,
                                     .reminded_at = signer->reminded_at,
                                     .reminders = signer->reminders,
                                     .fields = filled_fields(transition, signer),
                                     .authentication = authentication_of(transition, signer)};
    }
    return rows;
}

/* Returns true if the link of a viewer ends. */
static bool closes_link(const sr_transition_t *transition)
{
    for (int i = 0; i < transition->seen->nelts; i++)
        if (APR_ARRAY_IDX(transition->seen, i, sr_viewer_change_arg_t).revoked_at) return true;
    return false;
}

static sr_change_arg_t change_of(const sr_transition_t *transition)
{
    const sr_signing_t *signing = transition->signing;
    const sr_submission_t *submission = &signing->submission;
    const char *certificate = submission->certificate_sha256;
    return (sr_change_arg_t){.signer = signing->signer ? signing->signer->uuid : NULL,
                             .seen = signing->events,
                             .seen_hash = signing->events_hash,
                             .saves = submission->saves,
                             .submission_state = sr_submission_state_name(submission->state),
                             .closed_at = submission->closed_at,
                             .expires_at = submission->expires_at,
                             .cancel_reason = submission->cancel_reason,
                             .held_at = submission->held_at,
                             .hold_reason = transition->hold_reason,
                             .copied_at = submission->copied_at,
                             .over = transition->deadline == SR_DEADLINE_AFTER,
                             .closes = closes_link(transition),
                             .representation_version = SR_REPRESENTATION_VERSION,
                             .signers = changed_signers(transition),
                             .viewers = transition->seen->nelts ? transition->seen : NULL,
                             .events = transition->events,
                             .feed = sr_feed_rows(transition->feed, transition->pool),
                             .certificate_sha256 = certificate,
                             .certificate_size = certificate ? submission->certificate_size : 0,
                             .stamped_until = transition->stamped_until,
                             .holder = transition->lock.holder};
}

/* --- jobs of a submission at a time */

static sr_times_t times_of(const sr_submission_t *submission)
{
    const bool open = submission->state == SR_SUBMISSION_OPEN, is_draft = submission->state == SR_SUBMISSION_DRAFT;
    const apr_time_t ends_at = is_draft ? submission->draft_until : open ? submission->expires_at : 0;
    return (sr_times_t){ends_at, sr_submission_remind_at(submission)};
}

/* Returns the jobs whose time changes. A transition that sets remind_at is made by such a job, which ends with it. */
static apr_array_header_t *transition_timers(const sr_transition_t *transition)
{
    const sr_times_t *before = &transition->before, after = times_of(&transition->signing->submission);
    apr_array_header_t *timers = apr_array_make(transition->pool, 2, sizeof(sr_timer_arg_t));
    if (after.expiry != before->expiry) sr_timer_add(timers, "expiry", after.expiry);
    if (transition->remind_at) sr_timer_add(timers, "remind", transition->remind_at);
    else if (after.remind != before->remind) sr_timer_add(timers, "remind", after.remind);
    return timers;
}

/* Sessions end with the submission, and when their signer has signed. Returns NULL if none do. */
static const apr_array_header_t *ended_sessions(sr_transition_t *transition)
{
    const sr_submission_t *submission = &transition->signing->submission;
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        const bool has_acted = signer == transition->signing->signer && signer->state == SR_SIGNER_COMPLETED;
        if (signer->authentication && (has_acted || submission->state != SR_SUBMISSION_OPEN))
            sr_transition_end_sessions(transition, signer);
    }
    return transition->ended->nelts ? transition->ended : NULL;
}

static sr_error_t *transition_change(const sr_service_t *service, sr_transition_t *transition, sr_outcome_t *outcome)
{
    apr_pool_t *pool = transition->pool;
    const sr_submission_t *submission = &transition->signing->submission;
    const char *webhooks = sr_json_list_text(webhooks_json(service, transition), pool);
    const apr_array_header_t *timers = transition_timers(transition);
    const sr_change_arg_t change = change_of(transition);
    sr_error_t *error = sr_store_signing_change(service->database, outcome, submission->uuid, submission->updated_at,
                                                &change, sr_submission_render(submission, pool), transition->folder,
                                                sr_contents_blobs(transition->contents, false, pool),
                                                transition->replaced, transition->revisions, webhooks, timers,
                                                ended_sessions(transition), transition->sent, pool);
    if (!error && *outcome == SR_OK) sr_service_wake_for(service, webhooks, timers);
    return error;
}

static sr_error_t *transition_erase(const sr_service_t *service, const sr_transition_t *transition,
                                    sr_outcome_t *outcome)
{
    const sr_event_arg_t *event = &APR_ARRAY_IDX(transition->events, 0, sr_event_arg_t);
    const sr_erasure_arg_t erasure = {.submission = transition->signing->submission.uuid,
                                      .now = transition->now,
                                      .seen = transition->signing->events,
                                      .seen_hash = transition->signing->events_hash,
                                      .hash = event->hash,
                                      .body = event->body,
                                      .feed = sr_feed_rows(transition->feed, transition->pool),
                                      .contents = transition->erased,
                                      .holder = transition->lock.holder};
    return sr_store_signing_erase(service->database, outcome, &erasure, transition->pool);
}

static sr_error_t *transition_commit(const sr_service_t *service, sr_transition_t *transition, sr_outcome_t *outcome)
{
    return transition->erased ? transition_erase(service, transition, outcome)
                              : transition_change(service, transition, outcome);
}

static void count_events(const sr_transition_t *transition)
{
    for (int i = 0; i < transition->told->nelts; i++)
        sr_metrics_count(SR_METRIC_EVENTS, transition->signing->environment,
                         sr_metrics_number(SR_LABEL_EVENT, APR_ARRAY_IDX(transition->told, i, const char *)), 1);
}

static sr_error_t *transition_try_once(const sr_service_t *service, sr_transition_t *transition,
                                       sr_transition_body_t body, void *baton, sr_outcome_t *outcome)
{
    *outcome = SR_OK;
    transition->now = sr_time_now();
    transition->number = transition->signing->events;
    transition->hash = transition->signing->events_hash;
    transition->events = apr_array_make(transition->pool, 4, sizeof(sr_event_arg_t));
    transition->feed = apr_array_make(transition->pool, 4, sizeof(sr_told_t));
    transition->seen = apr_array_make(transition->pool, 2, sizeof(sr_viewer_change_arg_t));
    transition->told = apr_array_make(transition->pool, 4, sizeof(const char *));
    transition->revisions = apr_array_make(transition->pool, 4, sizeof(sr_revision_arg_t));
    transition->contents = sr_contents_make(transition->pool);
    transition->folder = NULL;
    transition->changed = apr_array_make(transition->pool, 2, sizeof(sr_signer_t *));
    transition->ended = apr_array_make(transition->pool, 2, sizeof(sr_ended_arg_t));
    transition->jobs = sr_json_own(json_array(), transition->pool);
    transition->replaced = NULL;
    transition->erased = NULL;
    transition->hold_reason = NULL;
    transition->sent = NULL;
    transition->deadline = SR_DEADLINE_BEFORE;
    transition->remind_at = transition->stamped_until = 0;
    transition->before = times_of(&transition->signing->submission);
    memset(transition->kinds, 0, sizeof transition->kinds);
    SR_TRY(body(service, transition, baton));
    if (!transition->events->nelts) return NULL;
    sr_error_t *error = transition_commit(service, transition, outcome);
    if (!error) error = sr_service_refusal(*outcome, transition->pool);
    transition->lock.ended = !error && *outcome == SR_OK;
    if (transition->lock.ended) count_events(transition);
    /* also after an error, because the transaction may have been committed */
    sr_version_cache_changed(transition->signing->organization_uuid);
    for (int i = 0; i < transition->signing->submission.documents->nelts; i++)
        sr_version_cache_changed(APR_ARRAY_IDX(transition->signing->submission.documents, i, sr_document_state_t).uuid);
    return error;
}

/* Tries the transition until nobody else has changed the submission in between. */
static sr_error_t *try_all(const sr_service_t *service, sr_transition_t *transition, const sr_subject_t *subject,
                           sr_transition_body_t body, void *baton)
{
    sr_outcome_t outcome = SR_STALE;
    for (int i = 0; i < ATTEMPTS && outcome == SR_STALE; i++) {
        if (i) SR_TRY(sr_service_subject(service, &transition->signing, subject, transition->pool));
        SR_TRY(transition_try_once(service, transition, body, baton, &outcome));
    }
    if (outcome == SR_STALE)
        return sr_error(transition->pool, SR_EUNAVAILABLE, "Too many signers are signing now, try again in a moment");
    return NULL;
}

sr_error_t *sr_transition_take(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                               const sr_client_t *client, sr_transition_body_t body, void *baton, apr_pool_t *pool)
{
    sr_transition_t transition = {.signing = *signing, .client = client, .pool = pool};
    /* an expiry may come under the lock of another one */
    const bool locks =
        subject->signer || subject->viewer || subject->placement || subject->token_hash || subject->locks;
    if (locks) SR_TRY(sr_submission_lock_take(&transition.lock, service, &transition.signing, subject, pool));
    sr_error_t *error = try_all(service, &transition, subject, body, baton);
    if (locks) sr_submission_lock_release(&transition.lock);
    SR_TRY(error);
    *signing = transition.signing;
    return NULL;
}

sr_error_t *sr_transition_run(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                              const sr_client_t *client, sr_transition_body_t body, void *baton, apr_pool_t *pool)
{
    SR_TRY(sr_service_subject(service, signing, subject, pool));
    return sr_transition_take(service, signing, subject, client, body, baton, pool);
}

sr_error_t *sr_transition_error(sr_error_t *error)
{
    return error->code == SR_ENOTFOUND || error->code == SR_EGONE ? NULL : error;
}
