/* SPDX-License-Identifier: Apache-2.0 */
/* canvas.c: the content streams of the pages of a new document (ISO 32000-2, 8 and 9). A glyph is shown by its number
 * in the font, so the content is complete before the fonts are. */
#include "helper/main/draw/canvas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEAR 0.0005   /* points: less than any device shows */
#define FARTHEST 9999 /* 1/1000 of the font size that a string may skip */

sr_pdfd_canvas_t *sr_pdfd_canvas(apr_pool_t *pool)
{
    sr_pdfd_canvas_t *canvas = apr_pcalloc(pool, sizeof *canvas);
    canvas->pool = pool;
    canvas->pages = apr_array_make(pool, 4, sizeof(sr_pdfd_buffer_t *));
    canvas->fonts = apr_array_make(pool, 4, sizeof(sr_pdfd_used_font_t));
    canvas->images = apr_array_make(pool, 4, sizeof(cairo_surface_t *));
    return canvas;
}

/* ------------------------------------------------------------------------------------------------- pages */

sr_pdfd_buffer_t *sr_pdfd_canvas_content(sr_pdfd_canvas_t *canvas)
{
    if (!canvas->content) {
        canvas->content = sr_pdfd_buffer(canvas->pool);
        sr_pdfd_put_text(canvas->content, "/Artifact BMC\n");
    }
    return canvas->content;
}

void sr_pdfd_canvas_end_page(sr_pdfd_canvas_t *canvas)
{
    sr_pdfd_put_text(sr_pdfd_canvas_content(canvas), "EMC\n");
    APR_ARRAY_PUSH(canvas->pages, sr_pdfd_buffer_t *) = canvas->content;
    canvas->content = NULL;
    canvas->marked = 0;
}

int sr_pdfd_canvas_begin(sr_pdfd_canvas_t *canvas, const char *type)
{
    sr_pdfd_print(sr_pdfd_canvas_content(canvas), "EMC\n/%s << /MCID %d >> BDC\n", type, canvas->marked);
    return canvas->marked++;
}

void sr_pdfd_canvas_end(sr_pdfd_canvas_t *canvas)
{
    sr_pdfd_put_text(canvas->content, "EMC\n/Artifact BMC\n");
}

/* ------------------------------------------------------------------------------------------------ shapes */

void sr_pdfd_canvas_save(sr_pdfd_canvas_t *canvas)
{
    sr_pdfd_put_text(sr_pdfd_canvas_content(canvas), "q\n");
}

void sr_pdfd_canvas_restore(sr_pdfd_canvas_t *canvas)
{
    sr_pdfd_put_text(canvas->content, "Q\n");
}

