/* SPDX-License-Identifier: Apache-2.0 */
/* life.c: what becomes of a submission beside what its signers do: it is cancelled or expires, its deadline changes,
 * signers become due in their order, and a signer is replaced. And what a creation may say about it. */
#include "model/model.h"

#include <apr_uri.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

/* --- the creation */

#define MAX_EXTERNAL_ID 255
#define MAX_METADATA 4096
#define MAX_METADATA_VALUES 256
#define MAX_REDIRECT 2000
#define LONGEST apr_time_from_sec(APR_INT64_C(3653) * 24 * 3600) /* ten years */

static sr_error_t *check_deadline(apr_time_t expires_at, apr_time_t now, apr_pool_t *pool)
{
    if (expires_at <= now) return sr_error(pool, SR_EBADREQUEST, "expiresAt must be in the future");
    if (expires_at - now > LONGEST) return sr_error(pool, SR_EBADREQUEST, "expiresAt must be within 10 years");
    return NULL;
}

sr_error_t *sr_deadline_read(apr_time_t *expires_at, const char *text, apr_time_t now, apr_pool_t *pool)
{
    *expires_at = 0;
    if (!text || sr_text_is_blank(text)) return NULL;
    if (!strchr(text, 'T') || !sr_time_parse(expires_at, text))
        return sr_error(pool, SR_EBADREQUEST,
                        "expiresAt must be an ISO 8601 date and time with a zone, such as 2026-11-20T18:00:00Z or "
                        "2026-11-20T18:00:00+01:00");
    return check_deadline(*expires_at, now, pool);
}

sr_error_t *sr_external_id_read(const char **external_id, const char *text, apr_pool_t *pool)
{
    *external_id = NULL;
    if (!text || !*text) return NULL;
    const char *fault = sr_text_fault(text, MAX_EXTERNAL_ID, pool);
    if (fault) return sr_error(pool, SR_EBADREQUEST, "externalId %s", fault);
    *external_id = text;
    return NULL;
}

sr_error_t *sr_metadata_read(const json_t **metadata, const char *text, apr_size_t length, apr_pool_t *pool)
{
    json_t *value;
    *metadata = NULL;
    if (!text || !length) return NULL;
    if (length > MAX_METADATA) return sr_error(pool, SR_EBADREQUEST, "metadata must be at most %d bytes", MAX_METADATA);
    sr_error_t *error = sr_json_parse_bounded(&value, text, length, MAX_METADATA_VALUES, pool);
    if (error && error->code != SR_EBADREQUEST) return error;
    if (error) return sr_error(pool, SR_EBADREQUEST, "metadata must be a JSON object: %s", error->message);
    if (!json_is_object(value)) return sr_error(pool, SR_EBADREQUEST, "metadata must be a JSON object");
    *metadata = value;
    return NULL;
}

const char *sr_redirect_origin(const char *url, apr_pool_t *pool)
{
    apr_uri_t uri;
    if (apr_uri_parse(pool, url, &uri) != APR_SUCCESS || !uri.scheme) return NULL;
    if (!uri.hostname || !*uri.hostname || uri.user || uri.password) return NULL;
    const bool here = !strcasecmp(uri.hostname, "localhost") || !strcmp(uri.hostname, "127.0.0.1");
    if (strcasecmp(uri.scheme, "https") != 0 && (!here || strcasecmp(uri.scheme, "http") != 0)) return NULL;
    const bool usual = !uri.port_str || apr_uri_port_of_scheme(uri.scheme) == uri.port;
    char *origin = apr_pstrcat(pool, uri.scheme, "://", uri.hostname, usual ? NULL : ":", uri.port_str, NULL);
    for (char *c = origin; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 'a' - 'A');
    return origin;
}

