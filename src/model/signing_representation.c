/* SPDX-License-Identifier: Apache-2.0 */
/* signing_representation.c: the representation of a submission for one signer or viewer: everything that they may know,
 * without secrets of other signers. The uuids of other signers are their links, so it does not contain them. */
#include "model/model.h"

#include <string.h>

/* Returns [[pages, width, height], …]: runs of pages with the same size as displayed, in points, in page order. */
static json_t *sizes(const sr_pages_t *pages)
{
    json_t *list = json_array();
    for (int i = 0; pages && i < pages->runs->nelts; i++) {
        const sr_list_run_t *run = &APR_ARRAY_IDX(pages->runs, i, sr_list_run_t);
        double size[2];
        json_t *row = json_array();
        sr_page_size(size, &run->page);
        json_array_append_new(row, json_integer(run->count));
        json_array_append_new(row, json_real(size[0]));
        json_array_append_new(row, json_real(size[1]));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *documents(const sr_signing_t *signing, const char *link, apr_pool_t *pool)
{
    json_t *list = json_array();
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        json_t *row = json_object();
        json_object_set_new(row, "uuid", json_string(document->uuid));
        json_object_set_new(row, "name", json_string(document->name));
        json_object_set_new(row, "url", json_string(apr_pstrcat(pool, link, "/documents/", document->uuid, NULL)));
        json_object_set_new(row, "sha256", json_string(sr_document_state_sha256(document)));
        json_object_set_new(row, "size", json_integer(sr_document_state_size(document)));
        json_object_set_new(row, "pages", json_integer(document->pages));
        json_object_set_new(row, "sizes", sizes(document->boxes));
        if (document->warnings) json_object_set_new(row, "warnings", sr_warnings_sentences(document->warnings));
        json_array_append_new(list, row);
    }
    return list;
}

/* Returns the index of the field's caption in the response of {link}/preview, and the part of the field's height that
 * the caption takes, in percent. NULL: the field has no caption. */
static json_t *caption(const sr_signing_t *signing, const sr_document_state_t *document, const sr_field_t *field,
                       apr_pool_t *pool)
{
    const int number = sr_caption_number(signing->signer, field, pool);
    const double *rect = field->placement.rect;
    const sr_pages_t *boxes = number >= 0 && document ? document->boxes : NULL;
    const sr_page_t *page = boxes ? sr_pages_at(boxes, field->placement.page) : NULL;
    if (!page) return NULL;
    const size_t side = page->rotate % 180 ? 0 : 1;
    const double height = rect[side + 2] - rect[side], line = sr_caption_line(height);
    if (line == 0) return NULL;
    return json_pack("{s:i,s:f}", "number", number, "height", 100 * line / height);
}

/* What the signing page needs to have a field filled in. */
static void set_entry(json_t *row, const sr_field_t *field, int number)
{
    const sr_entry_t *entry = field->entry;
    sr_entry_write(row, entry);
    json_object_set_new(row, "number", json_integer(number));
    json_object_set_new(row, "required", json_boolean(entry->required));
    json_object_set_new(row, "readOnly", json_boolean(entry->read_only));
    if (field->type->widget == SR_WIDGET_TEXT) json_object_set_new(row, "maxLength", json_integer(entry->max_length));
}

/* Returns the signer's fields, each with the uuid of its document instead of the document's name. */
static json_t *fields(const sr_signing_t *signing, apr_pool_t *pool)
{
    static const char *const shown[] = {"name", "type", "page", "percent"};
    json_t *all = sr_json_own(sr_signer_fields_json(signing->signer), pool), *list = json_array();
    for (int i = 0; i < signing->signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signing->signer->fields, i, sr_field_t);
        const sr_document_state_t *document = sr_submission_document(&signing->submission, field->document);
        json_t *row = json_object(), *line = caption(signing, document, field, pool);
        json_object_set_new(row, "document", sr_json_string_or_null(document ? document->uuid : NULL));
        for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
            json_object_set(row, shown[k], json_object_get(json_array_get(all, (size_t)i), shown[k]));
        if (line) json_object_set_new(row, "caption", line);
        if (field->entry) set_entry(row, field, i + 1);
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *person(const char *firstname, const char *lastname, const char *email)
{
    json_t *object = json_object();
    json_object_set_new(object, "firstname", sr_json_string_or_null(firstname));
    json_object_set_new(object, "lastname", sr_json_string_or_null(lastname));
    if (email) json_object_set_new(object, "email", json_string(email));
    return object;
}

static json_t *signing_representation_requester(const sr_signing_t *signing)
{
    const sr_person_t *creator = &signing->submission.created_by;
    json_t *object = person(creator->firstname, creator->lastname, creator->email);
    if (!creator->email) json_object_set_new(object, "email", json_null());
    json_object_set_new(object, "organization", json_string(signing->organization));
    return object;
}

static void signing_representation_set_time(json_t *object, const char *key, apr_time_t when)
{
    json_object_set_new(object, key, when ? sr_time_json(when) : json_null());
}

/* Adds where the page leads now that the signer has signed or refused. */
static void set_redirect(json_t *object, const sr_signing_t *signing, apr_pool_t *pool)
{
    const char *url = signing->submission.redirect_url;
    const sr_signing_state_t state = sr_signing_state(signing);
    if (!url || (state != SR_SIGNING_COMPLETED && state != SR_SIGNING_REFUSED)) return;
    const char *fragment = strchr(url, '#'), *end = fragment ? fragment : url + strlen(url);
    const char *before = apr_pstrmemdup(pool, url, (apr_size_t)(end - url));
    json_object_set_new(
        object, "redirect",
        json_string(apr_pstrcat(pool, before, strchr(before, '?') ? "&" : "?", "status=", sr_signing_state_name(state),
                                "&submission=", signing->submission.uuid, fragment, NULL)));
}

static void set_progress(json_t *object, const sr_signing_t *signing)
{
    const sr_signer_t *signer = signing->signer;
    json_object_set_new(object, "state", json_string(sr_signing_state_name(sr_signing_state(signing))));
    json_object_set_new(object, "status", json_string(sr_signer_status(signer->state)));
    signing_representation_set_time(object, "openedAt", signer->opened_at);
    signing_representation_set_time(object, "completedAt", signer->completed_at);
    signing_representation_set_time(object, "refusedAt", signer->refused_at);
    json_object_set_new(object, "refusalReason", sr_json_string_or_null(signer->refusal_reason));
}

/* Only for signers whose identity is checked. */
static void set_authentication(json_t *object, const sr_signing_t *signing)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    if (!authentication) return;
    json_object_set_new(object, "authentication",
                        json_pack("{s:s,s:s,s:b}", "method", sr_auth_method_name(authentication->method), "when",
                                  authentication->on_sign ? "sign" : "open", "needed", !signing->identified));
}

/* Adds the sender's words, and what they let signers do. */
static void set_options(json_t *object, const sr_signing_t *signing, apr_pool_t *pool)
{
    static const char *const shown[] = {"message", "signatureTypes", "refusal"};
    const json_t *options = sr_options_json(&signing->submission.options, pool);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (json_object_get(options, shown[i])) json_object_set(object, shown[i], json_object_get(options, shown[i]));
}

json_t *sr_signing_representation(const sr_signing_t *signing, const sr_consent_t *consent, const char *terms_url,
                                  const char *link, apr_pool_t *pool)
{
    const sr_submission_t *submission = &signing->submission;
    const sr_signer_t *signer = signing->signer;
    const char *certificate = submission->certificate_sha256 ? apr_pstrcat(pool, link, "/certificate", NULL) : NULL;
    json_t *object = json_object(), *terms = json_object();
    json_object_set_new(object, "name", json_string(submission->name));
    signing_representation_set_time(object, "createdAt", submission->created_at);
    set_progress(object, signing);
    json_object_set_new(object, "environment", json_string(sr_environment_name(signing->environment)));
    json_object_set_new(object, "skipIntro", json_boolean(submission->skip_intro));
    json_object_set_new(object, "requester", signing_representation_requester(signing));
    json_object_set_new(object, "signer", person(signer->firstname, signer->lastname, signer->email));
    json_object_set_new(terms, "version", json_string(consent->version));
    json_object_set_new(terms, "language", json_string(consent->language));
    json_object_set_new(terms, "text", json_string(consent->text));
    if (*terms_url) json_object_set_new(terms, "termsUrl", json_string(terms_url));
    json_object_set_new(object, "consent", terms);
    const bool sees = !sr_signing_may_see(signing, pool);
    json_object_set_new(object, "documents", sees ? documents(signing, link, pool) : json_array());
    json_object_set_new(object, "fields", sees ? fields(signing, pool) : json_array());
    json_object_set_new(object, "certificate", sr_json_string_or_null(certificate));
    if (submission->state == SR_SUBMISSION_COMPLETED)
        json_object_set_new(object, "archive", json_string(apr_pstrcat(pool, link, "/archive", NULL)));
    if (submission->expires_at) signing_representation_set_time(object, "expiresAt", submission->expires_at);
    set_redirect(object, signing, pool);
    set_authentication(object, signing);
    if (sees) set_options(object, signing, pool);
    return object;
}

/* --- for a viewer */

static json_t *names_of_signers(const sr_submission_t *submission)
{
    json_t *list = json_array();
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        json_t *row = person(signer->firstname, signer->lastname, NULL);
        json_object_set_new(row, "status", json_string(sr_signer_status(signer->state)));
        json_array_append_new(list, row);
    }
    return list;
}

