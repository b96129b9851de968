/* SPDX-License-Identifier: Apache-2.0 */
/* lies.c: a helper that lies, as httpd sees it. The true helper answers what httpd asks; then the input changes its
 * answer: a byte that chooses prepare (even) or fill (odd), and edits of 4 bytes and a text each: position (2 bytes),
 * how many bytes go, how many come. Whatever httpd accepts of it leaves pages, their contents and the rest of the
 * document as they were, and of the radio buttons one is on. Linked with --wrap=sr_pdf_put. */
#include "../unit/pdf_make.h"
#include "helper/client/worker.h"
#include "pdfd.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM ((size_t)1 << 20)
#define RECT                                                                                                           \
    {                                                                                                                  \
        10, 10, 90.5, 40                                                                                               \
    }
#define EXISTING                                                                                                       \
    {                                                                                                                  \
        20, 100, 90, 130                                                                                               \
    } /* of a signature field that the document has */

#define BUTTON "<</Type/Annot/Subtype/Widget/F 4/Parent 11 0 R/Rect["

static const uint8_t *edits; /* of the answer to `lies_about` */
static size_t edits_size;
static const char *lies_about;

sr_error_t *__wrap_sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_request_t *question, apr_pool_t *pool);

/* A pool without a process: it only takes notices. */
static sr_pdf_pool_t *nobody(void)
{
    static sr_pdf_shared_t shared;
    static sr_pdf_pool_t pool = {.shared = &shared};
    return &pool;
}

/* ------------------------------------------------------------------------------------------------- the helper */

static void edit(pdf_t *answer)
{
    for (size_t at = 0; at + 4 <= edits_size;) {
        const uint8_t *one = edits + at;
        size_t position = (size_t)(one[0] | one[1] << 8), gone = one[2], come = one[3];
        at += 4;
        if (come > edits_size - at) come = edits_size - at;
        if (position > answer->size) position = answer->size;
        if (gone > answer->size - position) gone = answer->size - position;
        pdf_t rest = {0};
        pdf_add(&rest, answer->data + position + gone, answer->size - position - gone);
        answer->size = position;
        pdf_add(answer, edits + at, come);
        pdf_add(answer, rest.data, rest.size);
        free(rest.data);
        at += come;
    }
}

static json_t *answer_truly(const sr_pdf_request_t *question, unsigned char *room, apr_pool_t *pool)
{
    struct stat info;
    json_t *text;
    fuzz_must(!fstat(question->descriptor, &info));
    unsigned char *bytes = apr_palloc(pool, (apr_size_t)info.st_size);
    fuzz_must(pread(question->descriptor, bytes, (size_t)info.st_size, 0) == info.st_size);
    fuzz_must(!sr_json_parse(&text, question->text, strlen(question->text), pool));
    const char *contents = question->text + strlen(question->text) + 1, *end = question->text + question->length;
    sr_pdfd_request_t asked = {text, {bytes, (apr_size_t)info.st_size}, room, ROOM, {contents, end}};
    sr_pdfd_op_t *op = !strcmp(question->op, SR_PDF_OP_FILL)      ? sr_pdfd_fill
                       : !strcmp(question->op, SR_PDF_OP_PREPARE) ? sr_pdfd_prepare
                                                                  : sr_pdfd_confirm;
    json_t *answer = op(&asked, pool);
    fuzz_must(answer && !json_object_get(answer, "length") == !question->output);
    return sr_json_own(answer, pool);
}

