/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: the list of requests. Its rows are the stored representations that the list of the API shows. */
#include <apr_escape.h>
#include <string.h>

#include "desk/desk.h"
#include "service/setup.h"

#define LIMIT 50
#define NAMES_MAX 6                       /* of signers in a row */
#define SOON apr_time_from_sec(3 * 86400) /* before a deadline that is shown as near */

static const char *const states[] = {"draft", "open", "completed", "refused", "cancelled", "expired", NULL};

static void list_set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, sr_json_string_or_null(text));
}

/* Returns the state of a request. A representation without extensions of the contract does not have it. */
static const char *state_of(const json_t *view)
{
    const char *status = sr_json_string(view, "status");
    const json_t *signer;
    size_t i, signed_ = 0;
    if (status) return status;
    json_array_foreach (json_object_get(view, "submitters"), i, signer) {
        if (sr_json_string(signer, "refusedAt")) return "refused";
        signed_ += !strcmp(sr_json_string(signer, "status"), "completed");
    }
    return i && signed_ == i ? "completed" : "open";
}

/* Adds the signers: how many have signed, their names, and whether somebody can be reminded. */
static void list_add_signers(json_t *row, const json_t *signers, apr_pool_t *pool)
{
    const json_t *signer;
    json_t *names = json_array();
    int count = 0;
    bool due = false;
    size_t i;
    json_array_foreach (signers, i, signer) {
        const bool has_signed = !strcmp(sr_json_string(signer, "status"), "completed");
        const char *name =
            sr_person_name(sr_json_string(signer, "firstname"), sr_json_string(signer, "lastname"), pool);
        if (i < NAMES_MAX) json_array_append_new(names, json_pack("{s:s,s:b}", "name", name, "signed", has_signed));
        count += has_signed;
        due |= sr_desk_is_due(signer);
    }
    json_object_set_new(row, "signers", names);
    if (i > NAMES_MAX) json_object_set_new(row, "more", json_integer((json_int_t)i - NAMES_MAX));
    json_object_set_new(row, "signed", json_integer(count));
    json_object_set_new(row, "total", json_integer((json_int_t)json_array_size(signers)));
    json_object_set_new(row, "due", json_boolean(due));
}

static void list_add_deadline(sr_desk_t *desk, json_t *row, const json_t *view, bool open)
{
    const char *text = sr_json_string(view, "expiresAt");
    apr_time_t when;
    if (!text || !sr_time_parse(&when, text)) return;
    list_set_text(row, "deadline", sr_desk_date(desk, text));
    list_set_text(row, "deadlineAt", text);
    json_object_set_new(row, "soon", json_boolean(open && when < sr_time_now() + SOON));
}

static sr_error_t *list_row(json_t *rows, sr_desk_t *desk, const char *body)
{
    apr_pool_t *pool = desk->http->pool;
    json_t *view, *row = json_object();
    json_array_append_new(rows, row);
    SR_TRY(sr_json_read(&view, sr_text_with_base(body, "", pool), pool));
    const char *state = state_of(view), *uuid = sr_json_string(view, "uuid");
    const bool open = !strcmp(state, "open");
    list_set_text(row, "name", sr_json_string(view, "name"));
    list_set_text(row, "url", apr_pstrcat(pool, desk->way, "requests/", uuid, NULL));
    list_set_text(row, "state", state);
    list_set_text(row, "stateText", sr_desk_word(desk, apr_pstrcat(pool, "state.", state, NULL)));
    list_set_text(row, "created", sr_desk_date(desk, sr_json_string(view, "createdAt")));
    list_set_text(row, "createdAt", sr_json_string(view, "createdAt"));
    list_add_signers(row, json_object_get(view, "submitters"), pool);
    list_add_deadline(desk, row, view, open);
    if (!desk->read_only && !strcmp(state, "draft"))
        list_set_text(row, "place", sr_desk_form_token(desk, apr_pstrcat(pool, "place ", uuid, NULL)));
    if (open && !desk->read_only && desk->http->service->child->sends_mail && json_is_true(json_object_get(row, "due")))
        list_set_text(row, "remind", sr_desk_form_token(desk, apr_pstrcat(pool, "remind ", uuid, NULL)));
    return NULL;
}

/* Returns the URL of another page of the list, or NULL. */
static const char *page_url(sr_desk_t *desk, const sr_submission_filter_t *filter, const char *cursor)
{
    apr_pool_t *pool = desk->http->pool;
    const char *language = sr_web_language_query(desk->http);
    if (!cursor) return NULL;
    return apr_pstrcat(pool, *language ? language : "?", *language ? "&" : "", "cursor=", cursor,
                       filter->status ? "&status=" : "", filter->status ? filter->status : "", filter->q ? "&q=" : "",
                       filter->q ? apr_pescape_urlencoded(pool, filter->q) : "", NULL);
}

static json_t *list_states(sr_desk_t *desk, const char *chosen)
{
    json_t *list = json_array();
    for (const char *const *state = states; *state; state++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:b}", "name", *state, "text",
                                              sr_desk_word(desk, apr_pstrcat(desk->http->pool, "state.", *state, NULL)),
                                              "chosen", chosen && !strcmp(chosen, *state)));
    return list;
}

/* Sends the list. `error` is a fault of the search, or NULL. */
static sr_error_t *list_show(sr_desk_t *desk, const sr_submission_filter_t *filter, const sr_list_result_t *page,
                             const sr_error_t *error)
{
    json_t *values = sr_json_own(json_object(), desk->http->pool), *rows = json_array();
    json_object_set_new(values, "rows", rows);
    for (int i = 0; page->bodies && i < page->bodies->nelts; i++)
        SR_TRY(list_row(rows, desk, APR_ARRAY_IDX(page->bodies, i, const char *)));
    list_set_text(values, "title", sr_desk_word(desk, "list.title"));
    list_set_text(values, "q", filter->q);
    list_set_text(values, "error", error ? error->message : NULL);
    json_object_set_new(values, "states", list_states(desk, filter->status));
    json_object_set_new(values, "filtered", json_boolean(filter->q || filter->status));
    json_object_set_new(values, "none", json_boolean(!json_array_size(rows) && !error));
    list_set_text(values, "older", page_url(desk, filter, page->next));
    list_set_text(values, "newer", page_url(desk, filter, page->prev));
    return sr_desk_page(desk, error ? HTTP_BAD_REQUEST : HTTP_OK, "desk_list", json_incref(values));
}

sr_error_t *sr_desk_list(sr_http_t *http)
{
    sr_desk_t *desk;
    const char *q = NULL, *status = NULL, *lang, *done;
    sr_submission_filter_t filter = {0};
    sr_list_query_t query = {.limit = LIMIT};
    sr_list_result_t page = {0};
    SR_TRY(sr_desk_enter(&desk, http));
    lang = done = NULL;
    const sr_query_param_t params[] = {{"q", &q},       {"status", &status}, {"cursor", &query.cursor},
                                       {"lang", &lang}, {"done", &done},     {NULL, NULL}};
    SR_TRY(sr_http_query(http, params));
    filter.q = q && !sr_text_is_blank(q) ? q : NULL; /* an empty field of the form */
    filter.status = status && *status ? status : NULL;
    const char *const *state = states;
    while (filter.status && *state && strcmp(*state, filter.status) != 0) state++;
    if (!*state) return sr_error(http->pool, SR_EBADREQUEST, "There is no such state");
    sr_error_t *error = sr_service_submissions(http->service, &page, desk->token_hash, &query, &filter, http->pool);
    if (error && error->code != SR_EBADREQUEST) return error;
    return list_show(desk, &filter, &page, error);
}
