/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_revocation.c: tests of src/cms/revocation.c: which OCSP responses and CRLs prove something about a certificate.
 */
#include "proofs_make.h"

#include <apr_general.h>
#include <openssl/err.h>

static apr_pool_t *pool;
static made_t *ca, *leaf, *other, *stranger, *responder, *plain_responder, *not_delegated, *foreign_responder;

static void make_all(void)
{
    ca = make_certificate(&(make_t){.name = "CA", .ca = true, .usage = PROOF_CA_USAGE}, pool);
    stranger = make_certificate(&(make_t){.name = "Stranger", .ca = true, .usage = PROOF_CA_USAGE}, pool);
    leaf = make_certificate(&(make_t){.name = "Leaf", .issuer = ca}, pool);
    other = make_certificate(&(make_t){.name = "Other", .issuer = ca}, pool);
    responder = make_certificate(&(make_t){.name = "Responder", .issuer = ca, .extended = "OCSPSigning"}, pool);
    proof_extend(responder, ca, NID_id_pkix_OCSP_noCheck, "ignored");
    plain_responder = make_certificate(&(make_t){.name = "Plain", .issuer = ca, .extended = "OCSPSigning"}, pool);
    not_delegated = make_certificate(&(make_t){.name = "Nobody", .issuer = ca}, pool);
    foreign_responder =
        make_certificate(&(make_t){.name = "Foreign", .issuer = stranger, .extended = "OCSPSigning"}, pool);
}

static const char *say(const sr_revocation_t *result)
{
    static const char *const states[] = {"unusable", "unknown", "good", "revoked"};
    const char *more = result->state == SR_REVOCATION_REVOKED ? result->reason : result->why;
    return apr_pstrcat(pool, states[result->state], more ? ": " : "", more ? more : "", NULL);
}

/* --- OCSP */

static sr_revocation_t of_ocsp(const proof_ocsp_t *what, apr_time_t at)
{
    sr_revocation_t result;
    proof_der_t der = proof_ocsp(what);
    sr_revocation_ocsp(&result, der.data, der.length, leaf->certificate, ca->certificate, NULL, at, pool);
    OPENSSL_free(der.data);
    return result;
}

