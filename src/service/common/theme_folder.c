/* SPDX-License-Identifier: Apache-2.0 */
/* theme_folder.c: reads the administrator's theme folder (SigreqTheme): theme.json (name, texts), theme.css (colours),
 * logo.svg or logo.png. It is read for each page, mail and certificate, so changes are visible without a restart. Mail
 * shows the name, the public URL of logo.png (mail programs do not show SVG) and two colours of theme.css. */
#include "service/private.h"

#include <apr_encode.h>
#include <apr_file_io.h>
#include <string.h>

#define FILE_MAX 262144

#define LOGO_MAX 24000 /* in base64 it fits into a text of sr_pdf_compose */

const char *sr_theme_file(apr_finfo_t *info, const char *folder, const char *name, apr_pool_t *pool)
{
    const char *path = folder && *folder ? apr_pstrcat(pool, folder, "/", name, NULL) : NULL;
    return path && !apr_stat(info, path, APR_FINFO_NORM, pool) && info->filetype == APR_REG ? path : NULL;
}

const char *sr_theme_url(const char *folder, const char *name, apr_pool_t *pool)
{
    apr_finfo_t info;
    if (!sr_theme_file(&info, folder, name, pool)) return NULL;
    return apr_psprintf(pool, "theme/%s?%" APR_TIME_T_FMT, name, info.mtime);
}

/* Returns the bytes of a file with a zero after them, or NULL. */
static const char *theme_folder_read_file(apr_size_t *length, const char *folder, const char *name, apr_pool_t *pool)
{
    apr_file_t *file;
    apr_finfo_t info;
    const char *path = sr_theme_file(&info, folder, name, pool);
    *length = 0;
    if (!path || info.size > FILE_MAX || apr_file_open(&file, path, APR_FOPEN_READ, APR_OS_DEFAULT, pool)) return NULL;
    char *text = apr_pcalloc(pool, (apr_size_t)info.size + 1);
    apr_file_read_full(file, text, (apr_size_t)info.size, length);
    apr_file_close(file);
    return text;
}

sr_error_t *sr_theme_settings(json_t **settings, const char *folder, apr_pool_t *pool)
{
    apr_size_t length;
    const char *text = theme_folder_read_file(&length, folder, "theme.json", pool);
    *settings = NULL;
    if (text) SR_TRY(sr_json_parse(settings, text, length, pool));
    return !*settings || json_is_object(*settings) ? NULL
                                                   : sr_error(pool, SR_EBADREQUEST, "the value is not an object");
}

/* Returns the value of a custom property if it is a colour such as #7a1f5c, else NULL. */
static const char *theme_folder_colour_of(const char *css, const char *property, apr_pool_t *pool)
{
    const size_t length = strlen(property);
    for (const char *at = css; at && (at = strstr(at, property)) != NULL; at += length) {
        const char *value = at + length;
        value += strspn(value, " \t\r\n");
        if (*value != ':') continue;
        value += 1 + strspn(value + 1, " \t\r\n");
        const size_t digits = *value == '#' ? strspn(value + 1, "0123456789abcdefABCDEF") : 0;
        return digits == 3 || digits == 6 ? apr_pstrmemdup(pool, value, digits + 1) : NULL;
    }
    return NULL;
}

static void theme_folder_set(json_t *theme, const char *key, const char *text)
{
    if (text) json_object_set_new(theme, key, json_string(text));
}

static const char *theme_folder_of(const sr_service_t *service)
{
    return service->settings ? service->settings->theme : NULL;
}

/* A theme.json that cannot be read is ignored, because the signing page reports its fault. */
json_t *sr_service_theme(const sr_service_t *service, apr_pool_t *pool)
{
    json_t *theme = sr_json_own(json_object(), pool), *settings;
    const char *folder = theme_folder_of(service);
    apr_size_t length;
    const char *css = theme_folder_read_file(&length, folder, "theme.css", pool);
    const char *logo = sr_theme_url(folder, "logo.png", pool), *base = service->set_base_url;
    if (!sr_theme_settings(&settings, folder, pool)) theme_folder_set(theme, "name", sr_json_string(settings, "name"));
    theme_folder_set(theme, "accent", theme_folder_colour_of(css, "--accent", pool));
    theme_folder_set(theme, "onAccent", theme_folder_colour_of(css, "--on-accent", pool));
    if (base && logo) theme_folder_set(theme, "logo", apr_pstrcat(pool, base, "/sign/", logo, NULL));
    return theme;
}

const char *sr_service_logo(const sr_service_t *service, apr_pool_t *pool)
{
    apr_size_t length;
    const char *png = theme_folder_read_file(&length, theme_folder_of(service), "logo.png", pool);
    return png && length <= LOGO_MAX ? apr_pencode_base64(pool, png, (apr_ssize_t)length, APR_ENCODE_NONE, NULL) : NULL;
}
