/* SPDX-License-Identifier: Apache-2.0 */
/* stamp_make.h: a timestamp (RFC 3161) of a digest, by an authority of a test. */
#ifndef SR_TEST_STAMP_MAKE_H
#define SR_TEST_STAMP_MAKE_H

#include <openssl/cms.h>
#include <openssl/ts.h>
#include <stdlib.h>

/* The length of the DER; OPENSSL_free it. */
static inline int stamp_make_at(unsigned char **der, X509 *certificate, EVP_PKEY *key, const unsigned char *stamped,
                                time_t when)
{
    TS_TST_INFO *info = TS_TST_INFO_new();
    TS_MSG_IMPRINT *imprint = TS_MSG_IMPRINT_new();
    X509_ALGOR *hash = X509_ALGOR_new();
    ASN1_INTEGER *serial = ASN1_INTEGER_new();
    ASN1_OBJECT *policy = OBJ_txt2obj("1.2.3.4", 1);
    ASN1_GENERALIZEDTIME *time = ASN1_GENERALIZEDTIME_set(NULL, when);
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
    if (!CMS_add1_signer(cms, certificate, key, EVP_sha256(), CMS_CADES | CMS_NOSMIMECAP)) abort();
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

static inline int stamp_make(unsigned char **der, X509 *certificate, EVP_PKEY *key, const unsigned char *stamped)
{
    return stamp_make_at(der, certificate, key, stamped, 1795000000);
}

#endif
