/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_show.h: what the tests of pages that are shown share: small documents with something to see on them, and the
 * answers in one line. */
#ifndef SR_TEST_PDF_SHOW_H
#define SR_TEST_PDF_SHOW_H

#include "pdf_help.h"

/* A stream object. */
static inline const char *show_stream(const char *keys, const char *content, apr_pool_t *pool)
{
    return apr_psprintf(pool, "<<%s/Length %d>>\nstream\n%s\nendstream", keys, (int)strlen(content), content);
}

/* A document of one page: `keys` in the page's dictionary, `content` drawn. Its descriptor. Fonts: /F is Helvetica,
 * which no document brings, and /J one of the names for Japanese. */
static inline int show_document(const char *keys, const char *content, const char *catalog, apr_pool_t *pool)
{
    const char *page =
        apr_psprintf(pool, "%s/Contents 4 0 R/Resources<</Font<</F 5 0 R/J 6 0 R>>/XObject<</X 10 0 R>>>>", keys);
    pdf_t pdf = pdf_document(&(pdf_parts_t){
        .pages = 1,
        .page = page,
        .catalog = catalog,
        .objects = {show_stream("", content, pool), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
                    "<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light/Encoding/90ms-RKSJ-H/DescendantFonts[7 0 R]>>",
                    "<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/FontDescriptor 8 0 R"
                    "/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/DW 1000>>",
                    "<</Type/FontDescriptor/FontName/Ryumin-Light/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0"
                    "/Ascent 800/Descent -200/CapHeight 700/StemV 80>>",
                    "<</Type/Annot/Subtype/Widget/FT/Tx/T(t)/F 4/Rect[80 40 120 60]/AP<</N 10 0 R>>/P 3 0 R>>",
                    show_stream("/Type/XObject/Subtype/Form/BBox[0 0 40 20]", "0 0 1 rg 0 0 40 20 re f", pool)}});
    int fd = help_descriptor(pdf.data, pdf.size);
    free(pdf.data);
    return fd;
}

#define SHOW_BOX "/MediaBox[0 0 200 100]"
/* A square of 20 points in each corner: left below red, right below green, left above blue, right above black. */
#define SHOW_CORNERS                                                                                                   \
    "1 0 0 rg 0 0 20 20 re f 0 1 0 rg 180 0 20 20 re f 0 0 1 rg 0 80 20 20 re f 0 0 0 rg 180 80 20 20 re f"

/* "200x100 gray" or "200x100 colour", "refused: <reason>", "error <code>: <message>". */
static inline const char *show_say(const sr_error_t *error, const sr_pdf_image_t *image, apr_pool_t *pool)
{
    if (error) return apr_psprintf(pool, "error %d: %s", error->code, error->message);
    if (image->reason) return apr_psprintf(pool, "refused: %s", image->reason);
    return apr_psprintf(pool, "%dx%d %s", image->width, image->height, image->gray ? "gray" : "colour");
}

/* The text's JSON, or the like. */
static inline const char *show_say_text(const sr_error_t *error, const sr_pdf_text_t *text, apr_pool_t *pool)
{
    if (error) return apr_psprintf(pool, "error %d: %s", error->code, error->message);
    return text->reason ? apr_psprintf(pool, "refused: %s", text->reason) : text->json;
}

#endif
