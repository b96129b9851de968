/* json.c: jansson with our strictness and our memory rule (every json_t belongs to a pool). jansson refuses invalid
 * UTF-8, lone surrogates, escaped NUL and numbers out of range; duplicate keys by a flag; raw NUL and depth are ours. */
#include "base/base.h"

#include <stdlib.h>

/* jansson skips a raw NUL between tokens, and its own limit is 2048 levels of recursion. Brackets outside strings are counted before it sees the text,
 * so neither its parser nor anything that walks the value later can recurse deeper than our limit. In malformed
 * text the count may be off after the error, which is harmless: the text is refused either way. */
static sr_error_t *check_bytes(const char *text, apr_size_t length, apr_pool_t *pool)
{
    apr_size_t i, line = 1, column = 0, depth = 0;
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
        } else if (c == '"') {
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

sr_error_t *sr_json_parse(json_t **value, const char *text, apr_size_t length, apr_pool_t *pool)
{
    json_error_t error;
    const char *reason;

    *value = NULL;
    SR_TRY(check_bytes(text, length, pool));
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (*value) {
        sr_json_own(*value, pool);
        return NULL;
    }
    reason = sr_text_printable(error.text, pool); /* it quotes up to 20 bytes of the input, whatever they are */
    if (json_error_code(&error) == json_error_null_character)
        reason = "\\u0000 is not allowed"; /* where jansson's text tells the programmer of a flag */
    return sr_error(pool, SR_EBADREQUEST, "%s at line %d column %d", reason, error.line, error.column);
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
