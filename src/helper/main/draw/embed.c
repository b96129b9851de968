/* SPDX-License-Identifier: Apache-2.0 */
/* embed.c: embeds the used glyphs of a font into a new document (ISO 32000-2, 9.7). HarfBuzz makes the subset, in which
 * each glyph keeps its number. Content selects a glyph by this number, and a CMap has the text of each glyph. */
#include "helper/main/draw/canvas.h"

#include <apr_hash.h>
#include <apr_lib.h>
#include <hb-ot.h>
#include <hb-subset.h>
#include <math.h>
#include <string.h>

#define LARGE (4u << 20) /* bytes of a font: to prepare it takes too much time and memory */
#define HEAD_BOX 36      /* offset of the four numbers of the bounding box in the table "head" */
#define SYMBOLIC 4       /* a flag of font descriptors */
#define ENTRIES 100      /* the limit of one block of a CMap */
#define TAG_LETTERS 6

/* Tables that readers do not need in a PDF document. */
static const hb_tag_t DROPPED[] = {
    HB_TAG('G', 'S', 'U', 'B'), HB_TAG('G', 'P', 'O', 'S'), HB_TAG('G', 'D', 'E', 'F'), HB_TAG('k', 'e', 'r', 'n'),
    HB_TAG('n', 'a', 'm', 'e'), HB_TAG('p', 'o', 's', 't'), HB_TAG('O', 'S', '/', '2'), HB_TAG('c', 'm', 'a', 'p'),
    HB_TAG('f', 'v', 'a', 'r'), HB_TAG('g', 'v', 'a', 'r'), HB_TAG('a', 'v', 'a', 'r'), HB_TAG('H', 'V', 'A', 'R'),
    HB_TAG('M', 'V', 'A', 'R'), HB_TAG('S', 'T', 'A', 'T'), HB_TAG('v', 'h', 'e', 'a'), HB_TAG('v', 'm', 't', 'x'),
    HB_TAG('V', 'O', 'R', 'G'), HB_TAG('B', 'A', 'S', 'E'), HB_TAG('g', 'a', 's', 'p'),
};

static bool is_dropped(hb_tag_t tag)
{
    size_t i = 0;
    while (i < sizeof DROPPED / sizeof *DROPPED && DROPPED[i] != tag) i++;
    return i < sizeof DROPPED / sizeof *DROPPED;
}

/* Returns a face without these tables. HarfBuzz needs much time to read the rules for ligatures and positions in them,
 * although the subset does not contain them. */
static hb_face_t *embed_reduce(hb_face_t *whole)
{
    hb_face_t *face = hb_face_builder_create();
    const unsigned all = hb_face_get_table_tags(whole, 0, NULL, NULL);
    for (unsigned i = 0; i < all; i++) {
        hb_tag_t tag;
        unsigned count = 1;
        hb_face_get_table_tags(whole, i, &count, &tag);
        if (!count || is_dropped(tag)) continue;
        hb_blob_t *table = hb_face_reference_table(whole, tag);
        hb_face_builder_add_table(face, tag, table);
        hb_blob_destroy(table);
    }
    return face;
}

/* What subsets of the most frequent fonts are made of. */
static struct {
    const sr_pdfd_font_t *font;
    hb_face_t *face;
} reduced[SR_PDFD_STYLES];

/* The last subset. A preview that is requested again after a field was moved has the same letters. */
static struct {
    const sr_pdfd_font_t *font;
    hb_set_t *glyphs;
    hb_face_t *face;
} last;

static hb_face_t **embed_face(const sr_pdfd_font_t *font)
{
    int i = 0;
    while (i < SR_PDFD_STYLES - 1 && reduced[i].font && reduced[i].font != font) i++;
    if (reduced[i].font != font) {
        hb_face_destroy(reduced[i].face);
        reduced[i].font = font;
        reduced[i].face = embed_reduce(hb_font_get_face(font->font));
    }
    return &reduced[i].face;
}

/* HarfBuzz makes a subset of a face that it has prepared in a fraction of the time. */
void sr_pdfd_embed_prepare(void)
{
    for (int i = SR_PDFD_PLAIN; i < SR_PDFD_STYLES; i++) {
        const sr_pdfd_font_t *font = sr_pdfd_font((sr_pdfd_style_t)i, 0);
        if (!font) continue;
        hb_blob_t *blob = hb_face_reference_blob(hb_font_get_face(font->font));
        if (hb_blob_get_length(blob) <= LARGE) {
            hb_face_t **face = embed_face(font), *prepared = hb_subset_preprocess(*face);
            hb_face_destroy(*face);
            *face = prepared;
        }
        hb_blob_destroy(blob);
    }
}