/* Stands for client.c and the process. */
sr_error_t *__wrap_sr_pdf_put(bool *failed, sr_pdf_pool_t *workers, const sr_pdf_request_t *question, apr_pool_t *pool)
{
    static unsigned char room[ROOM];
    pdf_t bytes = {0};
    json_t *answer = answer_truly(question, room, pool);
    if (!question->output) {
        fuzz_must(question->read(question->result, answer, pool));
        return NULL;
    }
    pdf_add(&bytes, room, (size_t)json_integer_value(json_object_get(answer, "length")));
    if (lies_about && !strcmp(lies_about, question->op)) edit(&bytes);
    json_object_set_new(answer, "length", json_integer((json_int_t)bytes.size));
    const char *contents = memmem(bytes.data, bytes.size, "/Contents<", 10);
    if (contents) json_object_set_new(answer, "contents", json_integer(contents + 9 - bytes.data));
    sr_error_t *error = sr_pdf_output_begin(question->output, ROOM, pool);
    fuzz_must(!error && pwrite(question->output->descriptor, bytes.data, bytes.size, 0) == (ssize_t)bytes.size);
    *failed = !sr_pdf_output_end(question->output, json_object_get(answer, "length"))
              || !question->read(question->result, answer, pool);
    free(bytes.data);
    return NULL;
}

/* --------------------------------------------------------------------------------------------------- questions */

static int file_of(const pdf_t *pdf)
{
    int descriptor = memfd_create("document", MFD_CLOEXEC);
    fuzz_must(descriptor >= 0 && write(descriptor, pdf->data, pdf->size) == (ssize_t)pdf->size);
    return descriptor;
}

/* Another worker, which is honest, is asked whether the document with the update is right. */
static bool confirm(const pdf_t *pdf, const apr_array_header_t *fields, apr_pool_t *pool)
{
    sr_pdf_confirmed_t confirmed = {0};
    int descriptor = file_of(pdf);
    fuzz_must(!sr_pdf_confirm(&confirmed, nobody(), descriptor, (apr_off_t)pdf->base, fields, pool));
    close(descriptor);
    return !confirmed.fault;
}

/* A group of radio buttons that the document has. The signer chooses the second one. */
static const sr_pdf_entry_t *group_entry(bool is_filled, apr_pool_t *pool)
{
    static const sr_pdf_button_t BUTTONS[] = {{1, {100, 100, 110, 110}, "x", "x"}, {1, {120, 100, 130, 110}, "y", "y"}};
    sr_pdf_entry_t *entry = apr_pcalloc(pool, sizeof *entry);
    apr_array_header_t *buttons = apr_array_make(pool, 2, sizeof *BUTTONS);
    for (int i = 0; i < 2; i++) APR_ARRAY_PUSH(buttons, sr_pdf_button_t) = BUTTONS[i];
    *entry = (sr_pdf_entry_t){.kind = SR_PDF_ENTRY_RADIO, .name = "pay", .label = "", .buttons = buttons};
    entry->text = is_filled ? "y" : "x";
    return entry;
}

static apr_array_header_t *all_fields(bool is_filled, apr_pool_t *pool)
{
    static const sr_pdf_entry_t ENTRIES[] = {
        {.name = "rent", .label = "Rent", .text = "950", .max_length = 9, .content = "rMCAwIDEgMSByZSBm"},
        {.kind = SR_PDF_ENTRY_CHECKBOX, .name = "rent", .label = "", .content = "rMCAwIDEgMSByZSBm"}};
    static const sr_pdf_field_t FIELDS[] = {
        {.signer = "a", .rect = RECT},
        {.signer = "b-1", .rect = {100, 10, 190, 40}},
        {.signer = "a", .page = 1, .rect = EXISTING, .existing = "Tenant"},
        {.signer = "b-1", .page = 1, .rect = {20, 150, 90, 180}, .existing = "b.Landlord"},
        {.signer = "a", .page = 1, .rect = RECT},
        {.signer = "a", .rect = {10, 60, 90, 80}, .entry = &ENTRIES[0]},
        {.signer = "a", .rect = {10, 90, 30, 110}, .entry = &ENTRIES[1]}};
    const int count = (int)(sizeof FIELDS / sizeof *FIELDS);
    apr_array_header_t *fields = apr_array_make(pool, count, sizeof *FIELDS);
    for (int i = 0; i < count; i++) APR_ARRAY_PUSH(fields, sr_pdf_field_t) = FIELDS[i];
    const sr_pdf_field_t group = {.signer = "a", .page = 1, .rect = {100, 100, 110, 110}, .existing = "pay"};
    APR_ARRAY_PUSH(fields, sr_pdf_field_t) = group;
    APR_ARRAY_IDX(fields, count, sr_pdf_field_t).entry = group_entry(is_filled, pool);
    return fields;
}

