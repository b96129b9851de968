/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: what a creation may say about the words and choices of a submission, and its copies. */
#include "model/model.h"
#include "model/names.h"

#include <string.h>

#define SUBJECT_MAX 200 /* characters */
#define TEXT_MAX 2000
#define ADDRESS_MAX 254

/* Reads a part that is a JSON object with no other members than `names`, which ends with NULL. *object is NULL if the
 * part was not sent. */
static sr_error_t *options_object(json_t **object, const char *part, const sr_sent_t *sent, const char *const *names,
                                  apr_pool_t *pool)
{
    const char *name;
    json_t *value;
    *object = NULL;
    if (!sent->length) return NULL;
    sr_error_t *error = sr_json_parse(object, sent->text, sent->length, pool);
    if (error && error->code != SR_EBADREQUEST) return error;
    if (error) return sr_error(pool, SR_EBADREQUEST, "%s must be a JSON object: %s", part, error->message);
    if (!json_is_object(*object)) return sr_error(pool, SR_EBADREQUEST, "%s must be a JSON object", part);
    json_object_foreach (*object, name, value)
        if (!sr_name_is(names, name))
            return sr_error(pool, SR_EBADREQUEST, "%s: unknown member %s", part, sr_remark_name(name, pool));
    return NULL;
}

/* --- the sender's words */

/* Returns true if a text has a line break, which the header of a mail cannot have. */
static bool has_line_break(const char *text)
{
    return strpbrk(text, "\r\n") != NULL;
}

/* Returns a text with \n as its line breaks, and without a byte order mark, tabs, and white space at its ends. */
static char *words_trimmed(const char *text, apr_pool_t *pool)
{
    static const char bom[] = "\xef\xbb\xbf";
    char *copy = apr_pstrdup(pool, strncmp(text, bom, sizeof bom - 1) ? text : text + sizeof bom - 1), *out = copy;
    for (const char *in = copy; *in; in++) {
        if (*in == '\r' && in[1] == '\n') continue;
        *out++ = (char)(*in == '\r' ? '\n' : *in == '\t' ? ' ' : *in);
    }
    while (out > copy && strchr(" \n", out[-1])) out--;
    *out = '\0';
    return copy + strspn(copy, " \n");
}

/* Returns what is wrong with a text that may have several lines, or NULL. */
static const char *words_fault(const char *text, apr_size_t longest, apr_pool_t *pool)
{
    char *line = apr_pstrdup(pool, text);
    for (char *at = line; (at = strchr(at, '\n')) != NULL;) *at = ' ';
    return sr_text_fault(line, longest, pool);
}

/* The words are stored as they are shown: in NFC, without characters that change the direction of other text. */
static sr_error_t *read_words(const char **words, const json_t *object, const char *name, apr_size_t longest,
                              apr_pool_t *pool)
{
    const json_t *value = sr_json_given(object, name);
    const char *text = json_string_value(value);
    *words = NULL;
    if (!value) return NULL;
    if (!text || sr_text_is_blank(text))
        return sr_error(pool, SR_EBADREQUEST, "message: %s must be a text that is not blank", name);
    *words = sr_text_composed(sr_text_undirected(words_trimmed(text, pool), pool), pool);
    const char *fault = words_fault(*words, longest, pool);
    return fault ? sr_error(pool, SR_EBADREQUEST, "message: %s %s", name, fault) : NULL;
}

static sr_error_t *read_message(sr_options_t *options, const sr_sent_t *sent, apr_pool_t *pool)
{
    static const char *const names[] = {"subject", "text", NULL};
    json_t *object;
    SR_TRY(options_object(&object, "message", sent, names, pool));
    if (!object) return NULL;
    SR_TRY(read_words(&options->subject, object, "subject", SUBJECT_MAX, pool));
    SR_TRY(read_words(&options->text, object, "text", TEXT_MAX, pool));
    if (options->subject && has_line_break(options->subject))
        return sr_error(pool, SR_EBADREQUEST, "message: subject must be one line");
    return options->text ? NULL : sr_error(pool, SR_EBADREQUEST, "message: a text must be provided");
}

static bool is_address(const char *text)
{
    return text && strlen(text) <= ADDRESS_MAX && sr_text_is_email(text) && !has_line_break(text);
}

static sr_error_t *read_reply_to(sr_options_t *options, const char *text, apr_pool_t *pool)
{
    if (!text || !*text) return NULL;
    if (!is_address(text) || !sr_address_of(text, pool))
        return sr_error(pool, SR_EBADREQUEST, "replyTo must be an email address");
    options->reply_to = text;
    return NULL;
}

/* --- what signers may do */

static bool options_has(const json_t *list, const char *text)
{
    size_t i;
    json_t *one;
    json_array_foreach ((json_t *)list, i, one)
        if (!strcmp(json_string_value(one), text)) return true;
    return false;
}

static const char *const signature_types[] = {"typed", "drawn", "uploaded", NULL};

static sr_error_t *read_types(sr_options_t *options, const char *text, apr_pool_t *pool)
{
    char *at, *name = text ? apr_strtok(apr_pstrdup(pool, text), ", ", &at) : NULL;
    json_t *list = sr_json_own(json_array(), pool);
    if (!text || !*text) return NULL;
    for (; name; name = apr_strtok(NULL, ", ", &at)) {
        if (!sr_name_is(signature_types, name) || options_has(list, name)) break;
        json_array_append_new(list, json_string(name));
    }
    if (name || !json_array_size(list))
        return sr_error(pool, SR_EBADREQUEST,
                        "signatureTypes must be typed, drawn or uploaded, or several of them separated by commas");
    options->types = list;
    return NULL;
}

