/* SPDX-License-Identifier: Apache-2.0 */
/* html.c: the values for the HTML templates (assets/html), and responses that are HTML pages. */
#include <string.h>

#include "web/web.h"

#define SHEETS_MAX 50    /* pages of all documents in the HTML; the script adds the others (sheets.js) */
#define RUNS_MAX 2000    /* runs of pages of one size for the script; later pages have the size of the last run */
#define EAGER_SHEETS 1   /* pages of the first document that are loaded at once, at the full resolution of the screen */
#define POINT_PIXELS 1.5 /* CSS pixels per point, if there is room */
#define SMALL_WIDTH 1200 /* pixels; the width of other pages' images until the script chooses one */
#define DATE_LENGTH 10   /* of the date in an ISO 8601 time; the script shows it in the form of the language */

static void html_set_text(json_t *values, const char *key, const char *text)
{
    json_object_set_new(values, key, sr_json_string_or_null(text));
}

static const char *source(const char *path, int page, const char *version, int width, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/pages/%d?width=%d&version=%s", path, page, width, version);
}

/* Returns the value of srcset: images of several widths for screens of different resolutions. */
static const char *sources(const char *path, int page, const char *version, apr_pool_t *pool)
{
    static const int widths[] = {400, 800, 1200, 1600, 2000};
    const char *list = "";
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        list = apr_psprintf(pool, "%s%s%s %dw", list, i ? ", " : "", source(path, page, version, widths[i], pool),
                            widths[i]);
    return list;
}

static json_t *sheet(const json_t *document, int page, const json_t *size, bool eager, apr_pool_t *pool)
{
    const char *path = sr_json_string(document, "path"), *version = sr_json_string(document, "sha256");
    const double width = size ? json_number_value(json_array_get(size, 1)) : 612;
    const double height = size ? json_number_value(json_array_get(size, 2)) : 792;
    json_t *row = json_object();
    json_object_set_new(row, "n", json_integer(page));
    json_object_set_new(row, "number", json_integer(page + 1));
    json_object_set_new(row, "width", json_integer((json_int_t)(width * POINT_PIXELS + 1)));
    json_object_set_new(row, "height", json_integer((json_int_t)(height * POINT_PIXELS + 1)));
    html_set_text(row, "src", source(path, page, version, SMALL_WIDTH, pool));
    if (eager) html_set_text(row, "srcset", sources(path, page, version, pool));
    return row;
}

/* Returns the first `most` pages of a document, each with its size. "sizes" has runs of pages of one size. */
static json_t *sheets(const json_t *document, int most, bool first, apr_pool_t *pool)
{
    const json_t *sizes = json_object_get(document, "sizes");
    json_t *list = json_array();
    int page = 0;
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        const json_t *size = json_array_get(sizes, i);
        int left = (int)json_integer_value(json_array_get(size, 0));
        for (; left-- > 0 && page < most; page++)
            json_array_append_new(list, sheet(document, page, size, first && page < EAGER_SHEETS, pool));
    }
    for (; page < most; page++)
        json_array_append_new(list, sheet(document, page, NULL, first && page < EAGER_SHEETS, pool));
    return list;
}

/* Limits the sizes of pages in the HTML to RUNS_MAX runs. */
static void bound_sizes(json_t *view)
{
    const json_t *documents = json_object_get(view, "documents");
    size_t left = RUNS_MAX;
    for (size_t i = 0; i < json_array_size(documents); i++) {
        json_t *sizes = json_object_get(json_array_get(documents, i), "sizes");
        while (json_array_size(sizes) > left) json_array_remove(sizes, json_array_size(sizes) - 1);
        left -= json_array_size(sizes);
    }
}

/* Adds the warnings in the page's language. A warning without a text in the catalogue is shown as it was recorded. */
static void add_warnings(json_t *document, const json_t *texts, apr_pool_t *pool)
{
    const json_t *warnings = json_object_get(document, "warnings");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *sentence = json_string_value(json_array_get(warnings, i)), *name = sr_warning_named(sentence);
        const char *text = name ? sr_web_word(texts, apr_pstrcat(pool, "warning.", name, NULL)) : "";
        json_array_append_new(list, json_pack("{s:s}", "text", *text ? text : sentence));
    }
    if (json_array_size(list))
        json_object_set_new(document, "notices", json_pack("{s:i}", "count", (int)json_array_size(list)));
    json_object_set_new(document, "warnings", list);
}

