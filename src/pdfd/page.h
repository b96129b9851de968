/* SPDX-License-Identifier: Apache-2.0 */
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

/* Opens the page that the request asks for ("page"). The answer (a new reference) instead when it cannot be shown. */
json_t *sr_pdfd_page_open(sr_pdfd_page_t *page, const sr_pdfd_request_t *request, apr_pool_t *pool);
void sr_pdfd_page_close(sr_pdfd_page_t *page);
/* {"refused":"<reason>"}: a new reference. */
json_t *sr_pdfd_page_refuse(const char *reason);

/* ------------------------------------------------------------------------------------------------- look.c */
typedef struct sr_pdfd_raster_t {
    uint32_t *pixels; /* 0x??RRGGBB in the host's byte order, row by row without gaps */
    int width, height;
} sr_pdfd_raster_t;

typedef struct sr_pdfd_look_t {
    bool gray;        /* it has no colour */
    bool photograph;  /* a scan or photograph: many pixels are nearly as their neighbour is */
    long levels[256]; /* of a page without colour: how many pixels are in areas of this gray */
} sr_pdfd_look_t;
/* What a page looks like, so that it can be encoded as it suits it. */
void sr_pdfd_look(sr_pdfd_look_t *look, const sr_pdfd_raster_t *raster);

/* ---------------------------------------------------------------------------------------- png.c · jpeg.c */
/* Encode a raster, whose memory they overwrite, into `room` bytes. How many it took; 0: there is too little room. */
apr_size_t sr_pdfd_png_encode(unsigned char *png, apr_size_t room, sr_pdfd_raster_t *raster,
                              const sr_pdfd_look_t *look);
apr_size_t sr_pdfd_jpeg_encode(unsigned char *image, apr_size_t room, sr_pdfd_raster_t *raster, bool gray);

#endif
