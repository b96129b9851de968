/* SPDX-License-Identifier: Apache-2.0 */
/* signing.c: a submission as one of its signers meets it. The view is what is read and changed here: whatever the API
 * shows of a signer is what decides about them. */
#include "model/model.h"

#include <string.h>

static const char *const state_names[SR_SIGNING_STATE_COUNT] = {
    [SR_SIGNING_SENT] = "sent",       [SR_SIGNING_OPENED] = "opened", [SR_SIGNING_COMPLETED] = "completed",
    [SR_SIGNING_REFUSED] = "refused", [SR_SIGNING_CLOSED] = "closed",
};

const char *sr_signing_state_name(sr_signing_state_t state)
{
    return state_names[state];
}

/* Why an action is not possible in a state; NULL: it is. */
static const char *const conflicts[SR_SIGNING_STATE_COUNT][SR_SIGNING_ACTION_COUNT] = {
    [SR_SIGNING_COMPLETED] = {"You have signed already", "You have signed already, and can no longer refuse"},
    [SR_SIGNING_REFUSED] = {"You have refused to sign", "You have refused already"},
    [SR_SIGNING_CLOSED] = {"Somebody else has refused to sign, which has closed this signature request",
                           "Somebody else has refused to sign, which has closed this signature request"},
};

sr_error_t *sr_signing_may(const sr_signing_t *signing, sr_signing_action_t action, apr_pool_t *pool)
{
    const char *const conflict = conflicts[signing->state][action];

    return conflict ? sr_error(pool, SR_ECONFLICT, "%s", conflict) : NULL;
}

/* --- reading */

static sr_error_t *spoilt(apr_pool_t *pool, const char *what)
{
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "signing row: %s", what);
}

static apr_off_t number(const json_t *row, const char *key)
{
    return (apr_off_t)json_integer_value(json_object_get(row, key));
}

static sr_error_t *read_revisions(sr_document_state_t *document, const json_t *revisions, apr_pool_t *pool)
{
    size_t i;

    document->revisions = apr_array_make(pool, (int)json_array_size(revisions) + 1, sizeof(sr_revised_t));
    for (i = 0; i < json_array_size(revisions); i++) {
        const json_t *const row = json_array_get(revisions, i);
        const sr_revised_t revised = {sr_json_string(row, "sha256"), number(row, "size"),
                                      sr_json_string(row, "whole_sha256"), number(row, "whole_size")};

        if (!revised.sha256 || !revised.whole_sha256) return spoilt(pool, "a revision");
        APR_ARRAY_PUSH(document->revisions, sr_revised_t) = revised;
    }
    return NULL;
}

sr_error_t *sr_document_state_parse(sr_document_state_t *document, const json_t *row, apr_pool_t *pool)
{
    const char *const rewritten = sr_json_string(row, "rewritten_sha256");

    *document = (sr_document_state_t){.uuid = sr_json_string(row, "uuid"),
                                      .name = sr_json_string(row, "name"),
                                      .pages = (int)number(row, "pages"),
                                      .sha256 = sr_json_string(row, "sha256"),
                                      .size = number(row, "size")};
    if (!document->uuid || !document->name || !document->sha256) return spoilt(pool, "a document");
    document->base_sha256 = rewritten ? rewritten : document->sha256;
    document->base_size = rewritten ? number(row, "rewritten_size") : document->size;
    return read_revisions(document, json_object_get(row, "revisions"), pool);
}

static bool has_refused(const json_t *submitter)
{
    return json_is_string(json_object_get(submitter, "refusedAt"));
}

static bool has_status(const json_t *submitter, const char *status)
{
    const char *const found = sr_json_string(submitter, "status");

    return found && !strcmp(found, status);
}

static sr_signing_state_t state_of(const json_t *submitter, const json_t *submitters)
{
    size_t i;

    if (has_status(submitter, "completed")) return SR_SIGNING_COMPLETED;
    if (has_refused(submitter)) return SR_SIGNING_REFUSED;
    for (i = 0; i < json_array_size(submitters); i++)
        if (has_refused(json_array_get(submitters, i))) return SR_SIGNING_CLOSED;
    return has_status(submitter, "opened") ? SR_SIGNING_OPENED : SR_SIGNING_SENT;
}

static sr_error_t *read_documents(sr_signing_t *signing, const json_t *documents, apr_pool_t *pool)
{
    size_t i;

    signing->documents = apr_array_make(pool, (int)json_array_size(documents), sizeof(sr_document_state_t));
    for (i = 0; i < json_array_size(documents); i++)
        SR_TRY(sr_document_state_parse(apr_array_push(signing->documents), json_array_get(documents, i), pool));
    return NULL;
}

