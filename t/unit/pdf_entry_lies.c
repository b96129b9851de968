/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_entry_lies.c: a helper in the hands of a document changes the fields that a signer fills in: their values, what
 * they show, their names and their lock. pdf_lies.c has the lies about signatures, and says how they are told. */
#include "fake_helper.h"
#include "lies.h"
#include "entry_make.h"

/* Objects of the document: 1 the catalog, 2 the page tree, 3 and 4 the pages. Prepared: 5 the empty appearance; 6 and 8
 * the signature fields of ann, 7 her text; 9 the signature field of bob, 10 his choice, 11 and 12 his texts; 13 the
 * check box of ann; 14 to 18 the appearances of 7, 10 to 12 and 13; 19 and 20 the locks of ann and bob; 21 the form.
 * Filled by ann: 22 the signature, 23 what is drawn, 24 and 25 the appearances of 6 and 8, 26 and 27 those of 7 and
 * 13. */
#define CONFIRMED 64u /* with where_t: it takes the document to find the lie */
#define IN_FORM 128u  /* with where_t: the entries are fields of the document */
#define DIFFERS "the fields are added otherwise than they have to be"

#define WIDGET "<</Type/Annot/Subtype/Widget/F 132/T"
#define EMAIL                                                                                                          \
    WIDGET "(email)/TU(Email)/FT/Tx/Ff 1/DA(/Helv 0 Tf 0 g)/P 3 0 R/Rect[200 240 300 300 ]/V(eve)/AP<</N 26 0 R>>>>"
#define TICK "<</Type/XObject/Subtype/Form/BBox[0 0 9 9 ]/Resources<<>>/Length 0>>stream\n\nendstream"

/* A document with a form: 5 a text, 6 a check box, 7 the form. Prepared: 8 the empty appearance, 9 the signature field,
 * 10 and 11 the appearances of 5 and 6, 12 the lock. Filled: 13 the signature, 16 and 17 the appearances of 5 and 6. */
#define FIELD "<</Type/Annot/Subtype/Widget/F 4/P 3 0 R"
static const pdf_parts_t FORM = {
    .pages = 1,
    .page = "/MediaBox[0 0 612 792]/Annots[5 0 R 6 0 R]",
    .catalog = "/AcroForm 7 0 R",
    .objects = {"<<>>", FIELD "/FT/Tx/T(cost)/V(1)/DA(/Helv 9 Tf 0 g)/Rect[100 300 200 320]>>",
                FIELD "/FT/Btn/T(read)/MK<</CA(4)>>/Rect[100 330 120 350]>>", "<</Fields[5 0 R 6 0 R]>>"}};

