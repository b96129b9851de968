/* SPDX-License-Identifier: Apache-2.0 */
/* token_row.c: converts rows of the store to tokens. */
#include "service/accounts/token_row.h"

sr_error_t *sr_service_token_of(sr_token_t **token, sr_outcome_t outcome, const sr_token_row_t *row, apr_pool_t *pool)
{
    SR_TRY(sr_service_refusal(outcome, pool));
    sr_token_t *made = *token = apr_palloc(pool, sizeof *made);
    *made = (sr_token_t){.uuid = row->uuid,
                         .name = row->name,
                         .user_uuid = row->user_uuid,
                         .user = {row->firstname, row->lastname, row->email},
                         .organization_uuid = row->organization_uuid,
                         .organization_name = row->organization_name,
                         .sent_webhook_url = row->sent_webhook_url,
                         .signed_webhook_url = row->signed_webhook_url,
                         .completed_webhook_url = row->completed_webhook_url,
                         .parent = row->parent,
                         .created_at = row->created_at,
                         .expires_at = row->expires_at,
                         .revoked_at = row->revoked_at};
    if (sr_environment_parse(&made->environment, row->environment)) return NULL;
    return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "token %s: its environment",
                            row->uuid);
}
