/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_entry.c: fields that signers fill in beside their signatures, in documents of several kinds: they are added with
 * the signature fields, and other programs find them with their values. */
#include "changes_make.h"
#include "entry_make.h"
#include "pdf_pixels.h"

#define FORM                                                                                                           \
    "<</Type/Annot/Subtype/Widget/FT/Tx/T(rent)/F 4/Rect[9 9 99 29]/P 3 0 R/V(1)/AP<</N 6 0 R>>>>",                    \
        "<</Type/XObject/Subtype/Form/BBox[0 0 90 20]/Resources<<>>/Length 0>>stream\n\nendstream",                    \
        "<</Fields[5 0 R]>>"

static const entry_case_t CASES[] = {
    {.name = "plain"},
    {.name = "rotated by 90", .rotate = 90},
    {.name = "rotated by 180", .rotate = 180},
    {.name = "rotated by 270", .rotate = 270},
    {.name = "with tags",
     .catalog = "/MarkInfo<</Marked true>>/StructTreeRoot 5 0 R",
     .objects = {"<</Type/StructTreeRoot/K 6 0 R/ParentTree 7 0 R>>", "<</Type/StructElem/S/Document/P 5 0 R>>",
                 "<</Nums[]>>"}},
    {.name = "as PDF/A", .catalog = "/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(x)>>]"},
    {.name = "encrypted by AES", .qpdf = "--encrypt '' owner 256 --"},
    {.name = "encrypted by RC4", .qpdf = "--encrypt '' owner 128 --use-aes=n --"},
    {.name = "with object streams", .qpdf = "--object-streams=generate"},
    {.name = "with a form", .catalog = "/AcroForm 7 0 R", .objects = {FORM}},
};
#define CASE_COUNT (sizeof CASES / sizeof *CASES)

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

static void test_prepared(const entry_case_t *kind, apr_pool_t *pool)
{
    entry_fields_t made;
    int status;
    entry_fields(&made, &bench, kind->rotate, pool);
    pdf_t pdf = entry_document(&bench, kind, pool);
    is_str(seal_prepare(&bench, &pdf, made.fields, ENTRY_FIELDS, pool), NULL, "%s: the fields are added", kind->name);
    static const char want[] =
        "Signature_ann signature\nrent_1 text read-only 950,00\nSignature_ann_2 signature\nSignature_bob signature\n"
        "N\xc3\xa4me choice read-only \nrent_2 text read-only multiline \nemail text read-only \n"
        "terms_read checkbox read-only\n";
    is_str(listed(&pdf, pool), want, "%s: the form has them with their values", kind->name);
    seal_write(&bench, "prepared.pdf", pdf.data, pdf.size);
    const char *said = seal_run(&status, &bench, pool, "qpdf --check prepared.pdf");
    is_int(status, 0, "%s: qpdf finds nothing wrong: %s", kind->name, status ? said : "");
    free(pdf.data);
}

/* Says that the entry has this value. */
static void fill_in(entry_fields_t *made, int entry, const char *text)
{
    made->entries[entry].text = text;
    made->entries[entry].ticked = text == NULL;
    entry_draw(&bench, made->fields, made->entries, ENTRY_FIELDS, bench.pool);
}

static const char *sign(pdf_t *pdf, const entry_fields_t *made, int count, const char *signer, apr_pool_t *pool)
{
    sr_pdf_signature_t signature = {.signer = signer, .name = "Ann Lee", .reason = "I agree"};
    signature.time = apr_time_now();
    signature.text = "Ann";
    signature.fields = seal_fields(made->fields, count, pool);
    return seal_fill(&bench, pdf, &signature, pool);
}

static void test_judged(const char *name, apr_pool_t *pool)
{
    int status;
    const char *said = seal_run(&status, &bench, pool, "qpdf --check %s", name);
    is_int(status, 0, "qpdf finds nothing wrong: %s", status ? said : "");
    is_str(seal_pdfsig(&bench, name, 2, pool), NULL, "pdfsig finds both signatures");
    said = seal_run(&status, &bench, pool, "mutool sign -v %s", name);
    ok(strstr(said, "unchanged since signing") && !strstr(said, "nvalid"), "mutool finds them: %s", said);
}

