/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_existing.c: the signature fields that a document has already: which of them are found and can be signed, that
 * they are signed, that a certification which permits it stays good, and what is refused. Other programs are asked
 * whether every signature is good: qpdf, pdfsig, mutool, and pyHanko where it is at hand. */
#include "changes_make.h"
#include "pdf_others.h"

#include <openssl/sha.h>

#define TENANT                                                                                                         \
    {                                                                                                                  \
        .page = 0, .rect = {50, 50, 150, 90}, .existing = "Tenant"                                                     \
    }
#define LANDLORD                                                                                                       \
    {                                                                                                                  \
        .page = 0, .rect = {100, 150, 200, 190}, .existing = "party.landlord"                                          \
    }

/* Coordinates of such a page are units of 1/36 inch, those of its fields too. */
#define UNITS "/UserUnit 2/CropBox[20 30 500 700]"

/* -------------------------------------------------------------------------------------------------- what is found */

#define WIDGET "<</Type/Annot/Subtype/Widget/FT/Sig/F 4/Rect[50 50 150 90]"

typedef struct case_t {
    const char *name, *field; /* object 5, which is the one field and, unless there is a kid, on the page */
    const char *kid;          /* object 6, which is on the page */
    const char *says;         /* the list of the report */
} case_t;

static const case_t CASES[] = {
    {"a field", WIDGET "/T(a)>>", NULL, "[{\"name\":\"a\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0]}]"},
    {"a name that is not ASCII", WIDGET "/T<FEFF007A006F00EB>>>", NULL,
     "[{\"name\":\"zo\xC3\xAB\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0]}]"},
    {"a rectangle by its other corners", "<</FT/Sig/T(a)/Rect[150.5 50 50 90]>>", NULL,
     "[{\"name\":\"a\",\"page\":0,\"rect\":[50.0,50.0,150.5,90.0]}]"},
    {"a widget of its own", "<</FT/Sig/T(a)/Kids[6 0 R]>>", WIDGET "/Parent 5 0 R>>",
     "[{\"name\":\"a\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0]}]"},
    {"a widget of its own that is direct", "<</FT/Sig/T(a)/Kids[" WIDGET ">>]>>", NULL,
     "[{\"name\":\"a\",\"fault\":\"apart\"}]"},
    {"a field below a field", "<</FT/Sig/T(a)/Kids[6 0 R]>>", "<</T(b)/Rect[0 0 9 9]/Parent 5 0 R>>",
     "[{\"name\":\"a.b\",\"page\":0,\"rect\":[0.0,0.0,9.0,9.0]}]"},
    {"no name", WIDGET ">>", NULL, NULL},
    {"a text field", "<</FT/Tx/T(a)/Rect[0 0 9 9]>>", NULL, NULL},
    {"a value", WIDGET "/T(a)/V 4 0 R>>", NULL, "[{\"name\":\"a\",\"fault\":\"signed\"}]"},
    {"hidden", "<</FT/Sig/T(a)/F 2/Rect[0 0 9 9]>>", NULL, "[{\"name\":\"a\",\"fault\":\"hidden\"}]"},
    {"not to be viewed", "<</FT/Sig/T(a)/F 36/Rect[0 0 9 9]>>", NULL, "[{\"name\":\"a\",\"fault\":\"hidden\"}]"},
    {"no size", "<</FT/Sig/T(a)/Rect[0 0 0 0]>>", NULL, "[{\"name\":\"a\",\"fault\":\"hidden\"}]"},
    {"no rectangle", "<</FT/Sig/T(a)/F 4>>", NULL, "[{\"name\":\"a\",\"fault\":\"hidden\"}]"},
    {"two widgets", "<</FT/Sig/T(a)/Kids[6 0 R 6 0 R]>>", WIDGET "/Parent 5 0 R>>",
     "[{\"name\":\"a\",\"fault\":\"places\"}]"},
    {"a widget on no page", WIDGET "/T(a)>>", "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]>>",
     "[{\"name\":\"a\",\"fault\":\"places\"}]"},
    {"read-only", WIDGET "/T(a)/Ff 1>>", NULL, "[{\"name\":\"a\",\"fault\":\"read-only\"}]"},
    {"a lock", WIDGET "/T(a)/Lock<</Type/SigFieldLock/Action/All>>>>", NULL, "[{\"name\":\"a\",\"fault\":\"lock\"}]"},
    {"a direct field", "<</T(a)/Kids[<</FT/Sig/T(b)/Rect[0 0 9 9]>>]>>", NULL,
     "[{\"name\":\"a.b\",\"fault\":\"direct\"}]"},
    {"a field below two fields", "<</T(a)/Kids[<</T(b)/Kids[6 0 R]>><</T(c)/Kids[6 0 R]>>]>>", WIDGET "/T(d)>>",
     "[{\"name\":\"a.b.d\",\"fault\":\"twice\"},{\"name\":\"a.c.d\",\"fault\":\"twice\"}]"},
    {"a name that is there twice", "<</T(a)/Kids[6 0 R 6 0 R]>>", WIDGET "/T(d)>>",
     "[{\"name\":\"a.d\",\"fault\":\"twice\"}]"},
    {"preferences", WIDGET "/T(a)/SV<</Reasons[(x)]/Ff 0>>>>", NULL,
     "[{\"name\":\"a\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0],\"seed\":true}]"},
    {"demands that are met",
     WIDGET "/T(a)/SV<</Ff 71/Filter/Adobe.PPKLite/SubFilter[/ETSI.CAdES.detached]/V 3"
            "/DigestMethod[(SHA256)(SHA384)(SHA512)]>>>>",
     NULL, "[{\"name\":\"a\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0],\"seed\":true}]"},
    {"another kind of signature is demanded", WIDGET "/T(a)/SV<</Ff 2/SubFilter[/adbe.pkcs7.detached]>>>>", NULL,
     "[{\"name\":\"a\",\"fault\":\"seed\"}]"},
    {"a hash function is demanded", WIDGET "/T(a)/SV<</Ff 64/DigestMethod[(SHA1)]>>>>", NULL,
     "[{\"name\":\"a\",\"fault\":\"seed\"}]"},
    {"a reason is demanded", WIDGET "/T(a)/SV<</Ff 8/Reasons[(x)]>>>>", NULL, "[{\"name\":\"a\",\"fault\":\"seed\"}]"},
    {"a certification is demanded", WIDGET "/T(a)/SV<</MDP<</P 2>>>>>>", NULL, "[{\"name\":\"a\",\"fault\":\"seed\"}]"},
    {"a certificate is demanded", WIDGET "/T(a)/SV<</Cert<</Ff 1>>>>>>", NULL, "[{\"name\":\"a\",\"fault\":\"seed\"}]"},
};

