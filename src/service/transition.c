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
static sr_error_t *webhooks_json(json_t **list, const sr_service_t *service, const sr_transition_t *step,
                                 const char *view)
{
    const sr_signing_t *signing = step->signing;
    const char *base_url = service->set_base_url ? service->set_base_url : signing->base_url;
    *list = sr_json_own(json_array(), step->pool);
    for (const char *const *kind = step->kinds; *kind; kind++) {
        const bool all = !strcmp(*kind, "completed");
        const sr_webhook_t webhook = {*kind, step->now, signing->submission, all ? NULL : signing->signer,
                                      signing->environment};
        json_t *row;
        if (!(all ? signing->tell_completed : signing->tell_signed)) continue;
        SR_TRY(sr_webhook_row(&row, &webhook, view, base_url, step->pool));
        json_array_append_new(*list, row);
    }
    return NULL;
}

void sr_transition_open(sr_transition_t *step)
{
    if (step->signing->state != SR_SIGNING_SENT) return;
    sr_signing_open(step->signing, step->now);
    sr_transition_event(step, step->signing->signer, "opened", NULL);
}

static json_t *time_of(const json_t *submitter, const char *key)
{
    const char *text = sr_json_string(submitter, key);
    apr_time_t when;
    return text && sr_time_parse(&when, text) ? json_integer(when) : json_null();
}

/* The argument of SR_OP_SIGNING_CHANGE (store.h). */
static sr_error_t *change_text(const char **text, const sr_service_t *service, const sr_transition_t *step)
{
    const sr_signing_t *signing = step->signing;
    const json_t *submitter = signing->submitter, *information = json_object_get(submitter, "signerInformation");
    const char *certificate = signing->certificate_sha256;
    const char *view = sr_submission_representation_write(signing->view, step->pool);
    json_t *row = sr_json_own(json_object(), step->pool), *webhooks;
    SR_TRY(webhooks_json(&webhooks, service, step, view));
    json_object_set_new(row, "submission", json_string(signing->submission));
    json_object_set_new(row, "signer", json_string(signing->signer));
    json_object_set_new(row, "now", json_integer(step->now));
    json_object_set_new(row, "seen", json_integer(signing->events));
    json_object_set_new(row, "seen_hash", json_string(signing->events_hash));
    json_object_set_new(row, "view", json_string(view));
    json_object_set(row, "status", json_object_get(submitter, "status"));
    json_object_set_new(row, "opened_at", time_of(submitter, "openedAt"));
    json_object_set_new(row, "completed_at", time_of(submitter, "completedAt"));
    json_object_set_new(row, "refused_at", time_of(submitter, "refusedAt"));
    json_object_set(row, "refusal_reason", json_object_get(submitter, "refusalReason"));
    json_object_set_new(row, "information",
                        json_is_object(information) ? json_string(sr_json_text(information, step->pool)) : json_null());
    json_object_set(row, "events", step->events);
    json_object_set(row, "revisions", step->revisions);
    json_object_set_new(row, "certificate_sha256", sr_json_string_or_null(certificate));
    json_object_set_new(row, "certificate_size", certificate ? json_integer(signing->certificate_size) : json_null());
    json_object_set(row, "webhooks", webhooks);
    *text = sr_json_text(row, step->pool);
    return NULL;
}

static sr_error_t *try_once(const sr_service_t *service, sr_transition_t *step, const char *signer,
                            sr_transition_body_t body, void *baton, sr_outcome_t *outcome)
{
    *outcome = SR_OK;
    SR_TRY(sr_service_signing(service, &step->signing, signer, step->pool));
    step->now = sr_time_now();
    step->number = step->signing->events;
    step->hash = step->signing->events_hash;
    step->events = sr_json_own(json_array(), step->pool);
    step->revisions = sr_json_own(json_array(), step->pool);
    memset(step->kinds, 0, sizeof step->kinds);
    SR_TRY(body(service, step, baton));
    if (!json_array_size(step->events)) return NULL;
    const char *change;
    SR_TRY(change_text(&change, service, step));
    sr_error_t *error = sr_service_call(service, SR_OP_SIGNING_CHANGE, NULL, outcome, &change, 1, step->pool);
    /* also after an error: it may have been committed all the same */
    for (int i = 0; i < step->signing->documents->nelts; i++)
        sr_standing_changed(APR_ARRAY_IDX(step->signing->documents, i, sr_document_state_t).uuid);
    return error;
}

sr_error_t *sr_transition_take(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                               sr_transition_body_t body, void *baton, apr_pool_t *pool)
{
    sr_transition_t step = {.client = client, .pool = pool};
    sr_submission_lock_t lock;
    sr_outcome_t outcome = SR_STALE;
    sr_error_t *error = NULL;
    SR_TRY(sr_submission_lock_take(&lock, service, (*signing)->submission, pool));
    for (int i = 0; i < ATTEMPTS && !error && outcome == SR_STALE; i++)
        error = try_once(service, &step, (*signing)->signer, body, baton, &outcome);
    sr_submission_lock_release(&lock);
    SR_TRY(error);
    if (outcome == SR_STALE) return sr_error(pool, SR_EUNAVAILABLE, "Too many sign at once, try again in a moment");
    *signing = step.signing;
    if (step.kinds[0]) sr_service_wake(service);
    return NULL;
}
