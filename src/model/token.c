/* SPDX-License-Identifier: Apache-2.0 */
/* token.c: makes an API token, checks its form, and returns it as the API shows it. */
#include "model/model.h"

#include <libdeflate.h>
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
    const char *prefix = token_prefixes[production ? 1 : 0];
    const apr_size_t start = strlen(prefix);
    char *token = apr_psprintf(pool, "%s%0*d", prefix, ENTROPY_LENGTH + CHECKSUM_LENGTH, 0);
    apr_size_t filled = 0;
    while (filled < ENTROPY_LENGTH) {
        unsigned char byte;
        sr_random_fill(&byte, 1);
        if (byte >= 4 * 62) continue; /* bytes above 247 would make some letters more likely */
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

bool sr_environment_parse(sr_environment_t *environment, const char *name)
{
    for (size_t i = 0; i < sizeof environment_names / sizeof *environment_names; i++) {
        if (strcmp(environment_names[i], name) != 0) continue;
        *environment = (sr_environment_t)i;
        return true;
    }
    return false;
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
