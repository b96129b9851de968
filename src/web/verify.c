/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: <location>/verify, the public page that checks a signed PDF (SigreqVerifyPage). A form with the document
 * returns the page with the result. Nothing is stored, and the database is not queried, so the result does not tell
 * whether the service knows the document. */
#include <string.h>

#include "web/web.h"

#define MAX_PAGE 999999

/* --- the page */

static const char *verify_say(const json_t *texts, const char *first, const char *second, apr_pool_t *pool)
{
    return sr_web_word(texts, apr_pstrcat(pool, "verify.", first, second, NULL));
}

/* Returns a size such as "100 MB" for a number that an administrator writes as 100M. `units`: "bytes kB MB GB". */
static const char *size_text(apr_off_t size, const char *units, apr_pool_t *pool)
{
    for (const char *next; size >= (apr_off_t)10 * 1024 && (next = strchr(units, ' ')); units = next + 1) size /= 1024;
    return apr_psprintf(pool, "%" APR_OFF_T_FMT " %.*s", size, (int)strcspn(units, " "), units);
}

/* Sends the page. `result` is NULL if nothing has been checked. `error` is the key of the text that explains an
 * error, or NULL. */
static sr_error_t *verify_show(sr_http_t *http, int status, json_t *result, const char *error)
{
    json_t *values = sr_json_own(json_object(), http->pool), *verify = json_object(), *texts;
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    const apr_off_t file = http->settings->max_file_size, request = http->settings->max_request_size;
    const char *finding = result ? sr_json_string(result, "finding") : NULL;
    const char *title =
        finding ? verify_say(texts, finding, ".title", http->pool) : verify_say(texts, "title", NULL, http->pool);
    json_object_set_new(values, "title", json_string(title));
    const char *units = verify_say(texts, "units", NULL, http->pool);
    json_object_set_new(values, "most", json_string(size_text(file < request ? file : request, units, http->pool)));
    json_object_set_new(verify, "state", json_string(finding ? finding : "form"));
    json_object_set_new(verify, "error", json_string(error ? verify_say(texts, error, NULL, http->pool) : ""));
    if (result) {
        json_object_set_new(result, "title", json_string(title));
        json_object_set_new(result, "text", json_string(verify_say(texts, finding, ".text", http->pool)));
        json_object_set(verify, "result", result);
    }
    json_object_set_new(values, "verify", verify);
    return sr_web_reply(http, status, values, &theme, texts);
}

/* Errors that the reader can correct are shown above the form. */
static sr_error_t *show_error(sr_http_t *http, int status, const char *message)
{
    if (status == HTTP_NOT_FOUND || status == HTTP_METHOD_NOT_ALLOWED) return sr_web_error(http, status, message);
    return verify_show(http, status, NULL,
                       status == HTTP_BAD_REQUEST                ? "none"
                       : status == HTTP_UNSUPPORTED_MEDIA_TYPE   ? "none"
                       : status == HTTP_REQUEST_ENTITY_TOO_LARGE ? "large"
                       : status == HTTP_TOO_MANY_REQUESTS        ? "many"
                       : status == HTTP_SERVICE_UNAVAILABLE      ? "busy"
                                                                 : "failed");
}

void sr_web_verify_begin(sr_http_t *http)
{
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_setn(headers, "Referrer-Policy", "no-referrer");
    sr_web_ask_language(http);
    if (!sr_http_prefers_json(http)) http->show_error = show_error;
}

sr_error_t *sr_web_verify_get(sr_http_t *http)
{
    return verify_show(http, HTTP_OK, NULL, NULL);
}

/* --- what was found, in the words of the page */

