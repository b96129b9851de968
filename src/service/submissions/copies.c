/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c: mails to people who only look: copies of a completed submission, and the links of viewers. The transition
 * that completes the submission, or repeats the copies, also writes the jobs that send them, so each is sent once at
 * most. The creation has counted them (create.c), so the last signature is never refused for a limit of mails. */
#include "service/submissions/copies.h"

#include "service/submissions/invite.h"

typedef struct copying_t {
    const sr_subject_t *subject;
    sr_inviting_t inviting;
    sr_inviter_t inviter;
    const char *folder; /* the uuid of the folder of the documents */
} copying_t;

void sr_views_write(json_t *jobs, const sr_submission_t *submission, const sr_inviter_t *inviter, bool completed,
                    apr_pool_t *pool)
{
    const apr_array_header_t *viewers = sr_viewers_recipients(submission, completed, pool);
    for (int i = 0; i < viewers->nelts; i++)
        json_array_append_new(jobs, sr_view_row(submission, &APR_ARRAY_IDX(viewers, i, sr_recipient_t), inviter, pool));
}

static void add_copies(sr_transition_t *transition, const sr_inviter_t *inviter, const char *folder)
{
    sr_submission_t *submission = &transition->signing->submission;
    const apr_array_header_t *recipients = sr_copies_recipients(submission, transition->pool);
    for (int i = 0; i < recipients->nelts; i++)
        json_array_append_new(transition->jobs, sr_copy_row(submission, &APR_ARRAY_IDX(recipients, i, sr_recipient_t),
                                                            inviter, folder, transition->pool));
    submission->copied_at = transition->signing->clock;
}

/* The links are in use from now on. */
static void note_sent(sr_transition_t *transition, bool only_copies)
{
    const apr_array_header_t *viewers = transition->signing->submission.viewers;
    for (int i = 0; viewers && i < viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(viewers, i, sr_viewer_t);
        if (viewer->revoked_at || !(viewer->is_copy || (viewer->when_completed && !only_copies))) continue;
        APR_ARRAY_PUSH(transition->seen, sr_viewer_change_arg_t) =
            (sr_viewer_change_arg_t){.uuid = viewer->uuid, .sent_at = transition->signing->clock};
    }
}

sr_error_t *sr_copies_write(const sr_service_t *service, sr_transition_t *transition, sr_blobs_t *documents)
{
    const sr_signing_t *signing = transition->signing;
    apr_pool_t *pool = transition->pool;
    const sr_inviter_t inviter = {signing->organization, signing->environment, service->set_base_url,
                                  sr_service_theme(service, pool)};
    const char *folder = NULL;
    if (signing->submission.options.attach) SR_TRY(sr_contents_folder(&folder, documents, pool));
    if (signing->submission.options.copies) add_copies(transition, &inviter, folder);
    sr_views_write(transition->jobs, &signing->submission, &inviter, true, pool);
    note_sent(transition, false);
    return NULL;
}

/* --- counting */

static void list_addresses(apr_array_header_t *addresses, const apr_array_header_t *recipients)
{
    for (int i = 0; i < recipients->nelts; i++)
        APR_ARRAY_PUSH(addresses, const char *) = APR_ARRAY_IDX(recipients, i, sr_recipient_t).email;
}

int sr_copies_addresses(apr_array_header_t *addresses, const sr_submission_t *submission, apr_pool_t *pool)
{
    const int before = addresses->nelts;
    if (submission->options.copies) list_addresses(addresses, sr_copies_recipients(submission, pool));
    list_addresses(addresses, sr_viewers_recipients(submission, false, pool));
    list_addresses(addresses, sr_viewers_recipients(submission, true, pool));
    return addresses->nelts - before;
}

/* --- again, on request */

static sr_error_t *copy_again(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    copying_t *copying = baton;
    sr_signing_t *signing = transition->signing;
    apr_array_header_t *addresses = apr_array_make(transition->pool, 8, sizeof(const char *));
    (void)service;
    sr_invite_give_back(&copying->inviting); /* of an attempt before this one */
    SR_TRY(sr_copies_may_repeat(&signing->submission, signing->clock, transition->pool));
    list_addresses(addresses, sr_copies_recipients(&signing->submission, transition->pool));
    SR_TRY(sr_invite_take(&copying->inviting, addresses, addresses->nelts, transition->pool));
    sr_transition_ignore_deadline(transition);
    signing->submission.updated_at = transition->now;
    json_t *detail = json_pack("{s:i}", "mails", addresses->nelts);
    sr_subject_note(detail, copying->subject);
    sr_transition_event(transition, NULL, "copied", detail);
    add_copies(transition, &copying->inviter, copying->folder);
    note_sent(transition, true);
    return NULL;
}

sr_error_t *sr_service_copy(const sr_service_t *service, const char **representation, const sr_caller_t *caller,
                            apr_pool_t *pool)
{
    const sr_subject_t subject = {.token_hash = caller->token_hash, .submission = caller->submission};
    sr_signing_t *signing;
    sr_blobs_t *documents;
    SR_TRY(sr_service_subject(service, &signing, &subject, pool));
    SR_TRY(sr_copies_may_repeat(&signing->submission, signing->clock, pool));
    if (!service->child->sends_mail)
        return sr_error(pool, SR_EUNAVAILABLE, "This service sends no mail (SigreqSMTP): copies cannot be sent");
    copying_t copying = {.subject = &subject,
                         .inviting = {service, signing->organization_uuid, signing->environment, NULL},
                         .inviter = {signing->organization, signing->environment, service->set_base_url,
                                     sr_service_theme(service, pool)}};
    if (signing->submission.options.attach) {
        SR_TRY(sr_service_documents(&documents, service, pool));
        SR_TRY(sr_contents_folder(&copying.folder, documents, pool));
    }
    sr_error_t *error = sr_transition_take(service, &signing, &subject, &caller->client, copy_again, &copying, pool);
    if (error) sr_invite_give_back(&copying.inviting);
    SR_TRY(error);
    *representation = sr_submission_render(&signing->submission, pool);
    return NULL;
}