/* Returns a new reference, or NULL. */
static hb_face_t *subset_of(const sr_pdfd_used_font_t *used)
{
    hb_subset_input_t *input = hb_subset_input_create_or_fail();
    if (!input) return NULL;
    hb_set_t *glyphs = hb_subset_input_glyph_set(input);
    for (unsigned i = 0; i < used->count; i++)
        if (used->glyphs[i].is_used) hb_set_add(glyphs, i);
    if (last.font != used->font || !hb_set_is_equal(last.glyphs, glyphs)) {
        hb_set_destroy(last.glyphs);
        hb_face_destroy(last.face);
        last.font = used->font;
        last.glyphs = hb_set_copy(glyphs);
        hb_subset_input_set_flags(input, HB_SUBSET_FLAGS_NO_HINTING | HB_SUBSET_FLAGS_RETAIN_GIDS);
        last.face = hb_subset_or_fail(*embed_face(used->font), input);
    }
    hb_subset_input_destroy(input);
    return last.face ? hb_face_reference(last.face) : NULL;
}

/* The PostScript name of the font, after a tag that differs for each subset (9.9.2). */
static const char *embed_name_of(const sr_pdfd_used_font_t *used, const sr_pdfd_buffer_t *program, apr_pool_t *pool)
{
    char name[TAG_LETTERS + 1 + 64];
    unsigned size = sizeof name - TAG_LETTERS - 1;
    apr_ssize_t count = (apr_ssize_t)program->size;
    unsigned hash = apr_hashfunc_default((const char *)program->data, &count);
    hb_ot_name_get_utf8(hb_font_get_face(used->font->font), HB_OT_NAME_ID_POSTSCRIPT_NAME, HB_LANGUAGE_INVALID, &size,
                        name + TAG_LETTERS + 1);
    for (int i = 0; i < TAG_LETTERS; i++, hash /= 26) name[i] = (char)('A' + hash % 26);
    name[TAG_LETTERS] = '+';
    for (char *c = name + TAG_LETTERS + 1; *c; c++)
        if (!apr_isalnum(*c)) *c = '-';
    return apr_pstrdup(pool, name);
}

/* ------------------------------------------------------------------------------------------- descriptions */

static int scaled(const sr_pdfd_used_font_t *used, int value)
{
    return (int)lround(value * used->font->scale * (1000 / SR_PDFD_EM));
}

/* Reads the bounding box of all glyphs. */
static void embed_read_box(int box[4], const sr_pdfd_used_font_t *used)
{
    hb_blob_t *head = hb_face_reference_table(hb_font_get_face(used->font->font), HB_TAG('h', 'e', 'a', 'd'));
    unsigned length;
    const unsigned char *data = (const unsigned char *)hb_blob_get_data(head, &length);
    for (int i = 0; i < 4; i++) {
        const unsigned char *at = data + HEAD_BOX + (apr_size_t)i * 2;
        box[i] = length < HEAD_BOX + 8 ? 0 : scaled(used, (int16_t)(at[0] << 8 | at[1]));
    }
    hb_blob_destroy(head);
}

static int put_descriptor(sr_pdfd_update_t *update, const sr_pdfd_used_font_t *used, const char *name, const char *key,
                          int data)
{
    const int number = (int)sr_pdfd_object_number(update);
    hb_font_extents_t extents = {0};
    int box[4];
    embed_read_box(box, used);
    hb_font_get_h_extents(used->font->font, &extents);
    sr_pdfd_print(sr_pdfd_object_begin(update, number, 0),
                  "<</Type/FontDescriptor/FontName/%s/Flags %d/FontBBox[%d %d %d %d]/ItalicAngle 0/Ascent %d"
                  "/Descent %d/CapHeight %d/StemV 80/%s %d 0 R>>",
                  name, SYMBOLIC, box[0], box[1], box[2], box[3], scaled(used, extents.ascender),
                  scaled(used, extents.descender), scaled(used, extents.ascender), key, data);
    sr_pdfd_object_end(update);
    return number;
}

/* Writes the widths of glyphs with consecutive numbers as one array. */
static void put_widths(sr_pdfd_buffer_t *out, const sr_pdfd_used_font_t *used)
{
    bool is_open = false;
    for (unsigned i = 0; i < used->count; i++) {
        if (used->glyphs[i].is_used && !is_open) sr_pdfd_print(out, "%u[", i);
        if (used->glyphs[i].is_used) sr_pdfd_print(out, "%d ", used->glyphs[i].width);
        else if (is_open) sr_pdfd_put_text(out, "]");
        is_open = used->glyphs[i].is_used;
    }
    if (is_open) sr_pdfd_put_text(out, "]");
}

