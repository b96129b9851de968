/* SPDX-License-Identifier: Apache-2.0 */
/* overlay.c: the operation "overlay": joins documents, and draws lines of a grid and boxes with texts over their pages.
 * What is drawn is a stamp annotation, so it is above everything else on the page, and no operator in the content of
 * the page can change it. Nothing else changes: a document that can be continued is, and others are written again. */
#include "helper/main/draw/typeset.h"

#include <string.h>

#define MARGIN 2.0   /* points between a text and the edges of its background, its box and the page */
#define NARROW 160.0 /* the least room for a text beside a narrow box */
#define FRAME 1.0    /* line widths */
#define GRID 0.25
#define GRID_COLOUR 0x8a8a8a
#define PAPER 0xffffff
#define FARTHEST 100000.0           /* of a box, in points */
#define FLAGS 196                   /* of an annotation: it is printed, and not changed (ISO 32000-2, table 167) */
#define NUMBERS "0123456789.-"      /* always embedded, so that embed.c needs no other subset after a box was moved */
#define LOOSE ((apr_size_t)8 << 10) /* to compress a few kilobytes takes longer than to send them */

static const sr_pdfd_look_t NUMBER = {SR_PDFD_PLAIN, 6, 7, GRID_COLOUR};
static const sr_pdfd_look_t TEXT = {SR_PDFD_PLAIN, 7, 8.5, 0};

/* What is drawn over a page, in points of the displayed page, from its top left corner. */
typedef struct look_t {
    double size[2];
    int rotate;
    int form; /* number of its form XObject */
} look_t;

typedef struct overlay_t {
    sr_pdfd_canvas_t *canvas;
    look_t *looks;
    apr_pool_t *pool;
} overlay_t;

static bool overlay_numbers(double *numbers, size_t count, const json_t *list)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_number(value)) return false;
        numbers[i] = json_number_value(value);
    }
    return json_array_size(list) == count;
}

/* ------------------------------------------------------------------------------------------------------ drawing */

static void overlay_fill(sr_pdfd_canvas_t *canvas, uint32_t colour, double x, double y, double width, double height)
{
    sr_pdfd_canvas_colour(canvas, colour);
    sr_pdfd_canvas_rectangle(canvas, x, y, width, height);
    sr_pdfd_canvas_fill(canvas);
}

/* Draws paragraphs below each other on a background. */
static void draw_texts(sr_pdfd_canvas_t *canvas, sr_pdfd_paragraph_t *const *texts, int count, const double box[4])
{
    double y = box[1], above, below;
    overlay_fill(canvas, PAPER, box[0], box[1], box[2], box[3]);
    for (int i = 0; i < count; i++)
        for (int line = 0; line < sr_pdfd_paragraph_lines(texts[i]); line++) {
            sr_pdfd_paragraph_extents(&above, &below, texts[i], line);
            sr_pdfd_paragraph_draw(canvas, texts[i], line, box[0] + MARGIN, y + above, false);
            y += above + below;
        }
}

static void measure(double size[2], sr_pdfd_paragraph_t *const *texts, int count)
{
    double above, below;
    size[0] = size[1] = 0;
    for (int i = 0; i < count; i++)
        for (int line = 0; line < sr_pdfd_paragraph_lines(texts[i]); line++) {
            const double width = sr_pdfd_paragraph_width(texts[i], line) + 2 * MARGIN;
            sr_pdfd_paragraph_extents(&above, &below, texts[i], line);
            if (size[0] < width) size[0] = width;
            size[1] += above + below;
        }
}

/* Returns where a text begins, so that its end is before `end` if possible. */
static double overlay_within(double begin, double length, double end)
{
    if (begin + length > end) begin = end - length;
    return begin > 0 ? begin : 0;
}

/* Draws the texts of a box: in it if it has room, else above or below it. */
static void draw_label(sr_pdfd_canvas_t *canvas, const look_t *look, const double rect[4], const json_t *texts,
                       uint32_t colour, apr_pool_t *pool)
{
    sr_pdfd_paragraph_t *paragraphs[2];
    sr_pdfd_look_t style = TEXT;
    double room = rect[2] - 2 * MARGIN - 2 * FRAME, box[4];
    style.colour = colour;
    if (room < NARROW) room = NARROW;
    if (room > look->size[0]) room = look->size[0];
    for (size_t i = 0; i < 2; i++)
        paragraphs[i] = sr_pdfd_paragraph(json_string_value(json_array_get(texts, i)), &style, room, NULL, pool);
    measure(box + 2, paragraphs, 2);
    const bool fits = box[2] + 2 * FRAME <= rect[2] && box[3] + 2 * FRAME <= rect[3];
    const double above = rect[1] - box[3], below = rect[1] + rect[3];
    box[0] = overlay_within(rect[0] + (fits ? FRAME : 0), box[2], look->size[0]);
    box[1] = overlay_within(fits ? rect[1] + FRAME : above >= 0 ? above : below, box[3], look->size[1]);
    draw_texts(canvas, paragraphs, 2, box);
}