sr_error_t *sr_signing_parse(sr_signing_t **signing, const char *row, const char *signer, apr_pool_t *pool)
{
    sr_signing_t *const made = *signing = apr_pcalloc(pool, sizeof *made);
    const char *view, *environment;
    json_t *json, *submitters;

    SR_TRY(sr_json_read(&json, row, pool));
    view = sr_json_string(json, "view");
    environment = sr_json_string(json, "environment");
    made->submission = sr_json_string(json, "submission");
    made->organization = sr_json_string(json, "organization");
    made->organization_uuid = sr_json_string(json, "organization_uuid");
    made->environment = environment && !strcmp(environment, "production") ? SR_PRODUCTION : SR_TEST;
    made->events = (int)number(json, "events");
    made->events_hash = sr_json_string(json, "events_hash");
    made->certificate_sha256 = sr_json_string(json, "certificate_sha256");
    made->certificate_size = number(json, "certificate_size");
    made->tell_signed = number(json, "tell_signed") == 1;
    made->tell_completed = number(json, "tell_completed") == 1;
    made->base_url = sr_json_string(json, "base_url");
    if (!view || !environment || !made->submission || !made->organization || !made->organization_uuid || !made->base_url
        || !made->events_hash || !made->events)
        return spoilt(pool, "incomplete");
    SR_TRY(sr_submission_representation_read(&made->view, view, pool));
    submitters = json_object_get(made->view, "submitters");
    made->submitter = sr_submission_signer(made->view, signer);
    if (!made->submitter) return spoilt(pool, "the view lacks the signer");
    made->signer = sr_json_string(made->submitter, "uuid");
    made->state = state_of(made->submitter, submitters);
    return read_documents(made, json_object_get(json, "documents"), pool);
}

/* --- asking */

sr_document_state_t *sr_signing_document(const sr_signing_t *signing, const char *uuid)
{
    int i;

    for (i = 0; i < signing->documents->nelts; i++) {
        sr_document_state_t *const document = &APR_ARRAY_IDX(signing->documents, i, sr_document_state_t);

        if (!strcasecmp(document->uuid, uuid)) return document;
    }
    return NULL;
}

static const sr_revised_t *last_revision(const sr_document_state_t *document)
{
    const int count = document->revisions->nelts;

    return count ? &APR_ARRAY_IDX(document->revisions, count - 1, sr_revised_t) : NULL;
}

const char *sr_document_state_sha256(const sr_document_state_t *document)
{
    const sr_revised_t *const last = last_revision(document);

    return last ? last->whole_sha256 : document->base_sha256;
}

apr_off_t sr_document_state_size(const sr_document_state_t *document)
{
    const sr_revised_t *const last = last_revision(document);

    return last ? last->whole_size : document->base_size;
}

apr_array_header_t *sr_document_state_files(const sr_document_state_t *document, apr_pool_t *pool)
{
    apr_array_header_t *const files = apr_array_make(pool, document->revisions->nelts + 1, sizeof(const char *));
    int i;

    APR_ARRAY_PUSH(files, const char *) = document->base_sha256;
    for (i = 0; i < document->revisions->nelts; i++)
        APR_ARRAY_PUSH(files, const char *) = APR_ARRAY_IDX(document->revisions, i, sr_revised_t).sha256;
    return files;
}

bool sr_signing_has_field(const json_t *submitter, const sr_document_state_t *document)
{
    const json_t *const fields = json_object_get(submitter, "fields");
    size_t i;

    for (i = 0; i < json_array_size(fields); i++) {
        const char *const name = sr_json_string(json_array_get(fields, i), "document");

        if (name && !strcmp(name, document->name)) return true;
    }
    return false;
}

const char *sr_signing_name(const json_t *submitter, apr_pool_t *pool)
{
    const char *const first = sr_json_string(submitter, "firstname"), *const last =
                                                                          sr_json_string(submitter, "lastname");

    return apr_pstrcat(pool, first ? first : "", " ", last ? last : "", NULL);
}

const char *sr_signing_contact(const sr_signing_t *signing, apr_pool_t *pool)
{
    return apr_pstrcat(pool, signing->organization, ", submission ", signing->submission, NULL);
}

const char *sr_signing_reason(const sr_signing_t *signing, const char *what, apr_pool_t *pool)
{
    const char *const name = sr_json_string(signing->view, "name");

    return apr_pstrcat(pool, what, ": ", name ? name : signing->submission, NULL);
}

