/* SPDX-License-Identifier: Apache-2.0 */
/* place.c: serves the placement link of a draft, at which somebody places the fields and sends the request: the page,
 * its state as JSON, the fields, and the form fields that a document has. pages.c serves the pages. The uuids of
 * signers are the secrets of their links, so signers have numbers here. */
#include <string.h>

#include "service/drafts.h"
#include "service/form.h"
#include "web/web.h"

#define BODY_MAX ((apr_size_t)4 << 20) /* of the fields, as of the part `signers` of a creation */
#define VALUES_EACH 50                 /* JSON values for each signer and field */

void sr_web_place_begin(sr_http_t *http)
{
    http->placing = true;
    sr_web_begin(http);
}

/* --- the state */

static json_t *place_run(int count, double width, double height)
{
    return json_pack("{s:i,s:o,s:o}", "count", count, "width", sr_area_number(width), "height", sr_area_number(height));
}

static json_t *place_document(const sr_document_state_t *document)
{
    json_t *pages = json_array();
    for (int i = 0; document->boxes && i < document->boxes->runs->nelts; i++) {
        const sr_list_run_t *run = &APR_ARRAY_IDX(document->boxes->runs, i, sr_list_run_t);
        double size[2];
        sr_page_size(size, &run->page);
        json_array_append_new(pages, place_run(run->count, size[0], size[1]));
    }
    if (!document->boxes) json_array_append_new(pages, place_run(document->pages, 612, 792)); /* as html.c guesses */
    return json_pack("{s:s,s:s,s:s,s:o}", "uuid", document->uuid, "name", document->name, "version",
                     sr_document_state_sha256(document), "pages", pages);
}

static json_t *place_signer(const sr_signer_t *signer, int number)
{
    return json_pack("{s:i,s:s,s:s,s:i,s:o}", "number", number, "firstname", signer->firstname, "lastname",
                     signer->lastname, "order", signer->order, "fields", sr_signer_fields_json(signer));
}

static const char *place_version(sr_http_t *http, const sr_signing_t *signing)
{
    return sr_http_etag(http, sr_service_draft_tag(signing, http->pool));
}

/* Returns the state of a draft. New reference. */
static json_t *place_state(sr_http_t *http, const sr_signing_t *signing)
{
    const sr_submission_t *submission = &signing->submission;
    json_t *state = json_object(), *signers = json_array(), *documents = json_array();
    for (int i = 0; i < submission->signers->nelts; i++)
        json_array_append_new(signers, place_signer(&APR_ARRAY_IDX(submission->signers, i, sr_signer_t), i + 1));
    for (int i = 0; i < submission->documents->nelts; i++)
        json_array_append_new(documents, place_document(&APR_ARRAY_IDX(submission->documents, i, sr_document_state_t)));
    json_object_set_new(state, "status", json_string(sr_submission_state_name(submission->state)));
    json_object_set_new(state, "name", json_string(submission->name));
    json_object_set_new(state, "environment", json_string(sr_environment_name(signing->environment)));
    json_object_set_new(state, "version", json_string(place_version(http, signing)));
    json_object_set_new(state, "locale", json_string(sr_web_language(http)->tag));
    json_object_set_new(state, "redirectUrl", sr_json_string_or_null(submission->redirect_url));
    json_object_set_new(state, "expiresAt",
                        submission->expires_at ? sr_time_json(submission->expires_at) : json_null());
    json_object_set_new(state, "placementExpiresAt", sr_time_json(submission->placement_until));
    json_object_set_new(state, "sendEmail", json_boolean(submission->send_email));
    json_object_set_new(state, "limits", json_pack("{s:i}", "fields", http->settings->max_fields));
    json_object_set_new(state, "signers", signers);
    json_object_set_new(state, "documents", documents);
    json_object_set_new(state, "problems", sr_submission_problems(submission, sr_time_now(), http->pool));
    return state;
}

/* Reads the draft whose link is used. */
static sr_error_t *place_read(sr_http_t *http, sr_signing_t **signing)
{
    sr_draft_subject_t subject = {0};
    SR_TRY(sr_web_uuid(&subject.placement, http, 0));
    return sr_service_draft(http->service, signing, &subject, http->pool);
}

static sr_error_t *place_reply_state(sr_http_t *http)
{
    sr_signing_t *signing;
    SR_TRY(place_read(http, &signing));
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    return sr_http_json(http, HTTP_OK, place_state(http, signing));
}

/* --- the page */

/* Adds the members that the list of fields for browsers without a script shows. */
static void place_add_names(json_t *values, apr_pool_t *pool)
{
    json_t *signer, *field;
    size_t i, j;
    json_array_foreach (json_object_get(values, "signers"), i, signer) {
        const char *name =
            sr_person_name(sr_json_string(signer, "firstname"), sr_json_string(signer, "lastname"), pool);
        json_object_set_new(signer, "fullname", json_string(name));
        json_array_foreach (json_object_get(signer, "fields"), j, field)
            json_object_set_new(field, "number", json_integer(json_integer_value(json_object_get(field, "page")) + 1));
    }
}

