/* SPDX-License-Identifier: Apache-2.0 */
/* model_viewers.c: tests of src/model/viewers.c: what a creation says of viewers and copies, and when a link shows the
 * submission. */
#include "model/model.h"
#include "tap.h"

#define NOW APR_TIME_C(1795198164000000)

static apr_pool_t *pool;
static const apr_array_header_t *viewers;

static const char *fault_of(const char *text, const char *copies)
{
    const sr_options_form_t form = {.copies = {copies, strlen(copies)}, .viewers = {text, strlen(text)}};
    sr_options_t options;
    sr_error_t *error = sr_options_read(&options, &form, pool);
    if (!error) error = sr_viewers_read(&viewers, &form.viewers, &options, "Sender@x.org", pool);
    return error ? error->message : NULL;
}

static const sr_viewer_t *viewer_of(int number)
{
    return &APR_ARRAY_IDX(viewers, number, sr_viewer_t);
}

static void test_wrong(void)
{
    static const struct {
        const char *sent, *fault;
    } cases[] = {
        {"{}", "viewers must be a JSON array"},
        {"[1]", "viewers: viewer 1: it must be a JSON object"},
        {"[{\"firstname\":\"Lea\"}]", "viewers: viewer 1: a lastname must be provided"},
        {"[{\"firstname\":\" \",\"lastname\":\"H\"}]", "viewers: viewer 1: a firstname must be provided"},
        {"[{\"firstname\":\"a\\nb\",\"lastname\":\"H\"}]",
         "viewers: viewer 1: firstname must not contain control characters"},
        {"[{\"firstname\":\"L\",\"lastname\":\"H\",\"email\":\"x\"}]",
         "viewers: viewer 1: email must be an email address"},
        {"[{\"firstname\":\"L\",\"lastname\":\"H\",\"when\":\"later\"}]",
         "viewers: viewer 1: when must be sent or completed"},
        {"[{\"firstname\":\"L\",\"lastname\":\"H\",\"role\":\"x\"}]", "viewers: viewer 1: unknown member role"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        is_str(fault_of(cases[i].sent, ""), cases[i].fault, "%s is rejected", cases[i].sent);
        ok(!viewers, "and gives no viewers");
    }
    const char *many = "[";
    for (int i = 0; i <= SR_VIEWERS_MAX; i++)
        many = apr_pstrcat(pool, many, i ? "," : "", "{\"firstname\":\"L\",\"lastname\":\"H\"}", NULL);
    is_str(fault_of(apr_pstrcat(pool, many, "]", NULL), ""), "viewers must have at most 20 viewers", "21 viewers");
}

static void test_read(void)
{
    is_str(fault_of("", ""), NULL, "no part");
    ok(!viewers, "no viewers");
    is_str(fault_of("[]", ""), NULL, "an empty list");
    ok(!viewers, "no viewers");
    is_str(fault_of("[{\"firstname\":\"Lea\",\"lastname\":\"Holm\",\"when\":\"completed\"}]",
                    "{\"to\":[\"signers\",\"sender\",\"a@x.org\",\"A@X.org\",\"sender@x.org\"]}"),
           NULL, "a viewer, and copies");
    is_int(viewers ? viewers->nelts : 0, 3, "each recipient once, and none for signers");
    if (!viewers) return;
    ok(!viewer_of(0)->is_copy && viewer_of(0)->when_completed && !viewer_of(0)->email, "the viewer");
    ok(viewer_of(1)->is_copy && viewer_of(1)->when_completed, "a copy, when it is completed");
    is_str(viewer_of(1)->email, "Sender@x.org", "the sender's address");
    is_str(viewer_of(2)->email, "a@x.org", "the other address");
    ok(sr_uuid_valid(viewer_of(0)->uuid) && strcmp(viewer_of(0)->uuid, viewer_of(1)->uuid) != 0, "each has a uuid");
    is_str(sr_viewer_path(viewer_of(0), pool), apr_pstrcat(pool, "/view/", viewer_of(0)->uuid, NULL), "the path");
}

static void test_stored(void)
{
    json_t *row = json_pack("{s:s,s:s,s:s,s:s,s:I,s:n}", "uuid", "u", "kind", "copy", "shown_when", "completed",
                            "email", "a@x.org", "sent_at", (json_int_t)NOW, "opened_at");
    const json_t *rows = sr_json_own(json_pack("[o]", row), pool);
    ok(!sr_viewers_parse(&viewers, rows, pool) && viewers->nelts == 1, "a row");
    ok(viewer_of(0)->is_copy && viewer_of(0)->sent_at == NOW && !viewer_of(0)->opened_at, "its values");
    ok(!sr_viewers_parse(&viewers, NULL, pool) && !viewers, "no rows");
    json_object_del(row, "uuid");
    ok(sr_viewers_parse(&viewers, rows, pool) != NULL, "a row without a uuid");
}

static void test_may_see(void)
{
    static const struct {
        bool copy, completed; /* of the viewer: when_completed */
        int sent, revoked;
        sr_submission_state_t state;
        bool sees;
        const char *what;
    } cases[] = {
        {false, false, 1, 0, SR_SUBMISSION_OPEN, true, "a viewer of an open submission"},
        {false, false, 1, 0, SR_SUBMISSION_COMPLETED, true, "a viewer of a completed submission"},
        {false, false, 1, 0, SR_SUBMISSION_CANCELLED, false, "a viewer of a cancelled submission"},
        {false, false, 1, 0, SR_SUBMISSION_EXPIRED, false, "a viewer of an expired submission"},
        {false, false, 1, 0, SR_SUBMISSION_REFUSED, false, "a viewer of a refused submission"},
        {false, false, 1, 1, SR_SUBMISSION_OPEN, false, "a viewer whose link was revoked"},
        {false, true, 0, 0, SR_SUBMISSION_OPEN, false, "a viewer who sees it at the end, before"},
        {false, true, 0, 0, SR_SUBMISSION_COMPLETED, true, "a viewer who sees it at the end, then"},
        {true, true, 0, 0, SR_SUBMISSION_COMPLETED, false, "a copy that was not mailed"},
        {true, true, 1, 0, SR_SUBMISSION_COMPLETED, true, "a copy"},
        {true, true, 1, 1, SR_SUBMISSION_COMPLETED, false, "a copy whose link was revoked"},
        {true, true, 1, 0, SR_SUBMISSION_DELETED, false, "a copy of a deleted submission"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sr_viewer_t viewer = {.is_copy = cases[i].copy,
                                    .when_completed = cases[i].completed,
                                    .sent_at = cases[i].sent ? NOW : 0,
                                    .revoked_at = cases[i].revoked ? NOW : 0};
        const sr_submission_t submission = {.state = cases[i].state};
        ok(sr_viewer_may_see(&viewer, &submission, NOW + 1) == cases[i].sees, "%s", cases[i].what);
    }
    const sr_viewer_t copy = {.is_copy = true, .when_completed = true, .sent_at = NOW};
    const sr_submission_t completed = {.state = SR_SUBMISSION_COMPLETED};
    ok(sr_viewer_may_see(&copy, &completed, NOW + SR_COPY_LIFETIME - 1), "a copy for 90 days");
    ok(!sr_viewer_may_see(&copy, &completed, NOW + SR_COPY_LIFETIME), "a copy after 90 days");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_wrong();
    test_read();
    test_stored();
    test_may_see();
    apr_pool_destroy(pool);
    return done();
}
