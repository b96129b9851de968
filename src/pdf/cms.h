/* SPDX-License-Identifier: Apache-2.0 */
/* cms.h: certificates and signatures, as part of pdf.h: certificate.c identity.c issue.c (keys and certificates) ·
 * cms.c (making a signature) · check.c (checking one, which a helper does) · match.c */
#ifndef SR_PDF_CMS_H
#define SR_PDF_CMS_H

#include "pdf/protocol.h"

/* ------------------------------------------------------------------------------------------ certificate.c */
typedef struct sr_cms_bytes_t {
    const unsigned char *data;
    apr_size_t length;
} sr_cms_bytes_t;

typedef struct sr_cms_certificate_t {
    const char *name;             /* its common name, or the most particular part of the subject that it has */
    const char *subject, *issuer; /* RFC 2253, UTF-8, printable */
    const char *serial;           /* hexadecimal */
    const char *sha256;           /* of its DER, hexadecimal: tells it from every other */
    const char *key;              /* "P-256", "RSA 2048" */
    apr_time_t from, until;
    sr_cms_bytes_t public_key; /* its SubjectPublicKeyInfo; empty for one that a worker has described */
} sr_cms_certificate_t;

/* Reads the first certificate of a PEM file. */
sr_error_t *sr_cms_certificate_read(const sr_cms_certificate_t **certificate, const char *path, apr_pool_t *pool);
/* The certificates of a PEM file, at least one, as PEM text without whatever else is in it. */
sr_error_t *sr_cms_certificates_text(const char **pem, const char *path, apr_pool_t *pool);

