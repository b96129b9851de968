/* SPDX-License-Identifier: Apache-2.0 */
/* tidy.c: oddities of a document that are not damage, because all readers understand them in the same way. Such a
 * document is continued as it is. Rewriting it would break earlier signatures. */
#include "helper/main/read/sections.h"
#include "helper/main/pdfd.h"
#include "helper/main/read/scan.h"

#define MAX_SPACE 1024 /* bytes of white space before a section */
#define MAX_KEYS 128   /* of a dictionary that contains a key twice */

/* ---------------------------------------------------------------------------------- white space before a section */

/* qpdf reads a table at its offset or one byte after it. poppler and mupdf skip any white space. So the keyword and the
 * white space before it are exchanged. Nothing else moves. */
static void move_word(unsigned char *data, int64_t size, int64_t at)
{
    static const char word[] = "xref";
    const int64_t length = sizeof word - 1;
    int64_t space = 0;
    while (space < MAX_SPACE && at + space < size && is_space(data[at + space])) space++;
    if (!space || at + space + length >= size || memcmp(data + at + space, word, (size_t)length) != 0) return;
    if (!is_space(data[at + space + length])) return;
    memmove(data + at + length, data + at, (size_t)space);
    memcpy(data + at, word, (size_t)length);
}

void sr_pdfd_tidy(unsigned char *data, apr_size_t size)
{
    sr_pdfd_sections_t sections;
    if (!sr_pdfd_sections_read(&sections, data, size)) return;
    for (int i = 0; i < sections.count; i++) move_word(data, (int64_t)size, sections.base + sections.starts[i]);
}

sr_pdfd_bytes_t sr_pdfd_trimmed(const sr_pdfd_bytes_t *bytes)
{
    sr_pdfd_bytes_t trimmed = *bytes;
    while (trimmed.size && !trimmed.data[trimmed.size - 1]) trimmed.size--;
    return trimmed;
}

/* ------------------------------------------------------------------------------------------------- keys named twice
 */

static bool tidy_is_same(const sr_pdfd_bytes_t *one, const sr_pdfd_bytes_t *other)
{
    return one->size == other->size && !memcmp(one->data, other->data, one->size);
}

/* Returns true if each key that occurs more than once has the same value each time, because some readers take the first
 * one and some the last one. `c` is after the "<<". */
static bool agrees(cursor_t c)
{
    sr_pdfd_bytes_t keys[MAX_KEYS], values[MAX_KEYS];
    for (int count = 0; count < MAX_KEYS; count++) {
        skip_space(&c);
        keys[count].data = c.at;
        const int token = skip_token(&c);
        if (token == 'd') return true;
        keys[count].size = (apr_size_t)(c.at - keys[count].data);
        if (token != '/' || memchr(keys[count].data, '#', keys[count].size))
            return false; /* "#" allows another spelling of the same name */
        skip_space(&c);
        values[count].data = c.at;
        if (!skip_value(&c)) return false;
        values[count].size = (apr_size_t)(c.at - values[count].data);
        for (int i = 0; i < count; i++)
            if (tidy_is_same(&keys[i], &keys[count]) && !tidy_is_same(&values[i], &values[count])) return false;
    }
    return false;
}

int sr_pdfd_warning_is_harmless(const char *text, const char *where, long long offset, const unsigned char *data,
                                size_t size)
{
    /* /Size of the trailer, which readers ignore, and names with a "#" that has no meaning */
    static const char *const harmless[] = {"reported number of objects", "name with stray #"};
    static const char twice[] = "dictionary has duplicated key";
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (!strncmp(text, harmless[i], strlen(harmless[i]))) return 1;
    if (strncmp(text, twice, sizeof twice - 1) != 0 || strcmp(where, SR_PDFD_INPUT) != 0) return 0;
    if (offset < 2 || (size_t)offset >= size || memcmp(data + offset - 2, "<<", 2) != 0) return 0;
    return agrees((cursor_t){data + offset, data + size});
}
