/* completion.c: the certificate of completion: what happened to a submission, in plain words, for whoever holds its
 * documents and has no access to this service. Made of the view and the audit trail alone. A signer's uuid is the
 * secret in his link, so neither uuids of signers nor links are in it. */
#include "model/model.h"

#include <string.h>
#include <time.h>

/* --- rows: those without a value are left out */

static json_t *texts(const char *label, const char *value)
{
    json_t *row = json_array();
    json_array_append_new(row, json_string(label));
    json_array_append_new(row, json_string(value));
    return row;
}

static void add(json_t *rows, const char *label, const char *value)
{
    if (value && *value) json_array_append_new(rows, texts(label, value));
}

static void add_code(json_t *rows, const char *label, const char *value)
{
    json_t *row;

    if (!value || !*value) return;
    row = texts(label, value);
    json_array_append_new(row, json_string("code"));
    json_array_append_new(rows, row);
}

/* Two that stand side by side, if both are there. */
static void add_two(json_t *rows, const char *label, const char *value, const char *other_label, const char *other)
{
    json_t *row;

    if (!value || !*value || !other || !*other) {
        add(rows, label, value);
        add(rows, other_label, other);
        return;
    }
    row = texts(label, value);
    json_array_append_new(row, json_string(other_label));
    json_array_append_new(row, json_string(other));
    json_array_append_new(rows, row);
}

static json_t *item(const char *heading, json_t *rows)
{
    json_t *object = json_object();

    if (heading) json_object_set_new(object, "heading", json_string(heading));
    json_object_set_new(object, "rows", rows);
    return object;
}

static void add_section(json_t *sections, const char *heading, json_t *items)
{
    json_t *object = json_object();

    json_object_set_new(object, "heading", json_string(heading));
    json_object_set_new(object, "items", items);
    json_array_append_new(sections, object);
}

/* --- values */

/* "2026-11-20 18:09:23 UTC"; NULL for 0. */
static const char *plain_time(apr_time_t when, apr_pool_t *pool)
{
    const time_t seconds = (time_t)apr_time_sec(when);
    char text[40];
    struct tm utc;

    if (!when) return NULL;
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&seconds, &utc));
    return apr_pstrdup(pool, text);
}

/* 0 when it is none. */
static apr_time_t time_at(const json_t *object, const char *key)
{
    const char *const text = sr_json_string(object, key);
    apr_time_t when;

    return text && sr_time_parse(&when, text) ? when : 0;
}

static const char *name_of(const json_t *person, apr_pool_t *pool)
{
    const char *const first = sr_json_string(person, "firstname"), *const last = sr_json_string(person, "lastname");

    if (!first || !last) return first ? first : last;
    return apr_pstrcat(pool, first, " ", last, NULL);
}

static const char *requester(const json_t *view, apr_pool_t *pool)
{
    const json_t *const person = json_object_get(view, "createdBy");
    const char *const name = name_of(person, pool), *const email = sr_json_string(person, "email");

    if (!name || !email) return name ? name : email;
    return apr_pstrcat(pool, name, ", ", email, NULL);
}

static const char *kind_of_signature(const char *type)
{
    static const char *const kinds[][2] = {
        {"drawn", "Drawn by hand"}, {"typed", "Typed"}, {"uploaded", "Uploaded image"}};
    size_t i;

    for (i = 0; type && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(type, kinds[i][0]) == 0) return kinds[i][1];
    return type;
}

/* When the last one signed; 0 while somebody has not. */
static apr_time_t completed_at(const json_t *submitters)
{
    apr_time_t last = 0, when;
    size_t i;

    for (i = 0; i < json_array_size(submitters); i++) {
        when = time_at(json_array_get(submitters, i), "completedAt");
        if (!when) return 0;
        if (when > last) last = when;
    }
    return last;
}

/* Signing appends and takes nothing away, so the largest of what the signers got is how a document ended. */
static const char *sealed_sha256(const json_t *submitters, const char *uuid)
{
    const char *sha256 = NULL;
    json_int_t largest = -1;
    size_t i, k;

    for (i = 0; uuid && i < json_array_size(submitters); i++) {
        const json_t *const list = json_object_get(json_array_get(submitters, i), "signedDocuments");

        for (k = 0; k < json_array_size(list); k++) {
            const json_t *const one = json_array_get(list, k);
            const char *const its = sr_json_string(one, "uuid");
            const json_int_t size = json_integer_value(json_object_get(one, "size"));

            if (!its || strcmp(its, uuid) != 0 || size <= largest) continue;
            largest = size;
            sha256 = sr_json_string(one, "sha256");
        }
    }
    return sha256;
}

