/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c: sigreqctl submission, stats and delivery: shows submissions and calls of webhooks of all organisations,
 * cancels submissions or changes them for support, and repeats calls. */
#include "ctl/ctl.h"

#include "service/setup.h"

#define ROWS "100"

static const char no_submission[] = "There is no such submission";

static apr_int64_t rows_wanted(const ctl_t *ctl)
{
    return apr_atoi64(ctl->given[OPTION_LIMIT] ? ctl->values[OPTION_LIMIT] : ROWS);
}

/* Returns a time that was given as an option, or 0. */
static apr_time_t requests_time_of(const ctl_t *ctl, ctl_option_id_t option)
{
    return ctl->given[option] ? apr_atoi64(ctl->values[option]) : 0;
}

sr_error_t *ctl_submission_list(ctl_t *ctl)
{
    static const char *const columns[] = {"uuid",    "organization", "email",   "environment", "state", "completed",
                                          "signers", "created_at",   "held_at", "name",        NULL};
    const sr_user_row_t *user = NULL;
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    if (ctl->given[OPTION_USER]) SR_TRY(ctl_find_user(ctl, &user));
    const char *name = ctl->values[OPTION_NAME];
    if (name) name = sr_text_fold(sr_text_trimmed(name, ctl->pool), ctl->pool);
    SR_TRY(sr_store_admin_submission_list(
        ctl->database, &outcome, &rows, ctl->values[OPTION_ORGANIZATION], user ? user->uuid : NULL,
        ctl->values[OPTION_ENVIRONMENT], ctl->values[OPTION_STATUS], ctl->values[OPTION_BEFORE], rows_wanted(ctl),
        ctl->values[OPTION_BY_SIGNER], requests_time_of(ctl, OPTION_SINCE), requests_time_of(ctl, OPTION_UNTIL), name,
        ctl->values[OPTION_EXTERNAL_ID], ctl->pool));
    SR_TRY(
        ctl_refusal(ctl, outcome, "There is no such organization, or no submission with the uuid of --before", NULL));
    return ctl_print_rows(ctl, SR_OP_ADMIN_SUBMISSION_LIST, rows, columns);
}

sr_error_t *ctl_stats(ctl_t *ctl)
{
    static const char *const columns[] = {"month",     "organization", "environment", "created",
                                          "completed", "refused",      "bytes",       NULL};
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_stats(ctl->database, &outcome, &rows, ctl->values[OPTION_ORGANIZATION],
                                requests_time_of(ctl, OPTION_SINCE), requests_time_of(ctl, OPTION_UNTIL), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, CTL_NO_ORGANIZATION, NULL));
    return ctl_print_rows(ctl, SR_OP_ADMIN_STATS, rows, columns);
}

/* Prints a submission as it is now. */
static sr_error_t *requests_show(ctl_t *ctl)
{
    static const char *const columns[] = {"uuid",    "name",        "organization",  "email",       "environment",
                                          "state",   "created_at",  "updated_at",    "expires_at",  "closed_at",
                                          "held_at", "hold_reason", "cancel_reason", "external_id", NULL};
    static const char *const people[] = {"link",         "state",      "identity",  "email",    "due_at", "opened_at",
                                         "completed_at", "refused_at", "firstname", "lastname", NULL};
    static const char *const documents[] = {"uuid", "size", "revisions", "sha256", "name", NULL};
    static const char *const events[] = {"number", "at", "event", "link", "hash", NULL};
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *shown;
    SR_TRY(sr_store_admin_submission_get(ctl->database, &outcome, &row, ctl->values[OPTION_UUID], ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, no_submission, NULL));
    SR_TRY(sr_json_read(&shown, row->body, ctl->pool));
    ctl_print(ctl, json_incref(shown), columns);
    if (ctl->given[OPTION_JSON]) return NULL;
    ctl_print_part(ctl, "signers", json_object_get(shown, "people"), people);
    ctl_print_part(ctl, "documents", json_object_get(shown, "documents"), documents);
    ctl_print_part(ctl, "events", json_object_get(shown, "events"), events);
    return NULL;
}

