/* SPDX-License-Identifier: Apache-2.0 */
/* create.c: creates a submission (POST /signatures), or previews it (POST /signatures/preview). The checks have the
 * order of the contract's error table, and the first one that fails is the response. Nothing is stored before all have
 * passed. Then the documents are stored durably, and one transaction stores everything else. If the store refuses it
 * (quota, idempotency), `sigreqctl gc` removes the documents. */
#include "service/private.h"

#include <string.h>
#include <strings.h>

#include "metrics/metrics.h"
#include "service/submissions/copies.h"
#include "service/submissions/creation.h"
#include "service/submissions/drawn_preview.h"
#include "service/submissions/invite.h"
#include "service/submissions/templates.h"
#include "service/submissions/transition.h"
#include "service/submissions/uploads.h"

#define NAME_MAX_CHARACTERS 500
#define ATTEMPTS 5 /* to store the documents, if a collection removes them meanwhile */
#define IDEMPOTENCY_LIFETIME apr_time_from_sec(24 * 3600)

/* Forms have no booleans. PHP sends "1" and "" for true and false. */
static sr_error_t *read_boolean(bool *value, const char *name, const char *text, apr_pool_t *pool)
{
    *value = text && (!strcasecmp(text, "true") || !strcmp(text, "1"));
    if (!text || !*text || *value || !strcasecmp(text, "false") || !strcmp(text, "0")) return NULL;
    return sr_error(pool, SR_EBADREQUEST, "%s must be true or false", name);
}

/* A language without texts is not an error: another one is used, and the response has a warning. */
static sr_error_t *read_locale(const char **locale, const sr_create_t *request, apr_pool_t *pool)
{
    *locale = request->locale && *request->locale ? request->locale : NULL;
    if (!*locale) return NULL;
    if (!sr_locale_is_valid(*locale))
        return sr_error(pool, SR_EBADREQUEST, "locale must be a language tag (BCP 47), such as de or pt-BR");
    if (!sr_language_of(*locale))
        sr_remark(request->remarks, "there are no texts in %s, another language is used", *locale);
    return NULL;
}

/* *caption is NULL if the part is missing or blank. */
static sr_error_t *read_caption(const char **caption, const sr_create_t *request, apr_pool_t *pool)
{
    *caption = NULL;
    if (!request->caption || sr_text_is_blank(request->caption)) return NULL;
    return sr_caption_read(caption, request->caption, pool) ? NULL : sr_error(pool, SR_EBADREQUEST, SR_CAPTION_RULE);
}

static sr_error_t *create_check_name(const char *name, apr_pool_t *pool)
{
    if (!name || sr_text_is_blank(name)) return sr_error(pool, SR_EBADREQUEST, "A name must be provided");
    const char *fault = sr_text_fault(name, NAME_MAX_CHARACTERS, pool);
    if (fault) return sr_error(pool, SR_EBADREQUEST, "A name %s", fault);
    return NULL;
}

static apr_array_header_t *document_rows(const apr_array_header_t *documents, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, documents->nelts, sizeof(sr_document_arg_t));
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        const char *rewritten = sr_creation_rewritten(document);
        APR_ARRAY_PUSH(rows, sr_document_arg_t) = (sr_document_arg_t){
            .uuid = document->uuid,
            .name = document->name,
            .sha256 = document->sha256,
            .size = document->size,
            .pages = document->pages,
            .warnings = document->warnings ? sr_json_own(sr_warnings_names(document->warnings), pool) : NULL,
            .rewritten_sha256 = rewritten,
            .rewritten_size = rewritten ? document->base_size : 0};
    }
    return rows;
}

static const char *first_kind(const sr_submission_t *submission)
{
    return submission->state == SR_SUBMISSION_DRAFT ? "drafted" : "created";
}

