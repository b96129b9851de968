/* SPDX-License-Identifier: Apache-2.0 */
/* people.c: sigreqctl org, user and token: runs an administration operation of the store and prints its rows. */
#include "ctl/ctl.h"

#include <string.h>

const char *const ctl_organization_columns[] = {"uuid", "name", "quota", "used", "created_at", NULL};
const char *const ctl_user_columns[] = {"uuid",        "email", "firstname", "lastname", "organization_uuid",
                                        "disabled_at", NULL};
const char *const ctl_token_columns[] = {"uuid",       "organization_name", "email",      "environment", "name",
                                         "created_at", "expires_at",        "revoked_at", "used_on",     "parent",
                                         NULL};

static const char no_organization[] = CTL_NO_ORGANIZATION, no_token[] = CTL_NO_TOKEN;

/* Returns the number of an option, which has been checked already, or NULL. */
static const apr_int64_t *people_number_of(const ctl_t *ctl, ctl_option_id_t option)
{
    if (!ctl->values[option]) return NULL;
    apr_int64_t *number = apr_palloc(ctl->pool, sizeof *number);
    *number = apr_atoi64(ctl->values[option]);
    return number;
}

sr_error_t *ctl_find_user(ctl_t *ctl, const sr_user_row_t **user)
{
    const char *which = ctl->values[OPTION_USER];
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(
        sr_store_admin_user_find(ctl->database, &outcome, &rows, which, ctl->values[OPTION_ORGANIZATION], ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_ORGANIZATION, NULL));
    if (!rows->nelts) return sr_error(ctl->pool, SR_ENOTFOUND, CTL_NO_USER);
    if (rows->nelts > 1)
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "%d organizations have a user with this email: give --organization, or the user's uuid",
                        rows->nelts);
    *user = &APR_ARRAY_IDX(rows, 0, sr_user_row_t);
    return NULL;
}

sr_error_t *ctl_org_create(ctl_t *ctl)
{
    const sr_organization_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_organization_create(ctl->database, &outcome, &row, sr_uuid_make(ctl->pool),
                                              ctl->values[OPTION_NAME], people_number_of(ctl, OPTION_QUOTA),
                                              sr_time_now(), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, NULL, "An organization of this name exists"));
    return ctl_print_row(ctl, SR_OP_ADMIN_ORGANIZATION_CREATE, row, ctl_organization_columns);
}

sr_error_t *ctl_org_list(ctl_t *ctl)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_organization_list(ctl->database, &outcome, &rows, ctl->pool));
    return ctl_print_rows(ctl, SR_OP_ADMIN_ORGANIZATION_LIST, rows, ctl_organization_columns);
}

sr_error_t *ctl_org_quota(ctl_t *ctl)
{
    const sr_organization_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_organization_quota(ctl->database, &outcome, &row, ctl->values[OPTION_ORGANIZATION],
                                             people_number_of(ctl, OPTION_QUOTA), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_organization, NULL));
    return ctl_print_row(ctl, SR_OP_ADMIN_ORGANIZATION_QUOTA, row, ctl_organization_columns);
}

sr_error_t *ctl_user_create(ctl_t *ctl)
{
    const sr_user_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_user_create(ctl->database, &outcome, &row, sr_uuid_make(ctl->pool),
                                      ctl->values[OPTION_ORGANIZATION], ctl->values[OPTION_FIRSTNAME],
                                      ctl->values[OPTION_LASTNAME], ctl->values[OPTION_EMAIL], sr_time_now(),
                                      ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_organization, "The organization has a user with this email"));
    return ctl_print_row(ctl, SR_OP_ADMIN_USER_CREATE, row, ctl_user_columns);
}

sr_error_t *ctl_user_list(ctl_t *ctl)
{
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_user_list(ctl->database, &outcome, &rows, ctl->values[OPTION_ORGANIZATION], ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_organization, NULL));
    return ctl_print_rows(ctl, SR_OP_ADMIN_USER_LIST, rows, ctl_user_columns);
}

/* Prints a new token with its secret. */
static void print_secret(ctl_t *ctl, sr_op_t op, const sr_token_row_t *made, const char *secret)
{
    static const char *const columns[] = {"token",      "uuid", "environment", "name", "email", "organization_name",
                                          "expires_at", NULL};
    json_t *row = ctl_row_json(op, made);
    json_object_set_new(row, "token", json_string(secret));
    ctl_print(ctl, row, columns);
}

sr_error_t *ctl_token_create(ctl_t *ctl)
{
    const char *environment = ctl->values[OPTION_ENVIRONMENT], *expires = ctl->values[OPTION_EXPIRES];
    const char *secret = sr_token_make(strcmp(environment, "production") == 0, ctl->pool);
    const sr_token_row_t *found;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_token_create(ctl->database, &outcome, &found, sr_uuid_make(ctl->pool),
                                       ctl->values[OPTION_ORGANIZATION], ctl->values[OPTION_USER], environment,
                                       ctl->values[OPTION_NAME], sr_sha256_hex(secret, strlen(secret), ctl->pool),
                                       expires ? apr_atoi64(expires) : 0, sr_time_now(), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, "There is no such organization, or no such user in it", NULL));
    print_secret(ctl, SR_OP_ADMIN_TOKEN_CREATE, found, secret);
    return NULL;
}

sr_error_t *ctl_token_rotate(ctl_t *ctl)
{
    const apr_int64_t *keep = people_number_of(ctl, OPTION_KEEP);
    const char *uuid = ctl->values[OPTION_UUID];
    const sr_token_row_t *found;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    /* the token is needed first, because the prefix of the new secret depends on the environment */
    SR_TRY(sr_store_admin_token_webhooks(ctl->database, &outcome, &found, uuid, "{}", ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_token, NULL));
    const char *secret = sr_token_make(strcmp(found->environment, "production") == 0, ctl->pool);
    const apr_time_t now = sr_time_now();
    SR_TRY(sr_store_admin_token_rotate(ctl->database, &outcome, &found, uuid, sr_uuid_make(ctl->pool),
                                       sr_sha256_hex(secret, strlen(secret), ctl->pool), now, keep ? now + *keep : 0,
                                       ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_token, "The token is revoked: 'token create' makes another one"));
    print_secret(ctl, SR_OP_ADMIN_TOKEN_ROTATE, found, secret);
    return NULL;
}

sr_error_t *ctl_token_list(ctl_t *ctl)
{
    const apr_int64_t *expiring = people_number_of(ctl, OPTION_EXPIRING);
    const apr_time_t now = sr_time_now();
    const sr_user_row_t *user = NULL;
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    if (ctl->given[OPTION_USER]) SR_TRY(ctl_find_user(ctl, &user));
    SR_TRY(sr_store_admin_token_list(ctl->database, &outcome, &rows, ctl->values[OPTION_ORGANIZATION],
                                     user ? user->uuid : NULL, now, expiring ? now + *expiring : 0, ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_organization, NULL));
    return ctl_print_rows(ctl, SR_OP_ADMIN_TOKEN_LIST, rows, ctl_token_columns);
}

sr_error_t *ctl_token_webhooks(ctl_t *ctl)
{
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
    const sr_token_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_token_webhooks(ctl->database, &outcome, &row, ctl->values[OPTION_UUID],
                                         sr_json_text(urls, ctl->pool), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_token, NULL));
    return ctl_print_row(ctl, SR_OP_ADMIN_TOKEN_WEBHOOKS, row, columns);
}
