/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: typed records of a submission, its signers and its documents, read from rows of the store. */
#include "model/model.h"

#include <string.h>

static sr_error_t *record_spoilt(apr_pool_t *pool, const char *what)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "submission row: %s", what);
}

static apr_int64_t record_number(const json_t *row, const char *key)
{
    return (apr_int64_t)json_integer_value(json_object_get(row, key));
}

/* PostgreSQL returns true and false, SQLite 1 and 0. */
static bool truth(const json_t *row, const char *key)
{
    return json_is_true(json_object_get(row, key)) || record_number(row, key) == 1;
}

/* Members that have the names of their columns in `row`. */
#define TEXT(member) .member = sr_json_string(row, #member)
#define NUMBER(member) .member = record_number(row, #member)
#define TRUTH(member) .member = truth(row, #member)

/* --- documents */

static bool is_archive(const json_t *row)
{
    const char *kind = sr_json_string(row, "kind");
    return kind && !strcmp(kind, "archive");
}

static sr_error_t *read_revisions(sr_document_state_t *document, const json_t *revisions, apr_pool_t *pool)
{
    document->revisions = apr_array_make(pool, (int)json_array_size(revisions) + 1, sizeof(sr_revised_t));
    for (size_t i = 0; i < json_array_size(revisions); i++) {
        const json_t *row = json_array_get(revisions, i);
        const sr_revised_t revised = {sr_json_string(row, "sha256"),       record_number(row, "size"),
                                      sr_json_string(row, "whole_sha256"), record_number(row, "whole_size"),
                                      sr_json_string(row, "key"),          is_archive(row)};
        if (!revised.sha256 || !revised.whole_sha256 || !revised.key) return record_spoilt(pool, "a revision");
        APR_ARRAY_PUSH(document->revisions, sr_revised_t) = revised;
    }
    return NULL;
}

sr_error_t *sr_document_state_parse(sr_document_state_t *document, const json_t *row, apr_pool_t *pool)
{
    const char *rewritten = sr_json_string(row, "rewritten_sha256");
    const json_t *warnings = json_object_get(row, "warnings");
    *document = (sr_document_state_t){TEXT(uuid), TEXT(name), .pages = (int)record_number(row, "pages"), TEXT(sha256),
                                      NUMBER(size)};
    if (!document->uuid || !document->name || !document->sha256) return record_spoilt(pool, "a document");
    if (!sr_warnings_parse(&document->warnings, json_is_null(warnings) ? NULL : warnings))
        return record_spoilt(pool, "a document's warnings");
    document->base_sha256 = rewritten ? rewritten : document->sha256;
    document->base_size = rewritten ? record_number(row, "rewritten_size") : document->size;
    document->key = sr_json_string(row, "key");
    document->base_key = sr_json_string(row, rewritten ? "rewritten_key" : "key");
    if (!document->key || !document->base_key) return record_spoilt(pool, "a document's blob");
    return read_revisions(document, json_object_get(row, "revisions"), pool);
}

static apr_array_header_t *first_revisions(const sr_prepared_t *prepared, apr_pool_t *pool)
{
    apr_array_header_t *revisions = apr_array_make(pool, 1, sizeof(sr_revised_t));
    if (prepared->sha256)
        APR_ARRAY_PUSH(revisions, sr_revised_t) = (sr_revised_t){.sha256 = prepared->sha256,
                                                                 .size = prepared->size,
                                                                 .whole_sha256 = prepared->whole_sha256,
                                                                 .whole_size = prepared->whole_size,
                                                                 .archives = true};
    return revisions;
}

