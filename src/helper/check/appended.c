/* SPDX-License-Identifier: Apache-2.0 */
/* appended.c: reads one incremental update strictly. See appended.h. */
#include "helper/check/appended.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64 /* of nested brackets; each level takes one bit */
#define MAX_DIGITS 15
#define OWN_ID 32 /* digits of the second string in /ID */

static const char UNKNOWN[] = "it is not written as updates are";
static const char TOO_MANY[] = "it has more objects than were requested";
static const char BAD_SECTION[] = "its cross-reference section is not about its objects";

static apr_size_t left_of(const sr_pdf_span_t *left)
{
    return (apr_size_t)(left->end - left->at);
}

bool sr_pdf_span_begins(const sr_pdf_span_t *span, const char *text)
{
    const apr_size_t length = strlen(text);
    return left_of(span) >= length && !memcmp(span->at, text, length);
}

bool sr_pdf_span_is(const sr_pdf_span_t *span, const char *text)
{
    return left_of(span) == strlen(text) && sr_pdf_span_begins(span, text);
}

bool sr_pdf_span_ends(const sr_pdf_span_t *span, const char *text)
{
    const apr_size_t length = strlen(text);
    return left_of(span) >= length && !memcmp(span->end - length, text, length);
}

bool sr_pdf_take_text(sr_pdf_span_t *left, const char *text)
{
    if (left->at == left->end || *left->at != *text || !sr_pdf_span_begins(left, text)) return false;
    left->at += strlen(text);
    return true;
}

bool sr_pdf_take_number(sr_pdf_span_t *left, apr_int64_t *number)
{
    const char *from = left->at;
    *number = 0;
    for (; left->at < left->end && isdigit((unsigned char)*left->at); left->at++) {
        if (left->at - from == MAX_DIGITS) return false;
        *number = *number * 10 + (*left->at - '0');
    }
    return left->at > from;
}

/* --------------------------------------------------------------------------------------------------------- tokens */

static bool take_string(sr_pdf_span_t *left)
{
    int depth = 0;
    while (left->at < left->end) {
        const char c = *left->at++;
        if (c == '\\' && left->at < left->end) left->at++;
        if (c == '(') depth++;
        if (c == ')' && --depth == 0) return true;
    }
    return false;
}

static bool take_hex(sr_pdf_span_t *left)
{
    for (left->at++; left->at < left->end && isxdigit((unsigned char)*left->at); left->at++) continue;
    return sr_pdf_take_text(left, ">");
}

static bool is_regular(char c)
{
    return c > ' ' && c <= '~' && c != '(' && c != ')' && c != '<' && c != '>' && c != '[' && c != ']' && c != '{'
           && c != '}' && c != '/' && c != '%';
}

/* Takes a name, a number or a keyword. The caller checks which one it is. */
static bool take_regular(sr_pdf_span_t *left)
{
    const char *from = left->at;
    while (left->at < left->end && is_regular(*left->at)) left->at++;
    return left->at > from;
}

static bool appended_is_number(const sr_pdf_span_t *token)
{
    const char *at = token->at;
    bool digit = false;
    if (at < token->end && (*at == '-' || *at == '+')) at++;
    for (; at < token->end; at++) {
        if (!isdigit((unsigned char)*at) && *at != '.') return false;
        digit |= *at != '.';
    }
    return digit;
}

static bool appended_is_word(const sr_pdf_span_t *token)
{
    return sr_pdf_span_is(token, "true") || sr_pdf_span_is(token, "false") || sr_pdf_span_is(token, "null")
           || sr_pdf_span_is(token, "R");
}

char sr_pdf_take_token(sr_pdf_span_t *left, sr_pdf_span_t *token)
{
    char kind = 0;
    while (left->at < left->end && *left->at == ' ') left->at++;
    token->at = left->at;
    if (left->at == left->end) return 0;
    if (sr_pdf_take_text(left, "<<")) kind = 'D';
    else if (sr_pdf_take_text(left, ">>")) kind = 'd';
    else if (sr_pdf_take_text(left, "[")) kind = '[';
    else if (sr_pdf_take_text(left, "]")) kind = ']';
    else if (*left->at == '(') kind = take_string(left) ? '(' : 0;
    else if (*left->at == '<') kind = take_hex(left) ? '<' : 0;
    else if (sr_pdf_take_text(left, "/")) {
        take_regular(left); /* a name may be empty */
        kind = '/';
    } else kind = take_regular(left) ? '0' : 0;
    token->end = left->at;
    if (kind == '0' && !appended_is_number(token) && !appended_is_word(token)) kind = 0;
    if (!kind) left->at = token->at; /* the bytes remain if they are not a token */
    return kind;
}

