/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c: the routes of the API. t/guard/ compares them with openapi.json, which does not have the page for people.
 */
#include "api/api.h"

#include <string.h>

const sr_route_t sr_api_routes[] = {
    {M_POST, "/signatures", sr_api_signatures_create, true},
    {M_POST, "/signatures/preview", sr_api_signatures_preview, true},
    {M_GET, "/signatures", sr_api_signatures_list, false},
    {M_GET, "/signatures/{uuid}", sr_api_signature_get, false},
    {M_PATCH, "/signatures/{uuid}", sr_api_signature_change, false},
    {M_DELETE, "/signatures/{uuid}", sr_api_signature_delete, false},
    {M_PUT, "/signatures/{uuid}/fields", sr_api_draft_fields, false},
    {M_POST, "/signatures/{uuid}/send", sr_api_draft_send, false},
    {M_POST, "/signatures/{uuid}/placement", sr_api_draft_link, false},
    {M_POST, "/signatures/{uuid}/cancel", sr_api_cancel, false},
    {M_POST, "/signatures/{uuid}/copies", sr_api_copy, false},
    {M_PATCH, "/signatures/{uuid}/signers/{signer_uuid}", sr_api_signer_change, false},
    {M_POST, "/signatures/{uuid}/signers/{signer_uuid}/replace", sr_api_signer_replace, false},
    {M_POST, "/signatures/{uuid}/signers/{signer_uuid}/remind", sr_api_signer_remind, false},
    {M_POST, "/signatures/{uuid}/signers/{signer_uuid}/unlock", sr_api_signer_unlock, false},
    {M_POST, "/signatures/{uuid}/signers/{signer_uuid}/session", sr_api_signer_session, false},
    {M_DELETE, "/signatures/{uuid}/viewers/{viewer_uuid}", sr_api_viewer_revoke, false},
    {M_GET, "/signatures/{uuid}/documents/{document_uuid}", sr_api_document_get, false},
    {M_GET, "/signatures/{uuid}/certificate", sr_api_certificate_get, false},
    {M_GET, "/signatures/{uuid}/audit", sr_api_audit_get, false},
    {M_GET, "/signatures/{uuid}/archive", sr_api_archive_get, false},
    {M_GET, "/templates", sr_api_templates_list, false},
    {M_GET, "/templates/{uuid}", sr_api_template_get, false},
    {M_DELETE, "/templates/{uuid}", sr_api_template_delete, false},
    {M_POST, "/verify", sr_api_verify, false},
    {M_POST, "/documents/inspect", sr_api_inspect, false},
    {M_POST, "/webhooks/sent-webhook-url", sr_api_webhook_set, false},
    {M_DELETE, "/webhooks/sent-webhook-url", sr_api_webhook_remove, false},
    {M_POST, "/webhooks/signed-webhook-url", sr_api_webhook_set, false},
    {M_DELETE, "/webhooks/signed-webhook-url", sr_api_webhook_remove, false},
    {M_POST, "/webhooks/completed-webhook-url", sr_api_webhook_set, false},
    {M_DELETE, "/webhooks/completed-webhook-url", sr_api_webhook_remove, false},
    {M_POST, "/webhooks/test", sr_api_webhook_test, false},
    {M_GET, "/webhooks/history", sr_api_history_list, false},
    {M_POST, "/webhooks/history/{event_id}/redeliver", sr_api_history_redeliver, false},
    {M_GET, "/events", sr_api_events, false},
    {M_POST, "/tokens", sr_api_tokens_create, false},
    {M_GET, "/tokens", sr_api_tokens_list, false},
    {M_GET, "/tokens/current", sr_api_token_current, false},
    {M_GET, "/tokens/{uuid}", sr_api_token_get, false},
    {M_DELETE, "/tokens/{uuid}", sr_api_token_revoke, false},
    {M_DELETE, "/tokens/{uuid}/webhooks", sr_api_token_webhooks_clear, false},
    {M_POST, "/tokens/{uuid}/webhooks/sent-webhook-url", sr_api_token_webhook_set, false},
    {M_DELETE, "/tokens/{uuid}/webhooks/sent-webhook-url", sr_api_token_webhook_remove, false},
    {M_POST, "/tokens/{uuid}/webhooks/signed-webhook-url", sr_api_token_webhook_set, false},
    {M_DELETE, "/tokens/{uuid}/webhooks/signed-webhook-url", sr_api_token_webhook_remove, false},
    {M_POST, "/tokens/{uuid}/webhooks/completed-webhook-url", sr_api_token_webhook_set, false},
    {M_DELETE, "/tokens/{uuid}/webhooks/completed-webhook-url", sr_api_token_webhook_remove, false},
    {M_GET, "", sr_api_page_moved, false},
    {M_GET, "/", sr_api_page, false},
    {M_GET, "/openapi.json", sr_api_openapi, false},
    {M_GET, "/health", sr_api_health, false},
    {0, NULL, NULL, false},
};

bool sr_api_is_astray(const char *path)
{
    static const char *const beginnings[] = {"/api", "/v1", "/v2", "/v3", "/signatures", "/tokens", "/webhooks", NULL};
    for (const char *const *beginning = beginnings; path && *beginning; beginning++) {
        const size_t length = strlen(*beginning);
        if (!strncmp(path, *beginning, length) && (!path[length] || path[length] == '/')) return true;
    }
    return false;
}
