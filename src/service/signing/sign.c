/* SPDX-License-Identifier: Apache-2.0 */
/* sign.c: a signer signs. The stored document is read, compared with its SHA-256, filled by a helper, and sealed here.
 * The revisions and the certificate of completion are durable before the transition that makes them part of the
 * submission. A crash before that leaves files to which no row refers. */
#include <string.h>

#include "service/documents/placed_fields.h"
#include "service/seals/seal_document.h"
#include "service/submissions/copies.h"

typedef struct signing_t {
    sr_blobs_t *documents;
    const sr_signed_t *what;
    const sr_pdf_mark_t *initials; /* NULL: the signer has no field that shows them */
    json_t *evidence;              /* what the event says of each document */
    apr_array_header_t *waiting;   /* waiting_t: signed, and not sealed yet */
    apr_pool_t *parts;             /* what was appended and is not stored yet */
    apr_size_t held;               /* bytes of that */
} signing_t;

/* A document that waits for the timestamp of its signature. `part` is what is appended to it. */
typedef struct waiting_t {
    sr_document_state_t *document;
    sr_sealing_t sealing;
    char *part;
    apr_size_t size;
} waiting_t;

/* --- preparing: the first signature also adds the fields of all signers, in the same revision */

static sr_error_t *sign_prepare(const sr_service_t *service, sr_pdf_update_t *update, const apr_array_header_t *fields,
                                const sr_joined_t *joined, apr_pool_t *pool)
{
    SR_TRY(sr_pdf_prepare(update, service->pdf, joined->descriptor, joined->size, fields, pool));
    return update->fault == SR_PDF_DONE ? NULL : sr_seal_failed(pool, "preparing", update->reason);
}

/* Joins the files of the document. If it has no signature yet, it will be extended by its fields. */
static sr_error_t *sign_join(sr_joined_t *joined, const signing_t *s, const sr_document_state_t *document,
                             apr_pool_t *pool)
{
    const apr_array_header_t *files = sr_document_state_files(document, pool);
    SR_TRY(sr_blobs_join(joined, s->documents, files, !document->revisions->nelts, pool));
    if (strcmp(joined->sha256, sr_document_state_sha256(document)) != 0)
        return sr_seal_failed(pool, document->uuid, "the SHA-256 of the stored document is wrong");
    return NULL;
}

/* Confirms the fields that were added to a document. The worker has read no other document, so no hostile document
 * can have taken it over. */
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

/* For the first signature: extends the document by the fields that the submission's worker has prepared and that
 * another worker has confirmed. */
static sr_error_t *prepare_first(const sr_service_t *service, const sr_service_t *own, sr_pdf_update_t *update,
                                 const sr_signing_t *signing, const apr_array_header_t *fields,
                                 const sr_document_state_t *document, sr_joined_t *joined, apr_pool_t *pool)
{
    sr_pdf_confirmed_t confirmed;
    *update = (sr_pdf_update_t){0};
    if (document->revisions->nelts) return NULL;
    SR_TRY(sign_prepare(own, update, fields, joined, pool));
    SR_TRY(sr_blobs_extend(joined, update->bytes, update->length, pool));
    SR_TRY(confirm(service, &confirmed, signing, fields, document, joined, pool));
    if (confirmed.fault == SR_PDF_DONE) return NULL;
    sr_pdf_pool_distrust(own->pdf); /* one of the two workers has forged its response */
    return sr_seal_failed(pool, "confirming", confirmed.reason);
}

/* --- sealing */

static sr_captions_t captions_of(const signing_t *s, const sr_transition_t *transition)
{
    return (sr_captions_t){transition->signing->signer, sr_language_of(s->what->consent->language), transition->client,
                           transition->now};
}