static const lie_t LIES[] = {
    {"prepare", "nothing", NOWHERE, 0, NULL, NULL},
    {"prepare", "another value", OBJECT, 7, "(950,00)", "(9500,00)"},
    {"prepare", "no value", OBJECT, 7, "/V(950,00)", ""},
    {"prepare", "another name", OBJECT, 7, "(rent_1)", "(cost_1)"},
    {"prepare", "another number after a name", OBJECT, 7, "(rent_1)", "(rent_7)"},
    {"prepare", "the name of another field", OBJECT, 7, "(rent_1)", "(rent_2)"},
    {"prepare", "another label", OBJECT, 7, "/TU(Rent)", "/TU(Costs)"},
    {"prepare", "another length", OBJECT, 7, "/MaxLen 20", "/MaxLen 5"},
    {"prepare", "readers may change a text", OBJECT, 7, "/Ff 1", "/Ff 0"},
    {"prepare", "a text does something", OBJECT, 7, "/FT/Tx", "/FT/Tx/AA 5 0 R"},
    {"prepare", "a text shows what another one shows", OBJECT, 7, "/N 14 0 R", "/N 16 0 R"},
    {"prepare", "a check box is ticked", OBJECT, 13, "/V/Off/AS/Off", "/V/On/AS/On"},
    {"prepare", "a check box looks ticked", OBJECT, 13, "/AS/Off", "/AS/On"},
    {"prepare", "a check box becomes a button", OBJECT, 13, "/Ff 1", "/Ff 65537"},
    {"prepare", "a check box shows a tick if it is not ticked", OBJECT, 13, "/Off 5 0 R", "/Off 18 0 R"},
    {"prepare", "a check box shows no tick", OBJECT, 13, "/On 18 0 R", "/On 5 0 R"},
    {"prepare", "a check box has one state more", OBJECT, 13, "<</On", "<</Other 5 0 R/On"},
    {"prepare", "a choice has one option less", OBJECT, 10, "(Yes \\(both\\))", ""},
    {"prepare", "a choice can be edited", OBJECT, 10, "/Ff 131073", "/Ff 393217"},
    {"prepare", "a text shows something else", OBJECT, 14, "stream\nx", "stream\ny"},
    {"prepare", "a text is shown larger", OBJECT, 14, "/BBox[0 0 100.5 ", "/BBox[0 0 10.5 "},
    {"prepare", "a text is turned", OBJECT, 14, "/Matrix[1 0 0 1 ", "/Matrix[0 1 1 0 "},
    {"prepare", "a text has other resources", OBJECT, 14, "/Resources<<", "/Resources<</XObject<</X 5 0 R>>"},
    {"prepare", "a text has the resources of PDF/A", OBJECT | CONFIRMED, 14, "/Resources" SR_PDF_CAPTION_RESOURCES,
     "/Resources" SR_PDF_CAPTION_ARCHIVAL},
    {"prepare", "a tick is drawn otherwise", OBJECT, 18, " RG", " rg"},
    {"prepare", "a lock names one field less", OBJECT, 19, "(terms_read)", ""},
    {"prepare", "a lock names a field of another signer", OBJECT, 19, "(terms_read)", "(terms_read)(email)"},
    {"prepare", "a lock is for all other fields", OBJECT, 19, "/Include", "/Exclude"},
    {"prepare", "a lock permits no more signatures", OBJECT, 19, "]>>", "]/P 1>>"},
    {"prepare", "a signature has no lock", OBJECT, 6, "/Lock 19 0 R", ""},
    {"prepare", "a signature has the lock of another signer", OBJECT, 8, "/Lock 19 0 R", "/Lock 20 0 R"},
    {"prepare", "a text is missing", DROP, 7, NULL, NULL},
    {"prepare", "an appearance is missing", DROP, 14, NULL, NULL},
    {"prepare", "a lock is missing", DROP, 20, NULL, NULL},

    {"fill", "nothing", NOWHERE, 0, NULL, NULL},
    {"fill", "another value", OBJECT, 7, "(1,050.00)", "(9,050.00)"},
    {"fill", "the value of before", OBJECT, 7, "(1,050.00)", "(950,00)"},
    {"fill", "no value", OBJECT, 7, "/V(1,050.00)", ""},
    {"fill", "two values", OBJECT, 7, "/V(1,050.00)", "/V(9)/V(1,050.00)"},
    {"fill", "a value before the name", OBJECT, 7, "/T(rent_1)", "/V(9)/T(rent_1)"},
    {"fill", "another name", OBJECT, 7, "(rent_1)", "(rent_3)"},
    {"fill", "another label", OBJECT, 7, "/TU(Rent)", "/TU(Costs)"},
    {"fill", "another place", OBJECT, 7, "/Rect[50 ", "/Rect[90 "},
    {"fill", "a text is hidden", OBJECT, 7, "/F 132", "/F 134"},
    {"fill", "a text shows what it showed", OBJECT, 7, "/N 26 0 R", "/N 14 0 R"},
    {"fill", "a text shows a tick", OBJECT, 7, "/N 26 0 R", "/N 27 0 R"},
    {"fill", "a text shows the signature", OBJECT, 7, "/N 26 0 R", "/N 24 0 R"},
    {"fill", "a text shows more when it is touched", OBJECT, 7, "/N 26 0 R", "/N 26 0 R/D 24 0 R"},
    {"fill", "a check box is not ticked", OBJECT, 13, "/V/On/AS/On", "/V/Off/AS/Off"},
    {"fill", "a check box looks otherwise", OBJECT, 13, "/AS/On", "/AS/Off"},
    {"fill", "a tick is nothing", OBJECT, 13, "/On 27 0 R", "/On 5 0 R"},
    {"fill", "a tick is the one of before", OBJECT, 13, "/On 27 0 R", "/On 18 0 R"},
    {"fill", "a box that is not ticked looks ticked", OBJECT, 13, "/Off 5 0 R", "/Off 27 0 R"},
    {"fill", "a check box has one state more", OBJECT, 13, "<</On", "<</Other 24 0 R/On"},
    {"fill", "a text shows something else", OBJECT, 26, "stream\nx", "stream\ny"},
    {"fill", "a text is shown smaller", OBJECT, 26, "/BBox[0 0 100.5 ", "/BBox[0 0 900.5 "},
    {"fill", "a tick is drawn otherwise", OBJECT, 27, " RG", " rg"},
    {"fill", "a value is not filled in", DROP, 7, NULL, NULL},
    {"fill", "a tick is not filled in", DROP, 13, NULL, NULL},
    {"fill", "an appearance is missing", DROP, 26, NULL, NULL},
    {"fill", "a field of another signer is filled in", ADD, 12, NULL, EMAIL},
    {"fill", "what another field shows", ADD, 17, NULL, TICK},
    {"fill", "the lock is there again", ADD, 19, NULL, "<</Type/SigFieldLock/Action/Include/Fields[(email)]>>"},
    {"fill", "states that nobody needs", ADD, 28, NULL, "<</On 27 0 R/Off 5 0 R>>"},
    {"fill", "a value is there twice", TWICE, 7, "(1,050.00)", "(9,050.00)"},
    {"fill", "no lock", OBJECT, 22, "/Reference", "/Preference"},
    {"fill", "a lock with one field less", OBJECT, 22, "(terms_read)", ""},
    {"fill", "a lock with a field of another signer", OBJECT, 22, "(terms_read)", "(email)"},
    {"fill", "a lock that is for all other fields", OBJECT, 22, "/Include", "/Exclude"},
    {"fill", "a signature field loses its lock", OBJECT, 6, "/Lock 19 0 R", ""},
    {"fill", "a signature field has another lock", OBJECT, 8, "/Lock 19 0 R", "/Lock 20 0 R"},

    {"prepare", "nothing, in a form", IN_FORM, 0, NULL, NULL},
    {"prepare", "another value in a form", OBJECT | IN_FORM, 5, "(950,00)", "(9500,00)"},
    {"prepare", "a value before the value", OBJECT | IN_FORM, 5, "/FT", "/V(9)/FT"},
    {"prepare", "an appearance before the appearance", OBJECT | IN_FORM, 5, "/FT", "/AP<</N 11 0 R>>/FT"},
    {"prepare", "another place in a form", OBJECT | IN_FORM, 5, "/Rect[100 ", "/Rect[10 "},
    {"prepare", "a place before the place", OBJECT | IN_FORM, 5, "/FT", "/Rect[0 0 9 9]/FT"},
    {"prepare", "readers may change a form", OBJECT | IN_FORM, 5, "/Ff 1", "/Ff 2"},
    {"prepare", "a form shows something else", OBJECT | IN_FORM, 5, "/N 10 0 R", "/N 11 0 R"},
    {"prepare", "a form shows a text otherwise", OBJECT | IN_FORM, 10, "stream\nx", "stream\ny"},
    {"prepare", "a check box in a form is ticked", OBJECT | IN_FORM, 6, "/V/Off/AS/Off", "/V/On/AS/On"},
    {"prepare", "a check box in a form looks ticked", OBJECT | IN_FORM, 6, "/AS/Off", "/AS/On"},
    {"prepare", "another name in a form", OBJECT | IN_FORM | CONFIRMED, 5, "(cost)", "(rent)"},
    {"prepare", "a form does something", OBJECT | IN_FORM | CONFIRMED, 5, "/FT", "/AA 8 0 R/FT"},
    {"prepare", "a lock without a field of the form", OBJECT | IN_FORM, 12, "(cost)", ""},
    {"prepare", "a field of the form is missing", DROP | IN_FORM, 5, NULL, NULL},
    {"prepare", "an appearance in a form is missing", DROP | IN_FORM, 11, NULL, NULL},
    {"fill", "nothing, in a form", IN_FORM, 0, NULL, NULL},
    {"fill", "another value in a form", OBJECT | IN_FORM, 5, "(1,050.00)", "(9,050.00)"},
    {"fill", "a value before the value", OBJECT | IN_FORM, 5, "/FT", "/V(9)/FT"},
    {"fill", "another name in a form", OBJECT | IN_FORM, 5, "(cost)", "(rent)"},
    {"fill", "another place in a form", OBJECT | IN_FORM, 5, "/Rect[100 ", "/Rect[10 "},
    {"fill", "a form shows what it showed", OBJECT | IN_FORM, 5, "/N 16 0 R", "/N 10 0 R"},
    {"fill", "a check box in a form is not ticked", OBJECT | IN_FORM, 6, "/V/On/AS/On", "/V/Off/AS/Off"},
    {"fill", "a lock without a field of the form", OBJECT | IN_FORM, 13, "(cost)", ""},
    {"fill", "a field of the form is not filled in", DROP | IN_FORM, 5, NULL, NULL},
    {"fill", "an appearance in a form is missing", DROP | IN_FORM, 16, NULL, NULL},
};

