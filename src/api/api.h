/* SPDX-License-Identifier: Apache-2.0 */
/* api.h: /api/v3. routes.c has the table of routes, and each resource has a file with its handlers. */
#ifndef SR_API_API_H
#define SR_API_API_H

#include "http/http.h"
#include "service/service.h"

extern const sr_route_t sr_api_routes[];
/* Returns true for a path below <location> that only a program with a wrong base URL asks for, such as "/signatures" or
 * "/api/v2/signatures"; false for NULL. */
bool sr_api_is_astray(const char *path);

/* The handlers, by resource. */
sr_error_t *sr_api_signatures_create(sr_http_t *http);
sr_error_t *sr_api_signatures_preview(sr_http_t *http);
sr_error_t *sr_api_draft_fields(sr_http_t *http);
sr_error_t *sr_api_draft_send(sr_http_t *http);
sr_error_t *sr_api_draft_link(sr_http_t *http);
sr_error_t *sr_api_signatures_list(sr_http_t *http);
sr_error_t *sr_api_signature_get(sr_http_t *http);
sr_error_t *sr_api_document_get(sr_http_t *http);
sr_error_t *sr_api_certificate_get(sr_http_t *http);
sr_error_t *sr_api_audit_get(sr_http_t *http);
sr_error_t *sr_api_archive_get(sr_http_t *http);
sr_error_t *sr_api_signature_change(sr_http_t *http);
sr_error_t *sr_api_signature_delete(sr_http_t *http);
sr_error_t *sr_api_cancel(sr_http_t *http);
sr_error_t *sr_api_copy(sr_http_t *http);
sr_error_t *sr_api_signer_replace(sr_http_t *http);
sr_error_t *sr_api_signer_remind(sr_http_t *http);
sr_error_t *sr_api_signer_change(sr_http_t *http);
sr_error_t *sr_api_viewer_revoke(sr_http_t *http);
sr_error_t *sr_api_signer_unlock(sr_http_t *http);
sr_error_t *sr_api_signer_session(sr_http_t *http);
sr_error_t *sr_api_templates_list(sr_http_t *http);
sr_error_t *sr_api_template_get(sr_http_t *http);
sr_error_t *sr_api_template_delete(sr_http_t *http);
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
sr_error_t *sr_api_webhook_test(sr_http_t *http);
sr_error_t *sr_api_verify(sr_http_t *http);
sr_error_t *sr_api_inspect(sr_http_t *http);
sr_error_t *sr_api_history_list(sr_http_t *http);
sr_error_t *sr_api_history_redeliver(sr_http_t *http);
sr_error_t *sr_api_events(sr_http_t *http);
sr_error_t *sr_api_openapi(sr_http_t *http);
/* page.c */
sr_error_t *sr_api_page(sr_http_t *http);
sr_error_t *sr_api_page_moved(sr_http_t *http);
sr_error_t *sr_api_health(sr_http_t *http);

/* Answers each request, also one to a page, with 503 while a file of the configuration cannot be used. `tag` is that of
 * the message in the error log. */
void sr_api_refuse(sr_http_t *http, const char *tag);

/* Shared by the lists (list.c): sr_api_list_query reads the limit and the cursor of the query, sr_api_list_only the
 * whole query of a list that has nothing else, and sr_api_list_reply sends the page in its envelope. */
sr_error_t *sr_api_list_query(sr_list_query_t *page, sr_http_t *http, const char *limit, const char *after);
sr_error_t *sr_api_list_only(sr_list_query_t *page, sr_http_t *http);
sr_error_t *sr_api_list_reply(sr_http_t *http, const sr_list_result_t *page);
/* Sends {"data":[…],…}: bodies (const char *) that are JSON text already, and the other members. */
sr_error_t *sr_api_bodies_reply(sr_http_t *http, const apr_array_header_t *bodies, const char *rest);
/* Reads a JSON body (sr_http_read_json) whose members are all in `members`, which ends with NULL. Errors: also
 * SR_EBADREQUEST for an unknown member, because a misspelt one must not be ignored. */
sr_error_t *sr_api_body(json_t **body, sr_http_t *http, const char *const *members);
/* Authenticates the caller, and only then reads a JSON body (sr_http_read_json), whose members may be any. */
sr_error_t *sr_api_caller_body(json_t **body, sr_token_t **caller, const char **token_hash, sr_http_t *http);
/* Parses a date or date-time of the query or body. `name` is the parameter, which the error mentions. Errors:
 * SR_EBADREQUEST. */
sr_error_t *sr_api_time(apr_time_t *when, sr_http_t *http, const char *name, const char *text);
/* Sets *token_hash to the SHA-256 of the caller's token. The layers below do not know the token itself. Errors:
 * SR_EUNAUTHORIZED. */
sr_error_t *sr_api_token(const char **token_hash, sr_http_t *http);
/* After the response: notes that the token of the request was used, if it was accepted. */
void sr_api_ended(const sr_http_t *http);
/* Sets *uuid to a path parameter. Errors: SR_ENOTFOUND if it is not a UUID. */
sr_error_t *sr_api_uuid(const char **uuid, sr_http_t *http, int param);

#endif
