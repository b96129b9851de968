/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_verify_archive.c: what is said of documents with proofs (DSS) and document timestamps after the last signature,
 * and of changes among them. The proofs are real: those of the seal and of the authority. */
#include "pdf_dss.h"
#include "changes_make.h"
#include "proofs_make.h"

static made_t *root_ca, *seal, *authority;
static sr_cms_anchors_t *anchors;

/* "conclusion: reason | kind state level trust | …" */
static const char *said_of(const pdf_t *pdf, apr_pool_t *pool)
{
    static const char *const trusts[] = SR_CMS_TRUST_NAMES;
    const sr_cms_context_t context = {.anchors = anchors};
    sr_pdf_verification_t found;
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_verify(&found, bench.workers, fd, (apr_off_t)pdf->size, &context, pool);
    close(fd);
    if (error) return error->message;
    const char *text = sr_pdf_conclusion_name(found.conclusion);
    for (int i = 0; i < found.count; i++) {
        const sr_pdf_found_t *one = &found.signatures[i];
        const char *level = sr_cms_level_name(one->signer.level);
        text = apr_psprintf(pool, "%s | %s %s %s %s", text, one->timestamp ? "stamp" : "signature",
                            sr_cms_state_name(one->state), level ? level : "-", trusts[one->signer.trust]);
        if (one->changes && *one->changes) text = apr_pstrcat(pool, text, " ", *one->changes, NULL);
    }
    return text;
}

static void is_said(const pdf_t *pdf, const char *wanted, const char *name)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    is_str(said_of(pdf, pool), wanted, "%s", name);
    apr_pool_destroy(pool);
}

static void add_proof(apr_array_header_t *proofs, sr_pdf_proof_kind_t kind, const void *der, apr_size_t length)
{
    APR_ARRAY_PUSH(proofs, sr_pdf_proof_t) = (sr_pdf_proof_t){kind, apr_pmemdup(bench.pool, der, length), length};
}

/* The issuer, and its CRL: `again` makes another one. */
static apr_array_header_t *proofs_of(int again)
{
    apr_array_header_t *proofs = apr_array_make(bench.pool, 2, sizeof(sr_pdf_proof_t));
    unsigned char *der = NULL;
    int size = i2d_X509(root_ca->certificate, &der);
    add_proof(proofs, SR_PDF_CERTIFICATE, der, (apr_size_t)size);
    OPENSSL_free(der);
    proof_der_t crl = proof_crl(&(proof_crl_t){.issuer = root_ca, .from = -7200 + again, .until = 7200});
    add_proof(proofs, SR_PDF_CRL, crl.data, crl.length);
    OPENSSL_free(crl.data);
    return proofs;
}

static void use(const made_t *made)
{
    bench.key = (seal_key_t){made->key, made->certificate};
}

static void must(const char *reason)
{
    if (!reason) return;
    printf("Bail out! %s\n", reason);
    exit(1);
}

static pdf_t signed_document(const apr_array_header_t *proofs)
{
    pdf_t pdf = changes_contract();
    sr_pdf_field_t field = seal_field("ann", 0, 300, 160, 400, 180);
    use(seal);
    must(seal_prepare(&bench, &pdf, &field, 1, bench.pool));
    must(dss_fill(&bench, &pdf, "ann", proofs, bench.pool));
    return pdf;
}

static void archive(pdf_t *pdf, const char *id, const apr_array_header_t *proofs)
{
    use(authority);
    must(dss_archive(&bench, pdf, id, proofs, bench.pool));
}

static void alter_page(pdf_t *pdf)
{
    changes_alter(pdf, 3, "/Rotate 0", "/Rotate 90", NULL);
}

#define SIGNED "signature intact "
#define STAMP "stamp intact - trusted"

static void test_archived(void)
{
    pdf_t pdf = signed_document(NULL);
    is_said(&pdf, "signed | " SIGNED "B-B trusted", "signed");
    archive(&pdf, "one", proofs_of(0));
    is_said(&pdf, "signed | " SIGNED "B-LTA trusted | " STAMP, "archived");
    archive(&pdf, "two", proofs_of(60));
    is_said(&pdf, "signed | " SIGNED "B-LTA trusted | " STAMP " | " STAMP, "renewed");
    pdf_t more = {0};
    pdf_add(&more, pdf.data, pdf.size);
    more.count = pdf.count;
    alter_page(&more);
    is_said(&more,
            "extended | " SIGNED "B-LTA trusted page 1: its size or rotation | " STAMP
            " page 1: its size or rotation | " STAMP " page 1: its size or rotation",
            "a page is turned afterwards");
    free(more.data);
    free(pdf.data);
    pdf = signed_document(proofs_of(0));
    is_said(&pdf, "signed | " SIGNED "B-B trusted", "signed with proofs");
    archive(&pdf, "one", NULL);
    is_said(&pdf, "signed | " SIGNED "B-LTA trusted | " STAMP, "and a document timestamp");
    free(pdf.data);
}

