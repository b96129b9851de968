/* SPDX-License-Identifier: Apache-2.0 */
/* signers.c: checks the part `signers` of POST /signatures in the order of the contract's error table: signer by
 * signer (firstname, lastname, email, locale, order, fields), and within each signer field by field (type, name,
 * document, area, x/y, w/h, page, unit, origin, caption). The first error is returned. resolve.c finds the documents
 * and pages afterwards. */
#include "model/model.h"

#include <limits.h>
#include <string.h>

#define MAX_NAME 500
#define MAX_EMAIL 254 /* RFC 5321, 4.5.3.1.3, without the angle brackets */
/* JSON values that are allowed for each signer and field: a field has 12, and a client may add members. */
#define VALUES_EACH 50
#define BYTE_ORDER_MARK "\xEF\xBB\xBF"
#define MAX_ECHO 254 /* characters of a malformed email that its message repeats */

/* The signer and field that is being checked. Both count from 1, as in messages. Field 0 is the signer itself. */
typedef struct place_t {
    int signer, field;
    const char *email; /* NULL until it has been checked */
    apr_pool_t *pool;
} place_t;

static sr_error_t *signers_refuse(const place_t *at, const char *reason)
{
    const char *who = apr_psprintf(at->pool, "Signer %d", at->signer);
    if (!at->signer) return sr_error(at->pool, SR_EBADREQUEST, "%s", reason); /* one person alone */
    if (at->email) who = apr_psprintf(at->pool, "%s (%s)", who, at->email);
    if (at->field) who = apr_psprintf(at->pool, "%s, Field %d", who, at->field);
    return sr_error(at->pool, SR_EBADREQUEST, "%s: %s", who, reason);
}

sr_error_t *sr_signers_refuse(const sr_signer_t *signer, int number, int field, const char *reason, apr_pool_t *pool)
{
    const place_t at = {.signer = number, .field = field, .email = signer->email, .pool = pool};
    return signers_refuse(&at, reason);
}

/* Adds a remark for each unknown member of an object. `type` is that of a field, or NULL. `of` ends the remark, as in
 * " of its area". */
static void remark_unknown(const place_t *at, const json_t *object, const char *const *known,
                           const sr_field_type_t *type, const char *of, sr_remarks_t *remarks)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)object, key, value) {
        const char *const *name = known;
        while (*name && strcmp(*name, key) != 0) name++;
        if (*name || (type && sr_field_type_has(type, key))) continue;
        const char *shown = sr_remark_name(key, at->pool); /* the loop goes on from `key` */
        if (at->field) sr_remark(remarks, "Signer %d, Field %d: unknown member %s%s", at->signer, at->field, shown, of);
        else sr_remark(remarks, "Signer %d: unknown member %s%s", at->signer, shown, of);
    }
}

/* --- texts */

typedef struct text_rule_t {
    const char *key, *label;
    apr_size_t longest; /* in characters; 0: no limit, because the text is only compared with others */
} text_rule_t;

static const text_rule_t firstname_rule = {"firstname", "A firstname", MAX_NAME};
static const text_rule_t lastname_rule = {"lastname", "A lastname", MAX_NAME};
static const text_rule_t type_rule = {"type", "A type", 0};
static const text_rule_t name_rule = {"name", "A name", MAX_NAME};
static const text_rule_t document_rule = {"document", "A document", 0};

static sr_error_t *check_limits(const place_t *at, const char *text, const text_rule_t *rule)
{
    const char *fault = sr_text_fault(text, rule->longest, at->pool);
    return fault ? signers_refuse(at, apr_psprintf(at->pool, "%s %s", rule->label, fault)) : NULL;
}

static sr_error_t *signers_take_text(const char **text, const place_t *at, const json_t *object,
                                     const text_rule_t *rule)
{
    *text = sr_json_string(object, rule->key);
    if (!*text || sr_text_is_blank(*text))
        return signers_refuse(at, apr_psprintf(at->pool, "%s must be provided", rule->label));
    return rule->longest ? check_limits(at, *text, rule) : NULL;
}

/* --- email */

/* Returns a malformed email, which can be any JSON value, for the error message: cut to MAX_ECHO characters. */
static const char *echo(const json_t *value, apr_pool_t *pool)
{
    const char *text = json_is_string(value) ? json_string_value(value) : sr_json_text(value, pool);
    return sr_text_cut(text, MAX_ECHO, pool);
}

