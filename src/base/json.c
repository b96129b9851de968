/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: jansson with our strictness and our memory rule (every json_t belongs to a pool). jansson refuses
 * invalid UTF-8, lone surrogates, escaped NUL and numbers out of range; duplicate keys by a flag; raw NUL and depth
 * are ours. */
#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* jansson skips a raw NUL between tokens, and its own limit is 2048 levels of recursion. Brackets outside strings
 * are counted before it sees the text, so neither its parser nor anything that walks the value later can recurse
 * deeper than our limit. So are values, at least: three bytes of text, "{},", become hundreds in memory.
 * In malformed text the count may be off after the error, which is harmless: the text is
 * refused either way. */
static sr_error_t *check_bytes(const char *text, apr_size_t length, apr_size_t max_values, apr_pool_t *pool)
{
    apr_size_t i, line = 1, column = 0, depth = 0, values = 0;
    bool in_string = false, escaped = false;

    for (i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];

        if ((c & 0xC0) != 0x80) column++; /* columns are characters, as jansson's are */
        if (c == '\0')
            return sr_error(pool, SR_EBADREQUEST,
                            "NUL is not allowed at line %" APR_SIZE_T_FMT " column %" APR_SIZE_T_FMT, line, column);
        if (c == '\n') {
            line++;
            column = 0;
        }
        if (in_string) {
            if (!escaped && c == '"') in_string = false;
            escaped = !escaped && c == '\\';
            continue;
        }
        if ((c == ',' || c == '[' || c == '{') && ++values > max_values)
            return sr_error(pool, SR_EBADREQUEST, "more than %" APR_SIZE_T_FMT " values", max_values);
        if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > SR_JSON_MAX_DEPTH)
                return sr_error(pool, SR_EBADREQUEST,
                                "nested more than %d deep at line %" APR_SIZE_T_FMT " column %" APR_SIZE_T_FMT,
                                SR_JSON_MAX_DEPTH, line, column);
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return NULL;
}

/* jansson does not say that it got no memory: it blames the text, or leaves out a piece of it (measured: jansson 2.14,
 * t/unit/base_json.c). So its allocations are watched. */
static json_malloc_t allocate;
static __thread bool lacks_memory;

static void *allocate_watched(size_t size)
{
    void *memory = allocate(size);

    if (!memory) lacks_memory = true;
    return memory;
}

void sr_json_watch_memory(void)
{
    json_free_t release;

    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(allocate_watched, release);
}

static sr_error_t *parse(json_t **value, const char *text, apr_size_t length, apr_size_t max_values, apr_pool_t *pool)
{
    json_error_t error;
    const char *reason;

    *value = NULL;
    SR_TRY(check_bytes(text, length, max_values, pool));
    lacks_memory = false;
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (*value) sr_json_own(*value, pool);
    if (lacks_memory || (!*value && !*error.text)) {
        *value = NULL;
        return sr_error(pool, SR_EUNAVAILABLE, "There is no memory for this at the moment");
    }
    if (*value) return NULL;
    reason = sr_text_printable(error.text, pool); /* it quotes up to 20 bytes of the input, whatever they are */
    if (json_error_code(&error) == json_error_null_character)
        reason = "\\u0000 is not allowed"; /* where jansson's text tells the programmer of a flag */
    return sr_error(pool, SR_EBADREQUEST, "%s at line %d column %d", reason, error.line, error.column);
}

sr_error_t *sr_json_parse(json_t **value, const char *text, apr_size_t length, apr_pool_t *pool)
{
    return parse(value, text, length, length, pool);
}

sr_error_t *sr_json_parse_bounded(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                  apr_pool_t *pool)
{
    return parse(value, text, length, max_values, pool);
}

sr_error_t *sr_json_read(json_t **value, const char *text, apr_pool_t *pool)
{
    sr_error_t *const error = sr_json_parse(value, text, strlen(text), pool);

    if (!error || error->code != SR_EBADREQUEST) return error;
    return sr_error_from(
        sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "stored JSON: %s", error->message),
        error);
}

/* The end of the number at `text` (RFC 8259, 6), or NULL when it is none. */
static char *number_end(char *text)
{
    static const char digits[] = "0123456789";
    size_t count;

    if (*text == '-') text++;
    count = *text == '0' ? 1 : strspn(text, digits);
    if (!count) return NULL;
    text += count;
    if (*text == '.') {
        if (!(count = strspn(text + 1, digits))) return NULL;
        text += 1 + count;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '+' || text[1] == '-' ? 2 : 1;
        if (!(count = strspn(text, digits))) return NULL;
        text += count;
    }
    return text;
}

/* What to write over a number that jansson cannot hold, as an integer or, with a fraction or an exponent, as a real.
 * That is the nearest integer that it can hold, or null if not even a real can hold the number. NULL if it can. What is
 * returned is never longer than the number: 1e309 has five characters, and an integer that is too large 19 or more.
 */
static const char *in_place_of(const char *number, const char *end)
{
    const char *at = number;

    errno = 0;
    while (at < end && !strchr(".eE", *at)) at++;
    if (isinf(strtod(number, NULL))) return "null";
    errno = 0;
    if (at < end || strtoll(number, NULL, 10) == 0 || errno != ERANGE) return NULL;
    return *number == '-' ? "-9223372036854775808" : "9223372036854775807";
}

/* Mends each number out of range. True when there was one. */
static bool mend_overflows(char *text)
{
    bool in_string = false, found = false;
    char *end;

    for (; *text; text++) {
        if (*text == '"') in_string = !in_string;
        else if (in_string && *text == '\\' && text[1]) text++;
        if (in_string || !(end = number_end(text))) continue;
        const char *const mended = in_place_of(text, end);
        if (mended) {
            memset(text, ' ', (size_t)(end - text));
            memcpy(text, mended, strlen(mended));
            found = true;
        }
        text = end - 1;
    }
    return found;
}

sr_error_t *sr_json_parse_tolerant(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                   apr_pool_t *pool)
{
    sr_error_t *const error = parse(value, text, length, max_values, pool);
    char *copy;

    if (!error) return NULL;
    copy = apr_pstrmemdup(pool, text, length);
    return mend_overflows(copy) ? parse(value, copy, length, max_values, pool) : error;
}

static apr_status_t release(void *value)
{
    json_decref(value);
    return APR_SUCCESS;
}

json_t *sr_json_own(json_t *value, apr_pool_t *pool)
{
    apr_pool_cleanup_register(pool, value, release, apr_pool_cleanup_null);
    return value;
}

const char *sr_json_text(const json_t *value, apr_pool_t *pool)
{
    /* 15 digits are what a double surely has: 0.3 stays 0.3, where jansson's 17 would say 0.29999999999999999. */
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    const char *text = apr_pstrdup(pool, dumped);

    free(dumped);
    return text;
}

const char *sr_json_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_t *sr_json_string_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}
