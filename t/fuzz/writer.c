/* SPDX-License-Identifier: Apache-2.0 */
/* writer.c: the incremental writer, under preparing and filling. The input is a PDF as it stands, or, so that offsets
 * need not be guessed, what one is made of, divided by "|":
 *   options|in the catalog|in the page tree|in each page|in the trailer|object|object|…
 * Options: a digit, how many pages; s, a cross-reference stream; h, a hybrid file; n, no line end at its end; u, an
 * update of page 1 behind it. Whatever the writer continues can be continued again, and what is filled in is listed as
 * a signature that covers everything. What probe lets pass and prepare takes, can be filled. */
#include "../unit/pdf_make.h"
#include "pdfd.h"

#define PARTS 32
#define FIRST_OBJECT 5
#define ROOM ((size_t)1 << 20)

enum { OPTIONS, CATALOG, TREE, PAGE, TRAILER };

typedef struct source_t {
    char *parts[PARTS];
    int count, pages;
} source_t;

static bool has(const source_t *source, char option)
{
    return strchr(source->parts[OPTIONS], option) != NULL;
}

static void put_stream(pdf_t *pdf, const char *trailer)
{
    size_t start = pdf->size;
    int number = pdf->count + 1;
    pdf->offset[number] = start;
    pdf_print(pdf, "%d 0 obj\n<</Type/XRef/Size %d/W[1 4 1]/Root 1 0 R%s/Length %d>>stream\n", number, number + 1,
              trailer, 6 * (number + 1));
    for (int i = 0; i <= number; i++) {
        size_t at = i ? pdf->offset[i] : 0;
        unsigned char row[6] = {i > 0,
                                (unsigned char)(at >> 24),
                                (unsigned char)(at >> 16),
                                (unsigned char)(at >> 8),
                                (unsigned char)at,
                                i ? 0 : 255};
        pdf_add(pdf, row, sizeof row);
    }
    pdf_print(pdf, "\nendstream\nendobj\nstartxref\n%zu\n%%%%EOF\n", start);
}

/* A table, and a stream with a number of its own that the table names (ISO 32000-2, 7.5.8.4). */
static void put_hybrid(pdf_t *pdf, const char *trailer)
{
    size_t start = pdf->size;
    char *more;
    pdf_print(pdf, "%d 0 obj\n<</Type/XRef/Size %d/W[1 2 1]/Index[0 1]/Length 4>>stream\n", pdf->count + 1,
              pdf->count + 2);
    pdf_add(pdf, "\0\0\0\377", 4);
    pdf_print(pdf, "\nendstream\nendobj\n");
    if (asprintf(&more, "/XRefStm %zu%s", start, trailer) < 0) abort();
    pdf_end(pdf, more);
    free(more);
}

static void put_update(pdf_t *pdf, const source_t *source, size_t previous)
{
    size_t offset = pdf->size;
    pdf_print(pdf, "3 0 obj\n<</Type/Page/Parent 2 0 R%s>>\nendobj\n", source->parts[PAGE]);
    size_t start = pdf->size;
    pdf_print(pdf, "xref\n3 1\n%010zu 00000 n \ntrailer\n<</Size %d/Root 1 0 R/Prev %zu>>\nstartxref\n%zu\n%%%%EOF\n",
              offset, pdf->count + 3, previous, start);
}

static void put_objects(pdf_t *pdf, const source_t *source)
{
    pdf_t text = {0};
    pdf_print(&text, "<</Type/Catalog/Pages 2 0 R%s>>", source->parts[CATALOG]);
    pdf_object(pdf, text.data);
    text.size = 0;
    pdf_print(&text, "<</Type/Pages/Count %d%s/Kids[", source->pages, source->parts[TREE]);
    for (int i = 0; i < source->pages; i++) pdf_print(&text, "%d 0 R ", 3 + i);
    pdf_print(&text, "]>>");
    pdf_object(pdf, text.data);
    text.size = 0;
    pdf_print(&text, "<</Type/Page/Parent 2 0 R%s>>", source->parts[PAGE]);
    for (int i = 0; i < source->pages; i++) pdf_object(pdf, text.data);
    for (int i = FIRST_OBJECT; i < source->count; i++) pdf_object(pdf, source->parts[i]);
    free(text.data);
}

