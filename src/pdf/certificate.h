/* SPDX-License-Identifier: Apache-2.0 */
/* certificate.h: what the files about keys and certificates share: OpenSSL's types stay below pdf.h. Private to
 * src/pdf. */
#ifndef SR_PDF_CERTIFICATE_H
#define SR_PDF_CERTIFICATE_H

#include "pdf/pdf.h"

#include <openssl/cms.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

struct sr_cms_identity_t {
    EVP_PKEY *key;
    X509 *certificate;
    STACK_OF(X509) * chain; /* what its file holds behind it */
    const char *certificate_path, *key_path;
    const sr_cms_certificate_t *about;
};

/* One with nothing in it yet: what is put in is freed with `pool`. */
sr_cms_identity_t *sr_cms_identity_new(apr_pool_t *pool);

struct sr_cms_anchors_t {
    X509_STORE *store;
    const char *pem; /* the same certificates as text */
};

/* A PEM file in memory that is wiped when it is freed. */
sr_error_t *sr_cms_open(BIO **bio, const char *path, apr_pool_t *pool);
/* The certificates of a PEM file, at least one. The caller's to free. */
sr_error_t *sr_cms_certificates_read(STACK_OF(X509) * *certificates, const char *path, apr_pool_t *pool);
/* What a certificate says of itself, in `pool`. */
const sr_cms_certificate_t *sr_cms_describe(X509 *certificate, apr_pool_t *pool);
/* "P-256", "RSA 2048", or what OpenSSL calls it. */
const char *sr_cms_key_name(EVP_PKEY *key, apr_pool_t *pool);
/* What OpenSSL says went wrong; its queue of errors, which httpd's other modules read too, is empty afterwards. */
const char *sr_cms_why(apr_pool_t *pool);

/* cms.c: the DER of the signed attributes as a SET, which is what is signed. Freed by OPENSSL_free; NULL when it fails,
 * or there are more than any signature of ours has. */
unsigned char *sr_cms_attributes(size_t *length, const CMS_SignerInfo *signer);

#endif
