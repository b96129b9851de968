/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_verify.c: what is said of signed documents: good ones, ones that something was appended to, ones with a byte
 * changed, and that pdfsig says the same. What attackers have made of good ones is in pdf_attacks.c. */
#include "pdf_mutate.h"
#include "pdf_said.h"

/* ------------------------------------------------------------------------------------------ good documents */

static void test_good(void)
{
    signed_t at;
    sr_pdf_verification_t found;
    pdf_t pdf = unsigned_pdf();
    is_said(&pdf, "unsigned", "no signature");
    at = sign_pdf(&pdf, &(sign_t){.identity = ec}, root);
    is_said(&pdf, "signed; intact whole ours later=0", "one signature");
    ok(!verify(&found, &pdf, root) && found.count == 1, "what it tells");
    const sr_pdf_found_t *one = &found.signatures[0];
    is_str(one->field, "Signature_4", "the field");
    is_str(one->name, "Ann (A) Lee", "the name, without its escapes");
    is_str(one->reason, "zo\xc3\xab", "the reason, out of UTF-16");
    is_str(one->contact, "Example Ltd, submission 6f1c", "for whom");
    is_str(sr_time_format(one->claimed, root), "2026-11-20T17:09:23.000Z", "the time, in UTC");
    is_int(one->covers, pdf.size, "all of it");
    is_str(one->signer.signer->name, "seal", "by whom");
    is_str(one->signer.algorithm, "P-256 with SHA-256", "how");

    sign_pdf(&pdf, &(sign_t){.identity = rsa}, root);
    is_said(&pdf, "signed; intact ours later=1; intact whole later=0", "a second one, of somebody else");
    for (int i = 0; i < 8; i++) sign_pdf(&pdf, &(sign_t){.identity = i % 2 ? ec : rsa}, root);
    ok(!verify(&found, &pdf, root) && found.count == 10 && found.conclusion == SR_PDF_SIGNED, "ten");
    int right = 0;
    for (int i = 0; i < found.count; i++)
        if (found.signatures[i].state == SR_CMS_INTACT && found.signatures[i].later == 9 - i
            && found.signatures[i].whole == (i == 9))
            right++;
    is_int(right, 10, "all ten intact, and the last one covers everything");
    free(pdf.data);

    pdf = (pdf_t){0};
    pdf_print(&pdf, "junk before\n");
    pdf_t plain = unsigned_pdf();
    pdf_add(&pdf, plain.data, plain.size);
    is_said(&pdf, "unsigned", "something before the header");
    free(plain.data);
    free(pdf.data);
    pdf = unsigned_pdf();
    sign_pdf(&pdf, &(sign_t){.identity = ec, .subfilter = "adbe.pkcs7.detached"}, root);
    is_said(&pdf, "signed; intact whole ours later=0", "the older kind");
    free(pdf.data);
    pdf = unsigned_pdf();
    sign_pdf(&pdf, &(sign_t){.identity = ec, .subfilter = "ETSI.RFC3161"}, root);
    is_said(&pdf, "broken; broken later=0: its kind is not the one that the document states",
            "a signature that is said to be a timestamp");
    free(pdf.data);
    (void)at;
}

/* Some programs write no line end before an update. */
static void test_no_line_end(void)
{
    pdf_t pdf = unsigned_pdf();
    pdf.data[--pdf.size] = '\0';
    sign_pdf(&pdf, &(sign_t){.identity = ec}, root);
    is_said(&pdf, "signed; intact whole ours later=0", "an object right after %%%%EOF");
    free(pdf.data);
}

static void test_unreadable(void)
{
    pdf_t text = {0}, locked = pdf_document(&(pdf_parts_t){.pages = 1, .trailer = "/Encrypt<</Filter/Other/V 9>>"});
    pdf_print(&text, "hello");
    is_said(&text, "unreadable", "no PDF");
    is_said(&locked, "unreadable", "an encrypted one");
    sr_pdf_verification_t found;
    ok(!verify(&found, &locked, root) && found.verdict == SR_PDF_PASSWORD, "which it says");
    text.size = 0;
    is_said(&text, "unreadable", "nothing");
    free(text.data);
    free(locked.data);
    pdf_t loop = pdf_document(&(pdf_parts_t){
        .pages = 1, .catalog = "/AcroForm<</Fields[4 0 R]>>", .objects = {"<</T(a)/Kids[4 0 R 4 0 R]>>"}});
    is_said(&loop, "unreadable (its form has too many fields, or too deeply nested ones)", "fields in a circle");
    free(loop.data);
}

/* -------------------------------------------------------------------------------- appended after signing */

