/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_changes.c: Ann signs, somebody appends an update, and Mallory signs that: all signatures are intact, and it has
 * to be told what was changed between them. Each case is judged by pyHanko too, where it is at hand; `stricter` are
 * those in which it allows more, for a reason that the rules give. */
#include "changes_make.h"

#define PAGE "page 1: "
#define CONTENT "changed: " PAGE "its content"
#define FORM "<</Type/XObject/Subtype/Form/BBox[0 0 90 20]/Length 2>>stream\nBT\nendstream"
#define EVIL "<</Length 43>>stream\nBT /F1 24 Tf 72 700 Td (I owe 9 EUR) Tj ET \nendstream"

typedef struct case_t {
    const char *name;
    int object;
    const char *what, *with, *more, *says;
    bool stricter;
} case_t;

static const case_t CASES[] = {
    {"nothing", 0, "", "", "<</X 1>>", "signed", false},
    {"content replaced", 5, "", EVIL, NULL, CONTENT, false},
    {"content elsewhere", 3, "[5 0 R", "[60 0 R", EVIL, CONTENT, false},
    {"content added", 3, "6 0 R]", "6 0 R 60 0 R]", EVIL, CONTENT, false},
    {"shared content", 6, "(and)", "(not)", NULL, CONTENT, false},
    {"a font in its place", 7, "Helvetica", "Courier", NULL, "changed: its page tree", false},
    {"another font", 2, "/F1 7 0 R", "/F1 17 0 R", NULL, "changed: its page tree", false},
    {"a drawing", 16, "1 0 0", "0 0 1", NULL, "changed: its page tree", false},
    {"resources of a page", 3, "/Rotate", "/Resources<<>>/Rotate", NULL, "changed: page 1: what its content draws with",
     false},
    {"rotation", 3, "/Rotate 0", "/Rotate 180", NULL, "changed: page 1: its size or rotation", false},
    {"size of all pages", 2, "612 792", "612 100", NULL, "changed: its page tree", false},
    {"order of pages", 2, "3 0 R 4 0 R", "4 0 R 3 0 R", NULL, "changed: its page tree", false},
    {"another page tree", 1, "/Pages 2 0 R", "/Pages 60 0 R",
     "<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 612 792]>>", "changed: its catalog: /Pages", false},
    {"an annotation", 8, "]", " 60 0 R]", "<</Type/Annot/Subtype/Square/Rect[0 0 600 700]/IC[1 1 1]>>",
     "changed: page 1: an annotation or form field", false},
    {"an annotation less", 4, " 21 0 R", "", NULL, "changed: page 2: an annotation or form field", false},
    {"an annotation moved", 21, "[0 0 9 9]", "[0 0 600 600]", NULL, "changed: page 2: an annotation or form field",
     false},
    {"a script", 1, "/Names <<", "/OpenAction<</S/JavaScript/JS(x)>>/Names<<", NULL,
     "changed: its catalog: /OpenAction", false},
    {"names", 20, "(a)", "(b)", NULL, "changed: its catalog: /Names", false},
    {"layers", 1, "/Names <<", "/OCProperties<</OCGs[]/D<<>>>>/Names <<", NULL, "changed: its catalog: /OCProperties",
     false},
    {"an order of calculation", 9, "/DA", "/CO[]/DA", NULL, "changed: its form: /CO", false},
    {"fields drawn again", 9, "/DA", "/NeedAppearances true/DA", NULL, "changed: its form: /NeedAppearances", true},
    {"a font of fields replaced", 9, "/Helv 7 0 R", "/Helv 17 0 R", NULL, "changed: its form: /DR", true},
    {"a field less", 9, "10 0 R ", "", NULL, "changed: its form: a field is missing", false},
    {"a new text field", 9, "10 0 R", "60 0 R 10 0 R", "<</Type/Annot/Subtype/Widget/FT/Tx/T(evil)/Rect[0 0 9 9]>>",
     "changed: the new form field \"evil\"", false},
    {"a new signature field with a script", 9, "10 0 R", "60 0 R 10 0 R",
     "<</Type/Annot/Subtype/Widget/FT/Sig/T(evil)/Rect[0 0 0 0]/AA<</E<</S/JavaScript/JS(x)>>>>>>",
     "changed: the new form field \"evil\"", true},
    {"a new button", 9, "10 0 R", "60 0 R 10 0 R",
     "<</Type/Annot/Subtype/Widget/FT/Btn/Ff 65537/H/N/T(Signature_ann_9)/Rect[0 0 9 9]>>",
     "changed: the new form field \"Signature_ann_9\"", false},
    {"a new signature field", 9, "10 0 R", "60 0 R 10 0 R",
     "<</Type/Annot/Subtype/Widget/FT/Sig/T(new)/Rect[0 0 0 0]>>", "signed", false},
    {"a signature field of a name that is taken", 9, "10 0 R", "60 0 R 10 0 R",
     "<</Type/Annot/Subtype/Widget/FT/Sig/T(amount)/Rect[0 0 0 0]>>", "changed: the new form field \"amount\"", false},
    {"a text filled in", 10, "/V(1)", "/V(1000000)", NULL, "signed, filled: amount", false},
    {"with a new appearance", 10, "/V(1)/DA(/Helv 9 Tf)/F 4/Rect[9 9 99 29]/P 3 0 R/AP<</N 15 0 R>>",
     "/V(2)/DA(/Helv 9 Tf)/F 4/Rect[9 9 99 29]/P 3 0 R/AP<</N 60 0 R>>", FORM, "signed, filled: amount", false},
    {"a check mark", 11, "/V/Off/AS/Off", "/V/Yes/AS/Yes", NULL, "signed, filled: check", false},
    {"an appearance without a value", 10, "/N 15", "/N 60", FORM, "changed: the form field \"amount\": /AP", true},
    {"an appearance in its place", 15, "(1)", "(9)", NULL, "changed: page 2: an annotation or form field", false},
    {"the place of a field", 10, "[9 9 99 29]", "[0 0 600 700]", NULL, "changed: the form field \"amount\": /Rect",
     false},
    {"the parent of a field", 10, "/F 4", "/F 4/Parent 60 0 R", "<</Kids[10 0 R]>>",
     "changed: the form field \"amount\": /Parent", false},
    {"the kids of a field", 10, "/F 4", "/F 4/Kids[]", NULL, "changed: the form field \"amount\": /Kids", false},
    {"the font of a field", 10, "9 Tf", "1 Tf", NULL, "changed: the form field \"amount\": /DA", true},
    {"the title of a field", 10, "/F 4", "/F 4/TU(x)", NULL, "changed: the form field \"amount\": /TU", false},
    {"a script of a field", 10, "/V(1)", "/V(2)/AA<<>>", NULL, "changed: the form field \"amount\": /AA", false},
    {"a hidden field shown", 14, "/F 2/V(hidden)", "/F 4/V(seen)", NULL, "changed: the form field \"note\": /F", true},
    {"the face of a button", 13, "/N 15", "/N 60", FORM, "changed: the form field \"push\": /AP", true},
    {"the kind of a field", 13, "/FT/Btn", "/FT/Tx", NULL, "changed: the form field \"push\": /FT", false},
    {"the place of an empty signature field", 12, "[300 100 500 150]", "[0 0 600 700]", NULL,
     "changed: the form field \"empty\": /Rect", false},
    {"title", 19, "contract", "agreement", NULL, "signed", false},
    {"metadata", 18, "></x:", "></x:", "<</X 1>>", "signed", false},
    {"metadata elsewhere", 1, "/Metadata 18", "/Metadata 60",
     "<</Type/Metadata/Subtype/XML/Length 48>>stream\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>\nendstream",
     "signed", false},
    {"validation data", 1, "/Names <<", "/DSS<</Certs[60 0 R]>>/Names<<", "<</Length 1>>stream\nx\nendstream", "signed",
     false},
    {"validation data that is none", 1, "/Names <<", "/DSS<</Foo[60 0 R]>>/Names<<",
     "<</Length 1>>stream\nx\nendstream", "changed: its validation data (DSS)", false},
    {"an extension level", 1, "/ExtensionLevel 2", "/ExtensionLevel 5", NULL, "signed", false},
    {"the language", 1, "/Names <<", "/Lang(de)/Names <<", NULL, "changed: its catalog: /Lang", false},
    {"a page written again", 4, "612.00", "612.0", NULL, "signed", false},
};
#define CASE_COUNT (sizeof CASES / sizeof *CASES)