static char script[] = "/tmp/sigreq-lies-XXXXXX";

/* NULL, or why ann could not sign. */
static const char *sign(seal_bench_t *bench, apr_pool_t *pool)
{
    static const entry_case_t plain;
    entry_fields_t made;
    sr_pdf_signature_t signature = {.signer = ENTRY_ANN, .name = "Ann Lee", .time = apr_time_from_sec(1800000000)};
    entry_fields(&made, bench, 0, pool);
    pdf_t pdf = entry_document(bench, &plain, pool);
    const char *reason = seal_prepare(bench, &pdf, made.fields, ENTRY_FIELDS, pool);
    made.entries[0].text = "1,050.00";
    made.entries[1].ticked = true;
    entry_draw(bench, made.fields, made.entries, ENTRY_FIELDS, pool);
    signature.fields = seal_fields(made.fields, ENTRY_FIELDS, pool);
    signature.ink = seal_ink(SEAL_INK, pool);
    if (!reason) reason = seal_fill(bench, &pdf, &signature, pool);
    free(pdf.data);
    return reason;
}

/* The same, with fields of the document. */
static const char *sign_form(seal_bench_t *bench, apr_pool_t *pool)
{
    sr_pdf_entry_t entries[] = {{.name = "cost", .label = "Cost", .text = "950,00"},
                                {.kind = SR_PDF_ENTRY_CHECKBOX, .name = "read", .label = "Read"}};
    sr_pdf_field_t fields[] = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 90), seal_field(ENTRY_ANN, 0, 100, 300, 200, 320),
                               seal_field(ENTRY_ANN, 0, 100, 330, 120, 350)};
    sr_pdf_signature_t signature = {.signer = ENTRY_ANN, .name = "Ann Lee", .time = apr_time_from_sec(1800000000)};
    for (int i = 0; i < 2; i++) {
        fields[i + 1].entry = &entries[i];
        fields[i + 1].existing = entries[i].name;
    }
    pdf_t pdf = pdf_document(&FORM);
    entry_draw(bench, fields, entries, 3, pool);
    const char *reason = seal_prepare(bench, &pdf, fields, 3, pool);
    entries[0].text = "1,050.00";
    entries[1].ticked = true;
    entry_draw(bench, fields, entries, 3, pool);
    signature.fields = seal_fields(fields, 3, pool);
    signature.ink = seal_ink(SEAL_INK, pool);
    if (!reason) reason = seal_fill(bench, &pdf, &signature, pool);
    free(pdf.data);
    return reason;
}

