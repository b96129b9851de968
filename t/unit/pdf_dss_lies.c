/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_dss_lies.c: a helper in the hands of a document gives updates with proofs or with a document timestamp that say
 * something else than what was asked for. Each is well made (lies.h). None may be sealed. Only the first of the workers
 * lies: what this process cannot see, the second one finds. pdf_lies.c has updates without proofs. */
#include "fake_helper.h"
#include "lies.h"
#include "pdf_dss.h"

#include <fcntl.h>

/* Objects of the document: 1 the catalog, 3 the page, 4 its content, 5 for liars. Prepared: 6 the empty appearance, 7
 * the field of ann, 8 that of bob, 9 the form. ann, with four proofs: 10 the signature, 11 the store, 12 and 15 the
 * certificates, 13 the OCSP response, 14 the CRL, 16 and 17 what is drawn. bob, with another OCSP response: 18 the
 * signature, 19 the response. Archived with another one: 22 the timestamp, 23 its field, 24 the response. */
#define FIRST "first"     /* ann */
#define LATER "later"     /* bob */
#define KNOWN "known"     /* bob, with the proofs of ann */
#define ARCHIVE "archive" /* with a newer response */

/* With where_t: another worker finds it. */
#define CONFIRMED 64u

#define EVIL "<</Length 44>>stream\nBT /F 24 Tf 72 700 Td (1,000,000 EURO) Tj ET\nendstream"
#define PAGE "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Annots[7 0 R 8 0 R]>>"
#define CATALOG "<</Type/Catalog/Pages 2 0 R/OpenAction 5 0 R/AcroForm 9 0 R/DSS 11 0 R>>"

