/* SPDX-License-Identifier: Apache-2.0 */
/* identify.h: the check of a signer's identity, whose methods differ in how it is decided (identify.c). */
#ifndef SR_SERVICE_SIGNING_IDENTIFY_H
#define SR_SERVICE_SIGNING_IDENTIFY_H

#include "service/submissions/transition.h"

typedef enum sr_verdict_t {
    SR_IDENTITY_PASSED,
    SR_IDENTITY_WRONG, /* counts towards a lock, unless the check is locked */
    SR_IDENTITY_OTHER  /* a person who cannot guess: it does not count */
} sr_verdict_t;

typedef struct sr_judged_t {
    const sr_authentication_t *authentication; /* as it is in the transition */
    apr_time_t now;                            /* by the database's clock */
    json_t *detail;                            /* of the event "authenticated": a method adds what it knows */
    void *baton;
} sr_judged_t;
typedef sr_verdict_t (*sr_judge_t)(const sr_judged_t *judged);

/* Lets `judge` decide within a transition, and begins a session if the signer has passed: *session is its secret. A
 * signer who has another method, or none, does not pass. Errors: SR_EFORBIDDEN if the signer has not passed: the same
 * message for all reasons. */
sr_error_t *sr_identify_decide(const sr_service_t *service, const char **session, sr_signing_t *signing,
                               const sr_client_t *client, sr_judge_t judge, void *baton, apr_pool_t *pool);
#endif
