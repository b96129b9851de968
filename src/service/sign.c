/* SPDX-License-Identifier: Apache-2.0 */
/* sign.c: a signer signs. Nothing but what is stored is signed: it is read, compared with its hash, filled
 * by the helper, and sealed here. What was appended is durable on disk before the one transaction that makes it part of
 * the document; a crash before leaves a file no row names. */
#include <string.h>

#include "service/seal.h"
#include "service/transition.h"

typedef struct signing_t {
    sr_blobs_t *documents;
    const sr_signature_t *signature;
    const sr_consent_t *consent;
} signing_t;

/* --- preparing: before the first signature the fields of all signers are added, in the same revision */

static apr_array_header_t *all_fields(const sr_signing_t *signing, const sr_document_state_t *document,
                                      apr_pool_t *pool)
{
    const apr_array_header_t *signers = signing->submission.signers;
    apr_array_header_t *fields = apr_array_make(pool, 8, sizeof(sr_pdf_field_t));
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        const char *alias = sr_signing_alias(signer->uuid, pool);
        for (int j = 0; j < signer->fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, j, sr_field_t);
            if (strcmp(field->document, document->name) != 0) continue;
            sr_pdf_field_t *made = apr_array_push(fields);
            *made = (sr_pdf_field_t){.signer = alias, .page = field->area.page, .existing = field->existing};
            memcpy(made->rect, field->placement.rect, sizeof made->rect);
        }
    }
    return fields;
}

static sr_error_t *prepare(const sr_service_t *service, sr_pdf_update_t *update, const apr_array_header_t *fields,
                           const sr_joined_t *joined, apr_pool_t *pool)
{
    SR_TRY(sr_pdf_prepare(update, service->pdf, joined->descriptor, joined->size, fields, pool));
    return update->fault == SR_PDF_DONE ? NULL : sr_seal_failed(pool, "preparing", update->reason);
}

/* Joins the files of the document. Before the first signature it will be extended by its fields. */
static sr_error_t *join(sr_joined_t *joined, const signing_t *s, const sr_document_state_t *document, apr_pool_t *pool)
{
    const apr_array_header_t *files = sr_document_state_files(document, pool);
    SR_TRY(sr_blobs_join(joined, s->documents, files, !document->revisions->nelts, pool));
    if (strcmp(joined->sha256, sr_document_state_sha256(document)) != 0)
        return sr_seal_failed(pool, document->uuid, "what is stored is not what was stored");
    return NULL;
}

/* A worker that confirms what is added to a document has confirmed this for no other document: another one, which may
 * be hostile, has not reached it. */
static sr_error_t *confirm(const sr_service_t *service, sr_pdf_confirmed_t *confirmed, const sr_signing_t *signing,
                           const apr_array_header_t *fields, const sr_document_state_t *document,
                           const sr_joined_t *joined, apr_pool_t *pool)
{
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, pool);
    const char *scope = apr_pstrcat(pool, owner, ".confirm.", document->base_sha256, NULL);
    const sr_service_t other = sr_service_for_request(service, scope, pool);
    SR_TRY(sr_pdf_confirm(confirmed, other.pdf, joined->descriptor, document->base_size, fields, pool));
    if (confirmed->fault != SR_PDF_DONE) sr_pdf_pool_distrust(other.pdf);
    return NULL;
}

/* With the first signature: the document is extended by what the submission's worker has prepared, and another worker,
 * which has read no other document, confirms that. */
static sr_error_t *prepare_first(const sr_service_t *service, const sr_service_t *own, sr_pdf_update_t *update,
                                 const sr_signing_t *signing, const apr_array_header_t *fields,
                                 const sr_document_state_t *document, sr_joined_t *joined, apr_pool_t *pool)
{
    sr_pdf_confirmed_t confirmed;
    *update = (sr_pdf_update_t){0};
    if (document->revisions->nelts) return NULL;
    SR_TRY(prepare(own, update, fields, joined, pool));
    SR_TRY(sr_blobs_extend(joined, update->bytes, update->length, pool));
    SR_TRY(confirm(service, &confirmed, signing, fields, document, joined, pool));
    if (confirmed.fault == SR_PDF_DONE) return NULL;
    sr_pdf_pool_distrust(own->pdf); /* one of the two has lied */
    return sr_seal_failed(pool, "confirming", confirmed.reason);
}