/* Draws {"rect":[x,y,w,h],"colour":0xrrggbb,"texts":["",""]}. */
static bool draw_box(sr_pdfd_canvas_t *canvas, const look_t *look, const json_t *box, apr_pool_t *pool)
{
    const json_t *texts = json_object_get(box, "texts");
    const uint32_t colour = (uint32_t)json_integer_value(json_object_get(box, "colour")) & 0xffffff;
    double r[4];
    if (!overlay_numbers(r, 4, json_object_get(box, "rect"))) return false;
    for (size_t i = 0; i < 2; i++)
        if (!json_is_string(json_array_get(texts, i))) return false;
    if (r[0] > look->size[0] || r[1] > look->size[1] || r[0] + r[2] < 0 || r[1] + r[3] < 0) return true;
    for (int i = 0; i < 4; i++)
        if (r[i] < -FARTHEST || r[i] > FARTHEST) r[i] = r[i] < 0 ? -FARTHEST : FARTHEST;
    if (r[2] > 2 * FRAME && r[3] > 2 * FRAME)
        sr_pdfd_canvas_frame(canvas, r[0] + FRAME / 2, r[1] + FRAME / 2, r[2] - FRAME, r[3] - FRAME, FRAME, colour);
    else overlay_fill(canvas, colour, r[0], r[1], r[2], r[3]);
    draw_label(canvas, look, r, texts, colour, pool);
    return true;
}

/* Draws {"at":n,"upright":b,"text":"50"}: a line across the page, with its number at the top or left edge. */
static bool draw_line(sr_pdfd_canvas_t *canvas, const look_t *look, const json_t *line, apr_pool_t *pool)
{
    const char *text = sr_json_string(line, "text");
    const double at = json_number_value(json_object_get(line, "at"));
    const bool upright = json_is_true(json_object_get(line, "upright"));
    if (!text) return false;
    if (upright) overlay_fill(canvas, GRID_COLOUR, at - GRID / 2, 0, GRID, look->size[1]);
    else overlay_fill(canvas, GRID_COLOUR, 0, at - GRID / 2, look->size[0], GRID);
    sr_pdfd_paragraph_t *number = sr_pdfd_paragraph(text, &NUMBER, NARROW, NULL, pool);
    double above, below;
    sr_pdfd_paragraph_extents(&above, &below, number, 0);
    sr_pdfd_paragraph_draw(canvas, number, 0, upright ? at + MARGIN / 2 : MARGIN / 2, upright ? above : at - below,
                           false);
    return true;
}

typedef bool draw_t(sr_pdfd_canvas_t *canvas, const look_t *look, const json_t *what, apr_pool_t *pool);

static bool draw_all(const overlay_t *overlay, const look_t *look, const json_t *list, draw_t *draw)
{
    apr_pool_t *scratch;
    bool is_valid = true;
    apr_pool_create(&scratch, overlay->pool);
    for (size_t i = 0; is_valid && i < json_array_size(list); i++) {
        apr_pool_clear(scratch);
        is_valid = draw(overlay->canvas, look, json_array_get(list, i), scratch);
    }
    apr_pool_destroy(scratch);
    return is_valid;
}

static bool draw_look(const overlay_t *overlay, look_t *look, const json_t *what)
{
    look->rotate = (int)json_integer_value(json_object_get(what, "rotate"));
    if (!overlay_numbers(look->size, 2, json_object_get(what, "size"))) return false;
    if (!draw_all(overlay, look, json_object_get(what, "lines"), draw_line)) return false;
    if (!draw_all(overlay, look, json_object_get(what, "boxes"), draw_box)) return false;
    sr_pdfd_canvas_end_page(overlay->canvas);
    return true;
}

/* Draws all looks. Returns false if they are not valid. */
static bool draw_looks(overlay_t *overlay, const json_t *looks)
{
    const size_t count = json_array_size(looks);
    overlay->canvas = sr_pdfd_canvas(overlay->pool);
    overlay->looks = apr_pcalloc(overlay->pool, (count + 1) * sizeof *overlay->looks);
    for (size_t i = 0; i < count; i++)
        if (!draw_look(overlay, &overlay->looks[i], json_array_get(looks, i))) return false;
    sr_pdfd_canvas_embed(overlay->canvas, NUMBERS);
    return true;
}

