/* SPDX-License-Identifier: Apache-2.0 */
/* preflight.c: checks that documents can be sealed with their fields. They are prepared as a trial, and the result
 * is thrown away, because the first signer's revision will contain it. A document that is damaged, or that leaves
 * the drawing of its form to readers, is rewritten once, and the rewritten document is shown and sealed. The results
 * are stored in the reports, so that a document that was uploaded before needs no request to a helper. */
#include "service/submissions/preflight.h"
#include "service/documents/placed_fields.h"

#include <string.h>

#include "metrics/metrics.h"

/* The helpers read the documents of a creation one after the other. The documents are to blame for their processor
 * time, and a busy machine for the rest of the elapsed time. */
#define MOST_PROCESSOR apr_time_from_sec(7)
#define MOST_ELAPSED apr_time_from_sec(30)
#define LAST_REQUEST apr_time_from_msec(2500) /* which begins before the elapsed time is over */
#define MANY_FIELDS 1000 /* more fields than this are not covered by a trial with a few fields on the same pages */
#define PIECE (64 << 10)

static const char SIGNED[] = "it is signed already and damaged: repairing it would break its signatures";
static const char UNRECOVERABLE[] = "it is damaged beyond repair";

typedef struct proof_t {
    const sr_service_t *service;
    const sr_create_t *request;
    sr_preflight_t *preflight;
    apr_array_header_t *signers;
    sr_document_t *document;
    sr_files_t *files;
    apr_pool_t *pool;
} proof_t;

void sr_preflight_begin(sr_preflight_t *preflight, int count, apr_pool_t *pool)
{
    preflight->deadline = sr_time_steady() + MOST_ELAPSED;
    preflight->documents = apr_array_make(pool, count, sizeof(sr_document_t));
    preflight->files = apr_array_make(pool, count, sizeof(sr_files_t));
}

sr_pdf_pool_t *sr_preflight_helper(const sr_preflight_t *preflight, const sr_service_t *service,
                                   const sr_token_t *caller, apr_pool_t *pool)
{
    const char *owner = sr_owner_of(caller->organization_uuid, caller->environment, pool);
    return sr_pdf_pool_for_request(service->pdf, owner, preflight->deadline + LAST_REQUEST - sr_time_steady(), pool);
}

void sr_preflight_count(const char *reason)
{
    sr_metrics_count(SR_METRIC_REFUSED, sr_metrics_number(SR_LABEL_REFUSAL, reason), 0, 1);
}

static sr_error_t *preflight_refusal(const char *name, const char *reason, apr_pool_t *pool)
{
    return sr_error(pool, SR_EBADREQUEST, "Document %s cannot be signed: %s", name, reason);
}

sr_error_t *sr_preflight_refuse(const char *name, const char *reason, apr_pool_t *pool)
{
    sr_preflight_count("unsignable");
    return preflight_refusal(name, reason, pool);
}

sr_error_t *sr_preflight_in_time(const sr_preflight_t *preflight, const char *name, apr_pool_t *pool)
{
    apr_interval_time_t used = 0;
    for (int i = 0; i < preflight->files->nelts; i++)
        used += sr_pdf_pool_used(APR_ARRAY_IDX(preflight->files, i, sr_files_t).pdf);
    if (used >= MOST_PROCESSOR) return sr_preflight_refuse(name, "it takes too long to read", pool);
    if (sr_time_steady() < preflight->deadline) return NULL;
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Documents cannot be read at the moment, try again later"),
                            pool, "the helpers had %" APR_TIME_T_FMT " ms of processor time for a creation",
                            apr_time_as_msec(used));
}

static sr_error_t *preflight_refuse(const proof_t *proof, const char *reason)
{
    return sr_preflight_refuse(proof->document->name, reason, proof->pool);
}

static sr_error_t *in_time(const proof_t *proof)
{
    return sr_preflight_in_time(proof->preflight, proof->document->name, proof->pool);
}

/* Returns the file of the document that is sealed. */
static sr_file_t *sealed_file(sr_files_t *files)
{
    return files->rewritten.sha256 ? &files->rewritten : &files->upload;
}

sr_error_t *sr_preflight_descriptor(int *descriptor, const sr_create_t *request, const sr_file_t *file,
                                    apr_pool_t *pool)
{
    if (file->spool) return sr_blobs_descriptor(file->spool, descriptor);
    return sr_blobs_reader(descriptor, request->uploads->documents, file->key, pool);
}

sr_error_t *sr_preflight_open(int *descriptor, apr_off_t *size, const sr_preflight_t *preflight, int document,
                              const sr_create_t *request, apr_pool_t *pool)
{
    const sr_file_t *file = sealed_file(&APR_ARRAY_IDX(preflight->files, document, sr_files_t));
    *size = file->size;
    return sr_preflight_descriptor(descriptor, request, file, pool);
}