/* The first event of the chain. The feed tells nothing of a draft. */
static void creation_event(sr_event_text_t *written, const apr_array_header_t **feed, const sr_create_t *request,
                           const sr_submission_t *submission, apr_pool_t *pool)
{
    json_t *detail = sr_creation_detail(submission, request->caller->uuid, request->template != NULL, pool);
    const sr_event_t event = {first_kind(submission), submission->created_at, NULL, request->client, detail};
    sr_event_write(written, &event, 1, NULL, pool);
    apr_array_header_t *told = apr_array_make(pool, 1, sizeof(sr_told_t));
    sr_feed_tell(told, &event, written->hash, pool);
    *feed = sr_feed_rows(told, pool);
}

static apr_array_header_t *signer_rows(const apr_array_header_t *signers, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, signers->nelts, sizeof(sr_signer_arg_t));
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        APR_ARRAY_PUSH(rows, sr_signer_arg_t) =
            (sr_signer_arg_t){.uuid = signer->uuid,
                              .state = sr_signer_state_name(signer->state),
                              .firstname = signer->firstname,
                              .lastname = signer->lastname,
                              .email = signer->email,
                              .locale = signer->locale,
                              .fields = sr_json_own(sr_signer_fields_json(signer), pool),
                              .signing_order = signer->order,
                              .authentication = sr_authentication_json(signer->authentication, pool)};
    }
    return rows;
}

/* The links of those who see it when it is completed are not in use yet. */
static apr_array_header_t *viewer_rows(const apr_array_header_t *viewers, apr_time_t sent_at, apr_pool_t *pool)
{
    apr_array_header_t *rows = viewers ? apr_array_make(pool, viewers->nelts, sizeof(sr_viewer_arg_t)) : NULL;
    for (int i = 0; viewers && i < viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(viewers, i, sr_viewer_t);
        APR_ARRAY_PUSH(rows, sr_viewer_arg_t) =
            (sr_viewer_arg_t){.uuid = viewer->uuid,
                              .kind = viewer->is_copy ? "copy" : "viewer",
                              .shown_when = viewer->when_completed ? "completed" : "sent",
                              .firstname = viewer->firstname,
                              .lastname = viewer->lastname,
                              .email = viewer->email,
                              .sent_at = viewer->when_completed ? 0 : sent_at};
    }
    return rows;
}

static void add_invitations(json_t *webhooks, const sr_service_t *service, const sr_create_t *request,
                            const sr_submission_t *submission, apr_pool_t *pool)
{
    if (!submission->send_email) return;
    const sr_inviter_t inviter = {request->caller->organization_name, request->caller->environment,
                                  service->set_base_url, sr_service_theme(service, pool)};
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        if (signer->state == SR_SIGNER_SENT)
            json_array_append_new(webhooks, sr_invitation_row(submission, signer, &inviter, pool));
    }
    sr_views_write(webhooks, submission, &inviter, false, pool);
}

/* Returns NULL if there are none. */
static const char *webhooks_text(const sr_service_t *service, const sr_create_t *request,
                                 const sr_submission_t *submission, const char *representation, apr_pool_t *pool)
{
    const sr_webhook_t sent = {.kind = "sent",
                               .at = submission->created_at,
                               .submission = submission->uuid,
                               .environment = request->caller->environment};
    json_t *webhooks = json_array();
    if (submission->state == SR_SUBMISSION_DRAFT) return NULL;
    if (request->caller->sent_webhook_url)
        json_array_append_new(webhooks, sr_webhook_row(&sent, representation, service->base_url, pool));
    add_invitations(webhooks, service, request, submission, pool);
    return sr_json_list_text(webhooks, pool);
}

/* The jobs that the submission needs at a time. */
static apr_array_header_t *create_timers(const sr_submission_t *submission, apr_pool_t *pool)
{
    apr_array_header_t *timers = apr_array_make(pool, 2, sizeof(sr_timer_arg_t));
    const apr_time_t remind_at = sr_submission_remind_at(submission);
    const apr_time_t ends_at = submission->draft_until ? submission->draft_until : submission->expires_at;
    if (ends_at) sr_timer_add(timers, "expiry", ends_at);
    if (remind_at) sr_timer_add(timers, "remind", remind_at);
    return timers;
}