static pdf_t ann; /* a contract that Ann has signed in two places */

static pdf_t copy(const pdf_t *pdf)
{
    pdf_t made = *pdf;
    made.data = NULL;
    made.size = made.room = 0;
    pdf_add(&made, pdf->data, pdf->size);
    return made;
}

static void test_cases(void)
{
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const case_t *one = &CASES[i];
        apr_pool_t *pool;
        apr_pool_create(&pool, bench.pool);
        pdf_t pdf = copy(&ann);
        changes_alter(&pdf, one->object, one->what, one->with, one->more);
        const char *said = changes_said(&pdf, pool);
        ok(!strncmp(said, "extended", 8), "%s: unsigned, it is extended (%s)", one->name, said);
        changes_sign(&pdf, "mallory", 1, pool);
        is_str(changes_said(&pdf, pool), one->says, "%s", one->name);
        seal_write(&bench, apr_psprintf(pool, "case-%02d.pdf", (int)i), pdf.data, pdf.size);
        free(pdf.data);
        apr_pool_destroy(pool);
    }
}

/* ------------------------------------------------------------------------------------------- our own documents */

static void test_ours(void)
{
    pdf_t pdf = copy(&ann);
    for (char name[] = "bob"; name[0] < 'l'; name[0]++) {
        changes_sign(&pdf, name, 1 + name[0] % 3, bench.pool);
        is_str(changes_said(&pdf, bench.pool), "signed", "and %s, in up to three places", name);
    }
    free(pdf.data);
}

