/* SPDX-License-Identifier: Apache-2.0 */
/* xref.c: follows the cross-reference sections from the last startxref to the first one, without repairing anything.
 * qpdf does not report what the incremental writer must know: the offset of the newest section, and a number that no
 * section uses. If this fails, the file must be rewritten before anything can be appended. (ISO 32000-2, 7.5) */
#include "helper/main/pdfd.h"
#include "helper/main/read/scan.h"

#define TAIL_BYTES 1054 /* where readers search for startxref: 1 kB and the keyword itself */
#define MAX_ENTRIES 10000000

#define MAX_RANGES 1024 /* that are checked for overlap */

/* The object numbers in one section. */
typedef struct ranges_t {
    int64_t first[MAX_RANGES], end[MAX_RANGES], highest;
    int count;
    bool overlap; /* a number occurs twice: readers use either the first or the last one */
} ranges_t;

typedef struct section_t {
    bool stream;
    int64_t size, previous; /* -1: missing */
    cursor_t index;         /* after /Index; empty if there is none */
} section_t;

/* Returns true if a table has more than one subsection, or does not begin with object 0. */
static bool has_gaps(const ranges_t *ranges)
{
    int64_t next = 0;
    for (int i = 0; i < ranges->count; next = ranges->end[i++])
        if (ranges->first[i] != next) return true;
    return false;
}

static bool xref_is_name(const unsigned char *from, const unsigned char *to, const char *name)
{
    return (size_t)(to - from) == strlen(name) && !memcmp(from, name, (size_t)(to - from));
}

/* Reads the dictionary of a section. Only its own keys count, not those of nested dictionaries. */
static bool read_dictionary(section_t *section, cursor_t c)
{
    *section = (section_t){.size = -1, .previous = -1};
    if (skip_token(&c) != 'D') return false;
    for (int depth = 1; depth > 0;) {
        skip_space(&c);
        const unsigned char *from = c.at;
        int token = skip_token(&c);
        if (!token) return false;
        if (token == 'D' || token == '[') depth++;
        if (token == 'd' || token == ']') depth--;
        if (token != '/' || depth != 1) continue;
        cursor_t value = c;
        if (xref_is_name(from, c.at, "/Size")) {
            if (!read_number(&value, &section->size)) return false;
        } else if (xref_is_name(from, c.at, "/Prev")) {
            if (!read_number(&value, &section->previous)) return false;
        } else if (xref_is_name(from, c.at, "/Index")) {
            if (!read_word(&value, "[")) return false;
            section->index = value;
        }
        skip_space(&c);
        if (c.at < c.end && *c.at == '/') skip_token(&c); /* a name that is a value is not a key */
    }
    return section->size >= 0;
}

static void claim(int64_t *highest, int64_t first, int64_t count)
{
    if (count > 0 && first + count - 1 > *highest) *highest = first + count - 1;
}

static void note_range(ranges_t *ranges, int64_t first, int64_t count)
{
    if (count <= 0) return;
    for (int i = 0; first < ranges->highest && i < ranges->count; i++)
        if (first < ranges->end[i] && ranges->first[i] < first + count) ranges->overlap = true;
    if (ranges->count == MAX_RANGES && first < ranges->highest) ranges->overlap = true;
    if (ranges->count < MAX_RANGES) {
        ranges->first[ranges->count] = first;
        ranges->end[ranges->count++] = first + count;
    }
    if (first + count > ranges->highest) ranges->highest = first + count;
}

/* The standard requires entries of 20 bytes. Readers accept 19 and 21 bytes, so the entry is read by its tokens. */
static bool read_entry(cursor_t *c)
{
    while (c->at < c->end && (isdigit(*c->at) || *c->at == ' ')) c->at++;
    if (c->at == c->end || (*c->at != 'n' && *c->at != 'f')) return false;
    c->at++;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\r' || *c->at == '\n')) c->at++;
    return true;
}

static bool xref_read_table(cursor_t *c, int64_t *highest, ranges_t *ranges)
{
    for (;;) {
        if (read_word(c, "trailer")) return true;
        int64_t first, count;
        if (!read_number(c, &first) || !read_number(c, &count)) return false;
        skip_space(c);
        if (count > MAX_ENTRIES || c->end - c->at < count * 19) return false;
        claim(highest, first, count);
        note_range(ranges, first, count);
        for (int64_t i = 0; i < count; i++)
            if (!read_entry(c)) return false;
    }
}

static bool xref_read_section(section_t *section, cursor_t c, int64_t *highest, ranges_t *ranges)
{
    int64_t number, generation, first, count;
    bool stream = !read_word(&c, "xref");
    if (!stream) {
        if (!xref_read_table(&c, highest, ranges)) return false;
    } else {
        if (!read_number(&c, &number) || !read_number(&c, &generation) || !read_word(&c, "obj")) return false;
        claim(highest, number, 1);
    }
    skip_space(&c);
    if (!read_dictionary(section, c)) return false;
    section->stream = stream;
    claim(highest, 0, section->size);
    while (read_number(&section->index, &first) && read_number(&section->index, &count)) {
        claim(highest, first, count);
        note_range(ranges, first, count);
    }
    return true;
}

bool sr_pdfd_xref_start(int64_t *offset, const unsigned char *data, apr_size_t size)
{
    cursor_t c = {data + (size > TAIL_BYTES ? size - TAIL_BYTES : 0), data + size};
    const unsigned char *last = NULL;
    while ((c.at = memmem(c.at, (size_t)(c.end - c.at), "startxref", 9))) {
        c.at += 9;
        last = c.at;
    }
    c.at = last;
    return last && read_number(&c, offset) && *offset > 0;
}

bool sr_pdfd_xref_walk(sr_pdfd_chain_t *chain, const unsigned char *data, apr_size_t size)
{
    int64_t next;
    ranges_t ranges;
    *chain = (sr_pdfd_chain_t){0};
    if (!sr_pdfd_xref_start(&next, data, size)) return false;
    for (; next > 0; chain->count++) {
        if (chain->count == SR_PDFD_MAX_SECTIONS || next >= (int64_t)size) return false;
        for (int i = 0; i < chain->count; i++)
            if (chain->sections[i] == next) return false;
        chain->sections[chain->count] = next;
        section_t section;
        ranges.count = 0;
        ranges.highest = 0;
        ranges.overlap = false;
        if (!xref_read_section(&section, (cursor_t){data + next, data + size}, &chain->highest, &ranges)) return false;
        chain->overlaps += ranges.overlap;
        if (chain->count == 0) chain->stream = section.stream;
        chain->gaps = !section.stream && has_gaps(&ranges);
        next = section.previous;
    }
    return chain->highest <= SR_PDFD_MAX_OBJECT;
}

bool sr_pdfd_xref_check(sr_pdfd_xref_t *xref, const unsigned char *data, apr_size_t size)
{
    sr_pdfd_chain_t chain;
    if (!sr_pdfd_xref_walk(&chain, data, size)) return false;
    *xref = (sr_pdfd_xref_t){chain.sections[0], chain.stream, chain.highest, chain.gaps && chain.count == 1};
    return true;
}
