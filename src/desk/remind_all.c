/* SPDX-License-Identifier: Apache-2.0 */
/* remind_all.c: reminds the signers of a request whose turn it is. */
#include <string.h>

#include "desk/desk.h"

/* Returns true if a signer of a representation has not signed yet, and can be reminded by mail. */
bool sr_desk_is_due(const json_t *signer)
{
    const char *status = sr_json_string(signer, "status");
    return sr_json_string(signer, "email") && !sr_json_string(signer, "refusedAt")
           && (!strcmp(status, "sent") || !strcmp(status, "opened"));
}

sr_error_t *sr_desk_remind(sr_http_t *http)
{
    sr_desk_t *desk;
    sr_shown_submission_t shown;
    json_t *view, *signer;
    const char *uuid, *ignored;
    size_t i;
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    SR_TRY(sr_desk_form_read(desk, apr_pstrcat(http->pool, "remind ", uuid, NULL),
                             (const sr_query_param_t[]){{NULL, NULL}}));
    SR_TRY(sr_service_submission(http->service, &shown, desk->token_hash, uuid, NULL, http->pool));
    SR_TRY(sr_json_read(&view, sr_text_with_base(shown.representation, http->base_url, http->pool), http->pool));
    const sr_caller_t caller = sr_desk_caller(desk, uuid);
    int count = 0;
    json_array_foreach (json_object_get(view, "submitters"), i, signer) {
        if (!sr_desk_is_due(signer)) continue;
        SR_TRY(sr_service_remind(http->service, &ignored, &caller, sr_json_string(signer, "uuid"), http->pool));
        count++;
    }
    if (!count) return sr_error(http->pool, SR_ECONFLICT, "No signer of this request can be reminded");
    return sr_desk_done(desk, "", "reminded");
}