static const char *list_of(const sr_pdf_probe_t *probe)
{
    const char *list = probe->pages ? strstr(probe->pages->report, ",\"fields\":") : NULL;
    return list ? apr_pstrmemdup(bench.pool, list + 10, strlen(list + 10) - 1) : NULL;
}

static void test_found(const case_t *one)
{
    sr_pdf_probe_t probe;
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1,
                                            .page = one->kid ? "/MediaBox[0 0 612 792]/Annots[6 0 R]"
                                                             : "/MediaBox[0 0 612 792]/Annots[5 0 R]",
                                            .catalog = "/AcroForm<</Fields[5 0 R]>>",
                                            .objects = {"<</Type/Sig>>", one->field, one->kid}});
    const char *said = help_say(help_probe(&probe, bench.workers, pdf.data, pdf.size, bench.pool), &probe, bench.pool);
    is_str(list_of(&probe), one->says, "%s: %.20s", one->name, said);
    free(pdf.data);
}

/* ------------------------------------------------------------------------------------------------- the documents */

typedef struct form_t {
    int level;             /* of its certification; 0: nobody has signed it */
    int rotate;            /* of the page */
    const char *reference; /* in the signature that is there, besides the certification; or NULL */
    const char *page;      /* more keys of it, or NULL */
} form_t;

/* Signs what is between the brackets of its last object, as who certifies a document does. */
static void certify(pdf_t *pdf)
{
    char *contents = memmem(pdf->data, pdf->size, "/Contents<", 10), range[100];
    const size_t gap = (size_t)(contents + 9 - pdf->data), to = gap + 2 * SIGN_ROOM + 2;
    unsigned char *der;
    const int length = snprintf(range, sizeof range, "[0 %zu %zu %zu]", gap, to, pdf->size - to);
    memcpy(contents - 40, range, (size_t)length);
    pdf_t covered = {0};
    pdf_add(&covered, pdf->data, gap);
    pdf_add(&covered, pdf->data + to, pdf->size - to);
    unsigned char digest[32];
    SHA256((const unsigned char *)covered.data, covered.size, digest);
    const int size = seal_cms(&der, &bench.key, digest);
    const char *hex = sr_text_hex(der, (apr_size_t)size, bench.pool);
    memcpy(pdf->data + gap + 1, hex, 2 * (size_t)size);
    OPENSSL_free(der);
    free(covered.data);
}