/* ------------------------------------------------------------------------------------------------- CMaps */

#define CMAP                                                                                                           \
    "/CIDInit/ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)"    \
    "/Supplement 0>>def\n/CMapName/Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000><ffff>\n"     \
    "endcodespacerange\n"
#define CMAP_END "endcmap\nCMapName currentdict/CMap defineresource pop\nend\nend\n"

/* Writes the CMap from glyphs to their texts. */
static int put_texts(sr_pdfd_update_t *update, const sr_pdfd_used_font_t *used)
{
    sr_pdfd_buffer_t *cmap = sr_pdfd_buffer(update->pool), *lines = sr_pdfd_buffer(update->pool);
    int count = 0;
    sr_pdfd_put_text(cmap, CMAP);
    for (unsigned i = 0; i <= used->count; i++) {
        const sr_pdfd_use_t *use = &used->glyphs[i < used->count ? i : 0];
        if (i < used->count && use->text) {
            sr_pdfd_print(lines, "<%04x><", i);
            sr_pdfd_put_utf16(lines, use->text);
            sr_pdfd_put_text(lines, ">\n");
            count++;
        }
        if (!count || (i < used->count && count < ENTRIES)) continue;
        sr_pdfd_print(cmap, "%d beginbfchar\n", count);
        sr_pdfd_put(cmap, lines->data, lines->size);
        sr_pdfd_put_text(cmap, "endbfchar\n");
        lines->size = 0;
        count = 0;
    }
    sr_pdfd_put_text(cmap, CMAP_END);
    return sr_pdfd_stream_new(update, "", cmap->data, cmap->size);
}

/* -------------------------------------------------------------------------------------------------- font */

static int put_font(sr_pdfd_update_t *update, const sr_pdfd_used_font_t *used, const sr_pdfd_buffer_t *program,
                    bool is_cff)
{
    const char *name = embed_name_of(used, program, update->pool);
    const char *keys =
        is_cff ? "/Subtype/CIDFontType0C" : apr_psprintf(update->pool, "/Length1 %d", (int)program->size);
    const int data = sr_pdfd_stream_new(update, keys, program->data, program->size);
    const int descriptor = put_descriptor(update, used, name, is_cff ? "FontFile3" : "FontFile2", data);
    const int texts = put_texts(update, used), descendant = (int)sr_pdfd_object_number(update);
    sr_pdfd_buffer_t *out = sr_pdfd_object_begin(update, descendant, 0);
    sr_pdfd_print(out,
                  "<</Type/Font/Subtype/%s/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
                  "/Supplement 0>>/FontDescriptor %d 0 R%s/DW 0/W[",
                  is_cff ? "CIDFontType0" : "CIDFontType2", name, descriptor, is_cff ? "" : "/CIDToGIDMap/Identity");
    put_widths(out, used);
    sr_pdfd_put_text(out, "]>>");
    sr_pdfd_object_end(update);
    const int number = (int)sr_pdfd_object_number(update);
    sr_pdfd_print(sr_pdfd_object_begin(update, number, 0),
                  "<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/DescendantFonts[%d 0 R]"
                  "/ToUnicode %d 0 R>>",
                  name, descendant, texts);
    sr_pdfd_object_end(update);
    return number;
}

/* Copies the subset as a document contains it: the table "CFF " of an OpenType font, or a TrueType font. */
static sr_pdfd_buffer_t *program_of(bool *is_cff, hb_face_t *subset, apr_pool_t *pool)
{
    sr_pdfd_buffer_t *program = sr_pdfd_buffer(pool);
    unsigned length;
    hb_blob_t *cff = hb_face_reference_table(subset, HB_TAG('C', 'F', 'F', ' ')),
              *whole = hb_face_reference_blob(subset);
    *is_cff = hb_blob_get_length(cff) > 0;
    const char *data = hb_blob_get_data(*is_cff ? cff : whole, &length);
    sr_pdfd_put(program, data, length);
    if (*is_cff) sr_pdfd_cid(program, hb_face_get_glyph_count(subset));
    hb_blob_destroy(whole);
    hb_blob_destroy(cff);
    return program;
}

int sr_pdfd_embed(sr_pdfd_update_t *update, const sr_pdfd_used_font_t *used)
{
    bool is_cff;
    hb_face_t *subset = subset_of(used);
    if (!subset) return 0;
    const sr_pdfd_buffer_t *program = program_of(&is_cff, subset, update->pool);
    hb_face_destroy(subset);
    return program->size ? put_font(update, used, program, is_cff) : 0;
}