typedef struct sr_cms_anchors_t sr_cms_anchors_t;
/* Reads the certificates of a PEM file as those that a chain may end at. For any number of threads. */
sr_error_t *sr_cms_anchors_read(sr_cms_anchors_t **anchors, const char *path, apr_pool_t *pool);
sr_error_t *sr_cms_anchors_parse(sr_cms_anchors_t **anchors, const char *pem, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- identity.c */
#define SR_CMS_DIGEST_BYTES 32                 /* SHA-256 */
#define SR_CMS_MAX_DIGEST 64                   /* SHA-512 */
#define SR_CMS_MAX_BYTES SR_PDF_CONTENTS_BYTES /* of one signature */

typedef struct sr_cms_identity_t sr_cms_identity_t;
/* Reads what documents are sealed with: a PEM file with the certificate, those of its issuers behind it, and one with
 * the private key (it may be the same file). Whatever would make a bad signature is an error, whose message is one
 * line that names the file: missing (SR_ENOTFOUND), unreadable, no key, of different kinds, expired, not for signing,
 * too weak. Never asks for a passphrase. One identity serves any number of threads, until `pool` ends. */
sr_error_t *sr_cms_identity_load(const sr_cms_identity_t **identity, const char *certificate_path, const char *key_path,
                                 apr_pool_t *pool);
/* The hash function that is as strong as its key, as OpenSSL calls it: "SHA256", "SHA384", "SHA512". */
const char *sr_cms_identity_hash(const sr_cms_identity_t *identity);
/* Its certificate. It lives as long as the identity. */
const sr_cms_certificate_t *sr_cms_identity_certificate(const sr_cms_identity_t *identity);

/* ------------------------------------------------------------------------------------------------ issue.c */
#define SR_CMS_MAX_NAME 64 /* characters of a common name (RFC 5280, ub-common-name) */
/* Makes a P-256 key and a certificate for it that it has signed itself, both as PEM text. */
sr_error_t *sr_cms_issue(const char **certificate, const char **key, const char *name, int days, apr_pool_t *pool);
/* The same as an identity that was never in a file. */
sr_error_t *sr_cms_issue_identity(const sr_cms_identity_t **identity, const char *name, int days, apr_pool_t *pool);
/* What such a certificate is called, what the name of one for the test environment goes on with, how long it lasts. */
#define SR_CMS_ISSUE_NAME "Sigreq"
#define SR_CMS_ISSUE_TEST " TEST \xe2\x80\x94 not legally binding"
#define SR_CMS_ISSUE_DAYS 3650

/* -------------------------------------------------------------------------------------------------- cms.c */
/* Signs a digest that was made by the identity's hash function: *der is a detached CMS SignedData, PAdES baseline B-B
 * (ETSI EN 319 142-1, 6.3): with signing-certificate-v2, without signing-time, which a PDF has in /M. At most
 * SR_CMS_MAX_BYTES. SR_EUNAVAILABLE when it cannot be made, such as with a certificate that has expired meanwhile. */
sr_error_t *sr_cms_sign(const unsigned char **der, apr_size_t *length, const sr_cms_identity_t *identity,
                        const unsigned char *digest, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ check.c
 * What is wrong with a signature is a result, not an error.
 */
typedef enum sr_cms_state_t {
    SR_CMS_INTACT,   /* what the key of this certificate has signed is this digest */
    SR_CMS_BROKEN,   /* it is not */
    SR_CMS_UNCHECKED /* nothing can be said: of a kind, or by an algorithm, that proves nothing here */
} sr_cms_state_t;

typedef enum sr_cms_trust_t {
    SR_CMS_TRUST_UNKNOWN, /* no anchors were given */
    SR_CMS_TRUSTED,
    SR_CMS_UNTRUSTED
} sr_cms_trust_t;

typedef struct sr_cms_result_t {
    sr_cms_state_t state;
    const char *fault;                  /* why it is not intact: plain words that go on after "broken: " */
    const sr_cms_certificate_t *signer; /* NULL when the signature does not say */
    const char *algorithm;              /* "P-256 with SHA-256" */
    bool bound;              /* the signed part names the certificate (signing-certificate-v2, or the older one) */
    bool ours;               /* intact, and by a certificate of the context's `ours`: set by sr_cms_match alone */
    bool expired, premature; /* the certificate, at the context's `now` */
    apr_time_t signing_time; /* what the signer's clock said, where the signature tells; else 0 */
    sr_cms_trust_t trust;    /* revocation is not asked for */
    const char *distrust;    /* of SR_CMS_UNTRUSTED: why */
    /* NULL: it is not intact, whatever the document is; else what OpenSSL calls the hash function of the document. */
    const char *hash;
    bool timestamp;        /* the token of a document timestamp (RFC 3161), which names the digest of the document */
    sr_cms_bytes_t digest; /* of the document that was signed, if it is intact */
    /* What the key has signed, as DER, and what it made of that; empty if longer than SR_CMS_MAX_PROOF each. */
    sr_cms_bytes_t attributes, signature;
} sr_cms_result_t;

typedef struct sr_cms_context_t {
    const sr_cms_anchors_t *anchors;         /* or NULL: chains are not checked */
    const sr_cms_certificate_t *const *ours; /* our certificates, ended by NULL; or NULL */
    apr_time_t now;                          /* 0: now */
} sr_cms_context_t;

#define SR_CMS_MAX_PROOF 2048 /* bytes: what we sign has 160, and the key of a seal makes 1,024 of it at most */
#define SR_CMS_OTHER_DOCUMENT "the document is not the one that was signed"

/* Checks a signature as far as that can be done without the document: an intact one is of the document that has
 * `digest`. After its DER there may be zeros, as in a PDF. In a worker alone. */
void sr_cms_check(sr_cms_result_t *result, const void *der, apr_size_t length, const sr_cms_context_t *context,
                  apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ match.c */
/* Compares what a worker has said of a signature with the digest of the document, by result->hash. That a certificate
 * of ours made it is not believed: the proof is checked with our own public key, and without one it is unchecked. */
void sr_cms_match(sr_cms_result_t *result, const unsigned char *digest, apr_size_t length,
                  const sr_cms_context_t *context);

#endif
