/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_dss.c: documents of many forms are signed by three signers with proofs (DSS), and then archived twice. Every
 * proof is in the document once, nothing follows the last signature, every program calls every signature valid, and
 * what was added has an explanation (src/helper/main/compare/rules.cc). */
#include "pdf_dss.h"
#include "pdf_others.h"

typedef struct case_t {
    const char *name, *options; /* for qpdf; NULL: the document as it is made */
    const char *existing;       /* the field of ann, or NULL */
    pdf_parts_t parts;
} case_t;

#define FIELD "<</Type/Annot/Subtype/Widget/FT/Sig/F 4/T(Tenant)/Rect[50 100 150 140]>>"
#define STORE_CERTIFICATE "<</Length 9>>stream\nforeign 1\nendstream"
#define STRUCTURE "/StructTreeRoot 4 0 R/MarkInfo<</Marked true>>"
#define INTENTS "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)>>]"

static const case_t CASES[] = {
    {"a table", NULL, NULL, {.pages = 1}},
    {"a stream", "--object-streams=generate", NULL, {.pages = 2}},
    {"AES-256", "--encrypt '' owner 256 --", NULL, {.pages = 1}},
    {"AES-128", "--allow-weak-crypto --encrypt '' owner 128 --use-aes=y --", NULL, {.pages = 1}},
    {"RC4", "--allow-weak-crypto --encrypt '' owner 128 --use-aes=n --", NULL, {.pages = 1}},
    {"encrypted, with streams", "--object-streams=generate --encrypt '' owner 256 --", NULL, {.pages = 1}},
    {"a form that is an object",
     NULL,
     NULL,
     {.pages = 1, .catalog = "/AcroForm 4 0 R", .objects = {"<</Fields[5 0 R]/SigFlags 1>>", "<</FT/Tx/T(a)>>"}}},
    {"a form in the catalog",
     NULL,
     NULL,
     {.pages = 1, .catalog = "/AcroForm<</Fields[4 0 R]/DA(/F 0 Tf)>>", .objects = {"<</FT/Tx/T(a)>>"}}},
    {"a button",
     NULL,
     NULL,
     {.pages = 1,
      .page = "/MediaBox[0 0 612 792]/Annots[4 0 R]",
      .catalog = "/AcroForm<</Fields[4 0 R]>>",
      .objects = {"<</Type/Annot/Subtype/Widget/FT/Btn/T(check)/V/Off/AS/Off/F 4/Rect[9 50 29 70]/AP<</N 5 0 R>>>>",
                  "<</Yes 6 0 R>>", "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 0>>stream\n\nendstream"}}},
    {"fields in an array of their own",
     NULL,
     NULL,
     {.pages = 1, .catalog = "/AcroForm 4 0 R", .objects = {"<</Fields 5 0 R/SigFlags 3>>", "[]"}}},
    {"an existing field",
     NULL,
     "Tenant",
     {.pages = 1,
      .page = "/MediaBox[0 0 612 792]/Annots[5 0 R]",
      .catalog = "/AcroForm 4 0 R",
      .objects = {"<</Fields[5 0 R]/SigFlags 3>>", FIELD}}},
    {"tags",
     NULL,
     NULL,
     {.pages = 1,
      .catalog = STRUCTURE,
      .objects = {"<</Type/StructTreeRoot/K 5 0 R/ParentTree 6 0 R>>", "<</Type/StructElem/S/Document/P 4 0 R>>",
                  "<</Nums[]>>"}}},
    {"PDF/A", NULL, NULL, {.pages = 1, .catalog = INTENTS}},
    {"a store in the catalog",
     NULL,
     NULL,
     {.pages = 1, .catalog = "/DSS<</Certs[4 0 R 99 0 R]/VRI<<>>>>", .objects = {STORE_CERTIFICATE}}},
    {"a store that is an object",
     NULL,
     NULL,
     {.pages = 1,
      .catalog = "/DSS 5 0 R",
      .objects = {STORE_CERTIFICATE, "<</Type/DSS/Certs 6 0 R/CRLs[4 0 R]/VRI 7 0 R>>", "[4 0 R]",
                  "<</0123456789012345678901234567890123456789<</Cert[4 0 R]/TU(D:20260101000000Z)>>>>"}}},
    {"a store that is encrypted",
     "--encrypt '' owner 256 --",
     NULL,
     {.pages = 1,
      .catalog = "/DSS<</Certs[4 0 R]/VRI<</0123456789012345678901234567890123456789<</TU(D:20260101000000Z)>>>>>>",
      .objects = {STORE_CERTIFICATE}}},
};

