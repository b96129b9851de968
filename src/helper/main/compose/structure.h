/* SPDX-License-Identifier: Apache-2.0 */
/* structure.h: the logical structure of a composed document (ISO 32000-2, 14.7 and 14.8). It records, while the pages
 * are drawn, which element each part of them belongs to. */
#ifndef SR_HELPER_MAIN_COMPOSE_STRUCTURE_H
#define SR_HELPER_MAIN_COMPOSE_STRUCTURE_H

#include "helper/main/draw/canvas.h"

/* The element of the document, which contains all others. It has no content of its own: what is drawn for it is an
 * artifact without meaning, such as a line. */
#define SR_PDFD_DOCUMENT 0

typedef struct sr_pdfd_structure_t {
    apr_array_header_t *elements, *contents; /* of structure.c */
} sr_pdfd_structure_t;

/* Returns a structure that only has the element of the document. */
sr_pdfd_structure_t *sr_pdfd_structure(apr_pool_t *pool);
/* Adds an element of a type ("P" or another one of 14.8.4) after the other children of its parent and returns its
 * number. If `structure` is NULL, it returns SR_PDFD_DOCUMENT. */
int sr_pdfd_element(sr_pdfd_structure_t *structure, int parent, const char *type);
/* Does the same for an image, with an alternative text. */
int sr_pdfd_figure(sr_pdfd_structure_t *structure, int parent, const char *alternative);
const char *sr_pdfd_element_type(const sr_pdfd_structure_t *structure, int element);
/* What is drawn between these two calls is content of the element. */
void sr_pdfd_content_begin(sr_pdfd_canvas_t *canvas, sr_pdfd_structure_t *structure, int element);
void sr_pdfd_content_end(sr_pdfd_canvas_t *canvas, const sr_pdfd_structure_t *structure, int element);
/* Writes the structure of a document with these pages. Returns the object number of its root. */
int sr_pdfd_structure_put(sr_pdfd_update_t *update, const sr_pdfd_structure_t *structure, const int *pages,
                          int page_count);

#endif
