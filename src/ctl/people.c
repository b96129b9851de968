/* SPDX-License-Identifier: Apache-2.0 */
/* people.c: sigreqctl org, user and token: each an administration operation of the store, and its rows printed. */
#include "ctl/ctl.h"

#include <string.h>

static const char *const organization_columns[] = {"uuid", "name", "quota", "used", "created_at", NULL};
static const char *const user_columns[] = {"uuid", "email", "firstname", "lastname", "organization_uuid", NULL};
static const char *const token_columns[] = {"uuid",       "organization_name", "email",      "environment", "name",
                                            "created_at", "expires_at",        "revoked_at", "parent",      NULL};

/* What an outcome that is no success means to the administrator. */
typedef struct refusal_t {
    const char *missing, *conflict;
} refusal_t;

/* Runs an operation; *rows are its bodies as JSON. */
static sr_error_t *run(ctl_t *ctl, json_t **rows, sr_op_t op, const refusal_t *refusal, const char *const *arguments,
                       int count)
{
    apr_array_header_t *found;
    sr_outcome_t outcome;

    *rows = sr_json_own(json_array(), ctl->pool);
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_run(ctl->store, op, &outcome, &found, arguments, count, ctl->pool));
    if (outcome == SR_MISSING) return sr_error(ctl->pool, SR_ENOTFOUND, "%s", refusal->missing);
    if (outcome == SR_CONFLICT) return sr_error(ctl->pool, SR_ECONFLICT, "%s", refusal->conflict);
    for (int i = 0; i < found->nelts; i++) {
        const char *body = APR_ARRAY_IDX(found, i, sr_row_t).body;
        json_t *row;
        if (!body) return sr_error(ctl->pool, SR_EINTERNAL, "The database gave a row without a body");
        SR_TRY(sr_json_read(&row, body, ctl->pool));
        json_array_append(*rows, row);
    }
    return NULL;
}

static sr_error_t *print_one(ctl_t *ctl, sr_op_t op, const refusal_t *refusal, const char *const *arguments, int count,
                             const char *const *columns)
{
    json_t *rows;

    SR_TRY(run(ctl, &rows, op, refusal, arguments, count));
    ctl_print(ctl, json_incref(json_array_get(rows, 0)), columns);
    return NULL;
}

static sr_error_t *print_all(ctl_t *ctl, sr_op_t op, const char *const *arguments, int count,
                             const char *const *columns)
{
    static const refusal_t refusal = {"There is no such organization", NULL};
    json_t *rows;

    SR_TRY(run(ctl, &rows, op, &refusal, arguments, count));
    ctl_print(ctl, json_incref(rows), columns);
    return NULL;
}

static const char *now(apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_TIME_T_FMT, apr_time_now());
}

sr_error_t *ctl_org_create(ctl_t *ctl)
{
    static const refusal_t refusal = {NULL, "An organization of this name exists"};
    const char *arguments[] = {sr_uuid_make(ctl->pool), ctl->values[OPTION_NAME], ctl->values[OPTION_QUOTA],
                               now(ctl->pool)};

    return print_one(ctl, SR_OP_ADMIN_ORGANIZATION_CREATE, &refusal, arguments, 4, organization_columns);
}

sr_error_t *ctl_org_list(ctl_t *ctl)
{
    return print_all(ctl, SR_OP_ADMIN_ORGANIZATION_LIST, NULL, 0, organization_columns);
}

sr_error_t *ctl_org_quota(ctl_t *ctl)
{
    static const refusal_t refusal = {"There is no such organization", NULL};
    const char *arguments[] = {ctl->values[OPTION_ORGANIZATION], ctl->values[OPTION_QUOTA]};

    return print_one(ctl, SR_OP_ADMIN_ORGANIZATION_QUOTA, &refusal, arguments, 2, organization_columns);
}

