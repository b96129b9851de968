/* SPDX-License-Identifier: Apache-2.0 */
/* login.c: a signer shows who they are by signing in at this server. The URL of the login has a name of its own, and
 * not the signing link, because modules for logins log the URL, keep it in cookies and send it to other servers. */
#include "service/signing/identify.h"

sr_error_t *sr_service_login_begin(const sr_service_t *service, const char **name, const char *signer, apr_pool_t *pool)
{
    const sr_login_row_t *row;
    sr_signing_t *signing;
    sr_outcome_t outcome;
    SR_TRY(sr_service_identity(service, &signing, signer, pool));
    if (signing->signer->authentication->method != SR_AUTH_HTTPD) return sr_error(pool, SR_ENOTFOUND, "Not found");
    SR_TRY(sr_store_login_begin(service->database, &outcome, &row, sr_session_make(pool), signing->signer->uuid, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    *name = row->name;
    return NULL;
}

typedef struct login_t {
    const char *user, *by;
    apr_pool_t *pool;
} login_t;

static sr_verdict_t judge_user(const sr_judged_t *judged)
{
    const login_t *login = judged->baton;
    if (!sr_authentication_is_user(judged->authentication, login->user, login->pool)) return SR_IDENTITY_OTHER;
    json_object_set_new(judged->detail, "user", json_string(login->user));
    if (login->by) json_object_set_new(judged->detail, "by", json_string(login->by));
    return SR_IDENTITY_PASSED;
}

sr_error_t *sr_service_login(const sr_service_t *service, const char **session, const char **signer, const char *name,
                             const char *user, const char *by, const sr_client_t *client, apr_pool_t *pool)
{
    login_t login = {user, by, pool};
    const sr_claimant_row_t *row;
    sr_signing_t *signing;
    sr_outcome_t outcome;
    SR_TRY(sr_store_login_get(service->database, &outcome, &row, name, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_service_identity(service, &signing, *signer = row->signer, pool));
    return sr_identify_decide(service, session, signing, client, judge_user, &login, pool);
}
