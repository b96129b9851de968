/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_cms.c: the signature itself: made with keys of every kind that may seal, checked by our own code and by the
 * openssl command; and what must not pass: other digests, flipped bytes, swapped certificates, loose forms of CMS. */
#include "cms_make.h"

#include <apr_general.h>
#include <openssl/cms.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <time.h>

static apr_pool_t *root;
static const char text[] = "What was signed.\n";
static unsigned char digest[SR_CMS_DIGEST_BYTES];
static const sr_cms_context_t nobody;

static sr_cms_result_t check(const void *der, apr_size_t length, const sr_cms_context_t *context)
{
    sr_cms_result_t result;
    unsigned char other[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    sr_cms_check(&result, der, length, context, root);
    EVP_Digest(text, sizeof text - 1, other, &size, EVP_get_digestbyname(result.hash ? result.hash : "SHA256"), NULL);
    sr_cms_is_our_seal(&result, other, size, context);
    return result;
}

static const char *say(const sr_cms_result_t *result, apr_pool_t *pool)
{
    static const char *const states[] = {"intact", "broken", "unchecked"};
    return apr_pstrcat(pool, states[result->state], result->fault ? ": " : "", result->fault ? result->fault : "",
                       NULL);
}

static const unsigned char *sign(apr_size_t *length, const sr_cms_identity_t *identity)
{
    const unsigned char *der = NULL;
    unsigned char own[EVP_MAX_MD_SIZE];
    EVP_Digest(text, sizeof text - 1, own, NULL, EVP_get_digestbyname(sr_cms_identity_hash(identity)), NULL);
    sr_error_t *error = sr_cms_sign(&der, length, identity, own, root);
    if (error) printf("# %s (%s)\n", error->message, error->cause);
    if (error) exit(1);
    return der;
}

/* ------------------------------------------------------------------------------------------ what it makes */

/* PAdES B-B has exactly these three, and no signing-time. */
static void has_attributes(const unsigned char *der, apr_size_t length, const char *name)
{
    CMS_ContentInfo *cms = d2i_CMS_ContentInfo(NULL, &der, (long)length);
    CMS_SignerInfo *signer = sk_CMS_SignerInfo_value(CMS_get0_SignerInfos(cms), 0);
    const int wanted[] = {NID_pkcs9_contentType, NID_pkcs9_messageDigest, NID_id_smime_aa_signingCertificateV2};
    is_int(CMS_signed_get_attr_count(signer), 3, "%s: three signed attributes", name);
    for (int i = 0; i < 3; i++)
        ok(CMS_signed_get_attr_by_NID(signer, wanted[i], -1) >= 0, "%s: %s", name, OBJ_nid2sn(wanted[i]));
    ok(CMS_unsigned_get_attr_count(signer) <= 0, "%s: none that is not signed", name);
    CMS_ContentInfo_free(cms);
}

static void openssl_agrees(const unsigned char *der, apr_size_t length, const char *anchor, const char *name)
{
    if (!make_has("openssl")) {
        skip("the openssl command is not installed");
        return;
    }
    const char *file = make_file("one.der", der, length, root), *data = make_file("text", text, sizeof text - 1, root);
    const char *other = make_file("other", "x", 1, root);
    const char *command = "openssl cms -verify -binary -cades -inform DER -purpose any -partial_chain";
    is_int(make_run("%s -in '%s' -CAfile '%s' -content '%s'", command, file, anchor, data), 0,
           "%s: openssl cms -verify -cades", name);
    ok(make_run("%s -in '%s' -CAfile '%s' -content '%s'", command, file, anchor, other) != 0,
       "%s: and not for another text", name);
}

static void test_kind(const make_t *make, const char *algorithm)
{
    made_t *made = make_certificate(make, root);
    const sr_cms_identity_t *identity = NULL;
    sr_error_t *error = sr_cms_identity_load(&identity, made->certificate_path, made->key_path, root);
    is_str(error ? error->message : NULL, NULL, "%s loads", make->name);
    const sr_cms_certificate_t *about = sr_cms_identity_certificate(identity);
    is_str(about->name, make->name, "its name");
    apr_size_t length;
    const unsigned char *der = sign(&length, identity);
    ok(length + 300 <= sr_cms_identity_room(identity), "%s: %d bytes", make->name, (int)length);
    has_attributes(der, length, make->name);
    openssl_agrees(der, length, made->certificate_path, make->name);

    sr_cms_result_t result = check(der, length, &nobody);
    is_str(say(&result, root), "intact", "%s: intact", make->name);
    is_str(result.algorithm, algorithm, "%s: %s", make->name, algorithm);
    ok(result.bound && !result.ours && !result.expired && result.trust == SR_CMS_TRUST_UNKNOWN, "bound, nobody's");
    is_str(result.signer->sha256, about->sha256, "by its certificate");
    unsigned char wrong[EVP_MAX_MD_SIZE];
    unsigned size;
    EVP_Digest(text, sizeof text - 1, wrong, &size, EVP_get_digestbyname(result.hash), NULL);
    cms_check(&result, der, length, wrong, size - 1, &nobody, root);
    is_int(result.state, SR_CMS_BROKEN, "a shorter digest");
    wrong[31] ^= 1;
    cms_check(&result, der, length, wrong, size, &nobody, root);
    is_str(say(&result, root), "broken: the document is not the one that was signed", "another digest");
    cms_check(&result, der, length, digest, 31, &nobody, root);
    is_int(result.state, SR_CMS_BROKEN, "a shorter digest");

    const sr_cms_certificate_t *const ours[] = {&(sr_cms_certificate_t){.sha256 = "00"}, about, NULL};
    result = check(der, length, &(sr_cms_context_t){.ours = ours});
    ok(result.ours, "%s: ours", make->name);
    make_free(made);
}

static void test_kinds(void)
{
    test_kind(&(make_t){.name = "p256"}, "P-256 with SHA-256");
    test_kind(&(make_t){.name = "p384", .curve = "P-384"}, "P-384 with SHA-384");
    test_kind(&(make_t){.name = "p521", .curve = "P-521", .usage = "nonRepudiation"}, "P-521 with SHA-512");
    test_kind(&(make_t){.name = "rsa2048", .rsa = 2048, .extended = "emailProtection"}, "RSA 2048 with SHA-256");
    test_kind(&(make_t){.name = "rsa3072", .rsa = 3072, .extended = "1.3.6.1.5.5.7.3.36,serverAuth"},
              "RSA 3072 with SHA-256");
    test_kind(&(make_t){.name = "rsa4096", .rsa = 4096}, "RSA 4096 with SHA-384");
    test_kind(&(make_t){.name = "Zo\xc3\xab \xe2\x80\x94 \xe7\xad\xbe"}, "P-256 with SHA-256");
}

/* ---------------------------------------------------------------------------------------- what it refuses */

static void is_refused(const char *certificate, const char *key, sr_code_t code, const char *part)
{
    const sr_cms_identity_t *identity;
    sr_error_t *error = sr_cms_identity_load(&identity, certificate, key, root);
    bool right = error && error->code == code && strstr(error->message, part) && !strchr(error->message, '\n');
    ok(right, "refused: %s", error ? error->message : "(it loads)");
    if (!right) printf("#   want: %s\n", part);
}

static void test_bad_certificates(void)
{
    static const struct {
        make_t make;
        const char *part;
    } cases[] = {
        {{.name = "old", .from = -200, .until = -100}, "old.crt: it expired at 20"},
        {{.name = "early", .from = 100, .until = 200}, "early.crt: it is not valid before 20"},
        {{.name = "small", .rsa = 1024}, "small.crt: its key is RSA 1024: at least RSA 2048 is safe"},
        {{.name = "edwards", .type = "ED25519"}, "edwards.crt: its key is ED25519"},
        {{.name = "koblitz", .curve = "secp256k1"}, "koblitz.crt: its key is "},
        {{.name = "encipher", .usage = "keyEncipherment"}, "encipher.crt: its key usage allows neither"},
        {{.name = "server", .extended = "serverAuth,clientAuth"}, "server.crt: its extended key usage is not for"},
        {{.name = "stamp", .extended = "critical,timeStamping"}, "stamp.crt: its extended key usage is not for"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made_t *made = make_certificate(&cases[i].make, root);
        is_refused(made->certificate_path, made->key_path, SR_EINTERNAL, cases[i].part);
        make_free(made);
    }
}

static void test_bad_files(void)
{
    made_t *one = make_certificate(&(make_t){.name = "one"}, root),
           *two = make_certificate(&(make_t){.name = "two"}, root);
    const char *empty = make_file("empty", "", 0, root), *cut, *locked;
    is_refused("/nowhere/seal.crt", one->key_path, SR_ENOTFOUND, "/nowhere/seal.crt: No such file or directory");
    is_refused(one->certificate_path, "/nowhere/seal.key", SR_ENOTFOUND, "/nowhere/seal.key: No such file");
    is_refused(make_folder, one->key_path, SR_EINTERNAL, "Is a directory");
    is_refused("/dev/zero", one->key_path, SR_EINTERNAL, "it is too large");
    is_refused(empty, one->key_path, SR_EINTERNAL, "empty: it holds no certificate");
    is_refused(one->key_path, one->key_path, SR_EINTERNAL, "one.key: it holds no certificate");
    is_refused(one->certificate_path, one->certificate_path, SR_EINTERNAL, "one.crt: it holds no private key");
    is_refused(one->certificate_path, two->key_path, SR_EINTERNAL, "one.crt: it is not the certificate of the key in");
    cut = make_file("cut.crt", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", 59, root);
    is_refused(cut, one->key_path, SR_EINTERNAL, "cut.crt: certificate 1 in it cannot be read: ");
    cut = make_file("cut.key", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n", 59, root);
    is_refused(one->certificate_path, cut, SR_EINTERNAL, "cut.key: its private key cannot be read: ");
    locked = apr_pstrcat(root, make_folder, "/locked.key", NULL);
    FILE *file = fopen(locked, "w");
    ok(file && PEM_write_PrivateKey(file, one->key, EVP_aes_128_cbc(), (const unsigned char *)"secret", 6, NULL, NULL)
           && !fclose(file),
       "a key with a passphrase");
    is_refused(one->certificate_path, locked, SR_EINTERNAL, "locked.key: its private key has a passphrase");
    chmod(one->key_path, 0);
    if (geteuid() == 0) skip("root may read every file");
    else is_refused(one->certificate_path, one->key_path, SR_EINTERNAL, "one.key: Permission denied");
    make_free(one);
    make_free(two);
}

/* Certificates behind the first are sent along, once each, and too many of them leave no room. */
static void test_chain(void)
{
    made_t *ca = make_certificate(&(make_t){.name = "ca", .ca = true}, root);
    made_t *leaf = make_certificate(&(make_t){.name = "leaf", .issuer = ca}, root);
    made_t *other = make_certificate(&(make_t){.name = "other"}, root);
    const sr_cms_identity_t *identity;
    sr_cms_anchors_t *right, *wrong, *itself;
    apr_size_t length, alone;
    make_run("cd '%s' && cat leaf.crt ca.crt leaf.crt ca.crt leaf.key >all.pem", make_folder);
    const char *all = apr_pstrcat(root, make_folder, "/all.pem", NULL);
    ok(!sr_cms_identity_load(&identity, leaf->certificate_path, leaf->key_path, root), "a leaf alone");
    sign(&alone, identity);
    sr_error_t *error = sr_cms_identity_load(&identity, all, all, root);
    is_str(error ? error->message : NULL, NULL, "certificate, chain and key in one file, some twice");
    const unsigned char *der = sign(&length, identity);
    ok(length > alone + 200 && length < alone + 700, "the chain is in it once: %d and %d bytes", (int)alone,
       (int)length);
    ok(length + 300 <= sr_cms_identity_room(identity), "it has room");
    openssl_agrees(der, length, ca->certificate_path, "a chain");

    ok(!sr_cms_anchors_read(&right, ca->certificate_path, root), "anchors");
    ok(!sr_cms_anchors_read(&wrong, other->certificate_path, root), "other anchors");
    ok(!sr_cms_anchors_read(&itself, leaf->certificate_path, root), "the certificate as its own anchor");
    ok(sr_cms_anchors_read(&wrong, leaf->key_path, root) != NULL, "a key is no anchor");
    sr_cms_result_t result = check(der, length, &(sr_cms_context_t){.anchors = right});
    ok(result.state == SR_CMS_INTACT && result.trust == SR_CMS_TRUSTED, "trusted");
    result = check(der, length, &(sr_cms_context_t){.anchors = itself});
    ok(result.trust == SR_CMS_TRUSTED, "trusted by itself");
    result = check(der, length, &(sr_cms_context_t){.anchors = wrong});
    ok(result.state == SR_CMS_INTACT && result.trust == SR_CMS_UNTRUSTED, "intact, and untrusted: %s", result.distrust);
    apr_time_t later = apr_time_now() + apr_time_from_sec(2 * 86400);
    result = check(der, length, &(sr_cms_context_t){.anchors = right, .now = later});
    ok(result.expired && result.trust == SR_CMS_UNTRUSTED && result.state == SR_CMS_INTACT, "%s", result.distrust);
    result = check(der, length, &(sr_cms_context_t){.anchors = right, .now = 1});
    ok(result.premature && result.trust == SR_CMS_UNTRUSTED, "%s", result.distrust);

    make_run("cd '%s' && cp leaf.crt long.crt && for i in $(seq 40); do openssl req -x509 -new -key rsa2048.key "
             "-subj /CN=$i >>long.crt; done",
             make_folder);
    if (make_has("openssl"))
        is_refused(apr_pstrcat(root, make_folder, "/long.crt", NULL), leaf->key_path, SR_EINTERNAL,
                   "a signature with its 41 certificates takes ");
    else skip("the openssl command is not installed");
    make_free(ca);
    make_free(leaf);
    make_free(other);
}

static void test_expiry(void)
{
    const sr_cms_identity_t *identity = make_identity(&(make_t){.name = "brief", .from = -10, .until = 3600}, root);
    apr_size_t length;
    const unsigned char *der = sign(&length, identity), *none;
    sr_time_forward(apr_time_from_sec(3601));
    sr_error_t *error = sr_cms_sign(&none, &length, identity, digest, root);
    ok(error && error->code == SR_EUNAVAILABLE && strstr(error->cause, "brief.crt expired at"),
       "no signature once it has expired: %s", error ? error->cause : "");
    sr_cms_result_t result = check(der, length, &nobody);
    ok(result.state == SR_CMS_INTACT && result.expired, "the earlier one stays intact, by a certificate that expired");
    sr_time_forward(-apr_time_from_sec(3601));
}

static void test_issue(void)
{
    const char *certificate, *key, *name = "Sigreq TEST \xe2\x80\x94 not legally binding";
    const sr_cms_identity_t *identity;
    ok(!sr_cms_issue(&certificate, &key, name, 30, root), "a certificate is made");
    const char *file = make_file("made.crt", certificate, strlen(certificate), root);
    sr_error_t *error = sr_cms_identity_load(&identity, file, make_file("made.key", key, strlen(key), root), root);
    is_str(error ? error->message : NULL, NULL, "and loads");
    const sr_cms_certificate_t *about = sr_cms_identity_certificate(identity);
    is_str(about->name, name, "its name");
    is_str(about->subject, about->issuer, "signed by itself");
    is_int((about->until - about->from) / APR_USEC_PER_SEC, 30 * 86400, "for 30 days");
    apr_size_t length;
    const unsigned char *der = sign(&length, identity);
    openssl_agrees(der, length, file, "a certificate of ours");
    is_int(strlen(about->serial), 32, "a random serial number");
    error =
        sr_cms_issue(&certificate, &key, "65 characters: 89012345678901234567890123456789012345678901234567", 30, root);
    ok(error && error->code == SR_EBADREQUEST, "65 characters are too many");

    ok(!sr_cms_issue_identity(&identity, name, 30, root), "an identity is made in memory");
    about = sr_cms_identity_certificate(identity);
    is_str(about->name, name, "its name");
    der = sign(&length, identity);
    const sr_cms_result_t result =
        check(der, length, &(sr_cms_context_t){.ours = (const sr_cms_certificate_t *const[]){about, NULL}});
    ok(result.state == SR_CMS_INTACT && result.bound && result.ours, "it signs");
}

/* ---------------------------------------------------------------------------------- what must not verify */

/* Every third bit of a signature, or all ($SIGREQ_FLIPS): what still verifies must say the same of the same signer. */
static void test_flips(const make_t *make)
{
    const sr_cms_identity_t *identity = make_identity(make, root);
    const char *sha256 = sr_cms_identity_certificate(identity)->sha256;
    apr_size_t length, step = getenv("SIGREQ_FLIPS") ? 1 : 3;
    const unsigned char *der = sign(&length, identity);
    int intact = 0, other = 0;
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    for (apr_size_t i = 0; i < length * 8; i += step) {
        unsigned char *flipped = apr_pmemdup(pool, der, length);
        sr_cms_result_t result;
        flipped[i / 8] ^= (unsigned char)(1 << i % 8);
        cms_check(&result, flipped, length, digest, sizeof digest, &nobody, pool);
        if (result.state == SR_CMS_INTACT) intact++;
        if (result.state == SR_CMS_INTACT && (!result.bound || strcmp(result.signer->sha256, sha256) != 0)) other++;
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
    is_int(other, 0, "%s: no flipped bit of %d bytes makes it say something else", make->name, (int)length);
    ok(intact < 130, "%s: %d of them change only what nobody reads, such as version numbers", make->name, intact);
    unsigned char *longer = apr_pcalloc(root, SR_CMS_MAX_BYTES);
    memcpy(longer, der, length);
    sr_cms_result_t result = check(longer, SR_CMS_MAX_BYTES, &nobody);
    is_str(say(&result, root), "intact", "zeros behind it");
    longer[SR_CMS_MAX_BYTES - 1] = 1;
    result = check(longer, SR_CMS_MAX_BYTES, &nobody);
    is_str(say(&result, root), "broken: something is hidden after it, in the room that it does not need", "others");
    for (apr_size_t cut = 0; cut < length; cut++) intact += check(der, cut, &nobody).state != SR_CMS_BROKEN ? 1000 : 0;
    ok(intact < 1000, "no cut one verifies");
}

/* Another certificate of the same key, issuer and serial number in the place of the signer's: the key fits. */
static void test_swapped_certificate(void)
{
    const sr_cms_identity_t *identity = make_identity(&(make_t){.name = "swapped"}, root);
    apr_size_t length;
    const unsigned char *made = sign(&length, identity), *from = made;
    unsigned char *der = apr_pmemdup(root, made, length), *at;
    FILE *file = fopen(apr_pstrcat(root, make_folder, "/swapped.key", NULL), "r");
    EVP_PKEY *key = file ? PEM_read_PrivateKey(file, NULL, NULL, NULL) : NULL;
    CMS_ContentInfo *cms = d2i_CMS_ContentInfo(NULL, &from, (long)length);
    STACK_OF(X509) *all = CMS_get1_certs(cms);
    X509 *one = X509_dup(sk_X509_value(all, 0));
    unsigned char *before = NULL, *after = NULL;
    int size = i2d_X509(sk_X509_value(all, 0), &before), same = 0;
    X509_gmtime_adj(X509_getm_notAfter(one), 5 * 86400);
    for (int tries = 0; tries < 2000 && same != size; tries++) { /* an ECDSA signature is a byte longer or shorter */
        OPENSSL_free(after);
        after = NULL;
        X509_sign(one, key, EVP_sha256());
        same = i2d_X509(one, &after);
    }
    at = memmem(der, length, before, (size_t)size);
    ok(at && same == size, "a second certificate of the same size");
    if (at && same == size) memcpy(at, after, (size_t)size);
    sr_cms_result_t result = check(der, length, &nobody);
    is_str(say(&result, root), "broken: its certificate is not the one that its signer named", "is not taken for it");
    OPENSSL_free(before);
    OPENSSL_free(after);
    sk_X509_pop_free(all, X509_free);
    CMS_ContentInfo_free(cms);
    X509_free(one);
    EVP_PKEY_free(key);
    fclose(file);
}

/* Certificates of one name and number with keys of three kinds. openssl signs nothing with the first two: a signature
 * of the third names their certificates. */
static void make_twins(void)
{
    static const char request[] = "openssl req -x509 -nodes -newkey $kind -set_serial 7 -subj /CN=twin -keyout rsa.key";
    is_int(make_run("cd '%s' && for kind in ed25519 ed448 rsa:2048; do %s -out ${kind%%:*}.crt; done", make_folder,
                    request),
           0, "certificates of one name");
}

/* What other programs make, and should not. */
static void test_foreign(void)
{
    static const struct {
        const char *options, *says;
        bool bound;
    } cases[] = {
        {"-signer p256.crt -inkey p256.key", "intact", false},
        {"-signer p256.crt -inkey p256.key -md sha512 -cades", "intact", true},
        {"-signer rsa2048.crt -inkey rsa2048.key -md sha384", "intact", false},
        {"-signer rsa2048.crt -inkey rsa2048.key -keyopt rsa_padding_mode:pss -md sha256", "intact", false},
        {"-signer rsa2048.crt -inkey rsa2048.key -md sha1", "unchecked: its hash function proves nothing today", false},
        {"-signer p256.crt -inkey p256.key -nodetach", "broken: it holds a content of its own", false},
        {"-signer p256.crt -inkey p256.key -noattr", "unchecked: it has no signed attributes", false},
        {"-signer p256.crt -inkey p256.key -nocerts", "unchecked: it does not hold the certificate of its signer",
         false},
        {"-signer p256.crt -inkey p256.key -signer rsa2048.crt -inkey rsa2048.key",
         "broken: it does not have exactly one signer", false},
        {"-signer small.crt -inkey small.key", "intact", false},
        {"-signer p256.crt -inkey p256.key -econtent_type 1.2.3.4", "unchecked: it is not a signature of a document",
         false},
        {"-signer rsa2048.crt -inkey rsa2048.key -md sha3-256", "intact", false},
        {"-signer rsa.crt -inkey rsa.key -nocerts -certfile ed25519.crt", "broken: its algorithms do not go together",
         false},
        {"-signer rsa.crt -inkey rsa.key -nocerts -certfile ed448.crt", "broken: its algorithms do not go together",
         false},
    };
    make_file("text", text, sizeof text - 1, root);
    if (make_has("openssl")) make_twins();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char der[20000];
        if (!make_has("openssl")) {
            skip("the openssl command is not installed");
            continue;
        }
        apr_time_t before = apr_time_from_sec(apr_time_sec(apr_time_now()));
        int status = make_run("cd '%s' && openssl cms -sign -binary -in text -outform DER -out foreign.der %s",
                              make_folder, cases[i].options);
        FILE *file = fopen(apr_pstrcat(root, make_folder, "/foreign.der", NULL), "r");
        size_t length = file ? fread(der, 1, sizeof der, file) : 0;
        if (file) fclose(file);
        sr_cms_result_t result = check(der, length, &nobody);
        is_str(status ? "openssl failed" : say(&result, root), cases[i].says, "openssl cms -sign %s", cases[i].options);
        if (result.state != SR_CMS_INTACT) continue;
        is_int(result.bound, cases[i].bound, "bound or not");
        ok(result.signing_time >= before && result.signing_time <= apr_time_now(), "it has a signing-time");
    }
}

/* ------------------------------------------------------------------------------------------------ threads */

static const sr_cms_identity_t *shared;

static void *work(void *bad)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, NULL);
    for (int i = 0; i < 50; i++) {
        const unsigned char *der;
        apr_size_t length;
        sr_cms_result_t result = {.state = SR_CMS_BROKEN};
        unsigned char own[SR_CMS_DIGEST_BYTES];
        memset(own, i, sizeof own);
        if (!sr_cms_sign(&der, &length, shared, own, pool))
            cms_check(&result, der, length, own, sizeof own, &nobody, pool);
        if (result.state != SR_CMS_INTACT) ++*(int *)bad;
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
    return NULL;
}

static void test_unsigned_parts(void)
{
    static const char changed[] = "broken: parts of it that are not signed were changed";
    const sr_cms_identity_t *identity = make_identity(&(make_t){.name = "parts"}, root);
    apr_size_t length;
    const unsigned char *der = sign(&length, identity);
    static const unsigned char version[] = {2, 1, 1, 0x31}, hash[] = {0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1},
                               data[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7, 1};
    const unsigned char *list = memmem(der, length, version, sizeof version), *named = memmem(der, length, hash, 9);
    const unsigned char *content = memmem(der, length, data, sizeof data);
    if (!list || !named || !content) abort();
    const struct {
        const unsigned char *at;
        unsigned char byte;
        const char *name;
    } changes[] = {{list + 2, 6, "the version"},
                   {named + 8, 2, "the list of hash functions"},
                   {content + 9, 0xa1, "the tag of the certificates"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        unsigned char *other = apr_pmemdup(root, der, length);
        other[changes[i].at - der] = changes[i].byte;
        sr_cms_result_t result = check(other, length, &nobody);
        ok(result.state != SR_CMS_INTACT, "%s: %s", changes[i].name, say(&result, root));
        if (i < 2) is_str(say(&result, root), changed, "%s", changes[i].name);
    }
    static const unsigned char ecdsa[] = {0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2};
    unsigned char *other = apr_pmemdup(root, der, length), *last = NULL;
    other[list + 2 - der] = 3;
    sr_cms_result_t result = check(other, length, &nobody);
    is_str(say(&result, root), "intact", "a version that other programs write");
    for (unsigned char *at = other; (at = memmem(at, length - (size_t)(at - other), ecdsa, 8)); at++) last = at;
    if (!last) abort();
    last[7] = 0x7f;
    result = check(other, length, &nobody);
    is_str(say(&result, root), "unchecked: its algorithm is not checked here", "one unknown to OpenSSL");
}

static void test_threads(void)
{
    pthread_t threads[8];
    int bad[8] = {0}, all = 0;
    shared = make_identity(&(make_t){.name = "shared"}, root);
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, &bad[i]);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) all += bad[i];
    is_int(all, 0, "eight threads sign 50 times each with one identity, and all verify");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    SHA256((const unsigned char *)text, sizeof text - 1, digest);
    test_kinds();
    test_bad_certificates();
    test_bad_files();
    test_chain();
    test_expiry();
    test_issue();
    test_flips(&(make_t){.name = "flip-p256"});
    test_flips(&(make_t){.name = "flip-rsa", .rsa = 2048});
    test_swapped_certificate();
    test_foreign();
    test_unsigned_parts();
    test_threads();
    make_end();
    apr_pool_destroy(root);
    return done();
}
