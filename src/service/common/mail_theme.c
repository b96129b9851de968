/* SPDX-License-Identifier: Apache-2.0 */
/* mail_theme.c: the parts of a location's theme (SigreqTheme) that mail and the certificate of completion show: the
 * name in theme.json, the public URL of logo.png (mail programs do not show SVG), and two colours of theme.css. A theme
 * that cannot be read is ignored, because the signing page reports its fault. */
#include "service/private.h"

#include <apr_encode.h>
#include <apr_file_io.h>
#include <string.h>

#define FILE_MAX 262144

#define LOGO_MAX 24000 /* in base64 it fits into a text of sr_pdf_compose */

static const char *read_file(apr_size_t *length, const char *folder, const char *name, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, folder, "/", name, NULL);
    apr_file_t *file;
    apr_finfo_t info;
    if (apr_stat(&info, path, APR_FINFO_NORM, pool) || info.filetype != APR_REG || info.size > FILE_MAX) return NULL;
    char *text = apr_pcalloc(pool, (apr_size_t)info.size + 1);
    *length = 0;
    if (apr_file_open(&file, path, APR_FOPEN_READ, APR_OS_DEFAULT, pool)) return NULL;
    apr_file_read_full(file, text, (apr_size_t)info.size, length);
    apr_file_close(file);
    return text;
}

/* Returns the value of a custom property if it is a colour such as #7a1f5c, else NULL. */
static const char *colour_of(const char *css, const char *property, apr_pool_t *pool)
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

static void set(json_t *theme, const char *key, const char *text)
{
    if (text) json_object_set_new(theme, key, json_string(text));
}

json_t *sr_service_brand(const sr_service_t *service, apr_pool_t *pool)
{
    const char *folder = service->theme;
    json_t *theme = sr_json_own(json_object(), pool), *settings = NULL;
    apr_finfo_t info;
    apr_size_t length;
    if (!folder || !*folder) return theme;
    const char *css = read_file(&length, folder, "theme.css", pool);
    const char *text = read_file(&length, folder, "theme.json", pool);
    if (text && !sr_json_parse(&settings, text, strlen(text), pool))
        set(theme, "name", sr_json_string(settings, "name"));
    set(theme, "accent", colour_of(css, "--accent", pool));
    set(theme, "onAccent", colour_of(css, "--on-accent", pool));
    const char *logo = apr_pstrcat(pool, folder, "/logo.png", NULL), *base = service->set_base_url;
    if (base && !apr_stat(&info, logo, APR_FINFO_NORM, pool) && info.filetype == APR_REG)
        set(theme, "logo", apr_psprintf(pool, "%s/sign/theme/logo.png?%" APR_TIME_T_FMT, base, info.mtime));
    return theme;
}

const char *sr_service_logo(const sr_service_t *service, apr_pool_t *pool)
{
    const char *folder = service->theme;
    apr_size_t length;
    const char *png = folder && *folder ? read_file(&length, folder, "logo.png", pool) : NULL;
    return png && length <= LOGO_MAX ? apr_pencode_base64(pool, png, (apr_ssize_t)length, APR_ENCODE_NONE, NULL) : NULL;
}
