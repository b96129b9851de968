/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_entry.c: fields that signers fill in beside their signatures, in documents of several kinds: they are added with
 * the signature fields, and other programs find them with their values. */
#include "entry_make.h"

#define FORM                                                                                                           \
    "<</Type/Annot/Subtype/Widget/FT/Tx/T(rent)/F 4/Rect[9 9 99 29]/P 3 0 R/V(1)/AP<</N 6 0 R>>>>",                    \
        "<</Type/XObject/Subtype/Form/BBox[0 0 90 20]/Resources<<>>/Length 0>>stream\n\nendstream"

static const entry_case_t CASES[] = {
    {.name = "plain"},
    {.name = "rotated by 90", .rotate = 90},
    {.name = "rotated by 180", .rotate = 180},
    {.name = "rotated by 270", .rotate = 270},
    {.name = "with tags",
     .catalog = "/MarkInfo<</Marked true>>/StructTreeRoot 5 0 R",
     .objects = {"<</Type/StructTreeRoot/K 6 0 R/ParentTree 7 0 R>>", "<</Type/StructElem/S/Document/P 5 0 R>>",
                 "<</Nums[]>>"}},
    {.name = "PDF/A", .catalog = "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)>>]"},
    {.name = "encrypted by AES", .qpdf = "--encrypt '' owner 256 --"},
    {.name = "encrypted by RC4", .qpdf = "--encrypt '' owner 128 --use-aes=n --"},
    {.name = "with object streams", .qpdf = "--object-streams=generate"},
    {.name = "with a form", .page = "/Annots[5 0 R]", .catalog = "/AcroForm<</Fields[5 0 R]>>", .objects = {FORM}},
};
#define CASE_COUNT (sizeof CASES / sizeof *CASES)

static seal_bench_t bench;

/* Returns the members of the listed fields as one text. */
static const char *listed(const pdf_t *pdf, apr_pool_t *pool)
{
    json_t *fields = NULL;
    int fd = help_descriptor(pdf->data, pdf->size);
    if (sr_pdf_inspect(&fields, bench.workers, fd, 2, pool)) abort();
    close(fd);
    const char *text = "";
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i), *value = json_object_get(field, "value");
        text = apr_pstrcat(pool, text, sr_json_string(field, "field"), " ", sr_json_string(field, "type"),
                           json_is_true(json_object_get(field, "readOnly")) ? " read-only" : "",
                           json_is_true(json_object_get(field, "multiline")) ? " multiline" : "",
                           json_is_string(value) ? apr_pstrcat(pool, " ", json_string_value(value), NULL) : "",
                           json_is_true(value) ? " ticked" : "", "\n", NULL);
    }
    return text;
}

#define LISTED(rent)                                                                                                   \
    "Signature_ann signature\n" rent " text read-only 950,00\nterms_read checkbox read-only\n"                         \
    "Signature_bob signature\nN\xc3\xa4me choice read-only \n"

static void test_prepared(const entry_case_t *kind, apr_pool_t *pool)
{
    entry_fields_t made;
    int status;
    const bool has_form = kind->page != NULL;
    entry_fields(&made, &bench, kind->rotate, pool);
    pdf_t pdf = entry_document(&bench, kind, pool);
    is_str(seal_prepare(&bench, &pdf, made.fields, ENTRY_FIELDS, pool), NULL, "%s: the fields are added", kind->name);
    const char *want = has_form ? "rent text 1\n" LISTED("rent_2") "rent_3 text read-only multiline \n"
                                : LISTED("rent") "rent_2 text read-only multiline \n";
    want = apr_pstrcat(pool, want, "email text read-only \nSignature_ann_2 signature\n", NULL);
    is_str(listed(&pdf, pool), want, "%s: the form has them with their values", kind->name);
    seal_write(&bench, "prepared.pdf", pdf.data, pdf.size);
    const char *said = seal_run(&status, &bench, pool, "qpdf --check prepared.pdf");
    is_int(status, 0, "%s: qpdf finds nothing wrong: %s", kind->name, status ? said : "");
    free(pdf.data);
}

static void test_refused(apr_pool_t *pool)
{
    static const char signed_before[] = "it is signed: only fields of type signature can be added";
    static const char nonsense[] = "it made the PDF helper send an invalid answer";
    entry_fields_t made;
    entry_fields(&made, &bench, 0, pool);
    pdf_t pdf = entry_document(&bench, &CASES[0], pool);
    sr_pdf_signature_t signature = {.signer = ENTRY_ANN, .name = "Ann Lee", .text = "Ann"};
    is_str(seal_prepare(&bench, &pdf, made.fields, 1, pool), NULL, "a signature field is added");
    is_str(seal_fill(&bench, &pdf, &signature, pool), NULL, "and signed");
    is_str(seal_prepare(&bench, &pdf, made.fields + 1, 1, pool), signed_before, "a document that is signed");
    free(pdf.data);
    pdf = entry_document(&bench, &CASES[1], pool);
    is_str(seal_prepare(&bench, &pdf, made.fields, ENTRY_FIELDS, pool), nonsense, "a rotation that is not the page's");
    is_int(help_refusals, 1, "it is refused");
    free(pdf.data);
}

int main(void)
{
    bench = seal_begin(20000);
    for (size_t i = 0; i < CASE_COUNT; i++) {
        apr_pool_t *pool;
        apr_pool_create(&pool, bench.pool);
        test_prepared(&CASES[i], pool);
        apr_pool_destroy(pool);
    }
    test_refused(bench.pool);
    is_int(help_notices, 0, "no worker was lost");
    return seal_end(&bench);
}