/* ------------------------------------------------------------------------------------------------------ writing */

/* Adds the forms of all looks. The page turns a form back, so that it is upright where the page is displayed. */
static bool put_forms(const overlay_t *overlay, sr_pdfd_update_t *update)
{
    static const char *const matrices[] = {"", "/Matrix[0 1 -1 0 0 0]", "/Matrix[-1 0 0 -1 0 0]",
                                           "/Matrix[0 -1 1 0 0 0]"};
    const int resources = sr_pdfd_file_resources(update, overlay->canvas);
    for (int i = 0; resources && i < overlay->canvas->pages->nelts; i++) {
        look_t *look = &overlay->looks[i];
        const sr_pdfd_buffer_t *content = APR_ARRAY_IDX(overlay->canvas->pages, i, sr_pdfd_buffer_t *);
        sr_pdfd_buffer_t *keys = sr_pdfd_buffer(overlay->pool);
        const double box[] = {0, SR_PDFD_HEIGHT - look->size[1], look->size[0], SR_PDFD_HEIGHT};
        sr_pdfd_put_text(keys, "/Type/XObject/Subtype/Form/BBox[");
        sr_pdfd_put_numbers(keys, box, 4);
        sr_pdfd_print(keys, "]%s/Resources %d 0 R", matrices[look->rotate / 90 & 3], resources);
        look->form = sr_pdfd_stream_new(update, (const char *)keys->data, content->data, content->size);
    }
    return resources != 0;
}

static int put_annotation(sr_pdfd_update_t *update, const look_t *look, const double rect[4])
{
    const int number = (int)sr_pdfd_object_number(update);
    sr_pdfd_buffer_t *out = sr_pdfd_object_begin(update, number, 0);
    sr_pdfd_print(out, "<</Type/Annot/Subtype/Stamp/F %d/AP<</N %d 0 R>>/Rect[", FLAGS, look->form);
    sr_pdfd_put_numbers(out, rect, 4);
    sr_pdfd_put_text(out, "]>>");
    sr_pdfd_object_end(update);
    return number;
}

/* Adds the annotations of {"page":n,"box":[x0,y0,x1,y1],"looks":[n,…]}. The page gets an array of its own, because
 * other pages may share the one that it has. *reason: the page is not in the file as qpdf has read it. */
static bool overlay_put_page(const overlay_t *overlay, sr_pdfd_update_t *update, const char **reason,
                             const json_t *what)
{
    qpdf_data q = update->document->q;
    const json_t *looks = json_object_get(what, "looks");
    const json_int_t page = json_integer_value(json_object_get(what, "page"));
    const char *references = "";
    double box[4];
    if (page < 0 || page >= qpdf_get_num_pages(q) || !overlay_numbers(box, 4, json_object_get(what, "box")))
        return false;
    for (size_t i = 0; i < json_array_size(looks); i++) {
        const json_int_t look = json_integer_value(json_array_get(looks, i));
        if (look < 0 || look >= overlay->canvas->pages->nelts) return false;
        references =
            apr_psprintf(overlay->pool, "%s%d 0 R ", references, put_annotation(update, &overlay->looks[look], box));
    }
    qpdf_oh object = qpdf_get_page_n(q, (size_t)page), annotations = qpdf_oh_get_key(q, object, "/Annots");
    const int id = qpdf_oh_get_object_id(q, object);
    if (id < 1 || id > update->document->xref.highest) *reason = SR_PDFD_DAMAGED;
    const char *array = sr_pdfd_with_more(q, annotations, references, overlay->pool);
    qpdf_oh_remove_key(q, object, "/Annots");
    sr_pdfd_object_again(update, object,
                         sr_pdfd_spliced(q, object, apr_pstrcat(overlay->pool, "/Annots", array, NULL), overlay->pool));
    qpdf_oh_release_all(q);
    return true;
}

