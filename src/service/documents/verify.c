/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: checks the signatures of a document, and whether the caller has this document. Nothing is stored. */
#include "service/private.h"
#include "verify/verify.h"

#include <string.h>

#define VISITORS "verification page" /* requests without a token count as this organisation at the gate of pages */

static const sr_upload_t *file_of(const sr_verify_t *request)
{
    return &APR_ARRAY_IDX(request->uploads->files, 0, sr_upload_t);
}

/* Adds SHA-256 and size of the document. */
static void verify_add_file(json_t *answer, const sr_verify_t *request)
{
    json_object_set_new(answer, "sha256", json_string(file_of(request)->sha256));
    json_object_set_new(answer, "size", json_integer(file_of(request)->size));
}

static sr_error_t *verify_ask(const sr_service_t *service, sr_pdf_pool_t *pdf, sr_pdf_verification_t *found,
                              const sr_verify_t *request, const sr_cms_certificate_t *const *ours, apr_pool_t *pool)
{
    const sr_cms_context_t context = {.anchors = service->child->trust, .ours = ours};
    const sr_upload_t *file = file_of(request);
    int descriptor;
    SR_TRY(sr_blobs_descriptor(file->spool, &descriptor));
    return sr_pdf_verify(found, pdf, descriptor, file->size, &context, pool);
}

/* Only seals of the caller's environment are recognised, so that a seal of the test environment is not taken for a
 * binding one. Own seals of all organisations are those of this service: a caller who has a document that one of them
 * has sealed can read its certificate. */
static sr_error_t *verify_check(const sr_service_t *service, sr_pdf_verification_t *found, const sr_verify_t *request,
                                apr_pool_t *pool)
{
    const bool binding = request->environment == SR_PRODUCTION;
    const sr_child_t *child = service->child;
    return verify_ask(service, service->pdf, found, request,
                      sr_cms_own_ours(&child->seal[request->environment], binding ? 2 : 1, binding ? child->own : NULL,
                                      binding ? child->former : NULL, pool),
                      pool);
}

/* *row is NULL if the caller has no document with this SHA-256. */
static sr_error_t *verify_find(const sr_service_t *service, const sr_file_row_t **row, const sr_verify_t *request,
                               apr_pool_t *pool)
{
    sr_outcome_t outcome;
    SR_TRY(sr_store_document_known(service->database, &outcome, row, request->token_hash, sr_time_now(),
                                   file_of(request)->sha256, pool));
    return outcome == SR_MISSING ? NULL : sr_service_refusal(outcome, pool);
}

/* Returns null for a certificate of completion, which belongs to a submission but is not one of its documents. */
static json_t *verify_document_of(const sr_file_row_t *row)
{
    if (!row || !row->document) return json_null();
    return json_pack("{s:s,s:s}", "uuid", row->document, "name", row->name);
}

sr_error_t *sr_service_verify(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                              apr_pool_t *pool)
{
    sr_pdf_verification_t found;
    const sr_file_row_t *row;
    SR_TRY(verify_check(service, &found, request, pool));
    if (found.conclusion == SR_PDF_UNREADABLE)
        return sr_error(pool, SR_EBADREQUEST, "The document cannot be verified: %s",
                        sr_pdf_verification_reason(&found));
    SR_TRY(verify_find(service, &row, request, pool));
    *answer = sr_pdf_verification_json(&found);
    verify_add_file(*answer, request);
    json_object_set_new(*answer, "known", json_boolean(row != NULL));
    json_object_set_new(*answer, "submission", sr_json_string_or_null(row ? row->submission : NULL));
    json_object_set_new(*answer, "document", verify_document_of(row));
    return NULL;
}

/* --- without a token */

static const char *finding_of(const sr_pdf_verification_t *found)
{
    if (found->conclusion == SR_PDF_EXTENDED && found->validation) return "validation";
    if (found->conclusion == SR_PDF_UNCHECKED && found->incomparable) return "incomparable";
    if (found->conclusion == SR_PDF_UNREADABLE && found->verdict == SR_PDF_PASSWORD) return "encrypted";
    if (found->conclusion == SR_PDF_UNREADABLE && found->verdict == SR_PDF_REFUSED) return "refused";
    return sr_pdf_conclusion_name(found->conclusion);
}

/* Adds to each signature the environment of the seal that made it. `test` is that of tests, or NULL. */
static void add_environments(json_t *answer, const sr_pdf_verification_t *found, const sr_cms_certificate_t *test)
{
    for (int i = 0; i < found->count; i++) {
        const sr_cms_result_t *signer = &found->signatures[i].signer;
        const bool is_test = signer->ours && test && !strcmp(signer->signer->sha256, test->sha256);
        json_object_set_new(json_array_get(json_object_get(answer, "signatures"), (size_t)i), "environment",
                            signer->ours ? json_string(is_test ? "test" : "production") : json_null());
    }
}

sr_error_t *sr_service_verify_public(const sr_service_t *service, json_t **answer, const sr_verify_t *request,
                                     apr_pool_t *pool)
{
    const sr_child_t *child = service->child;
    const sr_cms_certificate_t *test = child->seal[SR_TEST] ? sr_cms_identity_certificate(child->seal[SR_TEST]) : NULL;
    const sr_cms_certificate_t *const *ours =
        sr_cms_own_ours(child->seal, SR_PRODUCTION + 1, child->own, child->former, pool);
    sr_pdf_verification_t found;
    SR_TRY(verify_ask(service, sr_pdf_pool_for_public(service->pdf, pool), &found, request, ours, pool));
    *answer = sr_json_own(sr_pdf_verification_json(&found), pool);
    add_environments(*answer, &found, test);
    json_object_set_new(*answer, "finding", json_string(finding_of(&found)));
    verify_add_file(*answer, request);
    return NULL;
}

sr_error_t *sr_service_verify_enter(const sr_service_t *service, sr_verify_visit_t **visit, apr_pool_t *pool)
{
    return sr_pdf_visit_begin(visit, service->pdf, VISITORS, VISITORS, pool);
}

void sr_service_verify_leave(sr_verify_visit_t *visit)
{
    sr_pdf_visit_end(visit);
}