const char *sr_signing_alias(const char *signer, apr_pool_t *pool)
{
    return apr_pstrndup(pool, sr_sha256_hex(signer, strlen(signer), pool), 12);
}

bool sr_signing_is_complete(const sr_signing_t *signing)
{
    const json_t *const submitters = json_object_get(signing->view, "submitters");
    size_t i;

    for (i = 0; i < json_array_size(submitters); i++)
        if (!has_status(json_array_get(submitters, i), "completed")) return false;
    return true;
}

/* --- steps */

static void set_opened(sr_signing_t *signing, apr_time_t when)
{
    if (json_is_null(json_object_get(signing->submitter, "openedAt")))
        json_object_set_new(signing->submitter, "openedAt", sr_time_json(when));
}

static void set_state(sr_signing_t *signing, sr_signing_state_t state, apr_time_t when)
{
    signing->state = state;
    /* of the four statuses of the contract: who refused stays "opened" */
    json_object_set_new(signing->submitter, "status",
                        json_string(state == SR_SIGNING_COMPLETED ? "completed" : "opened"));
    json_object_set_new(signing->view, "updatedAt", sr_time_json(when));
}

void sr_signing_open(sr_signing_t *signing, apr_time_t when)
{
    set_opened(signing, when);
    set_state(signing, SR_SIGNING_OPENED, when);
}

void sr_signing_refuse(sr_signing_t *signing, apr_time_t when, const char *reason)
{
    json_object_set_new(signing->submitter, "refusedAt", sr_time_json(when));
    json_object_set_new(signing->submitter, "refusalReason", sr_json_string_or_null(reason));
    set_state(signing, SR_SIGNING_REFUSED, when);
}

/* The documents on which a signer has a field, as they stand now. */
static json_t *signed_documents(const sr_signing_t *signing, const json_t *submitter, apr_pool_t *pool)
{
    json_t *const list = json_array();
    int i;

    for (i = 0; i < signing->documents->nelts; i++) {
        const sr_document_state_t *const document = &APR_ARRAY_IDX(signing->documents, i, sr_document_state_t);
        json_t *row;

        if (!sr_signing_has_field(submitter, document)) continue;
        row = json_object();
        json_object_set_new(row, "name", json_string(document->name));
        json_object_set_new(row, "uuid", json_string(document->uuid));
        json_object_set_new(row, "url",
                            json_string(apr_pstrcat(pool, "/api/v3/signatures/", signing->submission, "/documents/",
                                                    document->uuid, NULL)));
        json_object_set_new(row, "sha256", json_string(sr_document_state_sha256(document)));
        json_object_set_new(row, "size", json_integer(sr_document_state_size(document)));
        json_array_append_new(list, row);
    }
    return list;
}

void sr_signing_complete(sr_signing_t *signing, apr_time_t when, const sr_client_t *client, const char *kind,
                         const char *consent, apr_pool_t *pool)
{
    const json_t *const submitters = json_object_get(signing->view, "submitters");
    json_t *const information = json_object();
    size_t i;

    set_opened(signing, when);
    set_state(signing, SR_SIGNING_COMPLETED, when);
    json_object_set_new(information, "ip", sr_json_string_or_null(client->ip));
    json_object_set_new(information, "userAgent", sr_json_string_or_null(client->user_agent));
    json_object_set(information, "openedAt", json_object_get(signing->submitter, "openedAt"));
    json_object_set_new(information, "signedAt", sr_time_json(when));
    json_object_set_new(information, "signatureType", json_string(kind));
    json_object_set_new(information, "consent", json_string(consent));
    json_object_set_new(signing->submitter, "signerInformation", information);
    json_object_set_new(signing->submitter, "completedAt", sr_time_json(when));
    for (i = 0; i < json_array_size(submitters); i++) { /* earlier signers' documents have grown too */
        json_t *const submitter = json_array_get(submitters, i);

        if (has_status(submitter, "completed"))
            json_object_set_new(submitter, "signedDocuments", signed_documents(signing, submitter, pool));
    }
}

void sr_signing_certify(sr_signing_t *signing, const char *sha256, apr_off_t size, apr_pool_t *pool)
{
    json_t *const certificate = json_object();

    signing->certificate_sha256 = sha256;
    signing->certificate_size = size;
    json_object_set_new(
        certificate, "url",
        json_string(apr_pstrcat(pool, "/api/v3/signatures/", signing->submission, "/certificate", NULL)));
    json_object_set_new(certificate, "sha256", json_string(sha256));
    json_object_set_new(certificate, "size", json_integer(size));
    json_object_set_new(signing->view, "certificate", certificate);
}
