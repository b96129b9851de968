/* SPDX-License-Identifier: Apache-2.0 */
/* authentication.c: how the identity of a signer is checked: what the caller may send, what the database stores, and
 * the rules of codes and locks. */
#include "model/model.h"

#include <string.h>

#define WRONG_MOST 5
#define LOCKS_MOST 5
#define LOCKED_FOR apr_time_from_sec(3600)
#define CODE_LIVES apr_time_from_sec(600)
#define TICKET_LIVES apr_time_from_sec(300)
#define SENDING_PERIOD apr_time_from_sec(3600)
#define CODE_LEAST 4 /* characters of a code, without spaces and hyphens */
#define CODE_MOST 32
#define TO_MOST 100
#define USER_MOST 254

static const char *const methods[SR_AUTH_METHOD_COUNT] = {"code", "email", "hook", "caller", "httpd"};
/* The member that a method needs beside the method, or NULL. */
static const char *const details[SR_AUTH_METHOD_COUNT] = {
    [SR_AUTH_CODE] = "code", [SR_AUTH_HOOK] = "to", [SR_AUTH_HTTPD] = "user"};

const char *sr_auth_method_name(sr_auth_method_t method)
{
    return methods[method];
}

static bool read_method(sr_auth_method_t *method, const char *name)
{
    for (int i = 0; name && i < SR_AUTH_METHOD_COUNT; i++)
        if (!strcmp(methods[i], name)) {
            *method = (sr_auth_method_t)i;
            return true;
        }
    return false;
}

/* --- codes */

/* Returns the length of a space or hyphen of any kind at the text, or 0. */
static size_t separator_at(const char *text)
{
    static const char *const separators[] = {" ", "-", "\xc2\xa0", "\xc2\xad", "\xe2\x80\xaf", "\xe2\x88\x92", NULL};
    for (const char *const *separator = separators; *separator; separator++)
        if (!strncmp(text, *separator, strlen(*separator))) return strlen(*separator);
    return !strncmp(text, "\xe2\x80", 2) && text[2] >= '\x90' && text[2] <= '\x95' ? 3 : 0; /* U+2010 to U+2015 */
}

const char *sr_code_folded(const char *code, apr_pool_t *pool)
{
    char *bare = apr_palloc(pool, strlen(code) + 1), *to = bare;
    for (size_t length; *code; code += length) {
        const size_t separator = separator_at(code);
        length = separator ? separator : 1;
        if (!separator) *to++ = *code;
    }
    *to = '\0';
    return sr_text_fold(bare, pool);
}

const char *sr_code_make(apr_pool_t *pool)
{
    apr_uint64_t random; /* the remainder favours no code by more than one in 10^13 */
    sr_random_fill(&random, sizeof random);
    return apr_psprintf(pool, "%06u", (unsigned int)(random % 1000000));
}

apr_time_t sr_code_ends(apr_time_t now)
{
    return now + CODE_LIVES;
}

/* --- what the caller sends */

static const char *authentication_code_fault(const char *code, apr_pool_t *pool)
{
    const char *fault = sr_text_fault(code, CODE_MOST, pool);
    const bool is_short = !fault && sr_text_length(sr_code_folded(code, pool)) < CODE_LEAST;
    return fault || is_short ? "An authentication code must have 4 to 32 printable characters" : NULL;
}

/* A telephone number has no spaces, so that each number has one form. */
static const char *to_fault(const char *to, apr_pool_t *pool)
{
    const bool is_number = *to == '+';
    const size_t digits = is_number ? strspn(to + 1, "0123456789") : 0;
    if (sr_text_fault(to, TO_MOST, pool) || strpbrk(to, " \t") || strlen(to) < 3
        || (is_number && (to[digits + 1] || digits < 7 || digits > 15)))
        return "An authentication to must be a telephone number such as +4915112345678, or another address of 3 to 100 "
               "characters without spaces";
    return NULL;
}

