/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: the representation of a submission: the contract's Submission as JSON text. It is rendered when
 * something changes, and copied to every reader after that. */
#include "model/model.h"

#include <string.h>

/* --- writing: jansson writes the values; a link begins with a byte that no value of its can have */

typedef struct out_t {
    char *text;
    apr_size_t length, room;
    apr_pool_t *pool;
} out_t;

static void submission_put(out_t *out, const char *text, apr_size_t length)
{
    if (out->room - out->length <= length) {
        char *larger = apr_palloc(out->pool, out->room = 2 * (out->room + length));
        out->text = memcpy(larger, out->text, out->length);
    }
    memcpy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
}

static out_t out_begin(apr_pool_t *pool)
{
    return (out_t){apr_pcalloc(pool, 4096), 0, 4096, pool};
}

/* Writes a comma unless this is the first member or element. */
static void separate(out_t *out)
{
    const char last = (char)(out->length ? out->text[out->length - 1] : '{');
    if (last != '{' && last != '[') submission_put(out, ",", 1);
}

static void put_key(out_t *out, const char *name)
{
    separate(out);
    submission_put(out, "\"", 1);
    submission_put(out, name, strlen(name));
    submission_put(out, "\":", 2);
}

/* Takes over the reference to the value. */
static void put_value(out_t *out, const char *name, json_t *value)
{
    const char *text = sr_json_text(value, out->pool);
    put_key(out, name);
    submission_put(out, text, strlen(text));
    json_decref(value);
}

static void put_string(out_t *out, const char *name, const char *text)
{
    put_value(out, name, sr_json_string_or_null(text));
}

static void put_time(out_t *out, const char *name, apr_time_t when)
{
    put_value(out, name, when ? sr_time_json(when) : json_null());
}

/* Writes a URL, or null if there is no path. The path is made by this program and needs no escaping. */
static void put_link(out_t *out, const char *name, const char *path)
{
    static const char begin[] = {'"', SR_BASE_URL_PLACEHOLDER};
    if (!path) {
        put_string(out, name, NULL);
        return;
    }
    put_key(out, name);
    submission_put(out, begin, sizeof begin);
    submission_put(out, path, strlen(path));
    submission_put(out, "\"", 1);
}

/* --- signers */

const char *sr_signature_path(const sr_signer_t *signer, bool skip_intro, apr_pool_t *pool)
{
    return signer->uuid ? apr_pstrcat(pool, "/sign/", signer->uuid, skip_intro ? "?skipIntro=true" : NULL, NULL) : NULL;
}

static const char *api_path(const sr_submission_t *submission, const char *what, const char *uuid, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "/api/v3/signatures/", submission->uuid, what, uuid, NULL);
}

static void put_signed_document(out_t *out, const sr_submission_t *submission, const sr_document_state_t *document)
{
    separate(out);
    submission_put(out, "{", 1);
    put_string(out, "name", document->name);
    put_string(out, "uuid", document->uuid);
    put_link(out, "url", api_path(submission, "/documents/", document->uuid, out->pool));
    put_string(out, "sha256", sr_document_state_sha256(document));
    put_value(out, "size", json_integer(sr_document_state_size(document)));
    submission_put(out, "}", 1);
}

/* Writes the documents in which the signer has a field, in their current revision, if the signer has signed; else
 * null. */
static void put_signed_documents(out_t *out, const sr_submission_t *submission, const sr_signer_t *signer)
{
    put_key(out, "signedDocuments");
    if (signer->state != SR_SIGNER_COMPLETED) {
        submission_put(out, "null", 4);
        return;
    }
    submission_put(out, "[", 1);
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        if (sr_signer_has_field(signer, document)) put_signed_document(out, submission, document);
    }
    submission_put(out, "]", 1);
}