sr_error_t *ctl_submission_show(ctl_t *ctl)
{
    SR_TRY(ctl_open_store(ctl));
    return requests_show(ctl);
}

/* Returns the message for a submission that is not there as the other commands give it. */
static sr_error_t *said(const ctl_t *ctl, sr_error_t *error)
{
    if (error && error->code == SR_EGONE) return sr_error(ctl->pool, SR_ECONFLICT, "%s", error->message);
    return error && error->code == SR_ENOTFOUND ? sr_error(ctl->pool, SR_ENOTFOUND, no_submission) : error;
}

sr_error_t *ctl_submission_cancel(ctl_t *ctl)
{
    SR_TRY(ctl_open_store(ctl));
    const sr_service_t service = {.database = ctl->database};
    SR_TRY(said(ctl, sr_service_withdraw(&service, ctl->values[OPTION_UUID], ctl->values[OPTION_REASON], ctl->pool)));
    return requests_show(ctl);
}

/* --- what its caller could do, for support */

sr_error_t *ctl_submission_extend(ctl_t *ctl)
{
    const char *expires = sr_time_format(apr_atoi64(ctl->values[OPTION_EXPIRES]), ctl->pool), *view;
    const sr_caller_t caller = {.submission = ctl->values[OPTION_UUID]};
    apr_time_t expires_at;
    SR_TRY(sr_deadline_read(&expires_at, expires, sr_time_now(), ctl->pool));
    SR_TRY(ctl_open_store(ctl));
    const sr_service_t service = {.database = ctl->database};
    SR_TRY(said(ctl, sr_service_extend(&service, &view, &caller, expires_at, ctl->pool)));
    return requests_show(ctl);
}

/* Makes a service that writes mail, and finds the signers that are meant (const char *, uuids). */
static sr_error_t *find_signers(ctl_t *ctl, sr_service_t *service, apr_array_header_t **signers)
{
    static const ctl_option_id_t wanted[] = {OPTION_THEME, OPTION_COUNT};
    static const sr_child_t child = {.sends_mail = true};
    static sr_settings_t settings; /* without limits of mail */
    const char *which = ctl->values[OPTION_ONE_SIGNER];
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(ctl_read_config(ctl, wanted, 1, true));
    settings.theme = ctl->values[OPTION_THEME];
    *service = (sr_service_t){.child = &child, .settings = &settings, .database = ctl->database};
    SR_TRY(said(ctl, sr_service_signers(service, signers, ctl->values[OPTION_UUID], which, ctl->pool)));
    if ((*signers)->nelts) return NULL;
    if (which) return sr_error(ctl->pool, SR_ENOTFOUND, "The submission has no such signer");
    return sr_error(ctl->pool, SR_ECONFLICT, "It is nobody's turn to sign");
}

/* *uuid is the only one of the signers. */
static sr_error_t *requests_one(const ctl_t *ctl, const char **uuid, const apr_array_header_t *signers)
{
    if (signers->nelts > 1)
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "%d signers have this email: give --signer the link that 'submission show' shows",
                        signers->nelts);
    *uuid = APR_ARRAY_IDX(signers, 0, const char *);
    return NULL;
}

/* Goes on after an error, because a signer may have been reminded a moment ago. */
sr_error_t *ctl_submission_resend(ctl_t *ctl)
{
    const sr_caller_t caller = {.submission = ctl->values[OPTION_UUID]};
    apr_array_header_t *signers;
    sr_error_t *first = NULL;
    sr_service_t service;
    SR_TRY(find_signers(ctl, &service, &signers));
    for (int i = 0; i < signers->nelts; i++) {
        const char *view;
        sr_error_t *error =
            sr_service_remind(&service, &view, &caller, APR_ARRAY_IDX(signers, i, const char *), ctl->pool);
        if (error && error->code == SR_ETOOMANY) error = sr_error(ctl->pool, SR_ECONFLICT, "%s", error->message);
        if (!first) first = error;
    }
    SR_TRY(said(ctl, first));
    return requests_show(ctl);
}

