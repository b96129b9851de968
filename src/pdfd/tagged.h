/* SPDX-License-Identifier: Apache-2.0 */
/* tagged.h: what tagged.cc, which is C++, does for compose.c, which is C: it writes the logical structure of a composed
 * document (ISO 32000-2, 14.7 and 14.8). */
#ifndef SR_PDFD_TAGGED_H
#define SR_PDFD_TAGGED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sr_pdfd_element_t {
    const char *type;        /* "P", one of 14.8.4 */
    const char *alternative; /* what is read instead of its content; or NULL */
    int parent;              /* comes before it */
} sr_pdfd_element_t;

/* What is drawn for an element without an interruption. Those of a page are in the order in which they are drawn. */
typedef struct sr_pdfd_content_t {
    int element, page;
} sr_pdfd_content_t;

/* The element of the document, which holds all others. It has no content of its own: what is drawn for it is an
 * artifact, which has no meaning, such as a line. */
#define SR_PDFD_DOCUMENT 0

typedef struct sr_pdfd_tree_t {
    const sr_pdfd_element_t *elements;
    const sr_pdfd_content_t *contents;
    int element_count, content_count;
    const char *language; /* of the document (BCP 47), or NULL */
} sr_pdfd_tree_t;

/* The document that cairo has made, rewritten with this structure; everything else on its pages becomes artifacts.
 * free() it. NULL when that cannot be done. */
unsigned char *sr_pdfd_tagged(size_t *size, const unsigned char *data, size_t length, const sr_pdfd_tree_t *tree);

#ifdef __cplusplus
}
#endif

#endif