/* An address to which no mail can be sent is an error only if mail will be sent. */
static sr_error_t *take_email(const char **email, const place_t *at, const json_t *object,
                              const sr_signers_rules_t *rules)
{
    static const text_rule_t rule = {"email", "An email", MAX_EMAIL};
    const json_t *value = sr_json_given(object, rule.key);
    const char *text = json_string_value(value);
    *email = NULL;
    if (!value || (text && !*text))
        return rules->send_email ? signers_refuse(at, "An email must be provided when sendEmail is enabled") : NULL;
    const bool sendable = text && sr_address_of(text, at->pool);
    if (!text || !sr_text_is_email(text) || (rules->send_email && !sendable && sr_text_length(text) <= MAX_EMAIL))
        return signers_refuse(at, apr_psprintf(at->pool, "Invalid email format: %s", echo(value, at->pool)));
    SR_TRY(check_limits(at, text, &rule));
    if (!sendable) sr_remark(rules->remarks, "Signer %d: no mail can be sent to this email", at->signer);
    *email = text;
    return NULL;
}

/* --- locale */

/* A language without texts is no error. Another language is used, and the response has a remark. */
static sr_error_t *take_locale(const char **locale, const place_t *at, const json_t *object,
                               const sr_signers_rules_t *rules)
{
    const json_t *value = sr_json_given(object, "locale");
    const char *text = json_string_value(value);
    *locale = rules->locale;
    if (!value || (text && !*text)) return NULL;
    if (!text || !sr_locale_is_valid(text))
        return signers_refuse(at, "A locale must be a language tag (BCP 47), such as de or pt-BR");
    if (!sr_language_of(text))
        sr_remark(rules->remarks, "Signer %d: there are no texts in %s, another language is used", at->signer, text);
    *locale = text;
    return NULL;
}

/* --- order */

#define MAX_ORDER 10000

static sr_error_t *take_order(int *order, const place_t *at, const json_t *object)
{
    const json_t *value = sr_json_given(object, "order");
    const json_int_t number = json_integer_value(value);
    *order = 1;
    if (!value) return NULL;
    if (!json_is_integer(value) || number < 1 || number > MAX_ORDER)
        return signers_refuse(at, apr_psprintf(at->pool, "An order must be an integer from 1 to %d", MAX_ORDER));
    *order = (int)number;
    return NULL;
}

/* Returns the type of a JSON value in words, for an error message. */
static const char *signers_describe(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",      [JSON_FALSE] = "false",     [JSON_NULL] = "null"};
    return names[json_typeof(value)];
}

/* --- fields */

static bool take_numbers(double *first, double *second, const json_t *area, const char *first_key,
                         const char *second_key)
{
    const json_t *a = json_object_get(area, first_key), *const b = json_object_get(area, second_key);
    *first = json_number_value(a);
    *second = json_number_value(b);
    return json_is_number(a) && json_is_number(b);
}

static bool take_page(int *page, const json_t *area)
{
    const json_t *value = json_object_get(area, "page");
    const json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0) return false;
    *page =
        number > INT_MAX ? INT_MAX : (int)number; /* no document has such a page, so sr_signers_resolve refuses it */
    return true;
}

static bool take_origin(sr_origin_t *origin, const json_t *value, sr_origin_t otherwise)
{
    const char *text = json_string_value(value);
    *origin = text && strcmp(text, "user-space") == 0 ? SR_ORIGIN_USER_SPACE : SR_ORIGIN_TOP_LEFT;
    if (text) return strcmp(text, "user-space") == 0 || strcmp(text, "top-left") == 0;
    *origin = otherwise;
    return !value;
}

static const char *const members_of_area[] = {"x",        "y",     "w",      "h",     "unit", "page",
                                              "pageFrom", "pages", "origin", "field", NULL};

/* Reads the name of an existing signature field. An area with such a name has no coordinates. */
static sr_error_t *take_existing(const char **existing, const place_t *at, const json_t *area)
{
    const json_t *value = sr_json_given(area, "field");
    *existing = NULL;
    if (!value) return NULL;
    for (const char *const *member = members_of_area; strcmp(*member, "field") != 0; member++)
        if (json_object_get(area, *member))
            return signers_refuse(at, "Area must have either a field or coordinates, not both");
    *existing = json_string_value(value);
    return *existing && !sr_text_is_blank(*existing)
               ? NULL
               : signers_refuse(at, "Area field must be the name of a signature field");
}