sr_error_t *sr_preflight_forms(const sr_preflight_t *preflight, const apr_array_header_t *signers,
                               const sr_create_t *request, apr_pool_t *pool)
{
    for (int i = 0; i < preflight->documents->nelts; i++) {
        sr_document_t *document = &APR_ARRAY_IDX(preflight->documents, i, sr_document_t);
        const sr_files_t *files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        json_t *form;
        int descriptor;
        if (!sr_signers_use_form(signers, preflight->documents, i)) continue;
        SR_TRY(sr_preflight_in_time(preflight, document->name, pool));
        SR_TRY(sr_preflight_descriptor(&descriptor, request, &files->upload, pool));
        SR_TRY(sr_pdf_inspect(&form, files->pdf, descriptor, document->pages->count, pool));
        if (!form) return sr_preflight_refuse(document->name, "its form cannot be read", pool);
        document->form = form;
    }
    return NULL;
}

sr_error_t *sr_preflight_texts(const sr_preflight_t *preflight, const apr_array_header_t *signers, int max_fields,
                               const sr_create_t *request, apr_pool_t *pool)
{
    for (int i = 0; i < preflight->documents->nelts; i++) {
        sr_document_t *document = &APR_ARRAY_IDX(preflight->documents, i, sr_document_t);
        const sr_files_t *files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        json_t *found;
        int descriptor;
        SR_TRY(sr_signers_anchors(preflight->documents, i, signers, pool));
        if (!document->anchors.texts) continue;
        SR_TRY(sr_preflight_in_time(preflight, document->name, pool));
        SR_TRY(sr_preflight_descriptor(&descriptor, request, &files->upload, pool));
        SR_TRY(sr_pdf_find(&found, files->pdf, descriptor, files->upload.sha256, document->pages->count,
                           document->anchors.texts, sr_anchor_most(max_fields), pool));
        if (!found) return sr_preflight_refuse(document->name, "its text cannot be read", pool);
        document->anchors.found = found;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- rewriting */

sr_error_t *sr_preflight_append(sr_blob_writer_t *spool, int descriptor, apr_off_t size, apr_pool_t *pool)
{
    char *piece = apr_palloc(pool, PIECE);
    for (apr_off_t at = 0; at < size;) {
        const apr_size_t length = size - at < PIECE ? (apr_size_t)(size - at) : PIECE;
        SR_TRY(sr_pdf_read(piece, descriptor, at, length, pool));
        SR_TRY(sr_blobs_write(spool, piece, length));
        at += (apr_off_t)length;
    }
    return NULL;
}

/* Begins a spool with the bytes of `output`. */
static sr_error_t *begin_spool(sr_file_t *file, const proof_t *proof, const sr_pdf_output_t *output)
{
    SR_TRY(sr_blobs_begin(&file->spool, proof->request->uploads->documents, proof->pool));
    return sr_preflight_append(file->spool, output->descriptor, output->size, proof->pool);
}

static sr_error_t *spool_output(sr_file_t *file, const proof_t *proof, const sr_pdf_output_t *output)
{
    SR_TRY(begin_spool(file, proof, output));
    return sr_blobs_end(file->spool, &file->sha256, &file->size);
}

/* Rewrites the upload, and sets the content and the pages of `file`. The result is probed like an upload. Its pages
 * must be those of the upload, because the caller's page numbers refer to them. */
static sr_error_t *preflight_write_again(sr_file_t *file, const proof_t *proof, apr_pool_t *scratch)
{
    const sr_file_t *upload = &proof->files->upload;
    sr_pdf_rewritten_t *made = apr_pcalloc(scratch, sizeof *made);
    sr_pdf_probe_t probe = {0};
    int descriptor;
    SR_TRY(in_time(proof));
    SR_TRY(sr_preflight_descriptor(&descriptor, proof->request, upload, scratch));
    SR_TRY(sr_pdf_rewrite(made, proof->files->pdf, descriptor, upload->size, scratch));
    if (made->fault) return preflight_refuse(proof, made->reason);
    SR_TRY(in_time(proof));
    SR_TRY(sr_pdf_probe(&probe, proof->files->pdf, made->document.descriptor, made->document.size, proof->pool));
    if (probe.verdict != SR_PDF_ACCEPTED) return preflight_refuse(proof, probe.reason ? probe.reason : UNRECOVERABLE);
    if (probe.pages->normalise || probe.pages->signatures || probe.pages->count != upload->pages->count)
        return preflight_refuse(proof, UNRECOVERABLE);
    file->pages = probe.pages;
    return spool_output(file, proof, &made->document);
}

/* Replaces the document by its rewritten form, on whose pages the fields are placed. */
static sr_error_t *rewrite(const proof_t *proof)
{
    sr_files_t *files = proof->files;
    sr_file_t made = {0};
    apr_pool_t *scratch; /* destroyed early, because it is as large as the document */
    if (files->upload.pages->signatures) return preflight_refuse(proof, SIGNED);
    apr_pool_create(&scratch, proof->pool);
    SR_TRY(preflight_write_again(&made, proof, scratch));
    apr_pool_destroy(scratch);
    files->rewritten = made;
    files->upload.pages = sr_pages_rewritten(files->upload.pages, made.sha256, made.size, proof->pool);
    files->upload.changed = true;
    proof->document->pages = made.pages;
    const sr_resolving_t resolving = {proof->service->settings->max_fields, proof->request->remarks,
                                      proof->preflight->draft};
    return sr_signers_resolve(proof->signers, proof->preflight->documents, &resolving, proof->pool);
}

/* ------------------------------------------------------------------------------------------------------- preparing */

static apr_array_header_t *fields_of(const proof_t *proof)
{
    return sr_placed_fields(proof->signers, proof->document->name, proof->document->pages, proof->pool);
}

#define LONG_DAY "2026-09-27" /* which has many letters in most languages */
#define LONG_DAY_SECONDS 1790510400

/* Sets the dates of a signer to a long one, or removes it. Returns true if there are any. */
static bool set_days(const proof_t *proof, const sr_signer_t *signer, bool is_set)
{
    static const sr_client_t nobody;
    const sr_captions_t captions = {signer, sr_language(0), &nobody, apr_time_from_sec(LONG_DAY_SECONDS)};
    bool any = false;
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, i, sr_field_t);
        if (!field->entry || field->type->filler != SR_FILLER_SERVICE) continue;
        any = true;
        field->entry->value = NULL;
        field->entry->shown = NULL;
        if (is_set) sr_entry_set_day(field->entry, LONG_DAY, sr_captions_date(&captions, proof->pool), proof->pool);
    }
    return any;
}

