/* SPDX-License-Identifier: Apache-2.0 */
/* poppler.c: documents and pages that poppler opens. For "probe" poppler is a second opinion: qpdf prepares and signs,
 * but poppler shows. If the two find different pages, somebody could sign what they have not read. */
#include "helper/main/read/page.h"

#include <cairo.h>

#define MAX_SIDE 14400.0 /* ISO 32000-1, annex C; see boxes.c */

static PopplerDocument *poppler_open_bytes(const sr_pdfd_bytes_t *bytes, GError **error)
{
    GBytes *shared = g_bytes_new_static(bytes->data, bytes->size);
    PopplerDocument *document = poppler_document_new_from_bytes(shared, NULL, error);
    g_bytes_unref(shared);
    return document;
}

int sr_pdfd_poppler_count(const sr_pdfd_bytes_t *bytes)
{
    GError *error = NULL;
    PopplerDocument *document = poppler_open_bytes(bytes, &error);
    if (!document) {
        bool password = g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED);
        g_clear_error(&error);
        return password ? SR_PDFD_POPPLER_PASSWORD : SR_PDFD_POPPLER_UNREADABLE;
    }
    int pages = poppler_document_get_n_pages(document);
    g_object_unref(document);
    return pages;
}

json_t *sr_pdfd_page_refuse(const char *reason)
{
    json_t *response = json_object();
    json_object_set_new(response, "refused", json_string(reason));
    return response;
}

static json_t *answer_missing(void)
{
    json_t *response = json_object();
    json_object_set_new(response, "missing", json_true());
    return response;
}

static const char *poppler_open_document(sr_pdfd_page_t *page, const sr_pdfd_bytes_t *bytes)
{
    GError *error = NULL;
    page->document = poppler_open_bytes(bytes, &error);
    if (page->document) return NULL;
    bool password = g_error_matches(error, POPPLER_ERROR, POPPLER_ERROR_ENCRYPTED);
    g_clear_error(&error);
    return password ? "it is password protected" : "it is not a PDF that can be read";
}

static const char *open_page(sr_pdfd_page_t *page, apr_pool_t *pool)
{
    page->page = poppler_document_get_page(page->document, page->index);
    if (!page->page) return apr_psprintf(pool, "page %d cannot be read", page->index + 1);
    poppler_page_get_size(page->page, &page->width, &page->height);
    if (!(page->width > 0 && page->height > 0))
        return apr_psprintf(pool, "page %d has an empty page box", page->index + 1);
    if (page->width > MAX_SIDE || page->height > MAX_SIDE)
        return apr_psprintf(pool, "page %d is larger than 14400 points a side", page->index + 1);
    return NULL;
}

const char *sr_pdfd_pages_open(sr_pdfd_page_t *page, const sr_pdfd_request_t *request)
{
    *page = (sr_pdfd_page_t){0};
    return poppler_open_document(page, &request->bytes);
}

const char *sr_pdfd_page_turn(sr_pdfd_page_t *page, int index, apr_pool_t *pool)
{
    if (page->page) g_object_unref(page->page);
    page->index = index;
    return open_page(page, pool);
}

json_t *sr_pdfd_page_open(sr_pdfd_page_t *page, const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    json_int_t index = json_integer_value(json_object_get(request->text, "page"));
    *page = (sr_pdfd_page_t){0};
    const char *reason = poppler_open_document(page, &request->bytes);
    bool missing = !reason && (index < 0 || index >= poppler_document_get_n_pages(page->document));
    page->index = (int)index;
    if (!reason && !missing) reason = open_page(page, pool);
    if (!reason && !missing) return NULL;
    sr_pdfd_page_close(page);
    return missing ? answer_missing() : sr_pdfd_page_refuse(reason);
}

void sr_pdfd_page_close(sr_pdfd_page_t *page)
{
    if (page->page) g_object_unref(page->page);
    if (page->document) g_object_unref(page->document);
}

/* Documents must not write to the error log. */
static void poppler_say_nothing(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
}

/* A page that names a font for each Asian collection. Poppler reads the tables of the collection and of the most common
 * encoding when a page names such a font, which takes some milliseconds. Poppler finds the objects without a
 * cross-reference table. */
#define ASIAN_FONT(ordering, encoding)                                                                                 \
    "/" ordering "<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/" encoding "/DescendantFonts[<</Type/Font"            \
    "/Subtype/CIDFontType0/BaseFont/A/CIDSystemInfo<</Registry(Adobe)/Ordering(" ordering ")/Supplement 2>>>>]>>"
static const char ASIAN[] =
    "%PDF-1.4\n"
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<<" ASIAN_FONT(
        "Japan1", "90ms-RKSJ-H") ASIAN_FONT("GB1", "GBK-EUC-H") ASIAN_FONT("CNS1", "ETen-B5-H")
        ASIAN_FONT("Korea1", "KSCms-UHC-H") ">>>>>>endobj\n"
                                            "4 0 obj<</Length 0>>stream\n\nendstream endobj\n"
                                            "trailer<</Root 1 0 R>>\n";

void sr_pdfd_poppler_read_tables(void)
{
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)ASIAN, sizeof ASIAN - 1};
    PopplerDocument *document = poppler_open_bytes(&bytes, NULL);
    PopplerPage *page = document ? poppler_document_get_page(document, 0) : NULL;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    cairo_t *context = cairo_create(surface);
    if (page) poppler_page_render(page, context);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    if (page) g_object_unref(page);
    if (document) g_object_unref(document);
}

bool sr_pdfd_poppler_warm_up(const sr_pdfd_bytes_t *bytes)
{
    g_log_set_default_handler(poppler_say_nothing, NULL);
    /* Never closed, because poppler's global state, which is read from files, exists as long as a document is open. */
    PopplerDocument *document = poppler_open_bytes(bytes, NULL);
    return document && poppler_document_get_n_pages(document) == 1;
}