/* --- sealing */

static sr_error_t *fill(const sr_service_t *service, sr_pdf_revision_t *revision, const sr_transition_t *step,
                        const signing_t *s, const sr_document_state_t *document, const apr_array_header_t *fields,
                        const sr_pdf_update_t *prepared, const sr_joined_t *joined, apr_pool_t *pool)
{
    const sr_signing_t *signing = step->signing;
    const sr_signature_t *signature = s->signature;
    const sr_captions_t captions = {signing->signer, sr_language_of(s->consent->language), step->client, step->now};
    const apr_size_t first = document->revisions->nelts
                                 ? (apr_size_t)APR_ARRAY_IDX(document->revisions, 0, sr_revised_t).size
                                 : prepared->length;
    const sr_pdf_signature_t what = {
        .signer = sr_signing_alias(signing->signer->uuid, step->pool),
        .fields = fields,
        .base_size = document->base_size,
        .prepared_size = first,
        .name = sr_person_name(signing->signer->firstname, signing->signer->lastname, step->pool),
        .reason = sr_signing_reason(signing, "Signed electronically", step->pool),
        .contact = sr_signing_contact(signing, step->pool),
        .time = step->now,
        .test = signing->environment == SR_TEST,
        .captions = sr_captions_json(&captions, document->name, pool),
        .ink = signature->ink,
        .text = signature->text,
        .image = signature->image,
        .image_size = signature->image_size};
    return sr_seal(service, revision, joined, &what, pool);
}

/* Notes what is appended. Its bytes stay in `parts` until they are stored. Returns their number. */
static apr_size_t keep(sr_transition_t *step, sr_document_state_t *document, const sr_pdf_update_t *prepared,
                       const sr_pdf_revision_t *revision, apr_pool_t *parts)
{
    const apr_size_t size = prepared->length + revision->length;
    char *part = apr_palloc(parts, size);
    sr_revised_t revised = {.size = (apr_off_t)size,
                            .whole_sha256 = apr_pstrdup(step->pool, revision->sha256),
                            .whole_size = sr_document_state_size(document) + (apr_off_t)size};
    if (prepared->length) memcpy(part, prepared->bytes, prepared->length);
    memcpy(part + prepared->length, revision->bytes, revision->length);
    revised.sha256 = sr_sha256_hex(part, size, step->pool);
    APR_ARRAY_PUSH(step->contents, sr_content_t) =
        (sr_content_t){.sha256 = revised.sha256, .size = revised.size, .bytes = part};
    APR_ARRAY_PUSH(document->revisions, sr_revised_t) = revised;
    json_array_append_new(step->revisions, json_pack("{s:s,s:i,s:s,s:I,s:s,s:I}", "document", document->uuid, "number",
                                                     document->revisions->nelts, "sha256", revised.sha256, "size",
                                                     (json_int_t)revised.size, "whole_sha256", revised.whole_sha256,
                                                     "whole_size", (json_int_t)revised.whole_size));
    return size;
}

/* Stores what was appended to the documents, and frees it. */
static sr_error_t *store(const sr_service_t *service, const signing_t *s, sr_transition_t *step, apr_pool_t *parts)
{
    const apr_array_header_t *documents = step->signing->submission.documents;
    SR_TRY(sr_contents_folder(&step->folder, s->documents, step->pool));
    SR_TRY(sr_contents_store(service, step->contents, s->documents, step->pool));
    for (int i = 0; i < step->contents->nelts; i++) APR_ARRAY_IDX(step->contents, i, sr_content_t).bytes = NULL;
    apr_pool_clear(parts);
    for (int i = 0; i < documents->nelts; i++) {
        const apr_array_header_t *revisions = APR_ARRAY_IDX(documents, i, sr_document_state_t).revisions;
        for (int j = 0; j < revisions->nelts; j++) {
            sr_revised_t *revised = &APR_ARRAY_IDX(revisions, j, sr_revised_t);
            if (!revised->key) revised->key = sr_contents_get(step->contents, revised->sha256)->key;
        }
    }
    return NULL;
}

