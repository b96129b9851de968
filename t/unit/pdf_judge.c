/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_judge.c: levels, trust and timestamps of signatures that are checked together with the timestamps and proofs of
 * their document: each rule of src/cms/judge.c and chain.c. The offsets stand for a file that does not exist:
 *   signature … 100, proofs at 150, document timestamp … 200, later proofs at 250, the next timestamp … 300 */
#include "proofs_make.h"
#include "stamp_make.h"

#define DAY 86400L
#define YEAR (365 * DAY)

static apr_pool_t *root;
static apr_time_t now;
static const unsigned char digest[32] = "the digest of a document, so so.";
static made_t *ca, *signer, *tsa_ca, *tsa, *short_tsa, *responder, *stranger;
static sr_cms_anchors_t *anchors;

/* ------------------------------------------------------------------------------------------------ what is made */

static sr_cms_bytes_t keep(unsigned char *der, int size)
{
    sr_cms_bytes_t kept = {apr_pmemdup(root, der, (apr_size_t)size), (apr_size_t)size};
    OPENSSL_free(der);
    return kept;
}

/* A token over a digest, made at a time in seconds from now. */
static sr_cms_bytes_t token(const made_t *authority, const unsigned char *stamped, long when)
{
    unsigned char *der;
    const time_t time = (time_t)apr_time_sec(now) + when;
    const int size = stamp_make_at(&der, authority->certificate, authority->key, stamped, time);
    return keep(der, size);
}

static sr_cms_bytes_t document_stamp(const made_t *authority, long when)
{
    return token(authority, digest, when);
}

/* A signature of the document. With an authority it has a timestamp, of another signature if `wrong`. */
static sr_cms_bytes_t sign(const made_t *by, const made_t *authority, long when, bool wrong)
{
    unsigned char hash[32];
    const sr_cms_identity_t *identity;
    apr_size_t length, stamped_length;
    const unsigned char *made, *stamped;
    if (sr_cms_identity_load(&identity, by->certificate_path, by->key_path, root)
        || sr_cms_sign(&made, &length, identity, digest, root) || sr_cms_stamped_digest(hash, made, length, root))
        abort();
    if (!authority) return (sr_cms_bytes_t){made, length};
    hash[0] ^= wrong;
    const sr_cms_bytes_t stamp = token(authority, hash, when);
    if (sr_cms_stamp(&stamped, &stamped_length, made, length, stamp.data, stamp.length, root)) abort();
    return (sr_cms_bytes_t){stamped, stamped_length};
}

/* ------------------------------------------------------------------------------------------------ a document */

typedef struct document_t {
    sr_cms_asked_t asked[4];
    sr_cms_proof_t proofs[32];
    int count, proof_count;
    sr_cms_result_t results[4];
} document_t;

static document_t document;

static void begin(void)
{
    memset(&document, 0, sizeof document);
}

static void add(sr_cms_bytes_t der, apr_off_t covers)
{
    document.asked[document.count++] = (sr_cms_asked_t){der.data, der.length, covers, false};
}

static void prove(sr_cms_proof_kind_t kind, sr_cms_bytes_t der, apr_off_t at)
{
    document.proofs[document.proof_count++] = (sr_cms_proof_t){kind, der, at};
}

static void prove_certificate(const made_t *made)
{
    unsigned char *der = NULL;
    int size = i2d_X509(made->certificate, &der);
    prove(SR_CMS_PROOF_CERTIFICATE, keep(der, size), 150);
}

static void prove_ocsp(const proof_ocsp_t *what, apr_off_t at)
{
    proof_der_t der = proof_ocsp(what);
    prove(SR_CMS_PROOF_OCSP, keep(der.data, (int)der.length), at);
}

static void prove_crl(const proof_crl_t *what, apr_off_t at)
{
    proof_der_t der = proof_crl(what);
    prove(SR_CMS_PROOF_CRL, keep(der.data, (int)der.length), at);
}

/* Proofs of the signer and of the authority. */
static void prove_all(long from, long until, apr_off_t at)
{
    prove_ocsp(&(proof_ocsp_t){.certificate = signer, .issuer = ca, .from = from, .until = until}, at);
    prove_crl(&(proof_crl_t){.issuer = tsa_ca, .from = from, .until = until}, at);
}

