/* SPDX-License-Identifier: Apache-2.0 */
/* theme.c: the administrator's theme folder: theme.json (name, texts), theme.css (colours), logo.svg or logo.png. It
 * is read for each page, so changes are visible without a restart. */
#include "web/web.h"

#include <apr_file_io.h>
#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

#define SETTINGS_MAX 262144

static const struct {
    const char *name, *type;
} files[] = {{"theme.css", "text/css; charset=utf-8"}, {"logo.svg", "image/svg+xml"}, {"logo.png", "image/png"}};

static const char *path_of(sr_http_t *http, const char *name)
{
    return apr_pstrcat(http->pool, sr_web_of(http)->theme, "/", name, NULL);
}

static bool find(apr_finfo_t *info, sr_http_t *http, const char *name)
{
    return *sr_web_of(http)->theme && !apr_stat(info, path_of(http, name), APR_FINFO_NORM, http->pool)
           && info->filetype == APR_REG;
}

/* Returns the URL of a file, with its modification time, so that browsers may cache it. NULL if the file is missing. */
static const char *url_of(sr_http_t *http, const char *name)
{
    apr_finfo_t info;
    if (!find(&info, http, name)) return NULL;
    return apr_psprintf(http->pool, "theme/%s?%" APR_TIME_T_FMT, name, info.mtime);
}

static json_t *read_settings(sr_http_t *http)
{
    apr_finfo_t info;
    apr_file_t *file;
    json_t *settings = NULL;
    if (!find(&info, http, "theme.json") || info.size > SETTINGS_MAX) return NULL;
    char *text = apr_palloc(http->pool, (apr_size_t)info.size);
    apr_size_t length = 0;
    if (apr_file_open(&file, path_of(http, "theme.json"), APR_FOPEN_READ, APR_OS_DEFAULT, http->pool)) return NULL;
    apr_file_read_full(file, text, (apr_size_t)info.size, &length);
    apr_file_close(file);
    sr_error_t *error = sr_json_parse(&settings, text, length, http->pool);
    if (!error && json_is_object(settings)) return settings;
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, http->r->server,
                 "SR0510: theme.json is not a JSON object%s%s [request %s]", error ? ": " : "",
                 error ? error->message : "", http->r->log_id);
    return NULL;
}

void sr_web_theme(sr_web_theme_t *theme, sr_http_t *http)
{
    const char *svg = url_of(http, "logo.svg");
    *theme = (sr_web_theme_t){.settings = read_settings(http),
                              .style = url_of(http, "theme.css"),
                              .logo = svg ? svg : url_of(http, "logo.png")};
}

sr_error_t *sr_web_theme_file(sr_http_t *http)
{
    apr_finfo_t info;
    http->show_error = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, http->params[0]) != 0 || !find(&info, http, files[i].name)) continue;
        const char *path = path_of(http, files[i].name);
        apr_file_t *file;
        apr_status_t status = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED,
                                            APR_OS_DEFAULT, http->pool);
        if (status)
            return sr_error_because(
                sr_error(http->pool, SR_EUNAVAILABLE, "The file cannot be read now, try again later"), http->pool,
                "%s: %pm", path, &status);
        apr_bucket_brigade *brigade = apr_brigade_create(http->pool, http->r->connection->bucket_alloc);
        apr_brigade_insert_file(brigade, file, 0, info.size, http->pool);
        const sr_http_content_t content = {
            .brigade = brigade,
            .type = files[i].type,
            .etag = apr_psprintf(http->pool, "%" APR_TIME_T_FMT "-%" APR_OFF_T_FMT, info.mtime, info.size),
            .cache_control = http->r->args ? "public, max-age=31536000, immutable" : "public, no-cache"};
        return sr_http_content(http, &content);
    }
    return sr_error(http->pool, SR_ENOTFOUND, "Not found");
}
