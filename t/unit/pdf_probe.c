/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_probe.c: what sigreq-pdfd says about documents of every kind that docs/signed-pdf.md names: one small PDF each,
 * one verdict each. */
#include "pdf_help.h"

static apr_pool_t *root;
static sr_pdf_pool_t *workers;

typedef struct case_t {
    const char *name;
    pdf_parts_t parts;
    const char *says;
} case_t;

#define SAYS(pages, runs, signatures, normalise)                                                                       \
    "accepted {\"version\":5,\"pages\":" #pages ",\"runs\":[" runs "],\"signatures\":" #signatures                     \
    ",\"normalise\":" #normalise "}"
#define ONE(runs) SAYS(1, runs, 0, false)
#define LETTER "[1,0,0,612,792,0]"
#define SIGNATURE "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]/Contents<00>"
#define FIELD(more) "<</FT/Sig/T(s)/V 5 0 R" more ">>"
#define FORM "/AcroForm<</Fields[4 0 R]/SigFlags 3>>"
#define CERTIFIED "refused: it is certified, and its certification allows no new signature fields"
#define BROKEN(field)                                                                                                  \
    "accepted {\"version\":5,\"pages\":1,\"runs\":[" LETTER "],\"signatures\":1,\"normalise\":false,"                  \
    "\"warnings\":[\"signed-broken\"],\"fields\":[{\"name\":\"" field "\",\"fault\":\"signed\"}]}"
#define BROKEN_SIGNATURE BROKEN("s")
#define PLACELESS                                                                                                      \
    "accepted {\"version\":5,\"pages\":1,\"runs\":[" LETTER "],\"signatures\":0,\"normalise\":false,"                  \
    "\"fields\":[{\"name\":\"s\",\"fault\":\"hidden\"}]}"
#define LOCKED "refused: an earlier signature locks its form"

