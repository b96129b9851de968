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
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    char *text = apr_pstrdup(pool, dumped);
    free(dumped);
    lower_escapes(text);
    return text;
}

/* --- personal values: the event has commitments in their place, so they can be erased without changing its hash */

#define SALT_BYTES 16
#define DRAWING "drawing" /* in the detail of "signed" */

static bool event_is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0) names++;
    return *names != NULL;
}

/* The members of a detail that say how a signer was identified. They are about the signer, even if the caller wrote
 * them. */
static const char *const identity_members[] = {"how", "reference", "to", "user", NULL};

/* The members that are personal, in an event and in its detail. */
static bool is_personal(const char *member)
{
    static const char *const names[] = {"ip",    "userAgent", "firstname", "lastname",  "email",
                                        "name",  "reason",    "timeZone",  "utcOffset", DRAWING,
                                        "value", "message",   "replyTo",   NULL};
    return event_is_among(member, names) || event_is_among(member, identity_members);
}

typedef struct hiding_t {
    json_t *commitments; /* NULL: none are made, and there are no salts */
    json_t *personal;    /* both: {"detail.signers.0.email": …} */
    apr_pool_t *pool;
} hiding_t;

static const char *commitment_of(const char *salt, const json_t *value, apr_pool_t *pool)
{
    const char *text = json_string_value(value);
    const char *salted = apr_pstrcat(pool, salt, text ? text : canonical(value, pool), NULL);
    return sr_sha256_hex(salted, strlen(salted), pool);
}

static json_t *hash_of(const char *text, apr_pool_t *pool)
{
    return json_string(sr_sha256_hex(text, strlen(text), pool));
}

static void event_commit(const hiding_t *hiding, const char *path, json_t *value)
{
    unsigned char random[SALT_BYTES];
    if (!hiding->commitments) {
        json_object_set_new(hiding->personal, path, json_pack("[n,O]", value));
        return;
    }
    sr_random_fill(random, sizeof random);
    const char *salt = sr_text_hex(random, sizeof random, hiding->pool);
    const bool is_drawing = !strcmp(path, "detail." DRAWING);
    const char *drawing = json_string_value(value);
    value = is_drawing ? hash_of(drawing, hiding->pool) : json_incref(value);
    json_object_set_new(hiding->commitments, path, json_string(commitment_of(salt, value, hiding->pool)));
    json_object_set_new(hiding->personal, path, json_pack("[s,o]", salt, value));
    if (is_drawing) json_array_append_new(json_object_get(hiding->personal, path), json_string(drawing));
}

/* Takes the personal values out of an object or a list. `path` is "" or ends with a dot. */
// NOLINTNEXTLINE(misc-no-recursion): the service's own details nest 3 deep
static void hide(const hiding_t *hiding, json_t *value, const char *path)
{
    const char *key;
    void *next;
    json_t *member;
    size_t i;
    json_array_foreach (value, i, member) hide(hiding, member, apr_psprintf(hiding->pool, "%s%d.", path, (int)i));
    json_object_foreach_safe (value, next, key, member) {
        const char *here = apr_pstrcat(hiding->pool, path, key, NULL);
        if (!is_personal(key)) hide(hiding, member, apr_pstrcat(hiding->pool, here, ".", NULL));
        else if (!json_is_null(member)) {
            event_commit(hiding, here, member);
            json_object_del(value, key);
        }
    }
}

/* Takes the place of the hash while an event is written. No value has a quote in its text that is not escaped, and no
 * other member "hash" has this value, so the event has it once. */
#define NO_HASH "................................................................"
#define HASH_MEMBER "\"hash\":\"" NO_HASH "\","

/* The hash covers the text without this member. Returns the text with it. Canonical JSON is sorted, so another member
 * follows it ("number"). */
static const char *add_hash(const char **hash, const char *text, apr_pool_t *pool)
{
    const char *at = strstr(text, HASH_MEMBER);
    sr_assert(at);
    const char *rest = at + sizeof HASH_MEMBER - 1;
    const char *before = apr_pstrmemdup(pool, text, (apr_size_t)(at - text));
    const char *hashed = apr_pstrcat(pool, before, rest, NULL);
    *hash = sr_sha256_hex(hashed, strlen(hashed), pool);
    return apr_pstrcat(pool, before, "\"hash\":\"", *hash, "\",", rest, NULL);
}