static sr_creation_arg_t creation_of(const sr_service_t *service, const sr_create_t *request,
                                     const sr_submission_t *submission, bool only_replay, apr_pool_t *pool)
{
    const sr_reminders_t *reminders = &submission->reminders;
    const char *reminding = reminders->most ? sr_json_text(sr_service_reminders(service, reminders, pool), pool) : NULL;
    const apr_array_header_t *feed;
    sr_event_text_t event;
    creation_event(&event, &feed, request, submission, pool);
    return (sr_creation_arg_t){
        .name = submission->name,
        .template_uuid = submission->template_uuid,
        .skip_intro = submission->skip_intro,
        .send_email = submission->send_email,
        .search = sr_submission_search_text(submission, pool),
        .base_url = service->base_url,
        .warnings = submission->warnings,
        .representation_version = SR_REPRESENTATION_VERSION,
        .expires_at = submission->expires_at,
        .external_id = submission->external_id,
        .redirect_url = submission->redirect_url,
        .reminders = reminding,
        .options = sr_options_json(&submission->options, pool),
        .event_hash = event.hash,
        .event = event.body,
        .event_personal = event.personal,
        .documents = document_rows(submission->documents, pool),
        .signers = signer_rows(submission->signers, pool),
        .viewers = viewer_rows(submission->viewers, submission->draft_until ? 0 : submission->created_at, pool),
        .feed = feed,
        .fingerprint = request->idempotency_key ? sr_fingerprint(request, submission, pool) : NULL,
        .idempotency_since = submission->created_at - IDEMPOTENCY_LIFETIME,
        .only_replay = only_replay,
        .from_template = request->template != NULL,
        .draft_until = submission->draft_until,
        .placement = submission->placement,
        .placement_until = submission->placement_until};
}

static sr_error_t *create_check_pages(const sr_service_t *service, const apr_array_header_t *documents,
                                      apr_pool_t *pool)
{
    apr_int64_t pages = 0;
    for (int i = 0; i < documents->nelts; i++) pages += APR_ARRAY_IDX(documents, i, sr_document_t).pages->count;
    if (pages <= service->settings->max_pages) return NULL;
    return sr_error(pool, SR_EBADREQUEST, "All documents together must have at most %d pages",
                    service->settings->max_pages);
}

/* Returns an error, or keeps it for a request that may be a replay: the store decides that. */
static sr_error_t *unless_replay(sr_preflight_t *preflight, sr_error_t *error, bool may_be_late,
                                 const sr_create_t *request)
{
    if (!error || !may_be_late || !request->idempotency_key) return error;
    if (!preflight->unless_replay) preflight->unless_replay = error;
    return NULL;
}

/* What the request says about the life of the submission. */
static sr_error_t *read_life(const sr_service_t *service, sr_preflight_t *preflight, sr_submission_t *submission,
                             const sr_create_t *request, apr_pool_t *pool)
{
    const apr_time_t now = sr_time_now();
    sr_error_t *error = sr_deadline_read(&submission->expires_at, request->expires_at, now, pool);
    const bool over = submission->expires_at && submission->expires_at <= now;
    SR_TRY(unless_replay(preflight, error, over, request));
    SR_TRY(sr_external_id_read(&submission->external_id, request->external_id, pool));
    SR_TRY(sr_metadata_read(&submission->metadata, request->metadata, request->metadata_length, pool));
    SR_TRY(sr_redirect_read(&submission->redirect_url, request->redirect_url, service->settings->redirects, pool));
    SR_TRY(sr_reminders_read(&submission->reminders, request->reminders, request->reminders_length,
                             submission->send_email, pool));
    SR_TRY(sr_options_read(&submission->options, &request->options, pool));
    if (submission->options.reply_to && !submission->send_email)
        sr_remark(request->remarks, "without sendEmail, replyTo is used only for mails that are requested later");
    SR_TRY(sr_viewers_read(&submission->viewers, &request->options.viewers, &submission->options,
                           request->caller->user.email, pool));
    if (submission->options.copies && !service->child->sends_mail)
        return sr_error(pool, SR_EUNAVAILABLE, "This service sends no mail (SigreqSMTP): copies must be left out");
    if (!submission->expires_at && service->settings->expiry && !submission->draft_until)
        submission->expires_at = now + service->settings->expiry;
    return NULL;
}

