/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_repair.c: documents that are damaged, or only odd. A repair that changes what a page shows is refused, and what
 * all readers see in one way is continued as it stands, with signatures in it too. */
#include "pdf_help.h"

static apr_pool_t *root;
static sr_pdf_pool_t *workers;

#define BOX "/MediaBox[0 0 200 300]"
#define RED "<</Length 29>>stream\n1 0 0 rg 20 20 160 160 re f\n \nendstream"
#define BLUE "<</Length 29>>stream\n0 0 1 rg 20 20 160 160 re f\n \nendstream"

/* The repair of a document, or why there is none. */
static const char *repaired(pdf_t *made, const pdf_t *pdf, apr_pool_t *pool)
{
    sr_pdf_rewritten_t *normalised = apr_pcalloc(pool, sizeof *normalised);
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_rewrite(normalised, workers, fd, (apr_off_t)pdf->size, pool);
    close(fd);
    if (error) return error->message;
    if (normalised->fault) return normalised->reason;
    char *bytes = apr_palloc(pool, (apr_size_t)normalised->document.size);
    if (sr_pdf_read(bytes, normalised->document.descriptor, 0, (apr_size_t)normalised->document.size, pool)) abort();
    made->size = 0;
    pdf_add(made, bytes, (size_t)normalised->document.size);
    return "repaired";
}

static void is_repaired(const pdf_t *pdf, const char *want, const char *name)
{
    apr_pool_t *pool;
    pdf_t made = {0};
    apr_pool_create(&pool, root);
    is_str(repaired(&made, pdf, pool), want, "%s", name);
    free(made.data);
    apr_pool_destroy(pool);
}

static void is_said(const pdf_t *pdf, const char *want, const char *name)
{
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, root);
    sr_error_t *error = help_probe(&probe, workers, pdf->data, pdf->size, pool);
    const char *said = help_say(error, &probe, pool);
    if (!error && probe.verdict == SR_PDF_ACCEPTED)
        said = apr_psprintf(pool, "%d pages%s%s", probe.pages->count, probe.pages->normalise ? ", to be repaired" : "",
                            probe.pages->signatures ? ", signed" : "");
    is_str(said, want, "%s", name);
    apr_pool_destroy(pool);
}

/* ---------------------------------------------------------------------------------------- what a repair may change */

/* Object 5 stands in front of the header, where readers do not agree on where offsets begin: poppler shows red, and
 * qpdf, which throws away what comes before the header, nothing. */
static void test_changed_page(void)
{
    pdf_t pdf = {0};
    size_t offset[6];
    pdf_print(&pdf, "%%PDF-1.\n\n");
    offset[5] = pdf.size;
    pdf_print(&pdf, "5 0 obj\n" RED "\nendobj\n\n");
    pdf_print(&pdf, "%%PDF-1.7\n");
    static const char *const objects[] = {NULL, "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
                                          // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one object
                                          "<</Type/Page/Parent 2 0 R" BOX "/Contents[4 0 R 5 0 R]>>", BLUE};
    for (int i = 1; i < 5; i++) {
        offset[i] = pdf.size;
        pdf_print(&pdf, "%d 0 obj\n%s\nendobj\n", i, objects[i]);
    }
    const size_t start = pdf.size;
    pdf_print(&pdf, "xref\n0 6\n0000000000 65535 f \n");
    for (int i = 1; i < 6; i++) pdf_print(&pdf, "%010zu 00000 n \n", offset[i]);
    pdf_print(&pdf, "trailer\n<</Size 6/Root 1 0 R>>\nstartxref\n%zu\n%%%%EOF\n", start);
    is_repaired(&pdf, "it is damaged, and its repair would change what page 1 shows", "an object before the header");
    free(pdf.data);
}

static const char WRITTEN[] = "<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/V(Written)/DA(/F 20 Tf 1 0 0 rg)"
                              "/Rect[10 10 190 90]/P 3 0 R>>";

