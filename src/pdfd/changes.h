/* SPDX-License-Identifier: Apache-2.0 */
/* changes.h: what the revisions of a signed document changed (changes.cc, which is C++), for signatures.c, which is C.
 */
#ifndef SR_PDFD_CHANGES_H
#define SR_PDFD_CHANGES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SR_PDFD_MAX_CHANGES 20 /* that are named for one signature; the last text then says that there are more */

typedef struct sr_pdfd_revision_t {
    size_t end;      /* the revision is the file up to here, and a signature covers it */
    json_t *changes; /* array of texts: what later revisions changed and nothing explains; NULL: it cannot be told */
    json_t *filled;  /* array of names: other form fields that were filled in later; NULL with `changes` */
    int validation;  /* true: data for the validation of signatures was added, and nothing else */
} sr_pdfd_revision_t;

/* Compares each revision with the next one, object by object, and the last one with the whole file. `revisions` are
 * `count` of them, the shortest first. What is said of the last is what no signature covers; what is said of the others
 * is what happened until then. After so many seconds of processor time the rest is left unsaid. The caller owns the
 * arrays that are set. */
void sr_pdfd_changes_find(sr_pdfd_revision_t *revisions, int count, const unsigned char *data, size_t size,
                          double seconds);

/* The cross-reference sections of a revision, which qpdf does not tell (covers.c). */
#define SR_PDFD_MAX_STARTS 512
typedef struct sr_pdfd_sections_t {
    int64_t starts[SR_PDFD_MAX_STARTS]; /* where each begins */
    int count, hybrids, overlaps;       /* as in sr_pdfd_chain_t */
    int64_t base;                       /* where the document's header is: offsets count from there */
} sr_pdfd_sections_t;
/* 0 when they cannot be followed. */
int sr_pdfd_sections_read(sr_pdfd_sections_t *sections, const unsigned char *data, size_t size);

/* What documents are called when qpdf reads them from memory, so that its warnings tell what they are about. */
#define SR_PDFD_INPUT "document"
/* Whether qpdf warns of something that all readers see in one way (tidy.c): `where` and `offset` are the warning's. */
int sr_pdfd_warning_is_harmless(const char *text, const char *where, long long offset, const unsigned char *data,
                                size_t size);

#ifdef __cplusplus
}
#endif

#endif
