/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: the certificate of completion. It is made with the last signature, in the same transaction, so every
 * completed submission has one. */
#include <string.h>

#include "service/seals/seal_document.h"

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

static void certify_append(text_t *text, const void *bytes, apr_size_t length, apr_pool_t *pool)
{
    char *both = apr_palloc(pool, text->length + length);
    memcpy(both, text->bytes, text->length);
    memcpy(both + text->length, bytes, length);
    *text = (text_t){both, text->length + length};
}

/* The complete audit trail: the stored events, and those of this transition. */
static sr_error_t *certify_read_events(json_t **events, const sr_service_t *service, const sr_transition_t *transition)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_signing_events(service->database, &outcome, &row, transition->signing->signer->uuid,
                                   transition->pool));
    SR_TRY(sr_service_refusal(outcome, transition->pool));
    SR_TRY(sr_events_read(events, row->body, transition->pool));
    for (size_t i = 0; i < json_array_size(transition->events); i++) {
        const json_t *written = json_array_get(transition->events, i);
        const char *personal = sr_json_string(written, "personal");
        json_t *event, *values = NULL;
        SR_TRY(sr_json_read(&event, sr_json_string(written, "body"), transition->pool));
        if (personal) SR_TRY(sr_json_read(&values, personal, transition->pool));
        sr_event_reveal(event, values, transition->pool);
        json_array_append(*events, event);
    }
    return NULL;
}

typedef struct marks_t {
    const sr_signing_t *signing;
    const apr_array_header_t *contents; /* of this transition */
    sr_blobs_t *documents;
    const sr_service_t *service;
    sr_pdf_pool_t *workers; /* of the certificate */
    apr_size_t room;        /* bytes that are left for further drawings */
    int shares;             /* signers who have not got a share of it yet */
} marks_t;

/* Returns the document that has a revision with this SHA-256, or NULL. */
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

/* Reads the encryption key of a document that was not signed in this transition, by a worker that reads documents of
 * this organisation. */
static sr_error_t *certify_find_key(const marks_t *marks, sr_document_state_t *document, apr_pool_t *pool)
{
    const sr_signing_t *signing = marks->signing;
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, pool);
    const sr_service_t own = sr_service_for_request(marks->service, owner, pool);
    sr_joined_t joined;
    const apr_array_header_t *files = sr_document_state_files(document, pool);
    for (int i = 0; i < files->nelts; i++)
        if (!APR_ARRAY_IDX(files, i, const char *)) return NULL; /* it was signed just now, and has no key */
    SR_TRY(sr_blobs_join(&joined, marks->documents, files, false, pool));
    SR_TRY(sr_pdf_key(&document->cipher, own.pdf, joined.descriptor, pool));
    sr_pdf_pool_release(own.pdf);
    return NULL;
}

/* Reads the bytes of a revision. A revision of this transition may not be stored yet. */
static sr_error_t *read_revision(const char **bytes, const marks_t *marks, const sr_revised_t *revised,
                                 apr_pool_t *pool)
{
    const sr_content_t *content = sr_contents_get(marks->contents, revised->sha256);
    sr_blob_t blob;
    *bytes = content ? content->bytes : NULL;
    if (*bytes) return NULL;
    SR_TRY(sr_blobs_open(&blob, marks->documents, revised->key, pool));
    const apr_size_t size = (apr_size_t)revised->size;
    char *read = apr_palloc(pool, size);
    const bool whole = blob.size == revised->size && !apr_file_read_full(blob.file, read, size, NULL);
    apr_file_close(blob.file);
    *bytes = read;
    return whole ? NULL : sr_seal_failed(pool, revised->key, "the SHA-256 of the stored document is wrong");
}

/* *mark is NULL if it was not found. */
static sr_error_t *read_mark(json_t **mark, marks_t *marks, sr_document_state_t *document, const sr_revised_t *revised,
                             apr_pool_t *pool)
{
    const apr_size_t size = (apr_size_t)revised->size;
    const char *bytes;
    SR_TRY(read_revision(&bytes, marks, revised, pool));
    const sr_pdf_revised_t revision = {bytes, size, revised->whole_size - revised->size};
    if (!document->cipher.method && sr_pdf_mark_needs_key(&revision, pool))
        SR_TRY(certify_find_key(marks, document, pool));
    return sr_pdf_mark_reduced(mark, marks->workers, &revision, &document->cipher, &marks->room, marks->shares, pool);
}

/* Reads the drawing of a signer's signature from the first document that has it. *mark may be NULL. */
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

/* Reads the drawings of the sealed signatures. A large one is made as small as its share of the room. */
static sr_error_t *read_marks(json_t **list, const sr_service_t *service, const sr_service_t *own,
                              const sr_transition_t *transition, const json_t *events, sr_blobs_t *documents)
{
    const apr_array_header_t *signers = transition->signing->submission.signers;
    marks_t marks = {transition->signing, transition->contents, documents, service, own->pdf,
                     SR_PDF_MARKS_BYTES,  signers->nelts};
    apr_pool_t *scratch;
    apr_pool_create(&scratch, transition->pool);
    *list = sr_json_own(json_array(), transition->pool);
    for (int i = 0; i < signers->nelts; i++) {
        json_t *mark;
        SR_TRY(find_mark(&mark, &marks, events, APR_ARRAY_IDX(signers, i, sr_signer_t).uuid, scratch));
        json_array_append_new(*list, mark ? mark : json_null());
        marks.shares--;
    }
    apr_pool_destroy(scratch);
    return NULL;
}

