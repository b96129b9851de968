/* SPDX-License-Identifier: Apache-2.0 */
/* recipients.c: who gets a copy of a completed submission, and who is told that they may look at one. */
#include "model/model.h"

#include <string.h>

#define PAUSE apr_time_from_sec(600) /* between two copies for the same recipients */

sr_recipient_t sr_signer_recipient(const sr_submission_t *submission, const sr_signer_t *signer, apr_pool_t *pool)
{
    return (sr_recipient_t){.email = signer->email,
                            .name = sr_person_name(signer->firstname, signer->lastname, pool),
                            .locale = signer->locale,
                            .path = sr_signature_path(signer, submission->skip_intro, pool)};
}

/* People who do not sign read the language of those who do. */
static sr_recipient_t viewer_recipient(const sr_submission_t *submission, const sr_viewer_t *viewer, apr_pool_t *pool)
{
    return (sr_recipient_t){.email = viewer->email,
                            .name = viewer->is_copy ? NULL : sr_person_name(viewer->firstname, viewer->lastname, pool),
                            .locale = sr_viewers_language(submission)->tag,
                            .path = sr_viewer_path(viewer, pool),
                            .viewer = viewer->uuid};
}

static void copies_add(apr_array_header_t *recipients, const sr_recipient_t *recipient, apr_pool_t *pool)
{
    const char *address = sr_text_fold(recipient->email, pool);
    for (int i = 0; i < recipients->nelts; i++)
        if (!strcmp(sr_text_fold(APR_ARRAY_IDX(recipients, i, sr_recipient_t).email, pool), address)) return;
    APR_ARRAY_PUSH(recipients, sr_recipient_t) = *recipient;
}

static bool copies_go_to_signers(const sr_submission_t *submission)
{
    size_t i;
    json_t *one;
    json_array_foreach ((json_t *)submission->options.to, i, one)
        if (!strcmp(json_string_value(one), "signers")) return true;
    return false;
}

apr_array_header_t *sr_copies_recipients(const sr_submission_t *submission, apr_pool_t *pool)
{
    apr_array_header_t *recipients = apr_array_make(pool, 8, sizeof(sr_recipient_t));
    for (int i = 0; copies_go_to_signers(submission) && i < submission->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(submission->signers, i, sr_signer_t);
        const sr_recipient_t recipient = sr_signer_recipient(submission, signer, pool);
        if (signer->email) copies_add(recipients, &recipient, pool);
    }
    for (int i = 0; submission->viewers && i < submission->viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t);
        const sr_recipient_t recipient = viewer_recipient(submission, viewer, pool);
        if (viewer->is_copy && !viewer->revoked_at) copies_add(recipients, &recipient, pool);
    }
    return recipients;
}

apr_array_header_t *sr_viewers_recipients(const sr_submission_t *submission, bool completed, apr_pool_t *pool)
{
    apr_array_header_t *recipients = apr_array_make(pool, 4, sizeof(sr_recipient_t));
    for (int i = 0; submission->send_email && submission->viewers && i < submission->viewers->nelts; i++) {
        const sr_viewer_t *viewer = &APR_ARRAY_IDX(submission->viewers, i, sr_viewer_t);
        if (viewer->is_copy || !viewer->email || viewer->revoked_at || viewer->when_completed != completed) continue;
        APR_ARRAY_PUSH(recipients, sr_recipient_t) = viewer_recipient(submission, viewer, pool);
    }
    return recipients;
}

sr_error_t *sr_copies_may_repeat(const sr_submission_t *submission, apr_time_t now, apr_pool_t *pool)
{
    if (!submission->options.copies) return sr_error(pool, SR_ECONFLICT, "This submission was created without copies");
    if (submission->state == SR_SUBMISSION_OPEN)
        return sr_error(pool, SR_ECONFLICT, "This submission is not completed yet");
    if (submission->state != SR_SUBMISSION_COMPLETED)
        return sr_error(pool, SR_ECONFLICT, "This submission is %s", sr_submission_state_name(submission->state));
    if (!sr_copies_recipients(submission, pool)->nelts)
        return sr_error(pool, SR_ECONFLICT,
                        "Nobody gets a copy of this submission: no signer has an email, or all links were closed");
    const apr_interval_time_t wait = submission->copied_at ? submission->copied_at + PAUSE - now : 0;
    if (wait <= 0) return NULL;
    const int seconds = (int)((wait + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC);
    return sr_error_retry(
        sr_error(pool, SR_ETOOMANY, "Copies were sent less than 10 minutes ago, try again in %d s", seconds), wait);
}