/* What is verified here: "signed", and what was changed and filled in after a signature. */
static const char *verified_after(const pdf_t *pdf, int index, apr_pool_t *pool)
{
    static const sr_cms_context_t context;
    sr_pdf_verification_t found;
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_verify(&found, bench.workers, fd, (apr_off_t)pdf->size, &context, pool);
    close(fd);
    if (error) return error->message;
    const char *text = sr_pdf_conclusion_name(found.conclusion);
    const char *const *changes = found.count > index ? found.signatures[index].changes : NULL;
    const char *const *filled = found.count > index ? found.signatures[index].filled : NULL;
    for (int i = 0; changes && changes[i]; i++) text = apr_pstrcat(pool, text, "; ", changes[i], NULL);
    for (int i = 0; filled && filled[i]; i++) text = apr_pstrcat(pool, text, ", ", filled[i], NULL);
    return text;
}

static const char *verified(const pdf_t *pdf, apr_pool_t *pool)
{
    return verified_after(pdf, 0, pool);
}

/* A document in which both signers have filled in the first `count` fields. */
static pdf_t signed_by_both(const entry_case_t *kind, int count, apr_pool_t *pool)
{
    entry_fields_t made;
    entry_fields(&made, &bench, kind->rotate, pool);
    pdf_t pdf = entry_document(&bench, kind, pool);
    if (seal_prepare(&bench, &pdf, made.fields, count, pool)) abort();
    fill_in(&made, 0, "1,050.00");
    fill_in(&made, 1, NULL);
    is_str(sign(&pdf, &made, count, ENTRY_ANN, pool), NULL, "%s: ann fills in %d fields", kind->name, count - 5);
    fill_in(&made, 2, "N\xc3\xb6");
    fill_in(&made, 3, "two (2)\nlines \\ \xe2\x82\xac");
    is_str(sign(&pdf, &made, count, ENTRY_BOB, pool), NULL, "%s: bob fills in his fields", kind->name);
    return pdf;
}

static void test_filled(const entry_case_t *kind, apr_pool_t *pool)
{
    static const char want[] = "Signature_ann signature\nrent_1 text read-only 1,050.00\nSignature_ann_2 signature\n"
                               "Signature_bob signature\nN\xc3\xa4me choice read-only N\xc3\xb6\n"
                               "rent_2 text read-only multiline two (2)\nlines \\ \xe2\x82\xac\nemail text read-only \n"
                               "terms_read checkbox read-only ticked\n";
    pdf_t pdf = signed_by_both(kind, ENTRY_FIELDS, pool);
    seal_write(&bench, "signed.pdf", pdf.data, pdf.size);
    test_judged("signed.pdf", pool);
    is_str(listed(&pdf, pool), want, "%s: the form has their values", kind->name);
    is_str(verified(&pdf, pool), "signed, N\xc3\xa4me, rent_2, email",
           "%s: bob's fields were filled in after ann signed", kind->name);
    free(pdf.data);
}

