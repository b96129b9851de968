/* SPDX-License-Identifier: Apache-2.0 */
/* signing.c: a submission from the view of one of its signers: what they may do, by the table of states.c, and how
 * that changes the records. */
#include "model/model.h"

#include <string.h>

static const char *const state_names[SR_SIGNING_STATE_COUNT] = {
    [SR_SIGNING_SENT] = "sent",           [SR_SIGNING_OPENED] = "opened",   [SR_SIGNING_COMPLETED] = "completed",
    [SR_SIGNING_REFUSED] = "refused",     [SR_SIGNING_CLOSED] = "closed",   [SR_SIGNING_WAITING] = "waiting",
    [SR_SIGNING_CANCELLED] = "cancelled", [SR_SIGNING_EXPIRED] = "expired",
};

const char *sr_signing_state_name(sr_signing_state_t state)
{
    return state_names[state];
}

sr_signing_state_t sr_signing_state(const sr_signing_t *signing)
{
    if (signing->signer->state == SR_SIGNER_COMPLETED) return SR_SIGNING_COMPLETED;
    if (signing->signer->state == SR_SIGNER_REFUSED) return SR_SIGNING_REFUSED;
    if (signing->submission.state == SR_SUBMISSION_CANCELLED) return SR_SIGNING_CANCELLED;
    if (signing->submission.state == SR_SUBMISSION_EXPIRED || signing->submission.late) return SR_SIGNING_EXPIRED;
    if (signing->submission.state != SR_SUBMISSION_OPEN) return SR_SIGNING_CLOSED;
    if (signing->signer->state == SR_SIGNER_WAITING) return SR_SIGNING_WAITING;
    return signing->signer->state == SR_SIGNER_OPENED ? SR_SIGNING_OPENED : SR_SIGNING_SENT;
}

/* Returns the message why an action is not possible in a state. */
static const char *conflict(sr_signing_state_t state, sr_action_t action)
{
    const bool refuse = action == SR_ACTION_REFUSE;
    switch (state) {
    case SR_SIGNING_COMPLETED:
        return refuse ? "You have signed already, and can no longer refuse" : "You have signed already";
    case SR_SIGNING_REFUSED: return refuse ? "You have refused already" : "You have refused to sign";
    case SR_SIGNING_CLOSED: return "Somebody else has refused to sign, which has closed this signature request";
    case SR_SIGNING_WAITING: return "It is not your turn yet";
    case SR_SIGNING_CANCELLED: return "This signature request was withdrawn";
    case SR_SIGNING_EXPIRED: return "The deadline of this signature request is over";
    default: return "This is not possible at present";
    }
}

static sr_error_t *signing_refusal(const sr_signing_t *signing, sr_action_t action, apr_pool_t *pool)
{
    const sr_signing_state_t state = sr_signing_state(signing);
    const bool gone = state == SR_SIGNING_CANCELLED || state == SR_SIGNING_EXPIRED;
    return sr_error(pool, gone ? SR_EGONE : SR_ECONFLICT, "%s", conflict(state, action));
}

sr_error_t *sr_signing_may(const sr_signing_t *signing, sr_action_t action, apr_pool_t *pool)
{
    sr_signer_state_t signer = signing->signer->state;
    sr_submission_state_t submission = signing->submission.state;
    if (signing->submission.late || !sr_state_change(&signer, &submission, action))
        return signing_refusal(signing, action, pool);
    if (action != SR_ACTION_REFUSE || signing->submission.options.refusal != SR_REFUSAL_NEVER) return NULL;
    return sr_error(pool, SR_ECONFLICT, "This signature request cannot be refused");
}

sr_error_t *sr_signing_may_see(const sr_signing_t *signing, apr_pool_t *pool)
{
    const sr_signing_state_t state = sr_signing_state(signing);
    const bool was_due = signing->signer->state != SR_SIGNER_WAITING;
    if (was_due && state != SR_SIGNING_CANCELLED && state != SR_SIGNING_EXPIRED) return NULL;
    return signing_refusal(signing, SR_ACTION_OPEN, pool);
}

/* --- reading */

static sr_error_t *signing_spoilt(apr_pool_t *pool, const char *what)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "signing row: %s", what);
}

static apr_int64_t signing_number(const json_t *row, const char *key)
{
    return (apr_int64_t)json_integer_value(json_object_get(row, key));
}

