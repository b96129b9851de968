/* SPDX-License-Identifier: Apache-2.0 */
/* view.c: serves the link of a viewer: the page, or its state as JSON for programs. Nobody can sign or decline with it.
 * download.c and pages.c serve the documents. */
#include <string.h>

#include "web/web.h"

void sr_web_view_begin(sr_http_t *http)
{
    http->viewing = true;
    sr_web_begin(http);
}

static sr_error_t *view_read(sr_http_t *http, sr_signing_t **signing, const char *viewer, bool json)
{
    const sr_client_t client = sr_web_client(http);
    return sr_web_only_looks(http, json) /* this does not mark the link as opened */
               ? sr_service_viewing(http->service, signing, viewer, http->pool)
               : sr_service_viewing_open(http->service, signing, viewer, &client, http->pool);
}

sr_error_t *sr_web_view_get(sr_http_t *http)
{
    if (!sr_uuid_valid(http->params[0])) return sr_web_get_followed(http);
    const bool json = sr_http_prefers_json(http);
    const char *viewer;
    sr_signing_t *signing;
    http->show_error = json ? NULL : sr_web_error;
    SR_TRY(sr_web_uuid(&viewer, http, 0));
    SR_TRY(view_read(http, &signing, viewer, json));
    sr_error_t *error = sr_viewing_may_see(signing, http->pool);
    const bool ended = !strcmp(sr_viewing_state(signing), "ended");
    if (error && error->code == SR_EGONE && (json || ended)) return error;
    SR_TRY(sr_service_signing_boxes(http->service, signing, http->pool));
    json_t *view = sr_viewing_representation(signing, sr_web_link(http, signing->viewer->uuid), http->pool);
    if (json) return sr_http_json(http, HTTP_OK, view);
    sr_json_own(view, http->pool);
    json_object_set_new(view, "request", json_string(sr_submission_number(signing->submission.uuid, http->pool)));
    return sr_web_show(http, view, signing->viewer->uuid, NULL);
}
