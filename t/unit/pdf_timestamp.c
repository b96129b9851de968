/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_timestamp.c: document timestamps (RFC 3161) in the place of a signature: the token names the digest of the
 * document, and is signed by the authority. */
#include "cms_make.h"

#include <openssl/cms.h>
#include <openssl/ts.h>

static apr_pool_t *root;
static const unsigned char digest[32] = "the digest of a document, so so.";

static int token(unsigned char **der, const made_t *authority, const unsigned char *stamped)
{
    TS_TST_INFO *info = TS_TST_INFO_new();
    TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
    X509_ALGOR *hash = X509_ALGOR_new();
    ASN1_INTEGER *serial = ASN1_INTEGER_new();
    ASN1_OBJECT *policy = OBJ_txt2obj("1.2.3.4", 1);
    ASN1_GENERALIZEDTIME *time = ASN1_GENERALIZEDTIME_set(NULL, 1795000000);
    unsigned char *content = NULL;
    X509_ALGOR_set_md(hash, EVP_sha256());
    TS_MSG_IMPRINT_set_algo(imprint, hash);
    TS_MSG_IMPRINT_set_msg(imprint, (unsigned char *)(uintptr_t)stamped, 32);
    ASN1_INTEGER_set(serial, 7);
    TS_TST_INFO_set_version(info, 1);
    TS_TST_INFO_set_policy_id(info, policy);
    TS_TST_INFO_set_msg_imprint(info, imprint);
    TS_TST_INFO_set_serial(info, serial);
    TS_TST_INFO_set_time(info, time);
    int size = i2d_TS_TST_INFO(info, &content);
    BIO *bio = BIO_new_mem_buf(content, size);
    CMS_ContentInfo *cms = CMS_sign(NULL, NULL, NULL, NULL, CMS_PARTIAL | CMS_BINARY);
    CMS_set1_eContentType(cms, OBJ_nid2obj(NID_id_smime_ct_TSTInfo));
    if (!CMS_add1_signer(cms, authority->certificate, authority->key, EVP_sha256(), CMS_CADES | CMS_NOSMIMECAP))
        abort();
    if (CMS_final(cms, bio, NULL, CMS_BINARY) != 1) abort();
    *der = NULL;
    size = i2d_CMS_ContentInfo(cms, der);
    CMS_ContentInfo_free(cms);
    BIO_free(bio);
    OPENSSL_free(content);
    ASN1_OBJECT_free(policy);
    ASN1_GENERALIZEDTIME_free(time);
    ASN1_INTEGER_free(serial);
    X509_ALGOR_free(hash);
    TS_MSG_IMPRINT_free(imprint);
    TS_TST_INFO_free(info);
    return size;
}

static void is_checked(const unsigned char *der, int size, const unsigned char *of, const char *want, const char *name)
{
    sr_cms_result_t result;
    cms_check(&result, der, (apr_size_t)size, of, 32, &(sr_cms_context_t){0}, root);
    ok(result.timestamp, "%s: a timestamp", name);
    const char *said = apr_pstrcat(root, sr_cms_state_name(result.state), result.fault ? ": " : "",
                                   result.fault ? result.fault : "", NULL);
    is_str(said, want, "%s", name);
}

int main(void)
{
    unsigned char *der;
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    made_t *authority = make_certificate(&(make_t){.name = "authority"}, root);
    int size = token(&der, authority, digest);
    is_checked(der, size, digest, "intact", "of this document");
    is_checked(der, size, (const unsigned char *)"the digest of another document!!",
               "broken: the document is not the one that was signed", "of another");
    unsigned char *imprint = memmem(der, (size_t)size, digest, sizeof digest);
    if (!imprint) abort();
    unsigned char *other = apr_pmemdup(root, der, (apr_size_t)size);
    other[imprint - der] ^= 1;
    is_checked(other, size, other + (imprint - der), "broken: the document is not the one that was signed",
               "with another digest put into the token");
    OPENSSL_free(der);
    make_free(authority);
    make_end();
    apr_pool_destroy(root);
    return done();
}
