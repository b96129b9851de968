/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.c: fingerprints of creations. Two requests with one Idempotency-Key must have the same one. It is the
 * SHA-256 of everything that the caller sent, then " name=12345678" for each part of the form, with 8 digits of the
 * digest of that part. The store compares the SHA-256 alone. The parts tell the caller what differs. */
#include "service/private.h"

#include <string.h>

#define PART_DIGITS 8
#define SIGNERS_VALUES 100000
#define SINCE_ALWAYS 12 /* the parts that were always in the digest; the later ones are in it if they were sent */

static const char *digest(json_t *value, apr_pool_t *pool)
{
    const char *text = sr_json_text(sr_json_own(value, pool), pool);
    return sr_sha256_hex(text, strlen(text), pool);
}

/* The documents of a template never change. */
static json_t *files_json(const sr_create_t *request, const sr_submission_t *submission)
{
    if (request->template) return json_string(submission->template_uuid);
    json_t *files = json_array();
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        json_array_append_new(files, json_string(document->name));
        json_array_append_new(files, json_string(document->sha256));
    }
    return files;
}

/* Returns true if the part has a code of a signer, or is no JSON. It is parsed again, because a replay of a creation
 * from a template that was deleted has no signers. */
static bool has_code(const sr_create_t *request, apr_pool_t *pool)
{
    json_t *signers, *signer;
    size_t i;
    if (sr_json_parse_tolerant(&signers, request->signers, request->signers_length, SIGNERS_VALUES, pool)) return true;
    json_array_foreach (signers, i, signer)
        if (json_object_get(json_object_get(signer, "authentication"), "code")) return true;
    return false;
}

/* A plain digest would not protect a code. */
static json_t *signers_json(const sr_create_t *request, apr_pool_t *pool)
{
    if (!has_code(request, pool)) return json_stringn(request->signers, request->signers_length);
    const char *text = apr_pstrmemdup(pool, request->signers, request->signers_length);
    return json_string(sr_slow_derive(text, request->idempotency_key, pool));
}

const char *sr_fingerprint(const sr_create_t *request, const sr_submission_t *submission, apr_pool_t *pool)
{
    const struct {
        const char *name;
        json_t *value;
    } parts[] = {{"name", json_string(request->name)},
                 {"signers", signers_json(request, pool)},
                 {"skipIntro", json_boolean(submission->skip_intro)},
                 {"sendEmail", json_boolean(submission->send_email)},
                 {"locale", sr_json_string_or_null(request->locale)},
                 {request->template ? "template" : "file", files_json(request, submission)},
                 {"caption", sr_json_string_or_null(request->caption)},
                 {"expiresAt", sr_json_string_or_null(request->expires_at)},
                 {"externalId", sr_json_string_or_null(request->external_id)},
                 {"metadata", sr_json_string_or_null(request->metadata)},
                 {"redirectUrl", sr_json_string_or_null(request->redirect_url)},
                 {"reminders", sr_json_string_or_null(request->reminders)},
                 {"message", sr_json_string_or_null(request->options.message.text)},
                 {"replyTo", sr_json_string_or_null(request->options.reply_to)},
                 {"signatureTypes", sr_json_string_or_null(request->options.signature_types)},
                 {"refusal", sr_json_string_or_null(request->options.refusal.text)},
                 {"copies", sr_json_string_or_null(request->options.copies.text)},
                 {"viewers", sr_json_string_or_null(request->options.viewers.text)},
                 {"draft", sr_json_string_or_null(request->draft)}};
    json_t *all = json_array();
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (i >= SINCE_ALWAYS && json_is_null(parts[i].value)) continue;
        json_array_append(all, parts[i].value);
        const char *part = apr_pstrndup(pool, digest(parts[i].value, pool), PART_DIGITS);
        text = apr_pstrcat(pool, text, " ", parts[i].name, "=", part, NULL);
    }
    return apr_pstrcat(pool, digest(all, pool), text, NULL);
}

/* Adds to ", name, name" the parts of a fingerprint that another one has not, or has with another digest. */
static const char *add_differing(const char *names, const char *fingerprint, const char *other, apr_pool_t *pool)
{
    const char *token;
    char *rest = strchr(apr_pstrdup(pool, fingerprint), ' ');
    while (rest && (token = apr_strtok(NULL, " ", &rest)) != NULL) {
        const char *name = apr_pstrcat(pool, ", ", apr_pstrmemdup(pool, token, strcspn(token, "=")), NULL);
        if (!strstr(other, token) && !strstr(names, name)) names = apr_pstrcat(pool, names, name, NULL);
    }
    return names;
}

sr_error_t *sr_fingerprint_conflict(const char *fingerprint, const char *first, apr_pool_t *pool)
{
    const char *names = add_differing(add_differing("", fingerprint, first, pool), first, fingerprint, pool);
    return sr_error(pool, SR_ECONFLICT, "This Idempotency-Key was used for another request: its %s differed",
                    *names ? names + 2 : names);
}
