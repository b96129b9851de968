/* SPDX-License-Identifier: Apache-2.0 */
/* remind.c: reminders by mail, on request and automatic ones. The transition that records a reminder also writes the
 * job that sends it, so it is sent once at most, and none is recorded after an end. The job asks again whether the
 * signer is due before it sends the mail (jobs/kinds.c).
 *
 * A job of the kind "remind" makes the automatic ones. The job thread knows no location, so the column `reminders` has
 * what it needs of the location of the creation: "mail" is {"baseUrl","theme","limits":[times, period, …]}, with the
 * limits by sr_mail_rate_of_t. */
#include "service/submissions/invite.h"
#include "service/submissions/transition.h"

typedef struct reminding_t {
    const char *signer;          /* the uuid of the signer to remind, on request; NULL: all whose reminder is due */
    const sr_subject_t *subject; /* who requests it */
    apr_array_header_t *taken;   /* sr_inviting_t: what was counted */
    sr_inviter_t inviter;
    apr_time_t next; /* when the next automatic one is due, by the database's clock; 0: there is none */
} reminding_t;

/* --- the location of the creation */

json_t *sr_service_reminders(const sr_service_t *service, const sr_reminders_t *reminders, apr_pool_t *pool)
{
    json_t *stored = sr_json_own(sr_reminders_json(reminders), pool), *mail = json_object(), *limits = json_array();
    for (int i = 0; i < SR_MAIL_RATE_COUNT; i++) {
        json_array_append_new(limits, json_integer(service->settings->mail_rates.of[i].times));
        json_array_append_new(limits, json_integer(service->settings->mail_rates.of[i].period));
    }
    json_object_set_new(mail, "baseUrl", sr_json_string_or_null(service->set_base_url));
    json_object_set(mail, "theme", sr_service_theme(service, pool));
    json_object_set_new(mail, "limits", limits);
    json_object_set_new(stored, "mail", mail);
    return stored;
}

/* Returns settings with the limits of mail alone. */
static const sr_settings_t *remind_settings_of(const json_t *mail, apr_pool_t *pool)
{
    const json_t *limits = json_object_get(mail, "limits");
    sr_settings_t *settings = apr_pcalloc(pool, sizeof *settings);
    sr_rates_t *rates = &settings->mail_rates;
    for (size_t i = 0; i < SR_MAIL_RATE_COUNT; i++) {
        rates->of[i].times = (apr_uint32_t)json_integer_value(json_array_get(limits, 2 * i));
        rates->of[i].period = (apr_interval_time_t)json_integer_value(json_array_get(limits, 2 * i + 1));
    }
    return settings;
}

/* --- recording reminders */

static void remind_give_back(reminding_t *reminding)
{
    for (int i = 0; i < reminding->taken->nelts; i++)
        sr_invite_give_back(&APR_ARRAY_IDX(reminding->taken, i, sr_inviting_t));
    apr_array_clear(reminding->taken);
}

/* Reminds one signer, unless the limits of mail forbid it (SR_ETOOMANY). */
static sr_error_t *remind(const sr_service_t *service, sr_transition_t *transition, reminding_t *reminding,
                          sr_signer_t *signer)
{
    sr_signing_t *signing = transition->signing;
    const bool automatic = !reminding->signer;
    sr_inviting_t inviting = {service, signing->organization_uuid, signing->environment, NULL};
    SR_TRY(sr_invite_take_one(&inviting, signer->email, transition->pool));
    APR_ARRAY_PUSH(reminding->taken, sr_inviting_t) = inviting;
    sr_signer_remind(signer, signing->clock, automatic);
    signing->submission.updated_at = transition->now;
    sr_transition_change(transition, signer);
    json_t *detail = json_pack("{s:b}", "automatic", automatic);
    if (!automatic) sr_subject_note(detail, reminding->subject);
    sr_transition_event(transition, signer->uuid, "reminded", detail);
    json_array_append_new(transition->jobs,
                          sr_reminder_row(&signing->submission, signer, &reminding->inviter, transition->pool));
    return NULL;
}

/* --- on request */