/* The number of times that the proofs, packed or not, are in a document that is not encrypted. */
static int count_streams(const pdf_t *pdf, const apr_array_header_t *proofs, apr_pool_t *pool)
{
    const char *file = apr_psprintf(pool, "%s/count.pdf", bench.folder);
    int status, found = 0;
    seal_write(&bench, "count.pdf", pdf->data, pdf->size);
    seal_run(&status, &bench, pool, "qpdf --decrypt --stream-data=uncompress --static-id '%s' plain.pdf", file);
    FILE *in = fopen(apr_psprintf(pool, "%s/plain.pdf", bench.folder), "rb");
    if (!in) abort();
    pdf_t plain = {0};
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, in)) > 0;) pdf_add(&plain, piece, got);
    fclose(in);
    for (int i = 0; i < proofs->nelts; i++) {
        const sr_pdf_proof_t *proof = &APR_ARRAY_IDX(proofs, i, sr_pdf_proof_t);
        for (const char *at = plain.data;
             (at = memmem(at, (size_t)(plain.data + plain.size - at), proof->der, proof->length)); at++)
            found++;
    }
    free(plain.data);
    return found;
}

static pdf_t made(const case_t *test, apr_pool_t *pool)
{
    pdf_t pdf = pdf_document(&test->parts);
    int status;
    if (!test->options) return pdf;
    seal_write(&bench, "made.pdf", pdf.data, pdf.size);
    seal_run(&status, &bench, pool, "qpdf --static-id %s made.pdf new.pdf", test->options);
    FILE *file = fopen(apr_pstrcat(pool, bench.folder, "/new.pdf", NULL), "rb");
    if (!file) abort();
    pdf.size = 0;
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(&pdf, piece, got);
    fclose(file);
    return pdf;
}

static const char *prepare(pdf_t *pdf, const case_t *test, apr_pool_t *pool)
{
    sr_pdf_field_t fields[] = {seal_field("ann", 0, 50, 100, 150, 140), seal_field("bob", 0, 50, 200, 150, 240),
                               seal_field("carol", 0, 50, 300, 150, 340)};
    fields[0].existing = test->existing;
    return seal_prepare(&bench, pdf, fields, 3, pool);
}

/* ann's field may be an existing one. */
static const char *fill(pdf_t *pdf, const case_t *test, const char *signer, const apr_array_header_t *proofs,
                        apr_pool_t *pool)
{
    sr_pdf_field_t fields[] = {seal_field("ann", 0, 50, 100, 150, 140), seal_field("bob", 0, 50, 200, 150, 240),
                               seal_field("carol", 0, 50, 300, 150, 340)};
    fields[0].existing = test->existing;
    sr_pdf_signature_t signature = {.signer = signer, .name = "Ann (Lee)", .reason = "I agree", .proofs = proofs};
    signature.fields = test->existing ? seal_fields(fields, 3, pool) : NULL;
    signature.time = apr_time_from_sec(1800000000);
    signature.ink = seal_ink(SEAL_INK, pool);
    return seal_fill(&bench, pdf, &signature, pool);
}

static void test_judged(const pdf_t *pdf, const case_t *test, const char *step, bool archived, apr_pool_t *pool)
{
    const int fields = 3;
    const char *name = apr_pstrcat(pool, test->name, step, NULL);
    int status;
    is_str(changes_said(pdf, pool), "signed", "%s: all is intact and explained", name);
    seal_write(&bench, "judged.pdf", pdf->data, pdf->size);
    const char *said = seal_run(&status, &bench, pool, "qpdf --check judged.pdf");
    is_int(status, 0, "%s: qpdf has nothing to say%s", name, status ? said : "");
    said = seal_run(&status, &bench, pool, "pdfsig -nocert judged.pdf");
    is_int(seal_count(said, "Signature is Valid"), fields, "%s: pdfsig calls each signature valid", name);
    is_str(archived ? NULL : seal_pdfsig_says(said, fields, pool), NULL, "%s: nothing follows the last signature",
           name);
    said = seal_run(&status, &bench, pool, "mutool sign -v judged.pdf");
    if (status == 127) skip("mutool is not installed (mupdf-tools)");
    else
        ok(seal_count(said, "unchanged since") + seal_count(said, "there have been edits") == fields,
           "%s: mutool does, too", name);
    /* pyHanko does not read encrypted documents without being given a password, and the renewed document has all
     * revisions of the archived one. */
    const bool later = (!test->options || !strstr(test->options, "--encrypt")) && strcmp(step, ", archived") != 0;
    if (later) others_judge_later(pdf, name, fields, archived);
}

