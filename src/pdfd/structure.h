/* SPDX-License-Identifier: Apache-2.0 */
/* structure.h: records, while the pages are drawn, which structure element each part of a composed document belongs to.
 */
#ifndef SR_PDFD_STRUCTURE_H
#define SR_PDFD_STRUCTURE_H

#include "pdfd/tagged.h"

#include <apr_tables.h>
#include <cairo.h>

typedef struct sr_pdfd_structure_t {
    apr_array_header_t *elements, *contents; /* sr_pdfd_element_t, sr_pdfd_content_t */
} sr_pdfd_structure_t;

/* Returns a structure that only has the element of the document. */
sr_pdfd_structure_t *sr_pdfd_structure(apr_pool_t *pool);
/* Adds an element after the other children of its parent and returns its number. If `structure` is NULL, it returns
 * SR_PDFD_DOCUMENT. */
int sr_pdfd_element(sr_pdfd_structure_t *structure, int parent, const char *type);
/* Does the same for an image, with an alternative text. */
int sr_pdfd_figure(sr_pdfd_structure_t *structure, int parent, const char *alternative);
const char *sr_pdfd_element_type(const sr_pdfd_structure_t *structure, int element);
/* What is drawn on a page (from 0) between these two calls is content of the element. */
void sr_pdfd_content_begin(cairo_t *context, sr_pdfd_structure_t *structure, int element, int page);
void sr_pdfd_content_end(cairo_t *context, const sr_pdfd_structure_t *structure, int element);

#endif
