/* SPDX-License-Identifier: Apache-2.0 */
/* query.c: parses the query string. Unknown and repeated names are refused, because a mistyped filter must not return
 * everything. */
#include "http/http.h"

#include <string.h>

#define SHOWN 64 /* characters of a name that an error message repeats */

bool sr_http_decode(char *text)
{
    for (char *p = text; *p; p++)
        if (*p == '+') *p = ' ';
    return sr_text_decode_percent(text, NULL);
}

static const char *query_decode(sr_http_t *http, const char *text, apr_size_t length)
{
    char *decoded = apr_pstrmemdup(http->pool, text, length);
    return sr_http_decode(decoded) ? decoded : NULL;
}

static sr_error_t *query_take(sr_http_t *http, const sr_query_param_t *params, const char *name, const char *value)
{
    if (!name || !value || !sr_text_is_utf8(name, strlen(name)) || !sr_text_is_utf8(value, strlen(value)))
        return sr_error(http->pool, SR_EBADREQUEST, "The query string is malformed");
    for (; params->name; params++) {
        if (strcmp(params->name, name) != 0) continue;
        if (*params->value) return sr_error(http->pool, SR_EBADREQUEST, "%s is given more than once", name);
        *params->value = value;
        return NULL;
    }
    return sr_error(http->pool, SR_EBADREQUEST, "Unknown query parameter %s",
                    sr_text_printable(sr_text_cut(name, SHOWN, http->pool), http->pool));
}

sr_error_t *sr_http_query(sr_http_t *http, const sr_query_param_t *params)
{
    for (const char *p = http->r->args ? http->r->args : ""; *p;) {
        size_t length = strcspn(p, "&"), name = strcspn(p, "=&");
        if (length) {
            size_t from = name < length ? name + 1 : length;
            SR_TRY(query_take(http, params, query_decode(http, p, name), query_decode(http, p + from, length - from)));
        }
        p += length + (p[length] == '&');
    }
    return NULL;
}
