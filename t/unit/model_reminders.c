/* SPDX-License-Identifier: Apache-2.0 */
/* model_reminders.c: tests of src/model/reminders.c: when signers are reminded, and who can be. t/api/remind.t has what
 * a creation may say. */
#include "model/model.h"
#include "tap.h"

#define NOW APR_TIME_C(1795198164000000)
#define HOUR apr_time_from_sec(3600)
#define MINUTE apr_time_from_sec(60)

static apr_pool_t *pool;

static const char *message(const sr_error_t *error)
{
    return error ? error->message : NULL;
}

/* An open submission with two signers who are due since NOW. */
static sr_submission_t example(const char *reminders)
{
    apr_array_header_t *signers = apr_array_make(pool, 2, sizeof(sr_signer_t));
    sr_submission_t submission = {.signers = signers, .created_at = NOW, .state = SR_SUBMISSION_OPEN};
    for (int i = 0; i < 2; i++)
        APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){
            .uuid = sr_uuid_make(pool), .email = "ann@x.org", .order = 1, .due_at = NOW, .state = SR_SIGNER_SENT};
    sr_error_t *error = sr_reminders_read(&submission.reminders, reminders, strlen(reminders), true, pool);
    is_str(message(error), NULL, "%s is accepted", reminders);
    return submission;
}

static sr_signer_t *signer_of(const sr_submission_t *submission, int number)
{
    return &APR_ARRAY_IDX(submission->signers, number, sr_signer_t);
}

static void test_stored(void)
{
    static const char sent[] = "{\"after\":\"P1D\",\"every\":\"PT36H\",\"most\":5}";
    sr_submission_t submission = example(sent);
    json_t *json = sr_json_own(sr_reminders_json(&submission.reminders), pool);
    sr_reminders_t read;
    is_str(sr_json_text(json, pool), sent, "what was sent is shown");
    json_object_set_new(json, "mail", json_pack("{s:s}", "baseUrl", "https://x.org"));
    ok(sr_reminders_parse(&read, json) && read.after == 24 * HOUR && read.every == 36 * HOUR && read.most == 5,
       "the column is read");
    is_str(sr_json_string(read.mail, "baseUrl"), "https://x.org", "the column contains what the service has added");
    ok(sr_reminders_parse(&read, NULL) && !read.most, "without the column there are none");
    ok(!sr_reminders_parse(&read, sr_json_own(json_pack("{s:s,s:i}", "after", "P1D", "most", 1), pool)),
       "a spoilt column is detected");
    ok(!sr_reminders_read(&read, "", 0, false, pool) && !read.most, "an empty part is none");
}

static void test_times(void)
{
    sr_submission_t submission = example("{\"after\":\"PT2H\",\"every\":\"PT3H\",\"most\":2}");
    sr_signer_t *ann = signer_of(&submission, 0), *bob = signer_of(&submission, 1);
    is_int(sr_submission_remind_at(&submission), NOW + 2 * HOUR, "the first one is due after `after`");
    bob->due_at = NOW - HOUR;
    is_int(sr_submission_remind_at(&submission), NOW + HOUR,
           "the first reminder is due by the signer who was due first");
    bob->due_at = 0;
    is_int(sr_signer_remind_at(&submission, bob), NOW + 2 * HOUR, "a signer of an old submission is due since it");
    sr_signer_remind(ann, NOW + HOUR, false);
    is_int(sr_signer_remind_at(&submission, ann), NOW + 4 * HOUR, "one on request begins the interval again");
    ann->reminded_at = NOW - 30 * HOUR;
    is_int(sr_signer_remind_at(&submission, ann), NOW + 2 * HOUR,
           "a reminder on request does not bring the first one forward");
    sr_signer_remind(ann, NOW + 50 * HOUR, true);
    is_int(sr_signer_remind_at(&submission, ann), NOW + 53 * HOUR, "missed ones are not made up for");
    sr_signer_remind(ann, NOW + 60 * HOUR, true);
    is_int(sr_signer_remind_at(&submission, ann), 0, "after `most` of them there is none");
    is_int(sr_submission_remind_at(&submission), NOW + 2 * HOUR, "the other signer has theirs");
    for (int state = 0; state < SR_SIGNER_STATE_COUNT; state++) {
        bob->state = (sr_signer_state_t)state;
        is_int(sr_signer_remind_at(&submission, bob) != 0, state == SR_SIGNER_SENT || state == SR_SIGNER_OPENED,
               "state %s", sr_signer_state_name(bob->state));
    }
    bob->state = SR_SIGNER_OPENED;
    sr_submission_cancel(&submission, NOW, NULL);
    is_int(sr_submission_remind_at(&submission), 0, "a closed submission has none");
}

static void test_on_request(void)
{
    sr_submission_t submission = example("{\"after\":\"PT2H\",\"every\":\"PT3H\",\"most\":2}");
    sr_signer_t *ann = signer_of(&submission, 0);
    is_str(message(sr_submission_may_remind(&submission, ann, NOW, pool)), NULL, "a signer who is due");
    sr_signer_remind(ann, NOW, false);
    sr_error_t *error = sr_submission_may_remind(&submission, ann, NOW + 10 * MINUTE - 1, pool);
    ok(error && error->code == SR_ETOOMANY && error->retry_after == 1, "ten minutes after a reminder, less a moment");
    is_str(message(sr_submission_may_remind(&submission, ann, NOW + 10 * MINUTE, pool)), NULL, "ten minutes after it");
    ann->email = NULL;
    is_str(message(sr_submission_may_remind(&submission, ann, NOW, pool)), "This signer has no email",
           "the reason has priority over the pause");
    ann->state = SR_SIGNER_WAITING;
    is_str(message(sr_submission_may_remind(&submission, ann, NOW, pool)), "It is not this signer's turn yet",
           "not due yet");
    submission.late = true;
    is_str(message(sr_submission_may_remind(&submission, ann, NOW, pool)), "This submission is expired",
           "after the deadline");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_stored();
    test_times();
    test_on_request();
    apr_pool_destroy(pool);
    return done();
}
