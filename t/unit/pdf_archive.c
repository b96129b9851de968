/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_archive.c: PDF/A and PDF/UA survive signing. Documents that claim to be such are signed with each kind of
 * signature, and then the rules that signing could break are checked on what qpdf reads: those of ISO 19005-1
 * (PDF/A-1), ISO 19005-2 (PDF/A-2) and ISO 14289-1 (PDF/UA-1), named as veraPDF names them. */
#include "pdf_seal.h"

#include <openssl/evp.h>

#define XMP                                                                                                            \
    "<<%s/Type/Metadata/Subtype/XML/Length %d>>stream\n<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>"             \
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"            \
    "<rdf:Description xmlns:pdfaid='http://www.aiim.org/pdfa/ns/id/' pdfaid:part='2'/></rdf:RDF></x:xmpmeta>"          \
    "<?xpacket end='w'?>\nendstream"

static seal_bench_t bench;

typedef struct case_t {
    const char *name, *root, *kids, *tree; /* objects 4, 5, 6 and 7; root NULL: it is not tagged */
    const char *more;
    const char *page;
} case_t;

#define DOCUMENT "<</Type/StructElem/S/Document/P 4 0 R/K[7 0 R]>>"
#define PARAGRAPH "<</Type/StructElem/S/P/P 5 0 R/Pg 3 0 R/K 0>>"

static const case_t CASES[] = {
    {"untagged", NULL, "null", "null", "null", ""},
    {"tagged", "<</Type/StructTreeRoot/K 5 0 R/ParentTree 6 0 R/ParentTreeNextKey 1>>", DOCUMENT, "<</Nums[0[7 0 R]]>>",
     PARAGRAPH, "/StructParents 0"},
    {"an array of one, and no next key", "<</Type/StructTreeRoot/K[5 0 R]/ParentTree 6 0 R>>", DOCUMENT,
     "<</Nums[3[7 0 R]]>>", PARAGRAPH, "/StructParents 3/Tabs/S"},
    {"another name for the document", "<</Type/StructTreeRoot/K 5 0 R/ParentTree 6 0 R/RoleMap<</Book/Document>>>>",
     "<</Type/StructElem/S/Book/P 4 0 R/K 7 0 R>>", "<</Nums[0[7 0 R]]>>", PARAGRAPH, "/StructParents 0"},
    {"elements in the root", "<</Type/StructTreeRoot/K[7 0 R 5 0 R]/ParentTree 6 0 R>>",
     "<</Type/StructElem/S/P/P 4 0 R/K[]>>", "<</Nums[0[7 0 R]]>>", "<</Type/StructElem/S/P/P 4 0 R/Pg 3 0 R/K 0>>",
     "/StructParents 0"},
    {"a tree with leaves", "<</Type/StructTreeRoot/K 5 0 R/ParentTree 6 0 R/ParentTreeNextKey 5>>", DOCUMENT,
     "<</Kids[8 0 R]>>", PARAGRAPH, "/StructParents 0"},
    {"annotations in an array of their own", "<</Type/StructTreeRoot/K 5 0 R/ParentTree 6 0 R>>", DOCUMENT,
     "<</Nums[0[7 0 R]]>>", PARAGRAPH, "/StructParents 0/Annots 9 0 R"},
    {"an empty tree", "<</Type/StructTreeRoot/K 5 0 R/ParentTree 6 0 R>>", "<</Type/StructElem/S/Document/P 4 0 R>>",
     "<</Nums[]>>", "null", ""},
};

static pdf_t document_of(const case_t *test, bool claims)
{
    char page[200], catalog[200], xmp[1000];
    snprintf(page, sizeof page, "/MediaBox[0 0 612 792]%s", test->page);
    snprintf(xmp, sizeof xmp, XMP, "", (int)sizeof XMP - 68 - 5);
    const char *from = strstr(xmp, "stream\n") + 7, *to = strstr(xmp, "\nendstream");
    snprintf(xmp, sizeof xmp, XMP, "", (int)(to - from));
    snprintf(catalog, sizeof catalog, "%s%s", claims ? "/Metadata 10 0 R" : "",
             test->root ? "/StructTreeRoot 4 0 R/MarkInfo<</Marked true>>/Lang(en)" : "");
    return pdf_document(&(pdf_parts_t){.pages = 1,
                                       .page = page,
                                       .catalog = catalog,
                                       .objects = {test->root ? test->root : "null", test->kids, test->tree, test->more,
                                                   "<</Limits[0 0]/Nums[0[7 0 R]]>>", "[]", xmp}});
}