static bool prepare(pdf_t *pdf, apr_pool_t *pool)
{
    apr_array_header_t *fields = all_fields(false, pool);
    sr_pdf_update_t update;
    int descriptor = file_of(pdf);
    fuzz_must(!sr_pdf_prepare(&update, nobody(), descriptor, (apr_off_t)pdf->size, fields, pool));
    close(descriptor);
    pdf->base = pdf->size;
    pdf->prepared = update.length;
    if (update.fault) return false;
    pdf_add(pdf, update.bytes, update.length);
    return confirm(pdf, fields, pool);
}

static bool fill(pdf_t *pdf, apr_pool_t *pool)
{
    static const char DRAWN[] = "{\"type\":\"drawn\",\"width\":2,\"height\":1,\"strokes\":[[[0.1,0.1],[1,0.9]]]}";
    sr_signature_t drawn;
    json_t *json;
    sr_pdf_revision_t revision;
    fuzz_must(!sr_json_parse(&json, DRAWN, sizeof DRAWN - 1, pool) && !sr_signature_parse(&drawn, json, pool));
    const sr_pdf_signature_t signature = {.signer = "a",
                                          .name = "Ann Lee",
                                          .time = 1,
                                          .ink = drawn.ink,
                                          .fields = all_fields(true, pool),
                                          .base_size = (apr_off_t)pdf->base,
                                          .prepared_size = pdf->prepared};
    int descriptor = file_of(pdf);
    fuzz_must(!sr_pdf_fill(&revision, nobody(), descriptor, (apr_off_t)pdf->size, &signature, pool));
    close(descriptor);
    if (!revision.fault) pdf_add(pdf, revision.bytes, revision.length);
    return !revision.fault;
}

/* ------------------------------------------------------------------------------------------------- what holds */

typedef struct state_t {
    const char *catalog, *pages[2], *contents[2];
} state_t;

static const char *without(qpdf_data q, qpdf_oh dictionary, const char *key, apr_pool_t *pool)
{
    if (key) qpdf_oh_remove_key(q, dictionary, key);
    return apr_pstrdup(pool, qpdf_oh_unparse_resolved(q, dictionary));
}

/* The extension that prepare declares, and no other: the document that is made here has none. */
static void check_extensions(qpdf_data q)
{
    static const char ESIC[] = "<< /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> >>";
    qpdf_oh root = qpdf_get_root(q), extensions = qpdf_oh_get_key(q, root, "/Extensions");
    fuzz_must(qpdf_oh_is_null(q, extensions) || !strcmp(qpdf_oh_unparse_resolved(q, extensions), ESIC));
    qpdf_oh_remove_key(q, root, "/Extensions");
}

/* What the document is besides its fields; with `form` also which fields it has. */
static void read_state(state_t *state, const pdf_t *pdf, bool form, apr_pool_t *pool)
{
    sr_pdfd_document_t document;
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)pdf->data, pdf->size};
    fuzz_must(!sr_pdfd_document_open(&document, &bytes, pool));
    fuzz_must(qpdf_get_num_pages(document.q) == 2);
    check_extensions(document.q);
    state->catalog = without(document.q, qpdf_get_root(document.q), form ? NULL : "/AcroForm", pool);
    for (int i = 0; i < 2; i++) {
        unsigned char *data;
        size_t size;
        qpdf_oh page = qpdf_get_page_n(document.q, (size_t)i);
        fuzz_must(!(qpdf_oh_get_page_content_data(document.q, page, &data, &size) & QPDF_ERRORS));
        state->contents[i] = apr_pstrmemdup(pool, (const char *)data, size);
        free(data);
        state->pages[i] = without(document.q, page, form ? NULL : "/Annots", pool);
    }
}

static void check_name(qpdf_data q, int number, const char *key, const char *name)
{
    fuzz_must(qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, qpdf_get_object_by_id(q, number, 0), key), name));
}

