/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h: lays out the pages of a composed document, line by line. Lengths are in points. */
#ifndef SR_HELPER_MAIN_COMPOSE_FLOW_H
#define SR_HELPER_MAIN_COMPOSE_FLOW_H

#include "helper/main/compose/decorations.h"
#include "helper/main/compose/structure.h"
#include "helper/main/draw/typeset.h"

#include <apr_hash.h>

#define SR_PDFD_LEFT 56.0
#define SR_PDFD_RIGHT (SR_PDFD_WIDTH - SR_PDFD_LEFT)
#define SR_PDFD_GAP 12.0     /* between columns */
#define SR_PDFD_SIDE_LINES 3 /* the greatest number of lines of banner and footer */
#define SR_PDFD_ALL_LINES INT16_MAX

#define SR_PDFD_GRAY 0x667080
#define SR_PDFD_RED 0xa3171f
#define SR_PDFD_HAIRLINE 0xd5d9e0
/* The style of small print. */
extern const sr_pdfd_look_t sr_pdfd_small;

typedef struct sr_pdfd_flow_t {
    const json_t *request;
    const char *language;
    sr_pdfd_canvas_t *canvas;       /* NULL in the pass that counts the pages and draws nothing */
    int page, pages;                /* the current page, and the number of pages, which is known after the first pass */
    bool rtl;                       /* columns begin on the right */
    double labels;                  /* width of the column of labels */
    double y;                       /* position of the next line */
    double top;                     /* position of the first line of this page */
    double bottom;                  /* where the footer begins */
    sr_pdfd_structure_t *structure; /* NULL if `canvas` is NULL */
    int group, block;               /* elements: the parent of new elements, and the open list or table in it, or 0 */
    apr_pool_t *page_pool, *item_pool; /* cleared for each page, and for each item */
    apr_hash_t *kept;                  /* paragraphs of the first pass, which are drawn in the second pass, and of
                                          previous documents: many texts are in each of them */
} sr_pdfd_flow_t;

/* What the columns of a row are in the structure of the document. */
typedef enum sr_pdfd_row_kind_t {
    SR_PDFD_ROW_PAIRS, /* a label and its value, or two of each */
    SR_PDFD_ROW_TEXT,  /* an element of the row's `type` */
    SR_PDFD_ROW_HEAD,  /* the first row of a table, without a value in the first column */
    SR_PDFD_ROW_CELLS  /* a row of a table */
} sr_pdfd_row_kind_t;

/* Paragraphs that stand side by side and share their base lines: a heading alone, or labels and values. */
#define SR_PDFD_COLUMNS 4
typedef struct sr_pdfd_row_t {
    const sr_pdfd_paragraph_t *columns[SR_PDFD_COLUMNS]; /* NULL: the column is empty */
    double x[SR_PDFD_COLUMNS];                           /* 0: a table has no such column */
    const json_t *signatures[SR_PDFD_COLUMNS];           /* a signature with its alternative text, or NULL */
    sr_pdfd_row_kind_t kind;
    const char *type; /* the element type of a text */
    int elements[SR_PDFD_COLUMNS];
} sr_pdfd_row_t;

/* Mirrors an x coordinate if columns begin on the right. */
double sr_pdfd_flow_side(const sr_pdfd_flow_t *flow, double x, double width);
/* Draw a rectangle, and a line across the page. */
void sr_pdfd_flow_fill(const sr_pdfd_flow_t *flow, double x, double y, double width, double height, uint32_t colour);
void sr_pdfd_flow_rule(const sr_pdfd_flow_t *flow, double y, uint32_t colour);
/* Returns the paragraphs in a language that this process has kept. */
apr_hash_t *sr_pdfd_flow_kept(const char *language);
/* Sets a paragraph. Returns NULL if the text has nothing to show. */
sr_pdfd_paragraph_t *sr_pdfd_flow_set(const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look,
                                      double width, apr_pool_t *pool);
/* Returns a row with one paragraph (element P) over the whole width. */
sr_pdfd_row_t sr_pdfd_flow_alone(const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look, double x,
                                 double width, apr_pool_t *pool);
/* Returns the height of the first `lines` lines of a row. */
double sr_pdfd_flow_measure(const sr_pdfd_row_t *row, int lines);
/* Draws the first `lines` lines at `y`, even if there is no room, as content of the elements of the row. Returns the
 * position of the next line. */
double sr_pdfd_flow_put_lines(const sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row, double y, int lines);
/* Adds the elements of the row to the group, in the open list or table. */
void sr_pdfd_flow_tag(sr_pdfd_flow_t *flow, sr_pdfd_row_t *row);
/* Draws the whole row at the current position, with its elements, on as many pages as it needs. */
void sr_pdfd_flow_put_row(sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row);
void sr_pdfd_flow_begin_page(sr_pdfd_flow_t *flow);
void sr_pdfd_flow_end_page(sr_pdfd_flow_t *flow);
/* Begins a new page if `height` does not fit on this page, unless it fits on no page. */
void sr_pdfd_flow_make_room(sr_pdfd_flow_t *flow, double height);

#endif
