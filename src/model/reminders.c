/* SPDX-License-Identifier: Apache-2.0 */
/* reminders.c: reminders of signers who are due: what a creation may say about automatic ones, when the next one is
 * due, and who can be reminded. */
#include "model/model.h"

#include <string.h>

#define SHORTEST apr_time_from_sec(3600)
#define LONGEST apr_time_from_sec(APR_INT64_C(365) * 24 * 3600)
#define MOST 5
#define PAUSE apr_time_from_sec(600) /* between a reminder and one on request */

/* --- what a creation says */

static sr_error_t *read_interval(const char **text, apr_interval_time_t *interval, const json_t *object,
                                 const char *name, apr_pool_t *pool)
{
    *text = sr_json_string(object, name);
    if (!*text || !sr_duration_parse(interval, *text))
        return sr_error(pool, SR_EBADREQUEST,
                        "reminders: %s must be an ISO 8601 duration in weeks, days, hours, minutes or seconds, such as "
                        "P3D",
                        name);
    if (*interval < SHORTEST || *interval > LONGEST)
        return sr_error(pool, SR_EBADREQUEST, "reminders: %s must be from 1 hour to 365 days", name);
    return NULL;
}

static sr_error_t *read_members(sr_reminders_t *reminders, const json_t *object, apr_pool_t *pool)
{
    const json_t *most = json_object_get(object, "most"), *value;
    const char *name;
    json_object_foreach ((json_t *)object, name, value)
        if (strcmp(name, "after") != 0 && strcmp(name, "every") != 0 && strcmp(name, "most") != 0)
            return sr_error(pool, SR_EBADREQUEST, "reminders: unknown member %s", sr_remark_name(name, pool));
    SR_TRY(read_interval(&reminders->after_text, &reminders->after, object, "after", pool));
    SR_TRY(read_interval(&reminders->every_text, &reminders->every, object, "every", pool));
    if (!json_is_integer(most) || json_integer_value(most) < 1 || json_integer_value(most) > MOST)
        return sr_error(pool, SR_EBADREQUEST, "reminders: most must be an integer from 1 to %d", MOST);
    reminders->most = (int)json_integer_value(most);
    return NULL;
}

sr_error_t *sr_reminders_read(sr_reminders_t *reminders, const char *text, apr_size_t length, bool send_email,
                              apr_pool_t *pool)
{
    json_t *object;
    *reminders = (sr_reminders_t){0};
    if (!text || !length) return NULL;
    sr_error_t *error = sr_json_parse(&object, text, length, pool);
    if (error && error->code != SR_EBADREQUEST) return error;
    if (error) return sr_error(pool, SR_EBADREQUEST, "reminders must be a JSON object: %s", error->message);
    if (!json_is_object(object)) return sr_error(pool, SR_EBADREQUEST, "reminders must be a JSON object");
    SR_TRY(read_members(reminders, object, pool));
    return send_email ? NULL : sr_error(pool, SR_EBADREQUEST, "reminders: sendEmail must be true");
}

json_t *sr_reminders_json(const sr_reminders_t *reminders)
{
    json_t *object = json_object();
    json_object_set_new(object, "after", json_string(reminders->after_text));
    json_object_set_new(object, "every", json_string(reminders->every_text));
    json_object_set_new(object, "most", json_integer(reminders->most));
    return object;
}

bool sr_reminders_parse(sr_reminders_t *reminders, const json_t *stored)
{
    *reminders = (sr_reminders_t){0};
    if (!stored || json_is_null(stored)) return true;
    *reminders = (sr_reminders_t){.after_text = sr_json_string(stored, "after"),
                                  .every_text = sr_json_string(stored, "every"),
                                  .most = (int)json_integer_value(json_object_get(stored, "most")),
                                  .mail = json_object_get(stored, "mail")};
    return reminders->after_text && reminders->every_text && sr_duration_parse(&reminders->after, reminders->after_text)
           && sr_duration_parse(&reminders->every, reminders->every_text);
}

/* --- when */

static bool is_due(const sr_signer_t *signer)
{
    return signer->state == SR_SIGNER_SENT || signer->state == SR_SIGNER_OPENED;
}

apr_time_t sr_signer_remind_at(const sr_submission_t *submission, const sr_signer_t *signer)
{
    const sr_reminders_t *reminders = &submission->reminders;
    if (!is_due(signer) || !signer->email || signer->reminders >= reminders->most) return 0;
    const apr_time_t due_at = signer->due_at ? signer->due_at : submission->created_at;
    const apr_time_t first = signer->reminders ? 0 : due_at + reminders->after;
    const apr_time_t again = signer->reminded_at ? signer->reminded_at + reminders->every : 0;
    return first > again ? first : again;
}

apr_time_t sr_submission_remind_at(const sr_submission_t *submission)
{
    apr_time_t next = 0;
    if (!submission->reminders.most || submission->state != SR_SUBMISSION_OPEN) return 0;
    for (int i = 0; i < submission->signers->nelts; i++) {
        const apr_time_t at = sr_signer_remind_at(submission, &APR_ARRAY_IDX(submission->signers, i, sr_signer_t));
        if (at && (!next || at < next)) next = at;
    }
    return next;
}

/* --- reminding */

sr_error_t *sr_submission_may_remind(const sr_submission_t *submission, const sr_signer_t *signer, apr_time_t now,
                                     apr_pool_t *pool)
{
    SR_TRY(sr_submission_may(submission, SR_ACTION_CANCEL, pool)); /* which is possible while it is open */
    if (signer->state == SR_SIGNER_COMPLETED) return sr_error(pool, SR_ECONFLICT, "This signer has signed already");
    if (!is_due(signer)) return sr_error(pool, SR_ECONFLICT, "It is not this signer's turn yet");
    if (!signer->email) return sr_error(pool, SR_ECONFLICT, "This signer has no email");
    const apr_interval_time_t wait = signer->reminded_at ? signer->reminded_at + PAUSE - now : 0;
    if (wait <= 0) return NULL;
    const int seconds = (int)((wait + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC);
    return sr_error_retry(
        sr_error(pool, SR_ETOOMANY, "This signer was reminded less than 10 minutes ago, try again in %d s", seconds),
        wait);
}

void sr_signer_remind(sr_signer_t *signer, apr_time_t when, bool automatic)
{
    signer->reminded_at = when;
    if (automatic) signer->reminders++;
}
