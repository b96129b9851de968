/* SPDX-License-Identifier: Apache-2.0 */
/* exported.c: what an export says about one submission, and which files belong to it. docs/accounts.md describes
 * the form. Of other people it has only the state of each signer, and events without personal values. */
#include "ctl/ctl.h"
#include "model/submission.h"

#include <apr_lib.h>
#include <string.h>

/* Returns "createdAt" for "created_at". */
static const char *camel(const char *name, apr_pool_t *pool)
{
    char *made = apr_pstrdup(pool, name), *out = made;
    for (const char *in = name; *in; in++) {
        const bool joint = *in == '_' && in[1];
        if (joint) in++;
        *out++ = (char)(joint ? apr_toupper(*in) : *in);
    }
    *out = '\0';
    return made;
}

json_t *ctl_exported_object(const json_t *object, apr_pool_t *pool)
{
    json_t *made = json_object(), *value;
    const char *name;
    json_object_foreach ((json_t *)object, name, value) {
        const size_t length = strlen(name);
        const bool is_time = length > 3 && strcmp(name + length - 3, "_at") == 0 && json_is_integer(value);
        json_object_set_new(made, camel(name, pool),
                            is_time ? sr_time_json((apr_time_t)json_integer_value(value)) : json_incref(value));
    }
    return made;
}

/* Renames the members of all objects of an array. New reference. */
static json_t *objects(const json_t *list, apr_pool_t *pool)
{
    json_t *made = json_array();
    for (size_t i = 0; i < json_array_size(list); i++)
        json_array_append_new(made, ctl_exported_object(json_array_get(list, i), pool));
    return made;
}

static bool is_self(const json_t *person)
{
    return json_is_true(json_object_get(person, "self"));
}

/* Adds the uuids of the signers or viewers who are this person. */
static void add_own_links(json_t *links, const json_t *people)
{
    for (size_t i = 0; i < json_array_size(people); i++) {
        const json_t *person = json_array_get(people, i);
        if (is_self(person)) json_array_append(links, json_object_get(person, "uuid"));
    }
}

/* Returns true if the person has seen the documents at their link and may still have them: as a signer who has been due
 * and was not replaced. */
static bool has_documents(const json_t *signers)
{
    for (size_t i = 0; i < json_array_size(signers); i++) {
        const json_t *signer = json_array_get(signers, i);
        const char *state = sr_json_string(signer, "state");
        const bool due = json_is_integer(json_object_get(signer, "due_at"));
        if (is_self(signer) && due && state && strcmp(state, "replaced") != 0) return true;
    }
    return false;
}

/* Replaces the stored check of a signer's identity by what is not secret in it. */
static void show_authentication(json_t *signer, apr_pool_t *pool)
{
    static const char *const members[] = {"method", "passed_at", "to", "user"};
    const json_t *stored = json_object_get(signer, "authentication");
    json_t *kept = json_object();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(stored, members[i]);
        if (value) json_object_set(kept, members[i], value);
    }
    if (json_object_size(kept)) json_object_set_new(signer, "authentication", ctl_exported_object(kept, pool));
    else json_object_del(signer, "authentication");
    json_decref(kept);
}

/* Replaces the uuid of each signer or viewer by the beginning that other commands show. */
static json_t *people_shown(const json_t *people, apr_pool_t *pool)
{
    json_t *list = objects(people, pool);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *person = json_array_get(list, i);
        const char *uuid = sr_json_string(person, "uuid");
        json_object_set_new(person, "link", json_stringn(uuid, SR_LINK_SHOWN));
        json_object_del(person, "uuid");
        show_authentication(person, pool);
    }
    return list;
}

static json_t *events_shown(json_t *rows, const sr_event_reader_t *reader, apr_pool_t *pool)
{
    json_t *list = json_array(), *row;
    size_t i;
    json_array_foreach (rows, i, row) {
        json_t *event = json_array_get(row, 0);
        sr_event_disclose(event, json_array_get(row, 1), reader, pool);
        json_array_append(list, event);
    }
    return list;
}

/* --- documents */