static void test_ocsp(void)
{
    enum { GOOD = V_OCSP_CERTSTATUS_GOOD, REVOKED = V_OCSP_CERTSTATUS_REVOKED, UNKNOWN = V_OCSP_CERTSTATUS_UNKNOWN };
    static const char unsigned_one[] = "unusable: it is not signed by the issuer, or by a responder of the issuer";
    const struct {
        const char *name;
        proof_ocsp_t what;
        const char *said;
    } rows[] = {
        {"signed by the issuer", {.certificate = leaf, .issuer = ca}, "good"},
        {"signed by a delegated responder", {.certificate = leaf, .issuer = ca, .signer = responder}, "good"},
        {"with a CertID by SHA-256", {.certificate = leaf, .issuer = ca, .hash = EVP_sha256()}, "good"},
        {"about two certificates", {.certificate = other, .issuer = ca, .status = REVOKED, .second = leaf}, "good"},
        {"revoked",
         {.certificate = leaf,
          .issuer = ca,
          .signer = responder,
          .status = REVOKED,
          .reason = OCSP_REVOKED_STATUS_KEYCOMPROMISE},
         "revoked: keyCompromise"},
        {"unknown",
         {.certificate = leaf, .issuer = ca, .status = UNKNOWN},
         "unknown: the responder does not know the certificate"},
        {"about another serial number",
         {.certificate = other, .issuer = ca},
         "unusable: it is about another certificate"},
        {"about the same serial number of another issuer",
         {.certificate = leaf, .issuer = stranger, .signer = ca},
         unsigned_one},
        {"over", {.certificate = leaf, .issuer = ca, .from = -7200, .until = -10}, "unusable: its time is over"},
        {"not yet begun",
         {.certificate = leaf, .issuer = ca, .from = 900, .until = 7200},
         "unusable: its time has not begun"},
        {"by a clock that is four minutes ahead",
         {.certificate = leaf, .issuer = ca, .from = 240, .until = 7200},
         "good"},
        {"revoked, but over",
         {.certificate = leaf, .issuer = ca, .status = REVOKED, .from = -7200, .until = -10},
         "unusable: its time is over"},
        {"without nextUpdate", {.certificate = leaf, .issuer = ca, .endless = true}, "unusable: it has no nextUpdate"},
        {"ends before it begins",
         {.certificate = leaf, .issuer = ca, .from = -10, .until = -20},
         "unusable: its nextUpdate is before its thisUpdate"},
        {"by a responder of another authority",
         {.certificate = leaf, .issuer = ca, .signer = foreign_responder},
         unsigned_one},
        {"by another authority", {.certificate = leaf, .issuer = ca, .signer = stranger}, unsigned_one},
        {"by a certificate that is for something else",
         {.certificate = leaf, .issuer = ca, .signer = not_delegated},
         unsigned_one},
        {"by the certificate itself", {.certificate = leaf, .issuer = ca, .signer = leaf}, unsigned_one},
        {"without an answer",
         {.certificate = leaf, .issuer = ca, .error = "tryLater"},
         "unusable: the responder reports trylater"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sr_revocation_t result = of_ocsp(&rows[i].what, sr_time_now());
        is_str(say(&result), rows[i].said, "OCSP: %s", rows[i].name);
    }
}

static void test_responders(void)
{
    sr_revocation_t own = of_ocsp(&(proof_ocsp_t){.certificate = leaf, .issuer = ca}, sr_time_now());
    ok(!own.responder, "the issuer is no responder that needs a proof");
    sr_revocation_t excused =
        of_ocsp(&(proof_ocsp_t){.certificate = leaf, .issuer = ca, .signer = responder}, sr_time_now());
    ok(excused.responder && excused.excused, "a responder with ocsp-nocheck needs no proof");
    sr_revocation_t plain =
        of_ocsp(&(proof_ocsp_t){.certificate = leaf, .issuer = ca, .signer = plain_responder}, sr_time_now());
    ok(plain.state == SR_REVOCATION_GOOD && plain.responder && !plain.excused, "one without it needs one");
    ok(plain.responder && !X509_cmp(plain.responder, plain_responder->certificate), "its certificate is returned");
}

static void test_damaged_ocsp(void)
{
    sr_revocation_t result;
    proof_der_t der = proof_ocsp(&(proof_ocsp_t){.certificate = leaf, .issuer = ca, .signer = responder});
    int good = 0;
    for (apr_size_t i = 0; i < der.length; i++) {
        der.data[i] ^= 0x55;
        sr_revocation_ocsp(&result, der.data, der.length, leaf->certificate, ca->certificate, NULL, 0, pool);
        if (result.state == SR_REVOCATION_GOOD) good++;
        der.data[i] ^= 0x55;
    }
    /* the encoding of the responder's certificate has bytes that nothing depends on, such as those of its signature's
     * algorithm parameters; none of them is in the answer itself */
    ok(good < 8, "OCSP: no flipped byte of what is signed passes (%d passed)", good);
    sr_revocation_ocsp(&result, der.data, der.length - 1, leaf->certificate, ca->certificate, NULL, 0, pool);
    is_str(say(&result), "unusable: it is not an OCSP response", "OCSP: one byte is missing");
    unsigned char *longer = apr_pcalloc(pool, der.length + 1);
    memcpy(longer, der.data, der.length);
    sr_revocation_ocsp(&result, longer, der.length + 1, leaf->certificate, ca->certificate, NULL, 0, pool);
    is_str(say(&result), "unusable: it is not an OCSP response", "OCSP: one byte follows");
    longer = apr_pcalloc(pool, SR_REVOCATION_MAX_OCSP + 1);
    sr_revocation_ocsp(&result, longer, SR_REVOCATION_MAX_OCSP + 1, leaf->certificate, ca->certificate, NULL, 0, pool);
    is_str(say(&result), "unusable: it is too large", "OCSP: too large");
    OPENSSL_free(der.data);
}

static void test_times(void)
{
    const apr_time_t now = sr_time_now(), hour = apr_time_from_sec(3600);
    const proof_ocsp_t over = {.certificate = leaf,
                               .issuer = ca,
                               .signer = responder,
                               .status = V_OCSP_CERTSTATUS_REVOKED,
                               .from = -7200,
                               .until = -3600};
    sr_revocation_t result = of_ocsp(&over, 0);
    is_str(say(&result), "revoked: unspecified", "without a time, one that is over says what it said");
    ok(result.from < now - hour && result.until < now && result.revoked_at < now - hour, "and its times are read");
    result = of_ocsp(&over, now - hour - hour / 2);
    is_str(say(&result), "revoked: unspecified", "it holds at its own time");
    result = of_ocsp(&over, now - 4 * hour);
    is_str(say(&result), "unusable: its time has not begun", "and not before");
}

/* --- CRL */

static sr_revocation_t of_crl(const proof_crl_t *what, apr_time_t at)
{
    sr_revocation_t result;
    proof_der_t der = proof_crl(what);
    sr_revocation_crl(&result, der.data, der.length, leaf->certificate, ca->certificate, at, pool);
    OPENSSL_free(der.data);
    return result;
}

static void test_crl(void)
{
    static const char scope[] = "unusable: it is not about certificates of this kind or of this issuer";
    static const char foreign[] = "unusable: it is not signed by the issuer";
    const struct {
        const char *name;
        proof_crl_t what;
        const char *said;
    } rows[] = {
        {"empty", {.issuer = ca}, "good"},
        {"of another serial number", {.issuer = ca, .revoked = other}, "good"},
        {"of this one", {.issuer = ca, .revoked = leaf}, "revoked"},
        {"with a reason", {.issuer = ca, .revoked = leaf, .reason = "keyCompromise"}, "revoked: keyCompromise"},
        {"on hold", {.issuer = ca, .revoked = leaf, .reason = "certificateHold"}, "revoked: certificateHold"},
        {"over", {.issuer = ca, .from = -7200, .until = -10}, "unusable: its time is over"},
        {"not yet begun", {.issuer = ca, .from = 900, .until = 7200}, "unusable: its time has not begun"},
        {"without nextUpdate", {.issuer = ca, .endless = true}, "unusable: it has no nextUpdate"},
        {"older than the certificate",
         {.issuer = ca, .from = -172800, .until = 3600},
         "unusable: it is older than the certificate"},
        {"a delta", {.issuer = ca, .delta = true}, "unusable: it is a delta CRL"},
        {"of another authority", {.issuer = stranger}, foreign},
        {"in the name of the issuer, by another key", {.issuer = ca, .signer = stranger}, foreign},
        {"for certificates of users", {.issuer = ca, .scope = "critical,onlyuser:TRUE"}, "good"},
        {"for certificates of authorities", {.issuer = ca, .scope = "critical,onlyCA:TRUE"}, scope},
        {"for attribute certificates", {.issuer = ca, .scope = "critical,onlyAA:TRUE"}, scope},
        {"for some reasons", {.issuer = ca, .scope = "critical,onlysomereasons:keyCompromise"}, scope},
        {"indirect", {.issuer = ca, .scope = "critical,indirectCRL:TRUE"}, scope},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sr_revocation_t result = of_crl(&rows[i].what, sr_time_now());
        is_str(say(&result), rows[i].said, "CRL: %s", rows[i].name);
    }
    sr_revocation_t over = of_crl(&(proof_crl_t){.issuer = ca, .from = -7200, .until = -10}, 0);
    is_str(say(&over), "good", "CRL: without a time, one that is over says what it said");
}

static void test_partition(void)
{
    const struct {
        const char *points, *scope, *said;
    } rows[] = {{"URI:http://crl.example/1", "critical,fullname:URI:http://crl.example/1", "good"},
                {"URI:http://crl.example/1", "critical,fullname:URI:http://crl.example/2",
                 "unusable: it is not about certificates of this kind or of this issuer"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sr_revocation_t result;
        made_t *one = make_certificate(&(make_t){.name = "Part", .issuer = ca}, pool);
        proof_extend(one, ca, NID_crl_distribution_points, rows[i].points);
        proof_der_t der = proof_crl(&(proof_crl_t){.issuer = ca, .scope = rows[i].scope});
        sr_revocation_crl(&result, der.data, der.length, one->certificate, ca->certificate, sr_time_now(), pool);
        is_str(say(&result), rows[i].said, "CRL: partition %d of an authority", (int)i + 1);
        OPENSSL_free(der.data);
        make_free(one);
    }
}

static void test_damaged_crl(void)
{
    sr_revocation_t result;
    proof_der_t der = proof_crl(&(proof_crl_t){.issuer = ca, .revoked = leaf});
    int good = 0;
    for (apr_size_t i = 0; i < der.length; i++) {
        der.data[i] ^= 0x55;
        sr_revocation_crl(&result, der.data, der.length, leaf->certificate, ca->certificate, 0, pool);
        if (result.state == SR_REVOCATION_GOOD) good++;
        der.data[i] ^= 0x55;
    }
    is_int(good, 0, "CRL: no flipped byte makes a revoked certificate good");
    sr_revocation_crl(&result, der.data, der.length - 1, leaf->certificate, ca->certificate, 0, pool);
    is_str(say(&result), "unusable: it is not a CRL", "CRL: one byte is missing");
    unsigned char *large = calloc(1, SR_REVOCATION_MAX_CRL + 1);
    sr_revocation_crl(&result, large, SR_REVOCATION_MAX_CRL + 1, leaf->certificate, ca->certificate, 0, pool);
    is_str(say(&result), "unusable: it is too large", "CRL: too large");
    free(large);
    made_t *silent = make_certificate(&(make_t){.name = "CA", .ca = true, .usage = "keyCertSign"}, pool);
    made_t *child = make_certificate(&(make_t){.name = "Child", .issuer = silent}, pool);
    proof_der_t its = proof_crl(&(proof_crl_t){.issuer = silent});
    sr_revocation_crl(&result, its.data, its.length, child->certificate, silent->certificate, 0, pool);
    is_str(say(&result), "unusable: it is not signed by the issuer", "CRL: of an authority that may sign none");
    OPENSSL_free(its.data);
    OPENSSL_free(der.data);
    make_free(silent);
    make_free(child);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    make_begin();
    make_all();
    test_ocsp();
    test_responders();
    test_damaged_ocsp();
    test_times();
    test_crl();
    test_partition();
    test_damaged_crl();
    is_int((long long)ERR_peek_error(), 0, "OpenSSL's error queue is empty");
    made_t *all[] = {ca, leaf, other, stranger, responder, plain_responder, not_delegated, foreign_responder, NULL};
    for (made_t **one = all; *one; one++) make_free(*one);
    make_end();
    apr_pool_destroy(pool);
    return done();
}