/* With the fields "Tenant", 5, and "party.landlord", 7, below 6; certified, also "Author", 9. */
static pdf_t form_of(const form_t *form)
{
    const bool is_signed = form->level || form->reference;
    pdf_t pdf, text = {0};
    pdf_begin(&pdf);
    pdf_object(&pdf, form->level ? "<</Type/Catalog/Pages 2 0 R/AcroForm 4 0 R/Perms<</DocMDP 10 0 R>>>>"
                                 : "<</Type/Catalog/Pages 2 0 R/AcroForm 4 0 R>>");
    pdf_object(&pdf, "<</Type/Pages/Count 1/Kids[3 0 R]>>");
    pdf_print(&text, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Rotate %d%s/Annots[5 0 R 7 0 R 8 0 R%s]>>",
              form->rotate, form->page ? form->page : "", is_signed ? " 9 0 R" : "");
    pdf_object(&pdf, text.data);
    pdf_object(&pdf, is_signed ? "<</Fields[5 0 R 6 0 R 9 0 R]/SigFlags 3>>" : "<</Fields[5 0 R 6 0 R]>>");
    pdf_object(&pdf, WIDGET "/T(Tenant)/P 3 0 R>>");
    pdf_object(&pdf, "<</T(party)/Kids[7 0 R]>>");
    pdf_object(&pdf, "<</Type/Annot/Subtype/Widget/FT/Sig/T(landlord)/Parent 6 0 R/F 132/Rect[200 190 100 150]>>");
    pdf_object(&pdf, "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Border[0 0 0]>>");
    if (is_signed) {
        text.size = 0;
        pdf_object(&pdf, "<</Type/Annot/Subtype/Widget/FT/Sig/T(Author)/F 132/Rect[0 0 0 0]/P 3 0 R/V 10 0 R>>");
        pdf_print(&text, "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20261120180923Z)");
        pdf_print(&text, "/Reference[");
        if (form->level)
            pdf_print(&text, "<</Type/SigRef/TransformMethod/DocMDP/TransformParams<<%s/P %d/V/1.2>>>>",
                      "/Type/TransformParams", form->level);
        pdf_print(&text, "%s]/ByteRange%40s/Contents<%0*d>>>", form->reference ? form->reference : "", "",
                  2 * SIGN_ROOM, 0);
        pdf_object(&pdf, text.data);
    }
    pdf_end(&pdf, "");
    if (is_signed) certify(&pdf);
    free(text.data);
    return pdf;
}

static sr_pdf_signature_t signature_of(const char *signer, const sr_pdf_field_t *fields, int count)
{
    return (sr_pdf_signature_t){.signer = signer,
                                .name = "Ann Lee",
                                .time = apr_time_now(),
                                .fields = seal_fields(fields, count, bench.pool),
                                .ink = seal_ink(SEAL_INK, bench.pool)};
}

/* The first field is ann's, the others are bob's. NULL, or why they cannot sign. */
static const char *sign(pdf_t *pdf, sr_pdf_field_t *fields, int count)
{
    for (int i = 0; i < count; i++) fields[i].signer = i ? "bob" : "ann";
    sr_pdf_signature_t ann = signature_of("ann", fields, count), bob = signature_of("bob", fields, count);
    const char *reason = seal_prepare(&bench, pdf, fields, count, bench.pool);
    if (!reason) reason = seal_fill(&bench, pdf, &ann, bench.pool);
    if (!reason && count > 1) reason = seal_fill(&bench, pdf, &bob, bench.pool);
    return reason;
}

/* ------------------------------------------------------------------------------------------------ what is signed */

/* `others`: how many fields are signed, with those that were there before. */
static void test_signed(const char *file, const form_t *form, sr_pdf_field_t *fields, int count, int others)
{
    sr_pdf_probe_t probe;
    pdf_t pdf = form_of(form);
    const char *said = help_say(help_probe(&probe, bench.workers, pdf.data, pdf.size, bench.pool), &probe, bench.pool);
    ok(probe.verdict == SR_PDF_ACCEPTED, "%s is accepted: %s", file, said);
    is_str(sign(&pdf, fields, count), NULL, "the document is signed by two");
    is_str(changes_said(&pdf, bench.pool), "signed", "our verification calls the document signed, and not changed");
    test_others(&pdf, file, others, count - 1);
    free(pdf.data);
}