/* Changes before the first signature are covered by it. */
static void test_before(void)
{
    pdf_t pdf = changes_contract();
    changes_alter(&pdf, 5, "", EVIL, NULL);
    changes_sign(&pdf, "ann", 1, bench.pool);
    is_str(changes_said(&pdf, bench.pool), "signed", "an update before the first signature");
    free(pdf.data);
}

/* --------------------------------------------------------------------------------- what readers see in two ways */

static void check_raw(pdf_t *pdf, const char *says, const char *name)
{
    changes_sign(pdf, "mallory", 1, bench.pool);
    is_str(changes_said(pdf, bench.pool), says, "%s", name);
    free(pdf->data);
}

/* An update with a table that is given as text; "@" stands for the offset of the new object. */
static pdf_t with_table(const char *object, const char *table, const char *trailer)
{
    pdf_t pdf = copy(&ann);
    size_t previous = sign_start(&pdf), at = pdf.size, start;
    pdf_print(&pdf, "%s\nendobj\n", object);
    start = pdf.size;
    for (; *table; table++)
        if (*table == '@') pdf_print(&pdf, "%010zu", at);
        else pdf_add(&pdf, table, 1);
    pdf_print(&pdf, "trailer\n<</Size %d/Root 1 0 R/Info 19 0 R/Prev %zu%s>>\nstartxref\n%zu\n%%%%EOF\n",
              CHANGES_NEW + 2, previous, trailer, start);
    return pdf;
}

