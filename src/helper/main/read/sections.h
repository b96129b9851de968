/* SPDX-License-Identifier: Apache-2.0 */
/* sections.h: what covers.c and tidy.c, which are C, find in the bytes of a document for the comparison of revisions,
 * which is C++. */
#ifndef SR_HELPER_MAIN_READ_SECTIONS_H
#define SR_HELPER_MAIN_READ_SECTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The cross-reference sections of a revision, which qpdf does not report (covers.c). */
#define SR_PDFD_MAX_STARTS 512
typedef struct sr_pdfd_sections_t {
    int64_t starts[SR_PDFD_MAX_STARTS]; /* offset of each section */
    int count, overlaps;                /* as in sr_pdfd_chain_t */
    int64_t base;                       /* offset of the header of the document; the other offsets count from there */
} sr_pdfd_sections_t;
/* Returns 0 if the sections cannot be followed. */
int sr_pdfd_sections_read(sr_pdfd_sections_t *sections, const unsigned char *data, size_t size);

/* The name under which qpdf reads documents from memory, which its warnings contain. */
#define SR_PDFD_INPUT "document"
/* Returns true for a warning of qpdf about something that all readers understand in the same way (tidy.c). `where` and
 * `offset` are those of the warning. */
int sr_pdfd_warning_is_harmless(const char *text, const char *where, long long offset, const unsigned char *data,
                                size_t size);

#ifdef __cplusplus
}
#endif

#endif
