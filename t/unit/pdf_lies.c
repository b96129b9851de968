/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_lies.c: a helper in the hands of a document gives updates that say more, less or something else than what was
 * asked for. Each is well made: its cross-reference section and byte ranges are right, so every PDF reader follows it.
 * None may be sealed. The liar stands between the client and a true helper, and changes the answers to "prepare" or
 * "fill"; this program is the liar as well. What a new appearance draws within its field cannot be told from what was
 * asked for, so there is no such lie here. */
#include "fake_helper.h"
#include "lies.h"
#include "pdf_seal.h"

/* With tags: 7 the structure's root, 8 the element of the document, 9 the tree; prepared: 10 the empty appearance, 11
 * to 13 the fields, 14 to 16 their elements, 17 the form.
 * Objects of the document: 1 the catalog, 2 the page tree, 3 the page, 4 its content, 5 and 6 for liars. Prepared: 7
 * the empty appearance, 8 and 9 the fields of ann, 10 that of bob, 11 the form. Filled: 12 the signature, 13 what is
 * drawn, 14 and 15 the appearances of 8 and 9. */
#define ANN "ann"
#define BOB "bob"

#define TAGGED "tagged" /* an op: to prepare a document with tags */

#define SECRET "secret" /* to prepare a document that is encrypted */
#define SEALED "sealed" /* to fill it */

/* To prepare a document that has a form, 7, with signature fields: 8 and 10 for ann; 11, which nobody names; 9 is
 * above 10. Prepared: 12 the empty appearance, 13 the field of bob. And to fill it: 14 the signature, 15 what is drawn,
 * 16 and 17 the appearances of 8 and 10. */
#define FORM "form"
#define NAMED "named"

/* With where_t: it takes the document to find the lie, so another worker finds it. */
#define CONFIRMED 64u
/* What the log says if another worker does not make the same update. */
#define DIFFERS "the fields are added otherwise than they have to be"

#define EVIL "<</Length 44>>stream\nBT /F 24 Tf 72 700 Td (1,000,000 EURO) Tj ET\nendstream"
#define PAGE "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"

#define OTHER "<</Type/Annot/Subtype/Widget/FT/Sig/F 4/T(Other)/Rect[50 300 150 340]"

