/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: the certificate of completion. It is made with the last signature and in the same transaction: who reads
 * that all have signed finds it there. */
#include <string.h>

#include "service/seal.h"

#define SIGNER "certificate"

typedef struct text_t {
    char *bytes;
    apr_size_t length;
} text_t;

static sr_error_t *read_output(text_t *text, const sr_pdf_output_t *output, apr_pool_t *pool)
{
    *text = (text_t){apr_palloc(pool, (apr_size_t)output->size), (apr_size_t)output->size};
    return sr_pdf_read(text->bytes, output->descriptor, 0, text->length, pool);
}

static void append(text_t *text, const void *bytes, apr_size_t length, apr_pool_t *pool)
{
    char *both = apr_palloc(pool, text->length + length);
    memcpy(both, text->bytes, text->length);
    memcpy(both + text->length, bytes, length);
    *text = (text_t){both, text->length + length};
}

/* The audit trail as it will be: what is stored, and what this step adds. */
static sr_error_t *read_events(json_t **events, const sr_service_t *service, const sr_transition_t *step)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_signing_events(service->database, &outcome, &row, step->signing->signer->uuid, step->pool));
    SR_TRY(sr_service_refusal(outcome, step->pool));
    SR_TRY(sr_json_read(events, row->body, step->pool));
    for (size_t i = 0; i < json_array_size(step->events); i++) {
        const char *body = sr_json_string(json_array_get(step->events, i), "body");
        json_t *event;
        SR_TRY(sr_json_read(&event, body, step->pool));
        json_array_append(*events, event);
    }
    return NULL;
}

#define MARKS_MAX ((apr_size_t)4 << 20) /* of all signatures together: the request has 8 MiB */

typedef struct marks_t {
    const sr_signing_t *signing;
    sr_blobs_t *documents;
    const sr_service_t *service;
    sr_pdf_pool_t *workers; /* of the certificate */
    apr_size_t room;        /* bytes that all further marks may take */
} marks_t;

/* The document of which a revision has this SHA-256, or NULL. */
static sr_document_state_t *document_with(const sr_revised_t **revised, const sr_signing_t *signing, const char *sha256)
{
    for (int k = 0; sha256 && k < signing->submission.documents->nelts; k++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, k, sr_document_state_t);
        for (int j = 0; j < document->revisions->nelts; j++) {
            *revised = &APR_ARRAY_IDX(document->revisions, j, sr_revised_t);
            if (!strcmp((*revised)->whole_sha256, sha256)) return document;
        }
    }
    return NULL;
}

/* The key of an encrypted document that was not signed just now. The worker that reads the document is one that reads
 * documents of this organisation. */
static sr_error_t *find_key(const marks_t *marks, sr_document_state_t *document, apr_pool_t *pool)
{
    const sr_signing_t *signing = marks->signing;
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, pool);
    const sr_service_t own = sr_service_for_request(marks->service, owner, pool);
    sr_joined_t joined;
    SR_TRY(sr_blobs_join(&joined, marks->documents, sr_document_state_files(document, pool), false, pool));
    SR_TRY(sr_pdf_key(&document->cipher, own.pdf, joined.descriptor, pool));
    sr_pdf_pool_release(own.pdf);
    return NULL;
}

/* *mark is NULL if there is no room for it. */
static sr_error_t *read_mark(json_t **mark, marks_t *marks, sr_document_state_t *document, const sr_revised_t *revised,
                             apr_pool_t *pool)
{
    apr_array_header_t *files = apr_array_make(pool, 1, sizeof(const char *));
    sr_joined_t joined;
    apr_size_t taken = 0;
    APR_ARRAY_PUSH(files, const char *) = revised->key;
    SR_TRY(sr_blobs_join(&joined, marks->documents, files, false, pool));
    const apr_size_t size = (apr_size_t)joined.size;
    void *bytes = apr_palloc(pool, size);
    SR_TRY(sr_pdf_read(bytes, joined.descriptor, 0, size, pool));
    if (!document->cipher.method && sr_pdf_mark_needs_key(bytes, size)) SR_TRY(find_key(marks, document, pool));
    SR_TRY(sr_pdf_mark_reduced(mark, marks->workers, bytes, size, &document->cipher, marks->room, pool));
    for (size_t i = 0; i < json_array_size(*mark); i++) taken += json_string_length(json_array_get(*mark, i)) / 4 * 3;
    marks->room -= taken < marks->room ? taken : marks->room;
    return NULL;
}

