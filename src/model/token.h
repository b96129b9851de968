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
    const char *parent; /* the uuid of the token that created it; NULL: the administrator did */
    apr_time_t created_at, expires_at, revoked_at; /* 0: never */
} sr_token_t;

/* Returns the token as the API shows it. `secret` (or NULL) is the token itself, which is shown once, at creation.
 * New reference. */
json_t *sr_token_representation(const sr_token_t *token, const char *secret);

/* Returns a new API token: "sigreq_test_" or "sigreq_live_", 30 random base62 characters (178 bits), and a base62
 * CRC-32 of everything before it. The checksum detects a mistyped token without a database query. */
const char *sr_token_make(bool production, apr_pool_t *pool);
/* Returns true if the form and the checksum are right. The token may still be unknown to the database. */
bool sr_token_well_formed(const char *token);

#endif