/* The submission of the template was deleted: only what a replay needs is read. */
static sr_error_t *create_check_replay(sr_submission_t *submission, const sr_preflight_t *preflight,
                                       const sr_create_t *request, apr_pool_t *pool)
{
    if (!request->name || !request->signers) return preflight->unless_replay;
    SR_TRY(read_boolean(&submission->skip_intro, "skipIntro", request->skip_intro, pool));
    SR_TRY(read_boolean(&submission->send_email, "sendEmail", request->send_email, pool));
    submission->name = request->name;
    submission->documents = apr_array_make(pool, 1, sizeof(sr_document_state_t));
    submission->signers = apr_array_make(pool, 1, sizeof(sr_signer_t));
    return NULL;
}

/* What the checks have appended to documents is made again when the draft is sent. */
static void create_draft(const sr_service_t *service, const sr_preflight_t *preflight, sr_submission_t *submission)
{
    submission->state = SR_SUBMISSION_DRAFT;
    submission->draft_until = sr_time_now() + service->child->draft_lifetime;
    for (int i = 0; i < preflight->documents->nelts; i++) {
        APR_ARRAY_IDX(preflight->documents, i, sr_document_t).prepared = (sr_prepared_t){0};
        APR_ARRAY_IDX(preflight->files, i, sr_files_t).prepared = NULL;
    }
}

/* All checks that need neither disk nor database, in the contract's order. */
static sr_error_t *create_check(const sr_service_t *service, sr_preflight_t *preflight, sr_submission_t *submission,
                                const sr_create_t *request, apr_pool_t *pool)
{
    apr_array_header_t *signers;
    const char *locale, *caption;
    bool is_draft;
    SR_TRY(sr_uploads_check(service, preflight, request, pool));
    if (preflight->template) submission->template_uuid = preflight->template;
    if (preflight->template && !preflight->roles) return create_check_replay(submission, preflight, request, pool);
    SR_TRY(create_check_pages(service, preflight->documents, pool));
    SR_TRY(create_check_name(request->name, pool));
    if (!request->signers || !request->signers_length)
        return sr_error(pool, SR_EBADREQUEST, "A signers must be provided");
    SR_TRY(read_boolean(&submission->skip_intro, "skipIntro", request->skip_intro, pool));
    SR_TRY(read_boolean(&submission->send_email, "sendEmail", request->send_email, pool));
    SR_TRY(read_boolean(&is_draft, "draft", request->draft, pool));
    preflight->draft = is_draft;
    SR_TRY(read_locale(&locale, request, pool));
    SR_TRY(read_caption(&caption, request, pool));
    const sr_signers_rules_t rules = {.send_email = submission->send_email,
                                      .default_origin = service->settings->area_origin,
                                      .locale = locale,
                                      .caption = caption,
                                      .max_signers = service->settings->max_signers,
                                      .max_fields = service->settings->max_fields,
                                      .template = preflight->template,
                                      .roles = preflight->roles,
                                      .draft = is_draft,
                                      .remarks = request->remarks};
    SR_TRY(sr_signers_parse(&signers, request->signers, request->signers_length, &rules, pool));
    SR_TRY(sr_preflight_forms(preflight, signers, request, pool));
    SR_TRY(sr_preflight_texts(preflight, signers, service->settings->max_fields, request, pool));
    const sr_resolving_t resolving = {service->settings->max_fields, request->remarks, is_draft};
    SR_TRY(sr_signers_resolve(signers, preflight->documents, &resolving, pool));
    SR_TRY(sr_signers_check_texts(request->name, signers, preflight->documents, pool));
    sr_signers_remark(request->remarks, signers, preflight->documents);
    SR_TRY(sr_preflight(service, preflight, signers, request, pool));
    if (submission->send_email && !service->child->sends_mail)
        return sr_error(pool, SR_EUNAVAILABLE,
                        "This service sends no mail (SigreqSMTP): sendEmail must be false or left out");
    for (int i = 0; i < signers->nelts; i++)
        SR_TRY(sr_authentication_check(service, APR_ARRAY_IDX(signers, i, sr_signer_t).authentication, pool));
    if (is_draft) create_draft(service, preflight, submission);
    SR_TRY(read_life(service, preflight, submission, request, pool));
    submission->name = request->name;
    json_t *warnings = sr_remarks_json(request->remarks);
    submission->documents = sr_document_states(preflight->documents, pool);
    submission->signers = signers;
    sr_submission_due(submission, apr_array_make(pool, signers->nelts, sizeof(sr_signer_t *)), sr_time_now());
    submission->warnings = warnings ? sr_json_own(warnings, pool) : NULL;
    return NULL;
}

