/* SPDX-License-Identifier: Apache-2.0 */
/* viewing.c: what a viewer may see, by the state of the submission and of their link. */
#include "model/model.h"

#include <string.h>

static const char *closed_state(const sr_viewer_t *viewer, const sr_submission_t *submission)
{
    switch (submission->state) {
    case SR_SUBMISSION_OPEN: return submission->late ? "expired" : "waiting";
    case SR_SUBMISSION_REFUSED: return "closed";
    case SR_SUBMISSION_CANCELLED: return "cancelled";
    case SR_SUBMISSION_EXPIRED: return "expired";
    default: return viewer->sent_at ? "ended" : "waiting"; /* the copy is not mailed yet */
    }
}

const char *sr_viewing_state(const sr_signing_t *signing)
{
    const sr_submission_t *submission = &signing->submission;
    if (signing->viewer->revoked_at) return "ended";
    if (!sr_viewer_may_see(signing->viewer, submission, signing->clock))
        return closed_state(signing->viewer, submission);
    return submission->state == SR_SUBMISSION_COMPLETED ? "completed" : "viewing";
}

sr_error_t *sr_viewing_may_see(const sr_signing_t *signing, apr_pool_t *pool)
{
    static const struct {
        const char *state, *message;
        sr_code_t code;
    } closed[] = {
        {"waiting", "The documents cannot be seen yet", SR_ECONFLICT},
        {"closed", "A signer has refused to sign, which has closed this signature request", SR_ECONFLICT},
        {"cancelled", "This signature request was withdrawn", SR_EGONE},
        {"expired", "The deadline of this signature request is over", SR_EGONE},
        {"ended", "This link is no longer valid", SR_EGONE},
    };
    const char *state = sr_viewing_state(signing);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        if (!strcmp(state, closed[i].state)) return sr_error(pool, closed[i].code, "%s", closed[i].message);
    return NULL;
}

const char *sr_viewer_name(const sr_submission_t *submission, const json_t *event, apr_pool_t *pool)
{
    const char *kind = sr_json_string(event, "event");
    if (!kind || strcmp(kind, "viewed") != 0) return NULL;
    const char *uuid = sr_json_string(json_object_get(event, "detail"), "viewer");
    const sr_viewer_t *viewer = uuid ? sr_submission_viewer(submission, uuid) : NULL;
    return viewer ? sr_person_name(viewer->firstname, viewer->lastname, pool) : "";
}
