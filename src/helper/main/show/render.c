/* SPDX-License-Identifier: Apache-2.0 */
/* render.c: draws a page as a signer sees it: on white, with its annotations and form fields. */
#include "helper/main/read/page.h"
#include "helper/main/process/process.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_PIXELS 60000000
#define MAX_SIDE 32767 /* the limit of cairo */
/* A raster of up to 32 MB is kept for the next page, because new memory costs as much time as clearing it. */
#define KEPT_PIXELS (8 << 20)

static uint32_t *kept;
static apr_size_t kept_pixels;

static void release_raster(void)
{
    free(kept);
    kept = NULL;
    kept_pixels = 0;
}

/* Returns the raster of the worker, filled with white, or NULL if there is no memory. */
static uint32_t *white_raster(apr_size_t pixels)
{
    if (pixels > kept_pixels) {
        release_raster();
        const apr_size_t size = (pixels * sizeof *kept + SR_PDFD_HUGE_PAGE - 1) / SR_PDFD_HUGE_PAGE * SR_PDFD_HUGE_PAGE;
        kept = aligned_alloc(SR_PDFD_HUGE_PAGE, size);
        kept_pixels = kept ? pixels : 0;
        if (kept)
            madvise(kept, size,
                    MADV_HUGEPAGE); /* a page fault for each 4 kB would cost more than clearing the memory */
    }
    if (kept) memset(kept, 0xff, pixels * sizeof *kept);
    return kept;
}

/* Computes the size of the image. Returns NULL, or the reason why it cannot be made. */
static const char *render_measure(sr_pdfd_raster_t *raster, const sr_pdfd_page_t *page, json_int_t width,
                                  apr_pool_t *pool)
{
    double height = round(page->height * (double)width / page->width);
    if (height < 1) height = 1;
    if (width < SR_PDF_MIN_WIDTH || width > SR_PDF_MAX_WIDTH) return "an image cannot have that width";
    if (height > MAX_SIDE || (double)width * height > MAX_PIXELS)
        return apr_psprintf(pool, "page %d at that width is larger than 60 million pixels, or than 32767 a side",
                            page->index + 1);
    raster->width = (int)width;
    raster->height = (int)height;
    return NULL;
}

/* Returns NULL, or the reason why the page cannot be drawn. cairo stops drawing after an error, so an incomplete image
 * is refused. */
static const char *render_draw(const sr_pdfd_raster_t *raster, const sr_pdfd_page_t *page, apr_pool_t *pool)
{
    cairo_surface_t *surface = cairo_image_surface_create_for_data((unsigned char *)raster->pixels, CAIRO_FORMAT_RGB24,
                                                                   raster->width, raster->height, raster->width * 4);
    cairo_t *context = cairo_create(surface);
    cairo_scale(context, raster->width / page->width, raster->height / page->height);
    poppler_page_render(page->page, context);
    cairo_surface_flush(surface);
    cairo_status_t status = cairo_status(context);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_NO_MEMORY) return SR_PDF_LIMITS_REASON;
    return status ? apr_psprintf(pool, "page %d cannot be drawn", page->index + 1) : NULL;
}

static json_t *render(const sr_pdfd_request_t *request, const sr_pdfd_page_t *page, apr_pool_t *pool)
{
    sr_pdfd_raster_t raster;
    sr_pdfd_look_t look;
    const char *reason =
        render_measure(&raster, page, json_integer_value(json_object_get(request->text, "width")), pool);
    if (reason) return sr_pdfd_page_refuse(reason);
    raster.pixels = white_raster((apr_size_t)raster.width * (apr_size_t)raster.height);
    reason = raster.pixels ? render_draw(&raster, page, pool) : SR_PDF_LIMITS_REASON;
    if (reason) return sr_pdfd_page_refuse(reason);
    sr_pdfd_image_kind(&look, &raster, pool);
    apr_size_t length = look.photograph && !json_is_true(json_object_get(request->text, "png"))
                            ? sr_pdfd_jpeg_encode(request->result, request->room, &raster, look.gray)
                            : sr_pdfd_png_encode(request->result, request->room, &raster, &look, pool);
    if (!length) return sr_pdfd_page_refuse(SR_PDF_LIMITS_REASON);

    json_t *response = json_object();
    json_object_set_new(response, "length", json_integer((json_int_t)length));
    json_object_set_new(response, "width", json_integer(raster.width));
    json_object_set_new(response, "height", json_integer(raster.height));
    json_object_set_new(response, "gray", json_boolean(look.gray));
    return response;
}

json_t *sr_pdfd_render(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    sr_pdfd_page_t page;
    sr_pdfd_heap_grow();
    json_t *response = sr_pdfd_page_open(&page, request, pool);
    if (response) return response;
    response = render(request, &page, pool);
    sr_pdfd_page_close(&page);
    if (kept_pixels > KEPT_PIXELS) release_raster();
    return response;
}