static const lie_t LIES[] = {
    {"prepare", "nothing", NOWHERE, 0, NULL, NULL},
    {"prepare", "the page has another content", OBJECT | CONFIRMED, 3, "/Contents 4 0 R", "/Contents 5 0 R"},
    {"prepare", "the page is larger", OBJECT | CONFIRMED, 3, "792 ]", "999 ]"},
    {"prepare", "the page does something", OBJECT | CONFIRMED, 3, "/Type /Page", "/Type /Page /AA << /O 6 0 R >>"},
    {"prepare", "the page loses its annotations", OBJECT | CONFIRMED, 3, "6 0 R  8 0 R", "8 0 R"},
    {"prepare", "the page has one annotation more", OBJECT, 3, "9 0 R ", "9 0 R 6 0 R "},
    {"prepare", "a field is not on the page", OBJECT, 3, "9 0 R ", ""},
    {"prepare", "the catalog has other pages", OBJECT | CONFIRMED, 1, "/Pages 2 0 R", "/Pages 6 0 R"},
    {"prepare", "the catalog does something", OBJECT | CONFIRMED, 1, "/Pages 2 0 R", "/Pages 2 0 R /OpenAction 6 0 R"},
    {"prepare", "the catalog has another extension", OBJECT | CONFIRMED, 1, "/ESIC", "/EVIL"},
    {"prepare", "the catalog has no extension", OBJECT | CONFIRMED, 1, "/Extensions<<" SR_PDF_EXTENSION ">>", ""},
    {"prepare", "the catalog has layers", OBJECT | CONFIRMED, 1, "/Pages 2 0 R", "/Pages 2 0 R /OCProperties 6 0 R"},
    {"prepare", "the catalog has a form twice", OBJECT | CONFIRMED, 1, "/Pages 2 0 R", "/AcroForm 6 0 R /Pages 2 0 R"},
    {"prepare", "the form has no field of bob", OBJECT, 11, " 10 0 R ", " "},
    {"prepare", "the form does more", OBJECT, 11, "<</SigFlags", "<</XFA 6 0 R/SigFlags"},
    {"prepare", "a field is elsewhere", OBJECT, 8, "Rect[50 ", "Rect[51 "},
    {"prepare", "a field is much larger", OBJECT, 8, " 150 ", " 550 "},
    {"prepare", "a field is on another page", OBJECT, 8, "/P 3 0 R", "/P 6 0 R"},
    {"prepare", "a field belongs to another signer", OBJECT, 8, "_ann)", "_bob)"},
    {"prepare", "a field does something", OBJECT, 8, "/FT/Sig", "/FT/Sig/A 6 0 R"},
    {"prepare", "a further place is no signature field", OBJECT, 9, "/FT/Sig", "/FT/Btn/Ff 65537/H/N"},
    {"prepare", "a further place belongs to another signer", OBJECT, 9, "_ann_2)", "_bob_2)"},
    {"prepare", "a field can be seen by nobody", OBJECT, 8, "/F 132", "/F 134"},
    {"prepare", "a field is called otherwise", OBJECT, 8, "/TU(Signature)", "/TU(Amount)"},
    {"prepare", "a field is called nothing", OBJECT, 8, "/TU(Signature)", ""},
    {"prepare", "a field is turned", OBJECT | CONFIRMED, 8, "]/AP", "]/MK<</R 90>>/AP"},
    {"prepare", "a field has a value", OBJECT, 8, "/FT/Sig", "/FT/Sig/V 6 0 R"},
    {"prepare", "a field looks like something", OBJECT, 8, "/N 7 0 R", "/N 5 0 R"},
    {"prepare", "the empty appearance is not", OBJECT, 7, "/Length 0>>stream\n", "/Length 1>>stream\nx"},
    {"prepare", "the content is there again", ADD, 4, NULL, EVIL},
    {"prepare", "an object that nobody needs", ADD, 12, NULL, EVIL},
    {"prepare", "the page tree is there again", ADD, 2, NULL, "<</Type/Pages/Count 1/Kids[6 0 R]>>"},
    {"prepare", "an object stream", ADD, 12, NULL,
     "<</Type/ObjStm/N 1/First 4/Length 18>>stream\n4 0 <</Length 0>>  \nendstream"},
    {"prepare", "a field is missing", DROP, 10, NULL, NULL},
    {"prepare", "the page is not there", DROP, 3, NULL, NULL},
    {"prepare", "the catalog is not there", DROP, 1, NULL, NULL},
    {"prepare", "the page is there twice", TWICE, 3, "/Contents 4 0 R", "/Contents 5 0 R"},
    {"prepare", "another catalog", TRAILER, 0, "/Root 1 0 R", "/Root 6 0 R"},
    {"prepare", "an encryption", TRAILER, 0, "/Root", "/Encrypt 6 0 R/Root"},
    {"prepare", "another trailer before", TRAILER | CONFIRMED, 0, "/Prev ", "/Prev 1"},
    {"prepare", "a hidden section", TRAILER, 0, "/Root", "/XRefStm 17/Root"},
    {"prepare", "room for more", TRAILER, 0, "/Size 12", "/Size 99"},
    {"prepare", "an entry into the middle", TABLE, 0, " 00000 n", " 00001 n"},
    {"prepare", "an object that is free", TABLE, 0, " 00000 n", " 00000 f"},
    {"prepare", "words between objects", BETWEEN, 8, NULL, "% 4 0 obj (hidden) endobj\n"},
    {"prepare", "space between objects", BETWEEN, 8, NULL, "\n"},
    {"prepare", "more after the end", END, 0, NULL, "4 0 obj\n(hidden)\nendobj\n"},

    {TAGGED, "nothing, with tags", NOWHERE, 0, NULL, NULL},
    {TAGGED, "an element is no form", OBJECT, 14, "/S/Form", "/S/P"},
    {TAGGED, "an element is in another one", OBJECT, 14, "/P 8 0 R", "/P 7 0 R"},
    {TAGGED, "an element is on another page", OBJECT, 15, "/Pg 3 0 R", "/Pg 6 0 R"},
    {TAGGED, "an element is of another annotation", OBJECT, 14, "/Obj 11 0 R", "/Obj 6 0 R"},
    {TAGGED, "an element says something", OBJECT, 14, "/S/Form", "/S/Form/ActualText(9 euro)"},
    {TAGGED, "an element is missing", DROP, 16, NULL, NULL},
    {TAGGED, "one element more", ADD, 18, NULL, "<</Type/StructElem/S/Form/P 8 0 R>>"},
    {TAGGED, "a field has another number", OBJECT, 12, "/StructParent 1", "/StructParent 7"},
    {TAGGED, "a field has no number", OBJECT, 13, "/StructParent 2", ""},
    {TAGGED, "all fields have other numbers", OBJECT, 11, "/StructParent 0", "/StructParent 7"},
    {TAGGED, "the element of the document has a kid less", OBJECT, 8, "16 0 R ]", "]"},
    {TAGGED, "the element of the document has a kid more", OBJECT, 8, "16 0 R ]", "16 0 R 6 0 R ]"},
    {TAGGED, "the element of the document loses a kid", OBJECT | CONFIRMED, 8, "/S /Document",
     "/S /Document /ActualText (9)"},
    {TAGGED, "the element of the document is not there", DROP, 8, NULL, NULL},
    {TAGGED, "the structure has another tree", OBJECT | CONFIRMED, 7, "/ParentTree 9 0 R", "/ParentTree 6 0 R"},
    {TAGGED, "the structure has another next number", OBJECT, 7, "NextKey 3", "NextKey 9"},
    {TAGGED, "the structure is not there", DROP, 7, NULL, NULL},
    {TAGGED, "the tree has another element", OBJECT, 9, "2 16 0 R ", "2 15 0 R "},
    {TAGGED, "the tree is not there", DROP, 9, NULL, NULL},
    {TAGGED, "the page has no order of tabs", OBJECT | CONFIRMED, 3, "/Tabs/S", ""},

    {SECRET, "nothing, with encryption", NOWHERE, 0, NULL, NULL},
    {SECRET, "another key", KEY, 0, NULL, "00"},
    {SECRET, "no key", NO_KEY, 0, NULL, NULL},
    {SECRET, "another encryption", TRAILER | CONFIRMED, 0, "/Encrypt 6 0 R", "/Encrypt 4 0 R"},
    {SECRET, "no encryption", TRAILER, 0, "/Encrypt 6 0 R", ""},
    {SECRET, "another identifier, of which the key is made", TRAILER | CONFIRMED, 0, "/ID[<3", "/ID[<4"},
    {SECRET, "a name that is not encrypted", OBJECT, 9, "/TU<", "/TU(Signature)/TU<"},
    {SECRET, "a name that is encrypted otherwise", OBJECT, 9, "/TU<", "/TU<00"},
    {SECRET, "an appearance that is not encrypted", OBJECT, 7, "/Length 32>>stream\n", "/Length 33>>stream\n "},
    {SEALED, "nothing, with encryption", NOWHERE, 0, NULL, NULL},
    {SEALED, "another key", KEY, 0, NULL, "00"},
    {SEALED, "no key", NO_KEY, 0, NULL, NULL},
    {SEALED, "no encryption", TRAILER, 0, "/Encrypt 6 0 R", ""},
    {SEALED, "another name", OBJECT, 12, "/Name<", "/Name<00"},
    {SEALED, "a name that is not encrypted", OBJECT, 12, "/Name<", "/Name(Ann Lee)/Name<"},
    {SEALED, "an appearance that is not encrypted", OBJECT, 13, ">>stream\n", ">>stream\n/"},
    {FORM, "nothing, with existing fields", NOWHERE, 0, NULL, NULL},
    {FORM, "an existing field is elsewhere", OBJECT | CONFIRMED, 8, "/Rect [ 50 ", "/Rect [ 90 "},
    {FORM, "an existing field has a value", OBJECT, 8, "/FT /Sig", "/FT /Sig /V 6 0 R"},
    {FORM, "an existing field does something", OBJECT | CONFIRMED, 8, "/FT /Sig", "/FT /Sig /A 6 0 R"},
    {FORM, "an existing field is called otherwise", OBJECT | CONFIRMED, 8, "(Tenant)", "(Guests)"},
    {FORM, "an existing field is no longer one", OBJECT, 8, "/Rect [", "/Rest ["},
    {FORM, "an existing field is missing", DROP, 8, NULL, NULL},
    {FORM, "an existing field has a widget of its own", OBJECT, 10, "/FT /Sig", "/FT /Sig /Kids [ 6 0 R ]"},
    {FORM, "an existing field below another one is missing", DROP, 10, NULL, NULL},
    {FORM, "an existing field is much larger", OBJECT | CONFIRMED, 10, " 150 ", " 550 "},
    {FORM, "a field above an existing one is there again", ADD, 9, NULL, "<</T(Guests)/Kids[10 0 R]>>"},
    {FORM, "a field that nobody has named", ADD, 11, NULL, OTHER ">>"},
    {FORM, "the form does more", OBJECT | CONFIRMED, 7, "/SigFlags 3", "/XFA 6 0 R /SigFlags 3"},
    {FORM, "the form has no field of bob", OBJECT, 7, " 13 0 R ", " "},
    {NAMED, "nothing, with existing fields", NOWHERE, 0, NULL, NULL},
    {NAMED, "the field is elsewhere", OBJECT, 8, "/Rect [ 50 ", "/Rect [ 90 "},
    {NAMED, "the field does something", OBJECT, 8, "/FT /Sig", "/FT /Sig /A 6 0 R"},
    {NAMED, "the field is called otherwise", OBJECT, 8, "(Tenant)", "(Guests)"},
    {NAMED, "the field looks like something old", OBJECT, 8, "/N 16 0 R", "/N 5 0 R"},
    {NAMED, "the field has a value of its own", OBJECT, 8, "/V 14 0 R", "/V 15 0 R"},
    {NAMED, "the field has no value", OBJECT, 8, "/V 14 0 R", ""},
    {NAMED, "the field is not filled", DROP, 8, NULL, NULL},
    {NAMED, "the second field has no value", OBJECT, 10, "/V 14 0 R", ""},
    {NAMED, "the second field is not filled", DROP, 10, NULL, NULL},
    {NAMED, "the second field is below another one", OBJECT, 10, "/Parent 9 0 R", "/Parent 6 0 R"},
    {NAMED, "the second field can be seen by nobody", OBJECT, 10, "/F 4", "/F 6"},
    {NAMED, "the field above is signed too", ADD, 9, NULL, "<</T(party)/Kids[10 0 R]/FT/Sig/V 14 0 R>>"},
    {NAMED, "another existing field is signed", ADD, 11, NULL, OTHER "/V 14 0 R/AP<</N 16 0 R>>>>"},
    {NAMED, "bob has signed too", ADD, 13, NULL,
     "<</Type/Annot/Subtype/Widget/F 132/T(Signature_bob)/TU(Signature)/FT/Sig/P 3 0 R/Rect[50 200 150 240 ]"
     "/AP<</N 16 0 R>>/V 14 0 R>>"},
    {NAMED, "the form is there again", ADD, 7, NULL, "<</SigFlags 3/Fields[8 0 R 9 0 R 11 0 R 13 0 R ]/XFA 6 0 R>>"},
    {NAMED, "the page is there again", ADD, 3, NULL, PAGE "/Annots[6 0 R 8 0 R 10 0 R 11 0 R 13 0 R]>>"},
    {"fill", "nothing", NOWHERE, 0, NULL, NULL},
    {"fill", "an appearance has colours of the document", OBJECT, 13, "/Resources<<>>",
     "/Resources<</ColorSpace<</DefaultRGB 6 0 R>>>>"},
    {"fill", "an appearance has a caption's font with an encoding of the document", OBJECT, 13, "/Resources<<>>",
     "/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding 5 0 R>>>>>>"},
    {"fill", "the content is there again", ADD, 4, NULL, EVIL},
    {"fill", "the page is there again", ADD, 3, NULL, PAGE "/Annots[8 0 R 9 0 R 10 0 R]>>"},
    {"fill", "the page has another content", ADD, 3, NULL,
     "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Annots[8 0 R 9 0 R 10 0 R]>>"},
    {"fill", "the page loses its annotations", ADD, 3, NULL, PAGE ">>"},
    {"fill", "the catalog has other pages", ADD, 1, NULL, "<</Type/Catalog/Pages 6 0 R/AcroForm 11 0 R>>"},
    {"fill", "the catalog does something", ADD, 1, NULL,
     "<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R/AcroForm 11 0 R>>"},
    {"fill", "the form is there again", ADD, 11, NULL, "<</SigFlags 3/Fields[8 0 R 9 0 R 10 0 R ]/XFA 6 0 R>>"},
    {"fill", "bob has signed too", ADD, 10, NULL,
     "<< /AP << /N 14 0 R >> /F 132 /FT /Sig /P 3 0 R /Rect [ 50 200 150 240 ] /Subtype /Widget /T (Signature_bob) "
     "/Type /Annot /V 12 0 R >>"},
    {"fill", "what bob has looks otherwise", ADD, 7, NULL,
     "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>/Length 0>>stream\n\nendstream"},
    {"fill", "an object that nobody needs", ADD, 16, NULL, EVIL},
    {"fill", "an appearance that nobody needs, under a number far away", ADD, 99, NULL,
     "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>/Length 0>>stream\n\nendstream"},
    {"fill", "an object stream", ADD, 16, NULL,
     "<</Type/ObjStm/N 1/First 4/Length 18>>stream\n4 0 <</Length 0>>  \nendstream"},
    {"fill", "an annotation", ADD, 16, NULL, "<</Type/Annot/Subtype/Stamp/Rect[0 0 600 700]/AP<</N 13 0 R>>>>"},
    {"fill", "the field is elsewhere", OBJECT, 8, "/Rect [ 50 ", "/Rect [ 90 "},
    {"fill", "the field is much larger", OBJECT, 8, " 150 ", " 550 "},
    {"fill", "the field does something", OBJECT, 8, "/FT /Sig", "/FT /Sig /A 6 0 R"},
    {"fill", "the field has a rectangle twice", OBJECT, 8, "/FT /Sig", "/FT /Sig /Rect [ 0 0 600 700 ]"},
    {"fill", "the field has another rectangle in the place of its type", OBJECT, 8, "/FT /Sig",
     "/Rect [ 0 0 600 700 ]"},
    {"fill", "the field becomes bob's", OBJECT, 8, "(Signature_ann)", "(Signature_bob)"},
    {"fill", "the field is on another page", OBJECT, 8, "/P 3 0 R", "/P 6 0 R"},
    {"fill", "the field looks like something old", OBJECT, 8, "/N 14 0 R", "/N 5 0 R"},
    {"fill", "the field looks otherwise when touched", OBJECT, 8, "/N 14 0 R>>", "/N 14 0 R/D 5 0 R>>"},
    {"fill", "the field has a value of its own", OBJECT, 8, "/V 12 0 R", "/V 13 0 R"},
    {"fill", "a further place has no signature", OBJECT, 9, "/V 12 0 R", ""},
    {"fill", "a further place has another value", OBJECT, 9, "/V 12 0 R", "/V 13 0 R"},
    {"fill", "a further place is not filled", DROP, 9, NULL, NULL},
    {"fill", "the field is not filled", DROP, 8, NULL, NULL},
    {"fill", "the field is there twice", TWICE, 8, "/Rect [ 50 ", "/Rect [ 90 "},
    {"fill", "an appearance draws something old", OBJECT, 14, "/M 13 0 R", "/M 5 0 R"},
    {"fill", "an appearance draws itself", OBJECT, 14, "/M 13 0 R", "/M 14 0 R"},
    {"fill", "an appearance is a layer", OBJECT, 14, "/Type/XObject", "/Type/XObject/OC 6 0 R"},
    {"fill", "an appearance has a type twice", OBJECT, 14, "/Type/XObject", "/Type/XObject/Type/XObject"},
    {"fill", "an appearance has fonts of the document", OBJECT, 14, "/Resources<<", "/Resources<</Font 6 0 R"},
    {"fill", "an appearance is in a file", OBJECT, 13, "/Type/XObject", "/Type/XObject/F(a)"},
    {"fill", "an appearance is no form", OBJECT, 13, "/Subtype/Form", "/Subtype/PS"},
    {"fill", "an appearance is missing", DROP, 15, NULL, NULL},
    {"fill", "another person signs", OBJECT, 12, "(Ann Lee)", "(Bob Lee)"},
    {"fill", "for another organisation", OBJECT, 12, "(Example Ltd", "(Another Ltd"},
    {"fill", "for nobody", OBJECT, 12, "/ContactInfo(Example Ltd)", ""},
    {"fill", "for another reason", OBJECT, 12, "(I agree)", "(I agre.)"},
    {"fill", "at another time", OBJECT, 12, "/M(D:2027", "/M(D:2017"},
    {"fill", "with a lock", OBJECT, 12, "/M(D:", "/Reference 6 0 R/M(D:"},
    {"fill", "with more behind it", OBJECT, 12, ">>>", ">/X 1>>"},
    {"fill", "another catalog", TRAILER, 0, "/Root 1 0 R", "/Root 6 0 R"},
    {"fill", "an information dictionary", TRAILER, 0, "/Root 1 0 R", "/Root 1 0 R/Info 6 0 R"},
    {"fill", "an encryption", TRAILER, 0, "/Root", "/Encrypt 6 0 R/Root"},
    {"fill", "another identity", TRAILER, 0, "/ID[<", "/ID[<00"},
    {"fill", "another trailer before", TRAILER, 0, "/Prev ", "/Prev 1"},
    {"fill", "a hidden section", TRAILER, 0, "/Root", "/XRefStm 17/Root"},
    {"fill", "room for more", TRAILER, 0, "/Size 16", "/Size 99"},
    {"fill", "less room", TRAILER, 0, "/Size 16", "/Size 15"},
    {"fill", "an entry into the middle", TABLE, 0, " 00000 n", " 00001 n"},
    {"fill", "an object that is free", TABLE, 0, " 00000 n", " 00000 f"},
    {"fill", "words between objects", BETWEEN, 13, NULL, "% 4 0 obj (hidden) endobj\n"},
    {"fill", "space between objects", BETWEEN, 13, NULL, "\n"},
    {"fill", "more after the end", END, 0, NULL, "4 0 obj\n(hidden)\nendobj\n"},
};