static void set_flag(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

static void copy_text(json_t *to, const char *key, const json_t *from, const char *member)
{
    json_object_set_new(to, key, sr_json_string_or_null(from ? sr_json_string(from, member) : NULL));
}

/* Sets a time such as "2026-11-20 18:09 UTC". The script shows it in the form of the reader's browser. */
static void verify_set_time(json_t *object, const char *text, apr_pool_t *pool)
{
    apr_time_t when;
    char plain[SR_TIME_PRINTED];
    if (!text || !sr_time_parse(&when, text)) return;
    sr_time_print(plain, "%Y-%m-%d %H:%M UTC", when);
    json_object_set_new(object, "at", json_string(text));
    json_object_set_new(object, "when", json_string(apr_pstrdup(pool, plain)));
}

/* Splits a helper's description of a change, such as "page 3: its content", "the form field "a"" or "object 7". */
static json_t *change_of(const char *text)
{
    static const char field[] = "the form field \"";
    json_t *change = json_object();
    char *after = NULL;
    const long page = strncmp(text, "page ", 5) == 0 ? strtol(text + 5, &after, 10) : 0;
    if (page > 0 && page <= MAX_PAGE && *after == ':') {
        json_object_set_new(change, "page", json_object());
        json_object_set_new(json_object_get(change, "page"), "number", json_integer(page));
    } else if (!strncmp(text, field, sizeof field - 1)) {
        const char *name = text + sizeof field - 1, *end = strrchr(name, '"');
        json_object_set_new(change, "field", json_object());
        json_object_set_new(json_object_get(change, "field"), "name",
                            json_stringn(name, end ? (size_t)(end - name) : strlen(name)));
    } else {
        json_object_set_new(change, "other", json_true());
    }
    return change;
}

/* Removes duplicates, because several things may have changed on one page. */
static json_t *changes_of(const json_t *texts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(texts); i++) {
        json_t *change = change_of(json_string_value(json_array_get(texts, i)));
        bool known = false;
        for (size_t j = 0; j < json_array_size(list); j++) known |= json_equal(change, json_array_get(list, j));
        if (known) json_decref(change);
        else json_array_append_new(list, change);
    }
    return list;
}

/* Returns an object with the member `key` for each text. */
static json_t *rows_of(const json_t *texts, const char *key)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(texts); i++)
        json_array_append_new(rows, json_pack("{s:O}", key, json_array_get(texts, i)));
    return rows;
}

/* Adds a time with the members "at" and "when", or nothing. Returns the object. */
static json_t *add_time(json_t *row, const char *key, const char *text, apr_pool_t *pool)
{
    json_t *object = sr_json_own(json_object(), pool);
    verify_set_time(object, text, pool);
    if (json_object_size(object)) json_object_set(row, key, object);
    return object;
}

/* Adds what a timestamp confirms. An authority that is not trusted confirms nothing. */
static void verify_set_stamp(json_t *row, const json_t *found, apr_pool_t *pool)
{
    const json_t *stamp = json_object_get(found, "timestamp");
    const char *state = json_is_object(stamp) ? sr_json_string(stamp, "state") : "";
    const bool valid = !strcmp(state, "valid"), archive = !strcmp(sr_json_string(found, "kind"), "timestamp");
    if (valid) copy_text(add_time(row, "stamp", sr_json_string(stamp, "time"), pool), "authority", stamp, "authority");
    add_time(row, "until", sr_json_string(found, "provenUntil"), pool);
    set_flag(row, "archive", archive);
    set_flag(row, "proof", archive && valid);
    set_flag(row, "stamp_broken", !strcmp(state, "broken"));
    set_flag(row, "stamp_untrusted", !strcmp(state, "untrusted"));
    copy_text(row, "stamp_fault", json_is_object(stamp) ? stamp : NULL, "fault");
}

/* Says whose the certificate is. With the seal of this service that needs no authority. */
static void verify_set_trust(json_t *row, const json_t *found, bool certain)
{
    const char *trust = sr_json_string(found, "trust");
    const bool unknown = !strcmp(trust, "unknown"), archive = json_is_true(json_object_get(row, "archive"));
    set_flag(row, "foreign", certain && unknown && !archive);
    set_flag(row, "other", certain && !unknown && !archive);
    set_flag(row, "trusted", certain && !archive && !strcmp(trust, "trusted"));
    set_flag(row, "untrusted", certain && !archive && !strcmp(trust, "untrusted"));
    set_flag(row, "revoked", !strcmp(trust, "revoked"));
    copy_text(row, "level", found, "level");
    copy_text(row, "distrust", certain ? found : NULL, "distrust");
}