static const case_t CASES[] = {
    {"one page", {.pages = 1}, ONE(LETTER)},
    {"no MediaBox at all: letter", {.pages = 1, .page = ""}, ONE(LETTER)},
    {"an inherited MediaBox",
     {.pages = 2, .page = "", .tree = "/MediaBox[0 0 200 100]"},
     SAYS(2, "[2,0,0,200,100,0]", 0, false)},
    {"one's own before an inherited one",
     {.pages = 1, .page = "/MediaBox[0 0 300 400]", .tree = "/MediaBox[0 0 2 1]"},
     ONE("[1,0,0,300,400,0]")},
    {"a MediaBox upside down", {.pages = 1, .page = "/MediaBox[612 792 0 0]"}, ONE(LETTER)},
    {"a MediaBox away from the origin",
     {.pages = 1, .page = "/MediaBox[-10 -20.5 100 200.25]"},
     ONE("[1,-10,-20.5,100,200.25,0]")},
    {"numbers below one",
     {.pages = 1, .page = "/MediaBox[.25 -.5 595.276 841.89]"},
     ONE("[1,0.25,-0.5,595.276,841.89,0]")},
    {"an indirect MediaBox",
     {.pages = 1, .page = "/MediaBox 4 0 R", .objects = {"[0 0 10 20]"}},
     ONE("[1,0,0,10,20,0]")},
    {"a MediaBox that is none", {.pages = 1, .page = "/MediaBox[0 0 (a) 4]"}, ONE(LETTER)},
    {"a CropBox inside",
     {.pages = 1, .page = "/MediaBox[0 0 612 792]/CropBox[10 20 500 600]"},
     ONE("[1,10,20,500,600,0]")},
    {"a CropBox that reaches out",
     {.pages = 1, .page = "/MediaBox[0 0 612 792]/CropBox[-10 100 5000 5000]"},
     ONE("[1,0,100,612,792,0]")},
    {"an inherited CropBox", {.pages = 1, .tree = "/CropBox[1 2 3 4]"}, ONE("[1,1,2,3,4,0]")},
    {"a CropBox outside",
     {.pages = 1, .page = "/MediaBox[0 0 612 792]/CropBox[1000 1000 1100 1100]"},
     "refused: page 1 has an empty page box"},
    {"an empty MediaBox", {.pages = 1, .page = "/MediaBox[0 0 0 792]"}, "refused: page 1 has an empty page box"},
    {"Rotate 90", {.pages = 1, .page = "/MediaBox[0 0 612 792]/Rotate 90"}, ONE("[1,0,0,612,792,90]")},
    {"Rotate -90", {.pages = 1, .page = "/MediaBox[0 0 612 792]/Rotate -90"}, ONE("[1,0,0,612,792,270]")},
    {"Rotate 540", {.pages = 1, .page = "/MediaBox[0 0 612 792]/Rotate 540"}, ONE("[1,0,0,612,792,180]")},
    {"Rotate 45", {.pages = 1, .page = "/MediaBox[0 0 612 792]/Rotate 45"}, ONE(LETTER)},
    {"an inherited Rotate", {.pages = 1, .tree = "/Rotate 270"}, ONE("[1,0,0,612,792,270]")},
    {"the largest page", {.pages = 1, .page = "/MediaBox[0 0 14400 14400]"}, ONE("[1,0,0,14400,14400,0]")},
    {"a larger one",
     {.pages = 1, .page = "/MediaBox[0 0 14401 10]"},
     "refused: page 1 is larger than 14400 points a side"},
    {"a page of the size of a country",
     {.pages = 1, .page = "/MediaBox[0 0 99999999.5 10]"},
     "refused: page 1 is larger than 14400 points a side"},
    {"no pages", {.pages = 0}, "refused: it has no pages"},
    {"a wrong Count", {.pages = 1, .tree = "/Count 5"}, "refused: PDF readers do not agree on its pages"},

    {"encrypted by an unknown handler", {.pages = 1, .trailer = "/Encrypt<</Filter/Other/V 9>>"}, "password"},
    {"an empty form", {.pages = 1, .catalog = "/AcroForm<</Fields[]>>"}, ONE(LETTER)},
    {"NeedAppearances",
     {.pages = 1, .catalog = "/AcroForm<</Fields[]/NeedAppearances true>>"},
     SAYS(1, LETTER, 0, true)},
    {"an XFA form that is shown as PDF", {.pages = 1, .catalog = "/AcroForm<</Fields[]/XFA[]>>"}, ONE(LETTER)},
    {"a dynamic XFA form",
     {.pages = 1, .catalog = "/NeedsRendering true/AcroForm<</Fields[]/XFA[]>>"},
     "refused: it is a dynamic XFA form, which PDF readers cannot show"},
    {"an unsigned signature field", {.pages = 1, .catalog = FORM, .objects = {"<</FT/Sig/T(s)>>"}}, PLACELESS},
    {"a signature", {.pages = 1, .catalog = FORM, .objects = {FIELD(""), SIGNATURE ">>"}}, BROKEN_SIGNATURE},
    {"a signature under a parent field",
     {.pages = 1, .catalog = FORM, .objects = {"<</FT/Sig/T(p)/Kids[6 0 R]>>", SIGNATURE ">>", "<</T(k)/V 5 0 R>>"}},
     BROKEN("p.k")},
    {"a signature and NeedAppearances",
     {.pages = 1,
      .catalog = "/AcroForm<</Fields[4 0 R]/NeedAppearances true>>",
      .objects = {FIELD(""), SIGNATURE ">>"}},
     BROKEN_SIGNATURE},
    {"certified", {.pages = 1, .catalog = "/Perms<</DocMDP 4 0 R>>", .objects = {SIGNATURE ">>"}}, CERTIFIED},
    {"certified, found at the signature",
     {.pages = 1,
      .catalog = FORM,
      .objects = {FIELD(""), SIGNATURE "/Reference[<</TransformMethod/DocMDP/TransformParams<</P 2>>>>]>>"}},
     CERTIFIED},
    {"a lock of all fields",
     {.pages = 1,
      .catalog = FORM,
      .objects = {FIELD(""), SIGNATURE "/Reference[<</TransformMethod/FieldMDP/TransformParams<</Action/All>>>>]>>"}},
     LOCKED},
    {"a lock of all fields but some",
     {.pages = 1, .catalog = FORM, .objects = {FIELD("/Lock<</Action/Exclude/Fields[(a)]>>"), SIGNATURE ">>"}},
     LOCKED},
    {"a lock of named fields",
     {.pages = 1, .catalog = FORM, .objects = {FIELD("/Lock<</Action/Include/Fields[(a)]>>"), SIGNATURE ">>"}},
     BROKEN_SIGNATURE},
    {"a lock with a level of its own",
     {.pages = 1, .catalog = FORM, .objects = {FIELD("/Lock<</Action/Include/Fields[(a)]/P 1>>"), SIGNATURE ">>"}},
     LOCKED},
    {"fields in a circle",
     {.pages = 1, .catalog = FORM, .objects = {"<</T(a)/Kids[4 0 R 4 0 R]>>"}},
     "refused: its form has too many fields, or too deeply nested ones"},
};

