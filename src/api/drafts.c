/* SPDX-License-Identifier: Apache-2.0 */
/* drafts.c: what the caller does with a draft: replaces its fields, sends it, or makes a new link to place fields. */
#include "api/api.h"

#include <string.h>

#define FIELDS_MAX ((apr_size_t)4 * 1024 * 1024)
#define VALUES_EACH 50 /* JSON values that are allowed for each signer and field */

static sr_error_t *drafts_subject(sr_draft_subject_t *subject, sr_http_t *http)
{
    *subject = (sr_draft_subject_t){0};
    SR_TRY(sr_api_token(&subject->token_hash, http));
    SR_TRY(sr_http_query(http, (const sr_query_param_t[]){{NULL, NULL}}));
    return sr_api_uuid(&subject->submission, http, 0);
}

sr_error_t *sr_api_draft_fields(sr_http_t *http)
{
    const apr_size_t values = (apr_size_t)(http->settings->max_signers + http->settings->max_fields) * VALUES_EACH;
    const char *known = apr_table_get(http->r->headers_in, "If-Match");
    sr_draft_subject_t subject;
    sr_shown_submission_t shown;
    sr_token_t *caller;
    json_t *body;
    SR_TRY(drafts_subject(&subject, http));
    SR_TRY(sr_service_authenticate(http->service, &caller, subject.token_hash, http->pool));
    SR_TRY(sr_http_read_json(&body, http, FIELDS_MAX, values));
    const json_t *signers = json_object_get(body, "signers");
    if (!signers || json_object_size(body) != 1)
        return sr_error(http->pool, SR_EBADREQUEST, "The body must have the member signers alone");
    const char *text = sr_json_text(signers, http->pool);
    SR_TRY(sr_service_draft_fields(http->service, &shown, &subject, text, strlen(text), known,
                                   sr_remarks_make(http->pool), http->pool));
    sr_http_tag(http, shown.tag);
    return sr_http_view(http, HTTP_OK, shown.representation);
}

sr_error_t *sr_api_draft_send(sr_http_t *http)
{
    const sr_client_t client = {.ip = http->r->useragent_ip, .user_agent = sr_http_user_agent(http)};
    sr_draft_subject_t subject;
    sr_shown_submission_t shown;
    SR_TRY(drafts_subject(&subject, http));
    SR_TRY(sr_service_draft_send(http->service, &shown, &subject, apr_table_get(http->r->headers_in, "If-Match"),
                                 &client, http->pool));
    sr_http_tag(http, shown.tag);
    return sr_http_view(http, HTTP_OK, shown.representation);
}

sr_error_t *sr_api_draft_link(sr_http_t *http)
{
    sr_draft_subject_t subject;
    const char *placement;
    apr_time_t until;
    SR_TRY(drafts_subject(&subject, http));
    SR_TRY(
        sr_service_draft_link(http->service, &placement, &until, subject.token_hash, subject.submission, http->pool));
    return sr_http_view(http, HTTP_CREATED, sr_placement_render(placement, until, http->pool));
}