static void test_tables(void)
{
#define TABLE "changed: the table of its objects: readers may see different ones"
#define OBJECTS "changed: its objects: readers may see different ones"
    pdf_t pdf = with_table("5 1 obj\n" EVIL, "xref\n5 1\n@ 00001 n \n", "");
    check_raw(&pdf, TABLE, "another generation");
    pdf = with_table("60 0 obj\n<<>>", "xref\n5 2\n0000000000 00001 f \n0000000000 00001 f \n60 1\n@ 00000 n \n", "");
    check_raw(&pdf, CONTENT, "freed objects");
    pdf = with_table("5 0 obj\n" EVIL, "xref\n60 1\n@ 00000 n \n5 1\n@ 00000 n \n60 1\n@ 00000 n \n", "");
    check_raw(&pdf, OBJECTS, "a number that is named twice");

    pdf = copy(&ann); /* a hybrid: only some readers look at the stream */
    size_t at = pdf.size;
    pdf_print(&pdf, "5 0 obj\n%s\nendobj\n", EVIL);
    size_t stream = pdf.size;
    pdf_print(&pdf, "60 0 obj\n<</Type/XRef/Size 62/W[1 4 1]/Index[5 1]/Length 6>>stream\n");
    pdf_add(&pdf, (const char[]){1, 0, 0, (char)(at >> 8), (char)at, 0}, 6);
    pdf_print(&pdf, "\nendstream\nendobj\n");
    size_t previous = sign_start(&ann), start = pdf.size;
    pdf_print(&pdf, "xref\n0 0\ntrailer\n<</Size 62/Root 1 0 R/Prev %zu/XRefStm %zu>>\nstartxref\n%zu\n%%%%EOF\n",
              previous, stream, start);
    check_raw(&pdf, TABLE, "a hybrid");

    pdf = copy(&ann);
    at = pdf.size;
    pdf_print(&pdf, "60 0 obj\n<<>>\nendobj\n");
    stream = pdf.size;
    pdf_print(&pdf, "61 0 obj\n<</Type/XRef/Size 62/W[1 4 1]/Index[60 1]/Length 6>>stream\n");
    pdf_add(&pdf, (const char[]){1, 0, 0, (char)(at >> 8), (char)at, 0}, 6);
    pdf_print(&pdf, "\nendstream\nendobj\n");
    start = pdf.size;
    pdf_print(&pdf, "xref\n60 2\n%010zu 00000 n \n%010zu 00000 n \n", at, stream);
    pdf_print(&pdf, "trailer\n<</Size 62/Root 1 0 R/Prev %zu/XRefStm %zu>>\nstartxref\n%zu\n%%%%EOF\n", previous,
              stream, start);
    pdf.count = 61;
    check_raw(&pdf, "signed", "a hybrid whose stream repeats what its table says");
}

/* ----------------------------------------------------------------------------------------------- what is covered */

#define COVERS ", which covers what was signed"
static const struct {
    const char *name, *rect, *draws;
    bool covers;
} COVERED[] = {
    {"white over a text", "60 590 400 740", "1 g 0 0 340 150 re f", true},
    {"black over a text", "60 590 400 740", "0 0 340 150 re f", true},
    {"white over a letter", "70 694 82 720", "1 g 0 0 12 26 re f", true},
    {"white over nothing", "300 300 400 400", "1 g 0 0 100 100 re f", false},
    {"a pen over a text", "60 590 400 740", "0 0 .6 RG 1 w 0 100 m 340 140 l S", false},
};

static void put_object(pdf_t *pdf, int number, const char *what, const char *with)
{
    char *text = changes_text(pdf, number), *at = strstr(text, what);
    if (!at) abort();
    sign_object(pdf, number);
    pdf_print(pdf, "%.*s%s%s\nendobj\n", (int)(at - text), text, with, at + strlen(what));
    free(text);
}

/* An update with a visible field that no seal of this service has made. */
static void test_covered(size_t row)
{
    static const int numbers[] = {8, 9, 60, 61};
    pdf_t pdf = copy(&ann);
    const size_t previous = sign_start(&pdf);
    put_object(&pdf, 8, "[", "[60 0 R ");
    put_object(&pdf, 9, "/Fields[", "/Fields[60 0 R ");
    sign_object(&pdf, 60);
    pdf_print(&pdf, "<</Type/Annot/Subtype/Widget/FT/Sig/T(new)/F 4/P 3 0 R/Rect[%s]/AP<</N 61 0 R>>>>\nendobj\n",
              COVERED[row].rect);
    sign_object(&pdf, 61);
    double side[4];
    sscanf(COVERED[row].rect, "%lf %lf %lf %lf", &side[0], &side[1], &side[2], &side[3]);
    pdf_print(&pdf, "<</Type/XObject/Subtype/Form/BBox[0 0 %g %g]/Length %zu>>stream\n%s\nendstream\nendobj\n",
              side[2] - side[0], side[3] - side[1], strlen(COVERED[row].draws), COVERED[row].draws);
    sign_update(&pdf, numbers, 4, previous);
    changes_sign(&pdf, "mallory", 1, bench.pool);
    const char *text = apr_psprintf(bench.pool, "page 1: the signature field \"new\" at %s", COVERED[row].rect);
    const char *says = COVERED[row].covers ? apr_pstrcat(bench.pool, "changed: ", text, COVERS, NULL) : "signed";
    is_str(changes_said(&pdf, bench.pool), says, "%s", COVERED[row].name);

    static const sr_cms_context_t context;
    sr_pdf_verification_t found;
    const int fd = help_descriptor(pdf.data, pdf.size);
    if (sr_pdf_verify(&found, bench.workers, fd, (apr_off_t)pdf.size, &context, bench.pool)) abort();
    close(fd);
    bool named = false;
    for (const char *const *drawn = found.signatures[0].drawn; drawn && *drawn; drawn++)
        named = named || !strcmp(*drawn, text);
    ok(named, "%s: it is named", COVERED[row].name);
    free(pdf.data);
}

