/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_attacks.c: what attackers have made of signed documents: revisions left out, signatures wrapped, ranges and
 * Contents that mean two things. The signatures are real, so that all of it would fool somebody who checked the
 * signature alone. */
#include "pdf_said.h"

/* An update that builds on the unsigned document, or on none: what was signed is in the file, and nobody reads it. */
static void test_skipped(void)
{
    signed_t at;
    pdf_t plain = unsigned_pdf();
    size_t start = sign_start(&plain);
    pdf_t pdf = signed_pdf(&at), more = copy(&pdf);
    const char *skipped =
        "broken; broken later=-1: the document was changed so that it no longer builds on what was signed";
    sign_object(&more, 3);
    pdf_print(&more, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 1]>>\nendobj\n");
    more.offset[1] = at.end - 1; /* searched backwards */
    while (strncmp(more.data + more.offset[1], "1 0 obj", 7) != 0) more.offset[1]--;
    sign_update(&more, (const int[]){1, 3, 4, 5}, 4, start);
    is_said(&more, skipped, "an update that goes past what was signed");
    free(more.data);

    more = copy(&pdf);
    pdf_print(&more, "startxref\n%zu\n%%%%EOF\n", start);
    is_said(&more, "unsigned", "back to the unsigned document: then readers show no signature");
    free(more.data);
    free(plain.data);
    free(pdf.data);
}

#define GAP "broken; broken later=-1: its ByteRange does not leave out just its Contents"

/* The signed end moves to the back, a new signature dictionary with the old Contents says where it is now, and where
 * the old table was, to which the moved end points, there is the attacker's. `before` has the offsets that an earlier
 * try found. */
static pdf_t wrap(const pdf_t *pdf, const signed_t *at, size_t previous, const pdf_t *before)
{
    const size_t tail = at->end - at->gap_end, table = sign_start(pdf);
    pdf_t evil = {.count = pdf->count};
    memcpy(evil.offset, before->offset, sizeof evil.offset);
    pdf_add(&evil, pdf->data, at->gap_end);
    pdf_print(&evil, ">>\nendobj\n");
    pdf_print(&evil, "%*s", (int)(table - evil.size), "");
    sign_update(&evil, (const int[]){1, 3, 4, 5}, 4, previous);
    sign_object(&evil, 1);
    pdf_print(&evil, "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R]/SigFlags 3>>>>\nendobj\n");
    sign_object(&evil, 3);
    pdf_print(&evil, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 1]>>\nendobj\n");
    sign_object(&evil, 5);
    pdf_print(&evil, "<</FT/Sig/T(s)/V 4 0 R>>\nendobj\n");
    sign_object(&evil, 4);
    pdf_print(&evil, "<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Contents");
    pdf_add(&evil, pdf->data + at->gap, at->gap_end - at->gap);
    size_t range = evil.size;
    pdf_print(&evil, "%60s>>\nendobj\n", "");
    char text[61];
    int length = snprintf(text, sizeof text, "/ByteRange[0 %zu %zu %zu]", at->gap, evil.size, tail);
    memcpy(evil.data + range, text, (size_t)length);
    pdf_add(&evil, pdf->data + at->gap_end, tail);
    return evil;
}

static void test_wrapping(void)
{
    signed_t at;
    pdf_t plain = unsigned_pdf(), pdf = signed_pdf(&at);
    pdf_t first = wrap(&pdf, &at, sign_start(&plain), &pdf), evil = wrap(&pdf, &at, sign_start(&plain), &first);
    sr_pdf_probe_t probe;
    help_probe(&probe, workers, evil.data, evil.size, root);
    ok(probe.verdict == SR_PDF_ACCEPTED && strstr(probe.pages->report, "[1,0,0,1,1,0]")
           && strstr(probe.pages->report, "\"normalise\":false"),
       "wrapped: readers show the attacker's page, and see no damage");
    is_said(&evil, GAP, "and the signature is broken, though its hash is right");
    free(plain.data);
    free(first.data);
    free(evil.data);
    free(pdf.data);
}