/* Says who requested a signature of this service, in words for people. */
static void set_requester(json_t *row, const json_t *found, apr_pool_t *pool)
{
    const char *contact = sr_json_string(found, "contact"), *uuid;
    if (!contact) return;
    json_object_set_new(row, "requester", json_string(sr_signing_contact_split(&uuid, contact, pool)));
    if (uuid) json_object_set_new(row, "request", json_string(sr_submission_number(uuid, pool)));
    json_object_set_new(row, "contact", json_string(contact));
}

/* Returns the name of the person or organisation that signed, or NULL: the name in a foreign signature is only a claim,
 * and the holder of the certificate is verified. */
static const char *verify_name_of(const json_t *found, bool ours)
{
    const char *name = sr_json_string(found, "name"),
               *holder = sr_json_string(json_object_get(found, "signer"), "name");
    if (!strcmp(sr_json_string(found, "kind"), "timestamp")) return NULL;
    if (!name) return holder;
    return !ours && holder && !strcmp(sr_json_string(found, "state"), "intact") ? holder : name;
}

/* Returns true for the seal of a certificate of completion, which is no person's signature. */
static bool is_completion(const json_t *found)
{
    const char *reason = sr_json_string(found, "reason");
    return reason && !strncmp(reason, SR_SIGNING_CERTIFICATE ": ", sizeof SR_SIGNING_CERTIFICATE + 1);
}

static json_t *verify_signature_of(const json_t *found, apr_pool_t *pool)
{
    const json_t *signer = json_object_get(found, "signer"), *changes = json_object_get(found, "changes");
    const bool ours = json_is_true(json_object_get(found, "ours"));
    const bool completion = ours && is_completion(found);
    const char *state = sr_json_string(found, "state"), *name = completion ? NULL : verify_name_of(found, ours);
    const char *environment = sr_json_string(found, "environment"), *holder = sr_json_string(signer, "name");
    json_t *row = json_object();
    const bool is_whole = json_is_true(json_object_get(found, "whole"));
    json_object_set_new(row, "name", sr_json_string_or_null(name));
    set_flag(row, "completion", completion);
    json_object_set_new(row, "state", json_string(state));
    set_flag(row, "intact", !strcmp(state, "intact"));
    set_flag(row, "damaged", !strcmp(state, "broken"));
    set_flag(row, "open", !strcmp(state, "unchecked"));
    set_flag(row, "own", ours && environment && !strcmp(environment, "production"));
    set_flag(row, "tested", ours && environment && !strcmp(environment, "test"));
    verify_set_stamp(row, found, pool);
    verify_set_trust(row, found, !ours && !strcmp(state, "intact"));
    set_flag(row, "whole", is_whole);
    set_flag(row, "part", !is_whole && !strcmp(state, "intact"));
    set_flag(row, "unknown", !strcmp(state, "intact") && !json_is_array(changes));
    verify_set_time(row, sr_json_string(found, "claimedAt"), pool);
    if (ours) set_requester(row, found, pool);
    if (holder && (!name || strcmp(holder, name) != 0)) copy_text(row, "certificate", signer, "name");
    copy_text(row, "subject", signer, "subject");
    copy_text(row, "issuer", signer, "issuer");
    copy_text(row, "fingerprint", signer, "sha256");
    copy_text(row, "algorithm", found, "algorithm");
    copy_text(row, "fault", found, "fault");
    set_flag(row, "technical", holder || sr_json_string(found, "fault"));
    json_object_set_new(row, "drawn", rows_of(json_object_get(found, "drawn"), "text"));
    set_flag(row, "changed", json_array_size(changes) > 0);
    json_object_set_new(row, "changes", changes_of(changes));
    set_flag(row, "fills", json_array_size(json_object_get(found, "filled")) > 0);
    json_object_set_new(row, "filled", rows_of(json_object_get(found, "filled"), "name"));
    return row;
}