/* Adds everything to a document. *reason: why that is not possible. Returns false if the request is not valid. */
static bool overlay_put(sr_pdfd_update_t *update, const char **reason, overlay_t *overlay, const json_t *pages,
                        sr_pdfd_document_t *document, const sr_pdfd_bytes_t *bytes)
{
    *reason = sr_pdfd_document_open(document, bytes, overlay->pool);
    if (*reason) return true;
    sr_pdfd_update_begin(update, document, overlay->pool);
    sr_pdfd_update_avoid(update);
    update->loose = LOOSE;
    if (!put_forms(overlay, update)) *reason = "a font cannot be embedded";
    for (size_t i = 0; !*reason && i < json_array_size(pages); i++)
        if (!overlay_put_page(overlay, update, reason, json_array_get(pages, i))) return false;
    if (!*reason) *reason = sr_pdfd_update_end(update);
    if (!*reason) *reason = sr_pdfd_document_check(document);
    return true;
}

/* ------------------------------------------------------------------------------------------------------ joining */

static const char *join_pages(qpdf_data joined, const sr_pdfd_bytes_t *part, apr_pool_t *pool)
{
    qpdf_data q = sr_pdfd_qpdf(pool);
    if (qpdf_read_memory(q, "document", (const char *)part->data, part->size, NULL) & QPDF_ERRORS)
        return SR_PDFD_DAMAGED;
    qpdf_push_inherited_attributes_to_page(q);
    const int count = qpdf_get_num_pages(q);
    for (int i = 0; i < count; i++)
        if (qpdf_add_page(joined, q, qpdf_get_page_n(q, (size_t)i), QPDF_FALSE) & QPDF_ERRORS) return SR_PDFD_DAMAGED;
    return NULL;
}

/* Writes all pages of documents, which follow each other in `bytes`, into a new document. */
static const char *overlay_join(sr_pdfd_bytes_t *bytes, const json_t *sizes, apr_pool_t *pool)
{
    qpdf_data joined = sr_pdfd_qpdf(pool);
    const char *reason = qpdf_empty_pdf(joined) & QPDF_ERRORS ? SR_PDF_LIMITS_REASON : NULL;
    apr_size_t at = 0;
    for (size_t i = 0; !reason && i < json_array_size(sizes); i++) {
        const sr_pdfd_bytes_t part = {bytes->data + at, (apr_size_t)json_integer_value(json_array_get(sizes, i))};
        reason = join_pages(joined, &part, pool);
        at += part.size;
    }
    if (reason) return reason;
    qpdf_init_write_memory(joined);
    qpdf_set_static_ID(joined, QPDF_TRUE);
    qpdf_set_stream_data_mode(joined, qpdf_s_preserve);
    if (qpdf_write(joined) & QPDF_ERRORS) return SR_PDFD_DAMAGED;
    *bytes = (sr_pdfd_bytes_t){qpdf_get_buffer(joined), qpdf_get_buffer_length(joined)};
    return NULL;
}

/* Returns true if the sizes of the documents add up to what was sent. */
static bool are_sizes(const json_t *sizes, apr_size_t whole)
{
    for (size_t i = 0; i < json_array_size(sizes); i++) {
        const json_int_t size = json_integer_value(json_array_get(sizes, i));
        if (size < 1 || (apr_size_t)size > whole) return false;
        whole -= (apr_size_t)size;
    }
    return json_array_size(sizes) > 0 && !whole;
}

json_t *sr_pdfd_overlay(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    const json_t *sizes = json_object_get(request->text, "documents"), *pages = json_object_get(request->text, "pages");
    overlay_t overlay = {.pool = pool};
    sr_pdfd_document_t document;
    sr_pdfd_update_t update;
    const bool is_one = json_array_size(sizes) == 1;
    sr_pdfd_bytes_t bytes = request->bytes;
    const char *reason = SR_PDFD_DAMAGED;
    if (!are_sizes(sizes, request->bytes.size)) return NULL;
    if (!sr_pdfd_font(SR_PDFD_PLAIN, 0)) return json_pack("{s:s}", "unavailable", "there are no fonts to write with");
    if (!draw_looks(&overlay, json_object_get(request->text, "looks"))) return NULL;
    if (is_one && !overlay_put(&update, &reason, &overlay, pages, &document, &bytes)) return NULL;
    if (reason) {
        reason = overlay_join(&bytes, sizes, pool);
        if (!reason && !overlay_put(&update, &reason, &overlay, pages, &document, &bytes)) return NULL;
    }
    if (reason) return sr_pdfd_fault(SR_PDF_FAULT_DOCUMENT, reason);
    const apr_size_t size = bytes.size + update.out->size;
    if (size > request->room) return sr_pdfd_fault(SR_PDF_FAULT_DOCUMENT, SR_PDF_LIMITS_REASON);
    memcpy(request->result, bytes.data, bytes.size);
    memcpy(request->result + bytes.size, update.out->data, update.out->size);
    return json_pack("{s:I}", "length", (json_int_t)size);
}
