/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h: the pages of a composed document, from line to line. */
#ifndef SR_PDFD_FLOW_H
#define SR_PDFD_FLOW_H

#include "pdfd/marks.h"
#include "pdfd/structure.h"
#include "pdfd/typeset.h"

#include <apr_hash.h>

#define SR_PDFD_WIDTH 595.28
#define SR_PDFD_HEIGHT 841.89
#define SR_PDFD_LEFT 56.0
#define SR_PDFD_RIGHT (SR_PDFD_WIDTH - SR_PDFD_LEFT)
#define SR_PDFD_GAP 12.0     /* between columns */
#define SR_PDFD_SIDE_LINES 3 /* at most, of banner and foot */
#define SR_PDFD_ALL_LINES INT16_MAX

#define SR_PDFD_GRAY 0x667080
#define SR_PDFD_RED 0xa3171f
#define SR_PDFD_HAIRLINE 0xd5d9e0
/* Of small print. */
extern const sr_pdfd_look_t sr_pdfd_small;

typedef struct sr_pdfd_flow_t {
    const json_t *request;
    const char *language;
    cairo_t *context;                  /* NULL: pages are counted, and nothing is drawn */
    int page, pages;                   /* of this pass; in all, known from the first pass on */
    bool rtl;                          /* what is on the left elsewhere is on the right here */
    double labels;                     /* how wide their column is */
    double y;                          /* where the next line begins */
    double top;                        /* where the first one of this page did */
    double bottom;                     /* where the foot begins */
    int64_t *pixels;                   /* how many the images of signatures may still have */
    sr_pdfd_structure_t *structure;    /* NULL: as context */
    int group, block;                  /* elements: what new ones are added to; the list or table there, or 0 */
    apr_pool_t *page_pool, *item_pool; /* cleared with each */
    apr_hash_t *kept;                  /* paragraphs of the first pass, which the second one draws */
} sr_pdfd_flow_t;

/* What the columns of a row are to those who cannot see them. */
typedef enum sr_pdfd_row_kind_t {
    SR_PDFD_ROW_PAIRS, /* a label and its value, twice perhaps */
    SR_PDFD_ROW_TEXT,  /* of that type */
    SR_PDFD_ROW_EVENT, /* a row of a table */
    SR_PDFD_ROW_MARK
} sr_pdfd_row_kind_t;

/* Paragraphs that stand side by side, line by line on one base: a heading alone, or labels and values. */
#define SR_PDFD_COLUMNS 4
typedef struct sr_pdfd_row_t {
    const sr_pdfd_paragraph_t *columns[SR_PDFD_COLUMNS]; /* NULL: nothing there */
    double x[SR_PDFD_COLUMNS];
    const json_t *mark; /* a signature, drawn in the second column; or NULL */
    sr_pdfd_row_kind_t kind;
    const char *type, *alternative; /* of the element of a text; of a mark */
    int elements[SR_PDFD_COLUMNS];
} sr_pdfd_row_t;

/* Where something is that would be at `x` if the columns began on the left. */
double sr_pdfd_flow_side(const sr_pdfd_flow_t *flow, double x, double width);
/* A rectangle; a line from side to side. */
void sr_pdfd_flow_fill(const sr_pdfd_flow_t *flow, double x, double y, double width, double height, uint32_t colour);
void sr_pdfd_flow_rule(const sr_pdfd_flow_t *flow, double y, uint32_t colour);
/* A paragraph, or NULL. */
sr_pdfd_paragraph_t *sr_pdfd_flow_set(const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look,
                                      double width, apr_pool_t *pool);
/* A row of one paragraph (element P), in its whole width. */
sr_pdfd_row_t sr_pdfd_flow_alone(const sr_pdfd_flow_t *flow, const char *text, const sr_pdfd_look_t *look, double x,
                                 double width, apr_pool_t *pool);
/* How high its first lines are. */
double sr_pdfd_flow_measure(const sr_pdfd_row_t *row, int lines);
/* Puts the first lines at `y`, whether there is room or not, for the elements that the row has. Returns where the next
 * one would be. */
double sr_pdfd_flow_put_lines(const sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row, double y, int lines);
/* Adds the elements of the row to the group, in its list or table. */
void sr_pdfd_flow_tag(sr_pdfd_flow_t *flow, sr_pdfd_row_t *row);
/* Puts the whole row where the flow is, with its elements, on as many pages as it needs. */
void sr_pdfd_flow_put_row(sr_pdfd_flow_t *flow, const sr_pdfd_row_t *row);
void sr_pdfd_flow_begin_page(sr_pdfd_flow_t *flow);
void sr_pdfd_flow_end_page(sr_pdfd_flow_t *flow);
/* Goes on to the next page where so much does not fit here, unless it fits nowhere. */
void sr_pdfd_flow_make_room(sr_pdfd_flow_t *flow, double height);

#endif
