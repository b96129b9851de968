/* SPDX-License-Identifier: Apache-2.0 */
/* negotiate.c: content codings that a client accepts (RFC 9110, 12.5). Languages are in model/language.c. */
#include "http/http.h"

#include <string.h>
#include <strings.h>

bool sr_http_accepts_encoding(sr_http_t *http, const char *encoding)
{
    const char *header = apr_table_get(http->r->headers_in, "Accept-Encoding");
    char *rest = apr_pstrdup(http->pool, header);
    sr_accept_t element;
    while (sr_accept_next(&element, &rest))
        if (!strcasecmp(element.name, encoding)) return element.weight > 0;
    return false;
}
