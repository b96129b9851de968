/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h: shared by the files about keys and certificates. It has the OpenSSL types, which cms.h does not
 * expose. Private to src/cms. */
#ifndef SR_CMS_CERTIFICATE_H
#define SR_CMS_CERTIFICATE_H

#include "cms/cms.h"

#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

struct sr_cms_identity_t {
    EVP_PKEY *key;  /* NULL if `sign` signs */
    bool elsewhere; /* `key` is only the public key, of a request for a certificate */
    sr_cms_sign_t *sign;
    void *baton; /* for `sign` */
    X509 *certificate;
    STACK_OF(X509) * chain; /* the certificates that follow it in its file: those of its issuers */
    const char *certificate_path, *key_path;
    const sr_cms_certificate_t *about;
};

/* Makes an empty identity. Its members are freed with `pool`. */
sr_cms_identity_t *sr_cms_identity_new(apr_pool_t *pool);

/* identity.c: reads the key from identity->key_path: the one that belongs to the certificate, or else the first one. */
sr_error_t *sr_cms_identity_read_key(sr_cms_identity_t *identity, apr_pool_t *pool);
/* Returns everything that would make bad signatures (const char *). */
const apr_array_header_t *sr_cms_identity_faults(const sr_cms_identity_t *identity, sr_cms_when_t when,
                                                 apr_pool_t *pool);

struct sr_cms_anchors_t {
    X509_STORE *store;
    const char *pem; /* the same certificates as PEM text */
};

/* Opens a PEM file as a memory BIO, which is wiped when it is freed. The caller frees it. */
sr_error_t *sr_cms_open(BIO **bio, const char *path, apr_pool_t *pool);
/* Reads all certificates of a PEM file, at least one. The caller frees them. */
sr_error_t *sr_cms_certificates_read(STACK_OF(X509) * *certificates, const char *path, apr_pool_t *pool);
/* The same from PEM text, which messages call `name`. */
sr_error_t *sr_cms_certificates_parse(STACK_OF(X509) * *certificates, const char *pem, const char *name,
                                      apr_pool_t *pool);
/* Describes a certificate. The description is in `pool`. */
const sr_cms_certificate_t *sr_cms_describe(X509 *certificate, apr_pool_t *pool);
/* Returns the name of a key: "P-256", "RSA 2048", or the name that OpenSSL uses. */
const char *sr_cms_key_name(EVP_PKEY *key, apr_pool_t *pool);
/* Converts a time of ASN.1. Returns 0 if it is missing or malformed. */
apr_time_t sr_cms_time(const ASN1_TIME *time);
/* Returns the reason of the last OpenSSL error. It empties OpenSSL's error queue, which other modules of httpd also
 * read. */
const char *sr_cms_why(apr_pool_t *pool);

/* cms.c: returns the DER encoding of the signed attributes as a SET, which is what is signed. The caller frees it with
 * OPENSSL_free. Returns NULL if encoding fails, or if there are more attributes than any signature of this service has.
 */
unsigned char *sr_cms_attributes(size_t *length, const CMS_SignerInfo *signer);

#endif
