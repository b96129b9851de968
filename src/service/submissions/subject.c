/* SPDX-License-Identifier: Apache-2.0 */
/* subject.c: reads a submission with all that a transition needs: for a signer or viewer by their link, for the caller
 * who has made it, or for the service itself. */
#include "service/private.h"

#include <string.h>
#include <strings.h>

#define SHOWN 8 /* characters of a signer's uuid that the administrator sees (SR_OP_ADMIN_SUBMISSION_GET) */

/* Without `version`, or if it is not the present one, *body is set, else NULL. */
static sr_error_t *read_body(const char **body, const sr_service_t *service, const sr_subject_t *subject,
                             const char *version, apr_pool_t *pool)
{
    const sr_signing_row_t *row = NULL;
    sr_outcome_t outcome;
    if (subject->signer)
        SR_TRY(sr_store_signing_get(service->database, &outcome, &row, subject->signer, version, pool));
    else if (subject->viewer)
        SR_TRY(sr_store_viewing_get(service->database, &outcome, &row, subject->viewer, version, pool));
    else if (subject->placement)
        SR_TRY(sr_store_signing_placed(service->database, &outcome, &row, subject->placement, version, pool));
    else if (subject->token_hash)
        SR_TRY(sr_store_signing_read(service->database, &outcome, &row, subject->token_hash, sr_time_now(),
                                     subject->submission, version, pool));
    else SR_TRY(sr_store_signing_due(service->database, &outcome, &row, subject->submission, version, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *body = row->body;
    return NULL;
}

sr_error_t *sr_service_subject_parse(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                     const char *body, apr_pool_t *pool)
{
    SR_TRY(sr_signing_parse(signing, body, subject->signer, pool));
    if (subject->viewer && !((*signing)->viewer = sr_submission_viewer(&(*signing)->submission, subject->viewer)))
        return sr_error(pool, SR_EINTERNAL, "A submission in the database lacks its viewer");
    return subject->signer && !subject->asks ? sr_session_require(service, *signing, pool) : NULL;
}

static sr_error_t *read_subject(const sr_service_t *service, sr_signing_t **signing, const sr_subject_t *subject,
                                const char *version, apr_pool_t *pool)
{
    const char *body;
    SR_TRY(read_body(&body, service, subject, version, pool));
    return body ? sr_service_subject_parse(service, signing, subject, body, pool) : NULL;
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

sr_service_t sr_service_for_subject(const sr_service_t *service, const sr_subject_t *subject,
                                    const sr_signing_t *signing)
{
    sr_service_t own = *service;
    if (!subject->token_hash) own.set_base_url = signing->base_url;
    return own;
}

void sr_subject_note(json_t *detail, const sr_subject_t *subject)
{
    if (!subject->token_hash) json_object_set_new(detail, "by", json_string("administrator"));
}

/* `which` is an email, or the beginning of the uuid that is shown; NULL: each signer whose turn it is. */
static bool is_named(const sr_signer_t *signer, const char *which)
{
    if (!which) return signer->state == SR_SIGNER_SENT || signer->state == SR_SIGNER_OPENED;
    return (signer->email && !strcasecmp(signer->email, which))
           || (strlen(which) == SHOWN && !strncasecmp(signer->uuid, which, SHOWN));
}

sr_error_t *sr_service_signers(const sr_service_t *service, apr_array_header_t **uuids, const char *submission,
                               const char *which, apr_pool_t *pool)
{
    const sr_subject_t subject = {.submission = submission};
    sr_signing_t *signing;
    SR_TRY(sr_service_subject(service, &signing, &subject, pool));
    const apr_array_header_t *signers = signing->submission.signers;
    *uuids = apr_array_make(pool, signers->nelts, sizeof(const char *));
    for (int i = 0; i < signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        if (is_named(signer, which)) APR_ARRAY_PUSH(*uuids, const char *) = signer->uuid;
    }
    return NULL;
}
