/* SPDX-License-Identifier: Apache-2.0 */
/* theme.c: the parts of the administrator's theme folder (service/common/theme_folder.c) that browsers load. */
#include "web/web.h"

#include <apr_file_io.h>
#include <http_log.h>
#include <string.h>

#include "mod_sigreq.h"

APLOG_USE_MODULE(sigreq);

static const struct {
    const char *name, *type;
} files[] = {{"theme.css", "text/css; charset=utf-8"}, {"logo.svg", "image/svg+xml"}, {"logo.png", "image/png"}};

void sr_web_theme(sr_web_theme_t *theme, sr_http_t *http)
{
    const char *folder = http->settings->theme, *svg = sr_theme_url(folder, "logo.svg", http->pool);
    json_t *settings;
    const sr_error_t *error = sr_theme_settings(&settings, folder, http->pool);
    if (error)
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, http->r->server,
                     "SR0510: theme.json is not a JSON object: %s [request %s]", error->message, http->r->log_id);
    *theme = (sr_web_theme_t){.settings = error ? NULL : settings,
                              .style = sr_theme_url(folder, "theme.css", http->pool),
                              .logo = svg ? svg : sr_theme_url(folder, "logo.png", http->pool)};
}

sr_error_t *sr_web_theme_file(sr_http_t *http)
{
    apr_finfo_t info;
    http->show_error = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = sr_theme_file(&info, http->settings->theme, files[i].name, http->pool);
        if (!path || strcmp(files[i].name, http->params[0]) != 0) continue;
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