/* --- sections */

static json_t *submission_items(const json_t *view, apr_pool_t *pool)
{
    const apr_time_t completed = completed_at(json_object_get(view, "submitters"));
    json_t *rows = json_array(), *items = json_array();

    add_code(rows, "Identifier", sr_json_string(view, "uuid"));
    add(rows, "Requested by", requester(view, pool));
    add_two(rows, "Created", plain_time(time_at(view, "createdAt"), pool), "Completed", plain_time(completed, pool));
    json_array_append_new(items, item(NULL, rows));
    return items;
}

static json_t *document_items(const json_t *view, apr_pool_t *pool)
{
    const json_t *const documents = json_object_get(view, "documents");
    json_t *items = json_array();
    size_t i;

    for (i = 0; i < json_array_size(documents); i++) {
        const json_t *const document = json_array_get(documents, i);
        const apr_int64_t pages = json_integer_value(json_object_get(document, "pages"));
        json_t *rows = json_array();

        add(rows, "Pages", apr_psprintf(pool, "%" APR_INT64_T_FMT, pages));
        add_code(rows, "SHA-256 as uploaded", sr_json_string(document, "sha256"));
        add_code(rows, "SHA-256 as sealed",
                 sealed_sha256(json_object_get(view, "submitters"), sr_json_string(document, "uuid")));
        json_array_append_new(items, item(sr_json_string(document, "name"), rows));
    }
    return items;
}

static json_t *signer_rows(const json_t *signer, apr_pool_t *pool)
{
    const json_t *const how = json_object_get(signer, "signerInformation");
    apr_time_t opened = time_at(how, "openedAt"), done = time_at(how, "signedAt");
    json_t *rows = json_array();

    if (!opened) opened = time_at(signer, "openedAt");
    if (!done) done = time_at(signer, "completedAt");
    add(rows, "Email", sr_json_string(signer, "email"));
    add_two(rows, "Opened", plain_time(opened, pool), "Signed", done ? plain_time(done, pool) : "Not signed");
    add_two(rows, "Signature", kind_of_signature(sr_json_string(how, "signatureType")), "Consent version",
            sr_json_string(how, "consent"));
    add(rows, "IP address", sr_json_string(how, "ip"));
    add(rows, "Browser", sr_json_string(how, "userAgent"));
    return rows;
}

static json_t *signer_items(const json_t *view, apr_pool_t *pool)
{
    const json_t *const signers = json_object_get(view, "submitters");
    json_t *items = json_array();
    size_t i;

    for (i = 0; i < json_array_size(signers); i++) {
        const json_t *const signer = json_array_get(signers, i);
        json_array_append_new(items, item(name_of(signer, pool), signer_rows(signer, pool)));
    }
    return items;
}

static json_t *audit_items(const sr_completion_t *completion, apr_pool_t *pool)
{
    json_t *rows = json_array(), *items = json_array();

    add(rows, "Events", apr_psprintf(pool, "%d", completion->events));
    add_code(rows, "Hash of the last", completion->events_hash);
    json_array_append_new(items, item(NULL, rows));
    return items;
}

json_t *sr_completion_certificate(const sr_completion_t *completion, apr_pool_t *pool)
{
    const json_t *const view = completion->view;
    const char *const uuid = sr_json_string(view, "uuid"), *const service = completion->service;
    const char *const footer = apr_pstrcat(pool, "Certificate of completion", uuid ? " of " : NULL, uuid, NULL);
    json_t *object = json_object(), *sections = json_array();

    add_section(sections, "Submission", submission_items(view, pool));
    add_section(sections, "Documents", document_items(view, pool));
    add_section(sections, "Signers", signer_items(view, pool));
    add_section(sections, "Audit trail", audit_items(completion, pool));
    json_object_set_new(object, "title", json_string("Certificate of completion"));
    json_object_set_new(object, "subtitle", sr_json_string_or_null(sr_json_string(view, "name")));
    if (completion->environment == SR_TEST)
        json_object_set_new(object, "banner", json_string("TEST \xE2\x80\x94 not legally binding"));
    json_object_set_new(object, "sections", sections);
    json_object_set_new(object, "seal", json_string(service ? apr_pstrcat(pool, "Sealed by ", service, NULL) : "Seal"));
    json_object_set_new(object, "footer", json_string(footer));
    json_object_set_new(object, "language", json_string("en"));
    json_object_set_new(object, "time", json_string(sr_time_format(completion->time, pool)));
    return object;
}