/* A byte of the proofs that the second update has added. */
static void test_flipped(void)
{
    pdf_t pdf = signed_document(proofs_of(0));
    const size_t from = pdf.size;
    archive(&pdf, "one", proofs_of(60));
    char *stream = memmem(pdf.data + from, pdf.size - from, "stream", 6);
    if (!stream) abort();
    stream[20] ^= 1;
    is_said(&pdf, "broken | " SIGNED "B-B trusted | stamp broken - unknown", "a byte of the proofs was changed");
    free(pdf.data);
}

#define ROOM 3000 /* bytes of a token */

/* Adds a document timestamp to any document, as other programs do: a new field whose value is not an object. */
static void stamp_by_hand(pdf_t *pdf)
{
    unsigned char digest[32], *der;
    char range[64];
    const char *zeros = apr_psprintf(bench.pool, "%0*d", ROOM * 2, 0);
    const char *field = apr_psprintf(bench.pool,
                                     "<</Type/Annot/Subtype/Widget/FT/Sig/T(stamp)/F 132/Rect[0 0 0 0]"
                                     "/V<</Type/DocTimeStamp/Filter/Adobe.PPKLite/SubFilter/ETSI.RFC3161"
                                     "/ByteRange%40s/Contents<%s>>>>>",
                                     "", zeros);
    const size_t before = pdf->size;
    changes_alter(pdf, 9, "/Fields[", "/Fields[60 0 R ", field);
    const char *gap = (char *)memmem(pdf->data + before, pdf->size - before, zeros, ROOM * 2) - 1;
    const size_t from = (size_t)(gap - pdf->data), to = from + (size_t)ROOM * 2 + 2;
    char *at = pdf->data + from - strlen("/Contents") - 40;
    memcpy(at, range, (size_t)snprintf(range, sizeof range, "[0 %zu %zu %zu]", from, to, pdf->size - to));
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
    EVP_DigestUpdate(hash, pdf->data, from);
    EVP_DigestUpdate(hash, pdf->data + to, pdf->size - to);
    EVP_DigestFinal_ex(hash, digest, NULL);
    EVP_MD_CTX_free(hash);
    const int size = stamp_make_at(&der, authority->certificate, authority->key, digest, time(NULL));
    const char *hex = sr_text_hex(der, (apr_size_t)size, bench.pool);
    memcpy(pdf->data + from + 1, hex, strlen(hex));
    OPENSSL_free(der);
}

static void test_changed(void)
{
    pdf_t pdf = signed_document(proofs_of(0));
    alter_page(&pdf);
    is_said(&pdf, "extended | " SIGNED "B-B trusted page 1: its size or rotation", "a page is turned");
    stamp_by_hand(&pdf);
    is_said(&pdf, "extended | " SIGNED "B-LTA trusted page 1: its size or rotation | " STAMP,
            "and a document timestamp follows: no signature explains the change");
    free(pdf.data);
}

static void test_revoked(void)
{
    pdf_t pdf = signed_document(NULL);
    apr_array_header_t *proofs = proofs_of(0);
    proof_der_t crl = proof_crl(&(proof_crl_t){.issuer = root_ca, .revoked = seal});
    add_proof(proofs, SR_PDF_CRL, crl.data, crl.length);
    OPENSSL_free(crl.data);
    archive(&pdf, "one", proofs);
    is_said(&pdf, "signed | " SIGNED "B-LTA revoked | " STAMP, "the seal was revoked before the timestamp");
    free(pdf.data);
}

int main(void)
{
    bench = seal_begin(20000);
    make_begin();
    const seal_key_t own = bench.key;
    root_ca = make_certificate(&(make_t){.name = "root", .ca = true, .usage = PROOF_CA_USAGE}, bench.pool);
    seal = make_certificate(&(make_t){.name = "seal", .issuer = root_ca}, bench.pool);
    authority = make_certificate(&(make_t){.name = "authority", .issuer = root_ca, .extended = "critical,timeStamping"},
                                 bench.pool);
    if (sr_cms_anchors_read(&anchors, root_ca->certificate_path, bench.pool)) abort();
    test_archived();
    test_flipped();
    test_changed();
    test_revoked();
    bench.key = own;
    make_free(root_ca);
    make_free(seal);
    make_free(authority);
    make_end();
    is_int(help_notices, 0, "no worker died of any of it%s%s", help_notices ? ": " : "", help_last_notice);
    return seal_end(&bench);
}