static void test_same_page(void)
{
    pdf_t made = {0};
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 2, .page = BOX "/Contents 5 0 R", .objects = {RED}});
    pdf.size -= 18;
    is_repaired(&pdf, "repaired", "a document without an end shows what it showed");
    free(pdf.data);

    pdf = pdf_document(&(pdf_parts_t){
        .pages = 1,
        .page = BOX "/Annots[4 0 R]",
        .catalog = "/AcroForm<</Fields[4 0 R]/NeedAppearances true/DR<</Font<</F 5 0 R>>>>/DA(/F 12 Tf 0 g)>>",
        .objects = {WRITTEN, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"}});
    is_repaired(&pdf, "repaired", "a form that readers are to draw is drawn");
    free(pdf.data);
    free(made.data);
}

/* As many as there is time for are compared: the repair of a long document is no longer than that. */
static void test_long(void)
{
    pdf_t pdf = {0};
    const int pages = 2000;
    pdf_print(&pdf, "%%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count %d/Kids[",
              pages);
    for (int i = 0; i < pages; i++) pdf_print(&pdf, "%d 0 R ", i + 4);
    pdf_print(&pdf, "]>>endobj\n3 0 obj" RED "endobj\n");
    for (int i = 0; i < pages; i++)
        pdf_print(&pdf, "%d 0 obj<</Type/Page/Parent 2 0 R" BOX "/Contents 3 0 R>>endobj\n", i + 4);
    pdf_print(&pdf, "trailer<</Size %d/Root 1 0 R>>\n", pages + 4);
    is_repaired(&pdf, "repaired", "2,000 pages without a table");
    free(pdf.data);
}

/* ------------------------------------------------------------------------------------------- what is odd, no damage */

/* The same document with something put in front of its table. */
static pdf_t with_space(const pdf_t *pdf, const char *space)
{
    pdf_t made = {0};
    const char *table = strstr(pdf->data, "\nxref\n") + 1;
    pdf_add(&made, pdf->data, (size_t)(table - pdf->data));
    pdf_print(&made, "%s%s", space, table);
    return made;
}

#define SIGNED                                                                                                         \
    .catalog = "/AcroForm<</Fields[4 0 R]/SigFlags 3>>",                                                               \
    .objects = {"<</FT/Sig/T(s)/V 5 0 R>>",                                                                            \
                "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/ByteRange[0 1 2 3]/Contents<00>>>"}

static void test_space(void)
{
    static const char *const spaces[] = {"\n", " ", "\r\n", "  \t\n\n", "                                  \n"};
    pdf_t plain = pdf_document(&(pdf_parts_t){.pages = 1}), sealed = pdf_document(&(pdf_parts_t){.pages = 1, SIGNED});
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        pdf_t one = with_space(&plain, spaces[i]), other = with_space(&sealed, spaces[i]);
        is_said(&one, "1 pages", "white space before the table");
        is_said(&other, "1 pages, signed", "the same in a signed document");
        free(one.data);
        free(other.data);
    }
    pdf_t wrong = with_space(&plain, " x");
    is_said(&wrong, "1 pages, to be repaired", "anything else before it is damage");
    free(wrong.data);
    free(plain.data);
    free(sealed.data);
}

/* A document with space before its table is prepared as it stands. */
static void test_continued(void)
{
    apr_pool_t *pool;
    sr_pdf_update_t update = {0};
    sr_pdf_confirmed_t confirmed;
    apr_pool_create(&pool, root);
    pdf_t plain = pdf_document(&(pdf_parts_t){.pages = 1}), pdf = with_space(&plain, " \n ");
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_pdf_field_t));
    APR_ARRAY_PUSH(fields, sr_pdf_field_t) = (sr_pdf_field_t){.signer = "ann", .rect = {10, 10, 90, 40}};
    int fd = help_descriptor(pdf.data, pdf.size);
    sr_error_t *error = sr_pdf_prepare(&update, workers, fd, (apr_off_t)pdf.size, fields, pool);
    ok(!error && !update.fault, "a document with white space before its table is prepared: %s",
       update.reason ? update.reason : "");
    ok(update.length > 0 && pwrite(fd, update.bytes, update.length, (off_t)pdf.size) == (ssize_t)update.length,
       "and continued");
    error = sr_pdf_confirm(&confirmed, workers, fd, (apr_off_t)pdf.size, fields, pool);
    ok(!error && !confirmed.fault, "which another worker confirms");
    close(fd);
    free(plain.data);
    free(pdf.data);
    apr_pool_destroy(pool);
}

static void test_keys(void)
{
    static const struct {
        const char *page, *says, *name;
    } rows[] = {
        {BOX "/Type/Page", "1 pages, signed", "a key that is there twice with one value"},
        {BOX "/A<</B 1/B 1>>", "1 pages, signed", "one in a dictionary of the page"},
        {BOX "/Rotate 90/Rotate 90 /Rotate 90", "1 pages, signed", "one that is there three times"},
        {BOX "/Rotate 90/Rotate 180", "damaged", "a key with two values"},
        {BOX "/A 1/A 1/#41 2", "damaged", "a key with two values and two spellings"},
        {BOX "/A 1/A 1/A(x)", "damaged", "a key with three values"},
    };
    static const char damaged[] = "refused: it is signed already and damaged: repairing it would break its signatures";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1, .page = rows[i].page, SIGNED});
        is_said(&pdf, strcmp(rows[i].says, "damaged") ? rows[i].says : damaged, rows[i].name);
        free(pdf.data);
    }
}

/* ---------------------------------------------------------------------------------------------------- the page tree */

static pdf_t tree(const char *top, const char *group)
{
    pdf_t pdf;
    pdf_begin(&pdf);
    pdf_object(&pdf, "<</Type/Catalog/Pages 2 0 R>>");
    pdf_object(&pdf, top);
    pdf_object(&pdf, "<</Type/Page/Parent 4 0 R/Contents 6 0 R>>");
    pdf_object(&pdf, group);
    pdf_object(&pdf, "<</Type/Page/Parent 4 0 R/MediaBox[0 0 300 200]>>");
    pdf_object(&pdf, RED);
    pdf_end(&pdf, "");
    return pdf;
}