static pdf_t make(source_t *source, char *text)
{
    static char nothing[] = "";
    pdf_t pdf;
    for (int i = 0; i < PARTS; i++) source->parts[i] = nothing;
    for (char *rest = text; rest && source->count < PARTS; source->count++)
        source->parts[source->count] = strsep(&rest, "|");
    const char *digit = strpbrk(source->parts[OPTIONS], "123456789");
    source->pages = digit ? *digit - '0' : 1;
    pdf_begin(&pdf);
    put_objects(&pdf, source);
    if (has(source, 's')) put_stream(&pdf, source->parts[TRAILER]);
    else if (has(source, 'h')) put_hybrid(&pdf, source->parts[TRAILER]);
    else pdf_end(&pdf, source->parts[TRAILER]);
    const char *end = memmem(pdf.data, pdf.size, "startxref\n", 10);
    if (has(source, 'u') && end) put_update(&pdf, source, strtoul(end + 10, NULL, 10));
    if (has(source, 'n')) pdf.size--;
    return pdf;
}

/* --------------------------------------------------------------------------------------------------- questions */

static const char PREPARE[] = "{\"fields\":[{\"signer\":\"a\",\"page\":0,\"rect\":[10,10,90.5,40]},"
                              "{\"signer\":\"b-1\",\"page\":0,\"rect\":[100,10,190,40]},"
                              "{\"signer\":\"a\",\"page\":%d,\"rect\":[10,50,60,99.9999]},"
                              "{\"signer\":\"a\",\"page\":0,\"rect\":[10,110,60,130],\"entry\":{\"kind\":\"text\","
                              "\"name\":\"T\",\"label\":\"\",\"text\":\"(\\u00e9\"}},"
                              "{\"signer\":\"b-1\",\"page\":0,\"rect\":[10,140,20,150],\"entry\":{\"kind\":"
                              "\"checkbox\",\"name\":\"T\",\"label\":\"\"}}]}";
static const char FILL[] =
    "{\"signer\":\"%s\",\"name\":\"Ann (A) L\xc3\xa9\",\"time\":\"D:20261120170923Z\",\"test\":true,"
    "\"ink\":{\"width\":1,\"height\":0.5,\"pen\":0.02,\"strokes\":[[0.1,0.1,0.5,0.6,0.4,0.2,0.9,0.1,1],"
    "[0.5,0.25,0.5]]},\"initials\":{\"places\":[2],\"ink\":{\"width\":1,\"height\":1,\"pen\":0.02,"
    "\"strokes\":[[0.5,0.25,0.5]]}},\"entries\":[{\"object\":%d,\"kind\":\"%s\",\"name\":\"T\",\"label\":\"\","
    "\"text\":\"b)\",\"ticked\":true}]}";

static const char CONTENTS[] = "rcQpRCg==\0rcQpRCg==";

/* Asks, and puts what is to be appended behind the document. False when there is a reason not to. */
static bool ask(pdf_t *pdf, sr_pdfd_op_t *op, const char *text, apr_pool_t *pool)
{
    static unsigned char room[ROOM];
    apr_pool_t *own;
    json_t *question;
    apr_pool_create(&own, pool); /* qpdf goes with it, before the bytes move */
    fuzz_must(!sr_json_parse(&question, text, strlen(text), own));
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)pdf->data, pdf->size};
    const sr_pdf_contents_t contents = {CONTENTS, CONTENTS + sizeof CONTENTS};
    json_t *answer = op(&(sr_pdfd_request_t){question, bytes, room, ROOM, contents}, own);
    fuzz_must(answer);
    bool done = !json_object_get(answer, "fault");
    size_t length = (size_t)json_integer_value(json_object_get(answer, "length"));
    fuzz_must(done ? length > 0 : sr_json_string(answer, "reason") != NULL);
    json_decref(answer);
    apr_pool_destroy(own);
    if (done) pdf_add(pdf, room, length);
    return done;
}