/* Has the values of a signer's fields drawn, after a date that would keep the signer from signing if it did not fit. */
static sr_error_t *draw_signer(apr_array_header_t *faults, const proof_t *proof, const sr_signer_t *signer,
                               const char *owner)
{
    const sr_document_t *document = proof->document;
    if (set_days(proof, signer, true))
        SR_TRY(sr_placed_draw(faults, proof->service, owner, signer, document->name, document->pages, proof->pool));
    set_days(proof, signer, false);
    if (faults->nelts) return NULL;
    return sr_placed_draw(faults, proof->service, owner, signer, document->name, document->pages, proof->pool);
}

/* Has the values of the fields drawn. A value that does not fit is refused. */
static sr_error_t *draw_values(const proof_t *proof)
{
    const sr_token_t *caller = proof->request->caller;
    if (!sr_placed_entries(proof->signers, proof->document->name)) return NULL;
    const char *owner = sr_owner_of(caller->organization_uuid, caller->environment, proof->pool);
    for (int i = 0; i < proof->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(proof->signers, i, sr_signer_t);
        apr_array_header_t *faults = apr_array_make(proof->pool, 1, sizeof(sr_entry_fault_t));
        SR_TRY(in_time(proof));
        SR_TRY(draw_signer(faults, proof, signer, owner));
        if (!faults->nelts) continue;
        const sr_entry_fault_t *fault = &APR_ARRAY_IDX(faults, 0, sr_entry_fault_t);
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, fault->number - 1, sr_field_t);
        return sr_signers_refuse(signer, i + 1, field->number, fault->message, proof->pool);
    }
    return NULL;
}

/* Has another worker confirm the document with its fields, which signers see before anybody signs. Sets what was
 * appended. */
static sr_error_t *keep_prepared(const proof_t *proof, const sr_pdf_update_t *update, const apr_array_header_t *fields,
                                 int descriptor, apr_off_t size)
{
    sr_prepared_t *prepared = &proof->document->prepared;
    const sr_pdf_output_t before = {descriptor, size};
    sr_pdf_confirmed_t confirmed;
    sr_file_t whole = {0};
    int joined;
    SR_TRY(begin_spool(&whole, proof, &before));
    SR_TRY(sr_blobs_write(whole.spool, (const char *)update->bytes, update->length));
    SR_TRY(sr_blobs_end(whole.spool, &prepared->whole_sha256, &prepared->whole_size));
    SR_TRY(sr_blobs_descriptor(whole.spool, &joined));
    sr_error_t *error = sr_pdf_confirm(&confirmed, proof->service->pdf, joined, size, fields, proof->pool);
    sr_blobs_drop(whole.spool);
    SR_TRY(error);
    if (confirmed.fault != SR_PDF_DONE) {
        sr_pdf_pool_distrust(proof->files->pdf); /* one of the two workers has forged its response */
        return preflight_refuse(proof, confirmed.reason);
    }
    proof->files->prepared = apr_pmemdup(proof->pool, update->bytes, update->length);
    prepared->sha256 = sr_sha256_hex(update->bytes, update->length, proof->pool);
    prepared->size = (apr_off_t)update->length;
    return NULL;
}

