/* SPDX-License-Identifier: Apache-2.0 */
/* tagged.h: tagged.cc, which is C++, for compose.c, which is C. It writes the logical structure of a composed document
 * (ISO 32000-2, 14.7 and 14.8). */
#ifndef SR_PDFD_TAGGED_H
#define SR_PDFD_TAGGED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_pdfd_element_t {
    const char *type;        /* "P" or another type of 14.8.4 */
    const char *alternative; /* alternative text, or NULL */
    int parent;              /* index of the parent, which comes before it */
} sr_pdfd_element_t;

/* A run of drawing operations for one element. The runs of a page are in drawing order. */
typedef struct sr_pdfd_content_t {
    int element, page;
} sr_pdfd_content_t;

/* The element of the document, which contains all others. It has no content of its own: what is drawn for it is an
 * artifact without meaning, such as a line. */
#define SR_PDFD_DOCUMENT 0

typedef struct sr_pdfd_tree_t {
    const sr_pdfd_element_t *elements;
    const sr_pdfd_content_t *contents;
    int element_count, content_count;
    const char *language; /* of the document (BCP 47), or NULL */
} sr_pdfd_tree_t;

/* Rewrites a document that cairo has made with this structure. Everything else on its pages becomes artifacts. The
 * bytes in `data` are changed. The caller calls free(). Returns NULL on failure. */
unsigned char *sr_pdfd_tagged(size_t *size, unsigned char *data, size_t length, const sr_pdfd_tree_t *tree);

#ifdef __cplusplus
}
#endif

#endif
