/* bearer.c: the Authorization header (RFC 6750). The token itself goes no further than this file: everything
 * below knows its SHA-256 alone. */
#include "http/http.h"

#include <string.h>
#include <strings.h>

sr_error_t *sr_http_unauthorized(apr_pool_t *pool)
{
    return sr_error(pool, SR_EUNAUTHORIZED, "User not founded for this API Token");
}

sr_error_t *sr_http_bearer(const char **token_hash, sr_http_t *http)
{
    const char *header = apr_table_get(http->r->headers_in, "Authorization");
    if (!header || strncasecmp(header, "Bearer ", 7)) return sr_http_unauthorized(http->pool);
    const char *token = header + 7;
    while (*token == ' ') token++;
    if (!sr_token_well_formed(token)) return sr_http_unauthorized(http->pool);
    *token_hash = sr_sha256_hex(token, strlen(token), http->pool);
    return NULL;
}