static const char *user_fault(const char *user, apr_pool_t *pool)
{
    return sr_text_is_blank(user) || sr_text_fault(user, USER_MOST, pool)
               ? "An authentication user must have 1 to 254 printable characters"
               : NULL;
}

static const char *detail_fault(sr_authentication_t *made, const char *text, apr_pool_t *pool)
{
    switch (made->method) {
    case SR_AUTH_CODE: made->code = text; return authentication_code_fault(text, pool);
    case SR_AUTH_HOOK: made->to = text; return to_fault(text, pool);
    case SR_AUTH_HTTPD: made->user = text; return user_fault(text, pool);
    default: return NULL;
    }
}

/* Returns the first member that the method does not have, or NULL. */
static const char *unknown_member(const json_t *value, sr_auth_method_t method)
{
    const char *key;
    json_t *member;
    json_object_foreach ((json_t *)value, key, member)
        if (strcmp(key, "method") != 0 && strcmp(key, "when") != 0
            && (!details[method] || strcmp(key, details[method]) != 0))
            return key;
    return NULL;
}

const char *sr_authentication_read(sr_authentication_t **authentication, const json_t *value, const char *email,
                                   apr_pool_t *pool)
{
    const json_t *when = sr_json_given(value, "when");
    const char *timing = json_string_value(when);
    sr_authentication_t made = {0};
    *authentication = NULL;
    if (!value || json_is_null(value)) return NULL;
    if (!json_is_object(value)) return "An authentication must be an object";
    if (!read_method(&made.method, sr_json_string(value, "method")))
        return "An authentication method must be code, email, hook, caller or httpd";
    if (when && (!timing || (strcmp(timing, "open") != 0 && strcmp(timing, "sign") != 0)))
        return "An authentication when must be open or sign";
    made.on_sign = timing && !strcmp(timing, "sign");
    const char *stranger = unknown_member(value, made.method), *detail = details[made.method];
    if (stranger)
        return apr_psprintf(pool, "An authentication of method %s has no member %s", methods[made.method],
                            sr_remark_name(stranger, pool));
    const char *text = detail ? sr_json_string(value, detail) : NULL;
    if (detail && !text) return apr_psprintf(pool, "An authentication %s must be provided", detail);
    const char *fault = detail ? detail_fault(&made, text, pool) : NULL;
    if (!fault && made.method == SR_AUTH_EMAIL && !(email && sr_address_of(email, pool)))
        fault = "An email to which mail can be sent must be provided for authentication by email";
    if (!fault) *authentication = apr_pmemdup(pool, &made, sizeof made);
    return fault;
}

const char *sr_authentication_carry(sr_authentication_t **authentication, const sr_authentication_t *before,
                                    const char *email, apr_pool_t *pool)
{
    *authentication = NULL;
    if (before && details[before->method]) return "authentication must be provided for the new signer, or null";
    return sr_authentication_read(authentication, sr_json_own(sr_authentication_kind(before), pool), email, pool);
}

void sr_authentication_hide(sr_authentication_t *authentication, apr_pool_t *pool)
{
    if (authentication->code) authentication->code = sr_slow_hash(sr_code_folded(authentication->code, pool), pool);
}

/* --- what is stored */

static void authentication_set_text(json_t *object, const char *key, const char *text)
{
    if (text) json_object_set_new(object, key, json_string(text));
}

static void authentication_set_number(json_t *object, const char *key, apr_int64_t number)
{
    if (number) json_object_set_new(object, key, json_integer(number));
}

