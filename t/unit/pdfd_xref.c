/* SPDX-License-Identifier: Apache-2.0 */
/* pdfd_xref.c: the walk along the cross-reference sections: what it finds the highest number in, and what stops
 * it. A wrong highest number would make the incremental writer overwrite an object. */
#include "helper/main/pdfd.h"
#include "pdf_make.h"
#include "tap.h"

typedef struct case_t {
    const char *name, *text; /* %s in it: where the section begins, put in by the test */
    int64_t highest;         /* -1: the walk fails */
} case_t;

#define TABLE "xref\n0 2\n0000000000 65535 f \n0000000009 00000 n \n"
#define STREAM(keys) "9 0 obj\n<</Type/XRef" keys "/W[1 2 1]/Length 0>>stream\n\nendstream endobj\n"
#define START "\nstartxref\n%zu\n%%%%EOF\n"

static const case_t CASES[] = {
    {"a table", TABLE "trailer<</Size 2/Root 1 0 R>>" START, 1},
    {"a table and a comment", "%%c\n" TABLE "%% x\ntrailer %% y\n<</Size 2>>" START, 1},
    {"a /Size above the entries", TABLE "trailer<</Size 20>>" START, 19},
    {"entries above /Size", "xref\n5 2\n0000000000 65535 f \n0000000009 00000 n \ntrailer<</Size 2>>" START, 6},
    {"an empty table", "xref\n0 0\ntrailer<</Size 3>>" START, 2},
    {"two subsections", "xref\n0 1\n0000000000 65535 f \n7 1\n0000000009 00000 n \ntrailer<</Size 2>>" START, 7},
    {"entries of 19 bytes", "xref\n0 2\n0000000000 65535 f\n0000000009 00000 n\ntrailer<</Size 2>>" START, 1},
    {"a stream", STREAM("/Size 4") START, 9},
    {"a stream with an index", STREAM("/Size 4/Index[0 2 30 5]") START, 34},
    {"names as values", TABLE "trailer<</A/Prev/B/Size/Size 5>>" START, 4},
    {"keys in nested things", TABLE "trailer<</A<</Size 99/Prev 5>>/B[<</Size 77>>]/C(/Size 66)/Size 2>>" START, 1},
    {"strings with brackets", TABLE "trailer<</A(\\)>>(>>))/B<3e3e>/Size 2>>" START, 1},
    {"a Prev of 0", TABLE "trailer<</Size 2/Prev 0>>" START, 1},

    {"no startxref", TABLE "trailer<</Size 2>>", -1},
    {"startxref too far from the end", TABLE "trailer<</Size 2>>" START "%2000d", -1},
    {"no trailer", TABLE START, -1},
    {"no /Size", TABLE "trailer<</Root 1 0 R>>" START, -1},
    {"an endless dictionary", TABLE "trailer<</Size 2" START, -1},
    {"an endless string", TABLE "trailer<</Size 2/A(" START, -1},
    {"fewer entries than promised", "xref\n0 3\n0000000000 65535 f \ntrailer<</Size 2>>" START, -1},
    {"more entries than bytes", "xref\n0 999999999\n0000000000 65535 f \ntrailer<</Size 2>>" START, -1},
    {"an entry of another kind", "xref\n0 1\n0000000000 65535 x \ntrailer<</Size 2>>" START, -1},
    {"a Prev that leads to itself", TABLE "trailer<</Size 2/Prev 9>>" START, -1},
    {"a Prev behind the end", TABLE "trailer<</Size 2/Prev 99999>>" START, -1},
    {"a Prev that is none", TABLE "trailer<</Size 2/Prev 5 0 R/Prev (x)>>" START, -1},
    {"a number above what readers take", TABLE "trailer<</Size 8388609>>" START, -1},
    {"the highest that they take", TABLE "trailer<</Size 8388608>>" START, 8388607},
    {"an object that is no section", "1 0 ob\n" START, -1},
};

/* The section is at 9, behind a header: 0 would mean "no section". */
static void test_case(const case_t *test)
{
    static const char header[] = "%PDF-1.7\n";
    pdf_t pdf = {0};
    char text[4096];
    size_t start = sizeof header - 1;
    sr_pdfd_xref_t xref;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, test->text, start, 0);
#pragma GCC diagnostic pop
    pdf_print(&pdf, "%s%s", header, text);
    bool read = sr_pdfd_xref_check(&xref, (const unsigned char *)pdf.data, pdf.size);
    is_int(read ? xref.highest : -1, test->highest, "%s", test->name);
    free(pdf.data);
}

static void test_chain(int sections, bool passes)
{
    pdf_t pdf = {0};
    sr_pdfd_xref_t xref;
    size_t previous = 0, start = 0;
    pdf_print(&pdf, "%%PDF-1.7\n");
    for (int i = 0; i < sections; i++) {
        start = pdf.size;
        pdf_print(&pdf, "xref\n%d 1\n0000000009 00000 n \ntrailer<</Size 2/Prev %zu>>\n", sections - i, previous);
        previous = start;
    }
    pdf_print(&pdf, "startxref\n%zu\n%%%%EOF\n", start);
    bool read = sr_pdfd_xref_check(&xref, (const unsigned char *)pdf.data, pdf.size);
    ok(read == passes, "%d sections %s", sections, passes ? "are walked" : "are too many");
    if (passes) is_int(xref.highest, sections, "and the oldest can hold the highest number");
    free(pdf.data);
}

/* Every cut and every flipped byte of a good file: no answer is checked, ASan and valgrind watch. */
static void test_mutations(void)
{
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 2, .trailer = "/Info<</A(b)/C<64>>>/X[1 2]"});
    sr_pdfd_xref_t xref;
    int read = 0;
    for (size_t i = 0; i < pdf.size; i++) {
        unsigned char *cut = malloc(pdf.size - i);
        if (!cut) abort();
        memcpy(cut, pdf.data + i, pdf.size - i);
        read += sr_pdfd_xref_check(&xref, cut, pdf.size - i);
        cut[(i * 7) % (pdf.size - i)] ^= (unsigned char)(1 << i % 8);
        read += sr_pdfd_xref_check(&xref, cut, pdf.size - i);
        free(cut);
    }
    ok(read >= 1, "cut and flipped files: %d of %d still walk", read, (int)pdf.size * 2);
    free(pdf.data);
}

int main(void)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) test_case(&CASES[i]);
    test_chain(512, true);
    test_chain(513, false);
    test_mutations();
    return done();
}
