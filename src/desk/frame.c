/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c: what every page of the desk has: the user, the choice of their scopes, the mark TEST, and the language. */
#include <string.h>

#include "desk/desk.h"

void sr_desk_begin(sr_http_t *http)
{
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_setn(headers, "Referrer-Policy", "same-origin");
    apr_table_setn(headers, "X-Robots-Tag", "noindex, nofollow");
    apr_table_setn(headers, "Cross-Origin-Opener-Policy", "same-origin");
    apr_table_setn(headers, "Cross-Origin-Resource-Policy", "same-origin");
    apr_table_setn(headers, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    sr_web_ask_language(http);
    if (!sr_http_prefers_json(http)) http->show_error = sr_desk_error;
}

/* Sets *texts to a catalogue whose "page" has the texts of the desk, too. It is parsed once for a request. */
static sr_error_t *frame_texts(json_t **texts, sr_http_t *http, sr_desk_t *desk, sr_web_theme_t *theme)
{
    sr_web_theme(theme, http);
    if (desk && desk->texts) {
        *texts = desk->texts;
        return NULL;
    }
    SR_TRY(sr_web_texts(texts, http, theme));
    json_object_update(json_object_get(*texts, "page"), json_object_get(*texts, "desk"));
    if (desk) desk->texts = *texts;
    return NULL;
}

const char *sr_desk_word(sr_desk_t *desk, const char *key)
{
    sr_web_theme_t theme;
    json_t *texts = desk->texts;
    const sr_error_t *error = texts ? NULL : frame_texts(&texts, desk->http, desk, &theme);
    return error ? "" : sr_web_word(texts, key);
}

const char *sr_desk_date(sr_desk_t *desk, const char *time)
{
    apr_time_t when;
    apr_pool_t *pool = desk->http->pool;
    if (!time || !sr_time_parse(&when, time)) return NULL;
    return sr_date_text(sr_web_language(desk->http), when, sr_zone_of_server(when, pool).offset, pool);
}

static void frame_set_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, sr_json_string_or_null(text));
}

static json_t *scope_json(const sr_desk_t *desk, const sr_desk_scope_t *scope)
{
    json_t *row = json_object();
    frame_set_text(row, "url", apr_pstrcat(desk->http->pool, desk->way, "../", scope->name, "/", NULL));
    frame_set_text(row, "organization", scope->token.organization_name);
    json_object_set_new(row, "test", json_boolean(scope->token.environment == SR_TEST));
    json_object_set_new(row, "current", json_boolean(!strcmp(scope->name, desk->scope)));
    return row;
}

/* Returns the text of what the last form has done: the parameter `done` of the query names it. */
static const char *frame_done(sr_desk_t *desk)
{
    const char *args = desk->http->r->args ? desk->http->r->args : "", *done = strstr(args, "done=");
    if (!done || (done > args && done[-1] != '&')) return NULL;
    done += strlen("done=");
    const char *name = apr_pstrmemdup(desk->http->pool, done, strcspn(done, "&"));
    const char *text = sr_desk_word(desk, apr_pstrcat(desk->http->pool, "done.", name, NULL));
    return *text ? text : NULL;
}

/* Adds the values of a page in a scope. */
static void frame_add_desk(sr_desk_t *desk, json_t *values, const char *template)
{
    json_t *own = json_object(), *scopes = json_array();
    const sr_person_t *user = &desk->caller->user;
    for (int i = 0; i < desk->scopes->nelts; i++)
        json_array_append_new(scopes, scope_json(desk, &APR_ARRAY_IDX(desk->scopes, i, sr_desk_scope_t)));
    frame_set_text(own, "user", sr_person_name(user->firstname, user->lastname, desk->http->pool));
    frame_set_text(own, "email", user->email);
    frame_set_text(own, "organization", desk->caller->organization_name);
    frame_set_text(own, "way", desk->way);
    frame_set_text(own, "home", *desk->way ? desk->way : "./");
    frame_set_text(own, "done", frame_done(desk));
    json_object_set_new(own, "test", json_boolean(desk->caller->environment == SR_TEST));
    json_object_set_new(own, "write", desk->read_only ? json_null() : json_true());
    json_object_set_new(own, "scopes", scopes);
    json_object_set_new(own, template, json_true());
    json_object_set_new(values, "desk", own);
}

static sr_error_t *frame_reply(sr_http_t *http, sr_desk_t *desk, int status, const char *template, json_t *values)
{
    json_t *texts;
    sr_web_theme_t theme;
    SR_TRY(frame_texts(&texts, http, desk, &theme));
    if (desk && desk->scope) frame_add_desk(desk, values, template);
    const char *language = sr_web_language_query(http), *module = sr_json_string(values, "module");
    if (module)
        frame_set_text(values, "deskScript",
                       apr_pstrcat(http->pool, sr_web_way_up(http), sr_web_asset_url(module, http->pool), NULL));
    frame_set_text(values, "css", "desk.css");
    frame_set_text(values, "lang", *language ? strchr(language, '=') + 1 : NULL);
    const char *html = apr_pstrcat(http->pool, sr_web_piece("desk_begin", http->pool),
                                   sr_web_piece(template, http->pool), sr_web_piece("desk_end", http->pool), NULL);
    const sr_web_frame_t frame = {html, "'none'"};
    return sr_web_reply_in(http, status, values, &theme, texts, &frame);
}

sr_error_t *sr_desk_page(sr_desk_t *desk, int status, const char *template, json_t *values)
{
    return frame_reply(desk->http, desk, status, template, sr_json_own(values, desk->http->pool));
}

sr_error_t *sr_desk_error(sr_http_t *http, int status, const char *message)
{
    sr_desk_t *desk = sr_desk_entered(http);
    json_t *values = sr_json_own(json_object(), http->pool), *problem = json_object(), *texts;
    const bool is_stranger = desk && desk->scopes && !desk->scopes->nelts;
    sr_web_theme_t theme;
    SR_TRY(frame_texts(&texts, http, desk, &theme));
    const char *title = sr_web_word(texts, is_stranger                          ? "stranger.title"
                                           : status == HTTP_NOT_FOUND           ? "missing.title"
                                           : status == HTTP_GONE                ? "gone.title"
                                           : status == HTTP_SERVICE_UNAVAILABLE ? "503.title"
                                                                                : "other.title");
    json_object_set_new(problem, "status", json_integer(status));
    frame_set_text(problem, "stranger", is_stranger ? sr_text_printable(desk->user, http->pool) : NULL);
    const bool is_told = is_stranger || status == HTTP_NOT_FOUND || status == HTTP_GONE;
    frame_set_text(problem, "detail", is_told ? NULL : message);
    json_object_set_new(problem, "gone", json_boolean(status == HTTP_GONE));
    json_object_set_new(values, "problem", problem);
    frame_set_text(values, "title", title);
    return frame_reply(http, desk, status, "desk_problem", values);
}