static void test_signed(pdf_t *pdf, const case_t *test, apr_pool_t *pool)
{
    const apr_array_header_t *first = dss_proofs('o', pool), *later = dss_proofs('p', pool);
    is_str(fill(pdf, test, "ann", first, pool), NULL, "%s: ann signs with proofs", test->name);
    const size_t one = pdf->size;
    is_str(fill(pdf, test, "bob", first, pool), NULL, "%s: bob signs with the same", test->name);
    ok(!memmem(pdf->data + one, pdf->size - one, "/DSS", 4), "%s: … which are there", test->name);
    const size_t two = pdf->size;
    is_str(fill(pdf, test, "carol", later, pool), NULL, "%s: carol signs with a newer OCSP response", test->name);
    ok(pdf->size - two > two - one + 800 && pdf->size - two < two - one + 2000,
       "%s: … which alone is new: %d and %d bytes", test->name, (int)(two - one), (int)(pdf->size - two));
    is_int(count_streams(pdf, first, pool), 4, "%s: each of the first proofs is there once", test->name);
    is_int(count_streams(pdf, later, pool), 4, "%s: and each of the later ones", test->name);
}

static void test_case(const case_t *test)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = made(test, pool);
    const apr_array_header_t *newest = dss_proofs('q', pool);
    is_str(prepare(&pdf, test, pool), NULL, "%s: prepared", test->name);
    test_signed(&pdf, test, pool);
    test_judged(&pdf, test, "", false, pool);

    const size_t before = pdf.size;
    is_str(dss_archive(&bench, &pdf, "2027-1", newest, pool), NULL, "%s: archived: %s", test->name, help_last_notice);
    ok(pdf.size - before < SR_PDF_CONTENTS_DIGITS + dss_size(newest), "%s: … in %d bytes", test->name,
       (int)(pdf.size - before));
    is_int(count_streams(&pdf, newest, pool), 4, "%s: … with the newest proofs", test->name);
    test_judged(&pdf, test, ", archived", true, pool);
    is_str(dss_archive(&bench, &pdf, "2027-1", newest, pool), "it has a field of this name already",
           "%s: the same name is not used twice", test->name);
    is_str(dss_archive(&bench, &pdf, "2037", dss_proofs('z', pool), pool), NULL, "%s: renewed", test->name);
    is_str(dss_archive(&bench, &pdf, "2047", NULL, pool), NULL, "%s: renewed without proofs", test->name);
    test_judged(&pdf, test, ", renewed", true, pool);
    is_int(help_refusals + help_notices, 0, "%s: nothing was refused: %s", test->name, help_last_notice);
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* What a store of the upload had is still there. */
static void test_foreign(const case_t *test)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = made(test, pool);
    int status;
    is_str(prepare(&pdf, test, pool), NULL, "%s: prepared", test->name);
    is_str(fill(&pdf, test, "ann", dss_proofs('o', pool), pool), NULL, "%s: signed", test->name);
    is_str(dss_archive(&bench, &pdf, "a", dss_proofs('p', pool), pool), NULL, "%s: archived", test->name);
    seal_write(&bench, "foreign.pdf", pdf.data, pdf.size);
    seal_run(&status, &bench, pool, "sh -c \"qpdf --decrypt --qdf --static-id foreign.pdf - | grep -aq 'foreign 1'\"");
    is_int(status, 0, "%s: the certificate is still there", test->name);
    if (strstr(test->parts.catalog, "/TU")) {
        seal_run(&status, &bench, pool, "sh -c \"qpdf --decrypt --qdf foreign.pdf - | grep -aq 'D:20260101000000Z'\"");
        is_int(status, 0, "%s: and what it is for", test->name);
    }
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* Proofs cost a later signer nearly nothing, and without proofs a signature has the size that it always had. */
static void test_sizes(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    size_t sizes[2][2];
    for (int with = 0; with < 2; with++) {
        pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
        const apr_array_header_t *proofs = with ? dss_proofs('o', pool) : NULL;
        size_t before;
        is_str(prepare(&pdf, &CASES[0], pool), NULL, "prepared");
        for (int i = 0; i < 2; i++) {
            before = pdf.size;
            is_str(fill(&pdf, &CASES[0], i ? "bob" : "ann", proofs, pool), NULL, "signed");
            sizes[with][i] = pdf.size - before;
        }
        free(pdf.data);
    }
    ok(sizes[1][0] - sizes[0][0] < dss_size(dss_proofs('o', pool)), "the first signer's proofs take %d bytes",
       (int)(sizes[1][0] - sizes[0][0]));
    ok(sizes[1][1] <= sizes[0][1] + 200, "the second signer's take %d bytes", (int)sizes[1][1] - (int)sizes[0][1]);
    apr_pool_destroy(pool);
}

