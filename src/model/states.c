/* SPDX-License-Identifier: Apache-2.0 */
/* states.c: the states of signers and of submissions, and the table of their transitions.
 *
 *    signer        waiting ──send──> sent ──open──> opened
 *                  sent, opened ──sign──> completed
 *                  sent, opened ──refuse──> refused
 *                  waiting, sent, opened ──replace──> replaced
 *
 *    submission    draft ─release──> open               release: the caller sends a draft
 *                  open ──complete──> completed ──┐     complete: the last signer has signed
 *                  open ──refuse────> refused ────┤     refuse: a signer has refused
 *                  open ──cancel────> cancelled ──┼──delete──> deleted
 *                  open ──expire────> expired ────┤
 *                  draft ─────────────────────────┘
 *
 * Invariants: an action of a signer needs an open submission. So closing a submission stops all its signers, and the
 * states of signers who have not signed stay as they are. No transition leaves the signer states completed, refused
 * and replaced, or the submission state deleted. Only open, sign, refuse and complete are used so far. */
#include "model/model.h"

#include <string.h>

#define SIGNER(state) (1u << SR_SIGNER_##state)
#define SUBMISSION(state) (1u << SR_SUBMISSION_##state)
#define CLOSED (SUBMISSION(COMPLETED) | SUBMISSION(REFUSED) | SUBMISSION(CANCELLED) | SUBMISSION(EXPIRED))

static const struct {
    unsigned int signers; /* the signer states in which the action is allowed; 0: it is not an action of a signer */
    sr_signer_state_t signer;
    unsigned int submissions; /* the submission states in which the action is allowed */
    sr_submission_state_t submission;
} rows[SR_ACTION_COUNT] = {
    [SR_ACTION_SEND] = {SIGNER(WAITING), SR_SIGNER_SENT, SUBMISSION(OPEN), SR_SUBMISSION_OPEN},
    [SR_ACTION_OPEN] = {SIGNER(SENT), SR_SIGNER_OPENED, SUBMISSION(OPEN), SR_SUBMISSION_OPEN},
    [SR_ACTION_SIGN] = {SIGNER(SENT) | SIGNER(OPENED), SR_SIGNER_COMPLETED, SUBMISSION(OPEN), SR_SUBMISSION_OPEN},
    [SR_ACTION_REFUSE] = {SIGNER(SENT) | SIGNER(OPENED), SR_SIGNER_REFUSED, SUBMISSION(OPEN), SR_SUBMISSION_REFUSED},
    [SR_ACTION_REPLACE] = {SIGNER(WAITING) | SIGNER(SENT) | SIGNER(OPENED), SR_SIGNER_REPLACED, SUBMISSION(OPEN),
                           SR_SUBMISSION_OPEN},
    [SR_ACTION_RELEASE] = {.submissions = SUBMISSION(DRAFT), .submission = SR_SUBMISSION_OPEN},
    [SR_ACTION_COMPLETE] = {.submissions = SUBMISSION(OPEN), .submission = SR_SUBMISSION_COMPLETED},
    [SR_ACTION_CANCEL] = {.submissions = SUBMISSION(OPEN), .submission = SR_SUBMISSION_CANCELLED},
    [SR_ACTION_EXPIRE] = {.submissions = SUBMISSION(OPEN), .submission = SR_SUBMISSION_EXPIRED},
    [SR_ACTION_DELETE] = {.submissions = CLOSED | SUBMISSION(DRAFT), .submission = SR_SUBMISSION_DELETED},
};

bool sr_state_change(sr_signer_state_t *signer, sr_submission_state_t *submission, sr_action_t action)
{
    const bool of_signer = rows[action].signers != 0;
    if (of_signer != (signer != NULL) || !(rows[action].submissions & 1u << *submission)) return false;
    if (signer && !(rows[action].signers & 1u << *signer)) return false;
    if (signer) *signer = rows[action].signer;
    *submission = rows[action].submission;
    return true;
}

/* --- names, as columns have them */

static const char *const signer_names[SR_SIGNER_STATE_COUNT] = {"waiting",   "sent",    "opened",
                                                                "completed", "refused", "replaced"};
static const char *const submission_names[SR_SUBMISSION_STATE_COUNT] = {"open",    "completed", "refused", "cancelled",
                                                                        "expired", "deleted",   "draft"};

static int states_number_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; name && i < count; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

const char *sr_signer_state_name(sr_signer_state_t state)
{
    sr_assert(state < SR_SIGNER_STATE_COUNT);
    return signer_names[state];
}

const char *sr_submission_state_name(sr_submission_state_t state)
{
    sr_assert(state < SR_SUBMISSION_STATE_COUNT);
    return submission_names[state];
}

bool sr_signer_state_parse(sr_signer_state_t *state, const char *name)
{
    const int number = states_number_of(name, signer_names, SR_SIGNER_STATE_COUNT);
    *state = number < 0 ? SR_SIGNER_WAITING : (sr_signer_state_t)number;
    return number >= 0;
}

bool sr_submission_state_parse(sr_submission_state_t *state, const char *name)
{
    const int number = states_number_of(name, submission_names, SR_SUBMISSION_STATE_COUNT);
    *state = number < 0 ? SR_SUBMISSION_OPEN : (sr_submission_state_t)number;
    return number >= 0;
}

/* --- as the API shows them: the contract has four statuses */

static const char *const statuses[SR_SIGNER_STATE_COUNT] = {"initiated", "sent",   "opened",
                                                            "completed", "opened", "opened"};

const char *sr_signer_status(sr_signer_state_t state)
{
    return statuses[state];
}

const char *sr_signer_states_of_status(const char *status, apr_pool_t *pool)
{
    const char *names = NULL;
    for (int i = 0; i < SR_SIGNER_STATE_COUNT; i++)
        if (i != SR_SIGNER_REPLACED && !strcmp(statuses[i], status)) /* answers do not show a replaced signer */
            names = apr_pstrcat(pool, names ? names : "", names ? "," : "", signer_names[i], NULL);
    return names;
}
