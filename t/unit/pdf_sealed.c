/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_sealed.c: the whole way of a document: prepared and filled by the helper, sealed with a real identity, verified
 * here and by pdfsig after each of ten signers, whatever they are called; and then tampered with. */
#include "pdf_mutate.h"
#include "pdf_said.h"

#define SIGNERS 10

static const char *const NAMES[SIGNERS] = {
    "Ann Lee",
    "Zo\xc3\xab \xe7\xad\xbe\xe5\x90\x8d",
    "4 0 obj<</A",
    "(((",
    ")>>endobj",
    "\\",
    "startxref 9 %%EOF",
    "/Contents<00>",
    "<</ByteRange[0 1 2 3]>>",
    "\xd8\xa3\xd9\x85\xd9\x84",
};

static void prepare(pdf_t *pdf)
{
    sr_pdf_update_t update = {0};
    apr_array_header_t *fields = apr_array_make(root, SIGNERS * 2, sizeof(sr_pdf_field_t));
    for (int i = 0; i < SIGNERS * 2; i++) {
        // NOLINTNEXTLINE(bugprone-integer-division): pairs
        double x = 20 + 40 * (i / 2), y = i % 2 ? 20 : 80;
        sr_pdf_field_t field = {.signer = apr_psprintf(root, "s%d", i / 2), .rect = {x, y, x + 35, y + 40}};
        APR_ARRAY_PUSH(fields, sr_pdf_field_t) = field;
    }
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_prepare(&update, workers, fd, (apr_off_t)pdf->size, fields, root);
    close(fd);
    ok(!error && !update.fault, "prepared for ten signers of two fields each");
    pdf->base = pdf->size;
    pdf->prepared = update.length;
    if (!error && !update.fault) pdf_add(pdf, update.bytes, update.length);
}

static bool fill(pdf_t *pdf, int signer, const sr_cms_identity_t *identity)
{
    const unsigned char *der;
    apr_size_t length;
    sr_pdf_revision_t revision = {0};
    sr_pdf_signature_t signature = {.signer = apr_psprintf(root, "s%d", signer),
                                    .name = NAMES[signer],
                                    .reason = NAMES[SIGNERS - 1 - signer],
                                    .time = apr_time_from_sec(1800000000 + signer),
                                    .hash = sr_cms_identity_hash(identity),
                                    .text = "Ann"};
    int fd = help_descriptor(pdf->data, pdf->size);
    signature.base_size = (apr_off_t)pdf->base;
    signature.prepared_size = pdf->prepared;
    sr_error_t *error = sr_pdf_fill(&revision, workers, fd, (apr_off_t)pdf->size, &signature, root);
    close(fd);
    if (!error && !revision.fault) error = sr_cms_sign(&der, &length, identity, revision.digest, root);
    if (!error && !revision.fault) error = sr_pdf_seal(&revision, der, length, root);
    if (error || revision.fault) printf("# %s\n", error ? error->message : revision.reason);
    if (error || revision.fault) return false;
    pdf_add(pdf, revision.bytes, revision.length);
    return true;
}

static void test_signer(const pdf_t *pdf, int signer)
{
    sr_pdf_verification_t found;
    sr_error_t *error = verify(&found, pdf, root);
    ok(!error && found.conclusion == SR_PDF_SIGNED && found.count == signer + 1, "signed by %s: %.40s", NAMES[signer],
       say(error, &found, root));
    if (error || found.count != signer + 1) return;
    int right = 0;
    for (int i = 0; i <= signer; i++) {
        const sr_pdf_found_t *one = &found.signatures[i];
        if (one->whole == (i == signer) && one->later == signer - i && one->signer.ours == !(i % 2)) right++;
    }
    is_int(right, signer + 1, "each with what came after it, and ours told from others");
    const sr_pdf_found_t *last = &found.signatures[signer];
    is_str(last->name, NAMES[signer], "the name");
    is_str(last->reason, NAMES[SIGNERS - 1 - signer], "the reason");
    is_int(apr_time_sec(last->claimed), 1800000000 + signer, "the time");
    is_int(last->covers, pdf->size, "all of it");
}