/* Reads a member that has only one value, if it is there. */
static bool take_word(bool *there, const json_t *area, const char *key, const char *word)
{
    const json_t *value = sr_json_given(area, key);
    *there = value != NULL;
    return !value || (json_is_string(value) && !strcmp(json_string_value(value), word));
}

static sr_error_t *take_pages(sr_field_t *field, const place_t *at, const json_t *value)
{
    sr_area_t *area = &field->area;
    if (!take_word(&field->on_all_pages, value, "pages", "all"))
        return signers_refuse(at, "Area pages must be all or absent");
    if (field->on_all_pages && (sr_json_given(value, "page") || sr_json_given(value, "pageFrom")))
        return signers_refuse(at, "Area must have either a page or pages, not both");
    if (!field->on_all_pages && !take_page(&area->page, value))
        return signers_refuse(at, "Area page must be a non-negative integer");
    return take_word(&area->from_end, value, "pageFrom", "end")
               ? NULL
               : signers_refuse(at, "Area pageFrom must be end or absent");
}

static sr_error_t *take_area(sr_field_t *field, const place_t *at, const json_t *value, sr_origin_t origin)
{
    sr_area_t *area = &field->area;
    const json_t *sent_origin = sr_json_given(value, "origin");
    if (!take_numbers(&area->x, &area->y, value, "x", "y"))
        return signers_refuse(at, "Area x/y coordinate must be a number");
    if (!take_numbers(&area->w, &area->h, value, "w", "h") || !(area->w > 0) || !(area->h > 0))
        return signers_refuse(at, "Area width/height must be a positive number");
    SR_TRY(take_pages(field, at, value));
    if (!take_word(&area->percent, value, "unit", "percent"))
        return signers_refuse(at, "Area unit must be percent or absent");
    if (area->percent && sent_origin) return signers_refuse(at, "Area in percent must not have an origin");
    return take_origin(&area->origin, sent_origin, area->percent ? SR_ORIGIN_TOP_LEFT : origin)
               ? NULL
               : signers_refuse(at, "Area origin must be user-space or top-left");
}

/* Without a caption, or with null, a signature has that of the form. An empty text means no caption. */
static sr_error_t *take_caption(const char **caption, const sr_field_type_t *type, const place_t *at,
                                const json_t *field, const sr_signers_rules_t *rules)
{
    const json_t *value = sr_json_given(field, "caption");
    *caption = type->initials ? NULL : rules->caption;
    if (!value) return NULL;
    if (!json_is_string(value) || !sr_caption_read(caption, json_string_value(value), at->pool))
        return signers_refuse(at, "A " SR_CAPTION_RULE);
    return NULL;
}

static sr_error_t *take_type(const sr_field_type_t **type, const place_t *at, const json_t *value,
                             const sr_signers_rules_t *rules)
{
    static const char *const known[] = {"type", "name", "document", "area", "caption", NULL};
    static const char *const of_entry[] = {"type", "name", "document", "area", NULL};
    const char *name = sr_json_string(value, "type");
    const json_t *area = json_object_get(value, "area");
    *type = name ? sr_field_type(name) : NULL;
    const bool seals = !*type || (*type)->filler == SR_FILLER_SEAL;
    remark_unknown(at, value, seals ? known : of_entry, *type, "", rules->remarks);
    const json_t *anchor = sr_json_given(area, "anchor");
    if (json_is_object(area))
        remark_unknown(at, area, anchor ? sr_anchor_area_members : members_of_area, NULL, " of its area",
                       rules->remarks);
    if (json_is_object(anchor)) remark_unknown(at, anchor, sr_anchor_members, NULL, " of its anchor", rules->remarks);
    SR_TRY(signers_take_text(&name, at, value, &type_rule));
    return *type ? NULL
                 : sr_error_hint(signers_refuse(at, "Only type signature is supported"), at->pool,
                                 "further types are initials, text, date, checkbox and choice");
}

static sr_error_t *take_place(sr_field_t *field, const place_t *at, const sr_signers_rules_t *rules)
{
    if (!json_is_object(field->area_sent)) {
        sr_error_t *error = signers_refuse(at, "An area must be provided");
        return field->area_sent ? sr_error_hint(error, at->pool, "%s was sent", signers_describe(field->area_sent))
                                : error;
    }
    const char *fault = sr_anchor_read(&field->anchor, field->area_sent, at->pool);
    if (fault) return signers_refuse(at, fault);
    if (!field->anchor) SR_TRY(take_existing(&field->existing, at, field->area_sent));
    return field->existing || field->anchor ? NULL : take_area(field, at, field->area_sent, rules->default_origin);
}

