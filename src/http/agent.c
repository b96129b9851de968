/* agent.c: what a client calls itself (RFC 9110, 10.1.5), as it is kept as evidence. */
#include "http/http.h"

#include <string.h>

#define AGENT_MAX_BYTES 500

const char *sr_http_user_agent(sr_http_t *http)
{
    const char *sent = apr_table_get(http->r->headers_in, "User-Agent");
    if (!sent) return NULL;
    /* cut first: what is cut in two is then replaced too */
    return sr_text_printable(apr_pstrndup(http->pool, sent, AGENT_MAX_BYTES), http->pool);
}
