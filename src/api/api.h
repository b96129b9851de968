/* SPDX-License-Identifier: Apache-2.0 */
/* api.h: /api/v3 as a table of routes; one file per resource. */
#ifndef SR_API_H
#define SR_API_H

#include "http/http.h"
#include "service/service.h"

/* What handlers need (sr_http_t.context): the service, and what one request may send. */
typedef struct sr_api_t {
    const sr_service_t *service;
    apr_off_t max_file_size, max_request_size;
    int max_files;
} sr_api_t;
static inline const sr_api_t *sr_api_of(const sr_http_t *http)
{
    return http->context;
}

extern const sr_route_t sr_api_routes[];

/* The handlers, by resource. */
sr_error_t *sr_api_signatures_create(sr_http_t *http);
sr_error_t *sr_api_signatures_list(sr_http_t *http);
sr_error_t *sr_api_signature_get(sr_http_t *http);
sr_error_t *sr_api_document_get(sr_http_t *http);
sr_error_t *sr_api_certificate_get(sr_http_t *http);
sr_error_t *sr_api_audit_get(sr_http_t *http);
sr_error_t *sr_api_tokens_create(sr_http_t *http);
sr_error_t *sr_api_tokens_list(sr_http_t *http);
sr_error_t *sr_api_token_current(sr_http_t *http);
sr_error_t *sr_api_token_get(sr_http_t *http);
sr_error_t *sr_api_token_revoke(sr_http_t *http);
sr_error_t *sr_api_webhook_set(sr_http_t *http);
sr_error_t *sr_api_webhook_remove(sr_http_t *http);
sr_error_t *sr_api_token_webhook_set(sr_http_t *http);
sr_error_t *sr_api_token_webhook_remove(sr_http_t *http);
sr_error_t *sr_api_token_webhooks_clear(sr_http_t *http);
sr_error_t *sr_api_verify(sr_http_t *http);
sr_error_t *sr_api_history_list(sr_http_t *http);
sr_error_t *sr_api_history_redeliver(sr_http_t *http);
sr_error_t *sr_api_openapi(sr_http_t *http);
sr_error_t *sr_api_health(sr_http_t *http);

/* Shared by the lists (page.c): limit and cursor of the query; the answer's envelope around bodies. */
sr_error_t *sr_api_list_query(sr_list_query_t *page, sr_http_t *http, const char *limit, const char *after);
sr_error_t *sr_api_list_reply(sr_http_t *http, const sr_list_result_t *page);
/* A date or date-time that the query or body gave as `name`. The error says what is missing. */
sr_error_t *sr_api_time(apr_time_t *when, sr_http_t *http, const char *name, const char *text);
/* The SHA-256 of the caller's token: nothing below this knows the token itself. Errors: SR_EUNAUTHORIZED. */
sr_error_t *sr_api_token(const char **token_hash, sr_http_t *http);
/* A path parameter that must be a UUID: what is none cannot exist. */
sr_error_t *sr_api_uuid(const char **uuid, sr_http_t *http, int param);

#endif