/* --------------------------------------------------------------------------------------------- what qpdf reads */

typedef struct file_t {
    const json_t *objects; /* by "obj:1 0 R" */
    apr_pool_t *pool;
} file_t;

static const json_t *resolve(const file_t *file, const json_t *value)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) < 5 || strcmp(text + strlen(text) - 2, " R") != 0) return value;
    const json_t *object = json_object_get(file->objects, apr_pstrcat(file->pool, "obj:", text, NULL));
    const json_t *stream = json_object_get(object, "stream");
    return stream ? json_object_get(stream, "dict") : json_object_get(object, "value");
}

static const json_t *get(const file_t *file, const json_t *dictionary, const char *key)
{
    return resolve(file, json_object_get(dictionary, key));
}

static bool is(const file_t *file, const json_t *dictionary, const char *key, const char *text)
{
    const char *value = json_string_value(get(file, dictionary, key));
    return value && !strcmp(value, text);
}

static bool has_item(const json_t *array, const char *reference)
{
    size_t i;
    const json_t *item;
    if (json_is_string(array)) return !strcmp(json_string_value(array), reference);
    json_array_foreach (array, i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), reference)) return true;
    return false;
}

/* The value of a key in a number tree. */
static const json_t *find_number(const file_t *file, const json_t *node, json_int_t key)
{
    size_t i;
    const json_t *kid, *numbers = get(file, node, "/Nums"), *found;
    for (i = 0; i + 1 < json_array_size(numbers); i += 2)
        if (json_integer_value(json_array_get(numbers, i)) == key) return json_array_get(numbers, i + 1);
    json_array_foreach (get(file, node, "/Kids"), i, kid)
        if ((found = find_number(file, resolve(file, kid), key))) return found;
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- the rules */

/* ISO 19005-2, 6.3.3; ISO 19005-2, 6.3.2 (flags); ISO 14289-1, 7.18.1 (TU). */
static bool is_good_widget(const file_t *file, const json_t *widget)
{
    const json_t *look = get(file, widget, "/AP");
    const char *stream = json_string_value(json_object_get(look, "/N"));
    const json_t *object = json_object_get(file->objects, apr_pstrcat(file->pool, "obj:", stream, NULL));
    const json_int_t flags = json_integer_value(get(file, widget, "/F"));
    const char *label = json_string_value(get(file, widget, "/TU"));
    return json_object_size(look) == 1 && json_object_get(object, "stream") && is(file, widget, "/FT", "/Sig")
           && (flags & 4) && !(flags & (1 | 2 | 32 | 256)) && label && strlen(label) > 2;
}

/* ISO 14289-1, 7.18.4: in a Form element, alone. */
static bool is_in_form(const file_t *file, const char *reference, const json_t *widget, const json_t *root)
{
    const json_t *key = get(file, widget, "/StructParent");
    const json_t *element =
        json_is_integer(key) ? find_number(file, get(file, root, "/ParentTree"), json_integer_value(key)) : NULL;
    const char *name = json_string_value(element);
    element = resolve(file, element);
    const json_t *parent = get(file, element, "/P"), *kid = get(file, element, "/K");
    const char *object = json_string_value(json_object_get(kid, "/Obj"));
    return is(file, element, "/S", "/Form") && is(file, kid, "/Type", "/OBJR") && object && !strcmp(object, reference)
           && has_item(json_object_get(parent, "/K"), name)
           && json_integer_value(get(file, root, "/ParentTreeNextKey")) > json_integer_value(key);
}

static const char *content_of(const json_t *stream, apr_pool_t *pool)
{
    const char *digits = json_string_value(json_object_get(stream, "data"));
    unsigned char *data = apr_pcalloc(pool, strlen(digits) + 4);
    EVP_DecodeBlock(data, (const unsigned char *)digits, (int)strlen(digits));
    return (const char *)data;
}

/* ISO 19005-1, 6.3.4; ISO 19005-2, 6.2.11.4: a font that is not embedded is used for text that is not painted alone. */
static bool is_hidden(const char *content)
{
    return seal_count(content, " Tj") == 1 && strstr(content, "BDC BT 3 Tr /F 1 Tf ") != NULL
           && seal_count(content, " Tr ") == 1;
}

/* ISO 19005-1, 6.2.3.3; ISO 19005-2, 6.2.4.3: no colours of a device. ISO 19005-1, 6.4: no soft masks. */
static bool is_good_stream(const file_t *file, const json_t *stream)
{
    const json_t *dictionary = json_object_get(stream, "dict"), *space = get(file, dictionary, "/ColorSpace");
    if (!json_is_null(json_object_get(dictionary, "/SMask")) && json_object_get(dictionary, "/SMask")) return false;
    if (is(file, dictionary, "/Subtype", "/Image"))
        return json_is_true(get(file, dictionary, "/ImageMask")) || json_is_array(space);
    if (!is(file, dictionary, "/Subtype", "/Form")) return true;
    const char *content = content_of(stream, file->pool);
    const json_t *fonts = get(file, get(file, dictionary, "/Resources"), "/Font");
    if (fonts && !is_hidden(content)) return false;
    if (!strstr(content, "rg\n") && !strstr(content, "RG ") && !strstr(content, "rg ")) return true;
    return json_is_array(get(file, get(file, get(file, dictionary, "/Resources"), "/ColorSpace"), "/DefaultRGB"));
}

static file_t read_file(const pdf_t *pdf, apr_pool_t *pool)
{
    int status;
    json_t *json;
    file_t file = {.pool = pool};
    seal_write(&bench, "archive.pdf", pdf->data, pdf->size);
    const char *said = seal_run(&status, &bench, pool,
                                "qpdf --json=2 --json-stream-data=inline --decode-level=generalized archive.pdf");
    if (status || sr_json_parse(&json, said, strlen(said), pool)) printf("# %.300s\n", said);
    else file.objects = json_array_get(json_object_get(json, "qpdf"), 1);
    return file;
}

static void check(const pdf_t *pdf, bool archival, bool tagged, const char *name, apr_pool_t *pool)
{
    const file_t file = read_file(pdf, pool);
    const json_t *catalog = get(&file, json_object_get(json_object_get(file.objects, "trailer"), "value"), "/Root");
    const json_t *root = get(&file, catalog, "/StructTreeRoot"), *object;
    int widgets = 0, good = 0, forms = 0, streams = 0, pages = 0;
    const char *key;
    json_object_foreach ((json_t *)file.objects, key, object) {
        const json_t *value = json_object_get(object, "value"), *stream = json_object_get(object, "stream");
        if (stream && !is_good_stream(&file, stream)) streams++;
        if (is(&file, value, "/Type", "/Page") && is(&file, value, "/Tabs", "/S")) pages++;
        if (!is(&file, value, "/Subtype", "/Widget")) continue;
        widgets++;
        good += is_good_widget(&file, value);
        forms += is_in_form(&file, key + strlen("obj:"), value, root);
    }
    is_int(widgets, 3, "%s: three widgets", name);
    is_int(good, widgets, "%s: their appearances, flags and labels (6.3.2, 6.3.3; 7.18.1)", name);
    if (archival) is_int(streams, 0, "%s: no colours of a device, no soft mask (6.2.4.3, 6.4)", name);
    if (!tagged) return;
    is_int(forms, widgets, "%s: each is in a Form element (7.18.4)", name);
    is_int(pages, 1, "%s: tabs follow the structure (7.18.3)", name);
}

/* ------------------------------------------------------------------------------------------------------- signing */

/* 2 x 2 pixels: black, half transparent blue, fully transparent, red. */
static const char PNG[] = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAE0lE"
                          "QVR4nGNgYGD4D0QNDAxQFgAi9AR9pK1QpwAAAABJRU5ErkJggg==";

static const char *sign(pdf_t *pdf, int kind, apr_pool_t *pool)
{
    const sr_pdf_field_t fields[] = {seal_field("ann", 0, 50, 50, 150, 90), seal_field("ann", 0, 50, 100, 150, 140),
                                     seal_field("bob", 0, 50, 200, 150, 240)};
    const char *reason = seal_prepare(&bench, pdf, fields, 3, pool);
    for (int i = 0; !reason && i < 2; i++) {
        sr_pdf_signature_t signature = {.signer = i ? "bob" : "ann", .name = "Ann", .time = apr_time_now()};
        unsigned char image[200];
        signature.test = kind < 2;
        if (kind == 1) signature.captions = help_captions("Caption", pool);
        if (kind == 0) signature.ink = seal_ink(SEAL_INK, pool);
        if (kind == 1) signature.text = "Ann Lee";
        if (kind == 2) signature.image = image;
        if (kind == 2)
            signature.image_size = (apr_size_t)EVP_DecodeBlock(image, (const unsigned char *)PNG, sizeof PNG - 1) - 2;
        reason = seal_fill(&bench, pdf, &signature, pool);
    }
    return reason;
}

static void test_case(const case_t *test, bool claims, int kind)
{
    static const char *const kinds[] = {"drawn", "typed", "an image"};
    apr_pool_t *pool;
    int status;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = document_of(test, claims);
    const char *name = apr_psprintf(pool, "%s%s, %s", test->name, claims ? ", PDF/A" : "", kinds[kind]);
    const char *reason = sign(&pdf, kind, pool);
    is_str(reason, NULL, "%s: signed (%s)", name, help_last_notice);
    if (!reason) check(&pdf, claims, test->root != NULL, name, pool);
    const char *said = seal_run(&status, &bench, pool, "qpdf --check archive.pdf");
    is_int(status, 0, "%s: qpdf has nothing to say", name);
    if (status) printf("# %s\n", said);
    reason = reason ? NULL : seal_pdfsig(&bench, "archive.pdf", 2, pool);
    is_str(reason, NULL, "%s: pdfsig agrees", name);
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* The extension that declares PAdES signatures is for files of version 1.7: older ones must not name a later version,
 * and newer ones need none. */
static void test_extension(void)
{
    static const struct {
        const char *header, *catalog, *name;
        int levels, others;
    } cases[] = {{"%PDF-1.7", "", "1.7", 1, 0},
                 {"%PDF-1.4", "", "1.4", 0, 0},
                 {"%PDF-1.4", "/Version/1.7", "1.7 in the catalog alone", 0, 0},
                 {"%PDF-1.7", "/Version/2.0", "2.0 in the catalog", 0, 0},
                 {"%PDF-2.0", "", "2.0", 0, 0},
                 {"%PDF-1.7", "/AcroForm 4 0 R", "a form that is an object", 1, 0},
                 {"%PDF-1.7", "/AcroForm<</Fields[]>>", "a form in the catalog", 1, 0},
                 {"%PDF-1.7", "/Extensions<</ADBE<</BaseVersion/1.7/ExtensionLevel 8>>>>", "another extension", 1, 1},
                 {"%PDF-1.7", "/Extensions<</ESIC<</BaseVersion/1.7/ExtensionLevel 5>>>>", "a higher level", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1, .catalog = cases[i].catalog, .objects = {"<</Fields[]>>"}});
        memcpy(pdf.data, cases[i].header, strlen(cases[i].header));
        is_str(sign(&pdf, 0, bench.pool), NULL, "%s: signed", cases[i].name);
        const file_t file = read_file(&pdf, bench.pool);
        const json_t *catalog = get(&file, json_object_get(json_object_get(file.objects, "trailer"), "value"), "/Root");
        const json_t *all = get(&file, catalog, "/Extensions");
        is_int(json_object_get(all, "/ESIC") != NULL, cases[i].levels, "%s: declared, or not", cases[i].name);
        is_int(json_object_get(all, "/ADBE") != NULL, cases[i].others, "%s: and the others", cases[i].name);
        is_str(seal_pdfsig(&bench, "archive.pdf", 2, bench.pool), NULL, "%s: pdfsig agrees", cases[i].name);
        free(pdf.data);
    }
}

/* Tags would be a change that no rule explains. */
static void test_signed_before(void)
{
    pdf_t pdf = document_of(&CASES[1], true);
    const sr_pdf_field_t field = seal_field("carol", 0, 300, 50, 400, 90);
    const char *reason = sign(&pdf, 0, bench.pool);
    const size_t before = pdf.size;
    if (!reason) reason = seal_prepare(&bench, &pdf, &field, 1, bench.pool);
    is_str(reason, NULL, "a document that was signed before is prepared again");
    ok(!memmem(pdf.data + before, pdf.size - before, "/StructElem", 11),
       "a document that was signed before gets no tags");
    ok(!memmem(pdf.data + before, pdf.size - before, "/StructTreeRoot ", 16),
       "the catalog of a document that was signed before stays as it was");
    free(pdf.data);
}

/* A structure that cannot be read stays as it is. */
static void test_broken_tags(void)
{
    static const char *const trees[] = {"<</Nums[0 [7 0 R] 1]>>", "<</Nums[0 [7 0 R>>", "[]", "<</Kids[6 0 R]>>",
                                        "<</Nums[(a)[7 0 R]]>>"};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        case_t broken = CASES[1];
        broken.tree = trees[i];
        pdf_t pdf = document_of(&broken, false);
        const size_t before = pdf.size;
        is_str(sign(&pdf, 0, bench.pool), NULL, "a broken structure (%s): signed", trees[i]);
        ok(!memmem(pdf.data + before, pdf.size - before, "/StructElem", 11),
           "a document with a broken structure gets no tags");
        seal_write(&bench, "broken.pdf", pdf.data, pdf.size);
        is_str(seal_pdfsig(&bench, "broken.pdf", 2, bench.pool), NULL,
               "pdfsig accepts the signatures of a document with a broken structure");
        free(pdf.data);
    }
}

