/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_seal.c: documents of many forms, prepared for one to ten signers and filled one after the other: pdfsig calls
 * each signature valid and the last one whole, qpdf has nothing to say, and the upload is a prefix of it all. */
#include "pdf_seal.h"

static seal_bench_t bench;

typedef struct case_t {
    const char *name;
    int signers;
    pdf_parts_t parts;
} case_t;

static const case_t CASES[] = {
    {"one signer", 1, {.pages = 1}},
    {"two signers on three pages", 2, {.pages = 3}},
    {"ten signers", 10, {.pages = 2}},
    {"an ID and an Info", 2, {.pages = 1, .trailer = "/ID[<00ff><11>]/Info 4 0 R", .objects = {"<</Title(x)>>"}}},
    {"annotations of its own",
     2,
     {.pages = 1, .page = "/MediaBox[0 0 612 792]/Annots[4 0 R]", .objects = {"<</Subtype/Link/Rect[0 0 9 9]>>"}}},
    {"annotations in an array of their own",
     2,
     {.pages = 1,
      .page = "/MediaBox[0 0 612 792]/Annots 5 0 R",
      .objects = {"<</Subtype/Link/Rect[0 0 9 9]>>", "[4 0 R]"}}},
    {"annotations that pages share",
     3,
     {.pages = 3,
      .page = "/MediaBox[0 0 612 792]/Annots 7 0 R",
      .objects = {"<</Subtype/Link/Rect[0 0 9 9]>>", "[6 0 R]"}}},
    {"annotations that are null", 2, {.pages = 1, .page = "/MediaBox[0 0 612 792]/Annots null"}},
    {"a form in the catalog",
     2,
     {.pages = 1, .catalog = "/AcroForm<</Fields[4 0 R]/DA(/F 0 Tf)>>", .objects = {"<</FT/Tx/T(a)>>"}}},
    {"a form that is an object",
     2,
     {.pages = 1, .catalog = "/AcroForm 4 0 R", .objects = {"<</Fields[5 0 R]/SigFlags 1>>", "<</FT/Tx/T(a)>>"}}},
    {"fields in an array of their own",
     2,
     {.pages = 1, .catalog = "/AcroForm 4 0 R", .objects = {"<</Fields 5 0 R/SigFlags 3>>", "[]"}}},
    {"fields that are the annotations too",
     2,
     {.pages = 2,
      .page = "/MediaBox[0 0 612 792]/Annots 5 0 R",
      .catalog = "/AcroForm<</Fields 5 0 R>>",
      .objects = {"[]"}}},
    {"a form without fields", 2, {.pages = 1, .catalog = "/AcroForm<<>>"}},
    /* to numbers that the update would give: they mean null, not what it adds */
    {"references to nothing",
     2,
     {.pages = 1,
      .page = "/MediaBox[0 0 612 792]/Annots[5 0 R 7 0 R]/Contents 6 0 R/B 9 0 R",
      .catalog = "/AcroForm<</Fields[4 0 R 5 0 R 6 0 R 8 0 R 400000 0 R 9999999 0 R]>>/Outlines 10 0 R"}},
    {"names and texts that need care",
     2,
     {.pages = 1, .page = "/MediaBox[0 0 612 792]/A#20B(\\)>>\\\\\\000\xff)/C<3e3e>", .catalog = "/X(>>)"}},
};

static const char *signer_name(int i)
{
    static const char *const names[] = {"Ann (Lee)", "Jos\xc3\xa9 \xe2\x80\x93 \xf0\x9f\x96\x8b",
                                        "\xe6\x9d\x8e\xe5\xa8\x9c", "A\\B"};
    return names[i % 4];
}

/* Prepares and fills a document for some signers, each with a field on the first page and one on the last. */
static const char *sign_all(pdf_t *pdf, int pages, int signers, apr_pool_t *pool)
{
    sr_pdf_field_t fields[20] = {0};
    const char *ids[10];
    for (int i = 0; i < signers; i++) {
        ids[i] = sr_uuid_make(pool);
        fields[2 * i] = seal_field(ids[i], 0, 50, 700 - 60 * i, 200, 750 - 60 * i);
        fields[2 * i + 1] = seal_field(ids[i], pages - 1, 300.25, 700 - 60 * i, 500, 750 - 60 * i);
    }
    const char *reason = seal_prepare(&bench, pdf, fields, 2 * signers, pool);
    for (int i = 0; !reason && i < signers; i++) {
        sr_pdf_signature_t signature = {.signer = ids[i],
                                        .name = signer_name(i),
                                        .reason = "I agree (\xe2\x9c\x93)",
                                        .time = apr_time_now(),
                                        .test = i % 2 == 0,
                                        .room = i % 3 ? 4096 : 0,
                                        .ink = seal_ink(SEAL_INK, pool)};
        reason = seal_fill(&bench, pdf, &signature, pool);
    }
    return reason;
}

