/* SPDX-License-Identifier: Apache-2.0 */
/* page.h: shared by the files that show a page: a page opened with poppler, and the raster made from it. */
#ifndef SR_HELPER_MAIN_READ_PAGE_H
#define SR_HELPER_MAIN_READ_PAGE_H

#include "helper/main/pdfd.h"

#include <poppler.h>

/* --------------------------------------------------------------------------------------------- poppler.c */
typedef struct sr_pdfd_page_t {
    PopplerDocument *document;
    PopplerPage *page;
    int index;
    double width, height; /* points, as displayed: the CropBox within the MediaBox, turned by /Rotate */
} sr_pdfd_page_t;

/* Opens the page that the request names ("page"). Returns NULL, or a new reference to the response if it cannot be
 * shown. */
json_t *sr_pdfd_page_open(sr_pdfd_page_t *page, const sr_pdfd_request_t *request, apr_pool_t *pool);
void sr_pdfd_page_close(sr_pdfd_page_t *page);
/* Opens the document without a page, for sr_pdfd_page_turn. Returns NULL, or why it cannot be read. */
const char *sr_pdfd_pages_open(sr_pdfd_page_t *page, const sr_pdfd_request_t *request);
/* Opens another page of the same document. Returns NULL, or why it cannot be shown. */
const char *sr_pdfd_page_turn(sr_pdfd_page_t *page, int index, apr_pool_t *pool);
/* Returns a new reference to {"refused":"<reason>"}. */
json_t *sr_pdfd_page_refuse(const char *reason);

/* ---------------------------------------------------------------------------------------------- page_letters.c */
typedef struct sr_pdfd_letters_t {
    char *text;              /* UTF-8; NULL: the page has no text. A line feed ends each line. */
    PopplerRectangle *boxes; /* one for each character of the text, in points of the displayed page */
    guint count;
} sr_pdfd_letters_t;
/* Reads the text of a page. End it with sr_pdfd_letters_free. */
void sr_pdfd_letters_read(sr_pdfd_letters_t *letters, const sr_pdfd_page_t *page);
void sr_pdfd_letters_free(sr_pdfd_letters_t *letters);

/* ------------------------------------------------------------------------------------------------- page_text.c */
/* Returns true if there is a gap between two characters, in any direction, so that they belong to two words. poppler's
 * text has no space between the cells of a row. */
bool sr_pdfd_text_is_apart(const PopplerRectangle *a, const PopplerRectangle *b);

/* ------------------------------------------------------------------------------------------- unreadable_fonts.c */
/* Returns true if a page names a font that does not say which letters it shows. */
bool sr_pdfd_fonts_unreadable(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- image_kind.c */
typedef struct sr_pdfd_raster_t {
    uint32_t *pixels; /* 0x??RRGGBB in the byte order of the host, row by row without gaps */
    int width, height;
} sr_pdfd_raster_t;

typedef enum sr_pdfd_row_t { SR_PDFD_WHITE, SR_PDFD_GRAY_ROW, SR_PDFD_COLOURED } sr_pdfd_row_t;
typedef struct sr_pdfd_look_t {
    bool gray;           /* it has no colours */
    bool photograph;     /* a scan or photograph: many pixels differ only slightly from their neighbour */
    long levels[256];    /* the number of pixels in areas of each gray */
    unsigned char *rows; /* sr_pdfd_row_t of each row */
} sr_pdfd_look_t;
/* Finds out what a page looks like, to choose the encoding. */
void sr_pdfd_image_kind(sr_pdfd_look_t *look, const sr_pdfd_raster_t *raster, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------- png.c · jpeg.c */
/* Encode a raster into at most `room` bytes, and overwrite its pixels. Return the number of bytes, or 0 if there is too
 * little room. */
apr_size_t sr_pdfd_png_encode(unsigned char *png, apr_size_t room, sr_pdfd_raster_t *raster, const sr_pdfd_look_t *look,
                              apr_pool_t *pool);
apr_size_t sr_pdfd_jpeg_encode(unsigned char *image, apr_size_t room, sr_pdfd_raster_t *raster, bool gray);

#endif