/* *outcome is SR_STALE if a collection has removed a content to which the row would refer. *unwanted: as in keep. */
static sr_error_t *create_try_once(const sr_service_t *service, const char **representation, sr_outcome_t *outcome,
                                   bool *unwanted, const sr_submission_t *submission, const sr_preflight_t *preflight,
                                   const sr_create_t *request, apr_pool_t *pool)
{
    apr_array_header_t *contents = sr_contents_make(pool);
    const sr_representation_row_t *row;
    const char *folder, *metadata = submission->metadata ? sr_json_text(submission->metadata, pool) : NULL;
    const char *rendered = sr_submission_render(submission, pool);
    const char *webhooks = webhooks_text(service, request, submission, rendered, pool);
    const apr_array_header_t *timers = create_timers(submission, pool);
    *unwanted = true;
    SR_TRY(sr_uploads_commit(service, contents, preflight, request, pool));
    SR_TRY(sr_contents_folder(&folder, request->uploads->documents, pool));
    const sr_creation_arg_t creation = creation_of(service, request, submission, preflight->unless_replay, pool);
    sr_error_t *error = sr_store_submission_create(
        service->database, outcome, &row, request->token_hash, submission->created_at, submission->uuid, &creation,
        rendered, metadata, request->idempotency_key, folder, sr_contents_blobs(contents, false, pool),
        sr_contents_blobs(contents, true, pool), sr_creation_revisions(submission, pool), webhooks, timers, pool);
    if (!error && *outcome == SR_OK) {
        sr_service_wake_for(service, webhooks, timers);
        sr_version_cache_changed(request->caller->organization_uuid);
        sr_metrics_count(SR_METRIC_EVENTS, request->caller->environment,
                         sr_metrics_number(SR_LABEL_EVENT, first_kind(submission)), 1);
    }
    if (!error && *outcome == SR_CONFLICT)
        error = sr_fingerprint_conflict(sr_fingerprint(request, submission, pool), row->representation, pool);
    if (!error && *outcome == SR_GONE) error = preflight->unless_replay;
    if (!error && *outcome == SR_MISSING) error = sr_template_unknown(request->template, pool);
    if (!error) error = sr_service_refusal(*outcome, pool);
    *representation = row ? row->representation : rendered;
    *unwanted = error && error->code != SR_EUNAVAILABLE && error->code != SR_EINTERNAL;
    return error;
}

/* Stores the documents, then the row that refers to them. *unwanted is true if documents were stored and certainly
 * no row refers to them. If the connection was lost, the transaction may have been committed. */
static sr_error_t *create_keep(const sr_service_t *service, const char **uuid, const char **representation,
                               bool *unwanted, sr_submission_t *submission, const sr_preflight_t *preflight,
                               const sr_create_t *request, apr_pool_t *pool)
{
    sr_outcome_t outcome = SR_STALE;
    submission->created_at = submission->updated_at = sr_time_now();
    submission->created_by = request->caller->user;
    for (int i = 0; i < ATTEMPTS && outcome == SR_STALE; i++) {
        if (i > 0) SR_TRY(sr_uploads_stale(service, preflight, request, pool));
        SR_TRY(create_try_once(service, representation, &outcome, unwanted, submission, preflight, request, pool));
    }
    if (outcome == SR_STALE)
        return sr_error_because(
            sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be stored at the moment, try again later"), pool,
            "sigreqctl gc has removed them %d times", ATTEMPTS);
    if (*representation) /* of a replay: that of the first response */
        *uuid = outcome == SR_REPLAY ? sr_representation_uuid(*representation, pool) : submission->uuid;
    return *uuid ? NULL : sr_error(pool, SR_EINTERNAL, "The store gave no submission");
}