static void test_all_signed(void)
{
    sr_pdf_field_t both[] = {TENANT, LANDLORD};
    sr_pdf_field_t mixed[] = {TENANT, LANDLORD, seal_field("bob", 0, 300, 300, 400, 340)};
    test_signed("plain.pdf", &(form_t){0}, both, 2, 2);
    test_signed("mixed.pdf", &(form_t){0}, mixed, 3, 3);
    test_signed("turned.pdf", &(form_t){.rotate = 270}, both, 2, 2);
    test_signed("units.pdf", &(form_t){.page = UNITS}, mixed, 3, 3);
    test_signed("certified-units.pdf", &(form_t){.level = 2, .page = UNITS}, both, 2, 3);
    test_signed("level2.pdf", &(form_t){.level = 2}, both, 2, 3);
    test_signed("level3.pdf", &(form_t){.level = 3}, both, 2, 3);
}

/* One signer has all places of a certified document: one signature in each. */
static void test_one_signer(void)
{
    sr_pdf_field_t both[] = {TENANT, LANDLORD};
    pdf_t pdf = form_of(&(form_t){.level = 2});
    both[0].signer = both[1].signer = "ann";
    sr_pdf_signature_t ann = signature_of("ann", both, 2);
    is_str(seal_prepare(&bench, &pdf, both, 2, bench.pool), NULL, "one signer with two existing fields");
    is_str(seal_fill(&bench, &pdf, &ann, bench.pool), NULL, "a signer with two existing fields signs");
    is_str(changes_said(&pdf, bench.pool), "signed",
           "our verification calls a document with two existing fields signed");
    test_others(&pdf, "one.pdf", 3, 2);
    is_str(seal_fill(&bench, &pdf, &ann, bench.pool), "a signature field of it that this signer has is not empty",
           "a signer with two existing fields cannot sign again");
    free(pdf.data);
}

/* Whatever way the page is turned, a signature in an existing field looks as in one that is added in its place. */
static void test_look(int rotate, const char *page)
{
    static const char *const names[] = {"existing.pdf", "added.pdf"};
    int status;
    for (int i = 0; i < 2; i++) {
        sr_pdf_field_t field = TENANT;
        pdf_t pdf = form_of(&(form_t){.rotate = rotate, .page = page});
        if (i) field.existing = NULL;
        if (sign(&pdf, &field, 1)) abort();
        seal_write(&bench, names[i], pdf.data, pdf.size);
        seal_run(&status, &bench, bench.pool, "pdftoppm -r 60 %s %s", names[i], names[i]);
        is_int(status, 0, "pdftoppm draws %s turned by %d%s", names[i], rotate, page ? page : "");
        free(pdf.data);
    }
    seal_run(&status, &bench, bench.pool, "cmp existing.pdf-1.ppm added.pdf-1.ppm");
    is_int(status, 0, "a signature in an existing field looks like one in an added field");
    seal_run(&status, &bench, bench.pool, "sh -c 'test $(sort -u existing.pdf-1.ppm | wc -c) -gt 100'");
    is_int(status, 0, "the picture of the signature is not empty");
}

static void test_encrypted(void)
{
    sr_pdf_field_t both[] = {TENANT, LANDLORD};
    pdf_t pdf = form_of(&(form_t){0});
    int status;
    seal_write(&bench, "open.pdf", pdf.data, pdf.size);
    seal_run(&status, &bench, bench.pool, "qpdf --static-id --encrypt '' owner 256 -- open.pdf secret.pdf");
    if (status) abort();
    FILE *file = fopen(apr_pstrcat(bench.pool, bench.folder, "/secret.pdf", NULL), "rb");
    char piece[4096];
    if (!file) abort();
    pdf.size = 0;
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(&pdf, piece, got);
    fclose(file);
    is_str(sign(&pdf, both, 2), NULL, "the fields of an encrypted document are signed");
    is_str(changes_said(&pdf, bench.pool), "signed", "our verification calls the encrypted document signed");
    test_programs(&pdf, "secret.pdf", 2, 1); /* pyHanko asks for a password */
    free(pdf.data);
}

/* ------------------------------------------------------------------------------------------------ what is refused */

