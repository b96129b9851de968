/* SPDX-License-Identifier: Apache-2.0 */
/* fonts.c: the fonts for texts that sigreq-pdfd draws itself: typed signatures and composed documents. They are mapped
 * before the sandbox is entered, so that these operations also work if no files can be opened afterwards. fontconfig
 * sorts all fonts of the system by the wanted style and leaves out each font whose characters the previous ones have.
 * The remaining fonts have every character that any font has. Mapping costs address space, not memory. Colour fonts
 * have no outlines and are skipped. */
#include "helper/main/draw/glyphs.h"

#include <fontconfig/fontconfig.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FONTS 96
#define MAX_FACES (2 * MAX_FONTS)
#define MAX_MAPPED ((apr_size_t)384 << 20)

typedef struct list_t {
    const char *wanted; /* families, the preferred one first */
    bool alone;         /* only the best font, followed by the fonts of SR_PDFD_PLAIN */
    sr_pdfd_font_t *fonts[MAX_FONTS];
    int count;
} list_t;

static list_t lists[SR_PDFD_STYLES] = {
    [SR_PDFD_TYPED] = {.wanted = "Dancing Script,cursive,Z003,serif"},
    [SR_PDFD_PLAIN] = {.wanted = "Noto Sans,Nimbus Sans,Liberation Sans,DejaVu Sans,sans"},
    [SR_PDFD_BOLD] = {.wanted = "Noto Sans,Nimbus Sans,Liberation Sans,DejaVu Sans,sans:bold", .alone = true},
    [SR_PDFD_CODE] = {.wanted = "DejaVu Sans Mono,Noto Sans Mono,Liberation Mono,monospace", .alone = true},
};
static sr_pdfd_font_t faces[MAX_FACES];
static struct {
    const char *file;
    int index;
} sources[MAX_FACES];
static int face_count;
static apr_size_t mapped;

static bool is_usable(FcPattern *pattern)
{
    FcBool outline = FcFalse, colour = FcFalse, variable = FcFalse;
    FcPatternGetBool(pattern, FC_OUTLINE, 0, &outline);
    FcPatternGetBool(pattern, FC_COLOR, 0, &colour);
    FcPatternGetBool(pattern, FC_VARIABLE, 0, &variable);
    return outline && !colour && !variable; /* the instances of a variable font are listed separately */
}

/* Finds a face that another list has already mapped. */
static sr_pdfd_font_t *fonts_find(const char *file, int index)
{
    for (int i = 0; i < face_count; i++)
        if (sources[i].index == index && !strcmp(sources[i].file, file)) return &faces[i];
    return NULL;
}

/* Composed documents can embed these two kinds of outlines. */
static bool has_outlines(hb_face_t *face)
{
    static const hb_tag_t tables[] = {HB_TAG('g', 'l', 'y', 'f'), HB_TAG('C', 'F', 'F', ' ')};
    unsigned length = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        hb_blob_t *table = hb_face_reference_table(face, tables[i]);
        length += hb_blob_get_length(table);
        hb_blob_destroy(table);
    }
    return length;
}

/* Returns NULL on failure. */
static sr_pdfd_font_t *fonts_map(const char *file, int index)
{
    struct stat info;
    if (face_count == MAX_FACES || stat(file, &info) || (apr_size_t)info.st_size > MAX_MAPPED - mapped) return NULL;
    hb_blob_t *blob = hb_blob_create_from_file_or_fail(file);
    if (!blob) return NULL;
    sr_pdfd_font_t *font = NULL;
    hb_face_t *face =
        hb_face_create(blob, (unsigned)index & 0xffff); /* the upper half selects an instance of a variable font */
    unsigned size = hb_face_get_upem(face);
    mapped += (apr_size_t)info.st_size;
    if (hb_face_get_glyph_count(face) && size && has_outlines(face)) {
        font = &faces[face_count];
        *font = (sr_pdfd_font_t){.font = hb_font_create(face), .scale = SR_PDFD_EM / size};
        sources[face_count].file = file;
        sources[face_count++].index = index;
    }
    hb_face_destroy(face);
    hb_blob_destroy(blob);
    return font;
}

/* The patterns of fontconfig, which own the file names, are never freed. */
static bool fonts_load(list_t *list, FcPattern *pattern)
{
    FcChar8 *file;
    int index = 0;
    if (list->count == MAX_FONTS || FcPatternGetString(pattern, FC_FILE, 0, &file) != FcResultMatch) return false;
    FcPatternGetInteger(pattern, FC_INDEX, 0, &index);
    sr_pdfd_font_t *font = fonts_find((const char *)file, index);
    if (!font) font = fonts_map((const char *)file, index);
    if (font) list->fonts[list->count++] = font;
    return font;
}

/* For `alone`, the first font that can be loaded is used. Sorting is quick if no fonts are left out. */
static void load_list(list_t *list, FcFontSet *usable)
{
    FcResult result;
    FcPattern *wanted = FcNameParse((const FcChar8 *)list->wanted);
    FcConfigSubstitute(NULL, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcFontSet *sorted = FcFontSetSort(NULL, &usable, 1, wanted, !list->alone, NULL, &result);
    for (int i = 0; sorted && i < sorted->nfont; i++)
        if (fonts_load(list, sorted->fonts[i]) && list->alone) break;
    if (sorted) FcFontSetDestroy(sorted);
    FcPatternDestroy(wanted);
    const list_t *plain = &lists[SR_PDFD_PLAIN];
    for (int i = 0; list->alone && i < plain->count && list->count < MAX_FONTS; i++)
        list->fonts[list->count++] = plain->fonts[i];
}

void sr_pdfd_fonts_load(void)
{
    FcFontSet *all = FcInit() ? FcConfigGetFonts(NULL, FcSetSystem) : NULL;
    FcFontSet *usable = FcFontSetCreate();
    for (int i = 0; all && i < all->nfont; i++) {
        if (!is_usable(all->fonts[i])) continue;
        FcPatternReference(all->fonts[i]);
        FcFontSetAdd(usable, all->fonts[i]);
    }
    for (int i = 0; usable->nfont && i < SR_PDFD_STYLES; i++) load_list(&lists[i], usable);
    FcFontSetDestroy(usable);
}

sr_pdfd_font_t *sr_pdfd_font(sr_pdfd_style_t style, int index)
{
    return index < lists[style].count ? lists[style].fonts[index] : NULL;
}

apr_size_t sr_pdfd_fonts_mapped(void)
{
    return mapped;
}