static void put_colour(sr_pdfd_canvas_t *canvas, uint32_t colour, const char *name)
{
    const double parts[] = {(colour >> 16) / 255.0, (colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0};
    sr_pdfd_put_numbers(sr_pdfd_canvas_content(canvas), parts, 3);
    sr_pdfd_put_text(canvas->content, name);
}

void sr_pdfd_canvas_colour(sr_pdfd_canvas_t *canvas, uint32_t colour)
{
    put_colour(canvas, colour, "rg\n");
}

void sr_pdfd_canvas_rectangle(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height)
{
    const double values[] = {x, SR_PDFD_HEIGHT - y - height, width, height};
    sr_pdfd_put_numbers(sr_pdfd_canvas_content(canvas), values, 4);
    sr_pdfd_put_text(canvas->content, "re\n");
}

void sr_pdfd_canvas_fill(sr_pdfd_canvas_t *canvas)
{
    sr_pdfd_put_text(canvas->content, "f\n");
}

void sr_pdfd_canvas_clip(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height)
{
    sr_pdfd_canvas_rectangle(canvas, x, y, width, height);
    sr_pdfd_put_text(canvas->content, "W n\n");
}

void sr_pdfd_canvas_frame(sr_pdfd_canvas_t *canvas, double x, double y, double width, double height, double line,
                          uint32_t colour)
{
    put_colour(canvas, colour, "RG\n");
    sr_pdfd_put_number(canvas->content, line);
    sr_pdfd_put_text(canvas->content, "w\n");
    sr_pdfd_canvas_rectangle(canvas, x, y, width, height);
    sr_pdfd_put_text(canvas->content, "S\n");
}

static apr_status_t canvas_destroy(void *surface)
{
    cairo_surface_destroy(surface);
    return APR_SUCCESS;
}

void sr_pdfd_canvas_image(sr_pdfd_canvas_t *canvas, cairo_surface_t *surface, double x, double y, double width,
                          double height)
{
    const double matrix[] = {width, 0, 0, height, x, SR_PDFD_HEIGHT - y - height};
    APR_ARRAY_PUSH(canvas->images, cairo_surface_t *) = surface;
    apr_pool_cleanup_register(canvas->pool, surface, canvas_destroy, apr_pool_cleanup_null);
    sr_pdfd_put_text(sr_pdfd_canvas_content(canvas), "q\n");
    sr_pdfd_put_numbers(canvas->content, matrix, 6);
    sr_pdfd_print(canvas->content, "cm\n/I%d Do\nQ\n", canvas->images->nelts - 1);
}

/* -------------------------------------------------------------------------------------------------- text */

static int canvas_find_font(sr_pdfd_canvas_t *canvas, const sr_pdfd_font_t *font)
{
    for (int i = 0; i < canvas->fonts->nelts; i++)
        if (APR_ARRAY_IDX(canvas->fonts, i, sr_pdfd_used_font_t).font == font) return i;
    sr_pdfd_used_font_t *used = apr_array_push(canvas->fonts);
    used->font = font;
    used->count = hb_face_get_glyph_count(hb_font_get_face(font->font));
    used->glyphs = apr_pcalloc(canvas->pool, used->count * sizeof *used->glyphs);
    return canvas->fonts->nelts - 1;
}

static sr_pdfd_use_t *canvas_use_of(sr_pdfd_canvas_t *canvas, hb_codepoint_t glyph)
{
    const sr_pdfd_used_font_t *used = &APR_ARRAY_IDX(canvas->fonts, canvas->run.font, sr_pdfd_used_font_t);
    sr_pdfd_use_t *use = &used->glyphs[glyph < used->count ? glyph : 0];
    if (use->is_used) return use;
    use->is_used = true;
    use->width =
        (int16_t)lround(hb_font_get_glyph_h_advance(used->font->font, glyph) * used->font->scale * (1000 / SR_PDFD_EM));
    return use;
}

void sr_pdfd_canvas_embed(sr_pdfd_canvas_t *canvas, const char *letters)
{
    for (int i = 0; i < canvas->fonts->nelts; i++) {
        const sr_pdfd_font_t *font = APR_ARRAY_IDX(canvas->fonts, i, sr_pdfd_used_font_t).font;
        canvas->run.font = i;
        for (const char *c = letters; *c; c++) {
            hb_codepoint_t glyph;
            if (hb_font_get_nominal_glyph(font->font, (unsigned char)*c, &glyph)) canvas_use_of(canvas, glyph);
        }
    }
}

void sr_pdfd_canvas_begin_run(sr_pdfd_canvas_t *canvas, const sr_pdfd_font_t *font, double size)
{
    canvas->run.font = canvas_find_font(canvas, font);
    canvas->run.size = size;
    canvas->run.open = SR_PDFD_NO_STRING;
    sr_pdfd_print(sr_pdfd_canvas_content(canvas), "BT\n/F%d ", canvas->run.font);
    sr_pdfd_put_number(canvas->content, size);
    sr_pdfd_put_text(canvas->content, "Tf\n");
}

static void close_string(sr_pdfd_canvas_t *canvas)
{
    if (canvas->run.open == SR_PDFD_STRING) sr_pdfd_put_text(canvas->content, ">");
    if (canvas->run.open) sr_pdfd_put_text(canvas->content, "]TJ\n");
    canvas->run.open = SR_PDFD_NO_STRING;
}

/* Begins an array of strings at a place. */
static void open_array(sr_pdfd_canvas_t *canvas, double x, double y)
{
    close_string(canvas);
    sr_pdfd_put_text(canvas->content, "1 0 0 1 ");
    sr_pdfd_put_number(canvas->content, x);
    sr_pdfd_put_number(canvas->content, SR_PDFD_HEIGHT - y);
    sr_pdfd_put_text(canvas->content, "Tm[");
    canvas->run.x = x;
    canvas->run.y = y;
    canvas->run.advance = 0;
    canvas->run.open = SR_PDFD_ARRAY;
}

/* Moves to the place of the next glyph. */
static void canvas_move_to(sr_pdfd_canvas_t *canvas, double x, double y)
{
    double skip = (x - canvas->run.x) * 1000 / canvas->run.size - canvas->run.advance;
    if (!canvas->run.open || fabs(y - canvas->run.y) > NEAR || fabs(skip) > FARTHEST) {
        open_array(canvas, x, y);
        skip = 0;
    }
    const long rounded = lround(skip);
    if (rounded) {
        if (canvas->run.open == SR_PDFD_STRING) sr_pdfd_put_text(canvas->content, ">");
        canvas->run.open = SR_PDFD_ARRAY;
        sr_pdfd_put_number(canvas->content, (double)-rounded);
        canvas->content->size--; /* no space is needed between a number and a string */
        canvas->run.advance += (double)rounded;
    }
    if (canvas->run.open == SR_PDFD_ARRAY) sr_pdfd_put_text(canvas->content, "<");
    canvas->run.open = SR_PDFD_STRING;
}

/* Returns true if readers get the text from the glyph alone. */
static bool tells(sr_pdfd_canvas_t *canvas, const char *text, apr_size_t length, const sr_pdfd_placed_t *glyphs,
                  int count)
{
    if (count != 1) return false;
    sr_pdfd_use_t *use = canvas_use_of(canvas, glyphs[0].glyph);
    if (!use->text) {
        use->text = apr_pstrmemdup(canvas->pool, text, length);
        use->length = (uint32_t)length;
    }
    return use->length == length && !memcmp(use->text, text, length);
}

void sr_pdfd_canvas_cluster(sr_pdfd_canvas_t *canvas, const char *text, apr_size_t length,
                            const sr_pdfd_placed_t *glyphs, int count)
{
    const bool is_span = !tells(canvas, text, length, glyphs, count);
    if (is_span) {
        close_string(canvas);
        sr_pdfd_put_text(canvas->content, "/Span << /ActualText <FEFF");
        sr_pdfd_put_utf16(canvas->content, apr_pstrmemdup(canvas->pool, text, length));
        sr_pdfd_put_text(canvas->content, "> >> BDC\n");
    }
    for (int i = 0; i < count; i++) {
        const sr_pdfd_use_t *use = canvas_use_of(canvas, glyphs[i].glyph);
        const unsigned char code[] = {(unsigned char)(glyphs[i].glyph >> 8), (unsigned char)glyphs[i].glyph};
        canvas_move_to(canvas, glyphs[i].x, glyphs[i].y);
        sr_pdfd_put_hex(canvas->content, code, sizeof code);
        canvas->run.advance += use->width;
    }
    if (!is_span) return;
    close_string(canvas);
    sr_pdfd_put_text(canvas->content, "EMC\n");
}

void sr_pdfd_canvas_end_run(sr_pdfd_canvas_t *canvas)
{
    close_string(canvas);
    sr_pdfd_put_text(canvas->content, "ET\n");
}
