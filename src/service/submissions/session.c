/* SPDX-License-Identifier: Apache-2.0 */
/* session.c: whether a signer may see what is behind their link. A signer whose identity is checked needs a session,
 * which they get when they pass the check. Its secret is a part of the URL
 * (docs/decisions/0030-sessions-of-signers.md), and the database has its SHA-256.
 *
 * sr_service_subject_parse calls sr_session_require for each submission that is read for a signer, so no handler can
 * forget it. */
#include "service/private.h"

#include <string.h>

#define SESSION_BYTES (SR_SESSION_LENGTH / 2)

const char *sr_session_hash(const char *session, apr_pool_t *pool)
{
    return sr_sha256_hex(session, strlen(session), pool);
}

/* *found: the request names a session of this signer that has not ended. */
static sr_error_t *session_find(const sr_service_t *service, bool *found, const char *signer, apr_pool_t *pool)
{
    const sr_session_row_t *row;
    sr_outcome_t outcome;
    *found = false;
    if (!service->session) return NULL;
    SR_TRY(sr_store_session_get(service->database, &outcome, &row, service->session, signer, pool));
    if (outcome != SR_OK) return NULL;
    *found = true;
    return row->fresh ? NULL : sr_store_session_used(service->database, &outcome, service->session, pool);
}

static sr_error_t *session_missing(apr_pool_t *pool)
{
    return sr_error(pool, SR_EUNCHECKED, "The identity of the signer must be checked first");
}

sr_error_t *sr_session_require(const sr_service_t *service, sr_signing_t *signing, apr_pool_t *pool)
{
    const sr_authentication_t *authentication = signing->signer->authentication;
    signing->identified = !authentication;
    if (!authentication) return NULL;
    SR_TRY(session_find(service, &signing->identified, signing->signer->uuid, pool));
    return signing->identified || authentication->on_sign ? NULL : session_missing(pool);
}

sr_error_t *sr_session_may_act(const sr_signing_t *signing, apr_pool_t *pool)
{
    return signing->identified ? NULL : session_missing(pool);
}

const char *sr_session_make(apr_pool_t *pool)
{
    unsigned char random[SESSION_BYTES];
    sr_random_fill(random, sizeof random);
    return sr_text_hex(random, sizeof random, pool);
}

sr_error_t *sr_session_begin(const sr_service_t *service, const char **session, const char *signer, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    *session = sr_session_make(pool);
    SR_TRY(sr_store_session_create(service->database, &outcome, sr_session_hash(*session, pool), signer, pool));
    return sr_service_refusal(outcome, pool);
}
