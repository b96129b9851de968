/* query.c: the query string. Unknown and repeated names are refused: a mistyped filter must not quietly give
 * everything. */
#include "http/http.h"

#include <apr_escape.h>
#include <string.h>

#define SHOWN 64 /* characters of a name that an error repeats */

/* "+" is a space in a query, which apr's unescape leaves alone. */
static const char *decode(sr_http_t *http, const char *text, apr_size_t length)
{
    char *copy = apr_pstrmemdup(http->pool, text, length), *decoded = apr_palloc(http->pool, length + 1);
    for (char *p = copy; *p; p++)
        if (*p == '+') *p = ' ';
    apr_status_t status = apr_unescape_url(decoded, copy, -1, NULL, NULL, 0, NULL);
    if (status == APR_NOTFOUND) return copy; /* nothing to unescape */
    return status == APR_SUCCESS ? decoded : NULL;
}

static sr_error_t *take(sr_http_t *http, const sr_query_param_t *params, const char *name, const char *value)
{
    if (!name || !value || !sr_text_is_utf8(name, strlen(name)) || !sr_text_is_utf8(value, strlen(value)))
        return sr_error(http->pool, SR_EBADREQUEST, "The query string is malformed");
    for (; params->name; params++) {
        if (strcmp(params->name, name)) continue;
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
            SR_TRY(take(http, params, decode(http, p, name), decode(http, p + from, length - from)));
        }
        p += length + (p[length] == '&');
    }
    return NULL;
}