static void judge(const pdf_t *pdf, const pdf_t *upload, int signers, const char *name, apr_pool_t *pool)
{
    int status;
    ok(pdf->size > upload->size && !memcmp(pdf->data, upload->data, upload->size), "%s: the upload is a prefix", name);
    seal_write(&bench, "it.pdf", pdf->data, pdf->size);
    const char *said = seal_pdfsig(&bench, "it.pdf", signers, pool);
    ok(!said, "%s: pdfsig calls %d signatures valid and the last one whole", name, signers);
    if (said) printf("# %s\n", said);
    said = seal_run(&status, &bench, pool, "qpdf --check it.pdf");
    ok(!status, "%s: qpdf has nothing to say", name);
    if (status) printf("# %s\n", said);
}

static void test_case(const case_t *test)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    pdf_t upload = pdf_document(&test->parts), pdf = {0};
    pdf_add(&pdf, upload.data, upload.size);
    const char *reason = sign_all(&pdf, test->parts.pages, test->signers, pool);
    ok(!reason, "%s: signed%s%s", test->name, reason ? ", but: " : "", reason ? reason : "");
    judge(&pdf, &upload, test->signers, test->name, pool);
    free(upload.data);
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* A document whose object numbers leave no room for signatures has to be rewritten, and the probe says so. */
static void test_numbers(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    for (int i = 0; i < 2; i++) {
        pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
        size_t start = pdf.size, previous = strtoul(strstr(pdf.data, "startxref\n") + 10, NULL, 10);
        int number = i ? 8388606 : 7000000;
        pdf_print(&pdf, "xref\n%d 1\n%010zu 00000 n \ntrailer\n", number, pdf.offset[3]);
        pdf_print(&pdf, "<</Size %d/Root 1 0 R/Prev %zu>>\nstartxref\n%zu\n%%%%EOF\n", number + 1, previous, start);
        const sr_pdf_field_t field = seal_field("a", 0, 9, 9, 90, 90);
        const char *reason = i ? seal_prepare(&bench, &pdf, &field, 1, pool) : sign_all(&pdf, 1, 2, pool);
        is_str(reason, i ? "it is damaged" : NULL, "numbers from %d", number);
        free(pdf.data);
    }
    apr_pool_destroy(pool);
}