/* How the document is opened once it was continued: it must be. */
static void check_opens(const pdf_t *pdf, size_t before, int64_t highest_before, apr_pool_t *pool)
{
    sr_pdfd_document_t document;
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)pdf->data, pdf->size};
    const char *reason = sr_pdfd_document_open(&document, &bytes, pool);
    if (reason) fprintf(stderr, "%.*s\n%s\n", (int)pdf->size, pdf->data, reason);
    fuzz_must(!reason);
    fuzz_must(document.xref.start >= (int64_t)before && document.xref.highest > highest_before);
}

static int64_t highest(const pdf_t *pdf)
{
    sr_pdfd_xref_t xref;
    fuzz_must(sr_pdfd_xref_check(&xref, (const unsigned char *)pdf->data, pdf->size));
    return xref.highest;
}

/* Whether the signature of a field is listed, without a fault, and as one of all bytes. */
static bool is_listed(const json_t *signatures, const char *field, size_t size)
{
    for (size_t i = 0; i < json_array_size(signatures); i++) {
        const json_t *one = json_array_get(signatures, i), *range = json_object_get(one, "range");
        if (strcmp(sr_json_string(one, "field"), field) != 0 || json_object_get(one, "fault")) continue;
        json_int_t end = json_integer_value(json_array_get(range, 2)) + json_integer_value(json_array_get(range, 3));
        if (end == (json_int_t)size && json_integer_value(json_object_get(one, "later")) == 0) return true;
    }
    return false;
}

static void check_listed(const pdf_t *pdf, const char *field, apr_pool_t *pool)
{
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)pdf->data, pdf->size};
    const json_t *answer = sr_json_own(sr_pdfd_signatures(&(sr_pdfd_request_t){.bytes = bytes}, pool), pool);
    const json_t *signatures = json_object_get(answer, "signatures");
    if (!signatures) return; /* its form is too large for that, or it is encrypted to recovering readers */
    fuzz_must(is_listed(signatures, field, pdf->size));
}

/* True if a creation would rewrite the upload, or refuse it, before a field is added. */
static bool is_stopped_before(const pdf_t *upload, apr_pool_t *pool)
{
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)upload->data, upload->size};
    const json_t *answer = sr_json_own(sr_pdfd_probe(&(sr_pdfd_request_t){.bytes = bytes}, pool), pool);
    const char *report = sr_json_string(answer, "report");
    return !report || strstr(report, "\"normalise\":true") != NULL;
}

static void run(pdf_t *pdf, int last_page, apr_pool_t *pool)
{
    size_t before = pdf->size;
    bool is_taken = memmem(pdf->data, before, "ignature", 8) != NULL; /* a field of that name may be there */
    if (!ask(pdf, sr_pdfd_prepare, apr_psprintf(pool, PREPARE, last_page), pool)) return;
    const pdf_t upload = {.data = pdf->data, .size = before};
    check_opens(pdf, before, highest(&upload), pool);
    for (int i = 0; i < 2; i++) {
        const char *signer = i ? "a" : "b-1";
        int64_t number = highest(pdf);
        before = pdf->size;
        const int entry = (int)strtol(pdf->data + upload.size, NULL, 10) + (i ? 4 : 5); /* after the first new object */
        if (!ask(pdf, sr_pdfd_fill, apr_psprintf(pool, FILL, signer, entry, i ? "text" : "checkbox"), pool)) {
            const pdf_t first = {.data = pdf->data, .size = upload.size};
            fuzz_must(is_taken || is_stopped_before(&first, pool));
            continue;
        }
        check_opens(pdf, before, number, pool);
        check_listed(pdf, apr_pstrcat(pool, SR_PDFD_FIELD, signer, NULL), pool);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool whole = size >= 5 && !memcmp(data, "%PDF-", 5);
    char *text = whole ? NULL : fuzz_text(data, size);
    source_t source = {.pages = 1};
    pdf_t pdf = {0};
    if (whole) pdf_add(&pdf, data, size);
    else if (text) pdf = make(&source, text);
    apr_pool_t *pool = fuzz_pool();
    if (pdf.size) run(&pdf, source.pages - 1, pool);
    apr_pool_destroy(pool);
    free(pdf.data);
    free(text);
    return 0;
}
