/* SPDX-License-Identifier: Apache-2.0 */
/* paged.c: writes the pages of a canvas into a new document, with the fonts and images that they use. */
#include "helper/main/compose/decorations.h"

/* Returns the colours and the alpha values of a surface. */
static int paged_put_image(sr_pdfd_update_t *update, cairo_surface_t *surface)
{
    const int width = cairo_image_surface_get_width(surface), height = cairo_image_surface_get_height(surface);
    const apr_size_t pixels = (apr_size_t)width * (apr_size_t)height;
    const sr_pdfd_planes_t planes = sr_pdfd_surface_planes(surface, update->pool);
    const char *size = apr_psprintf(update->pool,
                                    "/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8"
                                    "/Interpolate true",
                                    width, height);
    const char *gray = apr_pstrcat(update->pool, size, "/ColorSpace/DeviceGray", NULL);
    const int mask = sr_pdfd_stream_new(update, gray, planes.alpha, pixels);
    return sr_pdfd_stream_new(update, apr_psprintf(update->pool, "%s/ColorSpace/DeviceRGB/SMask %d 0 R", size, mask),
                              planes.colours, 3 * pixels);
}

int sr_pdfd_file_resources(sr_pdfd_update_t *update, const sr_pdfd_canvas_t *canvas)
{
    const char *fonts = "", *images = "";
    for (int i = 0; i < canvas->fonts->nelts; i++) {
        const int number = sr_pdfd_embed(update, &APR_ARRAY_IDX(canvas->fonts, i, sr_pdfd_used_font_t));
        if (!number) return 0;
        fonts = apr_psprintf(update->pool, "%s/F%d %d 0 R", fonts, i, number);
    }
    for (int i = 0; i < canvas->images->nelts; i++)
        images = apr_psprintf(update->pool, "%s/I%d %d 0 R", images, i,
                              paged_put_image(update, APR_ARRAY_IDX(canvas->images, i, cairo_surface_t *)));
    const int number = (int)sr_pdfd_object_number(update);
    sr_pdfd_print(sr_pdfd_object_begin(update, number, 0), "<</Font<<%s>>/XObject<<%s>>>>", fonts, images);
    sr_pdfd_object_end(update);
    return number;
}

const int *sr_pdfd_file_pages(sr_pdfd_update_t *update, int root, const sr_pdfd_canvas_t *canvas)
{
    const int count = canvas->pages->nelts, resources = sr_pdfd_file_resources(update, canvas);
    int *pages = apr_palloc(update->pool, (apr_size_t)(count + 1) * sizeof *pages);
    if (!resources) return NULL;
    for (int i = 0; i < count; i++) {
        const sr_pdfd_buffer_t *content = APR_ARRAY_IDX(canvas->pages, i, sr_pdfd_buffer_t *);
        const int data = sr_pdfd_stream_new(update, "", content->data, content->size);
        pages[i] = (int)sr_pdfd_object_number(update);
        sr_pdfd_print(sr_pdfd_object_begin(update, pages[i], 0),
                      "<</Type/Page/Parent %d 0 R/MediaBox[0 0 %.2f %.2f]/Contents %d 0 R/Resources %d 0 R"
                      "/Group<</Type/Group/S/Transparency/I true/CS/DeviceRGB>>/StructParents %d>>",
                      root, SR_PDFD_WIDTH, SR_PDFD_HEIGHT, data, resources, i);
        sr_pdfd_object_end(update);
    }
    sr_pdfd_buffer_t *out = sr_pdfd_object_begin(update, root, 0);
    sr_pdfd_print(out, "<</Type/Pages/Count %d/Kids[", count);
    for (int i = 0; i < count; i++) sr_pdfd_print(out, "%d 0 R ", pages[i]);
    sr_pdfd_put_text(out, "]>>");
    sr_pdfd_object_end(update);
    return pages;
}