apr_array_header_t *sr_document_states(const apr_array_header_t *documents, apr_pool_t *pool)
{
    apr_array_header_t *states = apr_array_make(pool, documents->nelts, sizeof(sr_document_state_t));
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_t *document = &APR_ARRAY_IDX(documents, i, sr_document_t);
        const char *rewritten = document->rewritten_sha256;
        APR_ARRAY_PUSH(states, sr_document_state_t) =
            (sr_document_state_t){.uuid = document->uuid,
                                  .name = document->name,
                                  .pages = document->pages->count,
                                  .sha256 = document->sha256,
                                  .size = document->size,
                                  .base_sha256 = rewritten ? rewritten : document->sha256,
                                  .base_size = rewritten ? document->rewritten_size : document->size,
                                  .warnings = document->pages->warnings,
                                  .revisions = first_revisions(&document->prepared, pool)};
    }
    return states;
}

bool sr_document_state_is_signed(const sr_document_state_t *document)
{
    for (int i = 0; i < document->revisions->nelts; i++)
        if (!APR_ARRAY_IDX(document->revisions, i, sr_revised_t).archives) return true;
    return false;
}

static const sr_revised_t *last_revision(const sr_document_state_t *document)
{
    const int count = document->revisions->nelts;
    return count ? &APR_ARRAY_IDX(document->revisions, count - 1, sr_revised_t) : NULL;
}

const char *sr_document_state_sha256(const sr_document_state_t *document)
{
    const sr_revised_t *last = last_revision(document);
    return last ? last->whole_sha256 : document->base_sha256;
}

apr_off_t sr_document_state_size(const sr_document_state_t *document)
{
    const sr_revised_t *last = last_revision(document);
    return last ? last->whole_size : document->base_size;
}

apr_array_header_t *sr_document_state_files(const sr_document_state_t *document, apr_pool_t *pool)
{
    apr_array_header_t *files = apr_array_make(pool, document->revisions->nelts + 1, sizeof(const char *));
    APR_ARRAY_PUSH(files, const char *) = document->base_key;
    for (int i = 0; i < document->revisions->nelts; i++)
        APR_ARRAY_PUSH(files, const char *) = APR_ARRAY_IDX(document->revisions, i, sr_revised_t).key;
    return files;
}

/* --- signers */

static sr_error_t *record_read_signer(sr_signer_t *signer, const json_t *row, apr_pool_t *pool)
{
    *signer = (sr_signer_t){TEXT(uuid),
                            TEXT(firstname),
                            TEXT(lastname),
                            TEXT(email),
                            TEXT(locale),
                            NUMBER(opened_at),
                            NUMBER(completed_at),
                            NUMBER(refused_at),
                            TEXT(refusal_reason),
                            TEXT(ip),
                            TEXT(user_agent),
                            TEXT(signature_type),
                            TEXT(consent),
                            .order = (int)record_number(row, "signing_order"),
                            NUMBER(due_at),
                            NUMBER(reminded_at),
                            .reminders = (int)record_number(row, "reminders"),
                            TEXT(replaces),
                            TEXT(alias)};
    if (!signer->uuid || !signer->firstname || !signer->lastname) return record_spoilt(pool, "a signer");
    if (!sr_signer_state_parse(&signer->state, sr_json_string(row, "state")))
        return record_spoilt(pool, "the state of a signer");
    SR_TRY(sr_authentication_parse(&signer->authentication, json_object_get(row, "authentication"), pool));
    return sr_signer_fields_parse(signer, json_object_get(row, "fields"), pool);
}

const char *sr_submission_number(const char *uuid, apr_pool_t *pool)
{
    return apr_pstrndup(pool, uuid, 8);
}

const sr_document_state_t *sr_submission_document(const sr_submission_t *submission, const char *name)
{
    for (int i = 0; i < submission->documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(submission->documents, i, sr_document_state_t);
        if (!strcmp(document->name, name)) return document;
    }
    return NULL;
}

sr_signer_t *sr_submission_signer(const sr_submission_t *submission, const char *uuid)
{
    for (int i = 0; i < submission->signers->nelts; i++) {
        sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        if (!strcasecmp(signer->uuid, uuid)) return signer;
    }
    return NULL;
}

bool sr_submission_all_signed(const sr_submission_t *submission)
{
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_state_t state = APR_ARRAY_IDX(submission->signers, i, sr_signer_t).state;
        if (state != SR_SIGNER_COMPLETED && state != SR_SIGNER_REPLACED) return false;
    }
    return true;
}