/* A text and a check box that the document has, and a text that is added. */
static void test_form(const char *name, int rotate, const char *qpdf, apr_pool_t *pool)
{
    static const char widget[] = "/Type/Annot/Subtype/Widget/F 4";
    entry_case_t kind = {.rotate = rotate, .catalog = "/AcroForm 6 0 R", .form = "/Annots[4 0 R 5 0 R]", .qpdf = qpdf};
    sr_pdf_entry_t entries[] = {{.name = "new", .label = "New", .text = "", .rotate = rotate},
                                {.name = "cost", .label = "Cost", .text = "", .rotate = rotate},
                                {.kind = SR_PDF_ENTRY_CHECKBOX, .name = "read", .label = "Read", .rotate = rotate}};
    sr_pdf_field_t fields[] = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 150), seal_field(ENTRY_BOB, 0, 200, 50, 300, 150),
                               seal_field(ENTRY_BOB, 0, 100, 500, 200, 600),
                               seal_field(ENTRY_ANN, 0, 100, 300, 200, 400),
                               seal_field(ENTRY_BOB, 0, 100, 430, 120, 450)};
    kind.objects[0] =
        apr_psprintf(pool, "<<%s/FT/Tx/T(cost)/DA(/Helv 9 Tf 0 g)/TU(M\\374\\)ll)/Rect[200 300 100 400]>>", widget);
    kind.objects[1] = apr_psprintf(pool, "<<%s/FT/Btn/T(read)/MK<</CA(4)>>/Rect[100 430 120.00001 450]>>", widget);
    kind.objects[2] = "<</Fields[4 0 R 5 0 R]>>";
    for (int i = 0; i < 3; i++) {
        fields[i + 2].entry = &entries[i];
        fields[i + 2].existing = i ? entries[i].name : NULL;
    }
    pdf_t pdf = entry_document(&bench, &kind, pool);
    entry_draw(&bench, fields, entries, 5, pool);
    is_str(seal_prepare(&bench, &pdf, fields, 5, pool), NULL, "form %s: the fields are prepared", name);
    const char *const texts[] = {"new value", "1,050.00 \xe2\x82\xac", NULL};
    for (int i = 0; i < 3; i++) entries[i].text = texts[i];
    entries[2].ticked = true;
    entry_draw(&bench, fields, entries, 5, pool);
    for (int i = 0; i < 2; i++) {
        sr_pdf_signature_t signature = {.signer = i ? ENTRY_BOB : ENTRY_ANN, .name = "Ann Lee", .text = "Ann"};
        signature.fields = seal_fields(fields, 5, pool);
        is_str(seal_fill(&bench, &pdf, &signature, pool), NULL, "form %s: signer %d fills them in", name, i + 1);
    }
    seal_write(&bench, "form.pdf", pdf.data, pdf.size);
    test_judged("form.pdf", pool);
    const char *said = listed(&pdf, pool);
    ok(strstr(said, "new text read-only new value\n") && strstr(said, "cost text read-only 1,050.00 \xe2\x82\xac\n")
           && strstr(said, "read checkbox read-only ticked\n"),
       "form %s: the fields have their values: %s", name, said);
    is_str(verified(&pdf, pool), "signed, read, new", "form %s: bob has filled in two fields", name);
    free(pdf.data);
}

/* Returns the number of dark pixels in the area of a field of a page that is not rotated. */
static int ink_of(const pdf_t *pdf, const sr_pdf_field_t *field, apr_pool_t *pool)
{
    const pixels_t page = pixels_render(&bench, pdf->data, pdf->size, 72, pool);
    int dark = 0;
    for (int y = page.height - (int)field->rect[3]; y < page.height - (int)field->rect[1]; y++)
        for (int x = (int)field->rect[0]; x < (int)field->rect[2]; x++) dark += page.gray[y * page.width + x] < 128;
    return dark;
}

/* A group of radio buttons, whose second one has no appearance when it is off, and a check box that another field of
 * the same form is. */
#define ON_LOOK                                                                                                        \
    "<</Type/XObject/Subtype/Form/BBox[0 0 20 20]/Resources<<>>/Length 14>>stream\n0 0 20 20 re f\nendstream"
#define OFF_LOOK "<</Type/XObject/Subtype/Form/BBox[0 0 20 20]/Resources<<>>/Length 0>>stream\n\nendstream"
#define BUTTON "<</Type/Annot/Subtype/Widget/F 4/Parent 6 0 R/Rect"

static pdf_t radio_document(int rotate, const char *qpdf, apr_pool_t *pool)
{
    const entry_case_t kind = {
        .rotate = rotate,
        .catalog = "/AcroForm 9 0 R",
        .form = "/Annots[7 0 R 8 0 R]",
        .qpdf = qpdf,
        .objects = {ON_LOOK, OFF_LOOK, "<</FT/Btn/Ff 49152/T(pay)/TU(M\\374\\)ll)/V/month/Kids[8 0 R 7 0 R]>>",
                    BUTTON "[120 320 100 300]/AS/month/MK<</CA(l)>>/AP<</N<</month 4 0 R/Off 5 0 R>>>>>>",
                    BUTTON "[100 330 120 350]/FT/Btn/Ff 0/AS/Off/AP<</N<</1#20year 4 0 R>>/D<</1#20year 5 0 R>>>>>>",
                    "<</Fields[6 0 R]>>"}};
    return entry_document(&bench, &kind, pool);
}