/* "B-T trusted; stamp valid; until": what is said of one signature, `later` seconds from now. */
static const char *said_of(int which, long later, const sr_cms_anchors_t *known)
{
    static const char *const trusts[] = SR_CMS_TRUST_NAMES;
    const sr_cms_context_t context = {.anchors = known, .now = now + apr_time_from_sec(later)};
    sr_cms_check_all(document.results, document.asked, document.count, document.proofs, document.proof_count, &context,
                     root);
    const sr_cms_result_t *result = &document.results[which];
    const char *level = sr_cms_level_name(result->level), *stamp = sr_cms_stamp_name(result->stamp.state);
    const char *why = result->distrust ? result->distrust : result->stamp.fault ? result->stamp.fault : "";
    const char *until = !result->proven_until                                      ? ""
                        : result->proven_until > now + apr_time_from_sec(5 * YEAR) ? ", long"
                                                                                   : ", short";
    if (result->state != SR_CMS_INTACT) return result->fault;
    return apr_psprintf(root, "%s %s%s, stamp %s%s%s", level ? level : "-", trusts[result->trust], until, stamp,
                        *why ? ": " : "", why);
}

static void is_said(int which, long later, const char *wanted, const char *name)
{
    const char *said = said_of(which, later, anchors);
    const char *revoked = strstr(said, " was revoked at ");
    if (revoked) said = apr_pstrmemdup(root, said, (apr_size_t)(revoked - said) + sizeof " was revoked" - 1);
    is_str(said, wanted, "%s", name);
}

/* --------------------------------------------------------------------------------------------------- the tests */

static void test_plain(void)
{
    begin();
    add(sign(signer, NULL, 0, false), 100);
    is_said(0, 0, "B-B trusted, short, stamp none", "a signature alone");
    is_said(0, 2 * YEAR, "B-B untrusted, stamp none: certificate has expired", "later");
    is_str(said_of(0, 0, NULL), "B-B unknown, stamp none", "without authorities");
    prove_all(-60, 60, 150);
    is_said(0, 0, "B-B trusted, short, stamp none", "proofs without a timestamp make no level");
    begin();
    add(sign(stranger, NULL, 0, false), 100);
    is_said(0, 0, "B-B untrusted, stamp none: self-signed certificate", "a stranger");
}

static void test_stamps(void)
{
    begin();
    add(sign(signer, tsa, -60, false), 100);
    is_said(0, 0, "B-T trusted, long, stamp valid", "with a timestamp");
    is_int(document.results[0].stamp.time, now - apr_time_from_sec(60), "its time");
    is_str(document.results[0].stamp.authority, "tsa", "its authority");
    is_said(0, 2 * YEAR, "B-T trusted, long, stamp valid", "after the signer's certificate has ended");
    is_said(0, 30 * YEAR, "B-T untrusted, stamp untrusted: certificate has expired", "after both have ended");
    is_str(said_of(0, 0, NULL),
           "B-T unknown, stamp untrusted: no authorities are configured with which it could be compared",
           "without authorities");
    begin();
    add(sign(signer, tsa, -60, true), 100);
    is_said(0, 0, "B-B trusted, short, stamp broken: it is of another signature", "a timestamp of another signature");
    is_int(document.results[0].stamp.time, 0, "it has no time");
    begin();
    add(sign(signer, stranger, -60, false), 100);
    is_said(0, 0, "B-T trusted, short, stamp untrusted: self-signed certificate", "by somebody who is no authority");
    made_t *server = make_certificate(&(make_t){.name = "server", .issuer = tsa_ca, .extended = "serverAuth"}, root);
    begin();
    add(sign(signer, server, -60, false), 100);
    is_said(0, 0, "B-T trusted, short, stamp untrusted: unsuitable certificate purpose", "by a server");
    make_free(server);
    begin();
    add(sign(signer, tsa, 3600, false), 100);
    is_said(0, 0, "B-T trusted, short, stamp untrusted: its time is later than the time at which it is known to exist",
            "a timestamp of the future");
}