static sr_error_t *take_entry(sr_field_t *field, const place_t *at, const json_t *value)
{
    const char *fault = sr_entry_read(&field->entry, field->type, value, at->pool);
    if (field->type->filler == SR_FILLER_SERVICE) field->entry->value = NULL;
    return fault ? signers_refuse(at, fault) : NULL;
}

static sr_error_t *signers_take_field(sr_field_t *field, const place_t *at, const json_t *value,
                                      const sr_signers_rules_t *rules)
{
    if (!json_is_object(value)) return signers_refuse(at, "Must be an object");
    *field = (sr_field_t){.number = at->field, .area_sent = json_object_get(value, "area")};
    SR_TRY(take_type(&field->type, at, value, rules));
    SR_TRY(signers_take_text(&field->name, at, value, &name_rule));
    SR_TRY(signers_take_text(&field->document, at, value, &document_rule));
    SR_TRY(take_place(field, at, rules));
    if (field->type->filler == SR_FILLER_SEAL) SR_TRY(take_caption(&field->caption, field->type, at, value, rules));
    else if (field->existing) field->sent = value;
    else SR_TRY(take_entry(field, at, value));
    if (field->on_all_pages && (!field->type->repeats || (field->entry && !field->entry->read_only)))
        return signers_refuse(at, "Only initials, date and read-only text can be on all pages");
    return NULL;
}

/* --- signers */

static sr_error_t *take_authentication(sr_signer_t *signer, const place_t *at, const json_t *value)
{
    const json_t *sent = json_object_get(value, "authentication");
    const char *fault = sr_authentication_read(&signer->authentication, sent, signer->email, at->pool);
    return fault ? signers_refuse(at, fault) : NULL;
}

static sr_error_t *take_fields(sr_signer_t *signer, int *fields_so_far, place_t *at, const json_t *value,
                               const sr_signers_rules_t *rules)
{
    const json_t *list;
    const char *fault = sr_role_fields(&list, rules->roles, at->signer, value, at->pool);
    const int count = (int)json_array_size(list); /* 0 for other types */
    if (fault) return signers_refuse(at, fault);
    if (!count && !rules->draft) return signers_refuse(at, "Must have at least 1 field");
    if (count > rules->max_fields - *fields_so_far)
        return sr_error(at->pool, SR_EBADREQUEST, "At most %d fields can be provided", rules->max_fields);
    *fields_so_far += count;
    apr_array_header_t *fields = apr_array_make(at->pool, count, sizeof(sr_field_t));
    for (at->field = 1; at->field <= count; at->field++) {
        sr_field_t *field = apr_array_push(fields);
        SR_TRY(signers_take_field(field, at, json_array_get(list, (size_t)at->field - 1), rules));
    }
    signer->fields = fields;
    at->field = 0;
    fault = sr_entries_fault(signer, rules->draft, at->pool);
    return fault ? signers_refuse(at, fault) : NULL;
}

static sr_error_t *take_signer(sr_signer_t *signer, int *fields_so_far, place_t *at, const json_t *value,
                               const sr_signers_rules_t *rules)
{
    static const char *const known[] = {"firstname", "lastname",       "email",  "locale", "order",
                                        "fields",    "authentication", "values", NULL};
    if (!json_is_object(value)) return signers_refuse(at, "Must be an object");
    remark_unknown(at, value, known, NULL, "", rules->remarks);
    SR_TRY(signers_take_text(&signer->firstname, at, value, &firstname_rule));
    SR_TRY(signers_take_text(&signer->lastname, at, value, &lastname_rule));
    SR_TRY(take_email(&signer->email, at, value, rules));
    at->email = signer->email;
    SR_TRY(take_locale(&signer->locale, at, value, rules));
    SR_TRY(take_order(&signer->order, at, value));
    SR_TRY(take_authentication(signer, at, value));
    signer->uuid = sr_uuid_make(at->pool);
    return take_fields(signer, fields_so_far, at, value, rules);
}

static sr_error_t *take_array(json_t **list, const char *text, apr_size_t length, const sr_signers_rules_t *rules,
                              apr_pool_t *pool)
{
    const apr_size_t mark = length >= 3 && !memcmp(text, BYTE_ORDER_MARK, 3) ? 3 : 0; /* RFC 8259, 8.1 */
    const apr_size_t most = ((apr_size_t)rules->max_signers + (apr_size_t)rules->max_fields) * VALUES_EACH;
    sr_error_t *error = sr_json_parse_tolerant(list, text + mark, length - mark, most, pool);
    const char *reason = NULL;
    if (error && error->code != SR_EBADREQUEST) return error;
    if (error) reason = error->message;
    else if (json_typeof(*list) != JSON_ARRAY) reason = apr_psprintf(pool, "%s was sent", signers_describe(*list));
    return reason ? sr_error(pool, SR_EBADREQUEST, "Signers must be a JSON array: %s", reason) : NULL;
}

