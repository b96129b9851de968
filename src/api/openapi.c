/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c: GET /openapi.json, the description of the API, which is written by hand. It needs no token, because
 * everything in it is public. */
#include "api/api.h"

#include "embed/openapi.json.h"

sr_error_t *sr_api_openapi(sr_http_t *http)
{
    return sr_http_bytes(http, HTTP_OK, "application/json", embedded_openapi_json, sizeof embedded_openapi_json - 1);
}