/* `own` has the worker for all documents of the submission. */
static sr_error_t *sign_document(const sr_service_t *service, const sr_service_t *own, const signing_t *s,
                                 sr_transition_t *step, sr_document_state_t *document, json_t *evidence,
                                 apr_size_t *held, apr_pool_t *parts)
{
    const char *before = sr_document_state_sha256(document);
    apr_pool_t *work; /* its documents, answers and files go when this document is done */
    sr_joined_t joined;
    sr_pdf_update_t prepared;
    sr_pdf_revision_t revision = {0};
    apr_pool_create(&work, step->pool);
    const apr_array_header_t *fields = all_fields(step->signing, document, work);
    SR_TRY(join(&joined, s, document, work));
    SR_TRY(prepare_first(service, own, &prepared, step->signing, fields, document, &joined, work));
    SR_TRY(fill(own, &revision, step, s, document, fields, &prepared, &joined, work));
    *held += keep(step, document, &prepared, &revision, parts);
    document->cipher = revision.cipher;
    json_array_append_new(
        evidence, json_pack("{s:s,s:s,s:s}", "uuid", document->uuid, "before", before, "after", revision.sha256));
    apr_pool_destroy(work);
    return NULL;
}

#define HELD_MOST ((apr_size_t)4 << 20) /* bytes that wait to be stored together: each time costs a reservation */

static sr_error_t *sign_documents(const sr_service_t *service, const signing_t *s, sr_transition_t *step,
                                  json_t *evidence)
{
    sr_signing_t *signing = step->signing;
    apr_pool_t *work, *parts; /* the worker is given back with the first */
    apr_size_t held = 0;
    apr_pool_create(&work, step->pool);
    apr_pool_create(&parts, step->pool);
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, work);
    const sr_service_t own = sr_service_for_request(service, owner, work);
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        if (sr_signer_has_field(signing->signer, document))
            SR_TRY(sign_document(service, &own, s, step, document, evidence, &held, parts));
        if (held < HELD_MOST) continue;
        SR_TRY(store(service, s, step, parts));
        held = 0;
    }
    apr_pool_destroy(work);
    SR_TRY(store(service, s, step, parts));
    apr_pool_destroy(parts);
    return NULL;
}

/* --- the step */

static sr_error_t *sign(const sr_service_t *service, sr_transition_t *step, void *baton)
{
    const signing_t *s = baton;
    sr_signing_t *signing = step->signing;
    json_t *detail = sr_json_own(json_object(), step->pool), *evidence = json_array();
    json_object_set_new(detail, "signatureType", json_string(s->signature->kind));
    json_object_set_new(detail, "consent", json_string(s->consent->version));
    if (step->client->time_zone) {
        json_object_set_new(detail, "timeZone", json_string(step->client->time_zone));
        json_object_set_new(detail, "utcOffset", json_integer(step->client->utc_offset));
    }
    json_object_set_new(detail, "documents", evidence);
    SR_TRY(sr_signing_may(signing, SR_ACTION_SIGN, step->pool));
    SR_TRY(sign_documents(service, s, step, evidence));
    sr_transition_open(step);
    sr_signing_complete(signing, step->now, step->client, s->signature->kind, s->consent->version);
    sr_transition_event(step, step->signing->signer->uuid, "signed", json_incref(detail));
    sr_transition_notify(step, "signed");
    return sr_submission_all_signed(&signing->submission) ? sr_certify(service, step, s->documents) : NULL;
}

sr_error_t *sr_service_sign(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                            const sr_signature_t *signature, const sr_consent_t *consent, apr_pool_t *pool)
{
    signing_t s = {.signature = signature, .consent = consent};
    SR_TRY(sr_blobs_folder(&s.documents, service->documents_root, pool));
    SR_TRY(sr_service_folder(service, s.documents, pool));
    return sr_transition_take(service, signing, client, sign, &s, pool);
}