static const char *ink_of_buttons(const pdf_t *pdf, apr_pool_t *pool)
{
    const char *text = "";
    for (int i = 0; i < 2; i++) {
        const sr_pdf_field_t place = seal_field(ENTRY_ANN, 0, 100, 300 + 30 * i, 120, 320 + 30 * i);
        text = apr_pstrcat(pool, text, ink_of(pdf, &place, pool) > 200 ? "on " : "off ", NULL);
    }
    return text;
}

/* `chosen`: the option that bob chooses, and what poppler shows of the buttons then. */
static void test_radio(const char *name, int rotate, const char *qpdf, const char *const chosen[2], apr_pool_t *pool)
{
    sr_pdf_entry_t entry = {.kind = SR_PDF_ENTRY_RADIO, .name = "pay", .label = "Pay", .text = "month"};
    sr_pdf_field_t fields[] = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 150), seal_field(ENTRY_BOB, 0, 200, 50, 300, 150),
                               seal_field(ENTRY_BOB, 0, 100, 300, 120, 320)};
    pdf_t pdf = radio_document(rotate, qpdf, pool);
    entry.buttons = entry_buttons(pool);
    entry.rotate = rotate;
    fields[2].entry = &entry;
    fields[2].existing = "pay";
    is_str(seal_prepare(&bench, &pdf, fields, 3, pool), NULL, "radio buttons %s: they are prepared", name);
    if (!rotate) is_str(ink_of_buttons(&pdf, pool), "on off ", "radio buttons %s: the first one is on", name);
    entry.text = chosen[0];
    for (int i = 0; i < 2; i++) {
        sr_pdf_signature_t signature = {.signer = i ? ENTRY_BOB : ENTRY_ANN, .name = "Ann Lee", .text = "Ann"};
        signature.fields = seal_fields(fields, 3, pool);
        is_str(seal_fill(&bench, &pdf, &signature, pool), NULL, "radio buttons %s: signer %d signs", name, i + 1);
    }
    seal_write(&bench, "radio.pdf", pdf.data, pdf.size);
    test_judged("radio.pdf", pool);
    is_str(listed(&pdf, pool),
           apr_pstrcat(pool, "pay choice read-only", *chosen[0] ? " " : "", chosen[0],
                       "\nSignature_ann signature\nSignature_bob signature\n", NULL),
           "radio buttons %s: the form has \"%s\"", name, chosen[0]);
    if (!rotate) is_str(ink_of_buttons(&pdf, pool), chosen[1], "radio buttons %s: one is shown as on", name);
    is_str(verified(&pdf, pool), strcmp(chosen[0], "month") != 0 ? "signed, pay" : "signed",
           "radio buttons %s: bob has filled in the group", name);
    if (strcmp(chosen[0], "1 year") == 0 && !rotate && !qpdf) {
        changes_alter(&pdf, 7, "/AS/Off", "/AS/month", NULL);
        is_str(verified_after(&pdf, 1, pool), "extended; the form field \"pay\": /AS",
               "a button that is on after the last signature");
    }
    free(pdf.data);
}

/* What a worker says of a group is compared with the document when the fields are prepared. */
static void test_other_buttons(apr_pool_t *pool)
{
    static const char wrong[] = "a field of its form cannot be filled in, or is elsewhere";
    static const char *const names[] = {"options that are swapped",
                                        "another option",
                                        "another state",
                                        "another page",
                                        "another place",
                                        "a button less"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        sr_pdf_entry_t entry = {.kind = SR_PDF_ENTRY_RADIO, .name = "pay", .label = "Pay", .text = "month"};
        apr_array_header_t *buttons = apr_array_copy(pool, entry_buttons(pool));
        sr_pdf_button_t *first = (sr_pdf_button_t *)buttons->elts;
        sr_pdf_field_t fields[] = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 90),
                                   seal_field(ENTRY_ANN, 0, 100, 300, 120, 320)};
        entry.buttons = buttons;
        fields[1].entry = &entry;
        fields[1].existing = "pay";
        if (i == 0) first[0].option = "1 year", first[1].option = "month";
        if (i == 1) first[1].option = "2 years";
        if (i == 2) first[1].state = "year";
        if (i == 3) first[1].page = 1;
        if (i == 4) first[1].rect[0] += 1;
        if (i == 5) buttons->nelts = 1;
        pdf_t pdf = radio_document(0, NULL, pool);
        is_str(seal_prepare(&bench, &pdf, fields, 2, pool), wrong, "%s", names[i]);
        free(pdf.data);
    }
}