sr_error_t *ctl_submission_replace(ctl_t *ctl)
{
    const sr_caller_t caller = {.submission = ctl->values[OPTION_UUID]};
    json_t *person = json_pack("{s:s,s:s,s:s}", "firstname", ctl->values[OPTION_FIRSTNAME], "lastname",
                               ctl->values[OPTION_LASTNAME], "email", ctl->values[OPTION_EMAIL]);
    sr_replace_t request = {.person = sr_json_own(person, ctl->pool)};
    apr_array_header_t *signers;
    sr_service_t service;
    const char *view;
    SR_TRY(find_signers(ctl, &service, &signers));
    SR_TRY(requests_one(ctl, &request.signer, signers));
    SR_TRY(said(ctl, sr_service_replace(&service, &view, &caller, &request, ctl->pool)));
    return requests_show(ctl);
}

sr_error_t *ctl_submission_unlock(ctl_t *ctl)
{
    const sr_caller_t caller = {.submission = ctl->values[OPTION_UUID]};
    apr_array_header_t *signers;
    sr_service_t service;
    const char *signer = NULL, *view;
    SR_TRY(find_signers(ctl, &service, &signers));
    SR_TRY(requests_one(ctl, &signer, signers));
    SR_TRY(said(ctl, sr_service_unlock(&service, &view, &caller, signer, ctl->pool)));
    return requests_show(ctl);
}

static sr_error_t *requests_hold(ctl_t *ctl, const char *reason)
{
    SR_TRY(ctl_open_store(ctl));
    const sr_service_t service = {.database = ctl->database};
    SR_TRY(said(ctl, sr_service_hold(&service, ctl->values[OPTION_UUID], reason, ctl->pool)));
    return requests_show(ctl);
}

sr_error_t *ctl_submission_hold(ctl_t *ctl)
{
    return requests_hold(ctl, ctl->values[OPTION_REASON]);
}

sr_error_t *ctl_submission_release(ctl_t *ctl)
{
    return requests_hold(ctl, NULL);
}

/* --- deliveries */

static const char *const delivery_columns[] = {"event_id", "event",      "success", "status", "error",
                                               "ended_at", "submission", "url",     NULL};

sr_error_t *ctl_delivery_list(ctl_t *ctl)
{
    const bool success = false;
    apr_array_header_t *rows;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_delivery_list(ctl->database, &outcome, &rows, ctl->values[OPTION_ORGANIZATION],
                                        ctl->values[OPTION_SUBMISSION], ctl->given[OPTION_FAILED] ? &success : NULL,
                                        ctl->values[OPTION_BEFORE], rows_wanted(ctl), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome,
                       "There is no such organization or submission, or no call with the uuid of --before", NULL));
    return ctl_print_rows(ctl, SR_OP_ADMIN_DELIVERY_LIST, rows, delivery_columns);
}

sr_error_t *ctl_delivery_redeliver(ctl_t *ctl)
{
    const sr_delivery_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(sr_store_admin_redeliver(ctl->database, &outcome, &row, ctl->values[OPTION_UUID], sr_uuid_make(ctl->pool),
                                    sr_time_now(), ctl->pool));
    SR_TRY(ctl_refusal(ctl, outcome, "There is no such event, or its first call is not over", SR_REDELIVERY_NO_URL));
    if (outcome == SR_STALE) return sr_error(ctl->pool, SR_ECONFLICT, SR_REDELIVERY_QUEUED);
    if (outcome == SR_QUOTA)
        return sr_error(ctl->pool, SR_ECONFLICT,
                        SR_REDELIVERY_RECENT ": it may be repeated 5 times in a minute, and an invitation once in 10 "
                                             "minutes");
    return ctl_print_row(ctl, SR_OP_ADMIN_REDELIVER, row, delivery_columns);
}
