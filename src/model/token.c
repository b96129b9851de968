/* SPDX-License-Identifier: Apache-2.0 */
/* token.c: an API token: making one, from the store's row, and as the API shows it. */
#include "model/model.h"

#include <libdeflate.h>
#include <stddef.h>
#include <string.h>

#define ENTROPY_LENGTH 30
#define CHECKSUM_LENGTH 6 /* 62^6 > 2^32 */

static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static const char *const token_prefixes[] = {"sigreq_test_", "sigreq_live_"}; /* equally long */

static void write_checksum(char *out, const char *data, apr_size_t length)
{
    uint32_t crc = libdeflate_crc32(0, data, length);
    int i;

    for (i = CHECKSUM_LENGTH - 1; i >= 0; i--) {
        out[i] = base62[crc % 62];
        crc /= 62;
    }
}

const char *sr_token_make(bool production, apr_pool_t *pool)
{
    const char *const prefix = token_prefixes[production ? 1 : 0];
    const apr_size_t start = strlen(prefix);
    char *token = apr_psprintf(pool, "%s%0*d", prefix, ENTROPY_LENGTH + CHECKSUM_LENGTH, 0);
    apr_size_t filled = 0;

    while (filled < ENTROPY_LENGTH) {
        unsigned char byte;

        sr_random_fill(&byte, 1);
        if (byte >= 4 * 62) continue; /* the rest of 256 would favour some letters */
        token[start + filled++] = base62[byte % 62];
    }
    write_checksum(token + start + ENTROPY_LENGTH, token, start + ENTROPY_LENGTH);
    return token;
}

bool sr_token_well_formed(const char *token)
{
    const apr_size_t start = strlen(token_prefixes[0]);
    const apr_size_t body = start + ENTROPY_LENGTH;
    char checksum[CHECKSUM_LENGTH];

    if (strlen(token) != body + CHECKSUM_LENGTH) return false;
    if (strncmp(token, token_prefixes[0], start) != 0 && strncmp(token, token_prefixes[1], start) != 0) return false;
    if (strspn(token + start, base62) != ENTROPY_LENGTH + CHECKSUM_LENGTH) return false;
    write_checksum(checksum, token, body);
    return memcmp(checksum, token + body, CHECKSUM_LENGTH) == 0;
}

static const char *const environment_names[] = {[SR_TEST] = "test", [SR_PRODUCTION] = "production"};

const char *sr_environment_name(sr_environment_t environment)
{
    return environment_names[environment];
}

/* The columns of a row and where they go. */
typedef struct column_t {
    const char *key;
    size_t offset;
    bool required;
} column_t;

static const column_t texts[] = {
    {"uuid", offsetof(sr_token_t, uuid), true},
    {"name", offsetof(sr_token_t, name), true},
    {"user_uuid", offsetof(sr_token_t, user_uuid), true},
    {"firstname", offsetof(sr_token_t, user.firstname), true},
    {"lastname", offsetof(sr_token_t, user.lastname), true},
    {"email", offsetof(sr_token_t, user.email), true},
    {"organization_uuid", offsetof(sr_token_t, organization_uuid), true},
    {"organization_name", offsetof(sr_token_t, organization_name), true},
    {"sent_webhook_url", offsetof(sr_token_t, sent_webhook_url), false},
    {"signed_webhook_url", offsetof(sr_token_t, signed_webhook_url), false},
    {"completed_webhook_url", offsetof(sr_token_t, completed_webhook_url), false},
    {"parent", offsetof(sr_token_t, parent), false},
};
static const column_t times[] = {
    {"created_at", offsetof(sr_token_t, created_at), true},
    {"expires_at", offsetof(sr_token_t, expires_at), false},
    {"revoked_at", offsetof(sr_token_t, revoked_at), false},
};

#define MEMBER(type, token, column) ((type *)(void *)((char *)(token) + (column).offset))

static sr_error_t *refuse(apr_pool_t *pool, const char *cause)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "token row: %s", cause);
}

static bool take_environment(sr_environment_t *environment, const char *name)
{
    size_t i;

    for (i = 0; name && i < sizeof environment_names / sizeof environment_names[0]; i++) {
        if (strcmp(environment_names[i], name) != 0) continue;
        *environment = (sr_environment_t)i;
        return true;
    }
    return false;
}

sr_error_t *sr_token_parse(sr_token_t **token, const char *row, apr_pool_t *pool)
{
    sr_token_t *const made = apr_pcalloc(pool, sizeof *made);
    json_t *object;
    size_t i;

    *token = NULL;
    SR_TRY(sr_json_read(&object, row, pool));
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *const text = sr_json_string(object, texts[i].key);

        if (!text && texts[i].required) return refuse(pool, texts[i].key);
        *MEMBER(const char *, made, texts[i]) = text;
    }
    for (i = 0; i < sizeof times / sizeof times[0]; i++) {
        const json_t *const value = json_object_get(object, times[i].key);

        if (!json_is_integer(value) && (times[i].required || (value && !json_is_null(value))))
            return refuse(pool, times[i].key);
        *MEMBER(apr_time_t, made, times[i]) = json_integer_value(value);
    }
    if (!take_environment(&made->environment, sr_json_string(object, "environment")))
        return refuse(pool, "environment");
    *token = made;
    return NULL;
}

json_t *sr_token_representation(const sr_token_t *token, const char *secret)
{
    json_t *object = json_object(), *user = json_object(), *organization = json_object();

    json_object_set_new(user, "uuid", json_string(token->user_uuid));
    json_object_set_new(user, "firstname", json_string(token->user.firstname));
    json_object_set_new(user, "lastname", json_string(token->user.lastname));
    json_object_set_new(user, "email", json_string(token->user.email));
    json_object_set_new(organization, "uuid", json_string(token->organization_uuid));
    json_object_set_new(organization, "name", json_string(token->organization_name));

    json_object_set_new(object, "uuid", json_string(token->uuid));
    json_object_set_new(object, "name", json_string(token->name));
    if (secret) json_object_set_new(object, "token", json_string(secret));
    json_object_set_new(object, "environment", json_string(sr_environment_name(token->environment)));
    json_object_set_new(object, "user", user);
    json_object_set_new(object, "organization", organization);
    json_object_set_new(object, "sentWebhookUrl", sr_json_string_or_null(token->sent_webhook_url));
    json_object_set_new(object, "signedWebhookUrl", sr_json_string_or_null(token->signed_webhook_url));
    json_object_set_new(object, "completedWebhookUrl", sr_json_string_or_null(token->completed_webhook_url));
    json_object_set_new(object, "createdAt", sr_time_json(token->created_at));
    json_object_set_new(object, "expiresAt", sr_time_json(token->expires_at));
    json_object_set_new(object, "revokedAt", sr_time_json(token->revoked_at));
    json_object_set_new(object, "parent", sr_json_string_or_null(token->parent));
    return object;
}

const char *sr_owner_of(const char *organization_uuid, sr_environment_t environment, apr_pool_t *pool)
{
    return apr_pstrcat(pool, organization_uuid, ".", sr_environment_name(environment), NULL);
}
