/* routes.c: every path of the API. t/guard/ keeps it equal to openapi.json. */
#include "api/api.h"

const sr_route_t sr_api_routes[] = {
    {M_POST, "/signatures", sr_api_signatures_create, true},
    {M_GET, "/signatures", sr_api_signatures_list, false},
    {M_GET, "/signatures/{uuid}", sr_api_signature_get, false},
    {M_GET, "/signatures/{uuid}/documents/{document_uuid}", sr_api_document_get, false},
    {M_GET, "/signatures/{uuid}/certificate", sr_api_certificate_get, false},
    {M_GET, "/signatures/{uuid}/audit", sr_api_audit_get, false},
    {M_POST, "/verify", sr_api_verify, false},
    {M_POST, "/webhooks/sent-webhook-url", sr_api_webhook_set, false},
    {M_DELETE, "/webhooks/sent-webhook-url", sr_api_webhook_remove, false},
    {M_POST, "/webhooks/signed-webhook-url", sr_api_webhook_set, false},
    {M_DELETE, "/webhooks/signed-webhook-url", sr_api_webhook_remove, false},
    {M_POST, "/webhooks/completed-webhook-url", sr_api_webhook_set, false},
    {M_DELETE, "/webhooks/completed-webhook-url", sr_api_webhook_remove, false},
    {M_GET, "/webhooks/history", sr_api_history_list, false},
    {M_POST, "/webhooks/history/{event_id}/redeliver", sr_api_history_redeliver, false},
    {M_POST, "/tokens", sr_api_tokens_create, false},
    {M_GET, "/tokens", sr_api_tokens_list, false},
    {M_GET, "/tokens/current", sr_api_token_current, false},
    {M_GET, "/tokens/{uuid}", sr_api_token_get, false},
    {M_DELETE, "/tokens/{uuid}", sr_api_token_revoke, false},
    {M_GET, "/openapi.json", sr_api_openapi, false},
    {M_GET, "/health", sr_api_health, false},
    {0, NULL, NULL, false},
};