static void test_appended(void)
{
    signed_t at;
    pdf_t pdf = signed_pdf(&at), more;
#define EXTENDED(later) "extended; intact ours later=" #later
    more = copy(&pdf);
    pdf_print(&more, "\n");
    is_said(&more, EXTENDED(0), "a line end appended");
    pdf_print(&more, "%% a comment\n");
    is_said(&more, EXTENDED(0), "a comment");
    free(more.data);
    more = copy(&pdf);
    sign_alter(&more, "/MediaBox[0 0 1 1]");
    is_said(&more, EXTENDED(1), "an update");
    sign_alter(&more, "/MediaBox[0 0 2 2]");
    is_said(&more, EXTENDED(2), "two");
    free(more.data);
    more = copy(&pdf); /* objects for readers that repair: no table names them */
    pdf_print(&more, "3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 1 1]>>\nendobj\n");
    is_said(&more, EXTENDED(0), "an object without a table");
    pdf_print(&more, "%2000s%% a comment\n", ""); /* qpdf ignores an object that only white space follows */
    is_said(&more, "broken; broken later=-1: the document was damaged after it was signed",
            "and no startxref in reach");
    free(more.data);
    more = copy(&pdf);
    pdf_print(&more, "xref\n0 0\ntrailer\n<</Size 9/Root 1 0 R/Prev 99999999>>\nstartxref\n%zu\n%%%%EOF\n", pdf.size);
    is_said(&more, "broken; broken later=-1: the document was damaged after it was signed", "a chain that breaks off");
    free(more.data);
    free(pdf.data);
}

/* ------------------------------------------------------------------------------------------------- tampering */

static bool is_any_intact(const sr_pdf_verification_t *found)
{
    for (int i = 0; i < found->count; i++)
        if (found->signatures[i].state == SR_CMS_INTACT) return true;
    return false;
}

/* One changed byte outside the gap: no signature is intact, whatever becomes of the document. */
static void test_flips(void)
{
    signed_t at;
    pdf_t pdf = signed_pdf(&at);
    int count = getenv("SIGREQ_FLIPS") ? atoi(getenv("SIGREQ_FLIPS")) : 150, bad = 0, errors = 0, in_gap = 0;
    for (int i = 0; i < count; i++) {
        apr_pool_t *pool;
        sr_pdf_verification_t found;
        size_t where = random_below(pdf.size - (at.gap_end - at.gap));
        if (where >= at.gap) where += at.gap_end - at.gap;
        unsigned char change = (unsigned char)(1 + random_below(255));
        apr_pool_create(&pool, root);
        pdf.data[where] = (char)(pdf.data[where] ^ change);
        sr_error_t *error = verify(&found, &pdf, pool);
        if (error) errors++;
        else if (is_any_intact(&found)) bad++;
        if (!error && is_any_intact(&found)) printf("# byte %zu: %s\n", where, say(error, &found, pool));
        pdf.data[where] = (char)(pdf.data[where] ^ change);
        apr_pool_destroy(pool);
    }
    is_int(bad, 0, "%d changed bytes in what is signed: none passes", count);
    for (int i = 0; i < count; i++) {
        apr_pool_t *pool;
        sr_pdf_verification_t found;
        size_t where = at.gap + random_below(at.gap_end - at.gap);
        unsigned char change = (unsigned char)(1 + random_below(255));
        apr_pool_create(&pool, root);
        pdf.data[where] = (char)(pdf.data[where] ^ change);
        if (verify(&found, &pdf, pool)) errors++;
        else if (is_any_intact(&found) && !found.signatures[0].signer.ours) in_gap++;
        pdf.data[where] = (char)(pdf.data[where] ^ change);
        apr_pool_destroy(pool);
    }
    is_int(in_gap, 0, "%d changed bytes in the gap: none makes it somebody else's", count);
    is_int(errors, 0, "no question failed");
    is_said(&pdf, "signed; intact whole ours later=0", "put back, it is intact");
    free(pdf.data);
}

/* -------------------------------------------------------------------------------------------- other verifiers */

static void test_pdfsig(void)
{
    signed_t at;
    pdf_t pdf = signed_pdf(&at);
    if (!make_has("pdfsig")) {
        skip("pdfsig is not installed (poppler-utils)");
        free(pdf.data);
        return;
    }
    sign_pdf(&pdf, &(sign_t){.identity = rsa}, root);
    const char *good = make_file("good.pdf", pdf.data, pdf.size, root);
    is_int(make_run("pdfsig '%s' | tee '%s/good.txt' | grep -c 'Signature is Valid' | grep -qx 2", good, make_folder),
           0, "pdfsig finds both signatures valid");
    is_int(make_run("grep -q 'Total document signed' '%s/good.txt'", make_folder), 0, "and the last covers everything");
    sign_alter(&pdf, "/MediaBox[0 0 612 700]");
    const char *more = make_file("more.pdf", pdf.data, pdf.size, root);
    is_said(&pdf, "extended; intact ours later=2; intact later=1", "an update behind them");
    ok(make_run("pdfsig '%s' | grep -q 'Total document signed'", more) != 0, "of which pdfsig says the same");
    pdf.data[20] ^= 1;
    const char *bad = make_file("bad.pdf", pdf.data, pdf.size, root);
    ok(make_run("pdfsig '%s' | grep -q 'Signature is Valid'", bad) != 0, "no valid one in a changed document");
    free(pdf.data);
}

int main(void)
{
    said_begin();
    test_good();
    test_no_line_end();
    test_unreadable();
    test_appended();
    test_flips();
    test_pdfsig();
    return said_end();
}