static sr_error_t *sign_fill(const sr_service_t *service, sr_sealing_t *sealing, const sr_transition_t *transition,
                             const signing_t *s, const sr_document_state_t *document, const apr_array_header_t *fields,
                             const sr_pdf_update_t *prepared, const sr_joined_t *joined, apr_pool_t *pool)
{
    const sr_signing_t *signing = transition->signing;
    const sr_signature_t *signature = s->what->signature;
    const sr_captions_t captions = captions_of(s, transition);
    const apr_size_t first = document->revisions->nelts
                                 ? (apr_size_t)APR_ARRAY_IDX(document->revisions, 0, sr_revised_t).size
                                 : prepared->length;
    const sr_pdf_signature_t what = {
        .signer = sr_signer_alias(signing->signer, transition->pool),
        .fields = fields,
        .base_size = document->base_size,
        .prepared_size = first,
        .name = sr_person_name(signing->signer->firstname, signing->signer->lastname, transition->pool),
        .reason = sr_signing_reason(signing, "Signed electronically", transition->pool),
        .contact = sr_signing_contact(signing, transition->pool),
        .time = transition->now,
        .test = signing->environment == SR_TEST,
        .captions = sr_captions_json(&captions, document->name, pool),
        .initials = s->initials,
        .ink = signature->ink,
        .text = signature->text,
        .image = signature->image,
        .image_size = signature->image_size};
    const sr_cms_identity_t *seal;
    SR_TRY(sr_sealing_identity(&seal, service, signing, pool));
    return sr_seal_begin(service, sealing, joined, &what, seal, pool);
}

/* Copies what is appended, so that the pool of the document can be destroyed. */
static void sign_hold(signing_t *s, sr_document_state_t *document, const sr_pdf_update_t *prepared,
                      const sr_sealing_t *sealing)
{
    const apr_size_t size = prepared->length + sealing->revision.length;
    char *part = apr_palloc(s->parts, size);
    waiting_t *waiting = apr_array_push(s->waiting);
    if (prepared->length) memcpy(part, prepared->bytes, prepared->length);
    memcpy(part + prepared->length, sealing->revision.bytes, sealing->revision.length);
    *waiting = (waiting_t){document, *sealing, part, size};
    sr_sealing_t *copy = &waiting->sealing;
    copy->revision.bytes = (unsigned char *)part + prepared->length;
    copy->revision.until_contents = sr_sha256_copy(sealing->revision.until_contents, s->parts);
    copy->cms = apr_pmemdup(s->parts, sealing->cms, sealing->length);
    s->held += size;
}

/* Adds a sealed revision to the transition. Its bytes stay in memory until they are stored. */
static void sign_keep(const sr_service_t *service, const sr_transition_t *transition, const signing_t *s,
                      const waiting_t *waiting)
{
    json_t *said = sr_transition_revise(transition, waiting->document, waiting->part, waiting->size,
                                        waiting->sealing.revision.sha256, false);
    sr_seal_evidence(service, said, &waiting->sealing);
    json_array_append_new(s->evidence, said);
}

/* Stamps all documents that wait in one round, and seals them. */
static sr_error_t *seal_waiting(const sr_service_t *service, signing_t *s, sr_transition_t *transition)
{
    const int count = s->waiting->nelts;
    sr_sealing_t **sealings = apr_palloc(s->parts, sizeof(void *) * (apr_size_t)(count + 1));
    for (int i = 0; i < count; i++) sealings[i] = &APR_ARRAY_IDX(s->waiting, i, waiting_t).sealing;
    SR_TRY(sr_seal_stamp(service, sealings, count, s->parts));
    for (int i = 0; i < count; i++) {
        SR_TRY(sr_seal_end(sealings[i], s->parts));
        sign_keep(service, transition, s, &APR_ARRAY_IDX(s->waiting, i, waiting_t));
    }
    apr_array_clear(s->waiting);
    return NULL;
}

/* Stores the contents that are not stored yet, and frees their bytes. */
static sr_error_t *sign_store(const sr_service_t *service, signing_t *s, sr_transition_t *transition)
{
    const apr_array_header_t *documents = transition->signing->submission.documents;
    SR_TRY(sr_contents_folder(&transition->folder, s->documents, transition->pool));
    SR_TRY(sr_contents_store(service, transition->contents, s->documents, transition->pool));
    for (int i = 0; i < transition->contents->nelts; i++)
        APR_ARRAY_IDX(transition->contents, i, sr_content_t).bytes = NULL;
    sr_assert(!s->waiting->nelts);
    apr_pool_clear(s->parts);
    s->held = 0;
    for (int i = 0; i < documents->nelts; i++) {
        const apr_array_header_t *revisions = APR_ARRAY_IDX(documents, i, sr_document_state_t).revisions;
        for (int j = 0; j < revisions->nelts; j++) {
            sr_revised_t *revised = &APR_ARRAY_IDX(revisions, j, sr_revised_t);
            if (!revised->key) revised->key = sr_contents_get(transition->contents, revised->sha256)->key;
        }
    }
    return NULL;
}