/* What a signer signed with: from the first of their documents in which it is found. *mark may be NULL. */
static sr_error_t *find_mark(json_t **mark, marks_t *marks, const json_t *events, const char *signer, apr_pool_t *pool)
{
    *mark = NULL;
    for (size_t i = 0; signer && i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *list;
        const char *kind = sr_json_string(event, "event"), *whose = sr_json_string(event, "signer");
        if (!kind || !whose || strcmp(kind, "signed") != 0 || strcmp(whose, signer) != 0) continue;
        list = json_object_get(json_object_get(event, "detail"), "documents");
        for (size_t k = 0; !*mark && k < json_array_size(list); k++) {
            const char *after = sr_json_string(json_array_get(list, k), "after");
            const sr_revised_t *revised;
            sr_document_state_t *document = document_with(&revised, marks->signing, after);
            apr_pool_clear(pool);
            if (document) SR_TRY(read_mark(mark, marks, document, revised, pool));
        }
    }
    return NULL;
}

/* The signatures as they were sealed, as far as there is room for them. */
static sr_error_t *read_marks(json_t **list, const sr_service_t *service, const sr_service_t *own,
                              const sr_transition_t *step, const json_t *events, sr_blobs_t *documents)
{
    const apr_array_header_t *signers = step->signing->submission.signers;
    marks_t marks = {step->signing, documents, service, own->pdf, MARKS_MAX};
    apr_pool_t *scratch;
    apr_pool_create(&scratch, step->pool);
    *list = sr_json_own(json_array(), step->pool);
    for (int i = 0; i < signers->nelts; i++) {
        json_t *mark;
        SR_TRY(find_mark(&mark, &marks, events, APR_ARRAY_IDX(signers, i, sr_signer_t).uuid, scratch));
        json_array_append_new(*list, mark ? mark : json_null());
    }
    apr_pool_destroy(scratch);
    return NULL;
}

/* The words of the certificate: those of the signers, and the English ones if they are others. */
static sr_error_t *read_words(sr_completion_t *completion, apr_pool_t *pool)
{
    static const char part[] = "certificate";
    const sr_language_t *own = sr_completion_language(completion->submission), *english = sr_language_of("en");
    json_t *texts;
    SR_TRY(sr_language_texts(&texts, own, pool));
    completion->texts = json_object_get(texts, part);
    completion->language = own->tag;
    const char *direction = sr_json_string(texts, "dir");
    completion->rtl = direction && !strcmp(direction, "rtl");
    if (own == english) return NULL;
    SR_TRY(sr_language_texts(&texts, english, pool));
    completion->english = json_object_get(texts, part);
    return NULL;
}

static sr_error_t *compose(const sr_service_t *service, const sr_service_t *own, sr_pdf_composed_t *composed,
                           const sr_transition_t *step, const sr_cms_certificate_t *seal, sr_blobs_t *documents)
{
    const sr_signing_t *signing = step->signing;
    json_t *events, *marks;
    SR_TRY(read_events(&events, service, step));
    SR_TRY(read_marks(&marks, service, own, step, events, documents));
    sr_completion_t completion = {.submission = &signing->submission,
                                  .events = events,
                                  .events_hash = step->hash,
                                  .marks = marks,
                                  .environment = signing->environment,
                                  .organization = signing->organization,
                                  .service = seal->name,
                                  .seal_sha256 = seal->sha256,
                                  .verify_url = service->verify_url,
                                  .time = step->now};
    SR_TRY(read_words(&completion, step->pool));
    const json_t *question = sr_json_own(sr_completion_certificate(&completion, step->pool), step->pool);
    SR_TRY(sr_pdf_compose(composed, own->pdf, question, step->pool));
    return composed->reason ? sr_seal_failed(step->pool, "composing the certificate", composed->reason) : NULL;
}