/* One changed byte in what the first signature covers, which all the later ones cover too. */
static void test_flips(pdf_t *pdf, const pdf_t *first)
{
    int count = getenv("SIGREQ_FLIPS") ? atoi(getenv("SIGREQ_FLIPS")) : 60, bad = 0, errors = 0;
    const char *gap = memmem(first->data, first->size, "/Contents<", 10);
    if (!gap) abort();
    size_t from = (size_t)(gap - first->data) + 9, length = (size_t)SR_CMS_MAX_BYTES * 2 + 2;
    for (int i = 0; i < count; i++) {
        apr_pool_t *pool;
        sr_pdf_verification_t found;
        size_t where = random_below(first->size - length);
        if (where >= from) where += length;
        char before = pdf->data[where];
        pdf->data[where] = (char)(before ^ (char)(1 + random_below(255)));
        apr_pool_create(&pool, root);
        if (verify(&found, pdf, pool)) errors++;
        else
            for (int k = 0; k < found.count; k++) bad += found.signatures[k].state == SR_CMS_INTACT;
        apr_pool_destroy(pool);
        pdf->data[where] = before;
    }
    is_int(bad, 0, "%d changed bytes: none of the ten signatures passes", count);
    is_int(errors, 0, "and no question failed");
}

/* Stronger keys sign stronger digests of the document. */
static void test_hashes(void)
{
    static const struct {
        make_t make;
        const char *hash;
    } cases[] = {{{.name = "p384", .curve = "P-384"}, "SHA-384"}, {{.name = "p521", .curve = "P-521"}, "SHA-512"}};
    for (size_t i = 0; i < 2; i++) {
        pdf_t pdf = unsigned_pdf();
        sr_pdf_verification_t found;
        prepare(&pdf);
        ok(fill(&pdf, 0, make_identity(&cases[i].make, root)), "sealed with a key of %s", cases[i].make.name);
        sr_error_t *error = verify(&found, &pdf, root);
        ok(!error && found.conclusion == SR_PDF_SIGNED && strstr(found.signatures[0].signer.algorithm, cases[i].hash),
           "signed: %.60s", error ? error->message : found.signatures[0].signer.algorithm);
        const char *file = make_file("strong.pdf", pdf.data, pdf.size, root);
        if (make_has("pdfsig"))
            is_int(make_run("pdfsig '%s' | grep -q 'Hash Algorithm: %s' && pdfsig '%s' | grep -q 'Signature is Valid'",
                            file, cases[i].hash, file),
                   0, "pdfsig finds a valid signature with %s", cases[i].hash);
        else skip("pdfsig is not installed (poppler-utils)");
        free(pdf.data);
    }
}

int main(void)
{
    said_begin();
    test_hashes();
    pdf_t pdf = unsigned_pdf(), first = {0};
    prepare(&pdf);
    is_said(&pdf, "unsigned", "prepared, and not signed");
    for (int i = 0; i < SIGNERS; i++) {
        if (!ok(fill(&pdf, i, i % 2 ? rsa : ec), "sealed for signer %d", i)) break;
        test_signer(&pdf, i);
        if (i == 0) first = copy(&pdf);
    }
    if (make_has("pdfsig")) {
        const char *file = make_file("ten.pdf", pdf.data, pdf.size, root);
        is_int(make_run("[ $(pdfsig '%s' | tee '%s/said' | grep -c 'Signature is Valid') = %d ]", file, make_folder,
                        2 * SIGNERS),
               0, "pdfsig finds ten valid signatures, each in two fields");
        is_int(make_run("[ $(grep -c 'Total document signed' '%s/said') = 2 ]", make_folder), 0,
               "the last of everything");
    } else skip("pdfsig is not installed (poppler-utils)");
    test_flips(&pdf, &first);
    pdf_t more = copy(&pdf);
    pdf_print(&more, "%%\n");
    sr_pdf_verification_t found;
    ok(!verify(&found, &more, root) && found.conclusion == SR_PDF_EXTENDED,
       "a comment appended: not the whole any more");
    free(more.data);
    free(first.data);
    free(pdf.data);
    return said_end();
}