json_t *sr_viewing_representation(const sr_signing_t *signing, const char *link, apr_pool_t *pool)
{
    const sr_submission_t *submission = &signing->submission;
    const sr_viewer_t *viewer = signing->viewer;
    const bool sees = !sr_viewing_may_see(signing, pool);
    const char *certificate =
        sees && submission->certificate_sha256 ? apr_pstrcat(pool, link, "/certificate", NULL) : NULL;
    json_t *object = json_object();
    json_object_set_new(object, "name", json_string(submission->name));
    signing_representation_set_time(object, "createdAt", submission->created_at);
    json_object_set_new(object, "state", json_string(sr_viewing_state(signing)));
    json_object_set_new(object, "environment", json_string(sr_environment_name(signing->environment)));
    json_object_set_new(object, "requester", signing_representation_requester(signing));
    json_object_set_new(object, "viewer", person(viewer->firstname, viewer->lastname, viewer->email));
    json_object_set_new(object, "signers", sees ? names_of_signers(submission) : json_array());
    json_object_set_new(object, "documents", sees ? documents(signing, link, pool) : json_array());
    json_object_set_new(object, "certificate", sr_json_string_or_null(certificate));
    if (submission->expires_at) signing_representation_set_time(object, "expiresAt", submission->expires_at);
    return object;
}