/* `pages`: the page shows the documents themselves. */
static void add_documents(json_t *values, const json_t *texts, const char *link, bool pages, apr_pool_t *pool)
{
    json_t *documents = json_object_get(values, "documents");
    int left = SHEETS_MAX;
    for (size_t i = 0; i < json_array_size(documents); i++) {
        json_t *row = json_array_get(documents, i);
        const int count = (int)json_integer_value(json_object_get(row, "pages")), most = count < left ? count : left;
        html_set_text(row, "path", apr_pstrcat(pool, link, "/documents/", sr_json_string(row, "uuid"), NULL));
        json_object_set_new(row, "number", json_integer((json_int_t)i + 1));
        json_object_set(row, "count", json_object_get(row, "pages"));
        add_warnings(row, texts, pool);
        if (!pages) continue;
        json_object_set_new(row, "sheets", sheets(row, most, i == 0, pool));
        json_object_set_new(row, "rest", json_boolean(count > most));
        left -= most;
    }
}

/* Adds descriptions of the places where the signer signs. */
static void add_places(json_t *values)
{
    const json_t *documents = json_object_get(values, "documents"), *fields = json_object_get(values, "fields");
    json_t *places = json_array();
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        const char *uuid = sr_json_string(field, "document"), *type = sr_json_string(field, "type");
        if (strcmp(type, "signature") != 0) continue;
        for (size_t j = 0; uuid && j < json_array_size(documents); j++) {
            const json_t *document = json_array_get(documents, j);
            if (strcmp(uuid, sr_json_string(document, "uuid")) != 0) continue;
            json_t *place = json_object();
            json_object_set(place, "document", json_object_get(document, "name"));
            json_object_set_new(place, "number", json_integer(json_integer_value(json_object_get(field, "page")) + 1));
            json_array_append_new(places, place);
        }
    }
    json_object_set_new(values, "places", places);
}

/* Returns the relative URL from the requested URL to <location>/sign/. */
const char *sr_web_way_up(sr_http_t *http)
{
    const bool elsewhere = http->is_public || http->viewing || http->placing;
    const char *way = *http->path && !elsewhere ? "" : "sign/";
    if (*http->path && elsewhere) way = apr_pstrcat(http->pool, "../", way, NULL);
    for (const char *slash = *http->path ? strchr(http->path + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/'))
        way = apr_pstrcat(http->pool, "../", way, NULL);
    return way;
}

static void html_set_url(json_t *values, const char *key, const char *url, sr_http_t *http)
{
    html_set_text(values, key, url ? apr_pstrcat(http->pool, sr_web_way_up(http), url, NULL) : NULL);
}

/* Replaces the name of a file that browsers load by its URL. `usual`: without a name. */
static void html_set_asset(json_t *values, const char *key, const char *usual, sr_http_t *http)
{
    const char *name = sr_json_string(values, key);
    html_set_url(values, key, sr_web_asset_url(name ? name : usual, http->pool), http);
}

/* Adds values of every page: the language and the list of languages. */
static void add_languages(json_t *values, sr_http_t *http)
{
    const sr_language_t *own = sr_web_language(http);
    json_t *list = json_array();
    for (int i = 0; i < sr_language_count(); i++) {
        const sr_language_t *row = sr_language(i);
        const char *url = apr_pstrcat(http->pool, "?lang=", row->code, NULL);
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:b}", "tag", row->tag, "name", row->name, "url", url,
                                              "current", row == own));
    }
    json_object_set_new(values, "languages", list);
    html_set_text(values, "language", own->tag);
    html_set_text(values, "languageName", own->name);
    html_set_text(values, "query", sr_web_language_query(http));
}

/* Adds values of every page: files and the theme. */
static void add_frame(json_t *values, sr_http_t *http, const sr_web_theme_t *theme, const json_t *texts)
{
    json_t *own = json_object();
    const char *name = sr_json_string(theme->settings, "name");
    const char *organization = sr_json_string(json_object_get(values, "requester"), "organization");
    html_set_url(own, "style", theme->style, http);
    html_set_url(own, "logo", theme->logo, http);
    json_object_set_new(values, "theme", own);
    html_set_text(values, "brand", name ? name : organization ? organization : sr_web_word(texts, "brand"));
    html_set_text(values, "privacy", http->settings->privacy_url);
    html_set_text(values, "help", http->settings->help_url);
    html_set_text(values, "dir", sr_json_string(texts, "dir"));
    add_languages(values, http);
    html_set_text(values, "area", http->placing ? "place" : NULL);
    html_set_asset(values, "css", "page.css", http);
    html_set_asset(values, "boot", "boot.js", http);
    html_set_asset(values, "script", "page.js", http);
    html_set_asset(values, "icon", "icon.svg", http);
}