/* A visible field with many widgets over nothing, in a document with a long table. Reading the table for each widget
 * would take longer than is permitted. */
static void test_many_widgets(void)
{
    enum { FREE = 120000, WIDGETS = 40, FIRST = 1000 };
    pdf_t pdf = changes_contract();
    size_t previous = sign_start(&pdf), start = pdf.size;
    pdf_print(&pdf, "xref\n%d %d\n", FIRST + WIDGETS, FREE);
    for (int i = 0; i < FREE; i++) pdf_print(&pdf, "0000000000 00001 f \n");
    pdf_print(&pdf, "trailer\n<</Size %d/Root 1 0 R/Prev %zu>>\nstartxref\n%zu\n%%%%EOF\n", FIRST + WIDGETS + FREE,
              previous, start);
    changes_sign(&pdf, "ann", 1, bench.pool);

    pdf_t kids = {0}, table = {0};
    for (int i = 0; i < WIDGETS; i++) pdf_print(&kids, "%d 0 R ", FIRST + i);
    previous = sign_start(&pdf);
    put_object(&pdf, 8, "[", apr_psprintf(bench.pool, "[%s", kids.data));
    put_object(&pdf, 9, "/Fields[", "/Fields[60 0 R ");
    sign_object(&pdf, 60);
    pdf_print(&pdf, "<</FT/Sig/T(new)/Kids[%s]>>\nendobj\n", kids.data);
    pdf_print(&table, "xref\n");
    for (int i = 0; i < 3; i++)
        pdf_print(&table, "%d 1\n%010zu 00000 n \n", (int[]){8, 9, 60}[i], pdf.offset[(int[]){8, 9, 60}[i]]);
    pdf_print(&table, "%d %d\n", FIRST, WIDGETS);
    for (int i = 0; i < WIDGETS; i++) {
        pdf_print(&table, "%010zu 00000 n \n", pdf.size);
        pdf_print(&pdf,
                  "%d 0 obj\n<</Type/Annot/Subtype/Widget/Parent 60 0 R/F 4/P 3 0 R/Rect[300 300 310 310]>>\nendobj\n",
                  FIRST + i);
    }
    start = pdf.size;
    pdf_add(&pdf, table.data, table.size);
    pdf_print(&pdf, "trailer\n<</Size %d/Root 1 0 R/Prev %zu>>\nstartxref\n%zu\n%%%%EOF\n", FIRST + WIDGETS + FREE + 99,
              previous, start);
    changes_sign(&pdf, "mallory", 1, bench.pool);
    if (!skip_if_sanitized()) is_str(changes_said(&pdf, bench.pool), "signed", "many widgets that cover nothing");
    free(kids.data);
    free(table.data);
    free(pdf.data);
}

/* What was signed refers to an object that does not exist yet, or that begins behind what was signed. */
static void test_prepared(void)
{
    pdf_t pdf = changes_contract();
    changes_alter(&pdf, 3, "6 0 R]", "6 0 R 61 0 R]", NULL);
    changes_sign(&pdf, "ann", 1, bench.pool);
    changes_sign(&pdf, "bob", 1, bench.pool);
    is_str(changes_said(&pdf, bench.pool), "signed", "a reference to nothing");
    size_t previous = sign_start(&pdf);
    sign_object(&pdf, 61);
    pdf_print(&pdf, "%s\nendobj\n", EVIL);
    pdf.count = 63;
    sign_update(&pdf, (const int[]){61}, 1, previous);
    check_raw(&pdf, CONTENT, "which exists later");

    pdf = changes_contract();
    size_t far = 200000;
    changes_alter(&pdf, 3, "6 0 R]", "6 0 R 60 0 R]", "<<>>");
    char *entry = memmem(pdf.data, pdf.size, "\n60 1\n", 6);
    char digits[11];
    snprintf(digits, sizeof digits, "%010zu", far);
    if (!entry) abort();
    memcpy(entry + 6, digits, 10);
    changes_sign(&pdf, "ann", 1, bench.pool);
    pdf_print(&pdf, "%%%*s\n", (int)(far - pdf.size) - 2, "");
    pdf_print(&pdf, "60 0 obj\n%s\nendobj\n", EVIL);
    previous = sign_start(&pdf);
    sign_object(&pdf, 10);
    pdf_print(&pdf, "<</Type/Annot/Subtype/Widget/FT/Tx/T(amount)/V(2)/DA(/Helv 9 Tf)/F 4/Rect[9 9 99 29]/P 3 0 R"
                    "/AP<</N 15 0 R>>>>\nendobj\n");
    pdf.count = 63;
    sign_update(&pdf, (const int[]){10}, 1, previous);
    check_raw(&pdf, OBJECTS, "an object that began behind what was signed");
}

