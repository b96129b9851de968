/* SPDX-License-Identifier: Apache-2.0 */
/* drawn_preview.c: the documents of a creation, with a box for each field and perhaps a grid. The boxes are where the
 * checks have placed the fields. A helper draws them, on the documents as they would be sealed. */
#include "service/submissions/drawn_preview.h"

#include <apr_hash.h>
#include <apr_portable.h>
#include <string.h>

/* The colours of signers. Each is dark enough for a text on white. After the last one the first is used again, so each
 * box also has the number of its signer. */
static const int COLOURS[] = {0x1f4e9e, 0xa32020, 0x1c6b34, 0x7a3b8f, 0x8a4b08, 0x0b6a75, 0x8c1d5b, 0x4a4a4a};

/* The fields of a page. */
typedef struct place_t {
    const sr_field_t *first;
    json_t *boxes;
} place_t;

typedef struct drawing_t {
    const sr_service_t *service;
    const sr_preflight_t *preflight;
    const apr_array_header_t *signers;
    const sr_create_t *request;
    const sr_preview_view_t *view;
    json_t *sizes, *looks, *pages; /* members of the request to the helper */
    apr_hash_t *grids;             /* grids → int *, their indexes in `looks` */
    apr_hash_t *places;            /* int, the page counted over all documents → place_t * */
    bool all_percent;              /* all areas are in percent */
    apr_pool_t *pool;
} drawing_t;

static const sr_document_t *document_at(const drawing_t *drawing, int index)
{
    return &APR_ARRAY_IDX(drawing->preflight->documents, index, sr_document_t);
}

/* Returns the first document that is drawn. Of a PDF that is the first of all, whatever the view says. */
static int first_document(const drawing_t *drawing)
{
    return drawing->view->form == SR_VIEW_PNG ? drawing->view->document : 0;
}

/* ------------------------------------------------------------------------------------------------------- boxes */

/* Returns the coordinates as they were sent. */
static const char *place_text(const sr_area_t *area, apr_pool_t *pool)
{
    static const char *const names[] = {"x", "y", "w", "h"};
    const double values[] = {area->x, area->y, area->w, area->h};
    const char *text = "";
    for (int i = 0; i < 4; i++)
        text = apr_pstrcat(pool, text, i ? " · " : "", names[i], " ",
                           sr_json_text(sr_json_own(sr_area_number(values[i]), pool), pool), area->percent ? " %" : "",
                           NULL);
    return text;
}

static json_t *box_json(const sr_field_t *field, const sr_signer_t *signer, int number, const sr_page_t *page,
                        apr_pool_t *pool)
{
    const double *percent = field->placement.percent;
    const char *name = sr_person_name(signer->firstname, signer->lastname, pool);
    const char *title = apr_psprintf(pool, "%d %s · %s · %s", number, name, field->name, field->type->name);
    const int colour = COLOURS[(size_t)(number - 1) % (sizeof COLOURS / sizeof *COLOURS)];
    double size[2];
    sr_page_size(size, page);
    return json_pack("{s:[f,f,f,f],s:i,s:[s,s]}", "rect", percent[0] * size[0] / 100, percent[1] * size[1] / 100,
                     percent[2] * size[0] / 100, percent[3] * size[1] / 100, "colour", colour, "texts", title,
                     place_text(&field->area, pool));
}

static void note_field(const drawing_t *drawing, const sr_field_t *field, const sr_signer_t *signer, int number)
{
    int *key = apr_palloc(drawing->pool, sizeof *key), index = 0;
    *key = field->placement.page;
    while (strcmp(document_at(drawing, index)->uuid, field->document_uuid) != 0)
        *key += document_at(drawing, index++)->pages->count;
    place_t *place = apr_hash_get(drawing->places, key, sizeof *key);
    if (!place) {
        place = apr_palloc(drawing->pool, sizeof *place);
        *place = (place_t){field, sr_json_own(json_array(), drawing->pool)};
        apr_hash_set(drawing->places, key, sizeof *key, place);
    }
    const sr_page_t *page = sr_pages_at(document_at(drawing, index)->pages, field->placement.page);
    json_array_append_new(place->boxes, box_json(field, signer, number, page, drawing->pool));
}

