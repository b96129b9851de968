/* SPDX-License-Identifier: Apache-2.0 */
/* accounts.c: sigreqctl user disable, enable, rename and delete, org show, rename and delete, token revoke. */
#include "ctl/ctl.h"

#include <string.h>

static sr_error_t *set_disabled(ctl_t *ctl, bool disabled)
{
    const sr_user_row_t *user;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(ctl_find_user(ctl, &user));
    SR_TRY(sr_store_admin_user_disable(ctl->database, &outcome, &user, user->uuid, disabled, sr_time_now(), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_USER, NULL));
    return ctl_print_row(ctl, SR_OP_ADMIN_USER_DISABLE, user, ctl_user_columns);
}

sr_error_t *ctl_user_disable(ctl_t *ctl)
{
    return set_disabled(ctl, true);
}

sr_error_t *ctl_user_enable(ctl_t *ctl)
{
    return set_disabled(ctl, false);
}

sr_error_t *ctl_user_rename(ctl_t *ctl)
{
    const char *firstname = ctl->values[OPTION_FIRSTNAME], *lastname = ctl->values[OPTION_LASTNAME],
               *email = ctl->values[OPTION_EMAIL];
    const sr_user_row_t *user;
    sr_outcome_t outcome;
    if (!firstname && !lastname && !email)
        return sr_error(ctl->pool, SR_EBADREQUEST, "--firstname, --lastname or --email is required");
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(ctl_find_user(ctl, &user));
    SR_TRY(
        sr_store_admin_user_rename(ctl->database, &outcome, &user, user->uuid, firstname, lastname, email, ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_USER, "The organization has a user with this email"));
    return ctl_print_row(ctl, SR_OP_ADMIN_USER_RENAME, user, ctl_user_columns);
}

/* --- deletion. `organization` or `user` is a uuid, and the other one NULL. */

static sr_error_t *has_submissions(ctl_t *ctl, const char *organization, const char *user)
{
    const sr_remains_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_admin_remains(ctl->database, &outcome, &row, organization, user, ctl->pool));
    const char *who = user ? "user" : "organization";
    if (ctl->given[OPTION_ERASE])
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "The %s has %" APR_INT64_T_FMT " open submissions, and %" APR_INT64_T_FMT
                        " under legal hold: the %s was not deleted. 'submission cancel' closes the open ones, "
                        "'submission release' ends a hold",
                        who, row->open, row->held, who);
    return sr_error(ctl->pool, SR_ECONFLICT,
                    "The %s has %" APR_INT64_T_FMT " open and %" APR_INT64_T_FMT
                    " other submissions: nothing was deleted. %s instead, or erase what is closed with --erase",
                    who, row->open, row->closed + row->deleted,
                    user ? "Disable the user" : "Disable its users, or revoke its tokens");
}

/* Opens the database and, for --erase, the documents. */
static sr_error_t *open_for_deletion(ctl_t *ctl, sr_blobs_t **documents)
{
    *documents = NULL;
    return ctl->given[OPTION_ERASE] ? ctl_open_documents(ctl, documents) : ctl_open_store(ctl);
}

/* `shown` is printed afterwards. Takes over its reference. */
static sr_error_t *delete_people(ctl_t *ctl, sr_blobs_t *documents, const char *organization, const char *user,
                                 json_t *shown, const char *const *columns)
{
    apr_int64_t erased = 0;
    sr_outcome_t outcome = SR_OK;
    sr_json_own(shown, ctl->pool);
    if (documents) SR_TRY(ctl_erase_people(ctl, &outcome, &erased, documents, organization, user));
    if (outcome == SR_OK)
        SR_TRY(sr_store_admin_people_delete(ctl->database, &outcome, organization, user, documents != NULL, ctl->pool));
    if (outcome == SR_CONFLICT) return has_submissions(ctl, organization, user);
    SR_TRY(ctl_refusal(ctl, outcome, user ? CTL_NO_USER : CTL_NO_ORGANIZATION, NULL));
    if (documents) json_object_set_new(shown, "erased", json_integer(erased));
    ctl_print(ctl, json_incref(shown), columns);
    return NULL;
}

sr_error_t *ctl_user_delete(ctl_t *ctl)
{
    const sr_user_row_t *user;
    sr_blobs_t *documents;
    SR_TRY(open_for_deletion(ctl, &documents));
    SR_TRY(ctl_find_user(ctl, &user));
    return delete_people(ctl, documents, NULL, user->uuid, ctl_row_json(SR_OP_ADMIN_USER_FIND, user), ctl_user_columns);
}

