/* SPDX-License-Identifier: Apache-2.0 */
/* placing.c: leads to the placement page of a draft, which leads back to the desk. */
#include "desk/desk.h"

sr_error_t *sr_desk_place_fields(sr_desk_t *desk, const char *uuid)
{
    sr_http_t *http = desk->http;
    const sr_draft_subject_t subject = {.token_hash = desk->token_hash, .submission = uuid};
    const char *language = sr_web_language_query(http);
    sr_signing_t *signing;
    sr_error_t *error = sr_service_draft(http->service, &signing, &subject, http->pool);
    if (error && error->code == SR_ECONFLICT)
        return sr_desk_done(desk, apr_pstrcat(http->pool, "requests/", uuid, NULL), NULL);
    SR_TRY(error);
    const char *placement = signing->submission.placement;
    apr_time_t until = signing->submission.placement_until;
    if (!placement || until <= sr_time_now())
        SR_TRY(sr_service_draft_link(http->service, &placement, &until, desk->token_hash, uuid, http->pool));
    return sr_http_redirect(http, HTTP_SEE_OTHER,
                            apr_pstrcat(http->pool, desk->way, "../../place/", placement, *language ? language : "?",
                                        *language ? "&" : "", SR_WEB_FROM_DESK, NULL));
}

sr_error_t *sr_desk_place(sr_http_t *http)
{
    sr_desk_t *desk;
    const char *uuid;
    SR_TRY(sr_desk_enter(&desk, http));
    SR_TRY(sr_web_uuid(&uuid, http, 1));
    SR_TRY(sr_desk_form_read(desk, apr_pstrcat(http->pool, "place ", uuid, NULL),
                             (const sr_query_param_t[]){{NULL, NULL}}));
    return sr_desk_place_fields(desk, uuid);
}