static void test_archive(void)
{
    begin();
    add(sign(signer, tsa, -120, false), 100);
    prove_all(-300, 600, 150);
    is_said(0, 0, "B-LT trusted, long, stamp valid", "proofs that were made before");
    add(document_stamp(short_tsa, -60), 200);
    is_said(0, 0, "B-LTA trusted, long, stamp valid", "and a document timestamp");
    is_said(1, 0, "- trusted, short, stamp valid", "the document timestamp itself");
    document.proofs[0].at = document.proofs[1].at = 250;
    is_said(0, 0, "B-LT trusted, long, stamp valid", "proofs that no timestamp covers");
    document.asked[1].refuted = true;
    document.proofs[0].at = document.proofs[1].at = 150;
    is_said(0, 0, "B-LT trusted, long, stamp valid", "the document timestamp of another document counts for nothing");
    begin();
    add(sign(signer, NULL, 0, false), 100);
    add(document_stamp(tsa, -60), 200);
    is_said(0, 2 * YEAR, "B-T trusted, long, stamp none", "a document timestamp alone proves the time");
    prove_all(-30, 600, 150);
    is_said(0, 2 * YEAR, "B-LTA trusted, long, stamp none", "with proofs that were made after the signature");
    begin();
    add(sign(signer, NULL, 0, false), 100);
    prove_all(-300, -200, 150);
    add(document_stamp(tsa, -60), 200);
    is_said(0, 0, "B-T trusted, long, stamp none", "proofs that were over at that time");
}

/* A timestamp whose certificate has ended is proved by the next one. */
static void test_renewal(void)
{
    begin();
    add(sign(signer, short_tsa, -120, false), 100);
    add(document_stamp(short_tsa, -60), 200);
    is_said(0, 3 * YEAR, "B-T untrusted, stamp untrusted: certificate has expired", "not renewed");
    is_said(1, 3 * YEAR, "- untrusted, stamp untrusted: certificate has expired", "the timestamp");
    add(document_stamp(tsa, YEAR), 300);
    is_said(0, 3 * YEAR, "B-T trusted, long, stamp valid", "renewed");
    is_said(1, 3 * YEAR, "- trusted, long, stamp valid", "the older timestamp");
    document.asked[2].covers = 150;
    is_said(1, 3 * YEAR, "- untrusted, stamp untrusted: certificate has expired",
            "a timestamp that does not cover the older one proves nothing");
}

static void test_revocation(void)
{
    const proof_crl_t crl = {.issuer = ca, .revoked = signer};
    begin();
    add(sign(signer, NULL, 0, false), 100);
    prove_crl(&crl, 150);
    is_said(0, 0, "B-B revoked, stamp none: its certificate was revoked", "revoked two hours ago");
    begin();
    add(sign(signer, tsa, -60, false), 100);
    prove_crl(&crl, 150);
    is_said(0, 0, "B-T revoked, stamp valid: its certificate was revoked", "before the timestamp");
    begin();
    add(sign(signer, tsa, -10000, false), 100);
    prove_crl(&crl, 150);
    is_said(0, 0, "B-T trusted, long, stamp valid", "after the timestamp");
    begin();
    add(sign(signer, tsa, -60, false), 100);
    prove_ocsp(&(proof_ocsp_t){.certificate = signer, .issuer = ca, .status = V_OCSP_CERTSTATUS_REVOKED}, 150);
    is_said(0, 0, "B-T revoked, stamp valid: its certificate was revoked", "an OCSP response");
    prove_ocsp(&(proof_ocsp_t){.certificate = signer, .issuer = ca, .from = -7200, .until = 9999}, 150);
    is_said(0, 0, "B-T revoked, stamp valid: its certificate was revoked", "an older one that says good");
    prove_ocsp(&(proof_ocsp_t){.certificate = signer, .issuer = ca, .from = -600, .until = 9999}, 150);
    is_said(0, 0, "B-T trusted, long, stamp valid", "a newer one that says good");
    begin();
    add(sign(signer, tsa, -60, false), 100);
    prove_crl(&(proof_crl_t){.issuer = ca, .revoked = signer, .delta = true}, 150);
    prove_crl(&(proof_crl_t){.issuer = ca, .signer = stranger, .revoked = signer}, 150);
    prove_crl(&(proof_crl_t){.issuer = stranger, .revoked = signer}, 150);
    prove(SR_CMS_PROOF_CRL, (sr_cms_bytes_t){digest, sizeof digest}, 150);
    prove(SR_CMS_PROOF_OCSP, (sr_cms_bytes_t){digest, sizeof digest}, 150);
    prove(SR_CMS_PROOF_CERTIFICATE, (sr_cms_bytes_t){digest, sizeof digest}, 150);
    is_said(0, 0, "B-T trusted, long, stamp valid", "a delta, CRLs of others, and what is no proof");
    begin();
    add(sign(signer, tsa, -60, false), 100);
    prove_crl(&(proof_crl_t){.issuer = tsa_ca, .revoked = tsa}, 150);
    is_said(0, 0, "B-T trusted, short, stamp untrusted: its certificate was revoked", "the authority was revoked");
}

