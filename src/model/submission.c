/* SPDX-License-Identifier: Apache-2.0 */
/* submission.c: the Submission of the contract as JSON text, made once when something changes and copied to every
 * reader after that. */
#include "model/model.h"

#include <math.h>
#include <string.h>

/* --- numbers: at most four decimals (a hundredth of a printer's dot), and no ".0" */

static json_t *number(double value)
{
    const double rounded = round(value * 1e4) / 1e4 + 0.0; /* + 0.0: no "-0" */

    if (rounded == trunc(rounded) && fabs(rounded) < 1e15) return json_integer((json_int_t)rounded);
    return json_real(rounded);
}

static json_t *numbers(const double *values, int count)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < count; i++) json_array_append_new(list, number(values[i]));
    return list;
}

/* --- parts of the view */

static const char *const keys[] = {"x", "y", "w", "h"};

/* The area as it was sent, so that it can be sent again; the origin of coordinates is always named. */
static json_t *area_view(const sr_field_t *field)
{
    if (field->existing) return json_pack("{s:s}", "field", field->existing);
    const double values[] = {field->area.x, field->area.y, field->area.w, field->area.h};
    const bool top_left = field->area.origin == SR_ORIGIN_TOP_LEFT;
    json_t *object = json_object();
    int i;

    for (i = 0; i < 4; i++) {
        json_t *const sent = json_object_get(field->area_sent, keys[i]);

        json_object_set_new(object, keys[i], sent ? json_incref(sent) : number(values[i]));
    }
    json_object_set_new(object, "page", json_integer(field->area.page));
    json_object_set_new(object, "origin", json_string(top_left ? "top-left" : "user-space"));
    return object;
}

static json_t *field_view(const sr_field_t *field)
{
    json_t *object = json_object(), *percent = json_object();
    int i;

    for (i = 0; i < 4; i++) json_object_set_new(percent, keys[i], number(field->placement.percent[i]));
    json_object_set_new(object, "name", json_string(field->name));
    json_object_set_new(object, "type", json_string(field->type));
    json_object_set_new(object, "document", json_string(field->document));
    json_object_set_new(object, "page", json_integer(field->area.page));
    json_object_set_new(object, "area", area_view(field));
    json_object_set_new(object, "percent", percent);
    json_object_set_new(object, "rect", numbers(field->placement.rect, 4));
    if (field->caption) json_object_set_new(object, "caption", json_string(field->caption));
    return object;
}

json_t *sr_signer_fields_json(const sr_signer_t *signer)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < signer->fields->nelts; i++)
        json_array_append_new(list, field_view(&APR_ARRAY_IDX(signer->fields, i, sr_field_t)));
    return list;
}

const char *sr_signature_path(const sr_signer_t *signer, bool skip_intro, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "/sign/", signer->uuid, skip_intro ? "?skipIntro=true" : NULL, NULL);
}

static json_t *signer_view(const sr_signer_t *signer, bool skip_intro, apr_pool_t *pool)
{
    /* null until somebody opens, signs or refuses */
    static const char *const later[] = {"signedDocuments", "signerInformation", "completedAt",
                                        "openedAt",        "refusedAt",         "refusalReason"};
    const char *const link = sr_signature_path(signer, skip_intro, pool);
    json_t *object = json_object();
    size_t i;

    if (signer->email) json_object_set_new(object, "email", json_string(signer->email));
    json_object_set_new(object, "firstname", json_string(signer->firstname));
    json_object_set_new(object, "lastname", json_string(signer->lastname));
    json_object_set_new(object, "uuid", json_string(signer->uuid));
    if (signer->locale) json_object_set_new(object, "locale", json_string(signer->locale));
    json_object_set_new(object, "signatureLink", json_string(link));
    json_object_set_new(object, "status", json_string("sent"));
    for (i = 0; i < sizeof later / sizeof later[0]; i++) json_object_set_new(object, later[i], json_null());
    json_object_set_new(object, "fields", sr_signer_fields_json(signer));
    return object;
}

static json_t *document_view(const sr_document_t *document)
{
    json_t *object = json_object();

    json_object_set_new(object, "uuid", json_string(document->uuid));
    json_object_set_new(object, "name", json_string(document->name));
    json_object_set_new(object, "sha256", json_string(document->sha256));
    json_object_set_new(object, "size", json_integer(document->size));
    json_object_set_new(object, "pages", json_integer(document->pages->count));
    if (document->pages->warnings)
        json_object_set_new(object, "warnings", sr_warnings_sentences(document->pages->warnings));
    return object;
}

/* What a submission and its template both begin with. */
static json_t *head_view(const sr_submission_t *submission, const char *uuid)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", json_string(submission->name));
    json_object_set_new(object, "uuid", json_string(uuid));
    json_object_set_new(object, "createdAt", sr_time_json(submission->created_at));
    json_object_set_new(object, "updatedAt", sr_time_json(submission->updated_at));
    return object;
}

