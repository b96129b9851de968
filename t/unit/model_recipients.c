/* SPDX-License-Identifier: Apache-2.0 */
/* model_recipients.c: tests of src/model/recipients.c: who gets a mail, in which language, and when copies are
 * repeated. */
#include "model/model.h"
#include "tap.h"

#define NOW APR_TIME_C(1795198164000000)
#define MINUTE apr_time_from_sec(60)

static apr_pool_t *pool;

/* A completed submission: two signers with an email and one without, three copies and two viewers. */
static sr_submission_t example(const char *to)
{
    apr_array_header_t *signers = apr_array_make(pool, 3, sizeof(sr_signer_t));
    apr_array_header_t *viewers = apr_array_make(pool, 5, sizeof(sr_viewer_t));
    sr_submission_t submission = {.signers = signers,
                                  .viewers = viewers,
                                  .send_email = true,
                                  .state = SR_SUBMISSION_COMPLETED,
                                  .options = {.copies = true, .to = sr_json_own(json_pack("[s]", to), pool)}};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = "s1", .email = "Ann@x.org", .locale = "de"};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = "s2", .email = "bob@x.org", .locale = "en"};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = "s3", .locale = "en-GB"};
    APR_ARRAY_PUSH(viewers, sr_viewer_t) =
        (sr_viewer_t){.uuid = "v1", .email = "v1@x.org", .firstname = "Lea", .lastname = "Holm"};
    APR_ARRAY_PUSH(viewers, sr_viewer_t) = (sr_viewer_t){.uuid = "v2", .when_completed = true, .email = "v2@x.org"};
    APR_ARRAY_PUSH(viewers, sr_viewer_t) = (sr_viewer_t){.uuid = "c1", .is_copy = true, .email = "ann@X.ORG"};
    APR_ARRAY_PUSH(viewers, sr_viewer_t) = (sr_viewer_t){.uuid = "c2", .is_copy = true, .email = "c2@x.org"};
    APR_ARRAY_PUSH(viewers, sr_viewer_t) =
        (sr_viewer_t){.uuid = "c3", .is_copy = true, .email = "c3@x.org", .revoked_at = NOW};
    return submission;
}

static const char *paths(const apr_array_header_t *recipients)
{
    const char *text = "";
    for (int i = 0; i < recipients->nelts; i++)
        text = apr_pstrcat(pool, text, " ", APR_ARRAY_IDX(recipients, i, sr_recipient_t).path, NULL);
    return text;
}

static void test_recipients(void)
{
    sr_submission_t submission = example("signers");
    is_str(paths(sr_copies_recipients(&submission, pool)), " /sign/s1 /sign/s2 /view/c2",
           "each address once, signers first, and nobody whose link was closed");
    submission = example("ann@x.org");
    is_str(paths(sr_copies_recipients(&submission, pool)), " /view/c1 /view/c2", "without the signers");
    const apr_array_header_t *viewers = sr_viewers_recipients(&submission, false, pool);
    is_str(paths(viewers), " /view/v1", "viewers of an open submission");
    const sr_recipient_t *lea = &APR_ARRAY_IDX(viewers, 0, sr_recipient_t);
    is_str(lea->name, "Lea Holm", "with their name");
    is_str(lea->locale, "en", "in the language that most signers have");
    is_str(paths(sr_viewers_recipients(&submission, true, pool)), " /view/v2", "viewers of a completed one");
    submission.send_email = false;
    is_str(paths(sr_viewers_recipients(&submission, true, pool)), "", "without sendEmail they get no mail");
}

static void test_repeat(void)
{
    sr_submission_t submission = example("signers");
    ok(!sr_copies_may_repeat(&submission, NOW, pool), "copies that were never sent can be");
    submission.copied_at = NOW - 9 * MINUTE;
    sr_error_t *error = sr_copies_may_repeat(&submission, NOW, pool);
    ok(error && error->code == SR_ETOOMANY && error->retry_after == 60, "not within 10 minutes");
    ok(!sr_copies_may_repeat(&submission, NOW + MINUTE, pool), "but then");
    submission.state = SR_SUBMISSION_REFUSED;
    error = sr_copies_may_repeat(&submission, NOW + MINUTE, pool);
    ok(error && error->code == SR_ECONFLICT, "a submission that was refused has none");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_recipients();
    test_repeat();
    apr_terminate();
    return done();
}
