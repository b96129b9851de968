/* SPDX-License-Identifier: Apache-2.0 */
/* covers.c: verifies what the ByteRange of a signature covers, on the bytes of the file. The known attacks on signed
 * PDFs (2018 to 2021, pdf-insecurity.org) exploit readers whose parsers disagree: a gap that is wider than the
 * Contents, a second Contents, a ByteRange that ends early, a revision that nothing refers to. So the signature
 * dictionary is parsed again at the gap, token by token, and anything unexpected is a fault. (ISO 32000-2, 12.8.1) */
#include "helper/main/read/sections.h"
#include "helper/main/pdfd.h"
#include "helper/main/read/scan.h"

#include <assert.h>

#define HEAD_WITHIN ((int64_t)256 << 10) /* bytes before its Contents in which the object of a signature must begin */
#define MAX_HEADS 16
#define MAX_DEPTH 32

static const char OUTSIDE[] = "its ByteRange does not fit the document";
static const char BEGINNING[] = "its ByteRange leaves out the beginning of the document";
static const char GAP[] = "its ByteRange does not leave out just its Contents";
static const char UNREADABLE[] = "its dictionary cannot be read";
static const char TWICE[] = "its dictionary has a key more than once";
static const char REVISION[] = "what it covers is not a revision of the document";
static const char SKIPPED[] = "the document was changed so that it no longer builds on what was signed";
static const char DAMAGED[] = "the document was damaged after it was signed";

/* Returns true if "id generation " precedes `at`, where "obj" is. Some programs write an object directly after %%EOF.
 */
static bool has_head(const unsigned char *data, const unsigned char *at, const sr_pdfd_signed_t *signature)
{
    const int64_t wanted[2] = {signature->generation, signature->object};
    for (int i = 0; i < 2; i++) {
        const unsigned char *digits = at;
        while (digits > data && is_space(digits[-1])) digits--;
        if (digits == at) return false;
        at = digits;
        while (digits > data && isdigit(digits[-1])) digits--;
        cursor_t c = {digits, at};
        int64_t number;
        if (digits == at || at - digits > 10 || !read_number(&c, &number) || number != wanted[i]) return false;
        at = digits;
    }
    return at == data || !isalnum(at[-1]) || (at - data >= 5 && !memcmp(at - 5, "%%EOF", 5));
}

/* Searches backwards from *at for the "obj" of the signature's object. Sets *at to it and the cursor after it. */
static bool find_head(cursor_t *c, int64_t *at, const sr_pdfd_bytes_t *bytes, const sr_pdfd_signed_t *signature)
{
    int64_t gap = signature->range[1], from = gap > HEAD_WITHIN ? gap - HEAD_WITHIN : 0;
    for (--*at; *at >= from; --*at) {
        if (memcmp(bytes->data + *at, "obj", 3) != 0 || !has_head(bytes->data, bytes->data + *at, signature)) continue;
        *c = (cursor_t){bytes->data + *at + 3, bytes->data + bytes->size};
        return true;
    }
    return false;
}

/* Moves the cursor from the beginning of an object to the innermost dictionary around `gap`. */
static bool find_dictionary(cursor_t *c, const unsigned char *gap)
{
    const unsigned char *open[MAX_DEPTH];
    int depth = 0;
    for (;;) {
        skip_space(c);
        if (c->at >= gap) break;
        const unsigned char *from = c->at;
        int token = skip_token(c);
        if (token == 'D' && depth < MAX_DEPTH) open[depth++] = from;
        else if (!token || token == 'D' || (token == 'd' && --depth <= 0)) return false;
    }
    if (c->at != gap || depth == 0) return false;
    c->at = open[depth - 1];
    return true;
}

static const char *covers_read_values(sr_pdfd_signed_t *signature, cursor_t c)
{
    static const char *const names[SR_PDFD_KEY_COUNT] = {"/Contents", "/ByteRange", "/SubFilter",  "/M",
                                                         "/Name",     "/Reason",    "/ContactInfo"};
    if (skip_token(&c) != 'D') return UNREADABLE;
    for (;;) {
        skip_space(&c);
        const unsigned char *key = c.at;
        int token = skip_token(&c), known = 0;
        if (token == 'd') return NULL;
        apr_size_t length = (apr_size_t)(c.at - key);
        if (token != '/' || memchr(key, '#', length))
            return UNREADABLE; /* "#" could be another spelling of a known key */
        skip_space(&c);
        sr_pdfd_bytes_t value = {.data = c.at};
        if (!skip_value(&c)) return UNREADABLE;
        value.size = (apr_size_t)(c.at - value.data);
        while (known < SR_PDFD_KEY_COUNT && (strlen(names[known]) != length || memcmp(names[known], key, length) != 0))
            known++;
        if (known == SR_PDFD_KEY_COUNT) continue;
        if (signature->values[known].data) return TWICE;
        signature->values[known] = value;
    }
}

static bool covers_is_range(const sr_pdfd_bytes_t *value, const int64_t *range)
{
    if (!value->data) return false;
    cursor_t c = {value->data, value->data + value->size};
    bool same = read_word(&c, "[");
    for (int i = 0; same && i < 4; i++) {
        int64_t number;
        same = read_number(&c, &number) && number == range[i];
    }
    return same && read_word(&c, "]");
}

