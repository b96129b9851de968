/* SPDX-License-Identifier: Apache-2.0 */
/* model_life.c: tests of src/model/life.c: the order of signers, replaced signers, closed submissions, and what a
 * creation may say about deadlines, external ids, metadata and redirects. */
#include "model/model.h"
#include "tap.h"

#define NOW APR_TIME_C(1795198164000000)
#define DAY apr_time_from_sec(86400)

static apr_pool_t *pool;

static const char *message(const sr_error_t *error)
{
    return error ? error->message : NULL;
}

/* --- the creation */

static void test_deadlines(void)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"2026-11-21T18:09:25Z", NULL},
        {"2026-11-20T18:09:24+01:00", "expiresAt must be in the future"},
        {"2036-11-19T00:00:00Z", NULL},
        {"2036-12-31T00:00:00Z", "expiresAt must be within 10 years"},
    };
    apr_time_t at;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(message(sr_deadline_read(&at, cases[i].text, NOW, pool)), cases[i].fault, "the deadline %s",
               cases[i].text);
    is_str(message(sr_deadline_read(&at, "", NOW, pool)), NULL, "an empty deadline is none");
    is_int(at, 0, "an empty deadline is 0");
    ok(sr_deadline_read(&at, "2026-11-21", NOW, pool) != NULL, "a date without a time is refused");
    ok(sr_deadline_read(&at, "2026-11-21T18:09:25", NOW, pool) != NULL, "a time without a zone is refused");
}

static void test_metadata(void)
{
    static const char deep[] = "{\"a\":{\"b\":[1,2.5,null,true,\"\xc3\xa9\"]}}";
    const json_t *metadata;
    is_str(message(sr_metadata_read(&metadata, deep, sizeof deep - 1, pool)), NULL, "an object is accepted");
    is_str(metadata ? sr_json_text(metadata, pool) : NULL, deep, "an object is stored as it was sent");
    ok(!sr_metadata_read(&metadata, NULL, 0, pool) && !metadata, "without metadata there is none");
    for (int i = 0; i < 8; i++) {
        static const char *const wrong[] = {"[]",
                                            "1",
                                            "\"x\"",
                                            "{",
                                            "{\"a\":1,\"a\":2}",
                                            "{\"a\":12345678901234567890}",
                                            "{\"a\":-12345678901234567890}",
                                            "{\"a\":1e400}"};
        ok(sr_metadata_read(&metadata, wrong[i], strlen(wrong[i]), pool) != NULL, "%s is refused", wrong[i]);
        ok(!metadata, "refused metadata is not taken");
    }
}

static void test_redirects(void)
{
    static const struct {
        const char *url;
        bool allowed;
    } cases[] = {
        {"https://app.example.org/signed?x=1#y", true},
        {"https://APP.example.org:443/", true},
        {"https://app.example.org:444/", false},
        {"https://other.example.org/", false},
        {"https://app.example.org.evil.test/", false},
        {"https://app.example.org@evil.test/", false},
        {"http://app.example.org/", false},
        {"javascript:alert(1)", false},
        {"https://app.example.org/\"><b>", false},
        {"https://app.example.org/a b", false},
        {"//app.example.org/", false},
        {"https://intranet.test:8443/", true},
        {"http://localhost:3000/signed", true},
        {"http://localhost:3001/", false},
        {"https://localhost:3000/", false},
        {"http://localhost.evil.test:3000/", false},
        {"http://127.0.0.1/", false},
    };
    apr_array_header_t *origins = apr_array_make(pool, 2, sizeof(const char *));
    const char *url;
    APR_ARRAY_PUSH(origins, const char *) = sr_redirect_origin("https://App.Example.org/", pool);
    APR_ARRAY_PUSH(origins, const char *) = sr_redirect_origin("https://intranet.test:8443", pool);
    APR_ARRAY_PUSH(origins, const char *) = sr_redirect_origin("http://localhost:3000", pool);
    ok(!sr_redirect_origin("http://app.example.org", pool), "http is for this machine alone");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sr_error_t *error = sr_redirect_read(&url, cases[i].url, origins, pool);
        ok(!error == cases[i].allowed && !url != cases[i].allowed, "%s is %s", cases[i].url,
           cases[i].allowed ? "allowed" : "refused");
    }
    ok(sr_redirect_read(&url, "https://app.example.org/", NULL, pool) != NULL, "without origins all are refused");
    ok(!sr_redirect_read(&url, "", origins, pool) && !url, "an empty URL is none");
}

/* --- order */

static sr_submission_t example(const int *orders, int count)
{
    apr_array_header_t *signers = apr_array_make(pool, count, sizeof(sr_signer_t));
    for (int i = 0; i < count; i++)
        APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.uuid = sr_uuid_make(pool),
                                                             .firstname = "Ann",
                                                             .lastname = "Lee",
                                                             .order = orders[i],
                                                             .state = SR_SIGNER_WAITING};
    return (sr_submission_t){.signers = signers, .state = SR_SUBMISSION_OPEN};
}

