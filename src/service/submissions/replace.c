/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c: another person takes the place of a signer who has neither signed nor refused. They get a link of their
 * own, and the old one ends with the commit. Fields, order and the names of fields in PDFs stay. */
#include "service/submissions/invite.h"
#include "service/submissions/transition.h"

typedef struct replacing_t {
    const sr_replace_t *request;
    const sr_subject_t *subject;
    sr_signer_t person; /* as they were sent */
} replacing_t;

static const sr_replacement_arg_t *replacement_of(const sr_submission_t *submission, const sr_signer_t *signer,
                                                  apr_pool_t *pool)
{
    sr_replacement_arg_t *row = apr_palloc(pool, sizeof *row);
    *row = (sr_replacement_arg_t){.old = signer->replaces,
                                  .position = signer - (const sr_signer_t *)submission->signers->elts,
                                  .uuid = signer->uuid,
                                  .state = sr_signer_state_name(signer->state),
                                  .firstname = signer->firstname,
                                  .lastname = signer->lastname,
                                  .email = signer->email,
                                  .locale = signer->locale,
                                  .alias = signer->alias,
                                  .due_at = signer->due_at,
                                  .search = sr_submission_search_text(submission, pool),
                                  .authentication = sr_authentication_json(signer->authentication, pool)};
    return row;
}

static sr_error_t *replace_find(sr_signer_t **signer, sr_submission_t *submission, const replacing_t *replacing,
                                apr_pool_t *pool)
{
    *signer = sr_submission_signer(submission, replacing->request->signer);
    if (!*signer) return sr_error(pool, SR_ENOTFOUND, "Not found");
    return sr_submission_may_replace(submission, *signer, pool);
}

/* Without a new check of the identity, the new signer has the one of the old signer, if that is possible. */
static sr_error_t *replace_authentication(sr_signer_t *person, const replacing_t *replacing,
                                          const sr_authentication_t *before, apr_pool_t *pool)
{
    if (json_object_get(replacing->request->person, "authentication")) return NULL;
    const char *fault = sr_authentication_carry(&person->authentication, before, person->email, pool);
    return fault ? sr_error(pool, SR_EBADREQUEST, "%s", fault) : NULL;
}

static sr_error_t *replace(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const replacing_t *replacing = baton;
    sr_submission_t *submission = &transition->signing->submission;
    sr_signer_t *signer, person = replacing->person;
    SR_TRY(replace_find(&signer, submission, replacing, transition->pool));
    SR_TRY(replace_authentication(&person, replacing, signer->authentication, transition->pool));
    if (signer->authentication)
        sr_transition_end_sessions(transition, apr_pmemdup(transition->pool, signer, sizeof *signer));
    sr_submission_replace(submission, signer, &person, transition->now, transition->pool);
    transition->replaced = replacement_of(submission, signer, transition->pool);
    json_t *detail = json_pack("{s:s,s:s,s:s,s:s,s:s?}", "signer", signer->uuid, "replaces", signer->replaces,
                               "firstname", signer->firstname, "lastname", signer->lastname, "email", signer->email);
    if (signer->authentication)
        json_object_set_new(detail, "authentication", sr_authentication_kind(signer->authentication));
    sr_subject_note(detail, replacing->subject);
    sr_transition_event(transition, NULL, "replaced", detail);
    if (signer->state != SR_SIGNER_WAITING) sr_transition_invite(service, transition, signer);
    return NULL;
}

/* Reads the new signer. The hash of a code takes too long to make it under the lock. */
static sr_error_t *replace_read(const sr_service_t *service, replacing_t *replacing, sr_signing_t *signing,
                                apr_pool_t *pool)
{
    const json_t *person = replacing->request->person;
    sr_signer_t *signer;
    SR_TRY(replace_find(&signer, &signing->submission, replacing, pool));
    SR_TRY(sr_signer_read_person(&replacing->person, person, signing->submission.send_email, pool));
    sr_authentication_t *authentication = replacing->person.authentication;
    SR_TRY(sr_authentication_check(service, authentication, pool));
    if (authentication) sr_authentication_hide(authentication, pool);
    return NULL;
}

/* The invitation of the new signer counts as those of a creation do. */
static sr_error_t *replace_count_invitation(sr_inviting_t *inviting, const sr_signing_t *signing,
                                            const sr_replace_t *request, apr_pool_t *pool)
{
    const char *email = sr_json_string(request->person, "email");
    return signing->submission.send_email && email ? sr_invite_take_one(inviting, email, pool) : NULL;
}

sr_error_t *sr_service_replace(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                               const sr_replace_t *request, apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    sr_signing_t *signing;
    SR_TRY(sr_service_subject(service, &signing, &subject, pool));
    const sr_service_t own = sr_service_for_subject(service, &subject, signing);
    replacing_t replacing = {.request = request, .subject = &subject};
    SR_TRY(replace_read(&own, &replacing, signing, pool));
    sr_inviting_t inviting = {service, signing->organization_uuid, signing->environment, NULL};
    SR_TRY(replace_count_invitation(&inviting, signing, request, pool));
    sr_error_t *error = sr_transition_take(&own, &signing, &subject, &caller->client, replace, &replacing, pool);
    if (error) sr_invite_give_back(&inviting);
    SR_TRY(error);
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}