/* The signer's own dictionary is as it likes; but it must mean one thing to every reader. */
static void test_ranges(void)
{
#define NO_RANGE "broken; broken later=-1: it has no ByteRange of four numbers"
#define OUTSIDE "broken; broken later=-1: its ByteRange does not fit the document"
#define TWICE "broken; broken later=-1: its dictionary has a key more than once"
#define UNREADABLE "broken; broken later=-1: its dictionary cannot be read"
    static const struct {
        sign_t sign;
        const char *says, *name;
    } cases[] = {
        {{.cut = 20}, "broken; broken later=-1: what it covers is not a revision of the document", "an early end"},
        {{.cut = 1}, "extended; intact ours later=0", "all but the last line end"},
        {{.widen = 1}, GAP, "a gap that is wider"},
        {{.widen = -1}, GAP, "and narrower"},
        {{.range = "[0 0 0 0]"}, OUTSIDE, "nothing"},
        {{.range = "[0 99999999 99999999 0]"}, OUTSIDE, "far outside"},
        {{.range = "[0 10 20 -5]"}, OUTSIDE, "negative"},
        {{.range = "[-10 100 200 300]"}, OUTSIDE, "a negative start"},
        {{.range = "[9 100 5000 300]"},
         "broken; broken later=-1: its ByteRange leaves out the beginning of the document",
         "a later start"},
        {{.range = "[0 100 5000 9223372036854775807]"}, OUTSIDE, "a number that overflows"},
        {{.range = "[0 10 20 99999999999999999999]"},
         "unreadable (it is damaged, so that signatures in it may not be found)",
         "a number that is none"},
        {{.range = "[0 100 200]"}, NO_RANGE, "three numbers"},
        {{.range = "[0 100 200 300 400 500]"}, NO_RANGE, "six numbers"},
        {{.range = "[0 1.5 200 300]"}, NO_RANGE, "a broken number"},
        {{.range = "[0 10 20 30]"}, GAP, "the gap elsewhere"},
        {{.range = "null"}, NO_RANGE, "null"},
        {{.after = "/ByteRange[0 1 2 3]"}, OUTSIDE, "a second ByteRange"},
        {{.before = "/ByteRange[0 1 2 3]"}, TWICE, "before the first"},
        {{.before = "/Contents<00>"}, TWICE, "a Contents before"},
        {{.after = "/Contents<00>"}, GAP, "a Contents behind"},
        {{.after = "/Name(Bob)"}, TWICE, "a second name"},
        {{.before = "/Cont#65nts<00>"}, UNREADABLE, "a Contents spelt another way"},
        {{.before = "/X<</Contents<00>>>"}, "signed; intact whole ours later=0", "one in another dictionary"},
        {{.before = "/X(4 0 obj<<)/Y[1 0 R(>>)]/Z 5 0 R"}, "signed; intact whole ours later=0", "confusing values"},
        {{.value = "null"}, "unsigned", "no value"},
        {{.value = "(signed)"}, "broken; broken later=-1: its value is no signature", "a string"},
        {{.value = "<</Type/Sig>>"}, NO_RANGE, "no ByteRange"},
        {{.value = "<</Type/Sig/ByteRange[0 1 5 9]>>"}, "broken; broken later=-1: it has no Contents", "no Contents"},
        {{.value = "<</Type/Sig/ByteRange[0 1 5 9]/Contents null>>"},
         "broken; broken later=-1: it has no Contents",
         "null for Contents"},
        {{.value = "<</Type/Sig/ByteRange[0 9 11 9]/Contents<>>>"}, GAP, "empty Contents"},
        {{.value = "<</Type/Sig/ByteRange[0 1 5 9]/Contents 1 0 R>>"},
         "broken; broken later=-1: it has no Contents",
         "a reference for Contents"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pdf_t pdf = unsigned_pdf();
        sign_t sign = cases[i].sign;
        sign.identity = ec;
        sign_pdf(&pdf, &sign, root);
        is_said(&pdf, cases[i].says, cases[i].name);
        free(pdf.data);
    }
}

/* What the gap holds is not signed: nothing but the signature may be there. */
static void test_gap(void)
{
#define DAMAGED "unreadable (it is damaged, so that signatures in it may not be found)"
    static const struct {
        long at; /* from the gap's beginning, or from its end when negative */
        char put;
        const char *says, *name;
    } cases[] = {
        {-2, '1', "broken; broken later=0: something is hidden after it, in the room that it does not need", "padding"},
        {-9, ' ', GAP, "white space in it"},
        {-9, '>', GAP, "an early end"},
        {0, '(', DAMAGED, "another bracket"},
        {-1, ' ', DAMAGED, "no bracket"},
        {1, 'x', "broken; broken later=-1: it has no Contents", "no digit"},
        {1, '0', "broken; broken later=0: its Contents are not a signature", "no DER"},
    };
    signed_t at;
    pdf_t pdf = signed_pdf(&at);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *changed = pdf.data + (cases[i].at < 0 ? at.gap_end : at.gap) + cases[i].at, before = *changed;
        *changed = cases[i].put;
        is_said(&pdf, cases[i].says, cases[i].name);
        *changed = before;
    }
    free(pdf.data);
}

/* Copied from one document into another, redefined by an update, or shown by two fields. */
static void test_elsewhere(void)
{
    signed_t at, other_at;
    pdf_t pdf = signed_pdf(&at), other = pdf_document(&(pdf_parts_t){.pages = 1, .page = "/MediaBox[0 0 612 791]"});
    other_at = sign_pdf(&other, &(sign_t){.identity = ec}, root);
    memcpy(other.data + other_at.gap, pdf.data + at.gap, at.gap_end - at.gap);
    is_said(&other, "broken; broken later=0: the document is not the one that was signed", "of another document");
    free(other.data);

    sr_pdf_verification_t found;
    other = copy(&pdf);
    size_t start = sign_start(&other);
    sign_object(&other, at.object);
    pdf_print(&other, "<</Type/Sig/SubFilter/ETSI.CAdES.detached/Name(Eve)/ByteRange");
    pdf_add(&other, pdf.data + at.range, at.gap_end - at.range);
    pdf_print(&other, ">>\nendobj\n");
    sign_update(&other, (const int[]){at.object}, 1, start);
    is_said(&other, "extended; intact ours later=1", "its dictionary written again");
    ok(!verify(&found, &other, root), "with another name");
    is_str(found.signatures[0].name, "Ann (A) Lee", "the name shown is the one that was signed");
    free(other.data);

    other = copy(&pdf);
    start = sign_start(&other);
    sign_object(&other, 1);
    pdf_print(&other, "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R 6 0 R]/SigFlags 3>>>>\nendobj\n");
    sign_object(&other, 6);
    pdf_print(&other, "<</FT/Sig/T(again)/V 4 0 R>>\nendobj\n");
    sign_update(&other, (const int[]){1, 6}, 2, start);
    is_said(&other, "extended; intact ours later=1", "shown by two fields");
    free(other.data);
    free(pdf.data);
}

int main(void)
{
    said_begin();
    test_skipped();
    test_wrapping();
    test_ranges();
    test_gap();
    test_elsewhere();
    return said_end();
}
