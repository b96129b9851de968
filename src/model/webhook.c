/* SPDX-License-Identifier: Apache-2.0 */
/* webhook.c: the body of webhook calls and of invitations. The body is made when the event happens and stored with
 * it, so that a late call reports the state at that time. Two members are added when the call is made, because they
 * belong to the call: the token's uuid and the URL (store.h, SR_OP_JOB_BATCH). */
#include "model/model.h"

#include <apr_uri.h>
#include <string.h>
#include <strings.h>

static json_t *event_json(const sr_webhook_t *webhook, const char *event_id)
{
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string(webhook->kind));
    json_object_set_new(object, "submissionId", sr_json_string_or_null(webhook->submission));
    json_object_set_new(object, "eventId", json_string(event_id));
    json_object_set_new(object, "environment", json_string(sr_environment_name(webhook->environment)));
    return object;
}

json_t *sr_webhook_row(const sr_webhook_t *webhook, const char *text, const char *base_url, apr_pool_t *pool)
{
    const char *event_id = sr_uuid_make(pool);
    json_t *object = sr_json_own(event_json(webhook, event_id), pool), *row = json_object();
    /* for a submission, createdAt is the time of its creation, as in GET */
    if (webhook->signer) json_object_set_new(object, "createdAt", sr_time_json(webhook->at));
    if (webhook->external_id) json_object_set_new(object, "externalId", json_string(webhook->external_id));
    if (webhook->metadata) json_object_set_new(object, "metadata", json_incref((json_t *)webhook->metadata));
    const char *head = sr_json_text(object, pool);
    const char *body = apr_pstrcat(pool, apr_pstrndup(pool, head, strlen(head) - 1), ",", text + 1, NULL);
    json_object_set_new(row, "event_id", json_string(event_id));
    json_object_set_new(row, "kind", json_string(webhook->kind));
    json_object_set_new(row, "body", json_string(sr_text_with_base(body, base_url, pool)));
    return row;
}

json_t *sr_webhook_test(sr_environment_t environment, const char *event_id, apr_time_t now)
{
    const sr_webhook_t webhook = {.kind = "test", .environment = environment};
    json_t *object = event_json(&webhook, event_id);
    json_object_set_new(object, "createdAt", sr_time_json(now));
    return object;
}

/* Adds the sender's words and replyTo. `signOnly` is there if the signer cannot decline. */
static void mail_add_options(json_t *body, const sr_options_t *options, apr_pool_t *pool)
{
    json_t *message = json_object_get(sr_options_json(options, pool), "message");
    if (message) json_object_set(body, "message", message);
    if (options->reply_to) json_object_set_new(body, "replyTo", json_string(options->reply_to));
    if (options->refusal == SR_REFUSAL_NEVER) json_object_set_new(body, "signOnly", json_true());
}

/* Returns the body of a mail. It belongs to the pool. */
static json_t *mail_body(const sr_submission_t *submission, const sr_recipient_t *to, const sr_inviter_t *inviter,
                         apr_pool_t *pool)
{
    const sr_person_t *sender = &submission->created_by;
    const char *link = inviter->base_url ? apr_pstrcat(pool, inviter->base_url, to->path, NULL) : NULL;
    json_t *body = sr_json_own(json_object(), pool), *documents = json_array();
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        json_array_append_new(documents, json_pack("{s:s,s:i}", "name", document->name, "count", document->pages));
    }
    json_object_set_new(body, "email", json_string(to->email));
    if (to->name) json_object_set_new(body, "signer", json_string(to->name));
    json_object_set_new(body, "sender", json_string(sr_person_name(sender->firstname, sender->lastname, pool)));
    json_object_set_new(body, "address", sr_json_string_or_null(sender->email));
    json_object_set_new(body, "organization", sr_json_string_or_null(inviter->organization));
    json_object_set_new(body, "environment", json_string(sr_environment_name(inviter->environment)));
    json_object_set_new(body, "name", json_string(submission->name));
    json_object_set_new(body, "request", json_string(sr_submission_number(submission->uuid, pool)));
    json_object_set_new(body, "documents", documents);
    json_object_set_new(body, "link", sr_json_string_or_null(link));
    if (to->locale) json_object_set_new(body, "locale", json_string(to->locale));
    if (submission->expires_at) json_object_set_new(body, "expiresAt", sr_time_json(submission->expires_at));
    if (json_object_size(inviter->theme)) json_object_set(body, "theme", inviter->theme);
    mail_add_options(body, &submission->options, pool);
    return body;
}

static json_t *mail_row(const char *kind, const json_t *body, apr_pool_t *pool)
{
    json_t *row = json_object();
    const char *email = sr_json_string(body, "email");
    json_object_set_new(row, "event_id", json_string(sr_uuid_make(pool)));
    json_object_set_new(row, "kind", json_string(kind));
    json_object_set_new(row, "url", json_string(apr_pstrcat(pool, "mailto:", email, NULL)));
    json_object_set_new(row, "body", json_string(sr_json_text(body, pool)));
    return row;
}