static void is_said(const void *data, size_t size, const char *want, const char *name)
{
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, root);
    sr_error_t *error = help_probe(&probe, workers, data, size, pool);
    is_str(help_say(error, &probe, pool), want, "%s", name);
    apr_pool_destroy(pool);
}

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        pdf_t pdf = pdf_document(&CASES[i].parts);
        is_said(pdf.data, pdf.size, CASES[i].says, CASES[i].name);
        free(pdf.data);
    }
}

/* The same documents with something wrong around them. */
static void test_damage(void)
{
    pdf_t plain = pdf_document(&(pdf_parts_t){.pages = 1});
    pdf_t sealed = pdf_document(&(pdf_parts_t){.pages = 1, .catalog = FORM, .objects = {FIELD(""), SIGNATURE ">>"}});
    pdf_t text = {0};
    is_said("hello", 5, "not-pdf", "some text");
    is_said("", 0, "not-pdf", "nothing");
    is_said("%PDF-1.7", 8, "not-pdf", "a header alone");

    pdf_print(&text, "%*s", 100, "");
    pdf_add(&text, plain.data, plain.size);
    is_said(text.data, text.size, SAYS(1, LETTER, 0, true), "100 bytes before the header");
    text.size = 0;
    pdf_print(&text, "%*s", 4091, "");
    pdf_add(&text, plain.data, plain.size);
    is_said(text.data, text.size, SAYS(1, LETTER, 0, true), "4,091 bytes before the header");
    text.size = 0;
    pdf_print(&text, "%*s", 4092, "");
    pdf_add(&text, plain.data, plain.size);
    is_said(text.data, text.size, "not-pdf", "a header that is too late");
    text.size = 0;
    pdf_print(&text, "%*s", 100, "");
    pdf_add(&text, sealed.data, sealed.size);
    is_said(text.data, text.size, "refused: it is signed already and damaged: repairing it would break its signatures",
            "100 bytes before a signed one");

    size_t cut = (size_t)(strstr(plain.data, "startxref") - plain.data);
    is_said(plain.data, cut, SAYS(1, LETTER, 0, true), "no startxref");
    cut = (size_t)(strstr(sealed.data, "startxref") - sealed.data);
    is_said(sealed.data, cut, "refused: it is signed already and damaged: repairing it would break its signatures",
            "no startxref in a signed one");
    is_said(plain.data, plain.size / 2, "refused: it is damaged beyond repair", "half a document");
    is_said("%PDF-1.7\n1 0 object", 18, "not-pdf", "a header and no object");

    text.size = 0;
    pdf_add(&text, plain.data, plain.size);
    memcpy(strstr(text.data, "xref"), "xxxx", 4);
    is_said(text.data, text.size, SAYS(1, LETTER, 0, true), "no xref");
    text.size = 0;
    pdf_add(&text, plain.data, plain.size);
    pdf_print(&text, "\n%2000s\n", "");
    is_said(text.data, text.size, SAYS(1, LETTER, 0, true), "2 kB after the end: the writer would not find it");
    free(plain.data);
    free(sealed.data);
    free(text.data);
}

/* Many pages in few objects: each group of 1,000 holds the same three boxes. */
static void test_many_pages(void)
{
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 20});
    is_said(pdf.data, pdf.size, SAYS(20, "[20,0,0,612,792,0]", 0, false), "equal pages are one run");
    free(pdf.data);

    pdf_begin(&pdf);
    pdf_object(&pdf, "<</Type/Catalog/Pages 2 0 R>>");
    pdf_object(&pdf, "<</Type/Pages/Count 4/Kids[3 0 R 4 0 R 5 0 R 6 0 R]>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 2]>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 2]>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 2]/Rotate 180>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 3]>>");
    pdf_end(&pdf, "");
    is_said(pdf.data, pdf.size, SAYS(4, "[2,0,0,1,2,0],[1,0,0,1,2,180],[1,0,0,1,3,0]", 0, false),
            "a run ends where box or rotation change");
    free(pdf.data);

    pdf = pdf_document(&(pdf_parts_t){.pages = 3, .page = "/MediaBox[0 0 10 20]/CropBox[1 2 3 4]/UserUnit 2"});
    is_said(pdf.data, pdf.size, SAYS(3, "[3,1,2,3,4,0]", 0, false), "UserUnit changes no coordinates");
    free(pdf.data);
}