sr_error_t *sr_redirect_read(const char **redirect_url, const char *text, const apr_array_header_t *allowed,
                             apr_pool_t *pool)
{
    *redirect_url = NULL;
    if (!text || !*text) return NULL;
    if (strlen(text) > MAX_REDIRECT)
        return sr_error(pool, SR_EBADREQUEST, "redirectUrl must have at most %d characters", MAX_REDIRECT);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f || strchr("\"<>\\^`{|}", *c))
            return sr_error(pool, SR_EBADREQUEST, "redirectUrl must be an https URL");
    const char *origin = sr_redirect_origin(text, pool);
    if (!origin) return sr_error(pool, SR_EBADREQUEST, "redirectUrl must be an https URL");
    for (int i = 0; allowed && i < allowed->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(allowed, i, const char *), origin)) *redirect_url = text;
    return *redirect_url
               ? NULL
               : sr_error(pool, SR_EBADREQUEST, "redirectUrl: %s is not allowed (SigreqRedirectAllow)", origin);
}

/* --- closing */

sr_error_t *sr_submission_may(const sr_submission_t *submission, sr_action_t action, apr_pool_t *pool)
{
    sr_submission_state_t state = submission->state;
    if (!submission->late && sr_state_change(NULL, &state, action)) return NULL;
    return sr_error(pool, SR_ECONFLICT, "This submission is %s%s", state == SR_SUBMISSION_DRAFT ? "a " : "",
                    sr_submission_state_name(submission->late ? SR_SUBMISSION_EXPIRED : submission->state));
}

static void close_submission(sr_submission_t *submission, sr_action_t action, apr_time_t when)
{
    sr_state_change(NULL, &submission->state, action);
    submission->closed_at = submission->updated_at = when;
}

void sr_submission_cancel(sr_submission_t *submission, apr_time_t when, const char *reason)
{
    close_submission(submission, SR_ACTION_CANCEL, when);
    submission->cancel_reason = reason;
}

void sr_submission_expire(sr_submission_t *submission, apr_time_t when)
{
    close_submission(submission, SR_ACTION_EXPIRE, when);
}

/* Returns the order of the signers whose turn it is. */
static int life_turn(const sr_submission_t *submission)
{
    int first = INT_MAX;
    for (int i = 0; i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        if (signer->state != SR_SIGNER_COMPLETED && signer->order < first) first = signer->order;
    }
    return first;
}

void sr_submission_due(sr_submission_t *submission, apr_array_header_t *due, apr_time_t when)
{
    const int first = life_turn(submission);
    for (int i = 0; i < submission->signers->nelts; i++) {
        sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        if (signer->order != first || !sr_state_change(&signer->state, &submission->state, SR_ACTION_SEND)) continue;
        signer->due_at = when;
        APR_ARRAY_PUSH(due, sr_signer_t *) = signer;
    }
}

/* --- replacing a signer */

sr_error_t *sr_submission_may_replace(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool)
{
    sr_submission_state_t state = submission->state;
    sr_signer_state_t was = signer->state;
    SR_TRY(sr_submission_may(submission, SR_ACTION_CANCEL, pool)); /* which is possible while it is open */
    if (sr_state_change(&was, &state, SR_ACTION_REPLACE)) return NULL;
    return sr_error(pool, SR_ECONFLICT, "This signer has %s",
                    signer->state == SR_SIGNER_COMPLETED ? "signed already" : "refused");
}

void sr_submission_replace(sr_submission_t *submission, sr_signer_t *signer, const sr_signer_t *person, apr_time_t when,
                           apr_pool_t *pool)
{
    const char *alias = sr_signer_alias(signer, pool);
    const sr_signer_t before = *signer;
    *signer = (sr_signer_t){.uuid = sr_uuid_make(pool),
                            .firstname = person->firstname,
                            .lastname = person->lastname,
                            .email = person->email,
                            .locale = person->locale,
                            .fields = before.fields,
                            .state = before.state == SR_SIGNER_WAITING ? SR_SIGNER_WAITING : SR_SIGNER_SENT,
                            .order = before.order,
                            .due_at = before.due_at ? when : 0,
                            .replaces = before.uuid,
                            .alias = alias,
                            .authentication = person->authentication};
    submission->updated_at = when;
}
