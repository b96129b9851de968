/* SPDX-License-Identifier: Apache-2.0 */
/* template.c: fills text or HTML templates with values from JSON. Every value in HTML is escaped, and a template
 * cannot turn that off.
 *
 *    {{a.b}}            the value of b in a: text or a whole number; nothing if it is missing
 *    {{:key}}           the text `key` of the catalogue; its own {places} are filled in the same way
 *    {{#a}} … {{/a}}    the content once with a as the innermost scope, or once for each element of an array a;
 *                       nothing if a is missing, null, false or empty
 *    {{^a}} … {{/a}}    the content if a is missing, null, false or empty
 *    {{>name}}          another template
 *
 * A text that depends on a number is an object {"one": …, "other": …} with the plural categories of its language. The
 * value `count` in the scope selects the form. */
#include "base/base.h"

#include <string.h>

#define MAX_DEPTH 16
#define FIRST_ROOM 16384

typedef struct scope_t scope_t;
struct scope_t {
    const json_t *value;
    const scope_t *outer;
};

typedef struct writer_t {
    char *out;
    size_t length, room;
    const sr_template_t *template;
    int depth; /* nesting of templates and sections */
    apr_pool_t *pool;
} writer_t;

static void write_bytes(writer_t *writer, const char *text, size_t length)
{
    if (length >= writer->room - writer->length) {
        char *larger = apr_palloc(writer->pool, writer->room = 2 * (writer->room + length));
        memcpy(larger, writer->out, writer->length);
        writer->out = larger;
    }
    memcpy(writer->out + writer->length, text, length);
    writer->out[writer->length += length] = '\0';
}

/* Returns the length in bytes of a character that changes the direction of text, which could make a name look like
 * another one; 0 for other characters. */
static size_t length_of_direction(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] == 0xD8) return bytes[1] == 0x9C ? 2 : 0; /* U+061C */
    if (bytes[0] != 0xE2 || (bytes[1] != 0x80 && bytes[1] != 0x81)) return 0;
    if (bytes[1] == 0x81) return bytes[2] >= 0xA6 && bytes[2] <= 0xAF ? 3 : 0; /* U+2066 to U+206F */
    return bytes[2] == 0x8E || bytes[2] == 0x8F || (bytes[2] >= 0xAA && bytes[2] <= 0xAE) ? 3 : 0;
}