/* An object that a page draws and a form fills at once is no field: its change has more than one meaning. */
static void test_double_roles(void)
{
    static const struct {
        int object;
        const char *what, *with;
        int changed;
        const char *before, *after, *says, *name;
    } cases[] = {
        {2, "/XObject<</X1 16 0 R>>", "/XObject 10 0 R", 10, "/V(1)", "/V(2)", "changed: its page tree",
         "a field as resources"},
        {2, "/X1 16 0 R", "/X1 16 0 R/M 18 0 R", 18, "adobe", "evils", "changed: its catalog: /Metadata",
         "metadata that is drawn"},
        {2, "/X1 16 0 R", "/X1 16 0 R/I 19 0 R", 19, "contract", "a", "changed: its page tree", "a title that is used"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pdf_t pdf = changes_contract();
        changes_alter(&pdf, cases[i].object, cases[i].what, cases[i].with, NULL);
        changes_sign(&pdf, "ann", 1, bench.pool);
        changes_alter(&pdf, cases[i].changed, cases[i].before, cases[i].after, NULL);
        changes_sign(&pdf, "mallory", 1, bench.pool);
        const char *said = changes_said(&pdf, bench.pool);
        ok(!strncmp(said, cases[i].says, strlen(cases[i].says)), "%s: %s", cases[i].name, said);
        free(pdf.data);
    }
}

/* ------------------------------------------------------------------------------------------------- another judge */

static bool is_fine(const char *line, apr_pool_t *pool)
{
    json_t *response;
    size_t i;
    const json_t *one;
    if (sr_json_parse(&response, line, strlen(line), pool)) return false;
    json_array_foreach (json_object_get(response, "signatures"), i, one)
        if (!json_is_true(json_object_get(one, "docmdp_ok")) || json_object_get(one, "error")) return false;
    return !json_object_get(response, "error");
}

static void test_judge(void)
{
    int status;
    char *state;
    const char *answer = seal_pyhanko(&status, &bench, "case-*.pdf", bench.pool);
    if (!answer) return;
    char *said = apr_pstrdup(bench.pool, answer);
    size_t agreed = 0, at = 0;
    for (char *line = apr_strtok(said, "\n", &state); line && at < CASE_COUNT;
         line = apr_strtok(NULL, "\n", &state), at++) {
        bool ours = !strncmp(CASES[at].says, "signed", 6), theirs = is_fine(line, bench.pool);
        bool good = CASES[at].stricter ? !ours : ours == theirs;
        if (good) agreed++;
        else printf("# %s: here %s, there %.300s\n", CASES[at].name, CASES[at].says, line);
    }
    is_int(agreed, CASE_COUNT, "pyHanko says the same of all cases, but for those in which it allows more");
}

int main(void)
{
    bench = seal_begin(8000);
    ann = changes_contract();
    changes_sign(&ann, "ann", 2, bench.pool);
    is_str(changes_said(&ann, bench.pool), "signed", "a contract that Ann has signed");
    test_cases();
    test_ours();
    test_before();
    test_tables();
    for (size_t i = 0; i < sizeof COVERED / sizeof *COVERED; i++) test_covered(i);
    test_many_widgets();
    test_prepared();
    test_double_roles();
    test_judge();
    is_int(help_notices, 0, "no worker died of any of it%s%s", help_notices ? ": " : "", help_last_notice);
    free(ann.data);
    return seal_end(&bench);
}