static void test_shown(apr_pool_t *pool)
{
    static const bool shown[2][ENTRY_FIELDS] = {{[1] = true}, {[1] = true, [4] = true, [5] = true, [7] = true}};
    for (int i = 0; i < 2; i++) {
        entry_fields_t made;
        entry_fields(&made, &bench, 0, pool);
        pdf_t pdf = i ? signed_by_both(&CASES[0], ENTRY_FIELDS, pool) : entry_document(&bench, &CASES[0], pool);
        if (!i && seal_prepare(&bench, &pdf, made.fields, ENTRY_FIELDS, pool)) abort();
        for (int j = 0; j < ENTRY_FIELDS; j++)
            if (made.fields[j].entry)
                is_int(ink_of(&pdf, &made.fields[j], pool) > 10, shown[i][j],
                       "\"%s\" is shown by poppler, if it is: %s", made.fields[j].entry->label,
                       i ? "signed" : "prepared");
        free(pdf.data);
    }
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

/* An update changes a value that a signature locks, after all signatures (NULL) or before that of another person. */
static void test_tampered(const char *signers, const char *later, const char *file, apr_pool_t *pool)
{
    entry_fields_t made;
    entry_fields(&made, &bench, 0, pool);
    pdf_t pdf = entry_document(&bench, &CASES[0], pool);
    if (seal_prepare(&bench, &pdf, made.fields, ENTRY_NO_BOX, pool)) abort();
    for (const char *one = signers; *one; one++)
        if (sign(&pdf, &made, ENTRY_NO_BOX, *one == 'a' ? ENTRY_ANN : ENTRY_BOB, pool)) abort();
    changes_alter(&pdf, 7, "(950,00)", "(9500,00)", NULL);
    if (later) changes_sign(&pdf, later, 1, pool);
    const char *said = verified(&pdf, pool);
    is_str(apr_pstrndup(pool, said, strcspn(said, ",;")), "changed", "a locked value is changed after %s: %s", signers,
           said);
    seal_write(&bench, file, pdf.data, pdf.size);
    free(pdf.data);
}

/* pyHanko also says whether a later signature explains what was changed. It does not open encrypted documents, and
 * stops at a check box, whose states are in a direct dictionary. */
static void test_pyhanko(apr_pool_t *pool)
{
    int status, count = 0;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        if (CASES[i].qpdf && strstr(CASES[i].qpdf, "--encrypt")) continue;
        pdf_t pdf = signed_by_both(&CASES[i], ENTRY_NO_BOX, pool);
        seal_write(&bench, apr_psprintf(pool, "case-%02d.pdf", count++), pdf.data, pdf.size);
        free(pdf.data);
    }
    const char *said = seal_pyhanko(&status, &bench, "case-*.pdf", pool);
    if (!said) return;
    is_int(status, 0, "pyHanko finds all signatures valid, and their changes explained: %s", status ? said : "");
    is_int(seal_count(said, "\"valid\": true"), 3 * count, "it finds all of them");
    is_int(seal_count(said, "\"modification\": \"FORM_FILLING\""), 2 * count, "as fields that were filled in");
    said = seal_pyhanko(&status, &bench, "changed-*.pdf", pool);
    is_int(status, 1, "pyHanko finds the changed values");
    is_int(seal_count(said, "\"modification\": \"OTHER\""), 6, "as changes that nothing explains: %s", said);
}

/* Returns the object that a signature field shows, by the number of the field. */
static int mark_of(const pdf_t *pdf, int field)
{
    char *text = changes_text(pdf, field), *look = strstr(text, "/AP<</N ");
    if (!look) abort();
    char *form = changes_text(pdf, atoi(look + strlen("/AP<</N "))), *mark = strstr(form, "/M ");
    const int number = mark ? atoi(mark + strlen("/M ")) : 0;
    free(text);
    free(form);
    return number;
}

