/* SPDX-License-Identifier: Apache-2.0 */
/* templates.c: the templates of a scope: a new request is made from one, and they are deleted. */
#include "desk/desk.h"

#define LIMIT 50

static sr_error_t *templates_row(json_t *rows, sr_desk_t *desk, const char *body)
{
    apr_pool_t *pool = desk->http->pool;
    json_t *template, *row = json_object();
    json_array_append_new(rows, row);
    SR_TRY(sr_json_read(&template, body, pool));
    const char *uuid = sr_json_string(template, "uuid"), *used = sr_json_string(template, "lastUsedAt");
    const char *created = sr_json_string(template, "createdAt");
    json_object_update(row, template);
    json_object_set_new(row, "createdOn", sr_json_string_or_null(sr_desk_date(desk, created)));
    json_object_set_new(row, "usedOn", sr_json_string_or_null(sr_desk_date(desk, used)));
    json_object_set_new(
        row, "delete",
        sr_json_string_or_null(
            desk->read_only ? NULL : sr_desk_form_token(desk, apr_pstrcat(pool, "delete template ", uuid, NULL))));
    return NULL;
}

/* Returns the URL of another page of the list, or null. */
static json_t *templates_url(sr_desk_t *desk, const char *cursor)
{
    const char *language = sr_web_language_query(desk->http);
    if (!cursor) return json_null();
    return json_string(
        apr_pstrcat(desk->http->pool, *language ? language : "?", *language ? "&" : "", "cursor=", cursor, NULL));
}

sr_error_t *sr_desk_templates(sr_http_t *http)
{
    sr_desk_t *desk;
    const char *lang = NULL, *done = NULL;
    sr_list_query_t query = {.limit = LIMIT};
    sr_list_result_t page;
    json_t *values = sr_json_own(json_object(), http->pool), *rows = json_array();
    json_object_set_new(values, "rows", rows);
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_http_query(
        http, (const sr_query_param_t[]){{"cursor", &query.cursor}, {"lang", &lang}, {"done", &done}, {NULL, NULL}}));
    SR_TRY(sr_service_templates(http->service, &page, desk->token_hash, &query, http->pool));
    for (int i = 0; i < page.bodies->nelts; i++)
        SR_TRY(templates_row(rows, desk, APR_ARRAY_IDX(page.bodies, i, const char *)));
    json_object_set_new(values, "title", json_string(sr_desk_word(desk, "templates.title")));
    json_object_set_new(values, "none", json_boolean(!json_array_size(rows)));
    json_object_set_new(values, "older", templates_url(desk, page.next));
    json_object_set_new(values, "newer", templates_url(desk, page.prev));
    return sr_desk_page(desk, HTTP_OK, "desk_templates", json_incref(values));
}

sr_error_t *sr_desk_template_delete(sr_http_t *http)
{
    sr_desk_t *desk;
    const char *uuid;
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    SR_TRY(sr_desk_form_read(desk, apr_pstrcat(http->pool, "delete template ", uuid, NULL),
                             (const sr_query_param_t[]){{NULL, NULL}}));
    SR_TRY(sr_service_template_delete(http->service, desk->token_hash, uuid, http->pool));
    return sr_desk_done(desk, "templates", "template_deleted");
}
