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

/* A document with radio buttons: 4 and 5 their appearances, 6 the group, 7 and 8 the buttons, 9 the form. Prepared: 10
 * the empty appearance, 11 the signature field, 12 the lock. Filled: 13 the signature. */
#define IN_RADIO 256u /* with where_t: the entry is a group of radio buttons of the document */
#define LOOK "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<>>/Length 0>>stream\n\nendstream"
static const pdf_parts_t RADIO = {
    .pages = 1,
    .page = "/MediaBox[0 0 612 792]/Annots[7 0 R 8 0 R]",
    .catalog = "/AcroForm 9 0 R",
    .objects = {LOOK, LOOK, "<</FT/Btn/Ff 49152/T(pay)/V/month/Kids[8 0 R 7 0 R]>>",
                FIELD "/Parent 6 0 R/AS/month/AP<</N<</month 4 0 R/Off 5 0 R>>>>/Rect[100 300 120 320]>>",
                FIELD "/Parent 6 0 R/AS/Off/AP<</N<</1#20year 4 0 R>>/D<</1#20year 5 0 R>>>>/Rect[100 330 120 350]>>",
                "<</Fields[6 0 R]>>"}};

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

    {"prepare", "nothing, in a group", IN_RADIO, 0, NULL, NULL},
    {"prepare", "a group has another value", OBJECT | IN_RADIO, 6, "/V/month", "/V/1#20year"},
    {"prepare", "a group has no value", OBJECT | IN_RADIO, 6, "/V/month", ""},
    {"prepare", "a value before the value of a group", OBJECT | IN_RADIO, 6, "/FT", "/V/1#20year/FT"},
    {"prepare", "flags before the flags of a group", OBJECT | IN_RADIO, 6, "/FT", "/Ff 0/FT"},
    {"prepare", "readers may change a group", OBJECT | IN_RADIO, 6, "/Ff 49153", "/Ff 49152"},
    {"prepare", "a group becomes check boxes", OBJECT | IN_RADIO, 6, "/Ff 49153", "/Ff 1"},
    {"prepare", "a group has a button less", OBJECT | IN_RADIO, 6, "8 0 R 7 0 R", "7 0 R"},
    {"prepare", "a group has a button twice", OBJECT | IN_RADIO, 6, "8 0 R 7 0 R", "8 0 R 8 0 R"},
    {"prepare", "a group has a button more", OBJECT | IN_RADIO, 6, "8 0 R 7 0 R", "8 0 R 7 0 R 11 0 R"},
    {"prepare", "a group has a place", OBJECT | IN_RADIO, 6, "/FT", "/Rect[0 0 9 9]/FT"},
    {"prepare", "another name of a group", OBJECT | IN_RADIO | CONFIRMED, 6, "(pay)", "(buy)"},
    {"prepare", "two buttons are on", OBJECT | IN_RADIO, 8, "/AS/Off", "/AS/1#20year"},
    {"prepare", "no button is on", OBJECT | IN_RADIO, 7, "/AS/month", "/AS/Off"},
    {"prepare", "a button has another state", OBJECT | IN_RADIO, 7, "/month 4", "/1#20year 4"},
    {"prepare", "a button has one state more", OBJECT | IN_RADIO, 7, "/month 4", "/x 4 0 R/month 4"},
    {"prepare", "a button looks otherwise when it is pressed", OBJECT | IN_RADIO, 7, "/AP<<", "/AP<</D 4 0 R"},
    {"prepare", "a button looks on when it is off", OBJECT | IN_RADIO | CONFIRMED, 7, "/Off 5", "/Off 4"},
    {"prepare", "a button looks off when it is on", OBJECT | IN_RADIO | CONFIRMED, 7, "/month 4", "/month 5"},
    {"prepare", "a button is elsewhere", OBJECT | IN_RADIO, 8, "/Rect[100 330 ", "/Rect[100 300 "},
    {"prepare", "a button has a value", OBJECT | IN_RADIO, 8, "/F 4", "/V/1#20year/F 4"},
    {"prepare", "a button has a name", OBJECT | IN_RADIO, 8, "/F 4", "/T(x)/F 4"},
    {"prepare", "a state before the state", OBJECT | IN_RADIO, 8, "/F 4", "/AS/1#20year/F 4"},
    {"prepare", "a button is hidden", OBJECT | IN_RADIO | CONFIRMED, 8, "/F 4", "/F 2"},
    {"prepare", "a button is missing", DROP | IN_RADIO, 8, NULL, NULL},
    {"prepare", "a group is missing", DROP | IN_RADIO, 6, NULL, NULL},
    {"prepare", "a lock without a group", OBJECT | IN_RADIO, 12, "(pay)", ""},
    {"fill", "nothing, in a group", IN_RADIO, 0, NULL, NULL},
    {"fill", "the value of another button", OBJECT | IN_RADIO, 6, "/V/1#20year", "/V/month"},
    {"fill", "the value of no button", OBJECT | IN_RADIO, 6, "/V/1#20year", "/V/Off"},
    {"fill", "a value that is no state", OBJECT | IN_RADIO, 6, "/V/1#20year", "/V/2#20years"},
    {"fill", "a group has another name", OBJECT | IN_RADIO, 6, "(pay)", "(buy)"},
    {"fill", "a group has a button less", OBJECT | IN_RADIO, 6, "8 0 R 7 0 R", "7 0 R"},
    {"fill", "readers may change a group", OBJECT | IN_RADIO, 6, "/Ff 49153", "/Ff 49152"},
    {"fill", "two buttons are on", OBJECT | IN_RADIO, 7, "/AS/Off", "/AS/month"},
    {"fill", "no button is on", OBJECT | IN_RADIO, 8, "/AS/1#20year", "/AS/Off"},
    {"fill", "a button looks off when it is on", OBJECT | IN_RADIO, 8, "/1#20year 4", "/1#20year 5"},
    {"fill", "a button looks on when it is off", OBJECT | IN_RADIO, 7, "/Off 5", "/Off 4"},
    {"fill", "a button shows something new", OBJECT | IN_RADIO, 7, "/Off 5", "/Off 14"},
    {"fill", "a button is elsewhere", OBJECT | IN_RADIO, 8, "/Rect[100 330 ", "/Rect[100 300 "},
    {"fill", "a button has a value", OBJECT | IN_RADIO, 8, "/AS", "/V/month/AS"},
    {"fill", "a group is not filled in", DROP | IN_RADIO, 6, NULL, NULL},
    {"fill", "a button that is on is missing", DROP | IN_RADIO, 8, NULL, NULL},
    {"fill", "a button that is off is missing", DROP | IN_RADIO, 7, NULL, NULL},
    {"fill", "a button is there twice", TWICE | IN_RADIO, 7, "/AS/Off", "/AS/month"},
    {"fill", "a lock without a group", OBJECT | IN_RADIO, 13, "(pay)", ""},
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