static const lie_t LIES[] = {
    {FIRST, "nothing", NOWHERE, 0, NULL, NULL},
    {FIRST, "the catalog has other pages", OBJECT | CONFIRMED, 1, "/Pages 2 0 R", "/Pages 5 0 R"},
    {FIRST, "the catalog does something", OBJECT | CONFIRMED, 1, "/Type /Catalog", "/Type /Catalog /OpenAction 5 0 R"},
    {FIRST, "the catalog has another form", OBJECT | CONFIRMED, 1, "/AcroForm 9 0 R", "/AcroForm 5 0 R"},
    {FIRST, "the catalog has another store", OBJECT, 1, "/DSS 11 0 R", "/DSS 5 0 R"},
    {FIRST, "the catalog has no store", OBJECT, 1, "/DSS 11 0 R", ""},
    {FIRST, "the catalog is not there", DROP, 1, NULL, NULL},
    {FIRST, "the catalog is a stream", OBJECT, 1, ">>", "/Length 0>>stream\n\nendstream"},
    {FIRST, "the store has something else", OBJECT, 11, "/Type/DSS", "/Type/DSS/X 5 0 R"},
    {FIRST, "the store has a certificate less", OBJECT, 11, "12 0 R ", ""},
    {FIRST, "the store has a certificate more", OBJECT, 11, "15 0 R ]", "15 0 R 5 0 R ]"},
    {FIRST, "the store had a certificate", OBJECT | CONFIRMED, 11, "/Certs[", "/Certs[5 0 R "},
    {FIRST, "the store had more", OBJECT | CONFIRMED, 11, "/Type/DSS", "/Type/DSS/VRI 5 0 R"},
    {FIRST, "the store has a list twice", OBJECT, 11, "/Type/DSS", "/Type/DSS/Certs[12 0 R 15 0 R ]"},
    {FIRST, "the store has no list of CRLs", OBJECT, 11, "/CRLs[14 0 R ]", ""},
    {FIRST, "a CRL is an OCSP response", OBJECT, 11, "13 0 R ]/CRLs[14 0 R ", "14 0 R ]/CRLs[13 0 R "},
    {FIRST, "the store is not there", DROP, 11, NULL, NULL},
    {FIRST, "a proof is longer", OBJECT, 15, "<</Length 31>>stream\n", "<</Length 32>>stream\nX"},
    {FIRST, "a proof is something else too", OBJECT, 15, "<</Length", "<</Type/XObject/Length"},
    {FIRST, "a proof is packed otherwise", OBJECT, 15, "<</Length", "<</Filter/FlateDecode/Length"},
    {FIRST, "a proof is not there", DROP, 15, NULL, NULL},
    {FIRST, "a proof is there twice", TWICE, 15, "<<", "<< "},
    {FIRST, "an object that nobody needs", ADD, 18, NULL, EVIL},
    {FIRST, "the content is there again", ADD, 4, NULL, EVIL},
    {FIRST, "the page is there again", ADD, 3, NULL, PAGE},
    {FIRST, "another person signs", OBJECT, 10, "(Ann \\(Lee\\))", "(Bob \\(Lee\\))"},

    {LATER, "nothing", NOWHERE, 0, NULL, NULL},
    {LATER, "the store loses a certificate", OBJECT, 11, "12 0 R ", ""},
    {LATER, "the store gets another certificate", OBJECT, 11, "/Certs[", "/Certs[5 0 R "},
    {LATER, "the store gets more", OBJECT, 11, "/Type/DSS", "/Type/DSS/VRI 5 0 R"},
    {LATER, "the store loses its CRLs", OBJECT, 11, "/CRLs[14 0 R ]", ""},
    {LATER, "the store does not get the response", OBJECT, 11, "19 0 R ", ""},
    {LATER, "the response is one that was there", OBJECT, 11, "19 0 R ", "13 0 R "},
    {LATER, "the store is not there", DROP, 11, NULL, NULL},
    {LATER, "the store is a stream", OBJECT, 11, "]>>", "]/Length 0>>stream\n\nendstream"},
    {LATER, "the response is not there", DROP, 19, NULL, NULL},
    {LATER, "a proof of ann is there again", ADD, 12, NULL, EVIL},
    {LATER, "the catalog is there again", ADD, 1, NULL, CATALOG},

    {KNOWN, "nothing", NOWHERE, 0, NULL, NULL},
    {KNOWN, "the store is there again", ADD, 11, NULL, "<</Type/DSS/Certs[12 0 R 15 0 R ]>>"},
    {KNOWN, "a proof of ann is there again", ADD, 12, NULL, EVIL},
    {KNOWN, "a new proof", ADD, 21, NULL, "<</Length 1>>stream\nx\nendstream"},

    {ARCHIVE, "nothing", NOWHERE, 0, NULL, NULL},
    {ARCHIVE, "the field can be seen", OBJECT, 23, "/Rect[0 0 0 0]", "/Rect[0 0 600 700]"},
    {ARCHIVE, "the field looks like something", OBJECT, 23, "/F 132", "/F 132/AP<</N 5 0 R>>"},
    {ARCHIVE, "the field is called otherwise", OBJECT, 23, "Timestamp_id", "Signature_id"},
    {ARCHIVE, "the field does something", OBJECT, 23, "/FT/Sig", "/FT/Sig/A 5 0 R"},
    {ARCHIVE, "the field has another value", OBJECT, 23, "/V 22 0 R", "/V 10 0 R"},
    {ARCHIVE, "the field is on another page", OBJECT | CONFIRMED, 23, "/P 3 0 R", "/P 5 0 R"},
    {ARCHIVE, "the field is in a new page", OBJECT, 23, "/P 3 0 R", "/P 24 0 R"},
    {ARCHIVE, "the field is not there", DROP, 23, NULL, NULL},
    {ARCHIVE, "the timestamp is a signature", OBJECT, 22, "/ETSI.RFC3161", "/ETSI.CAdES.detached"},
    {ARCHIVE, "the timestamp locks something", OBJECT, 22, "/Type/DocTimeStamp", "/Type/DocTimeStamp/Reference 5 0 R"},
    {ARCHIVE, "the timestamp says something", OBJECT, 22, ">>>", ">/Name(Bob)>>"},
    {ARCHIVE, "the form does more", OBJECT | CONFIRMED, 9, "/SigFlags 3", "/XFA 5 0 R/SigFlags 3"},
    {ARCHIVE, "the form loses a field", OBJECT | CONFIRMED, 9, "8 0 R ", ""},
    {ARCHIVE, "the form gets another field", OBJECT, 9, "23 0 R ]", "23 0 R 5 0 R ]"},
    {ARCHIVE, "the form does not get the field", OBJECT, 9, "23 0 R ]", "]"},
    {ARCHIVE, "the form is not there", DROP, 9, NULL, NULL},
    {ARCHIVE, "two objects get the field", ADD, 8, NULL, "<</Kids[ 23 0 R ]>>"},
    {ARCHIVE, "the store loses a certificate", OBJECT, 11, "12 0 R ", ""},
    {ARCHIVE, "the store does not get the response", OBJECT, 11, "24 0 R ", ""},
    {ARCHIVE, "the response is not there", DROP, 24, NULL, NULL},
    {ARCHIVE, "ann's signature is there again", ADD, 10, NULL, "<</Type/Sig/Name(Bob)>>"},
    {ARCHIVE, "the page is there again", ADD, 3, NULL, PAGE},
    {ARCHIVE, "the catalog is there again", ADD, 1, NULL, CATALOG},
    {ARCHIVE, "an object that nobody needs", ADD, 25, NULL, EVIL},
    {ARCHIVE, "another catalog", TRAILER, 0, "/Root 1 0 R", "/Root 5 0 R"},
    {ARCHIVE, "another trailer before", TRAILER, 0, "/Prev ", "/Prev 1"},
    {ARCHIVE, "more after the end", END, 0, NULL, "4 0 obj\n(hidden)\nendobj\n"},
};