/* Fields 6 and 7 are those of one signer. The second one may show initials. */
static pdf_t initialed(bool initials, const sr_pdf_mark_t *mark, apr_pool_t *pool)
{
    sr_pdf_field_t fields[] = {seal_field(ENTRY_ANN, 0, 50, 50, 150, 90), seal_field(ENTRY_ANN, 1, 50, 50, 150, 90)};
    sr_pdf_signature_t signature = {.signer = ENTRY_ANN, .name = "Ann Lee", .text = "Ann Lee", .initials = mark};
    pdf_t pdf = entry_document(&bench, &CASES[0], pool);
    fields[1].initials = initials;
    signature.fields = seal_fields(fields, 2, pool);
    is_str(seal_prepare(&bench, &pdf, fields, 2, pool), NULL, "fields %s initials", initials ? "with" : "without");
    is_str(seal_fill(&bench, &pdf, &signature, pool), NULL, "they are filled");
    return pdf;
}

static void test_initials(apr_pool_t *pool)
{
    const sr_pdf_mark_t typed = {.text = "AL"}, none = {.text = ""};
    pdf_t plain = initialed(false, NULL, pool), unused = initialed(false, &typed, pool);
    pdf_t pdf = initialed(true, &typed, pool), same = initialed(true, NULL, pool);
    ok(mark_of(&pdf, 6) && mark_of(&pdf, 7) && mark_of(&pdf, 6) != mark_of(&pdf, 7),
       "initials are shown in their place");
    is_int(mark_of(&plain, 6), mark_of(&plain, 7), "without initials both show the signature");
    is_int(mark_of(&same, 6), mark_of(&same, 7), "without a drawing of initials, too");
    seal_write(&bench, "initials.pdf", pdf.data, pdf.size);
    is_str(seal_pdfsig(&bench, "initials.pdf", 1, pool), NULL, "pdfsig finds the signature");
    is_int((int)plain.size, (int)unused.size, "a document without fields for initials does not change");
    pdf_t refused = entry_document(&bench, &CASES[0], pool);
    sr_pdf_field_t field = seal_field(ENTRY_ANN, 0, 50, 50, 150, 90);
    sr_pdf_signature_t signature = {.signer = ENTRY_ANN, .name = "Ann Lee", .text = "Ann Lee", .initials = &none};
    field.initials = true;
    signature.fields = seal_fields(&field, 1, pool);
    if (seal_prepare(&bench, &refused, &field, 1, pool)) abort();
    ok(seal_fill(&bench, &refused, &signature, pool) != NULL, "initials that cannot be drawn are refused");
    free(plain.data);
    free(unused.data);
    free(pdf.data);
    free(same.data);
    free(refused.data);
}

int main(void)
{
    bench = seal_begin(20000);
    for (size_t i = 0; i < CASE_COUNT; i++) {
        apr_pool_t *pool;
        apr_pool_create(&pool, bench.pool);
        test_prepared(&CASES[i], pool);
        test_filled(&CASES[i], pool);
        apr_pool_destroy(pool);
    }
    test_form("plain", 0, NULL, bench.pool);
    test_form("on turned pages", 90, NULL, bench.pool);
    test_form("encrypted by AES", 0, "--encrypt '' owner 256 --", bench.pool);
    test_form("with object streams", 0, "--object-streams=generate", bench.pool);
    test_radio("plain", 0, NULL, (const char *const[]){"1 year", "off on "}, bench.pool);
    test_radio("of which none is chosen", 0, NULL, (const char *const[]){"", "off off "}, bench.pool);
    test_radio("that stay", 0, NULL, (const char *const[]){"month", "on off "}, bench.pool);
    test_radio("on turned pages", 90, NULL, (const char *const[]){"1 year", ""}, bench.pool);
    test_radio("encrypted by AES", 0, "--encrypt '' owner 256 --", (const char *const[]){"1 year", "off on "},
               bench.pool);
    test_radio("with object streams", 0, "--object-streams=generate", (const char *const[]){"1 year", "off on "},
               bench.pool);
    test_other_buttons(bench.pool);
    test_shown(bench.pool);
    test_refused(bench.pool);
    test_initials(bench.pool);
    test_tampered("a", NULL, "changed-1.pdf", bench.pool);
    test_tampered("a", "c", "changed-2.pdf", bench.pool);
    test_tampered("ab", NULL, "changed-3.pdf", bench.pool);
    test_pyhanko(bench.pool);
    is_int(help_notices, 0, "no worker was lost");
    return seal_end(&bench);
}
