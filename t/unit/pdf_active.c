/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_active.c: what the probe says of scripts, actions, layers and embedded files; and of documents that have none of
 * them, or only look as if. */
#include "pdf_help.h"

static apr_pool_t *root;
static sr_pdf_pool_t *workers;

#define JS "<</S/JavaScript/JS(app.alert\\(1\\))>>"
#define PAGE "/MediaBox[0 0 612 792]"
#define ANNOTATION(more) PAGE "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]" more ">>]"
#define LAYERS(more) "/OCProperties<</OCGs[4 0 R]/D<<" more ">>>>"
#define USES(category) LAYERS("/AS[<</Event/" category "/OCGs[4 0 R]/Category[/" category "]>>]")
#define LAYER(usage) "<</Type/OCG/Name(a)" usage ">>"

static const struct {
    const char *name, *page, *catalog, *object; /* the object has number 4 */
    const char *found;
} CASES[] = {
    {"nothing", NULL, NULL, NULL, ""},
    {"a place to begin at", NULL, "/OpenAction[3 0 R/Fit]", NULL, ""},
    {"the same as an action", NULL, "/OpenAction<</S/GoTo/D[3 0 R/Fit]>>", NULL, ""},
    {"a wish to print", NULL, "/OpenAction<</S/Named/N/Print>>", NULL, ""},
    {"a link to the web", ANNOTATION("/A<</S/URI/URI(https://example.org/)>>"), NULL, NULL, ""},
    {"a link within", ANNOTATION("/A<</S/GoTo/D[3 0 R/Fit]>>"), NULL, NULL, ""},
    {"a link to another document", ANNOTATION("/A<</S/GoToR/F(b.pdf)/D[0/Fit]>>"), NULL, NULL, ""},
    {"empty name trees", NULL, "/Names<</JavaScript<</Names[]>>/EmbeddedFiles<</Kids[<</Names[]>>]>>>>", NULL, ""},
    {"a layer that is shown", NULL, LAYERS("/ON[4 0 R]/OFF[]"), LAYER(""), ""},
    {"a layer with a usage that nobody applies", NULL, LAYERS(""), LAYER("/Usage<</Print<</PrintState/OFF>>>>"), ""},
    {"a layer that is shown and printed", NULL, USES("Print"), LAYER("/Usage<</Print<</PrintState/ON>>>>"), ""},
    {"a usage of another category", NULL, USES("View"), LAYER("/Usage<</Print<</PrintState/OFF>>>>"), ""},
    {"no layers at all", NULL, "/OCProperties<</OCGs[]/D<</BaseState/OFF>>>>", NULL, ""},
    {"things of other types", ANNOTATION("/A 7/AA[1]"), "/OpenAction 1/AA(x)/Names 3/OCProperties[]/AF 5", NULL, ""},

    {"a script at the start", NULL, "/OpenAction" JS, NULL, "javascript action"},
    {"a script after something else", NULL, "/OpenAction<</S/GoTo/D[3 0 R/Fit]/Next[<</S/Named/N/Print>>" JS "]>>",
     NULL, "javascript action"},
    {"a script of the document", NULL, "/Names<</JavaScript<</Names[(a)" JS "]>>>>", NULL, "javascript"},
    {"one deeper in the tree", NULL, "/Names<</JavaScript<</Kids[<</Kids[<</Names[(a)" JS "]>>]>>]>>>>", NULL,
     "javascript"},
    {"a script before printing", NULL, "/AA<</WP" JS ">>", NULL, "javascript action"},
    {"a script of a page", PAGE "/AA<</O" JS ">>", NULL, NULL, "javascript action"},
    {"a script of a link", ANNOTATION("/A" JS), NULL, NULL, "javascript"},
    {"a script of a widget's page", ANNOTATION("/AA<</PV" JS ">>"), NULL, NULL, "javascript action"},
    {"a script of a field", NULL, "/AcroForm<</Fields[<</T(a)/Kids[<</T(b)/FT/Tx/AA<</C" JS ">>>>]>>]>>", NULL,
     "javascript"},
    {"a script of an outline", NULL, "/Outlines<</First<</Title(a)/Next<</Title(b)/A" JS ">>>>>>", NULL, "javascript"},
    {"an address that is opened at once", NULL, "/OpenAction<</S/URI/URI(https://example.org/)>>", NULL, "action"},
    {"a layer that is switched at once", NULL, "/OpenAction<</S/SetOCGState/State[/Toggle 4 0 R]>>", LAYER(""),
     "action"},
    {"a program", ANNOTATION("/A<</S/Launch/F(cmd.exe)>>"), NULL, NULL, "launch"},
    {"a form that is sent", ANNOTATION("/A<</S/SubmitForm/F(https://example.org/)>>"), NULL, NULL, "submit"},
    {"data that is taken", ANNOTATION("/A<</S/ImportData/F(a.fdf)>>"), NULL, NULL, "submit"},
    {"a hidden layer", NULL, LAYERS("/OFF[4 0 R]"), LAYER(""), "layers-hidden"},
    {"layers that are hidden unless named", NULL, LAYERS("/BaseState/OFF"), LAYER(""), "layers-hidden"},
    {"a layer that is not printed", NULL, USES("Print"), LAYER("/Usage<</Print<</PrintState/OFF>>>>"), "layers-usage"},
    {"a layer of a zoom", NULL, USES("Zoom"), LAYER("/Usage<</Zoom<</min 2>>>>"), "layers-usage"},
    {"an embedded file", NULL, "/Names<</EmbeddedFiles<</Names[(a)<</Type/Filespec/F(a)>>]>>>>", NULL,
     "embedded-files"},
    {"a file of the document", NULL, "/AF[<</Type/Filespec/F(a)>>]", NULL, "embedded-files"},
    {"a file on a page", PAGE "/Annots[<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]>>]", NULL, NULL,
     "embedded-files"},
    {"an endless chain", NULL, "/OpenAction 4 0 R", "<</S/GoTo/D[3 0 R/Fit]/Next 4 0 R>>", "unchecked"},
    {"an endless outline", NULL, "/Outlines<</First 4 0 R>>", "<</Title(a)/Next 4 0 R>>", "unchecked"},
    {"an endless tree", NULL, "/Names<</JavaScript 4 0 R>>", "<</Kids[4 0 R]>>", ""},
    {"a wide endless tree", NULL, "/Names<</JavaScript 4 0 R>>", "<</Kids[4 0 R 4 0 R 4 0 R]>>", "unchecked"},
};