static void test_groups(void)
{
    apr_pool_t *pool;
    pdf_t made = {0};
    apr_pool_create(&pool, root);
    pdf_t pdf = tree("<</Type/Pages/Count 4/Kids[4 0 R 4 0 R]>>",
                     "<</Type/Pages/Parent 2 0 R/Count 2" BOX "/Kids[3 0 R 5 0 R]>>");
    is_said(&pdf, "4 pages, to be repaired", "a group of pages that is there twice");
    is_str(repaired(&made, &pdf, pool), "repaired", "it is repaired");
    is_said(&made, "4 pages", "and has all pages then");
    free(pdf.data);
    pdf = tree("<</Type/Pages/Count 2/Kids[4 0 R]>>", "<</Type/Pages/Parent 2 0 R/Count 2" BOX "/Kids[3 0 R 3 0 R]>>");
    is_said(&pdf, "2 pages, to be repaired", "a page that is there twice");
    is_str(repaired(&made, &pdf, pool), "repaired", "it is repaired");
    free(pdf.data);
    free(made.data);
    apr_pool_destroy(pool);
}

/* A group with two pages, and with something that is not a page. */
static void test_no_pages(void)
{
    static const char beyond[] = "refused: it is damaged beyond repair";
    static const char disagree[] = "refused: PDF readers do not agree on its pages";
    static const char repaired_pages[] = "2 pages, to be repaired";
    static const struct {
        const char *kids, *page, *says, *repair, *name;
    } rows[] = {
        {"/Count 2/Kids[3 0 R 5 0 R 2 0 R]", "/Type/Page", repaired_pages, "repaired", "the group above it at its end"},
        {"/Count 2/Kids[3 0 R 5 0 R 4 0 R]", "/Type/Page", repaired_pages, "repaired", "itself at its end"},
        {"/Count 2/Kids[3 0 R 5 0 R 9 0 R]", "/Type/Page", repaired_pages, "repaired", "a missing object at its end"},
        {"/Count 2/Kids[3 0 R 5 0 R null 7]", "/Type/Page", repaired_pages, "repaired", "no objects at its end"},
        {"/Count 2/Kids[3 0 R 5 0 R]", "/Type/Page/Kids[]", repaired_pages, "repaired", "a page with kids"},
        {"/Count 2/Kids[3 0 R 5 0 R]", "/Type/Page/Kids[2 0 R]", repaired_pages, "repaired", "a page with a loop"},
        {"/Count 2/Kids[3 0 R 5 0 R]", "", repaired_pages, "repaired", "a page without a type"},
        {"/Count 2/Kids[4 0 R 3 0 R 5 0 R]", "/Type/Page", beyond, NULL, "itself before pages"},
        {"/Count 2/Kids[3 0 R 9 0 R 5 0 R]", "/Type/Page", disagree, NULL, "a missing object before a page"},
        {"/Count 2/Kids[3 0 R 2 0 R]", "/Type/Page", disagree, NULL, "a loop instead of a page"},
        {"/Count 2/Kids[5 0 R 6 0 R]", "/Type/Page", repaired_pages,
         "it is damaged, and its repair would change what page 2 shows", "a page that is a stream"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        pdf_t pdf;
        pdf_begin(&pdf);
        pdf_object(&pdf, "<</Type/Catalog/Pages 2 0 R>>");
        pdf_object(&pdf, "<</Type/Pages/Count 2/Kids[4 0 R]>>");
        pdf_object(&pdf, "<</Type/Page/Parent 4 0 R/Contents 7 0 R>>");
        snprintf(text, sizeof text, "<</Type/Pages/Parent 2 0 R" BOX "%s>>", rows[i].kids);
        pdf_object(&pdf, text);
        snprintf(text, sizeof text, "<<%s/Parent 4 0 R/Contents 7 0 R>>", rows[i].page);
        pdf_object(&pdf, text);
        pdf_object(&pdf, "<</Type/Page/Parent 4 0 R/Contents 7 0 R/Length 0>>stream\n\nendstream");
        pdf_object(&pdf, RED);
        pdf_end(&pdf, "");
        is_said(&pdf, rows[i].says, rows[i].name);
        if (rows[i].repair) is_repaired(&pdf, rows[i].repair, rows[i].name);
        free(pdf.data);
    }
}

/* poppler counts the pages of a direct page tree, and shows none of them. */
static void test_direct_tree(void)
{
    pdf_t pdf;
    pdf_begin(&pdf);
    pdf_object(&pdf, "<</Type/Catalog/Pages<</Type/Pages/Count 1/Kids[2 0 R]>>>>");
    pdf_object(&pdf, "<</Type/Page" BOX "/Contents 3 0 R>>");
    pdf_object(&pdf, RED);
    pdf_end(&pdf, "");
    is_repaired(&pdf, "it is damaged, and its repair would change what page 1 shows", "a page tree that is no object");
    free(pdf.data);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    workers = help_pool(help_program(), 1, 2500, root);
    test_changed_page();
    test_same_page();
    test_long();
    test_space();
    test_continued();
    test_keys();
    test_groups();
    test_no_pages();
    test_direct_tree();
    is_int(help_notices, 0, "no worker was lost: %s", help_last_notice);
    apr_pool_destroy(root);
    return done();
}