sr_error_t *sr_signer_read_person(sr_signer_t *signer, const json_t *object, bool email, apr_pool_t *pool)
{
    const sr_signers_rules_t rules = {.send_email = email};
    const place_t at = {.signer = 0, .pool = pool};
    *signer = (sr_signer_t){0};
    SR_TRY(signers_take_text(&signer->firstname, &at, object, &firstname_rule));
    SR_TRY(signers_take_text(&signer->lastname, &at, object, &lastname_rule));
    SR_TRY(take_email(&signer->email, &at, object, &rules));
    SR_TRY(take_locale(&signer->locale, &at, object, &rules));
    return take_authentication(signer, &at, object);
}

sr_error_t *sr_signers_parse(apr_array_header_t **signers, const char *text, apr_size_t length,
                             const sr_signers_rules_t *rules, apr_pool_t *pool)
{
    int fields_so_far = 0, count, i;
    json_t *list;
    *signers = NULL;
    SR_TRY(take_array(&list, text, length, rules, pool));
    if (json_array_size(list) == 0) return sr_error(pool, SR_EBADREQUEST, "At least 1 signer must be provided");
    if (json_array_size(list) > (size_t)rules->max_signers)
        return sr_error(pool, SR_EBADREQUEST, "At most %d signers can be provided", rules->max_signers);

    count = (int)json_array_size(list);
    if (rules->roles && json_array_size(list) != json_array_size(rules->roles))
        return sr_error(pool, SR_EBADREQUEST, "Template %s has %d signers, and %d are provided", rules->template,
                        (int)json_array_size(rules->roles), count);
    *signers = apr_array_make(pool, count, sizeof(sr_signer_t));
    for (i = 0; i < count; i++) {
        place_t at = {.signer = i + 1, .pool = pool};
        sr_signer_t *signer = apr_array_push(*signers);
        SR_TRY(take_signer(signer, &fields_so_far, &at, json_array_get(list, (size_t)i), rules));
    }
    return NULL;
}

/* --- the fields of a draft */

/* Returns the fields that were sent for a signer, or that they have. New reference. */
static sr_error_t *signers_fields_of(json_t **fields, const place_t *at, const sr_signer_t *signer, const json_t *sent,
                                     const sr_signers_rules_t *rules)
{
    static const char *const known[] = {"fields", NULL};
    if (!sent) {
        *fields = sr_signer_fields_json(signer);
        return NULL;
    }
    if (!json_is_object(sent)) return signers_refuse(at, "Must be an object");
    remark_unknown(at, sent, known, NULL, "", rules->remarks);
    *fields = json_object_get(sent, "fields");
    if (!json_is_array(*fields)) return signers_refuse(at, "fields must be an array");
    json_incref(*fields);
    return NULL;
}

/* They are read like those of a template, because they may be as they are shown. */
sr_error_t *sr_signers_place(apr_array_header_t *signers, const char *text, apr_size_t length,
                             const sr_signers_rules_t *rules, apr_pool_t *pool)
{
    const json_t *nothing = sr_json_own(json_object(), pool);
    json_t *list = NULL, *roles = sr_json_own(json_array(), pool), *fields = NULL;
    sr_signers_rules_t own = *rules;
    int fields_so_far = 0;
    if (text) SR_TRY(take_array(&list, text, length, rules, pool));
    if (list && json_array_size(list) != (size_t)signers->nelts)
        return sr_error(pool, SR_EBADREQUEST, "The draft has %d signers, and %d are provided", signers->nelts,
                        (int)json_array_size(list));
    own.roles = roles;
    for (int i = 0; i < signers->nelts; i++) {
        sr_signer_t *signer = &APR_ARRAY_IDX(signers, i, sr_signer_t);
        place_t at = {.signer = i + 1, .email = signer->email, .pool = pool};
        SR_TRY(signers_fields_of(&fields, &at, signer, json_array_get(list, (size_t)i), rules));
        json_array_append_new(roles, fields);
        SR_TRY(take_fields(signer, &fields_so_far, &at, nothing, &own));
    }
    return NULL;
}
