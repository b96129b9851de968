/* SPDX-License-Identifier: Apache-2.0 */
/* transition.c: one transition of a submission is one transaction. It names the last event that it has read. If the
 * submission has changed since then, nothing is written and the transition begins again with the present state. It
 * takes the submission lock before it reads, so this is rare even when all sign at once. */
#include "service/submission_lock.h"
#include "service/transition.h"

#include <string.h>

#define ATTEMPTS 20

void sr_transition_event(sr_transition_t *step, const char *signer, const char *kind, json_t *detail)
{
    json_t *own = sr_json_own(detail ? detail : json_object(), step->pool);
    sr_event_text_t text;
    const sr_event_t event = {kind, step->now, signer, signer ? *step->client : (sr_client_t){0}, own};
    sr_event_write(&text, &event, ++step->number, step->hash, step->pool);
    step->hash = text.hash;
    json_array_append_new(step->events, json_pack("{s:s,s:s}", "hash", text.hash, "body", text.body));
}

void sr_transition_notify(sr_transition_t *step, const char *kind)
{
    const char **end = step->kinds;
    while (*end) end++;
    *end = kind;
}

/* Their bodies show what is committed with them. Links begin with what the creator called us, never with what the
 * signer does: receivers follow them with the token. */
static json_t *webhooks_json(const sr_service_t *service, const sr_transition_t *step, const char *representation)
{
    const sr_signing_t *signing = step->signing;
    const char *base_url = service->set_base_url ? service->set_base_url : signing->base_url;
    json_t *list = json_array();
    for (const char *const *kind = step->kinds; *kind; kind++) {
        const bool all = !strcmp(*kind, "completed");
        const sr_webhook_t webhook = {*kind, step->now, signing->submission.uuid, all ? NULL : signing->signer->uuid,
                                      signing->environment};
        if (!(all ? signing->tell_completed : signing->tell_signed)) continue;
        const char *told = all ? representation : sr_signer_render(&signing->submission, signing->signer, step->pool);
        json_array_append_new(list, sr_webhook_row(&webhook, told, base_url, step->pool));
    }
    return list;
}

void sr_transition_open(sr_transition_t *step)
{
    if (sr_signing_may(step->signing, SR_ACTION_OPEN, step->pool)) return;
    sr_signing_open(step->signing, step->now);
    sr_transition_event(step, step->signing->signer->uuid, "opened", NULL);
}

static void set_time(json_t *row, const char *key, apr_time_t when)
{
    json_object_set_new(row, key, when ? json_integer(when) : json_null());
}

static void set_signer(json_t *row, const sr_signer_t *signer)
{
    json_object_set_new(row, "signer", json_string(signer->uuid));
    json_object_set_new(row, "state", json_string(sr_signer_state_name(signer->state)));
    set_time(row, "opened_at", signer->opened_at);
    set_time(row, "completed_at", signer->completed_at);
    set_time(row, "refused_at", signer->refused_at);
    json_object_set_new(row, "refusal_reason", sr_json_string_or_null(signer->refusal_reason));
    json_object_set_new(row, "ip", sr_json_string_or_null(signer->ip));
    json_object_set_new(row, "user_agent", sr_json_string_or_null(signer->user_agent));
    json_object_set_new(row, "signature_type", sr_json_string_or_null(signer->signature_type));
    json_object_set_new(row, "consent", sr_json_string_or_null(signer->consent));
}

/* The argument of SR_OP_SIGNING_CHANGE (store.h). */
static const char *change_text(const sr_service_t *service, const sr_transition_t *step)
{
    const sr_signing_t *signing = step->signing;
    const sr_submission_t *submission = &signing->submission;
    const char *certificate = submission->certificate_sha256;
    const char *representation = sr_submission_render(submission, step->pool);
    json_t *row = sr_json_own(json_object(), step->pool);
    set_signer(row, signing->signer);
    json_object_set_new(row, "submission", json_string(submission->uuid));
    json_object_set_new(row, "submission_state", json_string(sr_submission_state_name(submission->state)));
    json_object_set_new(row, "now", json_integer(step->now));
    json_object_set_new(row, "seen", json_integer(signing->events));
    json_object_set_new(row, "seen_hash", json_string(signing->events_hash));
    json_object_set_new(row, "representation", json_string(representation));
    json_object_set_new(row, "representation_version", json_integer(SR_REPRESENTATION_VERSION));
    json_object_set(row, "events", step->events);
    json_object_set(row, "revisions", step->revisions);
    json_object_set_new(row, "folder", sr_json_string_or_null(step->folder));
    json_object_set_new(row, "blobs", sr_contents_json(step->contents));
    json_object_set_new(row, "certificate_sha256", sr_json_string_or_null(certificate));
    json_object_set_new(row, "certificate_size",
                        certificate ? json_integer(submission->certificate_size) : json_null());
    json_object_set_new(row, "webhooks", webhooks_json(service, step, representation));
    return sr_json_text(row, step->pool);
}

static sr_error_t *try_once(const sr_service_t *service, sr_transition_t *step, sr_transition_body_t body, void *baton,
                            sr_outcome_t *outcome)
{
    *outcome = SR_OK;
    step->now = sr_time_now();
    step->number = step->signing->events;
    step->hash = step->signing->events_hash;
    step->events = sr_json_own(json_array(), step->pool);
    step->revisions = sr_json_own(json_array(), step->pool);
    step->contents = sr_contents_make(step->pool);
    step->folder = NULL;
    memset(step->kinds, 0, sizeof step->kinds);
    SR_TRY(body(service, step, baton));
    if (!json_array_size(step->events)) return NULL;
    const char *change = change_text(service, step);
    sr_error_t *error = sr_store_signing_change(service->database, outcome, change, step->pool);
    if (!error) error = sr_service_refusal(*outcome, step->pool);
    /* also after an error: it may have been committed all the same */
    for (int i = 0; i < step->signing->submission.documents->nelts; i++)
        sr_standing_changed(APR_ARRAY_IDX(step->signing->submission.documents, i, sr_document_state_t).uuid);
    return error;
}

sr_error_t *sr_transition_take(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                               sr_transition_body_t body, void *baton, apr_pool_t *pool)
{
    sr_transition_t step = {.signing = *signing, .client = client, .pool = pool};
    const char *signer = (*signing)->signer->uuid;
    sr_submission_lock_t lock;
    sr_outcome_t outcome = SR_STALE;
    sr_error_t *error = NULL;
    SR_TRY(sr_submission_lock_take(&lock, service, (*signing)->submission.uuid, pool));
    for (int i = 0; i < ATTEMPTS && !error && outcome == SR_STALE; i++) {
        /* what was read before the lock is good if nothing has changed since; what `body` has changed is not */
        error = i == 0 ? sr_service_signing_refresh(service, &step.signing, pool)
                       : sr_service_signing(service, &step.signing, signer, pool);
        if (!error) error = try_once(service, &step, body, baton, &outcome);
    }
    sr_submission_lock_release(&lock);
    SR_TRY(error);
    if (outcome == SR_STALE) return sr_error(pool, SR_EUNAVAILABLE, "Too many sign at once, try again in a moment");
    *signing = step.signing;
    if (step.kinds[0]) sr_service_wake(service);
    return NULL;
}