static void write_escaped(writer_t *writer, const char *text)
{
    static const char special[] = "<>&\"'\xD8\xE2";
    static const char *const html[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
    static const char *const plain[] = {"<", ">", "&", "\"", "'"};
    const char *const *entities = writer->template->plain ? plain : html;
    for (;;) {
        const size_t ordinary = strcspn(text, special);
        write_bytes(writer, text, ordinary);
        text += ordinary;
        if (!*text) return;
        const size_t which = (size_t)(strchr(special, *text) - special);
        const size_t direction = length_of_direction(text);
        if (which < sizeof html / sizeof *html) write_bytes(writer, entities[which], strlen(entities[which]));
        else if (!direction) write_bytes(writer, text, 1);
        text += direction ? direction : 1;
    }
}

static const json_t *template_member(const json_t *value, const char *path)
{
    const char *dot;
    for (; value && (dot = strchr(path, '.')) != NULL; path = dot + 1)
        value = json_object_getn(value, path, (size_t)(dot - path));
    return value ? json_object_get(value, path) : NULL;
}

static const json_t *template_look_up(const scope_t *scope, const char *path)
{
    const json_t *found = NULL;
    if (!strcmp(path, ".")) return scope->value;
    for (; scope && !found; scope = scope->outer) found = template_member(scope->value, path);
    return found;
}

static const char *as_text(const json_t *value, apr_pool_t *pool)
{
    if (json_is_integer(value)) return apr_psprintf(pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(value));
    return json_is_string(value) ? json_string_value(value) : "";
}

/* Returns the form of a text for a number; "other" if the category has no form. */
static const json_t *plural(const json_t *entry, const char *plurals, json_int_t count)
{
    static const char letters[] = "zotfm";
    static const char *const names[] = {"zero", "one", "two", "few", "many"};
    const char *letter = NULL;
    if (plurals && count >= 0) letter = strchr(letters, plurals[count < 200 ? count : 100 + count % 100]);
    const json_t *form = letter ? json_object_get(entry, names[letter - letters]) : NULL;
    return form ? form : json_object_get(entry, "other");
}

/* Writes a text of the catalogue. A value in it may have another direction, so it is isolated from the text around
 * it. */
static void template_write_text(writer_t *writer, const scope_t *scope, const char *key)
{
    // NOLINTNEXTLINE(misc-misleading-bidirectional): each ends below
    static const char isolate[] = "\xe2\x81\xa8", end[] = "\xe2\x81\xa9";
    const json_t *entry = json_object_get(writer->template->texts, key);
    if (json_is_object(entry))
        entry = plural(entry, writer->template->plurals, json_integer_value(template_look_up(scope, "count")));
    for (const char *text = as_text(entry, writer->pool); *text;) {
        const size_t plain = strcspn(text, "{"), place = strcspn(text + plain, "}");
        write_escaped(writer, apr_pstrmemdup(writer->pool, text, plain));
        text += plain;
        if (!*text) return;
        const json_t *value = template_look_up(scope, apr_pstrmemdup(writer->pool, text + 1, place - 1));
        const size_t isolated = json_is_string(value) && !writer->template->together ? 3 : 0;
        write_bytes(writer, isolate, isolated);
        write_escaped(writer, as_text(value, writer->pool));
        write_bytes(writer, end, isolated);
        text += place + (text[place] == '}');
    }
}

static bool is_something(const json_t *value)
{
    if (json_is_array(value)) return json_array_size(value) > 0;
    if (json_is_string(value)) return *json_string_value(value);
    return value && !json_is_null(value) && !json_is_false(value);
}

static void template_write_piece(writer_t *writer, const scope_t *scope, const char *piece, const char *end);

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static void write_section(writer_t *writer, const scope_t *scope, const char *path, bool contrary, const char *from,
                          const char *to)
{
    const json_t *value = template_look_up(scope, path);
    if (is_something(value) == contrary) return;
    if (contrary || !json_is_array(value)) {
        const scope_t inner = {contrary ? scope->value : value, scope};
        template_write_piece(writer, &inner, from, to);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const scope_t inner = {json_array_get(value, i), scope};
        template_write_piece(writer, &inner, from, to);
    }
}

static void template_write_value(writer_t *writer, const scope_t *scope, const char *name)
{
    const json_t *value = template_look_up(scope, name);
    const bool keep = !value && writer->template->keep_unknown;
    write_escaped(writer, keep ? apr_pstrcat(writer->pool, "{{", name, "}}", NULL) : as_text(value, writer->pool));
}

/* Writes one placeholder. `name` is the text between its braces, `after` the text that follows it. Returns where to
 * continue. */
// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static const char *write_place(writer_t *writer, const scope_t *scope, const char *name, const char *after)
{
    const char *close;
    switch (*name) {
    case ':': template_write_text(writer, scope, name + 1); return after;
    case '#':
    case '^':
        close = strstr(after, apr_pstrcat(writer->pool, "{{/", name + 1, "}}", NULL));
        if (!close) return after + strlen(after);
        if (writer->depth++ < MAX_DEPTH) write_section(writer, scope, name + 1, *name == '^', after, close);
        writer->depth--;
        return close + strlen(name) + 4;
    case '>':
        if (writer->depth++ < MAX_DEPTH && writer->template->piece) {
            const char *piece = writer->template->piece(name + 1, writer->pool);
            if (piece) template_write_piece(writer, scope, piece, piece + strlen(piece));
        }
        writer->depth--;
        return after;
    default: template_write_value(writer, scope, name); return after;
    }
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static void template_write_piece(writer_t *writer, const scope_t *scope, const char *piece, const char *end)
{
    while (piece < end) {
        const char *open = strstr(piece, "{{"), *close = open ? strstr(open, "}}") : NULL;
        if (!close || open >= end) {
            write_bytes(writer, piece, (size_t)(end - piece));
            return;
        }
        write_bytes(writer, piece, (size_t)(open - piece));
        const char *name = apr_pstrmemdup(writer->pool, open + 2, (size_t)(close - open - 2));
        piece = write_place(writer, scope, name, close + 2);
    }
}

const char *sr_template_fill(const char *text, const json_t *values, const sr_template_t *template, apr_pool_t *pool)
{
    const scope_t scope = {values, NULL};
    writer_t writer = {apr_pcalloc(pool, FIRST_ROOM), 0, FIRST_ROOM, template, 0, pool};
    template_write_piece(&writer, &scope, text, text + strlen(text));
    return writer.out;
}