static sr_error_t *read_refusal(sr_options_t *options, const sr_sent_t *sent, apr_pool_t *pool)
{
    static const char *const names[] = {"allowed", "reason", NULL};
    json_t *object;
    SR_TRY(options_object(&object, "refusal", sent, names, pool));
    if (!object) return NULL;
    const json_t *allowed = sr_json_given(object, "allowed"), *reason = sr_json_given(object, "reason");
    const char *rule = json_string_value(reason);
    if (allowed && !json_is_boolean(allowed))
        return sr_error(pool, SR_EBADREQUEST, "refusal: allowed must be true or false");
    if (reason && (!rule || (strcmp(rule, "required") != 0 && strcmp(rule, "optional") != 0)))
        return sr_error(pool, SR_EBADREQUEST, "refusal: reason must be required or optional");
    if (reason && json_is_false(allowed))
        return sr_error(pool, SR_EBADREQUEST, "refusal: there is no reason if allowed is false");
    if (json_is_false(allowed)) options->refusal = SR_REFUSAL_NEVER;
    else if (rule && !strcmp(rule, "required")) options->refusal = SR_REFUSAL_REASON;
    return NULL;
}

/* --- copies */

static bool is_recipient(const char *text, apr_pool_t *pool)
{
    if (!text || !strcmp(text, "signers") || !strcmp(text, "sender")) return text != NULL;
    return is_address(text) && sr_address_of(text, pool);
}

static sr_error_t *read_copies(sr_options_t *options, const sr_sent_t *sent, apr_pool_t *pool)
{
    static const char *const names[] = {"to", "attach", NULL};
    json_t *object, *one;
    size_t i;
    SR_TRY(options_object(&object, "copies", sent, names, pool));
    if (!object) return NULL;
    const json_t *to = json_object_get(object, "to"), *attach = sr_json_given(object, "attach");
    if (!json_array_size(to) || json_array_size(to) > SR_COPIES_MAX)
        return sr_error(pool, SR_EBADREQUEST, "copies: to must be a list of 1 to %d recipients", SR_COPIES_MAX);
    json_array_foreach ((json_t *)to, i, one)
        if (!is_recipient(json_string_value(one), pool))
            return sr_error(pool, SR_EBADREQUEST, "copies: to must have signers, sender or email addresses");
    if (attach && !json_is_boolean(attach))
        return sr_error(pool, SR_EBADREQUEST, "copies: attach must be true or false");
    options->copies = true;
    options->attach = json_is_true(attach);
    options->to = to;
    return NULL;
}

sr_error_t *sr_options_read(sr_options_t *options, const sr_options_form_t *form, apr_pool_t *pool)
{
    *options = (sr_options_t){0};
    SR_TRY(read_message(options, &form->message, pool));
    SR_TRY(read_reply_to(options, form->reply_to, pool));
    SR_TRY(read_types(options, form->signature_types, pool));
    SR_TRY(read_refusal(options, &form->refusal, pool));
    return read_copies(options, &form->copies, pool);
}

/* --- as it is stored */

json_t *sr_options_json(const sr_options_t *options, apr_pool_t *pool)
{
    json_t *object = sr_json_own(json_object(), pool);
    if (options->text)
        json_object_set_new(object, "message",
                            json_pack("{s:s*,s:s}", "subject", options->subject, "text", options->text));
    if (options->reply_to) json_object_set_new(object, "replyTo", json_string(options->reply_to));
    if (options->types) json_object_set(object, "signatureTypes", (json_t *)options->types);
    if (options->refusal == SR_REFUSAL_NEVER) json_object_set_new(object, "refusal", json_pack("{s:b}", "allowed", 0));
    if (options->refusal == SR_REFUSAL_REASON)
        json_object_set_new(object, "refusal", json_pack("{s:s}", "reason", "required"));
    if (options->copies)
        json_object_set_new(object, "copies", json_pack("{s:O,s:b}", "to", options->to, "attach", options->attach));
    return json_object_size(object) ? object : NULL;
}

bool sr_options_parse(sr_options_t *options, const json_t *stored)
{
    const json_t *message = json_object_get(stored, "message"), *refusal = json_object_get(stored, "refusal");
    const json_t *copies = json_object_get(stored, "copies");
    *options = (sr_options_t){.subject = sr_json_string(message, "subject"),
                              .text = sr_json_string(message, "text"),
                              .reply_to = sr_json_string(stored, "replyTo"),
                              .types = json_object_get(stored, "signatureTypes"),
                              .copies = copies != NULL,
                              .attach = json_is_true(json_object_get(copies, "attach")),
                              .to = json_object_get(copies, "to")};
    if (refusal) options->refusal = json_object_get(refusal, "reason") ? SR_REFUSAL_REASON : SR_REFUSAL_NEVER;
    return !stored || json_is_null(stored) || json_is_object(stored);
}

bool sr_options_allow(const sr_options_t *options, const char *type)
{
    return !options->types || options_has(options->types, type);
}

sr_error_t *sr_options_check_type(const sr_options_t *options, const char *what, const char *type, apr_pool_t *pool)
{
    const char *types = "";
    size_t i;
    json_t *one;
    if (sr_options_allow(options, type)) return NULL;
    json_array_foreach ((json_t *)options->types, i, one)
        types = apr_pstrcat(pool, types, i ? " or " : "", json_string_value(one), NULL);
    return sr_error(pool, SR_EBADREQUEST, "The %s must be %s", what, types);
}
