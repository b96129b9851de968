/* SPDX-License-Identifier: Apache-2.0 */
/* invite.c: limits the number of invitations and codes (SigreqMailLimit). Each organisation has its own limits in each
 * environment, also for one address. So it cannot use up the limit of another organisation, nor learn to whom that one
 * sends invitations. Only the limit of a prefix is that of all: calls to expensive numbers are made for the money.
 *
 * A creation counts all its invitations before anything is stored. If one exceeds a limit, none is counted. They are
 * subtracted if the creation fails or is a replay. At the limit, a request with an Idempotency-Key is answered if it is
 * a replay, and else refused. The counters (sr_rate_take) are in memory that all children share.
 */
#include "service/submissions/invite.h"

#include <apr_hash.h>
#include <string.h>

#include "metrics/metrics.h"

typedef struct taken_t {
    apr_uint64_t key;
    const sr_rate_t *rate;
    apr_uint32_t count;
    int number; /* of the first signer with this address, from 1; 0 for the organisation */
    bool other; /* it is not the address of a signer */
} taken_t;

#define PREFIX 6 /* characters of a number: + and five digits */

static const char *const kinds[SR_MAIL_RATE_COUNT] = {"mail organization",   "mail recipient", "test mail organization",
                                                      "test mail recipient", "hook",           "hook recipient",
                                                      "hook prefix"};

/* `whose`: what is counted. */
static taken_t *invite_add_row(sr_inviting_t *inviting, sr_mail_rate_of_t kind, const char *whose)
{
    const sr_rate_t *rate = &inviting->service->settings->mail_rates.of[kind];
    taken_t *row = apr_array_push(inviting->taken);
    *row = (taken_t){.key = sr_rate_key(kinds[kind], whose, strlen(whose), rate), .rate = rate};
    return row;
}

static taken_t *invite_add(sr_inviting_t *inviting, sr_mail_rate_of_t of, const char *address, apr_pool_t *pool)
{
    const int kind = (int)of + (inviting->environment == SR_TEST ? SR_MAIL_RATE_TEST_ORGANIZATION : 0);
    const char *whose = apr_pstrcat(pool, inviting->organization_uuid, " ", address, NULL);
    return invite_add_row(inviting, (sr_mail_rate_of_t)kind, whose);
}

/* Makes one row for the organisation, and one for each address, regardless of case. */
static void invite_list(sr_inviting_t *inviting, const apr_array_header_t *addresses, int others, apr_pool_t *pool)
{
    apr_hash_t *rows = apr_hash_make(pool); /* from an address to the number of its row, from 1 */
    inviting->taken = apr_array_make(pool, addresses->nelts + 1, sizeof(taken_t)); /* room for all: rows do not move */
    invite_add(inviting, SR_MAIL_RATE_ORGANIZATION, "", pool)->count = (apr_uint32_t)addresses->nelts;
    for (int i = 0; i < addresses->nelts; i++) {
        const char *address = sr_text_fold(APR_ARRAY_IDX(addresses, i, const char *), pool);
        taken_t *row = apr_hash_get(rows, address, APR_HASH_KEY_STRING);
        if (!row) {
            row = invite_add(inviting, SR_MAIL_RATE_RECIPIENT, address, pool);
            row->number = i + 1;
            row->other = i >= addresses->nelts - others;
            apr_hash_set(rows, address, APR_HASH_KEY_STRING, row);
        }
        row->count++;
    }
}

/* `state` has the time at which the invitation can be sent. NULL means never. */
static sr_error_t *invite_refuse(const sr_inviting_t *inviting, const taken_t *row, const sr_rate_state_t *state,
                                 apr_pool_t *pool)
{
    const char *test = inviting->environment == SR_TEST ? "test " : "", *rate = sr_rate_text(row->rate, pool);
    const char *whose = !row->number ? "of this organisation"
                        : row->other ? "to one address (of a copy or a viewer)"
                                     : apr_psprintf(pool, "to one address (signer %d)", row->number);
    if (!state)
        return sr_error(pool, SR_EBADREQUEST, "Too many %sinvitations %s: the limit is %s, this submission needs %u",
                        test, whose, rate, row->count);
    const int seconds = (int)((state->wait + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC);
    sr_metrics_count(SR_METRIC_LIMITED, sr_metrics_number(SR_LABEL_LIMIT, "mail"), 0, 1);
    sr_error_t *error = sr_error(pool, SR_ETOOMANY, "Too many %sinvitations %s: the limit is %s, try again in %d s",
                                 test, whose, rate, seconds);
    return sr_error_retry(error, state->wait);
}

/* Counts the rows. With an error none is counted. */
static sr_error_t *invite_take_rows(sr_inviting_t *inviting, apr_pool_t *pool)
{
    const apr_time_t now = sr_time_steady();
    for (int i = 0; i < inviting->taken->nelts; i++) {
        const taken_t *row = &APR_ARRAY_IDX(inviting->taken, i, taken_t);
        sr_rate_state_t state;
        if (sr_rate_take_some(&state, row->key, row->rate, row->count, now)) continue;
        inviting->taken->nelts = i;
        sr_invite_give_back(inviting);
        return invite_refuse(inviting, row, &state, pool);
    }
    return NULL;
}

sr_error_t *sr_invite_take(sr_inviting_t *inviting, const apr_array_header_t *addresses, int others, apr_pool_t *pool)
{
    if (!inviting->service->settings) return NULL; /* the administrator has no limits */
    invite_list(inviting, addresses, others, pool);
    for (int i = 0; i < inviting->taken->nelts; i++) {
        const taken_t *row = &APR_ARRAY_IDX(inviting->taken, i, taken_t);
        if (!row->rate->times || row->count <= row->rate->times) continue;
        inviting->taken = NULL;
        return invite_refuse(inviting, row, NULL, pool);
    }
    return invite_take_rows(inviting, pool);
}

sr_error_t *sr_invite_take_hook(sr_inviting_t *inviting, const char *to, apr_pool_t *pool)
{
    const char *organization = inviting->organization_uuid;
    const char *address = apr_pstrcat(pool, organization, " ", sr_text_fold(to, pool), NULL);
    inviting->taken = apr_array_make(pool, 3, sizeof(taken_t));
    invite_add_row(inviting, SR_MAIL_RATE_HOOK, organization)->count = 1;
    invite_add_row(inviting, SR_MAIL_RATE_HOOK_RECIPIENT, address)->count = 1;
    if (*to == '+') invite_add_row(inviting, SR_MAIL_RATE_HOOK_PREFIX, apr_pstrndup(pool, to, PREFIX))->count = 1;
    return invite_take_rows(inviting, pool);
}

sr_error_t *sr_invite_take_one(sr_inviting_t *inviting, const char *address, apr_pool_t *pool)
{
    apr_array_header_t *addresses = apr_array_make(pool, 1, sizeof(const char *));
    APR_ARRAY_PUSH(addresses, const char *) = address;
    return sr_invite_take(inviting, addresses, 0, pool);
}

void sr_invite_give_back(sr_inviting_t *inviting)
{
    const apr_time_t now = sr_time_steady();
    for (int i = 0; inviting->taken && i < inviting->taken->nelts; i++) {
        const taken_t *row = &APR_ARRAY_IDX(inviting->taken, i, taken_t);
        sr_rate_give_back(row->key, row->rate, row->count, now);
    }
    inviting->taken = NULL;
}
