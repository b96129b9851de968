/* SPDX-License-Identifier: Apache-2.0 */
/* model_states.c: tests of src/model/states.c: every cell of the table, and the names of states. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

static apr_pool_t *pool;

/* What a signer and a submission become by each action, written once more: "-" where it is not allowed. */
static const struct {
    sr_action_t action;
    const char *name;
    const char *signers[SR_SIGNER_STATE_COUNT];         /* from waiting, sent, opened, completed, refused, replaced;
                                                           of an action of the submission all are NULL */
    const char *submissions[SR_SUBMISSION_STATE_COUNT]; /* from open, completed, refused, cancelled, expired,
                                                           deleted, draft */
} cases[] = {
    {SR_ACTION_SEND, "send", {"sent", "-", "-", "-", "-", "-"}, {"open", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_OPEN, "open", {"-", "opened", "-", "-", "-", "-"}, {"open", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_SIGN, "sign", {"-", "completed", "completed", "-", "-", "-"}, {"open", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_REFUSE, "refuse", {"-", "refused", "refused", "-", "-", "-"}, {"refused", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_REPLACE,
     "replace",
     {"replaced", "replaced", "replaced", "-", "-", "-"},
     {"open", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_RELEASE, "release", {0}, {"-", "-", "-", "-", "-", "-", "open"}},
    {SR_ACTION_COMPLETE, "complete", {0}, {"completed", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_CANCEL, "cancel", {0}, {"cancelled", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_EXPIRE, "expire", {0}, {"expired", "-", "-", "-", "-", "-", "-"}},
    {SR_ACTION_DELETE, "delete", {0}, {"-", "deleted", "deleted", "deleted", "deleted", "-", "deleted"}},
};

/* "signer submission" after the action, or "-". */
static const char *after(sr_action_t action, bool of_signer, int signer, int submission)
{
    sr_signer_state_t its = (sr_signer_state_t)signer;
    sr_submission_state_t whole = (sr_submission_state_t)submission;
    const bool allowed = sr_state_change(of_signer ? &its : NULL, &whole, action);
    if (!allowed && ((int)its != signer || (int)whole != submission)) return "changed, though not allowed";
    return allowed ? apr_pstrcat(pool, sr_signer_state_name(its), " ", sr_submission_state_name(whole), NULL) : "-";
}

static void test_cells(void)
{
    is_int(sizeof cases / sizeof *cases, SR_ACTION_COUNT, "all actions");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int s = 0; s < SR_SIGNER_STATE_COUNT; s++)
            for (int t = 0; t < SR_SUBMISSION_STATE_COUNT; t++) {
                const bool of_signer = cases[i].signers[0] != NULL;
                const char *signer = of_signer ? cases[i].signers[s] : sr_signer_state_name((sr_signer_state_t)s);
                const char *submission = cases[i].submissions[t];
                const bool allowed = strcmp(signer, "-") != 0 && strcmp(submission, "-") != 0;
                is_str(after(cases[i].action, of_signer, s, t),
                       allowed ? apr_pstrcat(pool, signer, " ", submission, NULL) : "-",
                       "%s: a signer is %s, the submission %s", cases[i].name,
                       sr_signer_state_name((sr_signer_state_t)s), sr_submission_state_name((sr_submission_state_t)t));
                is_str(after(cases[i].action, !of_signer, s, t), "-", "%s is of the other one", cases[i].name);
            }
}

static void test_names(void)
{
    sr_signer_state_t signer;
    sr_submission_state_t submission;
    for (int s = 0; s < SR_SIGNER_STATE_COUNT; s++)
        ok(sr_signer_state_parse(&signer, sr_signer_state_name((sr_signer_state_t)s)) && (int)signer == s,
           "state %d of a signer by its name", s);
    for (int s = 0; s < SR_SUBMISSION_STATE_COUNT; s++)
        ok(sr_submission_state_parse(&submission, sr_submission_state_name((sr_submission_state_t)s))
               && (int)submission == s,
           "state %d of a submission by its name", s);
    ok(!sr_signer_state_parse(&signer, "open") && !sr_signer_state_parse(&signer, NULL), "no state of a signer");
    ok(!sr_submission_state_parse(&submission, "sent"), "no state of a submission");
    is_str(sr_signer_states_of_status("initiated", pool), "waiting", "initiated");
    is_str(sr_signer_states_of_status("sent", pool), "sent", "sent");
    is_str(sr_signer_states_of_status("opened", pool), "opened,refused", "opened");
    is_str(sr_signer_states_of_status("completed", pool), "completed", "completed");
    is_str(sr_signer_states_of_status("refused", pool), NULL, "the contract has no status refused");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_cells();
    test_names();
    apr_pool_destroy(pool);
    return done();
}
