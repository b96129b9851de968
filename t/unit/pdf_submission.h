/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_submission.h: the records of a submission whose one signer has signed: what a certificate tells of. */
#ifndef SR_TEST_PDF_SUBMISSION_H
#define SR_TEST_PDF_SUBMISSION_H

#include "model/model.h"

#define HASH "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

static inline sr_submission_t contract(apr_pool_t *pool)
{
    apr_array_header_t *documents = apr_array_make(pool, 1, sizeof(sr_document_state_t));
    apr_array_header_t *signers = apr_array_make(pool, 1, sizeof(sr_signer_t));
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_field_t)), *none = apr_array_make(pool, 0, 1);
    const apr_time_t signed_at = APR_TIME_C(1795284563123000);
    APR_ARRAY_PUSH(fields, sr_field_t) = (sr_field_t){.document = "a.pdf"};
    APR_ARRAY_PUSH(documents, sr_document_state_t) =
        (sr_document_state_t){.name = "a.pdf", .pages = 3, .sha256 = HASH, .base_sha256 = HASH, .revisions = none};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = "s",
                                                         .firstname = "Ann",
                                                         .lastname = "Lee",
                                                         .email = "ann@x.org",
                                                         .fields = fields,
                                                         .state = SR_SIGNER_COMPLETED,
                                                         .opened_at = signed_at - apr_time_from_sec(82800),
                                                         .completed_at = signed_at,
                                                         .ip = "2001:db8::1",
                                                         .user_agent = "Agent/7 (X; Y)",
                                                         .signature_type = "typed",
                                                         .consent = "1-en"};
    return (sr_submission_t){.uuid = "44444444-d9cb-469f-a165-70867728950e",
                             .name = "Contract",
                             .created_at = signed_at - apr_time_from_sec(86400),
                             .created_by = {.firstname = "Cy", .email = "cy@x.org"},
                             .documents = documents,
                             .signers = signers};
}

#endif