/* Returns true if preparing fields on these pages has succeeded before. Existing fields and fields with values are
 * always tried. */
static bool is_remembered(const sr_pages_t *pages, const apr_array_header_t *fields)
{
    if (fields->nelts > MANY_FIELDS) return false;
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        if (field->existing || field->entry || !sr_pages_is_prepared(pages, field->page)) return false;
    }
    return true;
}

static void preflight_remember(sr_file_t *file, const apr_array_header_t *fields, apr_pool_t *pool)
{
    for (int i = 0; i < fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(fields, i, sr_pdf_field_t);
        const sr_pages_t *known = file->pages;
        if (field->existing) continue;
        file->pages = sr_pages_prepared(known, field->page, pool);
        if (file->pages != known) file->changed = true;
    }
}

/* *damage is NULL if the document can be prepared, else the reason why not. Such a document may be rewritten. */
static sr_error_t *preflight_prepare(const char **damage, const proof_t *proof)
{
    sr_file_t *file = sealed_file(proof->files);
    SR_TRY(draw_values(proof));
    const apr_array_header_t *fields = fields_of(proof);
    sr_pdf_update_t update = {0};
    apr_pool_t *scratch;
    int descriptor;
    *damage = NULL;
    if (is_remembered(file->pages, fields)) return NULL;
    SR_TRY(in_time(proof));
    apr_pool_create(&scratch, proof->pool);
    SR_TRY(sr_preflight_descriptor(&descriptor, proof->request, file, scratch));
    SR_TRY(sr_pdf_prepare(&update, proof->files->pdf, descriptor, file->size, fields, scratch));
    if (update.fault == SR_PDF_DOCUMENT_DAMAGED) *damage = apr_pstrdup(proof->pool, update.reason);
    else if (update.fault) return preflight_refuse(proof, update.reason);
    else preflight_remember(file, fields, proof->pool);
    if (!update.fault && sr_placed_entries(proof->signers, proof->document->name))
        SR_TRY(keep_prepared(proof, &update, fields, descriptor, file->size));
    apr_pool_destroy(scratch);
    return NULL;
}

static sr_error_t *preflight_prove(const proof_t *proof)
{
    sr_files_t *files = proof->files;
    const char *damage, *active = sr_warnings_refusal(proof->document->pages->warnings, proof->pool);
    if (active && proof->service->settings->refuse_active) {
        sr_preflight_count("active");
        return preflight_refusal(proof->document->name, active, proof->pool);
    }
    if (!fields_of(proof)->nelts) return NULL;
    if (files->upload.pages->normalise && !files->rewritten.sha256) SR_TRY(rewrite(proof));
    SR_TRY(preflight_prepare(&damage, proof));
    if (damage && files->rewritten.sha256) return preflight_refuse(proof, damage);
    if (damage) {
        SR_TRY(rewrite(proof));
        SR_TRY(preflight_prepare(&damage, proof));
        if (damage) return preflight_refuse(proof, damage);
    }
    if (files->rewritten.sha256 && files->upload.pages->warnings & SR_WARNING_BIT(SR_WARNING_RIGHTS))
        sr_remark(proof->request->remarks, "%s: %s", proof->document->name, sr_warning(SR_WARNING_RIGHTS)->sentence);
    proof->document->rewritten_sha256 = files->rewritten.sha256;
    proof->document->rewritten_size = files->rewritten.size;
    return NULL;
}

sr_error_t *sr_preflight(const sr_service_t *service, sr_preflight_t *preflight, apr_array_header_t *signers,
                         const sr_create_t *request, apr_pool_t *pool)
{
    proof_t proof = {.service = service, .request = request, .preflight = preflight, .signers = signers, .pool = pool};
    for (int i = 0; i < preflight->documents->nelts; i++) {
        proof.document = &APR_ARRAY_IDX(preflight->documents, i, sr_document_t);
        proof.files = &APR_ARRAY_IDX(preflight->files, i, sr_files_t);
        SR_TRY(preflight_prove(&proof));
        sr_pdf_pool_release(proof.files->pdf);
    }
    return NULL;
}
