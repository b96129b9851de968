/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_cms_kinds.c: signatures of kinds that are not checked here, because the keys or hash functions are not those of
 * documents: nothing is said against them. OpenSSL cannot make them, so they are signatures of P-256 that were changed.
 */
#include "cms_make.h"

#include <apr_general.h>
#include <openssl/cms.h>

static apr_pool_t *root;
static const char text[] = "what is signed";

static const char *say(const unsigned char *der, int length)
{
    static const char *const states[] = {"intact", "broken", "unchecked"};
    static const sr_cms_context_t nobody;
    unsigned char digest[SR_CMS_DIGEST_BYTES];
    sr_cms_result_t result;
    SHA256((const unsigned char *)text, sizeof text - 1, digest);
    cms_check(&result, der, (apr_size_t)length, digest, sizeof digest, &nobody, root);
    return apr_pstrcat(root, states[result.state], result.fault ? ": " : "", result.fault ? result.fault : "", NULL);
}

/* A signature with the key of `made`, which contains another certificate of the same name and number. */
static int sign_with(unsigned char **der, const made_t *made, X509 *shown)
{
    BIO *content = BIO_new_mem_buf(text, sizeof text - 1);
    CMS_ContentInfo *cms =
        CMS_sign(made->certificate, made->key, NULL, content, CMS_DETACHED | CMS_BINARY | CMS_NOCERTS | CMS_NOSMIMECAP);
    if (!cms || !CMS_add1_cert(cms, shown)) abort();
    const int length = i2d_CMS_ContentInfo(cms, der);
    CMS_ContentInfo_free(cms);
    BIO_free(content);
    return length;
}

static void test_keys(const made_t *made)
{
    static const char *const types[] = {"ED25519", "ED448"};
    for (int i = 0; i < 2; i++) {
        unsigned char *der = NULL;
        X509 *shown = X509_dup(made->certificate);
        EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, types[i]);
        if (!shown || !key || !X509_set_pubkey(shown, key) || !X509_sign(shown, made->key, EVP_sha256())) abort();
        const int length = sign_with(&der, made, shown);
        is_str(say(der, length), "unchecked: its kind of key is not checked here", "%s", types[i]);
        OPENSSL_free(der);
        EVP_PKEY_free(key);
        X509_free(shown);
    }
}

/* The hash function that the signer names: the last but those of the signature and of the certificate. */
static void test_hashes(const made_t *made)
{
    static const unsigned char sha256[] = {0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1};
    static const struct {
        unsigned char last;
        const char *name;
    } others[] = {{8, "SHA3-256"}, {9, "SHA3-384"}, {11, "SHAKE128"}};
    unsigned char *der = NULL;
    const int length = sign_with(&der, made, made->certificate);
    is_str(say(der, length), "intact", "SHA-256");
    unsigned char *at = der, *named[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++, at++) named[i] = at = memmem(at, (size_t)(der + length - at), sha256, sizeof sha256);
    if (!named[0] || !named[1]) abort();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        named[0][8] = named[1][8] = others[i].last;
        is_str(say(der, length), "unchecked: its hash function is not checked here", "%s", others[i].name);
    }
    OPENSSL_free(der);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    made_t *made = make_certificate(&(make_t){.name = "plain"}, root);
    test_keys(made);
    test_hashes(made);
    make_free(made);
    make_end();
    apr_pool_destroy(root);
    return done();
}
