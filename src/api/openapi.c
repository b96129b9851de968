/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c: GET /openapi.json, the description of the API, which is written by hand. It needs no token, because
 * everything in it is public. The URLs of its servers are relative in the file, and absolute in the response, because
 * some clients cannot resolve relative ones. */
#include "api/api.h"

#include "embed/openapi.json.h"

sr_error_t *sr_api_openapi(sr_http_t *http)
{
    return sr_http_view(http, HTTP_OK, embedded_openapi_json);
}