/* The states of all signers as letters: w(aiting), s(ent), c(ompleted). */
static const char *states(const sr_submission_t *submission)
{
    char *text = apr_pcalloc(pool, (apr_size_t)submission->signers->nelts + 1);
    for (int i = 0; i < submission->signers->nelts; i++)
        text[i] = *sr_signer_state_name(APR_ARRAY_IDX(submission->signers, i, sr_signer_t).state);
    return text;
}

static int become_due(sr_submission_t *submission)
{
    apr_array_header_t *due = apr_array_make(pool, 4, sizeof(sr_signer_t *));
    sr_submission_due(submission, due, NOW);
    return due->nelts;
}

static void test_order(void)
{
    static const int orders[] = {3, 1, 7, 3, 1};
    sr_submission_t submission = example(orders, 5);
    sr_signer_t *signers = (sr_signer_t *)(void *)submission.signers->elts;
    is_int(become_due(&submission), 2, "two signers have the lowest order");
    is_str(states(&submission), "wswws", "these are due");
    is_int(become_due(&submission), 0, "nobody else is due while they have not signed");
    signers[1].state = SR_SIGNER_COMPLETED;
    is_int(become_due(&submission), 0, "nor when one of them has signed");
    signers[4].state = SR_SIGNER_COMPLETED;
    is_int(become_due(&submission), 2, "when both have signed, the next ones are due");
    is_str(states(&submission), "scwsc", "which have order 3");
    ok(signers[0].due_at == NOW && !signers[2].due_at, "the time is recorded for these alone");
    sr_submission_cancel(&submission, NOW, NULL);
    signers[0].state = signers[3].state = SR_SIGNER_COMPLETED;
    is_int(become_due(&submission), 0, "in a closed submission nobody becomes due");
}

/* --- closing and replacing */

static void test_closing(void)
{
    static const int orders[] = {1};
    sr_submission_t submission = example(orders, 1);
    ok(!sr_submission_may(&submission, SR_ACTION_CANCEL, pool), "an open submission may be cancelled");
    submission.late = true;
    is_str(message(sr_submission_may(&submission, SR_ACTION_CANCEL, pool)), "This submission is expired",
           "after the deadline it may not, although nobody has recorded that it is expired");
    submission.late = false;
    sr_submission_cancel(&submission, NOW, "why");
    ok(submission.closed_at == NOW && submission.updated_at == NOW, "cancelling records the time");
    is_str(submission.cancel_reason, "why", "cancelling records the reason");
    is_str(message(sr_submission_may(&submission, SR_ACTION_CANCEL, pool)), "This submission is cancelled",
           "a closed submission cannot be closed again");
}

static void test_replacing(void)
{
    static const int orders[] = {1, 2};
    const sr_signer_t eve = {.firstname = "Eve", .lastname = "Lee", .email = "e@x.org"};
    sr_submission_t submission = example(orders, 2);
    sr_signer_t *ann = (sr_signer_t *)(void *)submission.signers->elts;
    become_due(&submission);
    ann->state = SR_SIGNER_OPENED;
    ann->opened_at = NOW;
    sr_signer_remind(ann, NOW, true);
    const char *uuid = ann->uuid, *alias = sr_signer_alias(ann, pool);
    ok(!sr_submission_may_replace(&submission, ann, pool), "a signer who has opened the link may be replaced");
    sr_submission_replace(&submission, ann, &eve, NOW + DAY, pool);
    ok(strcmp(ann->uuid, uuid) != 0 && sr_uuid_valid(ann->uuid), "the new signer has a uuid of their own");
    is_str(ann->replaces, uuid, "the new signer has the uuid of the old one as `replaces`");
    is_str(sr_signer_alias(ann, pool), alias, "the alias stays");
    is_str(states(&submission), "sw", "the new signer has not opened the link");
    ok(!ann->opened_at && ann->order == 1, "the order stays");
    ok(ann->due_at == NOW + DAY && !ann->reminded_at && !ann->reminders, "the new signer is due from now on");
    const char *first = ann->uuid;
    sr_submission_replace(&submission, ann, &eve, NOW + DAY, pool);
    is_str(ann->replaces, first, "replaced again: the signer before");
    is_str(sr_signer_alias(ann, pool), alias, "a signer who is replaced again keeps the first alias");
    sr_submission_replace(&submission, ann + 1, &eve, NOW + DAY, pool);
    is_str(states(&submission), "sw", "who waited waits");
    ok(!ann[1].due_at, "a signer who waits is not due");
    ann->state = SR_SIGNER_COMPLETED;
    is_str(message(sr_submission_may_replace(&submission, ann, pool)), "This signer has signed already",
           "a signer who has signed stays");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_deadlines();
    test_metadata();
    test_redirects();
    test_order();
    test_closing();
    test_replacing();
    apr_pool_destroy(pool);
    return done();
}