static json_t *information_json(const sr_signer_t *signer)
{
    json_t *information = json_object();
    if (signer->state != SR_SIGNER_COMPLETED) {
        json_decref(information);
        return json_null();
    }
    json_object_set_new(information, "ip", sr_json_string_or_null(signer->ip));
    json_object_set_new(information, "userAgent", sr_json_string_or_null(signer->user_agent));
    json_object_set_new(information, "openedAt", sr_time_json(signer->opened_at));
    json_object_set_new(information, "signedAt", sr_time_json(signer->completed_at));
    json_object_set_new(information, "signatureType", sr_json_string_or_null(signer->signature_type));
    json_object_set_new(information, "consent", sr_json_string_or_null(signer->consent));
    return information;
}

/* Returns true if the request gives an order. */
static bool in_order(const sr_submission_t *submission)
{
    for (int i = 0; i < submission->signers->nelts; i++)
        if (APR_ARRAY_IDX(submission->signers, i, sr_signer_t).order > 1) return true;
    return false;
}

/* Nobody can open a link of a draft. */
static void put_signature_link(out_t *out, const sr_submission_t *submission, const sr_signer_t *signer)
{
    const bool is_draft = submission->state == SR_SUBMISSION_DRAFT;
    put_link(out, "signatureLink", is_draft ? NULL : sr_signature_path(signer, submission->skip_intro, out->pool));
}

static void put_signer(out_t *out, const sr_submission_t *submission, const sr_signer_t *signer)
{
    separate(out);
    submission_put(out, "{", 1);
    if (signer->email) put_string(out, "email", signer->email);
    put_string(out, "firstname", signer->firstname);
    put_string(out, "lastname", signer->lastname);
    put_string(out, "uuid", signer->uuid);
    if (signer->locale) put_string(out, "locale", signer->locale);
    put_signature_link(out, submission, signer);
    put_string(out, "status", sr_signer_status(signer->state));
    put_signed_documents(out, submission, signer);
    put_value(out, "signerInformation", information_json(signer));
    put_time(out, "completedAt", signer->completed_at);
    put_time(out, "openedAt", signer->opened_at);
    put_time(out, "refusedAt", signer->refused_at);
    put_string(out, "refusalReason", signer->refusal_reason);
    put_value(out, "fields", sr_signer_fields_json(signer));
    if (in_order(submission)) put_value(out, "order", json_integer(signer->order));
    if (signer->replaces) put_string(out, "replaces", signer->replaces);
    if (signer->reminded_at) put_time(out, "remindedAt", signer->reminded_at);
    if (signer->authentication) put_value(out, "authentication", sr_authentication_view(signer->authentication));
    submission_put(out, "}", 1);
}

const char *sr_signer_render(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool)
{
    out_t out = out_begin(pool);
    put_signer(&out, submission, signer);
    return out.text;
}

/* --- the submission */

static json_t *document_json(const sr_document_state_t *document)
{
    json_t *object = json_object();
    json_object_set_new(object, "uuid", sr_json_string_or_null(document->uuid));
    json_object_set_new(object, "name", json_string(document->name));
    json_object_set_new(object, "sha256", json_string(document->sha256));
    json_object_set_new(object, "size", json_integer(document->size));
    json_object_set_new(object, "pages", json_integer(document->pages));
    if (document->warnings) json_object_set_new(object, "warnings", sr_warnings_sentences(document->warnings));
    return object;
}

/* Writes the members that a submission and its template both begin with. */
static void put_head(out_t *out, const sr_submission_t *submission, const char *uuid, apr_time_t updated_at)
{
    put_string(out, "name", submission->name);
    put_string(out, "uuid", uuid);
    put_time(out, "createdAt", submission->created_at);
    put_time(out, "updatedAt", updated_at);
}

static json_t *person_json(const sr_person_t *person)
{
    json_t *object = json_object();
    json_object_set_new(object, "firstname", sr_json_string_or_null(person->firstname));
    json_object_set_new(object, "lastname", sr_json_string_or_null(person->lastname));
    json_object_set_new(object, "email", sr_json_string_or_null(person->email));
    return object;
}