bool sr_signer_has_field(const sr_signer_t *signer, const sr_document_state_t *document)
{
    for (int i = 0; i < signer->fields->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(signer->fields, i, sr_field_t).document, document->name)) return true;
    return false;
}

static const char *first_letter(const char *name, apr_pool_t *pool)
{
    const char *end = name ? name : "";
    sr_text_next(&end);
    return name ? apr_pstrmemdup(pool, name, (apr_size_t)(end - name)) : "";
}

const char *sr_person_initials(const char *firstname, const char *lastname, apr_pool_t *pool)
{
    return apr_pstrcat(pool, first_letter(firstname, pool), first_letter(lastname, pool), NULL);
}

const char *sr_person_name(const char *firstname, const char *lastname, apr_pool_t *pool)
{
    return apr_pstrcat(pool, firstname ? firstname : "", firstname && lastname ? " " : "", lastname ? lastname : "",
                       NULL);
}

/* --- the submission */

static sr_error_t *read_lists(sr_submission_t *submission, const json_t *row, apr_pool_t *pool)
{
    const json_t *documents = json_object_get(row, "documents"), *signers = json_object_get(row, "signers");
    apr_array_header_t *states = apr_array_make(pool, (int)json_array_size(documents), sizeof(sr_document_state_t));
    apr_array_header_t *people = apr_array_make(pool, (int)json_array_size(signers), sizeof(sr_signer_t));
    for (size_t i = 0; i < json_array_size(documents); i++)
        SR_TRY(sr_document_state_parse(apr_array_push(states), json_array_get(documents, i), pool));
    for (size_t i = 0; i < json_array_size(signers); i++)
        SR_TRY(record_read_signer(apr_array_push(people), json_array_get(signers, i), pool));
    submission->documents = states;
    submission->signers = people;
    return NULL;
}

sr_error_t *sr_submission_parse(sr_submission_t *submission, const json_t *row, apr_pool_t *pool)
{
    const json_t *creator = json_object_get(row, "created_by"), *warnings = json_object_get(row, "warnings");
    const json_t *metadata = json_object_get(row, "metadata");
    *submission =
        (sr_submission_t){TEXT(uuid),
                          TEXT(name),
                          TEXT(template_uuid),
                          TRUTH(skip_intro),
                          TRUTH(send_email),
                          NUMBER(access_epoch),
                          NUMBER(created_at),
                          NUMBER(updated_at),
                          .created_by = {sr_json_string(creator, "firstname"), sr_json_string(creator, "lastname"),
                                         sr_json_string(creator, "email")},
                          .warnings = json_is_array(warnings) ? warnings : NULL,
                          TEXT(certificate_sha256),
                          TEXT(certificate_key),
                          NUMBER(certificate_size),
                          NUMBER(closed_at),
                          NUMBER(expires_at),
                          NUMBER(stamped_until),
                          NUMBER(held_at),
                          NUMBER(copied_at),
                          NUMBER(draft_until),
                          TEXT(placement),
                          NUMBER(placement_until),
                          NUMBER(saves),
                          TEXT(cancel_reason),
                          TEXT(external_id),
                          TEXT(redirect_url),
                          .metadata = json_is_object(metadata) ? metadata : NULL};
    if (!submission->uuid || !submission->name || !submission->template_uuid) return record_spoilt(pool, "incomplete");
    if (!sr_submission_state_parse(&submission->state, sr_json_string(row, "state")))
        return record_spoilt(pool, "its state");
    if (!sr_reminders_parse(&submission->reminders, json_object_get(row, "reminders")))
        return record_spoilt(pool, "its reminders");
    if (!sr_options_parse(&submission->options, json_object_get(row, "options")))
        return record_spoilt(pool, "its options");
    SR_TRY(sr_viewers_parse(&submission->viewers, json_object_get(row, "viewers"), pool));
    return read_lists(submission, row, pool);
}