/* Reads the texts of the certificate in the language of the signers, and in English if that differs. */
static sr_error_t *certify_read_words(sr_completion_t *completion, apr_pool_t *pool)
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

/* Returns the URL of the verification page, or NULL. It is never derived from a Host header. */
static const char *certify_url(const sr_settings_t *settings, apr_pool_t *pool)
{
    const bool known = *settings->base_url && settings->verify_page;
    return known ? apr_pstrcat(pool, settings->base_url, "/verify", NULL) : NULL;
}

static sr_error_t *certify_compose(const sr_service_t *service, const sr_service_t *own, sr_pdf_composed_t *composed,
                                   bool *right, const sr_transition_t *transition, const sr_cms_certificate_t *seal,
                                   sr_blobs_t *documents)
{
    const sr_signing_t *signing = transition->signing;
    json_t *events, *marks;
    SR_TRY(certify_read_events(&events, service, transition));
    SR_TRY(read_marks(&marks, service, own, transition, events, documents));
    sr_completion_t completion = {.submission = &signing->submission,
                                  .events = events,
                                  .events_hash = transition->hash,
                                  .marks = marks,
                                  .environment = signing->environment,
                                  .organization = signing->organization,
                                  .service = seal->name,
                                  .seal_sha256 = seal->sha256,
                                  .verify_url = certify_url(service->settings, transition->pool),
                                  .time = transition->now};
    SR_TRY(certify_read_words(&completion, transition->pool));
    *right = completion.rtl;
    json_t *question = sr_json_own(sr_completion_certificate(&completion, transition->pool), transition->pool);
    const char *logo = sr_service_logo(service, transition->pool);
    if (logo)
        json_object_set_new(question, "logo", json_pack("{s:s,s:s?}", "png", logo, "text", signing->organization));
    SR_TRY(sr_pdf_compose(composed, own->pdf, question, transition->pool));
    return composed->reason ? sr_seal_failed(transition->pool, "composing the certificate", composed->reason) : NULL;
}

/* *joined is the certificate with its field. No second worker confirms the field, because the first one has written
 * the whole certificate and could add anything. It has read only certificates of this organisation, and the drawings
 * of signatures in them. */
static sr_error_t *certify_prepare(const sr_service_t *own, sr_joined_t *joined, text_t *text, sr_blobs_t *documents,
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
    certify_append(text, update.bytes, update.length, pool);
    return sr_blobs_extend(joined, update.bytes, update.length, pool);
}

sr_error_t *sr_certify(const sr_service_t *service, sr_transition_t *transition, sr_blobs_t *documents)
{
    const sr_environment_t environment = transition->signing->environment;
    const sr_cms_identity_t *seal;
    SR_TRY(sr_sealing_identity(&seal, service, transition->signing, transition->pool));
    const char *sealer = sr_cms_identity_certificate(seal)->name, *sha256;
    sr_pdf_signature_t what = {.signer = SIGNER,
                               .name = sealer,
                               .reason =
                                   sr_signing_reason(transition->signing, SR_SIGNING_CERTIFICATE, transition->pool),
                               .contact = sr_signing_contact(transition->signing, transition->pool),
                               .time = transition->now,
                               .test = environment == SR_TEST,
                               .seal = sealer};
    sr_pdf_composed_t composed;
    sr_sealing_t sealing, *const sealings[] = {&sealing};
    sr_joined_t joined;
    text_t text;
    const char *owner = sr_owner_of(transition->signing->organization_uuid, environment, transition->pool);
    const sr_service_t own =
        sr_service_for_request(service, apr_pstrcat(transition->pool, owner, ".certificate", NULL), transition->pool);
    SR_TRY(certify_compose(service, &own, &composed, &what.right, transition, sr_cms_identity_certificate(seal),
                           documents));
    SR_TRY(read_output(&text, composed.document, transition->pool));
    what.base_size = (apr_off_t)text.length;
    SR_TRY(certify_prepare(&own, &joined, &text, documents, &composed, transition->pool));
    what.prepared_size = text.length - (apr_size_t)what.base_size;
    SR_TRY(sr_seal_begin(&own, &sealing, &joined, &what, seal, transition->pool));
    sr_pdf_pool_release(own.pdf);
    SR_TRY(sr_seal_stamp(service, sealings, 1, transition->pool));
    SR_TRY(sr_seal_end(&sealing, transition->pool));
    certify_append(&text, sealing.revision.bytes, sealing.revision.length, transition->pool);
    sha256 = sealing.revision.sha256;
    APR_ARRAY_PUSH(transition->contents, sr_content_t) =
        (sr_content_t){.sha256 = sha256, .size = (apr_off_t)text.length, .bytes = text.bytes};
    sr_signing_certify(transition->signing, sha256, (apr_off_t)text.length);
    json_t *detail = json_pack("{s:s}", "certificate", sha256);
    sr_seal_evidence(service, detail, &sealing);
    sr_transition_event(transition, NULL, "completed", detail);
    sr_transition_notify(transition, "completed");
    return NULL;
}
