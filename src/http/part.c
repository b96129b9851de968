/* SPDX-License-Identifier: Apache-2.0 */
/* part.c: parses the headers of one part. File names come in four forms: browsers and curl percent-encode the quote
 * and line ends (WHATWG), others use backslashes (RFC 2183) or filename* (RFC 5987). */
#include "http/part.h"

#include <apr_lib.h>
#include <string.h>

sr_error_t *sr_part_malformed(apr_pool_t *pool, const char *why)
{
    return sr_error_because(sr_error(pool, SR_EBADREQUEST, "Malformed multipart body: %s", why), pool, "%s", why);
}

static sr_error_t *part_malformed(apr_pool_t *pool, const char *why)
{
    return sr_part_malformed(pool, why);
}

static void to_lower(char *text)
{
    for (; *text; text++) *text = (char)apr_tolower(*text);
}

static bool is_token(char c)
{
    return c > 0x20 && c < 0x7f && !strchr("()<>@,;:\\\"/[]?={}", c);
}

static const char *skip_space(const char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

typedef struct parameter_t {
    const char *name;  /* lower case */
    const char *raw;   /* the value as it was sent, without the quotes around it */
    const char *value; /* with its backslash escapes decoded */
} parameter_t;

/* Reads a value, quoted or a token, from *cursor. A backslash escapes only a quote or a backslash, because old
 * clients send paths such as C:\dir\file.pdf without escaping. */
static sr_error_t *part_read_value(parameter_t *parameter, const char **cursor, apr_pool_t *pool)
{
    const char *start = *cursor, *p = start;
    if (*p != '"') {
        while (*p && *p != ';' && *p != ' ' && *p != '\t') p++;
        if (p == start) return part_malformed(pool, "a parameter without a value");
        parameter->raw = parameter->value = apr_pstrmemdup(pool, start, (apr_size_t)(p - start));
        *cursor = p;
        return NULL;
    }
    char *value = apr_palloc(pool, strlen(start)), *out = value;
    for (p = ++start; *p != '"'; p++) {
        if (!*p) return part_malformed(pool, "an unterminated quoted value");
        if (*p == '\\' && (p[1] == '"' || p[1] == '\\')) p++;
        *out++ = *p;
    }
    *out = '\0';
    parameter->raw = apr_pstrmemdup(pool, start, (apr_size_t)(p - start));
    parameter->value = value;
    *cursor = p + 1;
    return NULL;
}

/* Reads "; name=value" from *cursor; *found is false at the end. */
static sr_error_t *next_parameter(parameter_t *parameter, bool *found, const char **cursor, apr_pool_t *pool)
{
    const char *p = skip_space(*cursor);
    *found = false;
    while (*p == ';') p = skip_space(p + 1);
    if (!*p) return NULL;
    if (p == skip_space(*cursor))
        return part_malformed(pool, "a header has something other than a parameter after its value");
    const char *start = p;
    while (is_token(*p)) p++;
    char *name = apr_pstrmemdup(pool, start, (apr_size_t)(p - start));
    to_lower(name);
    p = skip_space(p);
    if (p == start || *p != '=') return part_malformed(pool, "a parameter without a value");
    p = skip_space(p + 1);
    parameter->name = name;
    SR_TRY(part_read_value(parameter, &p, pool));
    *cursor = p;
    *found = true;
    return NULL;
}

sr_error_t *sr_part_parameter(const char **value, const char *parameters, const char *name, apr_pool_t *pool)
{
    const char *cursor = parameters ? parameters : "";
    parameter_t parameter;
    bool found;
    *value = NULL;
    for (;;) {
        SR_TRY(next_parameter(&parameter, &found, &cursor, pool));
        if (!found) return NULL;
        if (strcmp(parameter.name, name) != 0) continue;
        if (*value) return part_malformed(pool, "a parameter given twice");
        *value = parameter.value;
    }
}

/* Decodes percent-encoded characters; only those in `only`, unless it is NULL. */
static const char *percent_decode(const char *text, const char *only, apr_pool_t *pool)
{
    char *decoded = apr_pstrdup(pool, text);
    (void)sr_text_decode_percent(decoded, only); /* a % without digits is part of the name */
    return decoded;
}

/* Reads filename*=UTF-8''%E2%82%AC.pdf (RFC 5987). Other charsets are refused. */
static sr_error_t *extended_value(const char **value, const char *text, apr_pool_t *pool)
{
    const char *language = strchr(text, '\''), *end = language ? strchr(language + 1, '\'') : NULL;
    if (!end || strncasecmp(text, "utf-8'", 6) != 0)
        return part_malformed(pool, "filename* must begin with UTF-8'' (RFC 5987)");
    *value = percent_decode(end + 1, NULL, pool);
    return NULL;
}

static sr_error_t *read_disposition(sr_part_t *part, const char *value, apr_pool_t *pool)
{
    static const char type[] = "form-data";
    const char *cursor = value + sizeof type - 1, *extended = NULL;
    parameter_t parameter;
    bool found;
    if (strncasecmp(value, type, sizeof type - 1) != 0 || is_token(*cursor))
        return part_malformed(pool, "the Content-Disposition of a part is not form-data");
    for (;;) {
        SR_TRY(next_parameter(&parameter, &found, &cursor, pool));
        if (!found) break;
        if (!strcmp(parameter.name, "name")) {
            if (part->name) return part_malformed(pool, "a part with two names");
            part->name = percent_decode(parameter.value, "\"\r\n", pool);
        } else if (!strcmp(parameter.name, "filename")) {
            if (part->filename) return part_malformed(pool, "a part with two file names");
            part->filename = percent_decode(parameter.value, "\"\r\n", pool);
            part->raw_filename = parameter.raw;
        } else if (!strcmp(parameter.name, "filename*")) {
            SR_TRY(extended_value(&extended, parameter.value, pool));
        }
    }
    if (extended) { /* RFC 6266, 4.3: filename* has precedence over filename */
        part->raw_filename = part->filename ? part->raw_filename : extended;
        part->filename = extended;
    }
    return part->name ? NULL : part_malformed(pool, "a part without a name");
}

/* "Application/PDF; charset=x" → "application/pdf" */
static const char *bare_type(const char *value, apr_pool_t *pool)
{
    char *type = apr_pstrmemdup(pool, value, strcspn(value, "; \t"));
    to_lower(type);
    return type;
}

static sr_error_t *read_line(sr_part_t *part, bool *disposed, char *line, apr_pool_t *pool)
{
    char *colon = line;
    while (is_token(*colon)) colon++;
    if (colon == line || *colon != ':')
        return part_malformed(pool, "a header line of a part without a name and a colon");
    *colon = '\0';
    const char *value = skip_space(colon + 1);
    for (const char *p = value; *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
            return part_malformed(pool, "a control character in the headers of a part");
    if (!strcasecmp(line, "Content-Disposition")) {
        if (*disposed) return part_malformed(pool, "a part with two Content-Disposition headers");
        *disposed = true;
        return read_disposition(part, value, pool);
    }
    if (!strcasecmp(line, "Content-Type")) part->type = bare_type(value, pool);
    if (!strcasecmp(line, "Content-Transfer-Encoding")) part->encoding = bare_type(value, pool);
    return NULL;
}

sr_error_t *sr_part_parse(sr_part_t **part, const char *headers, apr_size_t length, apr_pool_t *pool)
{
    sr_part_t *made = apr_pcalloc(pool, sizeof *made);
    bool disposed = false;
    char *line = apr_pstrmemdup(pool, headers, length);
    if (memchr(headers, '\0', length)) return part_malformed(pool, "NUL in the headers of a part");
    for (char *end; (end = strstr(line, "\r\n")) != NULL && end != line; line = end + 2) {
        *end = '\0';
        SR_TRY(read_line(made, &disposed, line, pool));
    }
    if (!disposed) return part_malformed(pool, "a part without Content-Disposition");
    *part = made;
    return NULL;
}
