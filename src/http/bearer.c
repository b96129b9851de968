/* SPDX-License-Identifier: Apache-2.0 */
/* bearer.c: the Authorization header (RFC 6750). */
#include "http/http.h"

#include <string.h>
#include <strings.h>

const char *sr_http_bearer(const sr_http_t *http)
{
    const char *header = apr_table_get(http->r->headers_in, "Authorization");
    if (!header || strncasecmp(header, "Bearer ", 7) != 0) return NULL;
    header += 7;
    return header + strspn(header, " ");
}