/* Notes the places of the other buttons of a group. */
static void note_buttons(const drawing_t *drawing, const sr_field_t *field, const sr_signer_t *signer, int number)
{
    static const char *const keys[] = {"x", "y", "w", "h"};
    const json_t *buttons = field->entry ? field->entry->buttons : NULL;
    for (size_t i = 1; i < json_array_size(buttons); i++) {
        const json_t *button = json_array_get(buttons, i), *percent = json_object_get(button, "percent");
        sr_field_t *place = apr_pmemdup(drawing->pool, field, sizeof *field);
        place->placement.page = (int)json_integer_value(json_object_get(button, "page"));
        for (size_t k = 0; k < 4; k++) {
            place->placement.percent[k] = json_number_value(json_object_get(percent, keys[k]));
            place->placement.rect[k] = json_number_value(json_array_get(json_object_get(button, "rect"), k));
        }
        place->area = sr_area_of_placement(&place->placement);
        note_field(drawing, place, signer, number);
    }
}

static void note_fields(drawing_t *drawing)
{
    drawing->all_percent = true;
    for (int i = 0; i < drawing->signers->nelts; i++) {
        const sr_signer_t *signer = &APR_ARRAY_IDX(drawing->signers, i, sr_signer_t);
        for (int j = 0; j < signer->fields->nelts; j++) {
            const sr_field_t *field = &APR_ARRAY_IDX(signer->fields, j, sr_field_t);
            drawing->all_percent = drawing->all_percent && field->area.percent;
            note_field(drawing, field, signer, i + 1);
            note_buttons(drawing, field, signer, i + 1);
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- grids */

/* Adds the lines of one axis (0: x, 1: y) of a page that is turned by `rotate` after the axes were counted. `size` is
 * that of the page before it is turned, and `whole` is 100 for percent. */
static void add_lines(json_t *lines, int axis, const double size[2], int rotate, int step, double whole)
{
    const bool upright = (axis == 0) == (rotate % 180 == 0);
    const bool is_reversed = axis == 0 ? rotate >= 180 : rotate % 270 == 0;
    const double end = whole > 0 ? whole : size[axis];
    for (int i = step; i < end; i += step) {
        const double at = whole > 0 ? i * size[axis] / whole : i;
        json_t *line = json_pack("{s:f,s:b,s:o}", "at", is_reversed ? size[axis] - at : at, "upright", upright, "text",
                                 json_sprintf("%d", i));
        json_array_append_new(lines, line);
    }
}

/* Returns the lines of a grid. In percent and from the top left corner, axes are those of the displayed page. */
static json_t *grid_lines(const drawing_t *drawing, const sr_page_t *page, sr_origin_t origin)
{
    const int step = drawing->view->grid;
    const bool displayed = drawing->all_percent || origin == SR_ORIGIN_TOP_LEFT;
    const double user[] = {page->box[2] - page->box[0], page->box[3] - page->box[1]};
    double shown[2];
    json_t *lines = json_array();
    sr_page_size(shown, page);
    add_lines(lines, 0, displayed ? shown : user, displayed ? 0 : page->rotate, step, drawing->all_percent ? 100 : 0);
    /* on the displayed page y points down: as if it was turned by 180 degrees */
    add_lines(lines, 1, displayed ? shown : user, displayed ? 180 : page->rotate, step, drawing->all_percent ? 100 : 0);
    return lines;
}

static json_t *look_json(const sr_page_t *page)
{
    double size[2];
    sr_page_size(size, page);
    return json_pack("{s:[f,f],s:i}", "size", size[0], size[1], "rotate", page->rotate);
}

/* Returns the index of the grid of a page. Equal pages share one. */
static int grid_of(const drawing_t *drawing, const sr_page_t *page, const place_t *place)
{
    const sr_origin_t origin = place ? place->first->area.origin : drawing->service->settings->area_origin;
    json_t *look = sr_json_own(look_json(page), drawing->pool);
    const char *key = apr_psprintf(drawing->pool, "%d %s", (int)origin, sr_json_text(look, drawing->pool));
    int *index = apr_hash_get(drawing->grids, key, APR_HASH_KEY_STRING);
    if (index) return *index;
    index = apr_palloc(drawing->pool, sizeof *index);
    *index = (int)json_array_size(drawing->looks);
    json_object_set_new(look, "lines", grid_lines(drawing, page, origin));
    json_array_append(drawing->looks, look);
    apr_hash_set(drawing->grids, key, APR_HASH_KEY_STRING, index);
    return *index;
}

/* -------------------------------------------------------------------------------------------------------- pages */

/* Adds what is drawn over a page. `number` counts over the documents that are drawn, `key` over all. */
static void draw_page(const drawing_t *drawing, const sr_page_t *page, int number, int key)
{
    const place_t *place = apr_hash_get(drawing->places, &key, sizeof key);
    json_t *looks = json_array();
    if (drawing->view->grid) json_array_append_new(looks, json_integer(grid_of(drawing, page, place)));
    if (place) {
        json_t *look = look_json(page);
        json_object_set(look, "boxes", place->boxes);
        json_array_append_new(looks, json_integer((json_int_t)json_array_size(drawing->looks)));
        json_array_append_new(drawing->looks, look);
    }
    if (json_array_size(looks))
        json_array_append_new(drawing->pages, json_pack("{s:i,s:[f,f,f,f],s:O}", "page", number, "box", page->box[0],
                                                        page->box[1], page->box[2], page->box[3], "looks", looks));
    json_decref(looks);
}

static void draw_document(const drawing_t *drawing, int index, int *key)
{
    const sr_preview_view_t *view = drawing->view;
    const apr_array_header_t *runs = document_at(drawing, index)->pages->runs;
    int page = 0;
    for (int i = 0; i < runs->nelts; i++) {
        const sr_list_run_t *run = &APR_ARRAY_IDX(runs, i, sr_list_run_t);
        for (int j = 0; j < run->count; j++, page++, ++*key) {
            if (view->form == SR_VIEW_PDF) draw_page(drawing, &run->page, *key, *key);
            else if (index == view->document && page == view->page) draw_page(drawing, &run->page, page, *key);
        }
    }
}

static void draw_pages(const drawing_t *drawing)
{
    int key = 0;
    for (int i = 0; i < drawing->preflight->documents->nelts; i++) draw_document(drawing, i, &key);
}

/* -------------------------------------------------------------------------------------------------------- files */

/* Sets *descriptor to a file with the documents that are drawn. *spool: the file, if it was made for this. */
static sr_error_t *open_files(int *descriptor, apr_off_t *size, sr_blob_writer_t **spool, const drawing_t *drawing)
{
    const sr_preview_view_t *view = drawing->view;
    const int count = drawing->preflight->documents->nelts;
    const bool is_one = view->form == SR_VIEW_PNG || count == 1;
    const char *sha256;
    *spool = NULL;
    if (!is_one) SR_TRY(sr_blobs_begin(spool, drawing->request->uploads->documents, drawing->pool));
    const int first = first_document(drawing);
    for (int i = first; i < (is_one ? first + 1 : count); i++) {
        SR_TRY(sr_preflight_open(descriptor, size, drawing->preflight, i, drawing->request, drawing->pool));
        json_array_append_new(drawing->sizes, json_integer(*size));
        if (!is_one) SR_TRY(sr_preflight_append(*spool, *descriptor, *size, drawing->pool));
    }
    if (is_one) return NULL;
    SR_TRY(sr_blobs_end(*spool, &sha256, size));
    return sr_blobs_descriptor(*spool, descriptor);
}

static sr_error_t *preview_fault(const char *reason, apr_pool_t *pool)
{
    return sr_error(pool, SR_EBADREQUEST, "The preview cannot be drawn: %s", reason);
}

/* The descriptor belongs to the output. */
static sr_error_t *set_file(sr_previewed_t *previewed, const sr_pdf_output_t *output, apr_pool_t *pool)
{
    apr_os_file_t descriptor = output->descriptor;
    previewed->size = output->size;
    if (!apr_os_file_put(&previewed->file, &descriptor, APR_FOPEN_READ, pool)) return NULL;
    return sr_error(pool, SR_EINTERNAL, "The preview cannot be sent");
}

static sr_error_t *ask_helper_to_draw(const drawing_t *drawing, sr_previewed_t *previewed, int descriptor,
                                      apr_off_t size)
{
    const sr_preview_view_t *view = drawing->view;
    sr_pdf_pool_t *pdf = APR_ARRAY_IDX(drawing->preflight->files, 0, sr_files_t).pdf;
    const char *name = document_at(drawing, first_document(drawing))->name;
    sr_pdf_overlaid_t overlaid;
    sr_pdf_image_t image;
    json_t *what = sr_json_own(json_pack("{s:s,s:O,s:O,s:O}", "op", "overlay", "documents", drawing->sizes, "looks",
                                         drawing->looks, "pages", drawing->pages),
                               drawing->pool);
    SR_TRY(sr_preflight_in_time(drawing->preflight, name, drawing->pool));
    SR_TRY(sr_pdf_overlay(&overlaid, pdf, descriptor, size, what, drawing->pool));
    if (overlaid.reason) return preview_fault(overlaid.reason, drawing->pool);
    if (view->form == SR_VIEW_PDF) return set_file(previewed, overlaid.document, drawing->pool);
    SR_TRY(sr_preflight_in_time(drawing->preflight, name, drawing->pool));
    SR_TRY(sr_pdf_render(&image, pdf, overlaid.document->descriptor, view->page, view->width, true, drawing->pool));
    if (image.reason) return preview_fault(image.reason, drawing->pool);
    return set_file(previewed, image.output, drawing->pool);
}

/* An image is of an existing page. */
static sr_error_t *check_view(const drawing_t *drawing)
{
    const sr_preview_view_t *view = drawing->view;
    const int documents = drawing->preflight->documents->nelts;
    if (view->form != SR_VIEW_PNG) return NULL;
    if (view->document >= documents)
        return sr_error(drawing->pool, SR_EBADREQUEST, "document must be 0 to %d", documents - 1);
    const int pages = document_at(drawing, view->document)->pages->count;
    if (view->page < pages) return NULL;
    return sr_error(drawing->pool, SR_EBADREQUEST, "page must be 0 to %d", pages - 1);
}

sr_error_t *sr_preview_draw(const sr_service_t *service, sr_previewed_t *previewed, const sr_preflight_t *preflight,
                            const apr_array_header_t *signers, const sr_create_t *request,
                            const sr_preview_view_t *view, apr_pool_t *pool)
{
    drawing_t drawing = {.service = service,
                         .preflight = preflight,
                         .signers = signers,
                         .request = request,
                         .view = view,
                         .sizes = sr_json_own(json_array(), pool),
                         .looks = sr_json_own(json_array(), pool),
                         .pages = sr_json_own(json_array(), pool),
                         .grids = apr_hash_make(pool),
                         .places = apr_hash_make(pool),
                         .pool = pool};
    sr_blob_writer_t *spool = NULL;
    apr_off_t size;
    int descriptor;
    SR_TRY(check_view(&drawing));
    note_fields(&drawing);
    draw_pages(&drawing);
    sr_error_t *error = open_files(&descriptor, &size, &spool, &drawing);
    if (!error) error = ask_helper_to_draw(&drawing, previewed, descriptor, size);
    if (spool) sr_blobs_drop(spool);
    return error;
}