static long lmax(long a, long b)
{
    return a > b ? a : b;
}

/* What readers see of the image in PDF/A on a green page: what is opaque, what is half transparent as on white paper,
 * and the page where it is fully transparent. */
static void test_look(void)
{
    static const struct {
        int x, y;
        long colour;
        const char *name;
    } places[] = {{95, 717, 0x000000, "black"},
                  {105, 717, 0x7f7fff, "half transparent blue"},
                  {95, 727, 0x00ff00, "transparent"},
                  {105, 727, 0xff0000, "red"},
                  {85, 717, 0x00ff00, "the padding around the image"}};
    pdf_t pdf = pdf_document(
        &(pdf_parts_t){.pages = 1,
                       .page = "/MediaBox[0 0 612 792]/Contents 4 0 R",
                       .catalog = "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)>>]",
                       .objects = {"<</Length 27>>stream\n0 1 0 rg 0 0 612 792 re f  \nendstream"}});
    int status;
    is_str(sign(&pdf, 2, bench.pool), NULL, "an image in PDF/A: signed");
    seal_write(&bench, "look.pdf", pdf.data, pdf.size);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *said = seal_run(&status, &bench, bench.pool,
                                    "sh -c 'pdftoppm -r 72 -x %d -y %d -W 1 -H 1 look.pdf |"
                                    " tail -c 3 | od -An -tx1 | tr -d \" \"'",
                                    places[i].x, places[i].y);
        const long found = strtol(said, NULL, 16);
        long farthest = 0;
        for (int shift = 0; shift < 24; shift += 8)
            farthest = lmax(farthest, labs((found >> shift & 255) - (places[i].colour >> shift & 255)));
        ok(strlen(said) >= 6 && farthest < 8, "%s: %.6s", places[i].name, said);
    }
    free(pdf.data);
}

int main(void)
{
    bench = seal_begin(8000);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) test_case(&CASES[i], true, (int)i % 3);
    test_case(&CASES[1], false, 0);
    test_case(&CASES[0], false, 2);
    test_case(&CASES[0], true, 1);
    test_case(&CASES[0], true, 2);
    test_extension();
    test_signed_before();
    test_broken_tags();
    test_look();
    is_int(help_notices, 0, "no worker died of any of it%s%s", help_notices ? ": " : "", help_last_notice);
    return seal_end(&bench);
}
