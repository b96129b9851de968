/* SPDX-License-Identifier: Apache-2.0 */
/* sections.c: finds objects in the updates that this service has appended to a document. Their cross-reference sections
 * say where they are. No byte of the upload is read, and nothing is trusted for its place: an object that is not where
 * its section says is not found. */
#include "helper/check/appended.h"

#include <string.h>

#define TAIL 64                            /* bytes: "startxref", a number and "%%EOF" */
#define PIECE ((apr_size_t)4096)           /* more than most sections have */
#define MAX_SECTION ((apr_size_t)16 << 20) /* that of 200,000 objects has 4 MB */
#define TABLE_ROW 20
#define STREAM_ROW 8

struct sr_pdf_section_t {
    apr_int64_t start, previous;
    bool is_stream;
    sr_pdf_span_t groups, rows; /* of a table, the rows are among the groups */
};
typedef struct sr_pdf_section_t section_t;

static sr_error_t *sections_read_piece(sr_pdf_span_t *piece, int descriptor, apr_off_t from, apr_size_t length,
                                       apr_pool_t *pool)
{
    char *read = apr_palloc(pool, length + 1);
    read[length] = '\0';
    *piece = (sr_pdf_span_t){read, read + length};
    return sr_pdf_read(read, descriptor, from, length, pool);
}

static bool take_group(sr_pdf_span_t *left, apr_int64_t *first, apr_int64_t *count, char end)
{
    if (!sr_pdf_take_number(left, first) || !sr_pdf_take_text(left, " ") || !sr_pdf_take_number(left, count))
        return false;
    return left->at < left->end && *left->at++ == end;
}

/* Removes `count` rows from *left. */
static bool skip_rows(sr_pdf_span_t *left, apr_int64_t count, apr_size_t row)
{
    const apr_size_t room = (apr_size_t)(left->end - left->at) / row;
    if (count < 0 || (apr_uint64_t)count > room) return false;
    left->at += (apr_size_t)count * row;
    return true;
}

static bool sections_read_table(section_t *section, sr_pdf_span_t left)
{
    apr_int64_t first, count;
    if (!sr_pdf_take_text(&left, "xref\n")) return false;
    section->groups = left;
    while (!sr_pdf_span_begins(&left, "trailer\n"))
        if (!take_group(&left, &first, &count, '\n') || !skip_rows(&left, count, TABLE_ROW)) return false;
    section->groups.end = left.at;
    return true;
}

static bool read_stream(section_t *section, sr_pdf_span_t left)
{
    static const char index[] = "/Index[";
    apr_int64_t first, count, total = 0, length;
    left.at = memmem(left.at, (apr_size_t)(left.end - left.at), index, sizeof index - 1);
    if (!left.at) return false;
    left.at += sizeof index - 1;
    section->groups = left;
    while (!sr_pdf_span_begins(&left, "]")) {
        if (!take_group(&left, &first, &count, ' ') || count > APR_INT32_MAX) return false;
        total += count;
    }
    section->groups.end = left.at;
    if (!sr_pdf_take_text(&left, "]/Length ") || !sr_pdf_take_number(&left, &length)
        || !sr_pdf_take_text(&left, ">>stream\n") || length != total * STREAM_ROW)
        return false;
    section->rows = left;
    if (!skip_rows(&left, total, STREAM_ROW)) return false;
    section->rows.end = left.at;
    return true;
}

static bool sections_parse(section_t *section, const sr_pdf_span_t *piece)
{
    sr_pdf_trailer_t trailer;
    if (sr_pdf_appended_trailer(&trailer, piece->at, (apr_size_t)(piece->end - piece->at))) return false;
    section->is_stream = !sr_pdf_span_begins(piece, "xref\n");
    section->previous = trailer.previous;
    return section->is_stream ? read_stream(section, *piece) : sections_read_table(section, *piece);
}

/* Reads the section at `start`, which ends before `end`. Most are short. */
static sr_error_t *sections_read_section(section_t *section, bool *found, const sr_pdf_sections_t *sections,
                                         apr_int64_t start, apr_int64_t end)
{
    const apr_size_t all = (apr_size_t)(end - start);
    sr_pdf_span_t piece;
    *section = (section_t){.start = start};
    *found = false;
    for (apr_size_t length = all < PIECE ? all : PIECE; !*found && length <= MAX_SECTION; length = all) {
        SR_TRY(sections_read_piece(&piece, sections->descriptor, start, length, sections->pool));
        *found = sections_parse(section, &piece);
        if (length == all) break;
    }
    return NULL;
}