void sr_event_write(sr_event_text_t *written, const sr_event_t *event, int number, const char *previous_hash,
                    apr_pool_t *pool)
{
    json_t *object = sr_json_own(json_object(), pool);
    const hiding_t hiding = {json_object(), sr_json_own(json_object(), pool), pool};
    json_object_set_new(object, "number", json_integer(number));
    json_object_set_new(object, "event", json_string(event->kind));
    json_object_set_new(object, "at", sr_time_json(event->at));
    json_object_set_new(object, "signer", sr_json_string_or_null(event->signer));
    json_object_set_new(object, "ip", sr_json_string_or_null(event->client.ip));
    json_object_set_new(object, "userAgent", sr_json_string_or_null(event->client.user_agent));
    json_object_set_new(object, "detail", json_deep_copy(event->detail));
    json_object_set_new(object, "previousHash", sr_json_string_or_null(previous_hash));
    hide(&hiding, object, "");
    json_object_set_new(object, "commitments", hiding.commitments);
    json_object_set_new(object, "hash", json_string(NO_HASH));
    written->body = add_hash(&written->hash, canonical(object, pool), pool);
    written->personal = json_object_size(hiding.personal) ? canonical(hiding.personal, pool) : NULL;
}

/* Returns the object or list that has the member at the end of a path, which is left in *member. NULL: there is none.
 */
static json_t *parent_of(json_t *event, char **member)
{
    json_t *at = event;
    for (char *dot; at && (dot = strchr(*member, '.')); *member = dot + 1) {
        *dot = '\0';
        at = json_is_array(at) ? json_array_get(at, (size_t)apr_atoi64(*member)) : json_object_get(at, *member);
    }
    return at;
}

/* Puts back one value. `pair` is its salt, or null, and the value. */
static void reveal(json_t *event, json_t *salts, const char *path, const json_t *pair, apr_pool_t *pool)
{
    char *member = apr_pstrdup(pool, path);
    json_t *parent = parent_of(event, &member);
    if (json_is_string(json_array_get(pair, 0))) json_object_set(salts, path, json_array_get(pair, 0));
    if (json_is_object(parent)) json_object_set(parent, member, json_array_get(pair, 1));
}

void sr_event_reveal(json_t *event, const json_t *personal, apr_pool_t *pool)
{
    json_t *salts, *pair;
    const char *path;
    if (!json_is_object(personal)) return;
    json_object_set_new(event, "salts", salts = json_object());
    json_object_foreach ((json_t *)personal, path, pair) reveal(event, salts, path, pair, pool);
}

const char *sr_event_drawing(const json_t *personal)
{
    return json_string_value(json_array_get(json_object_get(personal, "detail." DRAWING), 2));
}

/* --- verification */

/* `erased`: personal values may be missing. */
static const char *commitments_fault(const json_t *event, const json_t *personal, bool erased, apr_pool_t *pool)
{
    json_t *commitments = json_object_get(event, "commitments"), *value;
    const char *path;
    json_object_foreach (commitments, path, value) {
        const json_t *pair = json_object_get(personal, path);
        const char *salt = json_string_value(json_array_get(pair, 0)), *commitment = json_string_value(value);
        if (!pair && erased) continue;
        if (!pair) return apr_psprintf(pool, "the value of %s is missing", path);
        if (!salt || !commitment || strcmp(commitment, commitment_of(salt, json_array_get(pair, 1), pool)) != 0)
            return apr_psprintf(pool, "the value of %s does not match its commitment", path);
    }
    json_object_foreach ((json_t *)personal, path, value)
        if (!json_object_get(commitments, path)) return apr_psprintf(pool, "%s has no commitment", path);
    const char *drawing = sr_event_drawing(personal);
    const json_t *hash = json_array_get(json_object_get(personal, "detail." DRAWING), 1);
    if (drawing && !json_equal(hash, sr_json_own(hash_of(drawing, pool), pool))) return "the drawing is another one";
    return NULL;
}

const char *sr_event_fault(const json_t *event, const json_t *personal, bool erased, apr_pool_t *pool)
{
    const char *hash = sr_json_string(event, "hash");
    const bool is_remainder = erased && !json_object_get(event, "event"); /* it had no commitments */
    json_t *hashed = sr_json_own(json_copy((json_t *)event), pool);
    json_object_del(hashed, "hash");
    const char *text = canonical(hashed, pool);
    if (!hash || (!is_remainder && strcmp(hash, sr_sha256_hex(text, strlen(text), pool)) != 0))
        return "its hash does not match its text";
    return commitments_fault(event, personal, erased, pool);
}

