/* SPDX-License-Identifier: Apache-2.0 */
/* desk_users.c: the scopes of a user of the desk. A use case finds its caller by the hash of a token, so a user has a
 * token for each environment. Its hash is random, so nobody knows its secret, and the API accepts it from nobody. */
#include "service/private.h"

#include <stdlib.h>
#include <string.h>

#define SECRET 32 /* bytes */

static sr_error_t *desk_scope_of(sr_desk_scope_t *scope, const sr_desk_row_t *row, apr_pool_t *pool)
{
    sr_environment_t environment;
    if (!sr_environment_parse(&environment, row->environment))
        return sr_error(pool, SR_EINTERNAL, "The database has an unknown environment");
    *scope = (sr_desk_scope_t){.name = sr_owner_of(row->organization_uuid, environment, pool),
                               .token_hash = row->token_hash,
                               .token = {.uuid = row->token,
                                         .name = "Desk",
                                         .user_uuid = row->user_uuid,
                                         .user = {row->firstname, row->lastname, row->email},
                                         .organization_uuid = row->organization_uuid,
                                         .organization_name = row->organization_name,
                                         .environment = environment}};
    return NULL;
}

/* By the name of the organisation; production before test. */
static int compare_scopes(const void *one_, const void *other_)
{
    const sr_desk_scope_t *one = one_, *other = other_;
    const int order = strcmp(one->token.organization_name, other->token.organization_name);
    return order ? order : strcmp(one->name, other->name);
}

sr_error_t *sr_service_desk_scopes(const sr_service_t *service, const apr_array_header_t **scopes, const char *email,
                                   apr_pool_t *pool)
{
    apr_array_header_t *rows = NULL, *made = apr_array_make(pool, 4, sizeof(sr_desk_scope_t));
    sr_outcome_t outcome = SR_OK;
    if (sr_text_is_utf8(email, strlen(email))) /* a database refuses other text */
        SR_TRY(sr_store_desk_scopes(service->database, &outcome, &rows, email, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    for (int i = 0; rows && i < rows->nelts; i++)
        SR_TRY(desk_scope_of(apr_array_push(made), &APR_ARRAY_IDX(rows, i, sr_desk_row_t), pool));
    qsort(made->elts, (size_t)made->nelts, (size_t)made->elt_size, compare_scopes);
    *scopes = made;
    return NULL;
}

sr_error_t *sr_service_desk_token(const sr_service_t *service, sr_desk_scope_t *scope, apr_pool_t *pool)
{
    const sr_desk_row_t *row;
    unsigned char secret[SECRET];
    sr_outcome_t outcome;
    sr_random_fill(secret, sizeof secret);
    SR_TRY(sr_store_desk_token(service->database, &outcome, &row, scope->token.user.email,
                               scope->token.organization_uuid, sr_environment_name(scope->token.environment),
                               sr_uuid_make(pool), sr_text_hex(secret, sizeof secret, pool), sr_time_now(), pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    return desk_scope_of(scope, row, pool);
}
