/* SPDX-License-Identifier: Apache-2.0 */
/* token.h: API tokens. */
#ifndef SR_MODEL_TOKEN_H
#define SR_MODEL_TOKEN_H

#include "model/model.h"

typedef struct sr_token_t {
    const char *uuid, *name;
    sr_environment_t environment;
    const char *user_uuid;
    sr_person_t user;
    const char *organization_uuid, *organization_name;
    const char *sent_webhook_url, *signed_webhook_url, *completed_webhook_url; /* or NULL */
    const char *parent;                            /* uuid of the token that made it, or NULL: the administrator did */
    apr_time_t created_at, expires_at, revoked_at; /* 0: never */
} sr_token_t;

/* The token as the API shows it; `secret` (or NULL) is shown once, at creation. New reference. */
json_t *sr_token_representation(const sr_token_t *token, const char *secret);

/* A new API token: "sigreq_test_" or "sigreq_live_", 30 base62 characters of entropy (178 bits) and a base62
 * CRC-32 of all before it, so that a mistyped token is told apart without asking the database. */
const char *sr_token_make(bool production, apr_pool_t *pool);
/* True when the form and the checksum are right; says nothing of whether the token exists. */
bool sr_token_well_formed(const char *token);

#endif