json_t *sr_authentication_json(const sr_authentication_t *authentication, apr_pool_t *pool)
{
    if (!authentication) return NULL;
    json_t *object = sr_json_own(json_object(), pool), *sent = json_array();
    authentication_set_text(object, "method", methods[authentication->method]);
    if (authentication->on_sign) json_object_set_new(object, "on_sign", json_true());
    authentication_set_text(object, "code", authentication->code);
    authentication_set_text(object, "to", authentication->to);
    authentication_set_text(object, "user", authentication->user);
    authentication_set_number(object, "passed_at", authentication->passed_at);
    authentication_set_number(object, "wrong", authentication->wrong);
    authentication_set_number(object, "locks", authentication->locks);
    authentication_set_number(object, "locked_until", authentication->locked_until);
    authentication_set_text(object, "challenge", authentication->challenge);
    authentication_set_number(object, "challenge_until", authentication->challenge_until);
    for (int i = 0; i < SR_AUTH_SENDINGS && authentication->sent[i]; i++)
        json_array_append_new(sent, json_integer(authentication->sent[i]));
    json_object_set_new(object, "sent", sent);
    authentication_set_text(object, "ticket", authentication->ticket);
    authentication_set_number(object, "ticket_until", authentication->ticket_until);
    if (authentication->words) json_object_set(object, "words", (json_t *)authentication->words);
    return object;
}

static apr_int64_t authentication_number(const json_t *stored, const char *key)
{
    return (apr_int64_t)json_integer_value(json_object_get(stored, key));
}

sr_error_t *sr_authentication_parse(sr_authentication_t **authentication, const json_t *stored, apr_pool_t *pool)
{
    *authentication = NULL;
    if (!stored || json_is_null(stored)) return NULL;
    sr_authentication_t *made = apr_palloc(pool, sizeof *made);
    const json_t *sent = json_object_get(stored, "sent");
    *made = (sr_authentication_t){.on_sign = json_is_true(json_object_get(stored, "on_sign")),
                                  .code = sr_json_string(stored, "code"),
                                  .to = sr_json_string(stored, "to"),
                                  .user = sr_json_string(stored, "user"),
                                  .passed_at = authentication_number(stored, "passed_at"),
                                  .wrong = (int)authentication_number(stored, "wrong"),
                                  .locks = (int)authentication_number(stored, "locks"),
                                  .locked_until = authentication_number(stored, "locked_until"),
                                  .challenge = sr_json_string(stored, "challenge"),
                                  .challenge_until = authentication_number(stored, "challenge_until"),
                                  .ticket = sr_json_string(stored, "ticket"),
                                  .ticket_until = authentication_number(stored, "ticket_until"),
                                  .words = json_object_get(stored, "words")};
    for (size_t i = 0; i < SR_AUTH_SENDINGS; i++)
        made->sent[i] = (apr_time_t)json_integer_value(json_array_get(sent, i));
    if (!read_method(&made->method, sr_json_string(stored, "method")))
        return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "signer row: authentication");
    *authentication = made;
    return NULL;
}

/* --- what is shown */

/* A lock that time alone would end is shown until something else changes, with its end. */
static bool is_shown_locked(const sr_authentication_t *authentication)
{
    return authentication->locks >= LOCKS_MOST || authentication->locked_until;
}

static const char *authentication_state(const sr_authentication_t *authentication)
{
    if (is_shown_locked(authentication)) return "locked";
    return authentication->passed_at ? "passed" : "pending";
}

json_t *sr_authentication_kind(const sr_authentication_t *authentication)
{
    if (!authentication) return json_null();
    return json_pack("{s:s,s:s}", "method", methods[authentication->method], "when",
                     authentication->on_sign ? "sign" : "open");
}

json_t *sr_authentication_view(const sr_authentication_t *authentication)
{
    json_t *object = sr_authentication_kind(authentication);
    const char *state = authentication_state(authentication);
    json_object_set_new(object, "state", json_string(state));
    json_object_set_new(object, "passedAt",
                        authentication->passed_at ? sr_time_json(authentication->passed_at) : json_null());
    if (!strcmp(state, "locked"))
        json_object_set_new(object, "lockedUntil",
                            authentication->locks < LOCKS_MOST ? sr_time_json(authentication->locked_until)
                                                               : json_null());
    return object;
}