static const char *found_in(const pdf_parts_t *parts, apr_pool_t *pool)
{
    pdf_t pdf = pdf_document(parts);
    sr_pdf_probe_t probe;
    sr_error_t *error = help_probe(&probe, workers, pdf.data, pdf.size, pool);
    free(pdf.data);
    if (error || probe.verdict != SR_PDF_ACCEPTED) return help_say(error, &probe, pool);
    const char *names = "";
    for (int i = 0; i < SR_WARNING_COUNT; i++)
        if (probe.pages->warnings & SR_WARNING_BIT(i))
            names = apr_pstrcat(pool, names, *names ? " " : "", sr_warning((sr_warning_t)i)->name, NULL);
    return names;
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    /* ms of processor time: a document that takes more is refused */
    workers = help_pool(help_program(), 1, 2500, root);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const pdf_parts_t parts = {
            .pages = 1, .page = CASES[i].page, .catalog = CASES[i].catalog, .objects = {CASES[i].object}};
        apr_pool_t *pool;
        apr_pool_create(&pool, root);
        is_str(found_in(&parts, pool), CASES[i].found, "%s", CASES[i].name);
        apr_pool_destroy(pool);
    }
    is_int(help_notices, 0, "no worker was lost: %s", help_last_notice);
    apr_pool_destroy(root);
    return done();
}
