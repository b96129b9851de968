/* SPDX-License-Identifier: Apache-2.0 */
/* request_page.c: the page of one request: its state, its documents as images of their pages, and the parts of
 * request_page.h. */
#include <string.h>

#include "desk/request_page.h"

#define SHEETS_MAX 100 /* pages of all documents that are shown as images */
#define SMALL_WIDTH 400
#define LARGE_WIDTH 2000

/* --- documents */

static json_t *request_sheet(const char *path, const char *version, int page, const sr_page_t *box, apr_pool_t *pool)
{
    double size[2] = {612, 792};
    if (box) sr_page_size(size, box);
    json_t *sheet = json_object();
    json_object_set_new(sheet, "number", json_integer(page + 1));
    json_object_set_new(sheet, "width", json_integer(SMALL_WIDTH));
    json_object_set_new(sheet, "height", json_integer((json_int_t)(size[1] / size[0] * SMALL_WIDTH + 0.5)));
    for (int i = 0; i < 3; i++) {
        static const struct {
            const char *key;
            int width;
        } images[] = {{"src", SMALL_WIDTH}, {"sharp", 2 * SMALL_WIDTH}, {"large", LARGE_WIDTH}};
        sr_desk_request_set(
            sheet, images[i].key,
            apr_psprintf(pool, "%s/pages/%d?width=%d&version=%s", path, page, images[i].width, version));
    }
    return sheet;
}

/* Adds the pages of a document, at most *left. */
static void request_add_sheets(json_t *row, const sr_document_state_t *document, const char *path, int *left,
                               apr_pool_t *pool)
{
    const apr_array_header_t *runs = document->boxes ? document->boxes->runs : NULL;
    const char *version = sr_document_state_sha256(document);
    json_t *sheets = json_array();
    int run = 0, end = runs && runs->nelts ? APR_ARRAY_IDX(runs, 0, sr_list_run_t).count : 0, page = 0;
    for (; page<document->pages && * left> 0; page++, (*left)--) {
        while (runs && page >= end && run + 1 < runs->nelts) end += APR_ARRAY_IDX(runs, ++run, sr_list_run_t).count;
        const sr_page_t *box = page < end ? &APR_ARRAY_IDX(runs, run, sr_list_run_t).page : NULL;
        json_array_append_new(sheets, request_sheet(path, version, page, box, pool));
    }
    json_object_set_new(row, "sheets", sheets);
    json_object_set_new(row, "rest", json_boolean(page < document->pages));
}

static void request_add_documents(const sr_desk_request_t *request, json_t *values, const char *here)
{
    const apr_array_header_t *documents = request->signing->submission.documents;
    json_t *list = json_array();
    int left = SHEETS_MAX;
    for (int i = 0; i < documents->nelts; i++) {
        const sr_document_state_t *document = &APR_ARRAY_IDX(documents, i, sr_document_state_t);
        const char *path = apr_pstrcat(request->pool, here, "/documents/", document->uuid, NULL);
        json_t *row = json_object();
        json_object_set_new(row, "number", json_integer(i + 1));
        json_object_set_new(row, "count", json_integer(document->pages));
        json_object_set_new(row, "signed", json_boolean(sr_document_state_is_signed(document)));
        sr_desk_request_set(row, "name", document->name);
        sr_desk_request_set(row, "path", path);
        request_add_sheets(row, document, path, &left, request->pool);
        json_array_append_new(list, row);
    }
    json_object_set_new(values, "documents", list);
}

/* --- the head */

/* Returns why a request is closed, as a person has said, or NULL. */
static const char *request_reason(const sr_submission_t *submission)
{
    const char *reason = submission->cancel_reason;
    for (int i = 0; !reason && submission->state == SR_SUBMISSION_REFUSED && i < submission->signers->nelts; i++)
        reason = APR_ARRAY_IDX(submission->signers, i, sr_signer_t).refusal_reason;
    return reason;
}

static void request_add_head(const sr_desk_request_t *request, json_t *values)
{
    const sr_submission_t *submission = &request->signing->submission;
    const char *state = sr_submission_state_name(submission->state);
    const sr_zone_t zone = sr_zone_of_server(sr_time_now(), request->pool);
    const bool open = submission->state == SR_SUBMISSION_OPEN;
    sr_desk_request_set(values, "title", submission->name);
    sr_desk_request_set(values, "state", state);
    sr_desk_request_set(values, "stateText", sr_desk_request_word(request, "state", state));
    sr_desk_request_set(
        values, "requester",
        sr_person_name(submission->created_by.firstname, submission->created_by.lastname, request->pool));
    sr_desk_request_set(values, "reason", request_reason(submission));
    sr_desk_request_set(values, "request", sr_submission_number(submission->uuid, request->pool));
    sr_desk_request_set(values, "zone", zone.name);
    sr_desk_request_set_time(request, values, "createdAt", submission->created_at);
    sr_desk_request_set_time(request, values, "expiresAt", submission->expires_at);
    sr_desk_request_set_time(request, values, "closedAt", open ? 0 : submission->closed_at);
    json_object_set_new(values, "held", json_boolean(submission->held_at != 0));
    json_object_set_new(values, "certified", json_boolean(submission->certificate_sha256 != NULL));
    json_object_set_new(values, "draft", json_boolean(submission->state == SR_SUBMISSION_DRAFT));
}

sr_error_t *sr_desk_request_show(sr_desk_t *desk, const char *uuid, int status, sr_desk_tried_t *tried)
{
    sr_http_t *http = desk->http;
    sr_desk_request_t request = {.desk = desk, .tried = tried, .pool = http->pool};
    json_t *values = sr_json_own(json_object(), http->pool), *audit;
    SR_TRY(sr_service_request(http->service, &request.signing, desk->token_hash, uuid, http->pool));
    SR_TRY(sr_service_audit(http->service, &audit, desk->token_hash, uuid, 0, http->pool));
    request.events = json_object_get(audit, "events");
    /* without the sizes of pages, the images have those of usual paper until they are loaded */
    const sr_error_t *unknown = sr_service_signing_boxes(http->service, request.signing, http->pool);
    (void)unknown;
    const char *here = apr_pstrcat(http->pool, desk->way, "requests/", uuid, NULL);
    sr_desk_request_set(values, "here", here);
    sr_desk_request_set(values, "module", "copy.js");
    request_add_head(&request, values);
    request_add_documents(&request, values, here);
    sr_desk_add_participants(&request, values);
    sr_desk_add_events(&request, values);
    SR_TRY(sr_desk_add_calls(&request, values));
    sr_desk_add_forms(&request, values);
    sr_desk_request_set(values, "error", tried && !tried->shown ? tried->message : NULL);
    return sr_desk_page(desk, status, "desk_request", json_incref(values));
}

sr_error_t *sr_desk_request(sr_http_t *http)
{
    sr_desk_t *desk;
    const char *uuid, *lang, *done;
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    lang = done = NULL;
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{"lang", &lang}, {"done", &done}, {NULL, NULL}}));
    return sr_desk_request_show(desk, uuid, HTTP_OK, NULL);
}