const char *sr_web_ancestors(sr_http_t *http)
{
    return *http->settings->frame_ancestors ? http->settings->frame_ancestors : "'none'";
}

static void set_page_headers(sr_http_t *http, const char *ancestors)
{
    apr_table_t *headers = http->r->err_headers_out;
    apr_table_setn(headers, "Content-Security-Policy",
                   apr_pstrcat(http->pool,
                               "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src "
                               "'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ",
                               ancestors, NULL));
    apr_table_setn(headers, "Vary", "Accept, Accept-Language");
}

sr_error_t *sr_web_reply_in(sr_http_t *http, int status, json_t *values, const sr_web_theme_t *theme,
                            const json_t *texts, const sr_web_frame_t *frame)
{
    add_frame(values, http, theme, texts);
    set_page_headers(http, frame->ancestors);
    const sr_template_t template = {.texts = json_object_get(texts, "page"),
                                    .plurals = sr_language_plurals(sr_web_language(http)),
                                    .piece = sr_web_piece};
    const char *html = sr_template_fill(frame->html, values, &template, http->pool);
    return sr_http_bytes(http, status, "text/html; charset=utf-8", html, strlen(html));
}

sr_error_t *sr_web_reply(sr_http_t *http, int status, json_t *values, const sr_web_theme_t *theme, const json_t *texts)
{
    const sr_web_frame_t frame = {sr_web_piece("page", http->pool), sr_web_ancestors(http)};
    return sr_web_reply_in(http, status, values, theme, texts, &frame);
}

/* --- the page of a state */

/* Adds what the script needs to show the documents: the state as JSON, and its texts. */
static void add_reading(json_t *values, const json_t *texts, const char *state, apr_pool_t *pool)
{
    html_set_text(values, "state", state);
    html_set_text(values, "texts", sr_json_text(json_object_get(texts, "script"), pool));
    html_set_text(values, "shown", "(min-width: 60rem) 57.5rem, calc(100vw - 1.5rem)");
    const json_t *document = json_array_get(json_object_get(values, "documents"), 0);
    json_object_set(values, "first", json_object_get(json_array_get(json_object_get(document, "sheets"), 0), "srcset"));
}

static void add_signing(json_t *values)
{
    json_object_set_new(values, "signing", json_true());
    json_object_set_new(values, "intro", json_boolean(!json_is_true(json_object_get(values, "skipIntro"))));
    add_places(values);
}

void sr_web_add_closing(json_t *values, const char *state)
{
    json_t *closing = json_object();
    html_set_text(closing, "state", state);
    json_object_set_new(closing, state, json_true());
    json_object_set_new(closing, "declined", json_boolean(!strcmp(state, "refused") || !strcmp(state, "closed")));
    json_object_set_new(closing, "shown", json_boolean(json_array_size(json_object_get(values, "documents")) > 0));
    json_object_set_new(values, "closing", closing);
}

/* Adds the deadline in the time zone of this server, which the script replaces by the signer's: while it is ahead, and
 * if it has ended the request. */
static void html_add_deadline(json_t *view, sr_http_t *http)
{
    static const char *const states[] = {"sent", "opened", "waiting", "viewing", "expired"};
    const char *state = sr_json_string(view, "state"), *text = sr_json_string(view, "expiresAt");
    apr_time_t when;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (text && !strcmp(state, states[i]) && sr_time_parse(&when, text))
            html_set_text(view, "deadline", sr_moment_text(sr_web_language(http), when, http->pool));
}

static const char *html_name_of(const json_t *person, apr_pool_t *pool)
{
    return sr_person_name(sr_json_string(person, "firstname"), sr_json_string(person, "lastname"), pool);
}

/* A recipient of a copy may have only an address. */
static void add_viewing(json_t *view, const json_t *viewer, bool sees, apr_pool_t *pool)
{
    json_t *signer;
    size_t i;
    if (!*html_name_of(viewer, pool)) json_object_set(view, "fullname", json_object_get(viewer, "email"));
    json_array_foreach (json_object_get(view, "signers"), i, signer) {
        html_set_text(signer, "fullname", html_name_of(signer, pool));
        json_object_set_new(signer, "signed", json_boolean(!strcmp(sr_json_string(signer, "status"), "completed")));
    }
    json_object_set_new(view, "viewing", json_boolean(sees));
}