static void check_group(const pdf_t *pdf, bool is_filled, apr_pool_t *pool)
{
    sr_pdfd_document_t document;
    const sr_pdfd_bytes_t bytes = {(const unsigned char *)pdf->data, pdf->size};
    fuzz_must(!sr_pdfd_document_open(&document, &bytes, pool));
    check_name(document.q, 11, "/V", is_filled ? "/y" : "/x");
    check_name(document.q, 12, "/AS", is_filled ? "/Off" : "/x");
    check_name(document.q, 13, "/AS", is_filled ? "/y" : "/Off");
}

static void check(const pdf_t *before, const pdf_t *after, bool form, apr_pool_t *pool)
{
    state_t was, is;
    read_state(&was, before, form, pool);
    read_state(&is, after, form, pool);
    check_group(after, form, pool);
    fuzz_must(!strcmp(was.catalog, is.catalog));
    for (int i = 0; i < 2; i++)
        fuzz_must(!strcmp(was.pages[i], is.pages[i]) && !strcmp(was.contents[i], is.contents[i]));
}

static pdf_t make(void)
{
    pdf_t pdf;
    pdf_begin(&pdf);
    pdf_object(&pdf, "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[7 0 R 8 0 R 11 0 R]>>>>");
    pdf_object(&pdf, "<</Type/Pages/Count 2/MediaBox[0 0 200 200]/Kids[3 0 R 4 0 R]>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R/Contents 5 0 R>>");
    pdf_object(&pdf, "<</Type/Page/Parent 2 0 R/Contents 5 0 R/Annots[6 0 R 7 0 R 9 0 R 12 0 R 13 0 R]>>");
    pdf_object(&pdf, "<</Length 19>>stream\n10 10 m 100 10 l S \nendstream");
    pdf_object(&pdf, "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]>>");
    pdf_object(&pdf, "<</Type/Annot/Subtype/Widget/FT/Sig/T(Tenant)/F 4/Rect[20 100 90 130]>>");
    pdf_object(&pdf, "<</T(b)/Kids[9 0 R]>>");
    pdf_object(&pdf, "<</Type/Annot/Subtype/Widget/FT/Sig/T(Landlord)/Parent 8 0 R/F 4/Rect[20 150 90 180]>>");
    pdf_object(&pdf, "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 0>>stream\n\nendstream");
    pdf_object(&pdf, "<</FT/Btn/Ff 49152/T(pay)/V/x/Kids[12 0 R 13 0 R]>>");
    pdf_object(&pdf, BUTTON "100 100 110 110]/AS/x/AP<</N<</x 10 0 R>>>>>>");
    pdf_object(&pdf, BUTTON "120 100 130 110]/AS/Off/AP<</N<</y 10 0 R>>>>>>");
    pdf_end(&pdf, "");
    return pdf;
}

static pdf_t copy(const pdf_t *pdf)
{
    pdf_t made = {.base = pdf->base, .prepared = pdf->prepared};
    pdf_add(&made, pdf->data, pdf->size);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static pdf_t upload, prepared;
    apr_pool_t *pool = fuzz_pool();
    lies_about = NULL;
    if (!upload.size) {
        upload = make();
        prepared = copy(&upload);
        fuzz_must(prepare(&prepared, pool));
        pdf_t filled = copy(&prepared);
        fuzz_must(fill(&filled, pool)); /* the truth is accepted */
        check(&upload, &prepared, false, pool);
        check(&prepared, &filled, true, pool);
        free(filled.data);
    }
    bool is_fill = size && data[0] & 1;
    const pdf_t *before = is_fill ? &prepared : &upload;
    pdf_t after = copy(before);
    edits = size ? data + 1 : data;
    edits_size = size ? size - 1 : 0;
    lies_about = is_fill ? SR_PDF_OP_FILL : SR_PDF_OP_PREPARE;
    if ((is_fill ? fill : prepare)(&after, pool)) check(before, &after, is_fill, pool);
    free(after.data);
    apr_pool_destroy(pool);
    return 0;
}
