/* page.h: what the files that show a page share: the page, opened by poppler, and the raster made of it. */
#ifndef SR_PDFD_PAGE_H
#define SR_PDFD_PAGE_H

#include "pdfd/pdfd.h"

#include <poppler.h>

/* --------------------------------------------------------------------------------------------- poppler.c */
typedef struct sr_pdfd_page_t {
    PopplerDocument *document;
    PopplerPage *page;
    int index;
    double width, height; /* points, as displayed: CropBox within MediaBox, turned by /Rotate */
} sr_pdfd_page_t;

/* Opens the page that the question asks for ("page"). The answer (a new reference) instead when it cannot be shown. */
json_t *sr_pdfd_page_open(sr_pdfd_page_t *page, const sr_pdfd_question_t *question, apr_pool_t *pool);
void sr_pdfd_page_close(sr_pdfd_page_t *page);
/* {"refused":"<reason>"}: a new reference. */
json_t *sr_pdfd_page_refuse(const char *reason);

/* ------------------------------------------------------------------------------------------------- png.c */
typedef struct sr_pdfd_raster_t {
    uint32_t *pixels; /* 0x??RRGGBB in the host's byte order, row by row without gaps */
    int width, height;
} sr_pdfd_raster_t;

/* Encodes a raster, whose memory it overwrites, into `room` bytes at `png`. How many it took; 0 when there is too
 * little room. *gray tells whether the image has no colour and was encoded without. */
apr_size_t sr_pdfd_png_encode(bool *gray, unsigned char *png, apr_size_t room, sr_pdfd_raster_t *raster);

#endif