/* The same document as qpdf writes it: with object streams, linearized, without a newline at its end. */
static void test_rewritten(const char *options, size_t cut, const char *name)
{
    apr_pool_t *pool;
    int status;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = pdf_document(&CASES[5].parts), upload = {0};
    char piece[4096];
    seal_write(&bench, "plain.pdf", pdf.data, pdf.size);
    seal_run(&status, &bench, pool, "qpdf %s plain.pdf new.pdf", options);
    FILE *file = fopen(apr_pstrcat(pool, bench.folder, "/new.pdf", NULL), "rb");
    if (!file) abort();
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(&upload, piece, got);
    fclose(file);
    upload.size -= cut;
    pdf.size = 0;
    pdf_add(&pdf, upload.data, upload.size);
    const char *reason = sign_all(&pdf, 1, 3, pool);
    ok(!reason, "%s: signed%s%s", name, reason ? ", but: " : "", reason ? reason : "");
    judge(&pdf, &upload, 3, name, pool);
    free(upload.data);
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------------------------ rewriting */

#define HELV "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"

static const case_t DAMAGED[] = {
    {"a form that readers are to draw",
     1,
     {.pages = 1,
      .page = "/MediaBox[0 0 612 792]/Annots[4 0 R]",
      .catalog = "/AcroForm<</Fields[4 0 R]/NeedAppearances true/DR<</Font<</F 5 0 R>>>>/DA(/F 12 Tf 0 g)>>",
      .objects = {"<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/V(Written)/DA(/F 12 Tf 0 g)/Rect[10 10 200 40]/P 3 0 R>>",
                  HELV}}},
    {"pages that inherit", 2, {.pages = 2, .page = "", .tree = "/MediaBox[0 0 200 200]/Rotate 90"}},
};

static void test_normalised(const case_t *test, bool cut)
{
    apr_pool_t *pool;
    int status;
    sr_pdf_probe_t probe;
    sr_pdf_rewritten_t *made;
    apr_pool_create(&pool, bench.pool);
    made = apr_palloc(pool, sizeof *made);
    pdf_t pdf = pdf_document(&test->parts), upload = {0};
    if (cut) pdf.size -= 18; /* nothing says where the table is */
    help_probe(&probe, bench.workers, pdf.data, pdf.size, pool);
    ok(probe.verdict == SR_PDF_ACCEPTED && strstr(probe.pages->report, "\"normalise\":true"),
       "%s: has to be normalised", test->name);
    int fd = help_descriptor(pdf.data, pdf.size);
    sr_error_t *error = sr_pdf_rewrite(made, bench.workers, fd, (apr_off_t)pdf.size, pool);
    close(fd);
    ok(!error && !made->fault, "%s: and is%s%s", test->name, made->fault ? ", but: " : "",
       made->fault ? made->reason : "");
    char *bytes = apr_palloc(pool, (apr_size_t)made->document.size);
    if (pread(made->document.descriptor, bytes, (size_t)made->document.size, 0) != made->document.size) abort();
    pdf_add(&upload, bytes, (size_t)made->document.size);
    help_probe(&probe, bench.workers, upload.data, upload.size, pool);
    ok(probe.verdict == SR_PDF_ACCEPTED && strstr(probe.pages->report, "\"normalise\":false"), "%s: which is enough",
       test->name);
    seal_write(&bench, "new.pdf", upload.data, upload.size);
    const char *plain = seal_run(&status, &bench, pool, "qpdf --qdf new.pdf -");
    if (!cut) ok(strstr(plain, "(Written) Tj") != NULL, "%s: the field is drawn", test->name);
    pdf.size = 0;
    pdf_add(&pdf, upload.data, upload.size);
    const char *reason = sign_all(&pdf, test->parts.pages, test->signers, pool);
    ok(!reason, "%s: signed%s%s", test->name, reason ? ", but: " : "", reason ? reason : "");
    judge(&pdf, &upload, test->signers, test->name, pool);
    free(upload.data);
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* What is refused, and whose fault it is. */
static void test_refused(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    sr_pdf_signature_t signature = {.signer = "a-1", .name = "A", .time = apr_time_now(), .text = "A"};
    sr_pdf_field_t field = seal_field("a-1", 1, 1, 1, 9, 9);
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
    size_t size = pdf.size;
    is_str(seal_prepare(&bench, &pdf, &field, 1, pool), "a field is on a page that it does not have", "a page too far");
    is_str(seal_fill(&bench, &pdf, &signature, pool), "it has no field of this signer",
           "a document that is not prepared");
    is_int(pdf.size, size, "neither leaves anything");
    field.page = 0;
    ok(!seal_prepare(&bench, &pdf, &field, 1, pool) && !seal_fill(&bench, &pdf, &signature, pool),
       "prepared and filled");
    is_str(seal_fill(&bench, &pdf, &signature, pool), "this signer has signed it already", "filled once more");
    signature.signer = "a";
    is_str(seal_fill(&bench, &pdf, &signature, pool), "it has no field of this signer",
           "a signer whose name is shorter");
    pdf.size -= 60;
    signature.signer = "a-1";
    is_str(seal_fill(&bench, &pdf, &signature, pool), "it is damaged", "a document that is cut");
    pdf.size = 0;
    pdf_add(&pdf, "hello", 5);
    is_str(seal_prepare(&bench, &pdf, &field, 1, pool), "it is damaged", "no document at all");
    is_int(help_notices, 0, "no worker died of any of it");
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* The room for the CMS is as large as requested. */
static void test_room(void)
{
    static const apr_size_t rooms[] = {SR_PDF_CONTENTS_BYTES, 4096, 64, SR_PDF_CONTENTS_BYTES + 1};
    static const char *const reasons[] = {NULL, NULL, "The signature of the seal is longer than there is room for",
                                          "it made the PDF helper send an invalid answer"};
    apr_size_t sizes[4] = {0};
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    for (size_t i = 0; i < 4; i++) {
        pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
        const sr_pdf_field_t field = seal_field("a", 0, 9, 9, 90, 90);
        sr_pdf_signature_t signature = {
            .signer = "a", .name = "Ann", .time = apr_time_now(), .room = rooms[i], .ink = seal_ink(SEAL_INK, pool)};
        if (seal_prepare(&bench, &pdf, &field, 1, pool)) abort();
        const apr_size_t before = pdf.size;
        const char *reason = seal_fill(&bench, &pdf, &signature, pool);
        if (i < 3) is_str(reason, reasons[i], "room for %d bytes", (int)rooms[i]);
        else ok(reason, "a larger room than there may be: %s", reason);
        sizes[i] = pdf.size - before;
        free(pdf.data);
    }
    is_int((long)(sizes[0] - sizes[1]), (long)(2 * (rooms[0] - rooms[1])),
           "the update is shorter by two digits a byte");
    apr_pool_destroy(pool);
}

int main(void)
{
    bench = seal_begin(8000);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) test_case(&CASES[i]);
    test_numbers();
    test_rewritten("--object-streams=generate", 0, "object streams");
    test_rewritten("--linearize", 0, "linearized");
    test_rewritten("--object-streams=generate --linearize", 0, "both");
    test_rewritten("--object-streams=disable", 1, "no newline at the end");
    test_normalised(&DAMAGED[0], false);
    test_normalised(&DAMAGED[1], true);
    test_refused();
    test_room();
    return seal_end(&bench);
}