/* A document of `pages` pages is too long for PDF_OBJECTS: written here, with a table of its own. */
static pdf_t write_long(int pages)
{
    pdf_t pdf = {0}, table = {0};
    pdf_print(&pdf, "%%PDF-1.7\n");
    pdf_print(&table, "xref\n0 %d\n0000000000 65535 f \n", pages + 3);
    pdf_print(&table, "%010zu 00000 n \n", pdf.size);
    pdf_print(&pdf, "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n");
    pdf_print(&table, "%010zu 00000 n \n", pdf.size);
    pdf_print(&pdf, "2 0 obj<</Type/Pages/Count %d/Kids[", pages);
    for (int i = 0; i < pages; i++) pdf_print(&pdf, "%d 0 R ", i + 3);
    pdf_print(&pdf, "]>>endobj\n");
    for (int i = 0; i < pages; i++) {
        pdf_print(&table, "%010zu 00000 n \n", pdf.size);
        pdf_print(&pdf, "%d 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0.125 0.25 %d.5 %d.75]>>endobj\n", i + 3,
                  100 + i % 10000, 200 + i / 2);
    }
    size_t start = pdf.size;
    pdf_add(&pdf, table.data, table.size);
    pdf_print(&pdf, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%zu\n%%%%EOF\n", pages + 3, start);
    free(table.data);
    return pdf;
}

static void test_long(void)
{
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, root);
    pdf_t pdf = write_long(20000);
    int64_t begun = help_now();
    sr_error_t *error = help_probe(&probe, workers, pdf.data, pdf.size, pool);
    ok(!error && probe.verdict == SR_PDF_ACCEPTED && probe.pages->count == 20000,
       "20,000 pages of different sizes are accepted: %.60s", help_say(error, &probe, pool));
    printf("# in %d ms, a report of %d bytes\n", (int)(help_now() - begun),
           error || !probe.pages ? 0 : (int)strlen(probe.pages->report));
    free(pdf.data);
    pdf = write_long(20001);
    is_said(pdf.data, pdf.size, "refused: it has more than 20000 pages", "one more is not");
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* 10 MB that unpack to 640: an object stream of (0x81 ' ') pairs, each 128 spaces. */
static void test_bomb(void)
{
    if (skip_if_sanitized()) return;
    pdf_t pdf = {0};
    const size_t pairs = 5 << 20;
    pdf_print(&pdf, "%%PDF-1.7\n");
    size_t stream = pdf.size;
    pdf_print(&pdf, "4 0 obj<</Type/ObjStm/N 1/First 4/Filter/RunLengthDecode/Length %zu>>stream\n", pairs * 2 + 35);
    pdf_print(&pdf, "%c1 0 <</Type/Catalog/Pages 2 0 R>>", 32);
    for (size_t i = 0; i < pairs; i++) pdf_add(&pdf, "\x81 ", 2);
    pdf_print(&pdf, "\x80\nendstream endobj\n");
    size_t start = pdf.size;
    pdf_print(&pdf, "5 0 obj<</Type/XRef/Size 6/W[1 4 1]/Index[1 1 4 1]/Root 1 0 R/Length 12>>stream\n");
    const unsigned char rows[12] = {2, 0, 0, 0, 4, 0, 1, 0, 0, 0, (unsigned char)stream, 0};
    pdf_add(&pdf, rows, sizeof rows);
    pdf_print(&pdf, "\nendstream endobj\nstartxref\n%zu\n%%%%EOF\n", start);
    is_said(pdf.data, pdf.size, "refused: it could not be read within the limits", "640 MB in 10");
    free(pdf.data);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    workers = help_pool(help_program(), 1, 20000, root);
    test_cases();
    test_damage();
    test_many_pages();
    test_long();
    test_bomb();
    is_int(help_notices, 0, "no worker died of any of these: %s", help_last_notice);
    apr_pool_destroy(root);
    return done();
}