static void test_refused(const char *name, const form_t *form, sr_pdf_field_t field, const char *want)
{
    pdf_t pdf = form_of(form);
    field.signer = "ann";
    is_str(seal_prepare(&bench, &pdf, &field, 1, bench.pool), want, "%s", name);
    free(pdf.data);
}

static void test_probed(const char *name, const form_t *form, const char *want)
{
    sr_pdf_probe_t probe;
    pdf_t pdf = form_of(form);
    const char *said = help_say(help_probe(&probe, bench.workers, pdf.data, pdf.size, bench.pool), &probe, bench.pool);
    const char *list = list_of(&probe);
    is_str(list ? list : said, want, "%s", name);
    free(pdf.data);
}

#define FIELD_LOCK(what)                                                                                               \
    "<</Type/SigRef/TransformMethod/FieldMDP/TransformParams<</Type/TransformParams/V/1.2" what ">>>>"
#define BOTH                                                                                                           \
    "{\"name\":\"Tenant\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0]},"                                                \
    "{\"name\":\"party.landlord\",\"page\":0,\"rect\":[100.0,150.0,200.0,190.0]}"
#define AUTHOR ",{\"name\":\"Author\",\"fault\":\"signed\"}]"

static void test_all_refused(void)
{
    static const char gone[] = "an empty signature field is not there, or elsewhere";
    const sr_pdf_field_t added = seal_field("ann", 0, 300, 300, 400, 340);
    sr_pdf_field_t field = TENANT;
    field.existing = "Guest";
    test_refused("a field that is not there", &(form_t){0}, field, gone);
    field.existing = "Author";
    test_refused("a field that is signed", &(form_t){.level = 2}, field, gone);
    field = (sr_pdf_field_t)TENANT;
    field.rect[2]++;
    test_refused("a field that is elsewhere", &(form_t){0}, field, gone);
    field = (sr_pdf_field_t)TENANT;
    field.page = 1;
    test_refused("a field on another page", &(form_t){0}, field, gone);
    test_refused("a new field in a certified document", &(form_t){.level = 2}, added,
                 "it is certified, and its certification allows no new signature fields: only its empty ones can be "
                 "signed");
    test_refused("a new field where all are locked but one",
                 &(form_t){.reference = FIELD_LOCK("/Action/Exclude/Fields[(Tenant)]")}, added,
                 "an earlier signature locks its form: only its empty ones can be signed");

    test_probed("units of the page's own: places are said in them", &(form_t){.page = UNITS}, "[" BOTH "]");
    test_probed("level 1", &(form_t){.level = 1}, "refused: it is certified, and its certification permits no changes");
    test_probed("level 2", &(form_t){.level = 2}, "[" BOTH AUTHOR);
    test_probed("level 3", &(form_t){.level = 3}, "[" BOTH AUTHOR);
    test_probed("a level that has no meaning", &(form_t){.level = 9},
                "refused: it is certified, and its certification permits no changes");
    test_probed("a lock of all fields", &(form_t){.reference = FIELD_LOCK("/Action/All")},
                "refused: an earlier signature locks its form");
    test_probed("a lock of a field with those below it",
                &(form_t){.reference = FIELD_LOCK("/Action/Include/Fields[(party)(Ten)]")},
                "[{\"name\":\"Tenant\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0]},"
                "{\"name\":\"party.landlord\",\"fault\":\"locked\"}" AUTHOR);
    test_probed("a lock of all fields but one", &(form_t){.reference = FIELD_LOCK("/Action/Exclude/Fields[(Tenant)]")},
                "[{\"name\":\"Tenant\",\"page\":0,\"rect\":[50.0,50.0,150.0,90.0]},"
                "{\"name\":\"party.landlord\",\"fault\":\"locked\"}" AUTHOR);
    test_probed("a lock of all fields but others",
                &(form_t){.reference = FIELD_LOCK("/Action/Exclude/Fields[(Guest)]")},
                "refused: an earlier signature locks its form");
}

int main(void)
{
    bench = seal_begin(8000);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) test_found(&CASES[i]);
    test_all_signed();
    test_one_signer();
    for (int rotate = 0; rotate < 360; rotate += 90) {
        test_look(rotate, NULL);
        test_look(rotate, UNITS);
    }
    test_encrypted();
    test_all_refused();
    test_judged_later();
    is_int(help_refusals, 0, "no true update was refused: %s", help_last_notice);
    return seal_end(&bench);
}
