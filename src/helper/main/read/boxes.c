/* SPDX-License-Identifier: Apache-2.0 */
/* boxes.c: the visible box and the rotation of every page, run-length encoded. Attributes are inherited from the page
 * tree. Values that poppler ignores are ignored too, because poppler shows the page to the signer. */
#include "helper/main/pdfd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_SIDE 14400.0 /* ISO 32000-1, annex C */

static const double LETTER[4] = {0, 0, 612, 792}; /* the default of readers if /MediaBox is missing */

typedef struct page_t {
    double box[4];
    int rotate;
} page_t;

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double greatest(double a, double b)
{
    return a > b ? a : b;
}

static bool boxes_read_rectangle(double *box, qpdf_data q, qpdf_oh array)
{
    double v[4];
    if (!qpdf_oh_is_array(q, array) || qpdf_oh_get_array_n_items(q, array) != 4) return false;
    for (int i = 0; i < 4; i++)
        if (!qpdf_oh_get_value_as_number(q, qpdf_oh_get_array_item(q, array, i), &v[i]) || !isfinite(v[i]))
            return false;
    box[0] = least(v[0], v[2]);
    box[1] = least(v[1], v[3]);
    box[2] = greatest(v[0], v[2]);
    box[3] = greatest(v[1], v[3]);
    return true;
}

/* Only multiples of 90 turn a page. Other values are ignored by qpdf and poppler. */
static bool read_rotation(int *rotate, qpdf_data q, qpdf_oh value)
{
    long long degrees;
    if (!qpdf_oh_get_value_as_longlong(q, value, &degrees)) return false;
    *rotate = degrees % 90 ? 0 : (int)((degrees % 360 + 360) % 360);
    return true;
}

/* Returns false if no part of the page is visible. */
static bool read_page(page_t *page, qpdf_data q, qpdf_oh node)
{
    double media[4], crop[4];
    bool has_media = false, has_crop = false, has_rotate = false;
    page->rotate = 0;
    for (int depth = 0; depth < MAX_DEPTH && qpdf_oh_is_dictionary(q, node); depth++) {
        if (!has_media) has_media = boxes_read_rectangle(media, q, qpdf_oh_get_key(q, node, "/MediaBox"));
        if (!has_crop) has_crop = boxes_read_rectangle(crop, q, qpdf_oh_get_key(q, node, "/CropBox"));
        if (!has_rotate) has_rotate = read_rotation(&page->rotate, q, qpdf_oh_get_key(q, node, "/Rotate"));
        if (has_media && has_crop && has_rotate) break;
        node = qpdf_oh_get_key(q, node, "/Parent");
    }
    memcpy(page->box, has_media ? media : LETTER, sizeof page->box);
    for (int i = 0; has_crop && i < 4; i++)
        page->box[i] = i < 2 ? greatest(page->box[i], crop[i]) : least(page->box[i], crop[i]);
    return page->box[0] < page->box[2] && page->box[1] < page->box[3];
}

int sr_pdfd_page_rotation(qpdf_data q, qpdf_oh page)
{
    page_t found;
    read_page(&found, q, page);
    return found.rotate;
}

static bool boxes_is_same(const page_t *a, const page_t *b)
{
    for (int i = 0; i < 4; i++)
        if (a->box[i] != b->box[i]) return false;
    return a->rotate == b->rotate;
}

static void add_run(apr_array_header_t *texts, const page_t *page, int count)
{
    const double *b = page->box;
    char text[160]; /* by libc, because APR writes .5 for 0.5, which is not valid JSON */
    snprintf(text, sizeof text, "[%d,%.15g,%.15g,%.15g,%.15g,%d]", count, b[0], b[1], b[2], b[3], page->rotate);
    APR_ARRAY_PUSH(texts, const char *) = apr_pstrdup(texts->pool, text);
}

const char *sr_pdfd_boxes_read(const char **reason, bool *odd, qpdf_data q, int pages, int64_t highest,
                               apr_pool_t *pool)
{
    apr_array_header_t *texts = apr_array_make(pool, 4, sizeof(const char *));
    page_t run = {{0}, 0}, page;
    int length = 0;
    for (int i = 0; i < pages; i++) {
        qpdf_oh node = qpdf_get_page_n(q, (size_t)i);
        int id = qpdf_oh_get_object_id(q, node);
        if (id <= 0 || id > highest) *odd = true;
        if (!read_page(&page, q, node)) {
            *reason = apr_psprintf(pool, "page %d has an empty page box", i + 1);
            return NULL;
        }
        if (page.box[2] - page.box[0] > MAX_SIDE || page.box[3] - page.box[1] > MAX_SIDE) {
            *reason = apr_psprintf(pool, "page %d is larger than 14400 points a side", i + 1);
            return NULL;
        }
        qpdf_oh_release_all(q);
        if (length && !boxes_is_same(&run, &page)) {
            add_run(texts, &run, length);
            length = 0;
        }
        run = page;
        length++;
    }
    add_run(texts, &run, length);
    return apr_array_pstrcat(pool, texts, ',');
}