/* `own` has the worker for all documents of the submission. */
static sr_error_t *sign_document(const sr_service_t *service, const sr_service_t *own, signing_t *s,
                                 sr_transition_t *transition, sr_document_state_t *document)
{
    apr_pool_t *work; /* of one document: cleared after it */
    sr_joined_t joined;
    sr_pdf_update_t prepared;
    sr_sealing_t sealing;
    apr_pool_create(&work, transition->pool);
    const apr_array_header_t *fields =
        sr_placed_fields(transition->signing->submission.signers, document->name, document->boxes, work);
    SR_TRY(sign_join(&joined, s, document, work));
    SR_TRY(prepare_first(service, own, &prepared, transition->signing, fields, document, &joined, work));
    SR_TRY(sign_fill(own, &sealing, transition, s, document, fields, &prepared, &joined, work));
    sign_hold(s, document, &prepared, &sealing);
    apr_pool_destroy(work);
    return NULL;
}

#define HELD_MOST ((apr_size_t)4 << 20) /* bytes that are stored together, because each storing needs a reservation */

/* One round of timestamps is for all documents, unless what is appended to them takes more memory than HELD_MOST. The
 * last round begins after the worker was released, because others need it meanwhile. */
static sr_error_t *sign_documents(const sr_service_t *service, signing_t *s, sr_transition_t *transition)
{
    sr_signing_t *signing = transition->signing;
    apr_pool_t *work; /* destroying it releases the worker */
    apr_pool_create(&work, transition->pool);
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, work);
    const sr_service_t own = sr_service_for_request(service, owner, work);
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        if (sr_signer_has_field(signing->signer, document))
            SR_TRY(sign_document(service, &own, s, transition, document));
        if (s->held < HELD_MOST) continue;
        SR_TRY(seal_waiting(service, s, transition));
        SR_TRY(sign_store(service, s, transition));
    }
    apr_pool_destroy(work);
    return seal_waiting(service, s, transition);
}

/* --- values of fields */

static sr_error_t *sign_probe(const sr_service_t *service, const signing_t *s, sr_document_state_t *document,
                              apr_pool_t *pool)
{
    apr_array_header_t *key = apr_array_make(pool, 1, sizeof(const char *));
    sr_joined_t joined;
    sr_pdf_probe_t probe;
    APR_ARRAY_PUSH(key, const char *) = document->base_key;
    SR_TRY(sr_blobs_join(&joined, s->documents, key, false, pool));
    SR_TRY(sr_pdf_probe(&probe, service->pdf, joined.descriptor, joined.size, pool));
    document->boxes = probe.pages;
    return probe.pages ? NULL : sr_seal_failed(pool, document->uuid, "its pages cannot be read");
}

static sr_error_t *draw_values(const sr_service_t *service, const signing_t *s, sr_signing_t *signing,
                               apr_array_header_t *faults, apr_pool_t *pool)
{
    const char *owner = sr_owner_of(signing->organization_uuid, signing->environment, pool);
    SR_TRY(sr_service_signing_boxes(service, signing, pool));
    for (int i = 0; i < signing->submission.documents->nelts; i++) {
        sr_document_state_t *document = &APR_ARRAY_IDX(signing->submission.documents, i, sr_document_state_t);
        if (!sr_placed_entries(signing->submission.signers, document->name)) continue;
        if (!document->boxes) SR_TRY(sign_probe(service, s, document, pool));
        SR_TRY(sr_placed_draw(faults, service, owner, signing->signer, document->name, document->boxes, pool));
    }
    return NULL;
}

/* Fills in the values of the signer's fields. */
static sr_error_t *fill_in(const sr_service_t *service, const signing_t *s, const sr_transition_t *transition)
{
    sr_signing_t *signing = transition->signing;
    const sr_captions_t captions = captions_of(s, transition);
    apr_array_header_t *faults;
    sr_entries_fill(&faults, signing->signer, s->what->values, sr_captions_day(&captions, transition->pool),
                    sr_captions_date(&captions, transition->pool), transition->pool);
    SR_TRY(sr_entries_error(faults, transition->pool));
    if (!sr_entries_any(signing->signer)) return NULL;
    SR_TRY(draw_values(service, s, signing, faults, transition->pool));
    return sr_entries_error(faults, transition->pool);
}

