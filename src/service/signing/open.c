/* SPDX-License-Identifier: Apache-2.0 */
/* open.c: a signer opens their link. The first opening is recorded with the time. A scanner of links may be the first,
 * so the first opening by each other address and agent is an event, too. */
#include "service/submissions/transition.h"

#include <string.h>

#define MOST 20 /* events of openings of one signer, so that nobody makes the audit trail long */

static bool open_is_same(const json_t *event, const char *member, const char *text)
{
    const char *its = sr_json_string(event, member);
    return its && text ? !strcmp(its, text) : its == text;
}

/* Sets *is_new if the signer has not opened the link from this address with this agent before. */
static sr_error_t *open_compare(bool *is_new, const sr_service_t *service, const char *signer,
                                const sr_client_t *client, apr_pool_t *pool)
{
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *events;
    size_t openings = 0;
    *is_new = true;
    SR_TRY(sr_store_signing_events(service->database, &outcome, &row, signer, pool));
    SR_TRY(sr_service_refusal(outcome, pool));
    SR_TRY(sr_events_read(&events, row->body, pool));
    for (size_t i = 0; *is_new && i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (!open_is_same(event, "event", "opened") || !open_is_same(event, "signer", signer)) continue;
        const bool same = open_is_same(event, "ip", client->ip) && open_is_same(event, "userAgent", client->user_agent);
        *is_new = !same && ++openings < MOST;
    }
    return NULL;
}

static sr_error_t *record_opening(const sr_service_t *service, sr_transition_t *transition, void *baton)
{
    const sr_signing_t *signing = transition->signing;
    const char *signer = signing->signer->uuid;
    bool is_new;
    if (!sr_signing_may(signing, SR_ACTION_OPEN, transition->pool)) {
        sr_transition_open(transition);
        return NULL;
    }
    if (sr_signing_may(signing, SR_ACTION_SIGN, transition->pool)) return NULL;
    SR_TRY(open_compare(&is_new, service, signer, transition->client, transition->pool));
    if (is_new) sr_transition_event(transition, signer, "opened", NULL);
    return NULL;
}

sr_error_t *sr_service_signing_open(const sr_service_t *service, sr_signing_t **signing, const char *signer,
                                    const sr_client_t *client, apr_pool_t *pool)
{
    const sr_subject_t subject = {.signer = signer};
    bool is_new = true;
    SR_TRY(sr_service_signing(service, signing, signer, pool));
    if (sr_signing_may(*signing, SR_ACTION_SIGN, pool)) return NULL; /* they have signed, or nobody can sign */
    if (sr_signing_may(*signing, SR_ACTION_OPEN, pool)) SR_TRY(open_compare(&is_new, service, signer, client, pool));
    return is_new ? sr_transition_take(service, signing, &subject, client, record_opening, NULL, pool) : NULL;
}