/* Returns the relative URL of the desk's list if the desk has led here, or NULL. The client chooses nothing of it. */
static const char *place_desk(sr_http_t *http, const sr_signing_t *signing)
{
    const char *args = http->r->args, *from = args ? strstr(args, SR_WEB_FROM_DESK) : NULL;
    if (!from || (from > args && from[-1] != '&') || strcspn(from, "&") != strlen(SR_WEB_FROM_DESK)) return NULL;
    return apr_pstrcat(http->pool, "../desk/",
                       sr_owner_of(signing->organization_uuid, signing->environment, http->pool), "/",
                       sr_web_language_query(http), NULL);
}

static sr_error_t *place_show(sr_http_t *http, const sr_signing_t *signing)
{
    json_t *values = sr_json_own(place_state(http, signing), http->pool), *texts;
    const char *state = sr_json_text(values, http->pool);
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    const char *words = sr_json_text(json_object_get(texts, "script"), http->pool);
    const char *title = apr_pstrcat(http->pool, signing->submission.name, " \xc2\xb7 ", signing->organization, NULL);
    place_add_names(values, http->pool);
    json_object_update_new(values, json_pack("{s:b,s:b,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "placing", 1, "test",
                                             signing->environment == SR_TEST, "state", state, "texts", words, "title",
                                             title, "link", signing->submission.placement, "submission",
                                             signing->submission.uuid, "css", "place.css", "script", "main.js"));
    json_object_set_new(values, "desk", sr_json_string_or_null(place_desk(http, signing)));
    return sr_web_reply(http, HTTP_OK, values, &theme, texts);
}

/* Nothing is recorded, so robots and prefetching browsers may read it. */
sr_error_t *sr_web_place_get(sr_http_t *http)
{
    if (!sr_uuid_valid(http->params[0])) return sr_web_get_followed(http);
    sr_signing_t *signing;
    if (sr_http_prefers_json(http)) return place_reply_state(http);
    SR_TRY(place_read(http, &signing));
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    return place_show(http, signing);
}

/* --- changes, which only programs and the page's script make */

/* Checks before the body is read that the request does not come from another site. Errors are JSON. */
static sr_error_t *place_admit(sr_http_t *http, sr_draft_subject_t *subject)
{
    http->show_error = NULL;
    *subject = (sr_draft_subject_t){0};
    SR_TRY(sr_web_uuid(&subject->placement, http, 0));
    return sr_web_refuse_foreign(http);
}

/* Removes the members that the state adds to a field, so that they are no remarks. */
static void place_clear(json_t *signers)
{
    static const char *const added[] = {"page", "percent", "rect"};
    json_t *signer, *field;
    size_t i, j;
    json_array_foreach (signers, i, signer)
        json_array_foreach (json_object_get(signer, "fields"), j, field)
            for (size_t k = 0; k < sizeof added / sizeof *added; k++) json_object_del(field, added[k]);
}

sr_error_t *sr_web_place_fields(sr_http_t *http)
{
    const char *known = apr_table_get(http->r->headers_in, "If-Match");
    const sr_settings_t *limits = http->settings;
    const apr_size_t most = ((apr_size_t)limits->max_signers + (apr_size_t)limits->max_fields) * VALUES_EACH;
    sr_draft_subject_t subject;
    sr_shown_submission_t shown;
    sr_signing_t *signing;
    json_t *body;
    SR_TRY(place_admit(http, &subject));
    SR_TRY(sr_service_draft(http->service, &signing, &subject, http->pool));
    if (!known) return sr_error(http->pool, SR_EUNCONDITIONAL, "If-Match must have the version of the state");
    SR_TRY(sr_http_read_json(&body, http, BODY_MAX, most));
    json_t *signers = json_object_get(body, "signers");
    place_clear(signers);
    const char *text = signers ? sr_json_text(signers, http->pool) : "null";
    SR_TRY(sr_service_draft_fields(http->service, &shown, &subject, text, strlen(text), known,
                                   sr_remarks_make(http->pool), http->pool));
    return place_reply_state(http);
}

sr_error_t *sr_web_place_send(sr_http_t *http)
{
    const sr_client_t client = sr_web_client(http);
    const char *known = apr_table_get(http->r->headers_in, "If-Match");
    sr_draft_subject_t subject;
    sr_shown_submission_t shown;
    SR_TRY(place_admit(http, &subject));
    SR_TRY(sr_service_draft_send(http->service, &shown, &subject, known, &client, http->pool));
    return sr_http_json(http, HTTP_OK, json_pack("{s:s}", "status", "sent"));
}

/* --- what a helper finds */

sr_error_t *sr_web_place_forms(sr_http_t *http)
{
    const char *document;
    sr_signing_t *signing;
    json_t *answer;
    http->show_error = NULL;
    SR_TRY(place_read(http, &signing));
    SR_TRY(sr_web_uuid(&document, http, 1));
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    SR_TRY(sr_service_form(http->service, &answer, signing, document, http->pool));
    return sr_http_json(http, HTTP_OK, answer);
}