static bool has_initials(const sr_signer_t *signer)
{
    for (int i = 0; i < signer->fields->nelts; i++)
        if (APR_ARRAY_IDX(signer->fields, i, sr_field_t).type->initials) return true;
    return false;
}

/* Without initials of the signer, the first letters of the names are typed. */
static void sign_set_initials(signing_t *s, const sr_signer_t *signer, apr_pool_t *pool)
{
    const sr_signature_t *sent = s->what->initials;
    sr_pdf_mark_t *mark = apr_pcalloc(pool, sizeof *mark);
    s->initials = NULL;
    if (!has_initials(signer)) return;
    s->initials = mark;
    if (sent) *mark = (sr_pdf_mark_t){sent->ink, sent->text, sent->image, sent->image_size};
    else mark->text = sr_person_initials(signer->firstname, signer->lastname, pool);
}

/* Checks whether the sender lets signers use these types (signatureTypes). */
static sr_error_t *sign_check_types(const signing_t *s, const sr_signing_t *signing, apr_pool_t *pool)
{
    const sr_options_t *options = &signing->submission.options;
    const char *initials = s->what->initials ? s->what->initials->kind : "typed";
    SR_TRY(sr_options_check_type(options, "signature", s->what->signature->kind, pool));
    return has_initials(signing->signer) ? sr_options_check_type(options, "initials", initials, pool) : NULL;
}

/* --- the transition */

static sr_error_t *sign(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    signing_t *s = baton;
    sr_signing_t *signing = transition->signing;
    json_t *detail = sr_json_own(json_object(), transition->pool);
    const char *drawing;
    s->evidence = json_array();
    s->waiting = apr_array_make(transition->pool, 4, sizeof(waiting_t));
    json_object_set_new(detail, "signatureType", json_string(s->what->signature->kind));
    json_object_set_new(detail, "consent", json_string(s->what->consent->version));
    if (*s->what->terms_url) json_object_set_new(detail, "termsUrl", json_string(s->what->terms_url));
    if (transition->client->time_zone) {
        json_object_set_new(detail, "timeZone", json_string(transition->client->time_zone));
        json_object_set_new(detail, "utcOffset", json_integer(transition->client->utc_offset));
    }
    json_object_set_new(detail, "documents", s->evidence);
    SR_TRY(sr_signing_may(signing, SR_ACTION_SIGN, transition->pool));
    SR_TRY(sr_session_may_act(signing, transition->pool));
    SR_TRY(sign_check_types(s, signing, transition->pool));
    SR_TRY(fill_in(service, s, transition));
    sign_set_initials(s, signing->signer, transition->pool);
    json_t *values = sr_entries_json(&signing->submission, signing->signer);
    if (values) json_object_set_new(detail, "values", values);
    apr_pool_create(&s->parts, transition->pool);
    s->held = 0;
    SR_TRY(sign_documents(service, s, transition));
    SR_TRY(sr_certify_drawing(&drawing, service, signing, s->what->signature, transition->pool));
    if (drawing) json_object_set_new(detail, "drawing", json_string(drawing));
    sr_transition_open(transition);
    sr_signing_complete(signing, transition->now, transition->client, s->what->signature->kind,
                        s->what->consent->version);
    sr_transition_event(transition, transition->signing->signer->uuid, "signed", json_incref(detail));
    sr_transition_notify(transition, "signed");
    sr_transition_change(transition, signing->signer);
    if (!sr_submission_all_signed(&signing->submission)) sr_transition_due(service, transition);
    else {
        SR_TRY(sr_certify(service, transition, s->documents));
        SR_TRY(sr_copies_write(service, transition, s->documents));
    }
    return sign_store(service, s, transition);
}

sr_error_t *sr_service_sign(const sr_service_t *service, sr_signing_t **signing, const sr_client_t *client,
                            const sr_signed_t *what, apr_pool_t *pool)
{
    signing_t s = {.what = what};
    SR_TRY(sr_service_documents(&s.documents, service, pool));
    SR_TRY(sr_service_folder(service, s.documents, pool));
    const sr_subject_t subject = {.signer = (*signing)->signer->uuid};
    return sr_transition_take(service, signing, &subject, client, sign, &s, pool);
}