static void test_lie(seal_bench_t *bench, int index)
{
    static const char nonsense[] = "it made the PDF helper send an invalid answer";
    const lie_t *lie = &LIES[index];
    const bool confirmed = lie->where & CONFIRMED;
    apr_pool_t *pool;
    apr_pool_create(&pool, lies_pool);
    fake_script(script, index, help_program());
    bench->workers = sr_pdf_pool_for_request(help_pool(script, 1, 20000, pool), NULL, 0, pool);
    help_last_notice[0] = '\0';
    const char *reason = lie->where & IN_FORM ? sign_form(bench, pool) : sign(bench, pool);
    const bool lies = (lie->where & ~IN_FORM) != NOWHERE;
    is_str(reason, lies ? nonsense : NULL, "%s: %s", lie->op, lie->name);
    is_int(help_refusals, lies ? 1 : 0, "a refusal is logged, if there is one: %s", help_last_notice);
    is_int(strstr(help_last_notice, DIFFERS) != NULL, confirmed, "what is refused is found by %s",
           confirmed ? "another worker" : "this process");
    apr_pool_destroy(pool);
}

/* As the liar: the one lie of this process. */
static lie_t chosen;

static const lie_t *choose(const char *request)
{
    return lies_asks(request, chosen.op) ? &chosen : NULL;
}

int main(int argc, char **argv)
{
    apr_initialize();
    apr_pool_create(&lies_pool, NULL);
    if (argc == 3) {
        chosen = LIES[atoi(argv[1])];
        chosen.where &= ~(CONFIRMED | IN_FORM);
        return lies_act(choose, argv[2]);
    }
    seal_bench_t bench = seal_begin(20000);
    for (int i = 0; i < (int)(sizeof LIES / sizeof *LIES); i++) test_lie(&bench, i);
    ok(!unlink(script), "the script is gone");
    return seal_end(&bench);
}
