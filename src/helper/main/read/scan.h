/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h: the tokens of PDF syntax (ISO 32000-2, 7.2 and 7.3). xref.c, covers.c and tidy.c use it because they need
 * offsets in the file, which qpdf does not report, and update.c uses it too. The functions are inline, so that a test
 * links a single file. */
#ifndef SR_HELPER_MAIN_READ_SCAN_H
#define SR_HELPER_MAIN_READ_SCAN_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct cursor_t {
    const unsigned char *at, *end;
} cursor_t;

static inline bool is_space(int c)
{
    return isspace(c) || c == 0;
}

static inline bool is_delimiter(int c)
{
    return c && strchr("/<>[]()%{}", c);
}

static inline void skip_space(cursor_t *c)
{
    while (c->at < c->end && (is_space(*c->at) || *c->at == '%')) {
        if (*c->at == '%')
            while (c->at < c->end && *c->at != '\n' && *c->at != '\r') c->at++;
        else c->at++;
    }
}

static inline bool starts_with(const cursor_t *c, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(c->end - c->at) >= length && !memcmp(c->at, word, length);
}

static inline bool read_word(cursor_t *c, const char *word)
{
    skip_space(c);
    if (!starts_with(c, word)) return false;
    c->at += strlen(word);
    return true;
}

/* Refuses a number of more than 18 digits, because readers do not agree on its value. */
static inline bool read_number(cursor_t *c, int64_t *number)
{
    skip_space(c);
    const unsigned char *from = c->at;
    for (*number = 0; c->at < c->end && isdigit(*c->at); c->at++) {
        if (c->at - from == 18) return false;
        *number = *number * 10 + (*c->at - '0');
    }
    return c->at > from;
}

static inline void skip_string(cursor_t *c)
{
    int depth = 0;
    while (c->at < c->end) {
        int byte = *c->at++;
        if (byte == '\\' && c->at < c->end) c->at++;
        if (byte == '(') depth++;
        if (byte == ')' && --depth == 0) return;
    }
}

/* Skips one token: a name, a string, a bracket or a run of regular characters. Returns its first character, 'D' for
 * "<<", 'd' for ">>", or 0 at the end. */
static inline int skip_token(cursor_t *c)
{
    skip_space(c);
    if (c->at == c->end) return 0;
    int first = *c->at;
    if (starts_with(c, "<<") || starts_with(c, ">>")) {
        c->at += 2;
        return first == '<' ? 'D' : 'd';
    }
    if (first == '(') {
        skip_string(c);
        return first;
    }
    c->at++;
    if (first == '<') {
        while (c->at < c->end && *c->at++ != '>') continue;
    } else if (!strchr("[]>){}", first)) {
        while (c->at < c->end && !is_space(*c->at) && !is_delimiter(*c->at)) c->at++;
    }
    return first;
}

/* Skips a value: one token, a whole array or dictionary, or a reference of three tokens. Returns false if there is
 * none. */
static inline bool skip_value(cursor_t *c)
{
    int depth = 0, token;
    do {
        token = skip_token(c);
        if (!token) return false;
        if (token == 'D' || token == '[') depth++;
        if (token == 'd' || token == ']') depth--;
    } while (depth > 0);
    if (depth < 0) return false;
    cursor_t reference = *c;
    int64_t generation;
    if (isdigit(token) && read_number(&reference, &generation) && read_word(&reference, "R")) *c = reference;
    return true;
}

#endif