/* *joined is the certificate with its field. No other worker confirms this: the one that could add something is the
 * one that has written the certificate. It has read certificates of this organisation, and no document of anybody but
 * the signatures that are drawn in them. */
static sr_error_t *prepare(const sr_service_t *own, sr_joined_t *joined, text_t *text, sr_blobs_t *documents,
                           const sr_pdf_composed_t *composed, apr_pool_t *pool)
{
    const apr_array_header_t *nothing = apr_array_make(pool, 0, sizeof(const char *));
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_pdf_field_t));
    sr_pdf_field_t *field = apr_array_push(fields);
    sr_pdf_update_t update;
    *field = (sr_pdf_field_t){.signer = SIGNER, .page = composed->field.page};
    memcpy(field->rect, composed->field.rect, sizeof field->rect);
    SR_TRY(sr_blobs_join_in_memory(joined, documents, nothing, pool));
    SR_TRY(sr_blobs_extend(joined, text->bytes, text->length, pool));
    SR_TRY(sr_pdf_prepare(&update, own->pdf, joined->descriptor, joined->size, fields, pool));
    if (update.fault != SR_PDF_DONE) return sr_seal_failed(pool, "preparing the certificate", update.reason);
    append(text, update.bytes, update.length, pool);
    return sr_blobs_extend(joined, update.bytes, update.length, pool);
}

sr_error_t *sr_certify(const sr_service_t *service, sr_transition_t *step, sr_blobs_t *documents)
{
    const sr_environment_t environment = step->signing->environment;
    const sr_cms_certificate_t *seal = sr_cms_identity_certificate(service->child->seal[environment]);
    const char *sealer = seal->name, *sha256;
    sr_pdf_signature_t what = {.signer = SIGNER,
                               .name = sealer,
                               .reason = sr_signing_reason(step->signing, "Certificate of completion", step->pool),
                               .contact = sr_signing_contact(step->signing, step->pool),
                               .time = step->now,
                               .test = environment == SR_TEST,
                               .text = sealer};
    sr_pdf_composed_t composed;
    sr_pdf_revision_t revision = {0};
    sr_joined_t joined;
    text_t text;
    const char *owner = sr_owner_of(step->signing->organization_uuid, environment, step->pool);
    const sr_service_t own =
        sr_service_for_request(service, apr_pstrcat(step->pool, owner, ".certificate", NULL), step->pool);
    SR_TRY(compose(service, &own, &composed, step, seal, documents));
    SR_TRY(read_output(&text, composed.document, step->pool));
    what.base_size = (apr_off_t)text.length;
    SR_TRY(prepare(&own, &joined, &text, documents, &composed, step->pool));
    what.prepared_size = text.length - (apr_size_t)what.base_size;
    SR_TRY(sr_seal(&own, &revision, &joined, &what, step->pool));
    sr_pdf_pool_release(own.pdf);
    append(&text, revision.bytes, revision.length, step->pool);
    sha256 = revision.sha256;
    APR_ARRAY_PUSH(step->contents, sr_content_t) =
        (sr_content_t){.sha256 = sha256, .size = (apr_off_t)text.length, .bytes = text.bytes};
    SR_TRY(sr_contents_store(service, step->contents, documents, step->pool));
    sr_signing_certify(step->signing, sha256, (apr_off_t)text.length);
    sr_transition_event(step, NULL, "completed", json_pack("{s:s}", "certificate", sha256));
    sr_transition_notify(step, "completed");
    return NULL;
}