/* A responder of the issuer needs a certificate that was valid, and a proof of its own unless it is excused. */
static void test_responder(void)
{
    const proof_ocsp_t good = {.certificate = signer, .issuer = ca, .signer = responder, .from = -300, .until = 600};
    begin();
    add(sign(signer, tsa, -120, false), 100);
    prove_ocsp(&good, 150);
    prove_crl(&(proof_crl_t){.issuer = tsa_ca, .from = -300, .until = 600}, 150);
    is_said(0, 0, "B-T trusted, long, stamp valid", "a responder of which nothing is proved");
    prove_crl(&(proof_crl_t){.issuer = ca, .revoked = responder, .from = -300, .until = 600}, 150);
    is_said(0, 0, "B-LT trusted, long, stamp valid", "the CRL alone has a proof of the signer");
    begin();
    proof_extend(responder, ca, NID_id_pkix_OCSP_noCheck, "NULL");
    add(sign(signer, tsa, -120, false), 100);
    prove_ocsp(&good, 150);
    prove_crl(&(proof_crl_t){.issuer = tsa_ca, .from = -300, .until = 600}, 150);
    is_said(0, 0, "B-LT trusted, long, stamp valid", "an excused responder");
    is_said(0, 20 * YEAR, "B-LT trusted, long, stamp valid", "the level stays what the file has");
}

static void test_missing_certificates(void)
{
    begin();
    made_t *sub = make_certificate(&(make_t){.name = "sub", .issuer = ca, .ca = true, .usage = PROOF_CA_USAGE}, root);
    made_t *leaf = make_certificate(&(make_t){.name = "leaf", .issuer = sub}, root);
    add(sign(leaf, NULL, 0, false), 100);
    is_said(0, 0, "B-B untrusted, stamp none: unable to get local issuer certificate", "an issuer is missing");
    prove_certificate(sub);
    is_said(0, 0, "B-B trusted, short, stamp none", "and is in the document security store");
    prove_crl(&(proof_crl_t){.issuer = ca, .revoked = sub}, 150);
    is_said(0, 0, "B-B revoked, stamp none: a certificate of its chain was revoked", "and was revoked");
    make_free(sub);
    make_free(leaf);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    now = apr_time_from_sec(apr_time_sec(apr_time_now()));
    const int long_ago = -(int)YEAR, year = (int)YEAR;
    const char *stamping = "critical,timeStamping";
    ca = make_certificate(
        &(make_t){.name = "ca", .ca = true, .usage = PROOF_CA_USAGE, .from = long_ago, .until = 40 * year}, root);
    tsa_ca = make_certificate(
        &(make_t){.name = "tsa_ca", .ca = true, .usage = PROOF_CA_USAGE, .from = long_ago, .until = 40 * year}, root);
    signer = make_certificate(&(make_t){.name = "signer", .issuer = ca, .from = long_ago, .until = year}, root);
    tsa = make_certificate(
        &(make_t){.name = "tsa", .issuer = tsa_ca, .extended = stamping, .from = long_ago, .until = 25 * year}, root);
    short_tsa = make_certificate(
        &(make_t){.name = "short", .issuer = tsa_ca, .extended = stamping, .from = long_ago, .until = 2 * year}, root);
    responder = make_certificate(
        &(make_t){.name = "responder", .issuer = ca, .extended = "OCSPSigning", .from = long_ago, .until = year}, root);
    stranger = make_certificate(&(make_t){.name = "stranger", .from = long_ago, .until = year}, root);
    make_run("cat %s/ca.crt %s/tsa_ca.crt > %s/roots.crt", make_folder, make_folder, make_folder);
    if (sr_cms_anchors_read(&anchors, apr_pstrcat(root, make_folder, "/roots.crt", NULL), root)) abort();
    test_plain();
    test_stamps();
    test_archive();
    test_renewal();
    test_revocation();
    test_responder();
    test_missing_certificates();
    made_t *const all[] = {ca, tsa_ca, signer, tsa, short_tsa, responder, stranger, NULL};
    for (int i = 0; all[i]; i++) make_free(all[i]);
    make_end();
    apr_pool_destroy(root);
    return done();
}