/* The same, with radio buttons of the document. */
static const char *sign_radio(seal_bench_t *bench, apr_pool_t *pool)
{
    sr_pdf_entry_t entry = {.kind = SR_PDF_ENTRY_RADIO, .name = "pay", .label = "Pay", .text = "month"};
    entry.buttons = entry_buttons(pool);
    sr_pdf_field_t fields[] = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 90), seal_field(ENTRY_ANN, 0, 100, 300, 120, 320)};
    sr_pdf_signature_t signature = {.signer = ENTRY_ANN, .name = "Ann Lee", .time = apr_time_from_sec(1800000000)};
    fields[1].entry = &entry;
    fields[1].existing = entry.name;
    pdf_t pdf = pdf_document(&RADIO);
    const char *reason = seal_prepare(bench, &pdf, fields, 2, pool);
    entry.text = "1 year";
    signature.fields = seal_fields(fields, 2, pool);
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
    const char *reason = lie->where & IN_FORM    ? sign_form(bench, pool)
                         : lie->where & IN_RADIO ? sign_radio(bench, pool)
                                                 : sign(bench, pool);
    const bool lies = (lie->where & ~(IN_FORM | IN_RADIO)) != NOWHERE;
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
        chosen.where &= ~(CONFIRMED | IN_FORM | IN_RADIO);
        return lies_act(choose, argv[2]);
    }
    seal_bench_t bench = seal_begin(20000);
    for (int i = 0; i < (int)(sizeof LIES / sizeof *LIES); i++) test_lie(&bench, i);
    ok(!unlink(script), "the script is gone");
    return seal_end(&bench);
}