static void put_certificate(out_t *out, const sr_submission_t *submission)
{
    put_key(out, "certificate");
    if (!submission->certificate_sha256) {
        submission_put(out, "null", 4);
        return;
    }
    submission_put(out, "{", 1);
    put_link(out, "url", api_path(submission, "/certificate", NULL, out->pool));
    put_string(out, "sha256", submission->certificate_sha256);
    put_value(out, "size", json_integer(submission->certificate_size));
    submission_put(out, "}", 1);
}

static bool has_replaced_or_reminded(const sr_submission_t *submission)
{
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        if (signer->replaces || signer->reminded_at) return true;
    }
    return false;
}

/* Returns true if an extension of the contract was used. Else the representation has what the contract shows, and no
 * more. */
static bool submission_is_extended(const sr_submission_t *submission, apr_pool_t *pool)
{
    return submission->expires_at || submission->external_id || submission->metadata || submission->redirect_url
           || submission->reminders.most || submission->state == SR_SUBMISSION_CANCELLED
           || submission->state == SR_SUBMISSION_DELETED || submission->draft_until || in_order(submission)
           || submission->viewers || sr_options_json(&submission->options, pool)
           || has_replaced_or_reminded(submission);
}

/* --- what surrounds it */

static void put_viewer(out_t *out, const sr_submission_t *submission, const sr_viewer_t *viewer)
{
    separate(out);
    submission_put(out, "{", 1);
    if (!viewer->is_copy) put_string(out, "firstname", viewer->firstname);
    if (!viewer->is_copy) put_string(out, "lastname", viewer->lastname);
    if (viewer->email) put_string(out, "email", viewer->email);
    put_string(out, "uuid", viewer->uuid);
    if (!viewer->is_copy) put_string(out, "when", viewer->when_completed ? "completed" : "sent");
    put_link(out, "viewLink", submission->state == SR_SUBMISSION_DRAFT ? NULL : sr_viewer_path(viewer, out->pool));
    put_time(out, "openedAt", viewer->opened_at);
    if (viewer->revoked_at) put_time(out, "revokedAt", viewer->revoked_at);
    submission_put(out, "}", 1);
}

/* Writes the viewers, or the recipients of copies. */
static void put_viewers(out_t *out, const char *name, const sr_submission_t *submission, bool copies)
{
    bool any = copies;
    for (int i = 0; !any && submission->viewers && i < submission->viewers->nelts; i++)
        any = !APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t).is_copy;
    if (!any) return;
    put_key(out, name);
    submission_put(out, "[", 1);
    for (int i = 0; submission->viewers && i < submission->viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t);
        if (viewer->is_copy == copies) put_viewer(out, submission, viewer);
    }
    submission_put(out, "]", 1);
}

static void put_options(out_t *out, const sr_submission_t *submission)
{
    json_t *options = sr_options_json(&submission->options, out->pool), *value;
    const char *name;
    json_object_foreach (options, name, value)
        if (strcmp(name, "copies") != 0) put_value(out, name, json_incref(value));
    put_viewers(out, "viewers", submission, false);
    if (!submission->options.copies) return;
    put_key(out, "copies");
    submission_put(out, "{", 1);
    put_value(out, "to", json_incref((json_t *)submission->options.to));
    put_value(out, "attach", json_boolean(submission->options.attach));
    put_time(out, "sentAt", submission->copied_at);
    put_viewers(out, "links", submission, true);
    submission_put(out, "}", 1);
}

static void put_placement(out_t *out, const char *placement, apr_time_t until)
{
    put_link(out, "placementLink", placement ? apr_pstrcat(out->pool, "/place/", placement, NULL) : NULL);
    put_time(out, "placementExpiresAt", until);
}

const char *sr_placement_render(const char *placement, apr_time_t until, apr_pool_t *pool)
{
    out_t out = out_begin(pool);
    submission_put(&out, "{", 1);
    put_placement(&out, placement, until);
    submission_put(&out, "}", 1);
    return out.text;
}

