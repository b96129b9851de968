/* SPDX-License-Identifier: Apache-2.0 */
/* json.c: JSON by jansson, with stricter rules and with pools. jansson itself refuses invalid UTF-8, lone surrogates,
 * escaped NUL and numbers out of range, and, by a flag, duplicate keys. This file also refuses raw NUL and deep
 * nesting. */
#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks the bytes of a text before jansson parses it. jansson ignores a raw NUL between tokens, and it allows 2048
 * levels of recursion. Brackets outside strings are counted here, so neither jansson's parser nor a function that
 * walks the value later recurses deeper than our limit. Values are counted too, because three bytes of text, "{},",
 * need hundreds of bytes of memory. In malformed text the counts may be wrong after the fault. That is harmless,
 * because jansson refuses the text. */
static sr_error_t *check_bytes(const char *text, apr_size_t length, apr_size_t max_values, apr_pool_t *pool)
{
    apr_size_t i, line = 1, column = 0, depth = 0, values = 0;
    bool in_string = false, escaped = false;
    for (i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c & 0xC0) != 0x80) column++; /* columns count characters, as in jansson's messages */
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

/* jansson does not report a lack of memory: it reports a fault of the text, or returns a value with a piece missing
 * (measured with jansson 2.14, t/unit/base_json.c). So this function observes its allocations. */
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
    json_free_t json_release;
    json_get_alloc_funcs(&allocate, &json_release);
    json_set_alloc_funcs(allocate_watched, json_release);
}

static sr_error_t *json_parse(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                              apr_pool_t *pool)
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
    reason = sr_text_printable(error.text, pool); /* the text quotes up to 20 arbitrary bytes of the input */
    if (json_error_code(&error) == json_error_null_character)
        reason = "\\u0000 is not allowed"; /* jansson's own text is about a flag for programmers */
    return sr_error(pool, SR_EBADREQUEST, "%s at line %d column %d", reason, error.line, error.column);
}

sr_error_t *sr_json_parse(json_t **value, const char *text, apr_size_t length, apr_pool_t *pool)
{
    return json_parse(value, text, length, length, pool);
}

sr_error_t *sr_json_parse_bounded(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                  apr_pool_t *pool)
{
    return json_parse(value, text, length, max_values, pool);
}

sr_error_t *sr_json_read(json_t **value, const char *text, apr_pool_t *pool)
{
    sr_error_t *error = sr_json_parse(value, text, strlen(text), pool);
    if (!error || error->code != SR_EBADREQUEST) return error;
    return sr_error_from(
        sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool, "stored JSON: %s", error->message),
        error);
}

/* Returns the end of the number at `text` (RFC 8259, 6), or NULL if there is no number. */
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

/* Returns the text that replaces a number that jansson cannot hold, neither as an integer nor, with a fraction or an
 * exponent, as a real: the nearest integer, or "null" if not even a double can hold the number. Returns NULL if
 * jansson can hold it. The text is never longer than the number: 1e309 has five characters, and an integer out of
 * range has 19 or more. */
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

/* Replaces each number out of range, in place. Returns true if there was one. */
static bool mend_overflows(char *text)
{
    bool in_string = false, found = false;
    char *end;
    for (; *text; text++) {
        if (*text == '"') in_string = !in_string;
        else if (in_string && *text == '\\' && text[1]) text++;
        if (in_string || !(end = number_end(text))) continue;
        const char *mended = in_place_of(text, end);
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
    sr_error_t *error = json_parse(value, text, length, max_values, pool);
    char *copy;
    if (!error) return NULL;
    copy = apr_pstrmemdup(pool, text, length);
    return mend_overflows(copy) ? json_parse(value, copy, length, max_values, pool) : error;
}

static apr_status_t json_release(void *value)
{
    json_decref(value);
    return APR_SUCCESS;
}

json_t *sr_json_own(json_t *value, apr_pool_t *pool)
{
    apr_pool_cleanup_register(pool, value, json_release, apr_pool_cleanup_null);
    return value;
}

/* A text that jansson writes piece by piece. Most texts fit into the first buffer. json_dumps begins with 16 bytes,
 * and each of its larger buffers makes malloc tidy up what was freed before. */
typedef struct written_t {
    char *data;
    size_t length, size;
    char first[8192];
} written_t;

static int json_write_piece(const char *piece, size_t length, void *baton)
{
    written_t *written = baton;
    if (length > written->size - written->length) {
        const size_t size = 2 * written->size + length;
        char *larger = realloc(written->data == written->first ? NULL : written->data, size);
        if (!larger) return -1;
        if (written->data == written->first) memcpy(larger, written->first, written->length);
        written->data = larger;
        written->size = size;
    }
    memcpy(written->data + written->length, piece, length);
    written->length += length;
    return 0;
}

const char *sr_json_text(const json_t *value, apr_pool_t *pool)
{
    /* 15 digits are exact in every double: 0.3 stays 0.3. With jansson's default of 17 it would be
     * 0.29999999999999999. */
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    written_t written;

    written.data = written.first;
    written.length = 0;
    written.size = sizeof written.first;
    const int failed = json_dump_callback(value, json_write_piece, &written, flags);
    const char *text = failed ? NULL : apr_pstrmemdup(pool, written.data, written.length);
    if (written.data != written.first) free(written.data);
    return text;
}

const char *sr_json_list_text(json_t *list, apr_pool_t *pool)
{
    const char *text = json_array_size(list) ? sr_json_text(list, pool) : NULL;
    json_decref(list);
    return text;
}

const json_t *sr_json_given(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_null(value) ? NULL : value;
}

const char *sr_json_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_t *sr_json_string_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}