json_t *sr_invitation_row(const sr_submission_t *submission, const sr_signer_t *signer, const sr_inviter_t *inviter,
                          apr_pool_t *pool)
{
    const sr_recipient_t to = sr_signer_recipient(submission, signer, pool);
    return mail_row("invitation", mail_body(submission, &to, inviter, pool), pool);
}

json_t *sr_reminder_row(const sr_submission_t *submission, const sr_signer_t *signer, const sr_inviter_t *inviter,
                        apr_pool_t *pool)
{
    const sr_recipient_t to = sr_signer_recipient(submission, signer, pool);
    json_t *body = mail_body(submission, &to, inviter, pool);
    json_object_set_new(body, "reminds", json_string(signer->uuid));
    return mail_row("reminder", body, pool);
}

static json_t *shown_body(const sr_submission_t *submission, const sr_recipient_t *to, const sr_inviter_t *inviter,
                          apr_pool_t *pool)
{
    json_t *body = mail_body(submission, to, inviter, pool);
    json_object_del(body, "message"); /* the sender's words are for signers */
    json_object_set_new(body, "shows", json_string(submission->uuid));
    if (to->viewer) json_object_set_new(body, "viewer", json_string(to->viewer));
    return body;
}

json_t *sr_view_row(const sr_submission_t *submission, const sr_recipient_t *recipient, const sr_inviter_t *inviter,
                    apr_pool_t *pool)
{
    return mail_row("view", shown_body(submission, recipient, inviter, pool), pool);
}

json_t *sr_copy_row(const sr_submission_t *submission, const sr_recipient_t *recipient, const sr_inviter_t *inviter,
                    const char *folder, apr_pool_t *pool)
{
    json_t *body = shown_body(submission, recipient, inviter, pool);
    json_object_set_new(body, "copies", json_true());
    if (submission->options.attach) json_object_set_new(body, "attach", json_true());
    if (submission->options.attach) json_object_set_new(body, "folder", json_string(folder));
    return mail_row("copy", body, pool);
}

json_t *sr_code_row(const sr_signer_t *signer, const char *code, const sr_inviter_t *inviter, apr_pool_t *pool)
{
    json_t *body = sr_json_own(json_object(), pool), *row = json_object();
    json_object_set_new(body, "email", json_string(signer->email));
    json_object_set_new(body, "organization", sr_json_string_or_null(inviter->organization));
    json_object_set_new(body, "environment", json_string(sr_environment_name(inviter->environment)));
    json_object_set_new(body, "code", json_string(code));
    json_object_set_new(body, "expiresAt", sr_time_json(signer->authentication->challenge_until));
    if (signer->locale) json_object_set_new(body, "locale", json_string(signer->locale));
    if (json_object_size(inviter->theme)) json_object_set(body, "theme", inviter->theme);
    json_object_set_new(row, "event_id", json_string(sr_uuid_make(pool)));
    json_object_set_new(row, "kind", json_string("code"));
    json_object_set_new(row, "body", json_string(sr_json_text(body, pool)));
    return row;
}

const char *sr_webhook_url_fault(const char *url, apr_pool_t *pool)
{
    apr_uri_t uri;
    if (strlen(url) > SR_WEBHOOK_URL_MAX) return "longer than 255 characters";
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
            return "white space, control or non-ASCII characters";
    if (apr_uri_parse(pool, url, &uri) != APR_SUCCESS) return "it cannot be parsed";
    if (!uri.scheme || (strcasecmp(uri.scheme, "http") != 0 && strcasecmp(uri.scheme, "https") != 0))
        return "not http or https";
    if (!uri.hostname || !*uri.hostname) return "no host";
    if (uri.user || uri.password || strchr(uri.hostinfo ? uri.hostinfo : "", '@'))
        return "user and password are not allowed";
    if (uri.port_str && !sr_text_is_port(uri.port_str)) return "the port is not a port";
    return NULL;
}

json_t *sr_delivery_representation(const sr_delivery_t *delivery)
{
    json_t *object = json_object();
    json_object_set_new(object, "uuid", json_string(delivery->uuid));
    json_object_set_new(object, "eventId", json_string(delivery->event_id));
    json_object_set_new(object, "event", json_string(delivery->event));
    json_object_set_new(object, "submissionId", sr_json_string_or_null(delivery->submission));
    json_object_set_new(object, "userTokenId", json_string(delivery->token));
    json_object_set_new(object, "url", json_string(delivery->url));
    json_object_set_new(object, "success", delivery->success ? json_boolean(*delivery->success) : json_null());
    json_object_set_new(object, "statusCode", delivery->status ? json_integer(*delivery->status) : json_null());
    json_object_set_new(object, "error", sr_json_string_or_null(delivery->error));
    json_object_set_new(object, "createdAt", sr_time_json(delivery->created_at));
    json_object_set_new(object, "endedAt", sr_time_json(delivery->ended_at));
    return object;
}