/* --- for one person */

static bool has_link(const sr_event_reader_t *reader, const char *signer)
{
    size_t i;
    json_t *link;
    json_array_foreach (reader->links, i, link)
        if (!strcmp(json_string_value(link), signer)) return true;
    return false;
}

/* Returns true if the client of an event, and what the event says without naming a signer, is the reader's: it was
 * their action as a signer or viewer, or that of the caller. */
static bool was_by(const json_t *event, const sr_event_reader_t *reader)
{
    static const char *const of_signers[] = {"opened",     "signed",        "refused", "codeSent",
                                             "codeFailed", "authenticated", NULL};
    const char *kind = sr_json_string(event, "event"), *signer = sr_json_string(event, "signer");
    if (kind && !strcmp(kind, "viewed")) signer = sr_json_string(json_object_get(event, "detail"), "viewer");
    else if (!kind || !event_is_among(kind, of_signers)) return reader->caller;
    return signer && has_link(reader, signer);
}

/* Returns true if the value at a path is about the reader, or is the name of a document. The value of a field
 * (detail.signers.0.values.1.value) is about the signer who has the field. */
static bool is_about(json_t *event, const char *path, const sr_event_reader_t *reader, apr_pool_t *pool)
{
    static const char documents[] = "detail.documents.";
    char *member = apr_pstrdup(pool, path), *values = strstr(member, ".values.");
    if (values) values[1] = '\0';
    const json_t *parent = parent_of(event, &member);
    const char *signer = sr_json_string(parent, "uuid");
    if (!strncmp(path, documents, sizeof documents - 1)) return true;
    if (!signer && parent != event) signer = sr_json_string(parent, "signer"); /* of "replaced": the new one */
    if (!signer && event_is_among(member, identity_members)) signer = sr_json_string(event, "signer");
    return signer ? has_link(reader, signer) : was_by(event, reader);
}

/* Shortens all uuids except those that are known to be no signers'. */
// NOLINTNEXTLINE(misc-no-recursion): the service's own details nest 3 deep
static void shorten_links(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    json_array_foreach (value, i, member) shorten_links(member);
    json_object_foreach (value, key, member) {
        if (!strcmp(key, "submission") || !strcmp(key, "token") || !strcmp(key, "documents")
            || !strcmp(key, "document"))
            continue;
        const char *text = json_string_value(member);
        if (text && sr_uuid_valid(text)) json_string_setn(member, text, SR_LINK_SHOWN);
        else shorten_links(member);
    }
}

void sr_event_disclose(json_t *event, const json_t *personal, const sr_event_reader_t *reader, apr_pool_t *pool)
{
    const hiding_t hiding = {NULL, sr_json_own(json_object(), pool), pool};
    json_t *salts, *pair;
    const char *path;
    if (!json_object_get(event, "commitments")) {
        hide(&hiding, event, "");
        personal = hiding.personal;
    }
    json_object_set_new(event, "salts", salts = json_object());
    json_object_foreach ((json_t *)personal, path, pair)
        if (is_about(event, path, reader, pool)) reveal(event, salts, path, pair, pool);
    shorten_links(event);
}

sr_error_t *sr_events_read(json_t **events, const char *rows, apr_pool_t *pool)
{
    json_t *list, *row;
    size_t i;
    SR_TRY(sr_json_read(&list, rows, pool));
    *events = sr_json_own(json_array(), pool);
    json_array_foreach (list, i, row) {
        sr_event_reveal(json_array_get(row, 0), json_array_get(row, 1), pool);
        json_array_append(*events, json_array_get(row, 0));
    }
    return NULL;
}

json_t *sr_entries_json(const sr_submission_t *submission, const sr_signer_t *signer)
{
    json_t *list = NULL;
    for (int i = 0; i < signer->fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, i, sr_field_t);
        if (!field->entry || !field->entry->value) continue;
        if (!list) list = json_array();
        const sr_document_state_t *document = sr_submission_document(submission, field->document);
        json_array_append_new(list, json_pack("{s:s?,s:s,s:O}", "document", document ? document->uuid : NULL, "field",
                                              field->name, "value", field->entry->value));
    }
    return list;
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