/* Reads all sections that this service has written, the newest first. */
static sr_error_t *read_sections(sr_pdf_sections_t *sections)
{
    apr_int64_t end = sections->size;
    sections->list = apr_array_make(sections->pool, 8, sizeof(section_t));
    for (apr_int64_t start = sections->start; start >= sections->base && start < end;) {
        section_t section;
        bool found;
        SR_TRY(sections_read_section(&section, &found, sections, start, end));
        if (!found) break;
        APR_ARRAY_PUSH(sections->list, section_t) = section;
        end = start;
        start = section.previous;
    }
    return NULL;
}

/* Sets *offset to the place of an object. Returns false if the section does not list it. */
static bool find_row(apr_int64_t *offset, const section_t *section, apr_int64_t number)
{
    sr_pdf_span_t groups = section->groups, rows = section->is_stream ? section->rows : groups;
    apr_int64_t first, count;
    while (take_group(&groups, &first, &count, section->is_stream ? ' ' : '\n')) {
        sr_pdf_span_t *left = section->is_stream ? &rows : &groups;
        const char *from = left->at;
        if (!skip_rows(left, count, section->is_stream ? STREAM_ROW : TABLE_ROW)) return false;
        if (number < first || number - first >= count) continue;
        if (!section->is_stream) {
            sr_pdf_span_t digits = {from + (number - first) * TABLE_ROW, left->at};
            return sr_pdf_take_number(&digits, offset);
        }
        const unsigned char *row = (const unsigned char *)from + (number - first) * STREAM_ROW;
        *offset = 0;
        for (int i = 1; i < 6; i++) *offset = *offset << 8 | row[i];
        return row[0] == 1;
    }
    return false;
}

sr_error_t *sr_pdf_sections_find(sr_pdf_object_t *object, bool *found, sr_pdf_sections_t *sections, apr_int64_t number,
                                 apr_size_t most)
{
    *found = false;
    if (!sections->list) SR_TRY(read_sections(sections));
    for (int i = 0; i < sections->list->nelts; i++) {
        const section_t *section = &APR_ARRAY_IDX(sections->list, i, section_t);
        apr_int64_t offset;
        sr_pdf_span_t piece;
        if (!find_row(&offset, section, number)) continue;
        if (offset < sections->base || offset >= section->start) return NULL;
        const apr_size_t room = (apr_size_t)(section->start - offset);
        SR_TRY(sections_read_piece(&piece, sections->descriptor, offset, room < most ? room : most, sections->pool));
        *found = sr_pdf_take_object(object, &piece) && object->number == number;
        return NULL;
    }
    return NULL;
}

sr_error_t *sr_pdf_sections_read(const char **why, sr_pdf_sections_t *sections, int descriptor, apr_off_t base,
                                 apr_off_t size, apr_pool_t *pool)
{
    static const char word[] = "startxref\n";
    sr_pdf_span_t bytes;
    *sections = (sr_pdf_sections_t){.descriptor = descriptor, .base = base, .size = size, .pool = pool};
    *why = "what was appended before has no end";
    if (size - base < TAIL) return NULL;
    SR_TRY(sections_read_piece(&bytes, descriptor, size - TAIL, TAIL, pool));
    const char *at = memmem(bytes.at, TAIL, word, sizeof word - 1);
    if (!at) return NULL;
    sr_pdf_span_t left = {at + sizeof word - 1, bytes.end};
    if (!sr_pdf_take_number(&left, &sections->start) || !sr_pdf_span_is(&left, "\n%%EOF\n")) return NULL;
    if (sections->start < base || sections->start >= size - TAIL) return NULL;
    SR_TRY(sections_read_piece(&bytes, descriptor, sections->start, (apr_size_t)(size - sections->start), pool));
    *why = sr_pdf_appended_trailer(&sections->last, bytes.at, (apr_size_t)(size - sections->start));
    return NULL;
}