/* Writes what became of the submission, and what the caller has added to it. Members without a value are absent. */
static void put_life(out_t *out, const sr_submission_t *submission)
{
    put_string(out, "status", sr_submission_state_name(submission->state));
    if (submission->state == SR_SUBMISSION_DRAFT)
        put_placement(out, submission->placement, submission->placement_until);
    if (submission->expires_at) put_time(out, "expiresAt", submission->expires_at);
    if (submission->state == SR_SUBMISSION_EXPIRED) put_time(out, "expiredAt", submission->closed_at);
    if (submission->state == SR_SUBMISSION_CANCELLED) {
        put_time(out, "cancelledAt", submission->closed_at);
        put_string(out, "cancelReason", submission->cancel_reason);
    }
    if (submission->external_id) put_string(out, "externalId", submission->external_id);
    if (submission->metadata) put_value(out, "metadata", json_incref((json_t *)submission->metadata));
    if (submission->redirect_url) put_string(out, "redirectUrl", submission->redirect_url);
    if (submission->reminders.most) put_value(out, "reminders", sr_reminders_json(&submission->reminders));
    put_options(out, submission);
}

const char *sr_submission_render(const sr_submission_t *submission, apr_pool_t *pool)
{
    out_t out = out_begin(pool);
    json_t *documents = json_array();
    for (int i = 0; i < submission->documents->nelts; i++)
        json_array_append_new(documents, document_json(&APR_ARRAY_IDX(submission->documents, i, sr_document_state_t)));
    submission_put(&out, "{", 1);
    put_head(&out, submission, submission->uuid, submission->updated_at);
    put_key(&out, "template");
    submission_put(&out, "{", 1);
    put_head(&out, submission, submission->template_uuid, submission->created_at);
    submission_put(&out, "}", 1);
    put_key(&out, "submitters");
    submission_put(&out, "[", 1);
    for (int i = 0; i < submission->signers->nelts; i++)
        put_signer(&out, submission, &APR_ARRAY_IDX(submission->signers, i, sr_signer_t));
    submission_put(&out, "]", 1);
    put_value(&out, "createdBy", person_json(&submission->created_by));
    put_value(&out, "documents", documents);
    put_certificate(&out, submission);
    if (submission->warnings) put_value(&out, "warnings", json_incref((json_t *)submission->warnings));
    if (submission_is_extended(submission, pool)) put_life(&out, submission);
    submission_put(&out, "}", 1);
    return out.text;
}

const char *sr_representation_tag(const char *events_hash, apr_int64_t saves, apr_pool_t *pool)
{
    const char *tag = apr_psprintf(pool, "%s-%d", events_hash, SR_REPRESENTATION_VERSION);
    return saves ? apr_psprintf(pool, "%s-%" APR_INT64_T_FMT, tag, saves) : tag;
}

const char *sr_representation_uuid(const char *representation, apr_pool_t *pool)
{
    const char *text = sr_text_with_base(representation, "", pool);
    json_t *object;
    const char *uuid = sr_json_read(&object, text, pool) ? NULL : sr_json_string(object, "uuid");
    return uuid && sr_uuid_valid(uuid) ? uuid : NULL;
}

/* --- what is searched */

const char *sr_submission_search_text(const sr_submission_t *submission, apr_pool_t *pool)
{
    const int count = submission->signers->nelts;
    apr_array_header_t *lines = apr_array_make(pool, count + 1, sizeof(const char *));
    /* Each signer is on a line of its own, so that a search does not match the end of one signer and the beginning of
     * the next. */
    APR_ARRAY_PUSH(lines, const char *) = submission->name;
    for (int i = 0; i < count; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        APR_ARRAY_PUSH(lines, const char *) = apr_pstrcat(pool, signer->firstname, " ", signer->lastname,
                                                          signer->email ? " " : NULL, signer->email, NULL);
    }
    return sr_text_fold(apr_array_pstrcat(pool, lines, '\n'), pool);
}
