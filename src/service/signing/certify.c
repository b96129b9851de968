/* SPDX-License-Identifier: Apache-2.0 */
/* certify.c: the certificate of completion. It is made with the last signature, in the same transaction, so every
 * completed submission has one. It shows the drawings of the signatures, which are kept with the events when they are
 * made. */
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

/* Adds an event with its personal values. "signed" gets the drawing of the signature. */
static void certify_add_event(json_t *events, json_t *event, const json_t *personal, apr_pool_t *pool)
{
    const char *drawing = sr_event_drawing(personal);
    sr_event_reveal(event, personal, pool);
    if (drawing) json_object_set_new(json_object_get(event, "detail"), "drawing", json_string(drawing));
    json_array_append(events, event);
}

/* The complete audit trail: the stored events, and those of this transition. */
static sr_error_t *certify_read_events(json_t **events, const sr_service_t *service, const sr_transition_t *transition)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *stored;
    apr_pool_t *pool = transition->pool;
    SR_TRY(sr_store_signing_events(service->database, &outcome, &row, transition->signing->signer->uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_json_read(&stored, row->body, pool));
    *events = sr_json_own(json_array(), pool);
    for (size_t i = 0; i < json_array_size(stored); i++) {
        const json_t *pair = json_array_get(stored, i);
        certify_add_event(*events, json_array_get(pair, 0), json_array_get(pair, 1), pool);
    }
    for (int i = 0; i < transition->events->nelts; i++) {
        const sr_event_arg_t *written = &APR_ARRAY_IDX(transition->events, i, sr_event_arg_t);
        json_t *event, *values = NULL;
        SR_TRY(sr_json_read(&event, written->body, pool));
        if (written->personal) SR_TRY(sr_json_read(&values, written->personal, pool));
        certify_add_event(*events, event, values, pool);
    }
    return NULL;
}

/* Reads the texts of the certificate in the language of the signers, and in English if that differs. */
static sr_error_t *certify_read_words(sr_completion_t *completion, apr_pool_t *pool)
{
    static const char part[] = "certificate";
    const sr_language_t *own = sr_signers_language(completion->submission), *english = sr_language_of("en");
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
                                   bool *right, const sr_transition_t *transition, const sr_cms_certificate_t *seal)
{
    const sr_signing_t *signing = transition->signing;
    json_t *events;
    SR_TRY(certify_read_events(&events, service, transition));
    sr_completion_t completion = {.submission = &signing->submission,
                                  .events = events,
                                  .events_hash = transition->hash,
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

/* Returns the service with the worker for the certificates of an organisation, which reads no document of a caller. */
static sr_service_t certify_service(const sr_service_t *service, const sr_signing_t *signing, apr_pool_t *pool)
{
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, pool);
    return sr_service_for_drawing(service, owner, pool);
}

#define DRAWINGS_MOST ((apr_size_t)4 << 20) /* of all signers together, because one request has all of them */

sr_error_t *sr_certify_drawing(const char **drawing, const sr_service_t *service, const sr_signing_t *signing,
                               const sr_signature_t *signature, apr_pool_t *pool)
{
    const apr_size_t share = DRAWINGS_MOST / (apr_size_t)signing->submission.signers->nelts;
    const sr_pdf_signature_t what = {
        .ink = signature->ink, .text = signature->text, .image = signature->image, .image_size = signature->image_size};
    apr_pool_t *work;
    apr_pool_create(&work, pool);
    const sr_service_t own = certify_service(service, signing, work);
    sr_error_t *error =
        sr_pdf_drawing(drawing, own.pdf, &what, share < SR_PDF_MAX_DRAWING ? share : SR_PDF_MAX_DRAWING, pool);
    apr_pool_destroy(work);
    return error;
}

/* *joined is the certificate with its field. No second worker confirms the field, because the first one has written
 * the whole certificate and could add anything. It has read only certificates of this organisation, and drawings of
 * signatures. */
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
    const sr_service_t own = certify_service(service, transition->signing, transition->pool);
    SR_TRY(certify_compose(service, &own, &composed, &what.right, transition, sr_cms_identity_certificate(seal)));
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