static json_t *verify_result_of(const json_t *answer, const char *name, apr_pool_t *pool)
{
    const json_t *found = json_object_get(answer, "signatures");
    const char *conclusion = sr_json_string(answer, "conclusion"), *finding = sr_json_string(answer, "finding");
    json_t *result = sr_json_own(json_object(), pool), *list = json_array();
    size_t ours = 0, others = 0, test = 0;
    bool revoked = false;
    for (size_t i = 0; i < json_array_size(found); i++) {
        json_t *row = verify_signature_of(json_array_get(found, i), pool);
        const bool tested = json_is_true(json_object_get(row, "tested"));
        const bool own = tested || json_is_true(json_object_get(row, "own"));
        ours += own;
        others += !own && !json_is_true(json_object_get(row, "archive"));
        revoked = revoked || json_is_true(json_object_get(row, "revoked"));
        test += tested;
        json_array_append_new(list, row);
    }
    const bool bad = !strcmp(conclusion, "broken") || !strcmp(conclusion, "changed");
    const bool good = !revoked && (!strcmp(finding, "signed") || !strcmp(finding, "validation"));
    json_object_set_new(result, "finding", json_string(finding));
    json_object_set_new(result, "file", sr_json_string_or_null(name));
    json_object_set_new(result, "sha256", json_incref(json_object_get(answer, "sha256")));
    json_object_set_new(result, "signatures", list);
    set_flag(result, "mixed", ours && others);
    set_flag(result, "test", test > 0);
    set_flag(result, "good", good);
    copy_text(result, "detail", !strcmp(finding, "refused") ? answer : NULL, "reason");
    json_object_set_new(result, "class", json_string(good ? "good" : bad ? "bad" : "open"));
    return result;
}

/* --- the document */

typedef struct receiver_t {
    sr_http_t *http;
    sr_uploads_t *uploads;
    const char *name;
    bool is_empty; /* a file has begun and has no data yet */
} receiver_t;

static sr_error_t *verify_begin_file(void *baton, const char *name)
{
    receiver_t *receiver = baton;
    receiver->is_empty = true;
    receiver->name = name ? sr_text_printable(name, receiver->http->pool) : NULL;
    return sr_service_receive_begin(receiver->uploads, NULL, NULL, true);
}

static sr_error_t *verify_file_data(void *baton, const char *data, apr_size_t length)
{
    receiver_t *receiver = baton;
    if (length) receiver->is_empty = false;
    return sr_service_receive_data(receiver->uploads, data, length);
}

static sr_error_t *verify_check(receiver_t *receiver, json_t **answer)
{
    sr_http_t *http = receiver->http;
    const sr_http_file_sink_t sink = {verify_begin_file, verify_file_data, receiver, http->settings->max_file_size,
                                      http->settings->max_request_size};
    sr_verify_t request = {0};
    SR_TRY(sr_service_receive(http->service, &receiver->uploads, http->pool));
    SR_TRY(sr_http_read_one_file(http, NULL, &sink));
    SR_TRY(sr_service_receive_end(receiver->uploads));
    request.uploads = receiver->uploads;
    return sr_service_verify_public(http->service, answer, &request, http->pool);
}

sr_error_t *sr_web_verify_post(sr_http_t *http)
{
    receiver_t receiver = {.http = http};
    sr_verify_visit_t *visit;
    json_t *answer;
    if (sr_http_is_foreign(http))
        return sr_error(http->pool, SR_EFORBIDDEN, "The request must come from the verification page");
    SR_TRY(sr_http_rate_verify(http));
    SR_TRY(sr_service_verify_enter(http->service, &visit,
                                   http->pool)); /* before the body is read, because the body needs disk space */
    sr_error_t *error = verify_check(&receiver, &answer);
    if (receiver.uploads) sr_service_receive_drop(receiver.uploads);
    sr_service_verify_leave(visit);
    if (error && error->code == SR_EBADREQUEST && receiver.is_empty && http->show_error)
        return verify_show(http, HTTP_BAD_REQUEST, NULL, "empty");
    SR_TRY(error);
    return verify_show(http, HTTP_OK, verify_result_of(answer, receiver.name, http->pool), NULL);
}