/* Returns true if the gap is "<", hexadecimal digits and ">", and if these are the Contents that readers see. */
static bool is_hex_of(const unsigned char *gap, int64_t length, const sr_pdfd_signed_t *signature)
{
    static const char digits[] = "0123456789abcdef";
    if ((uint64_t)length != signature->contents_size * 2 + 2 || gap[0] != '<' || gap[length - 1] != '>') return false;
    for (apr_size_t i = 0; i < signature->contents_size; i++) {
        unsigned char byte = (unsigned char)signature->contents[i];
        if (tolower(gap[1 + 2 * i]) != digits[byte >> 4] || tolower(gap[2 + 2 * i]) != digits[byte & 15]) return false;
    }
    return true;
}

static const char *judge_dictionary(sr_pdfd_signed_t *signature, cursor_t c, const unsigned char *gap)
{
    const int64_t *range = signature->range;
    const sr_pdfd_bytes_t *contents = &signature->values[SR_PDFD_KEY_CONTENTS];
    memset(signature->values, 0, sizeof signature->values);
    if (!find_dictionary(&c, gap)) return GAP;
    const char *fault = covers_read_values(signature, c);
    if (fault) return fault;
    if (contents->data != gap || contents->size != (apr_size_t)(range[2] - range[1])) return GAP;
    return covers_is_range(&signature->values[SR_PDFD_KEY_RANGE], range) ? NULL : UNREADABLE;
}

const char *sr_pdfd_covers_itself(sr_pdfd_signed_t *signature, const sr_pdfd_bytes_t *bytes)
{
    const int64_t *range = signature->range, size = (int64_t)bytes->size;
    for (int i = 0; i < 4; i++)
        if (range[i] < 0 || range[i] > size) return OUTSIDE;
    if (range[0] != 0) return BEGINNING;
    if (range[1] == 0 || range[2] < range[1] + 2 || range[2] + range[3] > size) return OUTSIDE;
    const unsigned char *gap = bytes->data + range[1];
    if (!is_hex_of(gap, range[2] - range[1], signature)) return GAP;

    /* A signer's name may look like the beginning of an object, so earlier ones are tried too. */
    const char *fault = NULL;
    int64_t at = range[1] - 2;
    cursor_t c;
    for (int i = 0; i < MAX_HEADS && find_head(&c, &at, bytes, signature); i++) {
        const char *found = judge_dictionary(signature, c, gap);
        if (found != GAP && found != UNREADABLE) return found;
        if (!fault) fault = found;
    }
    return fault ? fault : GAP;
}

static int find_section(const sr_pdfd_chain_t *chain, int64_t offset)
{
    for (int i = 0; i < chain->count; i++)
        if (chain->sections[i] == offset) return i;
    return -1;
}

/* Returns true if the covered part ends with %%EOF and line ends. */
static bool ends_revision(const unsigned char *data, int64_t end)
{
    static const char mark[] = "%%EOF";
    while (end > 0 && (data[end - 1] == '\n' || data[end - 1] == '\r')) end--;
    return end >= (int64_t)sizeof mark && !memcmp(data + end - (sizeof mark - 1), mark, sizeof mark - 1);
}

/* Offsets in a PDF count from its header. A ByteRange counts from the beginning of the file. */
static int64_t header_offset(const sr_pdfd_bytes_t *bytes)
{
    const unsigned char *header = memmem(bytes->data, bytes->size < 1024 ? bytes->size : 1024, "%PDF-", 5);
    return header ? header - bytes->data : 0;
}

bool sr_pdfd_covers_chain(sr_pdfd_chain_t *chain, const sr_pdfd_bytes_t *bytes)
{
    int64_t base = header_offset(bytes);
    return sr_pdfd_xref_walk(chain, bytes->data + base, bytes->size - (apr_size_t)base);
}

const char *sr_pdfd_covers_revision(int *later, int64_t end, const sr_pdfd_chain_t *chain, const sr_pdfd_bytes_t *bytes)
{
    int64_t base = header_offset(bytes), start;
    *later = 0;
    if (end == (int64_t)bytes->size) return NULL;
    *later = -1;
    if (!ends_revision(bytes->data, end) || end <= base) return REVISION;
    if (!sr_pdfd_xref_start(&start, bytes->data + base, (apr_size_t)(end - base)) || start >= end - base)
        return REVISION;
    if (!chain) return DAMAGED;
    if (find_section(chain, start) < 0) return SKIPPED;
    *later = 0;
    for (int i = 0; i < chain->count; i++)
        if (chain->sections[i] >= end - base) (*later)++;
    return NULL;
}

int sr_pdfd_sections_read(sr_pdfd_sections_t *sections, const unsigned char *data, size_t size)
{
    static_assert(SR_PDFD_MAX_STARTS == SR_PDFD_MAX_SECTIONS, "the same limit");
    sr_pdfd_chain_t chain;
    const sr_pdfd_bytes_t bytes = {data, size};
    if (!sr_pdfd_covers_chain(&chain, &bytes)) return 0;
    memcpy(sections->starts, chain.sections, sizeof sections->starts);
    sections->count = chain.count;
    sections->base = header_offset(&bytes);
    sections->overlaps = chain.overlaps;
    return 1;
}
