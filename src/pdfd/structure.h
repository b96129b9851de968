/* SPDX-License-Identifier: Apache-2.0 */
/* structure.h: which element of its logical structure each part of a composed document belongs to: noted by structure.c
 * while the pages are drawn. */
#ifndef SR_PDFD_STRUCTURE_H
#define SR_PDFD_STRUCTURE_H

#include "pdfd/tagged.h"

#include <apr_tables.h>
#include <cairo.h>

typedef struct sr_pdfd_structure_t {
    apr_array_header_t *elements, *contents; /* sr_pdfd_element_t, sr_pdfd_content_t */
} sr_pdfd_structure_t;

/* One with the element of the document alone. */
sr_pdfd_structure_t *sr_pdfd_structure(apr_pool_t *pool);
/* Adds an element behind the others of its parent, and returns its number. Without a structure: SR_PDFD_DOCUMENT. */
int sr_pdfd_element(sr_pdfd_structure_t *structure, int parent, const char *type);
/* The same for an image, which is not seen by everybody: the text says what it shows. */
int sr_pdfd_figure(sr_pdfd_structure_t *structure, int parent, const char *alternative);
const char *sr_pdfd_element_type(const sr_pdfd_structure_t *structure, int element);
/* What is drawn between these two on a page (from 0) is content of the element. */
void sr_pdfd_content_begin(cairo_t *context, sr_pdfd_structure_t *structure, int element, int page);
void sr_pdfd_content_end(cairo_t *context, const sr_pdfd_structure_t *structure, int element);

#endif