static char script[] = "/tmp/sigreq-lies-XXXXXX";

/* ------------------------------------------------------------------------------------------------- who is lied to */

static pdf_t document_of(bool tagged)
{
    return pdf_document(
        &(pdf_parts_t){.pages = 1,
                       .page = "/MediaBox[0 0 612 792]/Contents 4 0 R/Annots[6 0 R]",
                       .catalog = tagged ? "/StructTreeRoot 7 0 R" : "",
                       .objects = {"<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (1 euro) Tj ET\nendstream",
                                   "<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (9 euro) Tj ET\nendstream",
                                   "<</Type/Annot/Subtype/Text/Rect[1 1 9 9]>>",
                                   tagged ? "<</Type/StructTreeRoot/K 8 0 R/ParentTree 9 0 R>>" : NULL,
                                   "<</Type/StructElem/S/Document/P 7 0 R>>", "<</Nums[]>>"}});
}

/* By AES with 128 bits: object 6 becomes the encryption, and 5, which nothing refers to, is left out. */
static void encrypt(seal_bench_t *bench, pdf_t *pdf, apr_pool_t *pool)
{
    int status;
    seal_write(bench, "plain.pdf", pdf->data, pdf->size);
    seal_run(&status, bench, pool,
             "qpdf --static-id --object-streams=disable --allow-weak-crypto --encrypt '' owner 128 "
             "--use-aes=y -- plain.pdf secret.pdf");
    if (status) abort();
    FILE *file = fopen(apr_pstrcat(pool, bench->folder, "/secret.pdf", NULL), "rb");
    if (!file) abort();
    pdf->size = 0;
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) pdf_add(pdf, piece, got);
    fclose(file);
}