static char script[] = "/tmp/sigreq-dss-lies-XXXXXX", told[] = "/tmp/sigreq-dss-told-XXXXXX";

static pdf_t document(void)
{
    return pdf_document(
        &(pdf_parts_t){.pages = 1,
                       .page = "/MediaBox[0 0 612 792]/Contents 4 0 R",
                       .objects = {"<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (1 euro) Tj ET\nendstream",
                                   "<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (9 euro) Tj ET\nendstream"}});
}

/* The truth, until the request that is lied to. NULL, or why that request failed. */
static const char *act(seal_bench_t *bench, sr_pdf_pool_t *liar, const lie_t *lie, apr_pool_t *pool)
{
    const sr_pdf_field_t fields[] = {seal_field("ann", 0, 50, 50, 150, 90), seal_field("bob", 0, 50, 200, 150, 240)};
    const apr_array_header_t *proofs = dss_proofs('o', pool), *later = dss_proofs('p', pool);
    pdf_t pdf = document();
    const bool is_first = !strcmp(lie->op, FIRST), is_archive = !strcmp(lie->op, ARCHIVE);
    sr_pdf_pool_t *honest = bench->workers;
    const char *reason = seal_prepare(bench, &pdf, fields, 2, pool);
    if (is_first) bench->workers = liar;
    if (!reason) reason = dss_fill(bench, &pdf, "ann", proofs, pool);
    if (!is_first && !is_archive) bench->workers = liar;
    if (!reason && !is_first) reason = dss_fill(bench, &pdf, "bob", strcmp(lie->op, KNOWN) ? later : proofs, pool);
    bench->workers = liar;
    if (!reason && is_archive) reason = dss_archive(bench, &pdf, "id", dss_proofs('q', pool), pool);
    bench->workers = honest;
    free(pdf.data);
    return reason;
}

static void test_lie(seal_bench_t *bench, int index)
{
    static const char nonsense[] = "it made the PDF helper send an invalid answer",
                      another[] = "another worker makes another";
    const lie_t *lie = &LIES[index];
    const bool confirmed = lie->where & CONFIRMED;
    apr_pool_t *pool;
    apr_pool_create(&pool, lies_pool);
    fake_script(script, index, apr_pstrcat(pool, told, ":", help_program(), NULL));
    unlink(told);
    sr_pdf_pool_t *liar = help_pool(script, 2, 20000, pool);
    help_last_notice[0] = '\0';
    is_str(act(bench, liar, lie, pool), lie->where ? nonsense : NULL, "%s: %s", lie->op, lie->name);
    is_int(help_refusals, lie->where ? 1 : 0, "a refusal is logged, if there is one: %s", help_last_notice);
    is_int(strstr(help_last_notice, another) != NULL, confirmed, "what is refused is found by %s",
           confirmed ? "another worker" : "this process");
    is_int(help_notices, 0, "nothing else is logged");
    apr_pool_destroy(pool);
}

/* As the liar: the one lie of this process, and the file that the first liar makes. */
static lie_t chosen;
static const char *mark;

static const lie_t *choose(const char *request)
{
    if (!lies_asks(request, strcmp(chosen.op, ARCHIVE) ? SR_PDF_OP_FILL : SR_PDF_OP_ARCHIVE)) return NULL;
    const int made = open(mark, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (made < 0) return NULL;
    close(made);
    return &chosen;
}

int main(int argc, char **argv)
{
    apr_initialize();
    apr_pool_create(&lies_pool, NULL);
    if (argc == 3) {
        chosen = LIES[atoi(argv[1])];
        chosen.where &= ~CONFIRMED;
        char *program = strchr(argv[2], ':');
        mark = apr_pstrmemdup(lies_pool, argv[2], (apr_size_t)(program - argv[2]));
        return lies_act(choose, program + 1);
    }
    seal_bench_t bench = seal_begin(20000);
    close(mkstemp(told));
    for (int i = 0; i < (int)(sizeof LIES / sizeof *LIES); i++) test_lie(&bench, i);
    ok(!unlink(script) && !unlink(told), "the files are gone");
    return seal_end(&bench);
}