/* The title of the page contains the name of the request and of the requester. */
static const char *title_of(const json_t *view, apr_pool_t *pool)
{
    const char *organization = sr_json_string(json_object_get(view, "requester"), "organization");
    return apr_pstrcat(pool, sr_json_string(view, "name"), " \xc2\xb7 ", organization, NULL);
}

/* Returns the host of a URL, or NULL. */
static const char *html_host_of(const char *url, apr_pool_t *pool)
{
    const char *host = url ? strstr(url, "://") : NULL;
    return host ? apr_pstrmemdup(pool, host + 3, strcspn(host + 3, "/?#")) : NULL;
}

sr_error_t *sr_web_show(sr_http_t *http, json_t *view, const char *link, const sr_web_entered_t *entered)
{
    bound_sizes(view);
    const char *state = sr_json_string(view, "state"), *as_sent = sr_json_text(view, http->pool);
    const json_t *viewer = json_object_get(view, "viewer"), *person = viewer ? viewer : json_object_get(view, "signer");
    const bool signing = !strcmp(state, "sent") || !strcmp(state, "opened");
    const bool viewing = viewer && json_array_size(json_object_get(view, "documents")) > 0;
    json_t *requester = json_object_get(view, "requester"), *texts;
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    html_set_text(view, "link", link);
    html_set_text(view, "title", title_of(view, http->pool));
    html_set_text(view, "createdOn", apr_pstrmemdup(http->pool, sr_json_string(view, "createdAt"), DATE_LENGTH));
    html_add_deadline(view, http);
    html_set_text(view, "fullname", html_name_of(person, http->pool));
    html_set_text(requester, "name", html_name_of(requester, http->pool));
    json_object_set_new(view, "test", json_boolean(!strcmp(sr_json_string(view, "environment"), "test")));
    add_documents(view, texts, link, signing || viewing, http->pool);
    if (signing || viewing) add_reading(view, texts, as_sent, http->pool);
    else sr_web_add_closing(view, state);
    if (viewer) add_viewing(view, viewer, viewing, http->pool);
    if (signing) add_signing(view);
    if (signing) sr_web_add_entries(view, entered, texts, http->pool);
    if (signing) sr_web_add_words(view, entered, texts, http->pool);
    html_set_text(view, "host", html_host_of(sr_json_string(view, "redirect"), http->pool));
    return sr_web_reply(http, entered ? HTTP_BAD_REQUEST : HTTP_OK, view, &theme, texts);
}

/* --- the page of an error */

sr_error_t *sr_web_error(sr_http_t *http, int status, const char *message)
{
    const char *kind = status == HTTP_NOT_FOUND             ? "404"
                       : status == HTTP_SERVICE_UNAVAILABLE ? "503"
                       : status == HTTP_TOO_MANY_REQUESTS   ? "503"
                       : status == HTTP_CONFLICT            ? "409"
                       : status == HTTP_GONE                ? "410"
                                                            : "other";
    json_t *values = sr_json_own(json_object(), http->pool), *problem = json_object(), *texts;
    sr_web_theme_t theme;
    sr_web_theme(&theme, http);
    SR_TRY(sr_web_texts(&texts, http, &theme));
    const char *title = sr_web_word(texts, apr_pstrcat(http->pool, kind, ".title", NULL));
    const char *ended = http->viewing ? "view.ended" : http->placing ? "placing.ended" : "410.text";
    json_object_set_new(problem, "replaced", json_boolean(status == HTTP_GONE && !http->viewing));
    html_set_text(problem, "status", apr_psprintf(http->pool, "%d", status));
    html_set_text(problem, "title", title);
    html_set_text(problem, "text",
                  sr_web_word(texts, status == HTTP_GONE ? ended : apr_pstrcat(http->pool, kind, ".text", NULL)));
    if (!strcmp(kind, "other")) html_set_text(problem, "detail", message);
    if (strcmp(kind, "404") != 0 && strcmp(kind, "410") != 0 && http->params[0] && sr_uuid_valid(http->params[0]))
        html_set_url(problem, "link",
                     apr_pstrcat(http->pool,
                                 http->viewing   ? "../view/"
                                 : http->placing ? "../place/"
                                                 : "",
                                 sr_web_name(http, http->params[0]), sr_web_language_query(http), NULL),
                     http);
    json_object_set_new(values, "problem", problem);
    html_set_text(values, "title", title);
    return sr_web_reply(http, status, values, &theme, texts);
}