sr_error_t *sr_signing_parse(sr_signing_t **signing, const char *row, const char *signer, apr_pool_t *pool)
{
    sr_signing_t *made = *signing = apr_pcalloc(pool, sizeof *made);
    json_t *json;
    SR_TRY(sr_json_read(&json, row, pool));
    const char *environment = sr_json_string(json, "environment");
    const json_t *record = json_object_get(json, "submission");
    made->organization = sr_json_string(json, "organization");
    made->organization_uuid = sr_json_string(json, "organization_uuid");
    made->environment = environment && !strcmp(environment, "production") ? SR_PRODUCTION : SR_TEST;
    made->events = (int)signing_number(record, "events");
    made->events_hash = sr_json_string(record, "events_hash");
    made->version = sr_json_string(json, "version");
    made->tell_signed = signing_number(json, "tell_signed") == 1;
    made->tell_completed = signing_number(json, "tell_completed") == 1;
    made->base_url = sr_json_string(json, "base_url");
    made->clock = signing_number(json, "clock");
    if (!environment || !made->organization || !made->organization_uuid || !made->base_url || !made->events_hash
        || !made->version || !made->events)
        return signing_spoilt(pool, "incomplete");
    SR_TRY(sr_submission_parse(&made->submission, record, pool));
    made->submission.late = signing_number(json, "late") == 1;
    if (!signer) return NULL;
    made->signer = sr_submission_signer(&made->submission, signer);
    return made->signer ? NULL : signing_spoilt(pool, "it lacks the signer");
}

/* --- asking */

sr_document_state_t *sr_signing_document(const sr_signing_t *signing, const char *uuid)
{
    const apr_array_header_t *documents = signing->submission.documents;
    for (int i = 0; i < documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        if (!strcasecmp(document->uuid, uuid)) return document;
    }
    return NULL;
}

#define SUBMISSION ", submission "

const char *sr_signing_contact(const sr_signing_t *signing, apr_pool_t *pool)
{
    return apr_pstrcat(pool, signing->organization, SUBMISSION, signing->submission.uuid, NULL);
}

const char *sr_signing_contact_split(const char **uuid, const char *contact, apr_pool_t *pool)
{
    const size_t length = strlen(contact), tail = sizeof SUBMISSION - 1 + SR_UUID_LENGTH;
    const char *end = length > tail ? contact + length - tail : contact;
    *uuid = !strncmp(end, SUBMISSION, sizeof SUBMISSION - 1) ? end + sizeof SUBMISSION - 1 : NULL;
    if (*uuid && sr_uuid_valid(*uuid)) return apr_pstrmemdup(pool, contact, (apr_size_t)(end - contact));
    *uuid = NULL;
    return contact;
}

const char *sr_signing_reason(const sr_signing_t *signing, const char *what, apr_pool_t *pool)
{
    return apr_pstrcat(pool, what, ": ", signing->submission.name, NULL);
}

/* --- actions */

static void signing_act(sr_signing_t *signing, sr_action_t action, apr_time_t when)
{
    sr_state_change(&signing->signer->state, &signing->submission.state, action);
    if (!signing->signer->opened_at) signing->signer->opened_at = when;
    signing->submission.updated_at = when;
}

void sr_signing_open(sr_signing_t *signing, apr_time_t when)
{
    signing_act(signing, SR_ACTION_OPEN, when);
}

void sr_signing_refuse(sr_signing_t *signing, apr_time_t when, const char *reason)
{
    signing_act(signing, SR_ACTION_REFUSE, when);
    signing->submission.closed_at = when;
    signing->signer->refused_at = when;
    signing->signer->refusal_reason = reason;
}

void sr_signing_complete(sr_signing_t *signing, apr_time_t when, const sr_client_t *client, const char *kind,
                         const char *consent)
{
    sr_signer_t *signer = signing->signer;
    signing_act(signing, SR_ACTION_SIGN, when);
    signer->completed_at = when;
    signer->ip = client->ip;
    signer->user_agent = client->user_agent;
    signer->signature_type = kind;
    signer->consent = consent;
}

void sr_signing_certify(sr_signing_t *signing, const char *sha256, apr_off_t size)
{
    sr_submission_t *submission = &signing->submission;
    sr_state_change(NULL, &submission->state, SR_ACTION_COMPLETE);
    submission->closed_at = submission->updated_at;
    submission->certificate_sha256 = sha256;
    submission->certificate_size = size;
}