bool sr_pdf_span_same(const sr_pdf_span_t *a, const sr_pdf_span_t *b)
{
    sr_pdf_span_t left[2] = {*a, *b}, token[2];
    for (;;) {
        const char kind = sr_pdf_take_token(&left[0], &token[0]);
        if (sr_pdf_take_token(&left[1], &token[1]) != kind) return false;
        if (!kind) return left[0].at == left[0].end && left[1].at == left[1].end;
        if (left_of(&token[0]) != left_of(&token[1]) || memcmp(token[0].at, token[1].at, left_of(&token[0])) != 0)
            return false;
    }
}

/* Takes the rest of a reference ("1 0 R") after its first number. */
static void take_reference(sr_pdf_span_t *left)
{
    sr_pdf_span_t after = *left, token;
    if (sr_pdf_take_token(&after, &token) != '0' || !isdigit((unsigned char)*token.at)) return;
    if (sr_pdf_take_token(&after, &token) == '0' && sr_pdf_span_is(&token, "R")) *left = after;
}

bool sr_pdf_take_value(sr_pdf_span_t *left, sr_pdf_span_t *value)
{
    apr_uint64_t dictionaries = 0; /* one bit for each open bracket: 1 is a dictionary, 0 an array */
    sr_pdf_span_t token;
    for (int depth = 0;;) {
        const char kind = sr_pdf_take_token(left, &token);
        if (!kind) return false;
        if (!depth) value->at = token.at;
        if (kind == 'D' || kind == '[') {
            if (depth++ == MAX_DEPTH) return false;
            dictionaries = dictionaries << 1 | (kind == 'D');
        } else if (kind == 'd' || kind == ']') {
            if (!depth || (dictionaries & 1) != (kind == 'd')) return false;
            dictionaries >>= 1;
            depth--;
        } else if (!depth && kind == '0') take_reference(left);
        value->end = left->at;
        if (!depth) return true;
    }
}

bool sr_pdf_take_entry(sr_pdf_span_t *left, sr_pdf_span_t *key, sr_pdf_span_t *value)
{
    return sr_pdf_take_token(left, key) == '/' && sr_pdf_take_value(left, value);
}

