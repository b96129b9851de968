/* fonts.c: the fonts that typed signatures are drawn with. In the sandbox no file can be opened, so the fonts are
 * mapped before: fontconfig sorts all that the system has, handwriting first, and leaves out each one whose
 * characters those before it have; what stays knows every character that any of them knows. Mapping costs address
 * space, not memory. Colour fonts have no outlines and are passed over. */
#include "pdfd/glyphs.h"

#include <fontconfig/fontconfig.h>
#include <sys/stat.h>

#define STYLE "Dancing Script,cursive,Z003,serif" /* families, the best first; the signing page shows the first */
#define MAX_FONTS 96
#define MAX_MAPPED ((apr_size_t)384 << 20)

static sr_pdfd_font_t fonts[MAX_FONTS];
static int count;
static apr_size_t mapped;

static bool is_usable(FcPattern *pattern)
{
    FcBool outline = FcFalse, colour = FcFalse, variable = FcFalse;
    FcPatternGetBool(pattern, FC_OUTLINE, 0, &outline);
    FcPatternGetBool(pattern, FC_COLOR, 0, &colour);
    FcPatternGetBool(pattern, FC_VARIABLE, 0, &variable);
    return outline && !colour && !variable; /* a variable font is listed by its instances, too */
}

static void load(FcPattern *pattern)
{
    FcChar8 *file;
    int index = 0;
    struct stat info;
    if (FcPatternGetString(pattern, FC_FILE, 0, &file) != FcResultMatch) return;
    FcPatternGetInteger(pattern, FC_INDEX, 0, &index);
    if (stat((const char *)file, &info) || (apr_size_t)info.st_size > MAX_MAPPED - mapped) return;
    hb_blob_t *blob = hb_blob_create_from_file_or_fail((const char *)file);
    if (!blob) return;
    mapped += (apr_size_t)info.st_size;
    hb_face_t *face = hb_face_create(blob, (unsigned)index & 0xffff); /* the upper half is of variable fonts */
    unsigned size = hb_face_get_upem(face);
    if (hb_face_get_glyph_count(face) && size)
        fonts[count++] = (sr_pdfd_font_t){.font = hb_font_create(face), .scale = SR_PDFD_EM / size};
    hb_face_destroy(face);
    hb_blob_destroy(blob);
}

void sr_pdfd_fonts_load(void)
{
    FcFontSet *all = FcInit() ? FcConfigGetFonts(NULL, FcSetSystem) : NULL;
    FcFontSet *usable = FcFontSetCreate();
    FcResult result;
    for (int i = 0; all && i < all->nfont; i++) {
        if (!is_usable(all->fonts[i])) continue;
        FcPatternReference(all->fonts[i]);
        FcFontSetAdd(usable, all->fonts[i]);
    }
    FcPattern *wanted = FcNameParse((const FcChar8 *)STYLE);
    FcConfigSubstitute(NULL, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcFontSet *sorted = usable->nfont ? FcFontSetSort(NULL, &usable, 1, wanted, FcTrue, NULL, &result) : NULL;
    for (int i = 0; sorted && i < sorted->nfont && count < MAX_FONTS; i++) load(sorted->fonts[i]);
    if (sorted) FcFontSetDestroy(sorted);
    FcFontSetDestroy(usable);
    FcPatternDestroy(wanted);
}

const sr_pdfd_font_t *sr_pdfd_font(int index)
{
    return index < count ? &fonts[index] : NULL;
}

apr_size_t sr_pdfd_fonts_mapped(void)
{
    return mapped;
}