const char *sr_address_masked(const char *address, apr_pool_t *pool)
{
    const char *at = strrchr(address, '@'), *end = address;
    sr_text_next(&end);
    if (at)
        return apr_pstrcat(pool, apr_pstrmemdup(pool, address, (apr_size_t)(end - address)), "\u2022\u2022\u2022", at,
                           NULL);
    const size_t length = strlen(address);
    return apr_pstrcat(pool, "\u2022\u2022\u2022\u2022 ", *address == '+' ? address + length - 3 : "", NULL);
}

/* --- rules */

const char *sr_authentication_expected(const sr_authentication_t *authentication, apr_time_t now)
{
    if (sr_authentication_is_locked(authentication, now)) return NULL;
    if (authentication->method == SR_AUTH_CODE) return authentication->code;
    return now < authentication->challenge_until ? authentication->challenge : NULL;
}

bool sr_authentication_is_locked(const sr_authentication_t *authentication, apr_time_t now)
{
    return authentication->locks >= LOCKS_MOST || now < authentication->locked_until;
}

bool sr_authentication_may_send(const sr_authentication_t *authentication, apr_time_t now)
{
    const apr_time_t oldest = authentication->sent[SR_AUTH_SENDINGS - 1];
    return !sr_authentication_is_locked(authentication, now) && (!oldest || oldest + SENDING_PERIOD <= now);
}

bool sr_authentication_is_user(const sr_authentication_t *authentication, const char *user, apr_pool_t *pool)
{
    if (authentication->method != SR_AUTH_HTTPD || !sr_text_is_utf8(user, strlen(user))) return false;
    const char *wanted = sr_text_composed(authentication->user, pool), *given = sr_text_composed(user, pool);
    const char *host = strrchr(wanted, '@');
    const size_t exact = host ? (size_t)(host - wanted) : strlen(wanted);
    return strlen(given) == strlen(wanted) && !memcmp(given, wanted, exact)
           && !strcasecmp(given + exact, wanted + exact);
}

void sr_authentication_send(sr_authentication_t *authentication, const char *hash, apr_time_t now)
{
    memmove(authentication->sent + 1, authentication->sent, sizeof authentication->sent - sizeof *authentication->sent);
    authentication->sent[0] = now;
    authentication->challenge = hash;
    authentication->challenge_until = sr_code_ends(now);
}

void sr_authentication_fail(sr_authentication_t *authentication, apr_time_t now)
{
    authentication->locked_until = 0; /* it is over */
    if (++authentication->wrong < WRONG_MOST) return;
    authentication->wrong = 0;
    authentication->locks++;
    authentication->locked_until = now + LOCKED_FOR;
    authentication->challenge = NULL;
}

void sr_authentication_pass(sr_authentication_t *authentication, apr_time_t now)
{
    sr_authentication_unlock(authentication);
    authentication->passed_at = now;
    authentication->challenge = authentication->ticket = NULL;
    authentication->challenge_until = authentication->ticket_until = 0;
    authentication->words = NULL;
}

bool sr_authentication_unlock(sr_authentication_t *authentication)
{
    const bool was_locked = is_shown_locked(authentication);
    authentication->wrong = authentication->locks = 0;
    authentication->locked_until = 0;
    return was_locked;
}

void sr_authentication_admit(sr_authentication_t *authentication, const char *ticket, const json_t *words,
                             apr_time_t now)
{
    authentication->ticket = ticket;
    authentication->ticket_until = now + TICKET_LIVES;
    authentication->words = words;
}

bool sr_authentication_admits(const sr_authentication_t *authentication, const char *ticket, apr_time_t now)
{
    return authentication->method == SR_AUTH_CALLER && authentication->ticket && ticket
           && now < authentication->ticket_until && !strcmp(authentication->ticket, ticket);
}