bool sr_pdf_find_entry(sr_pdf_span_t *value, const sr_pdf_span_t *body, const char *key)
{
    sr_pdf_span_t left = *body, name;
    if (!sr_pdf_take_text(&left, "<<")) return false;
    while (sr_pdf_take_entry(&left, &name, value))
        if (sr_pdf_span_is(&name, key)) return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------- objects */

/* Returns true if a dictionary consists of keys and values. */
static bool is_dictionary(const sr_pdf_span_t *body)
{
    sr_pdf_span_t left = *body, key, value, rest;
    if (!sr_pdf_take_text(&left, "<<")) return false;
    for (rest = left; sr_pdf_take_entry(&rest, &key, &value);) left = rest;
    while (left.at < left.end && *left.at == ' ') left.at++;
    return sr_pdf_span_is(&left, ">>");
}

static bool take_stream(sr_pdf_object_t *object, sr_pdf_span_t *left)
{
    sr_pdf_span_t length;
    apr_int64_t size;
    if (!sr_pdf_find_entry(&length, &object->body, "/Length") || !sr_pdf_take_number(&length, &size)
        || length.at != length.end || size > (apr_int64_t)left_of(left))
        return false;
    object->is_stream = true;
    object->data = (sr_pdf_span_t){left->at, left->at + size};
    left->at += size;
    return sr_pdf_take_text(left, "\nendstream");
}

bool sr_pdf_take_object(sr_pdf_object_t *object, sr_pdf_span_t *left)
{
    apr_int64_t generation;
    *object = (sr_pdf_object_t){0};
    if (!sr_pdf_take_number(left, &object->number) || !sr_pdf_take_text(left, " ")) return false;
    if (!sr_pdf_take_number(left, &generation) || generation > 65535 || !sr_pdf_take_text(left, " obj\n")) return false;
    if (left->at == left->end || (*left->at != '<' && *left->at != '[')) return false;
    object->generation = (int)generation;
    if (object->number < 1 || !sr_pdf_take_value(left, &object->body)) return false;
    if (*object->body.at == '<' && !is_dictionary(&object->body)) return false;
    if (sr_pdf_take_text(left, "stream\n") && !take_stream(object, left)) return false;
    return sr_pdf_take_text(left, "\nendobj\n");
}

/* ------------------------------------------------------------------------------------------------------ the section */

static bool take_digits(sr_pdf_span_t *left, apr_size_t least, apr_size_t most)
{
    const char *from = left->at;
    while (left->at < left->end && strchr("0123456789abcdef", *left->at) && *left->at) left->at++;
    return (apr_size_t)(left->at - from) >= least && (apr_size_t)(left->at - from) <= most;
}

static bool take_reference_to(sr_pdf_span_t *left, const char *key, apr_int64_t *number)
{
    apr_int64_t generation;
    return sr_pdf_take_text(left, key) && sr_pdf_take_number(left, number) && sr_pdf_take_text(left, " ")
           && sr_pdf_take_number(left, &generation) && sr_pdf_take_text(left, " R");
}

/* Takes "/Root 1 0 R/Info 2 0 R/Encrypt 3 0 R/ID[<first><own>]/Prev 3". */
static bool take_keys(sr_pdf_trailer_t *trailer, sr_pdf_span_t *left)
{
    apr_int64_t ignored;
    sr_pdf_span_t at = *left;
    trailer->keys.at = left->at;
    if (!take_reference_to(&at, "/Root ", &trailer->root)) return false;
    *left = at;
    if (take_reference_to(&at, "/Info ", &ignored)) *left = at;
    at = *left;
    trailer->is_encrypted = take_reference_to(&at, "/Encrypt ", &ignored);
    if (trailer->is_encrypted) *left = at;
    if (!sr_pdf_take_text(left, "/ID[<") || !take_digits(left, 0, 2048) || !sr_pdf_take_text(left, ">")) return false;
    trailer->keys.end = left->at;
    return sr_pdf_take_text(left, "<") && take_digits(left, OWN_ID, OWN_ID) && sr_pdf_take_text(left, ">]/Prev ")
           && sr_pdf_take_number(left, &trailer->previous);
}

typedef struct entry_t {
    apr_int64_t number, offset;
    int generation;
} entry_t;

static int appended_compare(const void *a, const void *b)
{
    const apr_int64_t left = ((const entry_t *)a)->number, right = ((const entry_t *)b)->number;
    return left < right ? -1 : left > right;
}

/* Makes the entries that the section must have, in order. Returns NULL if two objects have the same number. */
static apr_array_header_t *entries_of(const apr_array_header_t *objects, apr_off_t base, apr_pool_t *pool)
{
    apr_array_header_t *entries = apr_array_make(pool, objects->nelts + 1, sizeof(entry_t));
    for (int i = 0; i < objects->nelts; i++) {
        const sr_pdf_object_t *object = &APR_ARRAY_IDX(objects, i, sr_pdf_object_t);
        APR_ARRAY_PUSH(entries, entry_t) =
            (entry_t){object->number, base + (apr_off_t)object->offset, object->generation};
    }
    qsort(entries->elts, (size_t)entries->nelts, sizeof(entry_t), appended_compare);
    for (int i = 1; i < entries->nelts; i++)
        if (!appended_compare((const entry_t *)entries->elts + i - 1, (const entry_t *)entries->elts + i)) return NULL;
    return entries;
}

static int appended_run_end(const apr_array_header_t *entries, int first)
{
    const entry_t *all = (const entry_t *)entries->elts;
    int end = first + 1;
    while (end < entries->nelts && all[end].number == all[end - 1].number + 1) end++;
    return end;
}

static bool take_table(sr_pdf_trailer_t *trailer, sr_pdf_span_t *left, const apr_array_header_t *entries)
{
    char text[64];
    if (!sr_pdf_take_text(left, "xref\n")) return false;
    for (int i = 0; i < entries->nelts;) {
        const entry_t *entry = &APR_ARRAY_IDX(entries, i, entry_t);
        const int end = appended_run_end(entries, i);
        apr_snprintf(text, sizeof text, "%" APR_INT64_T_FMT " %d\n", entry->number, end - i);
        if (!sr_pdf_take_text(left, text)) return false;
        for (; i < end; i++) {
            entry = &APR_ARRAY_IDX(entries, i, entry_t);
            apr_snprintf(text, sizeof text, "%010" APR_INT64_T_FMT " %05d n \n", entry->offset, entry->generation);
            if (!sr_pdf_take_text(left, text)) return false;
        }
    }
    return sr_pdf_take_text(left, "trailer\n<</Size ") && sr_pdf_take_number(left, &trailer->size)
           && take_keys(trailer, left) && sr_pdf_take_text(left, ">>\n");
}

static bool take_rows(sr_pdf_span_t *left, const apr_array_header_t *entries)
{
    for (int i = 0; i < entries->nelts; i++) {
        const entry_t *entry = &APR_ARRAY_IDX(entries, i, entry_t);
        apr_uint64_t fields = (apr_uint64_t)entry->offset << 16 | (apr_uint64_t)entry->generation;
        char row[8] = {1};
        for (int j = 7; j > 0; j--, fields >>= 8) row[j] = (char)(fields & 0xff);
        if (left_of(left) < sizeof row || memcmp(left->at, row, sizeof row) != 0) return false;
        left->at += sizeof row;
    }
    return true;
}

/* Takes the part of a cross-reference stream before its /Index. The stream itself has the highest object number. */
static bool take_stream_keys(sr_pdf_trailer_t *trailer, sr_pdf_span_t *left)
{
    apr_int64_t number;
    return sr_pdf_take_number(left, &number) && sr_pdf_take_text(left, " 0 obj\n<<") && take_keys(trailer, left)
           && sr_pdf_take_text(left, "/Type/XRef/Size ") && sr_pdf_take_number(left, &trailer->size)
           && number == trailer->size - 1 && sr_pdf_take_text(left, "/W[1 5 2]/Index[");
}

static bool take_stream_section(sr_pdf_trailer_t *trailer, sr_pdf_span_t *left, apr_array_header_t *entries,
                                apr_off_t base)
{
    char text[64];
    trailer->is_stream = true;
    if (!take_stream_keys(trailer, left)) return false;
    APR_ARRAY_PUSH(entries, entry_t) = (entry_t){trailer->size - 1, base + (apr_off_t)trailer->start, 0};
    for (int i = 0, end; i < entries->nelts; i = end) {
        end = appended_run_end(entries, i);
        apr_snprintf(text, sizeof text, "%" APR_INT64_T_FMT " %d ", APR_ARRAY_IDX(entries, i, entry_t).number, end - i);
        if (!sr_pdf_take_text(left, text)) return false;
    }
    apr_snprintf(text, sizeof text, "]/Length %d>>stream\n", 8 * entries->nelts);
    return sr_pdf_take_text(left, text) && take_rows(left, entries) && sr_pdf_take_text(left, "\nendstream\nendobj\n");
}

/* ------------------------------------------------------------------------------------------------------------ all */

const char *sr_pdf_appended_read(sr_pdf_appended_t *appended, const void *bytes, apr_size_t length, apr_off_t base,
                                 int most, apr_pool_t *pool)
{
    sr_pdf_span_t left = {bytes, (const char *)bytes + length};
    apr_array_header_t *objects = apr_array_make(pool, 16, sizeof(sr_pdf_object_t)), *entries;
    sr_pdf_trailer_t *trailer = &appended->trailer;
    char text[64];
    *appended = (sr_pdf_appended_t){.objects = objects};
    sr_pdf_take_text(&left, "\n");
    for (;;) {
        const sr_pdf_span_t before = left;
        sr_pdf_object_t object;
        sr_pdf_span_t type;
        trailer->start = (apr_size_t)(left.at - (const char *)bytes);
        if (sr_pdf_span_begins(&left, "xref\n")) break;
        if (!sr_pdf_take_object(&object, &left)) return UNKNOWN;
        object.offset = trailer->start;
        left = object.is_stream && sr_pdf_find_entry(&type, &object.body, "/Type") && sr_pdf_span_is(&type, "/XRef")
                   ? before
                   : left;
        if (left.at == before.at) break;
        if (objects->nelts == most) return TOO_MANY;
        APR_ARRAY_PUSH(objects, sr_pdf_object_t) = object;
    }
    entries = entries_of(objects, base, pool);
    if (!entries || !entries->nelts) return BAD_SECTION;
    if (!(sr_pdf_span_begins(&left, "xref\n") ? take_table(trailer, &left, entries)
                                              : take_stream_section(trailer, &left, entries, base)))
        return BAD_SECTION;
    if (APR_ARRAY_IDX(entries, entries->nelts - 1, entry_t).number >= trailer->size) return BAD_SECTION;
    apr_snprintf(text, sizeof text, "startxref\n%" APR_INT64_T_FMT "\n%%%%EOF\n",
                 (apr_int64_t)base + (apr_int64_t)trailer->start);
    if (!sr_pdf_take_text(&left, text)) return BAD_SECTION;
    appended->length = (apr_size_t)(left.at - (const char *)bytes);
    return NULL;
}

const char *sr_pdf_appended_trailer(sr_pdf_trailer_t *trailer, const void *bytes, apr_size_t length)
{
    sr_pdf_span_t left = {bytes, (const char *)bytes + length};
    *trailer = (sr_pdf_trailer_t){0};
    if (!sr_pdf_span_begins(&left, "xref\n")) return take_stream_keys(trailer, &left) ? NULL : BAD_SECTION;
    left.at = memmem(left.at, left_of(&left), "trailer\n<</Size ", 16);
    if (!left.at) return BAD_SECTION;
    left.at += 16;
    return sr_pdf_take_number(&left, &trailer->size) && take_keys(trailer, &left) ? NULL : BAD_SECTION;
}