/* Proofs beyond the limits are left out, and the signature is made without them. */
static void test_limits(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    apr_array_header_t *many = apr_array_make(pool, 80, sizeof(sr_pdf_proof_t));
    apr_array_header_t *large = apr_array_make(pool, 2, sizeof(sr_pdf_proof_t));
    apr_array_header_t *same = apr_array_make(pool, 2, sizeof(sr_pdf_proof_t));
    for (int i = 0; i <= SR_PDF_MAX_PROOFS; i++) dss_add(many, SR_PDF_CERTIFICATE, (char)i, 50, pool);
    for (int i = 0; i < 2; i++) dss_add(large, SR_PDF_CRL, (char)i, SR_PDF_MAX_PROOFS_BYTES / 2 + 1, pool);
    for (int i = 0; i < 2; i++) dss_add(same, SR_PDF_CRL, 's', 500, pool);
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
    is_str(prepare(&pdf, &CASES[0], pool), NULL, "prepared");
    is_str(fill(&pdf, &CASES[0], "ann", many, pool), NULL, "too many proofs");
    is_str(fill(&pdf, &CASES[0], "bob", large, pool), NULL, "too large ones");
    ok(!memmem(pdf.data, pdf.size, "/DSS", 4), "proofs that are too many or too large are left out");
    is_str(fill(&pdf, &CASES[0], "carol", same, pool), NULL, "one proof twice");
    is_int(count_streams(&pdf, same, pool), 2, "a proof that was given twice is written once");
    is_str(changes_said(&pdf, pool), "signed", "all changes are explained");
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* A store needs a higher level of the extension, and the field of a document timestamp names page 1. */
static void test_extension(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
    memcpy(pdf.data, "%PDF-1.7", 8);
    is_str(prepare(&pdf, &CASES[0], pool), NULL, "a document of version 1.7");
    ok(memmem(pdf.data, pdf.size, "/ExtensionLevel 2>>", 19), "it has the level of PAdES");
    is_str(fill(&pdf, &CASES[0], "ann", NULL, pool), NULL, "a signature without proofs");
    ok(!memmem(pdf.data, pdf.size, "/ExtensionLevel 5>>", 19), "a signature without proofs leaves the extension level");
    is_str(dss_archive(&bench, &pdf, "a", dss_proofs('p', pool), pool), NULL, "proofs and a document timestamp");
    ok(memmem(pdf.data, pdf.size, "/ExtensionLevel 5>>", 19),
       "proofs and a document timestamp raise the extension level to 5");
    ok(memmem(pdf.data, pdf.size, " 0 R/P 3 0 R>>", 14), "the field of the timestamp names page 1");
    is_str(changes_said(&pdf, pool), "signed", "all is explained");
    free(pdf.data);
    apr_pool_destroy(pool);
}

int main(void)
{
    bench = seal_begin(20000);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) test_case(&CASES[i]);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (strstr(CASES[i].name, "store")) test_foreign(&CASES[i]);
    test_sizes();
    test_limits();
    test_extension();
    test_judged_later();
    return seal_end(&bench);
}
