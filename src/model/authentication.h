/* SPDX-License-Identifier: Apache-2.0 */
/* authentication.h: how the identity of a signer is checked, beside their link. Part of model.h.
 *
 *    method   what the signer does
 *    code     enters a code that the caller has told them
 *    email    enters a code of six digits that was sent to their email address
 *    hook     enters a code of six digits that the administrator's own service has delivered (SigreqCodeHook)
 *    caller   nothing: the caller checks them, and gets a URL for one visit
 *    httpd    signs in at this server, by whatever it is configured with for <location>/sign/login
 *
 * Five wrong codes lock the signer's check for an hour, and five such locks until the caller unlocks it. A signer who
 * has passed gets a session (service/signing/session.c). Times are by the database's clock. */
#ifndef SR_MODEL_AUTHENTICATION_H
#define SR_MODEL_AUTHENTICATION_H

#include "model/model.h"

typedef enum sr_auth_method_t {
    SR_AUTH_CODE,
    SR_AUTH_EMAIL,
    SR_AUTH_HOOK,
    SR_AUTH_CALLER,
    SR_AUTH_HTTPD,
    SR_AUTH_METHOD_COUNT
} sr_auth_method_t;

#define SR_AUTH_SENDINGS 5 /* codes that are sent to a signer within an hour, at most */

struct sr_authentication_t {
    sr_auth_method_t method;
    bool on_sign;         /* only signing and declining need the check; otherwise all that the link shows does */
    const char *code;     /* SR_AUTH_CODE: as the caller sent it, then its hash (sr_slow_hash) */
    const char *to;       /* SR_AUTH_HOOK: where codes are sent */
    const char *user;     /* SR_AUTH_HTTPD: who must sign in */
    apr_time_t passed_at; /* the last time; 0: not yet */
    int wrong, locks;     /* codes since the last lock or right code; locks since the last right code or unlocking */
    apr_time_t locked_until;
    const char *challenge; /* the hash of the code that was sent last, or NULL */
    apr_time_t challenge_until;
    apr_time_t sent[SR_AUTH_SENDINGS]; /* when codes were sent, newest first */
    const char *ticket;                /* SR_AUTH_CALLER: the SHA-256 of the URL that works once, or NULL */
    apr_time_t ticket_until;
    const json_t *words; /* what the caller said with it: {"how","at","reference"?} */
};

const char *sr_auth_method_name(sr_auth_method_t method);
/* Reads what the caller sent. *authentication is NULL if `value` is NULL or null. `email` is the signer's. Returns the
 * fault, a sentence without a period, or NULL. */
const char *sr_authentication_read(sr_authentication_t **authentication, const json_t *value, const char *email,
                                   apr_pool_t *pool);
/* Sets *authentication to the check of a person who replaces the signer with the check `before`: the same one from its
 * beginning, unless it needs something that the old signer knows or has. Returns the fault, as above, or NULL. */
const char *sr_authentication_carry(sr_authentication_t **authentication, const sr_authentication_t *before,
                                    const char *email, apr_pool_t *pool);
/* Replaces the code by its hash. It takes a while. */
void sr_authentication_hide(sr_authentication_t *authentication, apr_pool_t *pool);
/* Returns the object that the database stores with the signer, which belongs to the pool. NULL gives NULL. */
json_t *sr_authentication_json(const sr_authentication_t *authentication, apr_pool_t *pool);
/* Reads that object. NULL or null gives NULL. Errors: SR_EINTERNAL. */
sr_error_t *sr_authentication_parse(sr_authentication_t **authentication, const json_t *stored, apr_pool_t *pool);
/* Returns {"method","when"}, or null. New reference. */
json_t *sr_authentication_kind(const sr_authentication_t *authentication);
/* Returns what answers show: {"method","when","state","passedAt","lockedUntil"?}. New reference. */
json_t *sr_authentication_view(const sr_authentication_t *authentication);

/* Returns the form in which two codes are compared: without spaces, hyphens and case. */
const char *sr_code_folded(const char *code, apr_pool_t *pool);
/* Returns six random digits. */
const char *sr_code_make(apr_pool_t *pool);
/* Returns until when a code that is sent now is valid. */
apr_time_t sr_code_ends(apr_time_t now);
/* Returns the hash with which an entered code is compared, or NULL if there is none now. */
const char *sr_authentication_expected(const sr_authentication_t *authentication, apr_time_t now);
bool sr_authentication_is_locked(const sr_authentication_t *authentication, apr_time_t now);
/* Returns true if another code may be sent now. */
bool sr_authentication_may_send(const sr_authentication_t *authentication, apr_time_t now);
/* Change the record: a code is sent, a wrong one was entered, the signer has passed, the caller has unlocked it (false:
 * it was not locked), or the caller gets the URL for one visit, whose secret has this hash. */
void sr_authentication_send(sr_authentication_t *authentication, const char *hash, apr_time_t now);
void sr_authentication_fail(sr_authentication_t *authentication, apr_time_t now);
void sr_authentication_pass(sr_authentication_t *authentication, apr_time_t now);
bool sr_authentication_unlock(sr_authentication_t *authentication);
void sr_authentication_admit(sr_authentication_t *authentication, const char *ticket, const json_t *words,
                             apr_time_t now);
/* Returns true if the hash is that of the URL for one visit. */
bool sr_authentication_admits(const sr_authentication_t *authentication, const char *ticket, apr_time_t now);
/* Returns true if `user`, who signed in at this server, is the user who must. Only the case of the host of an address
 * does not matter. */
bool sr_authentication_is_user(const sr_authentication_t *authentication, const char *user, apr_pool_t *pool);
/* Returns where codes are sent, so that only its owner recognises it: "a•••@example.org", "•••• 678". */
const char *sr_address_masked(const char *address, apr_pool_t *pool);

/* identified.c: how a signer was identified, beside their link, before they signed. Members that the method does not
 * have are NULL or 0.
 */
typedef struct sr_identified_t {
    const char *text;            /* the key of its text in the certificate of completion; NULL: by the link alone */
    const char *to;              /* where a code was sent */
    const char *user;            /* as whom they signed in, and by which means */
    const char *how, *reference; /* the caller's words, and the time that the caller gave */
    apr_time_t said_at, at;      /* at: when it was recorded here */
} sr_identified_t;
/* Reads an audit trail, as sr_events_read returns it. */
sr_identified_t sr_identified_read(const json_t *events, const sr_signer_t *signer, apr_pool_t *pool);

/* Returns the mail with a code, in the form of sr_invitation_row but without "url". Its body is {"email",
 * "organization", "environment", "code", "expiresAt" (of the code), "locale"?, "theme"?}. New reference. */
json_t *sr_code_row(const sr_signer_t *signer, const char *code, const sr_inviter_t *inviter, apr_pool_t *pool);

#endif
