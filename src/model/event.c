/* SPDX-License-Identifier: Apache-2.0 */
/* event.c: the audit trail of a submission. Each event holds the hash of the previous one, so no event can be
 * changed, removed or inserted without changing all later events. */
#include "model/model.h"

#include <apr_lib.h>
#include <stdlib.h>
#include <string.h>

/* jansson writes \u001F, but RFC 8785 (3.2.2.2) requires \u001f. In JSON text a backslash is always part of a string.
 */
static void lower_escapes(char *text)
{
    int i;

    for (; (text = strchr(text, '\\')) != NULL; text += 2)
        for (i = 2; text[1] == 'u' && i < 6; i++) text[i] = (char)apr_tolower(text[i]);
}

/* Returns the canonical form of RFC 8785 for the values that an event can have: texts, whole numbers and null. */
static const char *canonical(const json_t *value, apr_pool_t *pool)
{
    char *const dumped = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
    char *const text = apr_pstrdup(pool, dumped);

    free(dumped);
    lower_escapes(text);
    return text;
}

void sr_event_write(sr_event_text_t *written, const sr_event_t *event, int number, const char *previous_hash,
                    apr_pool_t *pool)
{
    json_t *const object = sr_json_own(json_object(), pool);

    json_object_set_new(object, "number", json_integer(number));
    json_object_set_new(object, "event", json_string(event->kind));
    json_object_set_new(object, "at", sr_time_json(event->at));
    json_object_set_new(object, "signer", sr_json_string_or_null(event->signer));
    json_object_set_new(object, "ip", sr_json_string_or_null(event->client.ip));
    json_object_set_new(object, "userAgent", sr_json_string_or_null(event->client.user_agent));
    json_object_set(object, "detail", event->detail);
    json_object_set_new(object, "previousHash", sr_json_string_or_null(previous_hash));
    const char *const text = canonical(object, pool);
    written->hash = sr_sha256_hex(text, strlen(text), pool);
    json_object_set_new(object, "hash", json_string(written->hash));
    written->body = canonical(object, pool);
}

#define MAX_OFFSET ((json_int_t)14 * 60)
#define MAX_ZONE 64

void sr_client_set_zone(sr_client_t *client, const json_t *name, const json_t *offset)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_/";
    const char *text = json_string_value(name);
    const json_int_t minutes = json_integer_value(offset);
    if (!text || !*text || strlen(text) > MAX_ZONE || text[strspn(text, letters)]) return;
    if (!json_is_integer(offset) || minutes < -MAX_OFFSET || minutes > MAX_OFFSET) return;
    client->time_zone = text;
    client->utc_offset = (int)minutes;
}