/* With a form and its fields. */
static pdf_t form_document(void)
{
    return pdf_document(
        &(pdf_parts_t){.pages = 1,
                       .page = "/MediaBox[0 0 612 792]/Contents 4 0 R/Annots[6 0 R 8 0 R 10 0 R 11 0 R]",
                       .catalog = "/AcroForm 7 0 R",
                       .objects = {"<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (1 euro) Tj ET\nendstream",
                                   "<</Length 36>>stream\nBT /F 24 Tf 72 700 Td (9 euro) Tj ET\nendstream",
                                   "<</Type/Annot/Subtype/Text/Rect[1 1 9 9]>>", "<</Fields[8 0 R 9 0 R 11 0 R]>>",
                                   "<</Type/Annot/Subtype/Widget/FT/Sig/F 4/T(Tenant)/Rect[50 50 150 90]>>",
                                   "<</T(party)/Kids[10 0 R]>>",
                                   "<</Type/Annot/Subtype/Widget/FT/Sig/F 4/T(Landlord)/Parent 9 0 R"
                                   "/Rect[50 100 150 140]>>",
                                   OTHER ">>"}});
}

/* NULL, or why ann could not sign. */
static const char *sign(seal_bench_t *bench, const lie_t *lie, apr_pool_t *pool)
{
    const bool named = !strcmp(lie->op, FORM) || !strcmp(lie->op, NAMED);
    pdf_t pdf = named ? form_document() : document_of(!strcmp(lie->op, TAGGED));
    if (!strcmp(lie->op, SECRET) || !strcmp(lie->op, SEALED)) encrypt(bench, &pdf, pool);
    sr_pdf_field_t fields[] = {seal_field(ANN, 0, 50, 50, 150, 90), seal_field(ANN, 0, 50, 100, 150, 140),
                               seal_field(BOB, 0, 50, 200, 150, 240)};
    fields[0].existing = named ? "Tenant" : NULL;
    fields[1].existing = named ? "party.Landlord" : NULL;
    sr_pdf_signature_t signature = {.signer = ANN, .name = "Ann Lee", .reason = "I agree", .contact = "Example Ltd"};
    signature.fields = seal_fields(fields, 3, pool);
    signature.time = apr_time_from_sec(1800000000);
    signature.ink = seal_ink(SEAL_INK, pool);
    const char *reason = seal_prepare(bench, &pdf, fields, 3, pool);
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
    /* one process for all requests: it takes long to start two programs for each */
    bench->workers = sr_pdf_pool_for_request(help_pool(script, 1, 20000, pool), NULL, 0, pool);
    help_last_notice[0] = '\0';
    const char *reason = sign(bench, lie, pool);
    is_str(reason, lie->where ? nonsense : NULL, "%s: %s", lie->op, lie->name);
    is_int(help_refusals, lie->where ? 1 : 0, "a refusal is logged, if there is one: %s", help_last_notice);
    is_int(strstr(help_last_notice, DIFFERS) != NULL, confirmed, "what is refused is found by %s",
           confirmed ? "another worker" : "this process");
    is_int(help_notices, 0, "nothing else is logged");
    apr_pool_destroy(pool);
}

/* As the liar: the one lie of this process. */
static lie_t chosen;

static const lie_t *choose(const char *request)
{
    const bool fills = !strcmp(chosen.op, SR_PDF_OP_FILL) || !strcmp(chosen.op, SEALED) || !strcmp(chosen.op, NAMED);
    return lies_asks(request, fills ? SR_PDF_OP_FILL : SR_PDF_OP_PREPARE) ? &chosen : NULL;
}

int main(int argc, char **argv)
{
    apr_initialize();
    apr_pool_create(&lies_pool, NULL);
    if (argc == 3) {
        chosen = LIES[atoi(argv[1])];
        chosen.where &= ~CONFIRMED;
        return lies_act(choose, argv[2]);
    }
    seal_bench_t bench = seal_begin(20000);
    for (int i = 0; i < (int)(sizeof LIES / sizeof *LIES); i++) test_lie(&bench, i);
    ok(!unlink(script), "the script is gone");
    return seal_end(&bench);
}