static sr_error_t *remind_one(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    reminding_t *reminding = baton;
    sr_signing_t *signing = transition->signing;
    sr_signer_t *signer = sr_submission_signer(&signing->submission, reminding->signer);
    remind_give_back(reminding); /* of an attempt before this one */
    if (!signer) return sr_error(transition->pool, SR_ENOTFOUND, "Not found");
    SR_TRY(sr_submission_may_remind(&signing->submission, signer, signing->clock, transition->pool));
    if (!sr_address_of(signer->email, transition->pool))
        return sr_error(transition->pool, SR_ECONFLICT, "No mail can be sent to the email of this signer");
    return remind(service, transition, reminding, signer);
}

sr_error_t *sr_service_remind(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                              const char *signer, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    reminding_t reminding = {
        .signer = signer, .subject = &subject, .taken = apr_array_make(pool, 1, sizeof(sr_inviting_t))};
    sr_signing_t *signing;
    SR_TRY(sr_service_subject(service, &signing, &subject, pool));
    if (!sr_submission_signer(&signing->submission, signer)) return sr_error(pool, SR_ENOTFOUND, "Not found");
    if (!service->child->sends_mail)
        return sr_error(pool, SR_EUNAVAILABLE, "This service sends no mail (SigreqSMTP): nobody can be reminded");
    if (!caller->token_hash && !signing->submission.send_email)
        return sr_error(pool, SR_ECONFLICT,
                        "This submission was created without sendEmail: the caller sends the links");
    const sr_service_t own = sr_service_for_subject(service, &subject, signing);
    reminding.inviter =
        (sr_inviter_t){signing->organization, signing->environment, own.set_base_url, sr_service_theme(&own, pool)};
    sr_error_t *error = sr_transition_take(service, &signing, &subject, &caller->client, remind_one, &reminding, pool);
    if (error) remind_give_back(&reminding);
    SR_TRY(error);
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}

/* --- automatic ones */

/* Reminds a signer whose reminder is due. *at is when their next one is due: if the limits of mail forbid this one,
 * when they allow it. */
static sr_error_t *remind_in_time(const sr_service_t *service, sr_transition_t *transition, reminding_t *reminding,
                                  sr_signer_t *signer, apr_time_t *at)
{
    const sr_signing_t *signing = transition->signing;
    if (*at > signing->clock) return NULL;
    sr_error_t *error = remind(service, transition, reminding, signer);
    if (error && error->code != SR_ETOOMANY) return error;
    *at = error ? signing->clock + apr_time_from_sec(error->retry_after)
                : sr_signer_remind_at(&signing->submission, signer);
    return NULL;
}

static sr_error_t *remind_due(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    reminding_t *reminding = baton;
    const sr_submission_t *submission = &transition->signing->submission;
    remind_give_back(reminding); /* of an attempt before this one */
    reminding->next = 0;
    if (submission->late || !sr_submission_remind_at(submission)) return NULL;
    const json_t *mail = submission->reminders.mail;
    sr_service_t own = *service;
    own.settings = remind_settings_of(mail, transition->pool);
    reminding->inviter = (sr_inviter_t){transition->signing->organization, transition->signing->environment,
                                        sr_json_string(mail, "baseUrl"), json_object_get(mail, "theme")};
    for (int i = 0; i < submission->signers->nelts; i++) {
        sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        apr_time_t at = sr_signer_remind_at(submission, signer);
        if (at) SR_TRY(remind_in_time(&own, transition, reminding, signer, &at));
        if (at && (!reminding->next || at < reminding->next)) reminding->next = at;
    }
    transition->remind_at = reminding->next;
    return NULL;
}

sr_error_t *sr_service_remind_due(const sr_service_t *service, apr_interval_time_t *again, const char *uuid,
                                  apr_pool_t *pool)
{
    const sr_subject_t subject = {.submission = uuid};
    reminding_t reminding = {.taken = apr_array_make(pool, 4, sizeof(sr_inviting_t))};
    sr_signing_t *signing;
    sr_error_t *error = sr_transition_run(service, &signing, &subject, NULL, remind_due, &reminding, pool);
    if (error) remind_give_back(&reminding);
    if (error) return sr_transition_error(error);
    /* a transition has written the job for the next one; without one, this job is needed again */
    if (!reminding.taken->nelts && reminding.next) *again = reminding.next - signing->clock;
    return NULL;
}
