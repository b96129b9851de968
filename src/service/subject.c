/* SPDX-License-Identifier: Apache-2.0 */
/* subject.c: reads a submission with all that a transition needs: for a signer by their link, for the caller who has
 * made it, or for the service itself. */
#include "service/private.h"

/* Without `version`, or if it is not the present one, *body is set, else NULL. */
static sr_error_t *read_body(const char **body, const sr_service_t *service, const sr_subject_t *subject,
                             const char *version, apr_pool_t *pool)
{
    const sr_signing_row_t *row = NULL;
    sr_outcome_t outcome;
    if (subject->signer)
        SR_TRY(sr_store_signing_get(service->database, &outcome, &row, subject->signer, version, pool));
    else if (subject->token_hash)
        SR_TRY(sr_store_signing_read(service->database, &outcome, &row, subject->token_hash, sr_time_now(),
                                     subject->submission, version, pool));
    else SR_TRY(sr_store_signing_due(service->database, &outcome, &row, subject->submission, version, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *body = row->body;
    return NULL;
}

static sr_error_t *read_subject(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                const char *version, apr_pool_t *pool)
{
    const char *body;
    SR_TRY(read_body(&body, service, subject, version, pool));
    return body ? sr_signing_parse(signing, body, subject->signer, pool) : NULL;
}

sr_error_t *sr_service_subject(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                               apr_pool_t *pool)
{
    return read_subject(service, signing, subject, NULL, pool);
}

sr_error_t *sr_service_subject_refresh(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                       apr_pool_t *pool)
{
    return read_subject(service, signing, subject, (*signing)->version, pool);
}