typedef struct filing_t {
    apr_array_header_t *files; /* NULL: the person gets no documents */
    const char *submission;    /* uuid */
    apr_pool_t *pool;
} filing_t;

/* Adds a file, and its name to `object`. */
static void exported_add_file(const filing_t *filing, json_t *object, const char *member, const char *name,
                              const apr_array_header_t *keys, const char *sha256)
{
    if (!filing->files) return;
    const char *path = apr_psprintf(filing->pool, "submissions/%s/%s.pdf", filing->submission, name);
    APR_ARRAY_PUSH(filing->files, ctl_exported_file_t) = (ctl_exported_file_t){path, keys, sha256};
    json_object_set_new(object, member, json_string(path));
}

static const apr_array_header_t *one_key(const char *key, apr_pool_t *pool)
{
    apr_array_header_t *keys = apr_array_make(pool, 1, sizeof(const char *));
    APR_ARRAY_PUSH(keys, const char *) = key;
    return keys;
}

static sr_error_t *document_shown(json_t **shown, const filing_t *filing, const json_t *row, int number)
{
    apr_pool_t *pool = filing->pool;
    sr_document_state_t document;
    SR_TRY(sr_document_state_parse(&document, row, pool));
    *shown = json_pack("{s:s,s:s,s:s,s:I,s:i}", "uuid", document.uuid, "name", document.name, "sha256", document.sha256,
                       "size", (json_int_t)document.size, "pages", document.pages);
    exported_add_file(filing, *shown, "original", apr_psprintf(pool, "%d-original", number),
                      one_key(document.key, pool), document.sha256);
    if (!sr_document_state_is_signed(&document)) return NULL;
    json_object_set_new(*shown, "signedSha256", json_string(sr_document_state_sha256(&document)));
    exported_add_file(filing, *shown, "signed", apr_psprintf(pool, "%d-signed", number),
                      sr_document_state_files(&document, pool), sr_document_state_sha256(&document));
    return NULL;
}

static sr_error_t *documents_shown(json_t *shown, const filing_t *filing, const json_t *body)
{
    const json_t *rows = json_object_get(body, "documents"), *certificate = json_object_get(body, "certificate");
    json_t *list = json_array(), *one;
    json_object_set_new(shown, "documents", list);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        SR_TRY(document_shown(&one, filing, json_array_get(rows, i), (int)i + 1));
        json_array_append_new(list, one);
    }
    if (!json_is_object(certificate)) return NULL;
    const char *sha256 = sr_json_string(certificate, "sha256"), *key = sr_json_string(certificate, "key");
    one = json_pack("{s:s,s:O}", "sha256", sha256, "size", json_object_get(certificate, "size"));
    json_object_set_new(shown, "certificate", one);
    exported_add_file(filing, one, "file", "certificate", one_key(key, filing->pool), sha256);
    return NULL;
}

sr_error_t *ctl_exported_submission(json_t **shown, apr_array_header_t **files, json_t *body, apr_pool_t *pool)
{
    const json_t *signers = json_object_get(body, "signers"), *viewers = json_object_get(body, "viewers");
    json_t *links = sr_json_own(json_array(), pool);
    const sr_event_reader_t reader = {links, json_is_true(json_object_get(body, "sender"))};
    add_own_links(links, signers);
    add_own_links(links, viewers);
    *files = apr_array_make(pool, 4, sizeof(ctl_exported_file_t));
    const filing_t filing = {has_documents(signers) ? *files : NULL, sr_json_string(body, "uuid"), pool};
    *shown = ctl_exported_object(body, pool);
    json_object_set_new(*shown, "signers", people_shown(signers, pool));
    json_object_set_new(*shown, "viewers", people_shown(viewers, pool));
    json_object_set_new(*shown, "deliveries", objects(json_object_get(body, "deliveries"), pool));
    json_object_set_new(*shown, "events", events_shown(json_object_get(body, "events"), &reader, pool));
    sr_error_t *error = documents_shown(*shown, &filing, body);
    if (error) json_decref(*shown);
    return error;
}