static json_t *person_view(const sr_person_t *person)
{
    json_t *object = json_object();

    json_object_set_new(object, "firstname", sr_json_string_or_null(person->firstname));
    json_object_set_new(object, "lastname", sr_json_string_or_null(person->lastname));
    json_object_set_new(object, "email", sr_json_string_or_null(person->email));
    return object;
}

/* --- the view */

/* Links are the values of these keys. What is searched for cannot come from a user: quotes within a JSON string are
 * escaped, so `":"` always stands between a key and its value, and no key of the view is a user's. A mark of a user's
 * (U+0001 in a name) is "\u0001" in JSON text, never the byte. */
static const char *const link_keys[] = {"\"signatureLink", "\"url"};

/* The beginning of the next link's value, or NULL. */
static const char *next_link(const char *json)
{
    const char *colon = json;
    size_t i;

    for (; (colon = strstr(colon, "\":\"")); colon += 3) {
        for (i = 0; i < sizeof link_keys / sizeof *link_keys; i++) {
            const size_t length = strlen(link_keys[i]);

            if ((size_t)(colon - json) >= length && !memcmp(colon - length, link_keys[i], length)) return colon + 3;
        }
    }
    return NULL;
}

const char *sr_submission_representation_write(const json_t *object, apr_pool_t *pool)
{
    const char *json = sr_json_text(object, pool), *next;
    apr_size_t links = 0;
    char *marked, *out;

    for (next = json; (next = next_link(next)) != NULL; links++) continue;
    marked = out = apr_palloc(pool, strlen(json) + links + 1);
    for (; (next = next_link(json)) != NULL; json = next) {
        memcpy(out, json, (apr_size_t)(next - json));
        out += next - json;
        *out++ = SR_BASE_URL_PLACEHOLDER;
    }
    strcpy(out, json);
    return marked;
}

sr_error_t *sr_submission_representation_read(json_t **object, const char *view, apr_pool_t *pool)
{
    char *const bare = apr_palloc(pool, strlen(view) + 1), *out = bare;

    for (; *view; view++)
        if (*view != SR_BASE_URL_PLACEHOLDER) *out++ = *view;
    *out = '\0';
    return sr_json_read(object, bare, pool);
}

const char *sr_submission_representation(const sr_submission_t *submission, apr_pool_t *pool)
{
    json_t *object = sr_json_own(head_view(submission, submission->uuid), pool);
    json_t *submitters = json_array(), *documents = json_array();
    int i;

    for (i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        json_array_append_new(submitters, signer_view(signer, submission->skip_intro, pool));
    }
    for (i = 0; i < submission->documents->nelts; i++)
        json_array_append_new(documents, document_view(&APR_ARRAY_IDX(submission->documents, i, sr_document_t)));
    json_object_set_new(object, "template", head_view(submission, submission->template_uuid));
    json_object_set_new(object, "submitters", submitters);
    json_object_set_new(object, "createdBy", person_view(&submission->created_by));
    json_object_set_new(object, "documents", documents);
    json_object_set_new(object, "certificate", json_null());
    json_t *const warnings = sr_remarks_json(submission->remarks);
    if (warnings) json_object_set_new(object, "warnings", warnings);
    return sr_submission_representation_write(object, pool);
}

/* As with links: only a key can look like this, and the submission's own comes before every other. */
const char *sr_submission_representation_uuid(const char *view, apr_pool_t *pool)
{
    static const char key[] = "\"uuid\":\"";
    const char *uuid = strstr(view, key);

    if (!uuid) return NULL;
    uuid = apr_pstrmemdup(pool, uuid + sizeof key - 1, strnlen(uuid + sizeof key - 1, SR_UUID_LENGTH));
    return sr_uuid_valid(uuid) ? uuid : NULL;
}

const char *sr_submission_search_text(const sr_submission_t *submission, apr_pool_t *pool)
{
    const int count = submission->signers->nelts;
    apr_array_header_t *lines = apr_array_make(pool, count + 1, sizeof(const char *));
    int i;

    /* each signer on a line, so that nobody is found by the end of one and the beginning of another */
    APR_ARRAY_PUSH(lines, const char *) = submission->name;
    for (i = 0; i < count; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);

        APR_ARRAY_PUSH(lines, const char *) = apr_pstrcat(pool, signer->firstname, " ", signer->lastname,
                                                          signer->email ? " " : NULL, signer->email, NULL);
    }
    return sr_text_fold(apr_array_pstrcat(pool, lines, '\n'), pool);
}

json_t *sr_submission_signer(const json_t *view, const char *uuid)
{
    const json_t *const submitters = json_object_get(view, "submitters");
    size_t i;

    for (i = 0; i < json_array_size(submitters); i++) {
        json_t *const submitter = json_array_get(submitters, i);
        const char *const found = sr_json_string(submitter, "uuid");

        if (found && !strcasecmp(found, uuid)) return submitter;
    }
    return NULL;
}