sr_error_t *ctl_user_create(ctl_t *ctl)
{
    static const refusal_t refusal = {"There is no such organization", "The organization has a user with this email"};
    const char *arguments[] = {sr_uuid_make(ctl->pool),       ctl->values[OPTION_ORGANIZATION],
                               ctl->values[OPTION_FIRSTNAME], ctl->values[OPTION_LASTNAME],
                               ctl->values[OPTION_EMAIL],     now(ctl->pool)};

    return print_one(ctl, SR_OP_ADMIN_USER_CREATE, &refusal, arguments, 6, user_columns);
}

sr_error_t *ctl_user_list(ctl_t *ctl)
{
    return print_all(ctl, SR_OP_ADMIN_USER_LIST, &ctl->values[OPTION_ORGANIZATION], 1, user_columns);
}

sr_error_t *ctl_token_create(ctl_t *ctl)
{
    static const refusal_t refusal = {"There is no such organization, or no such user in it", NULL};
    static const char *const columns[] = {"token",      "uuid", "environment", "name", "email", "organization_name",
                                          "expires_at", NULL};
    const char *environment = ctl->values[OPTION_ENVIRONMENT];
    const char *secret = sr_token_make(strcmp(environment, "production") == 0, ctl->pool);
    const char *arguments[] = {sr_uuid_make(ctl->pool),     ctl->values[OPTION_ORGANIZATION],
                               ctl->values[OPTION_USER],    environment,
                               ctl->values[OPTION_NAME],    sr_sha256_hex(secret, strlen(secret), ctl->pool),
                               ctl->values[OPTION_EXPIRES], now(ctl->pool)};
    json_t *rows, *row;

    SR_TRY(run(ctl, &rows, SR_OP_ADMIN_TOKEN_CREATE, &refusal, arguments, 8));
    row = json_incref(json_array_get(rows, 0));
    json_object_set_new(row, "token", json_string(secret));
    ctl_print(ctl, row, columns);
    return NULL;
}

sr_error_t *ctl_token_list(ctl_t *ctl)
{
    return print_all(ctl, SR_OP_ADMIN_TOKEN_LIST, &ctl->values[OPTION_ORGANIZATION], 1, token_columns);
}

sr_error_t *ctl_token_revoke(ctl_t *ctl)
{
    static const refusal_t refusal = {"There is no such token", NULL};
    const bool children = ctl->given[OPTION_CHILDREN];
    const char *arguments[] = {ctl->values[OPTION_UUID], now(ctl->pool), children ? "true" : "false"};
    json_t *rows;

    if (!children) return print_one(ctl, SR_OP_ADMIN_TOKEN_REVOKE, &refusal, arguments, 3, token_columns);
    SR_TRY(run(ctl, &rows, SR_OP_ADMIN_TOKEN_REVOKE, &refusal, arguments, 3));
    ctl_print(ctl, json_incref(rows), token_columns);
    return NULL;
}

sr_error_t *ctl_token_webhooks(ctl_t *ctl)
{
    static const refusal_t refusal = {"There is no such token", NULL};
    static const char *const columns[] = {"uuid", "sent_webhook_url", "signed_webhook_url", "completed_webhook_url",
                                          NULL};
    static const struct {
        ctl_option_id_t option;
        const char *kind;
    } kinds[] = {{OPTION_SENT, "sent"}, {OPTION_SIGNED, "signed"}, {OPTION_COMPLETED, "completed"}};
    json_t *urls = sr_json_own(json_object(), ctl->pool);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (ctl->given[kinds[i].option] || ctl->given[OPTION_CLEAR])
            json_object_set_new(urls, kinds[i].kind, sr_json_string_or_null(ctl->values[kinds[i].option]));
    }
    const char *arguments[] = {ctl->values[OPTION_UUID], sr_json_text(urls, ctl->pool)};
    return print_one(ctl, SR_OP_ADMIN_TOKEN_WEBHOOKS, &refusal, arguments, 2, columns);
}