sr_error_t *ctl_org_delete(ctl_t *ctl)
{
    const sr_organization_row_t *row;
    sr_blobs_t *documents;
    sr_outcome_t outcome;
    SR_TRY(open_for_deletion(ctl, &documents));
    SR_TRY(
        sr_store_admin_organization_find(ctl->database, &outcome, &row, ctl->values[OPTION_ORGANIZATION], ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_ORGANIZATION, NULL));
    return delete_people(ctl, documents, row->uuid, NULL, ctl_row_json(SR_OP_ADMIN_ORGANIZATION_FIND, row),
                         ctl_organization_columns);
}

sr_error_t *ctl_org_show(ctl_t *ctl)
{
    static const char *const columns[] = {"uuid", "name", "quota",  "used",    "created_at",
                                          "open", "held", "closed", "deleted", NULL};
    const sr_organization_row_t *row;
    const sr_remains_row_t *remains;
    apr_array_header_t *users, *tokens;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(
        sr_store_admin_organization_find(ctl->database, &outcome, &row, ctl->values[OPTION_ORGANIZATION], ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_ORGANIZATION, NULL));
    SR_TRY(sr_store_admin_remains(ctl->database, &outcome, &remains, row->uuid, NULL, ctl->pool));
    SR_TRY(sr_store_admin_user_list(ctl->database, &outcome, &users, row->uuid, ctl->pool));
    SR_TRY(sr_store_admin_token_list(ctl->database, &outcome, &tokens, row->uuid, NULL, sr_time_now(), 0, ctl->pool));
    json_t *shown = sr_json_own(ctl_row_json(SR_OP_ADMIN_ORGANIZATION_FIND, row), ctl->pool);
    json_object_update_new(shown, ctl_row_json(SR_OP_ADMIN_REMAINS, remains));
    json_object_set_new(shown, "users", ctl_rows_json(SR_OP_ADMIN_USER_LIST, users));
    json_object_set_new(shown, "tokens", ctl_rows_json(SR_OP_ADMIN_TOKEN_LIST, tokens));
    ctl_print(ctl, json_incref(shown), columns);
    if (ctl->given[OPTION_JSON]) return NULL;
    ctl_print_part(ctl, "users", json_object_get(shown, "users"), ctl_user_columns);
    ctl_print_part(ctl, "tokens", json_object_get(shown, "tokens"), ctl_token_columns);
    return NULL;
}

sr_error_t *ctl_org_rename(ctl_t *ctl)
{
    const sr_organization_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_organization_rename(ctl->database, &outcome, &row, ctl->values[OPTION_ORGANIZATION],
                                              ctl->values[OPTION_NAME], ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_ORGANIZATION, "An organization of this name exists"));
    return ctl_print_row(ctl, SR_OP_ADMIN_ORGANIZATION_RENAME, row, ctl_organization_columns);
}

/* --- token revoke: one token, or all of a user or an organisation */

static sr_error_t *revoke_one(ctl_t *ctl)
{
    const bool children = ctl->given[OPTION_CHILDREN];
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(sr_store_admin_token_revoke(ctl->database, &outcome, &rows, ctl->values[OPTION_UUID], sr_time_now(),
                                       children, ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_TOKEN, NULL));
    if (children) return ctl_print_rows(ctl, SR_OP_ADMIN_TOKEN_REVOKE, rows, ctl_token_columns);
    return ctl_print_row(ctl, SR_OP_ADMIN_TOKEN_REVOKE, rows->elts, ctl_token_columns);
}

static sr_error_t *revoke_all(ctl_t *ctl)
{
    const sr_organization_row_t *organization = NULL;
    const sr_user_row_t *user = NULL;
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    if (ctl->given[OPTION_USER]) SR_TRY(ctl_find_user(ctl, &user));
    else {
        SR_TRY(sr_store_admin_organization_find(ctl->database, &outcome, &organization,
                                                ctl->values[OPTION_ORGANIZATION], ctl->pool));
        SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_ORGANIZATION, NULL));
    }
    SR_TRY(sr_store_admin_token_revoke_all(ctl->database, &outcome, &rows, organization ? organization->uuid : NULL,
                                           user ? user->uuid : NULL, sr_time_now(), ctl->pool));
    return ctl_print_rows(ctl, SR_OP_ADMIN_TOKEN_REVOKE_ALL, rows, ctl_token_columns);
}

sr_error_t *ctl_token_revoke(ctl_t *ctl)
{
    const bool all = ctl->given[OPTION_USER] || ctl->given[OPTION_ORGANIZATION];
    if (!all && !ctl->given[OPTION_UUID])
        return sr_error(ctl->pool, SR_EBADREQUEST, "--uuid, --user or --organization is required");
    if (all && (ctl->given[OPTION_UUID] || ctl->given[OPTION_CHILDREN]))
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "--uuid and --children name one token, --user and --organization name all tokens");
    SR_TRY(ctl_open_store(ctl));
    return all ? revoke_all(ctl) : revoke_one(ctl);
}