static void create_hide_codes(const sr_submission_t *submission, apr_pool_t *pool)
{
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        if (signer->authentication) sr_authentication_hide(signer->authentication, pool);
    }
}

/* Counts invitations, copies and mails to viewers. At the limit only a replay is answered. */
static sr_error_t *count_invitations(sr_inviting_t *inviting, sr_preflight_t *preflight,
                                     const sr_submission_t *submission, const sr_create_t *request, apr_pool_t *pool)
{
    int others;
    const apr_array_header_t *addresses = sr_creation_addresses(&others, submission, pool);
    if (!addresses->nelts || preflight->unless_replay || submission->state == SR_SUBMISSION_DRAFT) return NULL;
    return unless_replay(preflight, sr_invite_take(inviting, addresses, others, pool), true, request);
}

sr_error_t *sr_service_create(const sr_service_t *service, const char **uuid, const char **representation,
                              const sr_create_t *request, apr_pool_t *pool)
{
    sr_submission_t submission = {.uuid = sr_uuid_make(pool), .template_uuid = sr_uuid_make(pool)};
    sr_inviting_t inviting = {service, request->caller->organization_uuid, request->caller->environment, NULL};
    sr_preflight_t preflight = {0};
    bool unwanted = false;
    *uuid = NULL;
    sr_blobs_own(request->uploads->documents,
                 sr_owner_of(request->caller->organization_uuid, request->caller->environment, pool));
    SR_TRY(sr_service_folder(service, request->uploads->documents, pool));
    sr_error_t *error = create_check(service, &preflight, &submission, request, pool);
    if (!error) error = count_invitations(&inviting, &preflight, &submission, request, pool);
    if (!error) create_hide_codes(&submission, pool);
    if (submission.draft_until) {
        submission.placement = sr_uuid_make(pool);
        submission.placement_until = sr_time_now() + SR_PLACEMENT_LIFETIME;
    }
    if (!error) error = create_keep(service, uuid, representation, &unwanted, &submission, &preflight, request, pool);
    sr_uploads_drop(&preflight);
    if (unwanted) sr_uploads_forget(&preflight, request, pool);
    const bool created = *uuid && !strcmp(*uuid, submission.uuid);
    if (!created) sr_invite_give_back(&inviting);
    return error;
}

/* Removes what only a submission that is stored has. */
static void create_unname(sr_submission_t *submission, apr_pool_t *pool)
{
    submission->template_uuid = NULL;
    for (int i = 0; i < submission->documents->nelts; i++)
        APR_ARRAY_IDX(submission->documents, i, sr_document_state_t).uuid = NULL;
    for (int i = 0; i < submission->signers->nelts; i++) APR_ARRAY_IDX(submission->signers, i, sr_signer_t).uuid = NULL;
    for (int i = 0; submission->viewers && i < submission->viewers->nelts; i++)
        APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t).uuid = NULL;
    if (!submission->warnings) submission->warnings = sr_json_own(json_array(), pool);
}

sr_error_t *sr_service_create_preview(const sr_service_t *service, sr_previewed_t *previewed,
                                      const sr_create_t *request, const sr_preview_view_t *view, apr_pool_t *pool)
{
    sr_submission_t submission = {.created_by = request->caller->user};
    sr_preflight_t preflight = {0};
    sr_service_t own = *service;
    own.pdf = sr_pdf_pool_for_preview(service->pdf, pool);
    sr_blobs_own(request->uploads->documents,
                 sr_owner_of(request->caller->organization_uuid, request->caller->environment, pool));
    *previewed = (sr_previewed_t){0};
    sr_error_t *error = create_check(&own, &preflight, &submission, request, pool);
    if (!error && view->form != SR_VIEW_JSON)
        error = sr_preview_draw(&own, previewed, &preflight, submission.signers, request, view, pool);
    sr_uploads_drop(&preflight);
    SR_TRY(error);
    create_unname(&submission, pool);
    previewed->representation = sr_submission_render(&submission, pool);
    return NULL;
}
