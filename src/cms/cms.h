/* SPDX-License-Identifier: Apache-2.0 */
/* cms.h: certificates and signatures, by OpenSSL alone: all three programs use it.
 *
 * Sections: certificate.c, identity.c, own_seals.c, issue.c, former.c, chain_order.c (keys and certificates) · cms.c
 * (makes a signature) · stamped.c (adds a timestamp) · judge.c (judges signatures; only a helper calls it) · our_seal.c
 * (compares the result with the document)
 */
#ifndef SR_CMS_CMS_H
#define SR_CMS_CMS_H

#include "base/base.h"

/* ------------------------------------------------------------------------------------------ certificate.c */
typedef struct sr_cms_bytes_t {
    const unsigned char *data;
    apr_size_t length;
} sr_cms_bytes_t;

typedef struct sr_cms_certificate_t {
    const char *name;             /* its common name, or else its organisation or e-mail address, or else the subject */
    const char *subject, *issuer; /* RFC 2253, UTF-8, printable */
    const char *serial;           /* hexadecimal */
    const char *sha256;           /* SHA-256 of its DER, hexadecimal: identifies the certificate */
    const char *key;              /* "P-256", "RSA 2048" */
    apr_time_t from, until;
    sr_cms_bytes_t public_key; /* its SubjectPublicKeyInfo; empty if a worker described the certificate */
} sr_cms_certificate_t;

/* Reads the first certificate of a PEM file. The result is in `pool`. */
sr_error_t *sr_cms_certificate_read(const sr_cms_certificate_t **certificate, const char *path, apr_pool_t *pool);
/* Returns the certificates of a PEM file, at least one, as PEM text. Everything else in the file is left out. */
sr_error_t *sr_cms_certificates_text(const char **pem, const char *path, apr_pool_t *pool);

typedef struct sr_cms_anchors_t sr_cms_anchors_t;
/* Read the certificates of a PEM file, or of PEM text, as trust anchors: a chain may end at each of them. Several
 * threads may use them at the same time. They live as long as `pool`. */
sr_error_t *sr_cms_anchors_read(sr_cms_anchors_t **anchors, const char *path, apr_pool_t *pool);
sr_error_t *sr_cms_anchors_parse(sr_cms_anchors_t **anchors, const char *pem, apr_pool_t *pool);

typedef struct sr_cms_identity_t sr_cms_identity_t;
/* Returns the hash function that matches the strength of the key, by its OpenSSL name: "SHA256", "SHA384" or "SHA512".
 */
const char *sr_cms_identity_hash(const sr_cms_identity_t *identity);
/* The same of a SubjectPublicKeyInfo. NULL: it cannot be read. */
const char *sr_cms_public_key_hash(const sr_cms_bytes_t *public_key);

/* --------------------------------------------------------------------------------------------- identity.c */
#define SR_CMS_DIGEST_BYTES 32 /* SHA-256 */
#define SR_CMS_MAX_DIGEST 64   /* SHA-512 */
#define SR_CMS_MAX_BYTES 16384 /* size of one signature with a timestamp, or of a document timestamp (DER) */

/* Reads the identity with which documents are sealed. One PEM file contains the certificate and, after it, the
 * certificates of its issuers. The other one contains the private key; it may be the same file. Everything that would
 * make a bad signature is an error with a message of one line that names the file: the file is missing (SR_ENOTFOUND)
 * or unreadable, it has no key, no key matches the certificate, the certificate has expired or is not for signing,
 * the key is too weak. OpenSSL never asks for a passphrase. Several threads may use one identity until `pool` is
 * destroyed. */
sr_error_t *sr_cms_identity_load(const sr_cms_identity_t **identity, const char *certificate_path, const char *key_path,
                                 apr_pool_t *pool);

/* The same, for a certificate that may become valid later, or that may have expired. */
typedef enum sr_cms_when_t { SR_CMS_NOW, SR_CMS_NOW_OR_LATER, SR_CMS_NOW_OR_BEFORE } sr_cms_when_t;
sr_error_t *sr_cms_identity_load_when(const sr_cms_identity_t **identity, const char *certificate_path,
                                      const char *key_path, sr_cms_when_t when, apr_pool_t *pool);

#define SR_CMS_MAX_SIGNATURE 1024 /* bytes of a signature value: that of an RSA key of 8192 bits */
/* Who signs if the key is not in this process. The function signs the attributes (the DER of a SET), which contain the
 * digest. *length is first the size of `signature`. Several threads may call it. */
typedef sr_error_t *sr_cms_sign_t(unsigned char *signature, apr_size_t *length, void *baton,
                                  const sr_cms_identity_t *identity, const unsigned char *digest,
                                  const sr_cms_bytes_t *attributes, apr_pool_t *pool);
/* Makes an identity from PEM text of its certificates, without a key. `path` names its file in messages. */
sr_error_t *sr_cms_identity_without_key(const sr_cms_identity_t **identity, const char *pem, const char *path,
                                        sr_cms_sign_t *sign, void *baton, apr_pool_t *pool);
/* Makes an identity from the file of its certificates, for a key that is not in a file. The certificate is judged as by
 * sr_cms_identity_load_when, but no trial signature is made. */
sr_error_t *sr_cms_identity_remote(const sr_cms_identity_t **identity, const char *certificate_path, sr_cms_when_t when,
                                   sr_cms_sign_t *sign, void *baton, apr_pool_t *pool);
/* Returns the certificates of an identity as PEM text. */
const char *sr_cms_identity_pem(const sr_cms_identity_t *identity, apr_pool_t *pool);
/* Returns the greatest size of a signature of this identity without a timestamp, in bytes, at most SR_CMS_MAX_BYTES. */
apr_size_t sr_cms_identity_room(const sr_cms_identity_t *identity);
/* Returns the certificate of the identity. It lives as long as the identity. */
const sr_cms_certificate_t *sr_cms_identity_certificate(const sr_cms_identity_t *identity);

/* -------------------------------------------------------------------------------------------------- own_seals.c */
/* The own seal of an organisation. A child of httpd may replace `identity`, so other threads read it by
 * __atomic_load_n. */
typedef struct sr_cms_own_t {
    const char *organization;          /* uuid */
    const sr_cms_identity_t *identity; /* NULL: it cannot be used */
    const char *fault;                 /* why it cannot be used, or NULL */
} sr_cms_own_t;
/* A part of the names of folders that `sigreqctl org seal --remove` has put away. */
#define SR_CMS_OWN_REMOVED ".removed-"
/* Lists the organisations (const char *, uuids in ascending order) that have an own seal in `folder`. An organisation
 * that waits for its first certificate has none. `strangers` are names that are no uuids. Errors: the folder cannot be
 * read. */
sr_error_t *sr_cms_own_list(apr_array_header_t **organizations, apr_array_header_t **strangers, const char *folder,
                            apr_pool_t *pool);
/* Returns the path of the certificate of an organisation. */
const char *sr_cms_own_certificate(const char *folder, const char *organization, apr_pool_t *pool);
/* Loads the own seal of an organisation with its key. A fault is a member of the result. */
void sr_cms_own_load(sr_cms_own_t *own, const char *folder, const char *organization, apr_pool_t *pool);
/* Reads the certificates of all own seals (sr_cms_own_t), without keys. `all` is NULL or ordered by organisation in
 * these functions. */
sr_error_t *sr_cms_own_read(apr_array_header_t **all, const char *folder, apr_pool_t *pool);
/* Returns the own seal of an organisation, or NULL. */
sr_cms_own_t *sr_cms_own_find(const apr_array_header_t *all, const char *organization);
/* Returns the certificates of `count` seals (each may be NULL), of all own seals, and the former ones (NULL: none), as
 * sr_cms_context_t needs them. */
const sr_cms_certificate_t *const *sr_cms_own_ours(const sr_cms_identity_t *const *seals, int count,
                                                   const apr_array_header_t *all, const apr_array_header_t *former,
                                                   apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ issue.c */
#define SR_CMS_MAX_NAME 64 /* characters of a common name (RFC 5280, ub-common-name) */
/* Makes a P-256 key and a self-signed certificate for it, both as PEM text in `pool`. `days` is the validity of the
 * certificate. */
sr_error_t *sr_cms_issue(const char **certificate, const char **key, const char *name, int days, apr_pool_t *pool);
/* Makes a P-256 key, and a request for a certificate of it (PKCS#10), both as PEM text. */
sr_error_t *sr_cms_request(const char **request, const char **key, const char *name, apr_pool_t *pool);
/* The same for a key that is not in this process: a SubjectPublicKeyInfo, and a function that signs bytes with the hash
 * function that matches the key. *length is first the size of `signature`. */
typedef sr_error_t *sr_cms_request_sign_t(unsigned char *signature, apr_size_t *length, void *baton,
                                          const sr_cms_bytes_t *bytes, apr_pool_t *pool);
sr_error_t *sr_cms_request_remote(const char **request, const char *name, const sr_cms_bytes_t *public_key,
                                  sr_cms_request_sign_t *sign, void *baton, apr_pool_t *pool);
/* Makes a key and a certificate as sr_cms_issue does, and returns them as an identity that is in no file. */
sr_error_t *sr_cms_issue_identity(const sr_cms_identity_t **identity, const char *name, int days, apr_pool_t *pool);
/* The default name of such a certificate, what is added to the name in the test environment, and the default validity
 * in days. */
#define SR_CMS_ISSUE_NAME "Sigreq"
#define SR_CMS_ISSUE_TEST " TEST \xe2\x80\x94 not legally binding"
#define SR_CMS_ISSUE_DAYS 3650

/* ----------------------------------------------------------------------------------------------- former.c */
/* Returns the certificates (const sr_cms_certificate_t *) of the folder `former` beside the file of the present one, in
 * no order. The folder may be missing. If a file cannot be read, the others are returned, and *fault says which and
 * why. Otherwise *fault is NULL. */
apr_array_header_t *sr_cms_former_read(const char **fault, const char *certificate_path, apr_pool_t *pool);
/* The same for all own seals together. `folder` is that of SigreqOrganizationSeals. */
apr_array_header_t *sr_cms_former_of_own(const char **fault, const char *folder, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- chain_order.c */
/* What an authority has sent, for a key that waits for it. */
typedef struct sr_cms_arranged_t {
    const char *pem;                   /* the certificate of the key, followed by its issuers without the root */
    const sr_cms_certificate_t *about; /* that certificate */
    const apr_array_header_t *faults;  /* const char *: all reasons why it cannot be used. Empty: it can */
    const apr_array_header_t *remarks; /* const char *: what the administrator should know */
} sr_cms_arranged_t;
/* Finds, among the certificates of a PEM file, that of the key, and orders its chain. `when` is as above. `key_path`
 * may also be a request for a certificate, whose key is elsewhere: then no trial signature is made. Errors: a file
 * cannot be read. */
sr_error_t *sr_cms_chain_order(sr_cms_arranged_t **arranged, const char *certificates_path, const char *key_path,
                               sr_cms_when_t when, apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------------- cms.c */
/* Signs a digest that was made by the hash function of the identity. *der is a detached CMS SignedData, PAdES baseline
 * B-B (ETSI EN 319 142-1, 6.3). It has signing-certificate-v2, and no signing-time because a PDF has the time in /M. It
 * is at most SR_CMS_MAX_BYTES long and is allocated in `pool`. Returns SR_EUNAVAILABLE if the signature cannot be made,
 * for example because the certificate has expired since it was loaded. */
sr_error_t *sr_cms_sign(const unsigned char **der, apr_size_t *length, const sr_cms_identity_t *identity,
                        const unsigned char *digest, apr_pool_t *pool);
/* The two parts of it for a process that has the key, and no document: makes the signed attributes of a digest, and the
 * signature over them. `room` is SR_CMS_MAX_SIGNATURE bytes. */
sr_error_t *sr_cms_attributes_of(sr_cms_bytes_t *attributes, const sr_cms_identity_t *identity,
                                 const unsigned char *digest, apr_pool_t *pool);
sr_error_t *sr_cms_sign_attributes(unsigned char *room, apr_size_t *length, const sr_cms_identity_t *identity,
                                   const unsigned char *digest, const sr_cms_bytes_t *attributes, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------- stamped.c */
/* Computes the SHA-256 of the signature value of a CMS that sr_cms_sign has made: a timestamp of it proves when the
 * signature existed. */
sr_error_t *sr_cms_stamped_digest(unsigned char *sha256, const void *der, apr_size_t length, apr_pool_t *pool);
/* Adds the token (DER) as the unsigned attribute id-aa-signatureTimeStampToken. Returns SR_EUNAVAILABLE if both are
 * longer than SR_CMS_MAX_BYTES. */
sr_error_t *sr_cms_stamp(const unsigned char **stamped, apr_size_t *stamped_length, const void *der, apr_size_t length,
                         const void *token, apr_size_t token_length, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ judge.c
 *
 * A defect of a signature is a result, not an error.
 */
typedef enum sr_cms_state_t {
    SR_CMS_INTACT,   /* the key of this certificate has signed this digest */
    SR_CMS_BROKEN,   /* the signature is not valid */
    SR_CMS_UNCHECKED /* nothing can be said: its kind or its algorithm is not supported, or proves nothing */
} sr_cms_state_t;

typedef enum sr_cms_trust_t {
    SR_CMS_TRUST_UNKNOWN, /* no anchors were given, or the signature is not intact */
    SR_CMS_TRUSTED,
    SR_CMS_UNTRUSTED,
    SR_CMS_REVOKED /* a certificate of the chain was revoked at the time that is proved */
} sr_cms_trust_t;

typedef enum sr_cms_level_t {
    SR_CMS_LEVEL_NONE, /* not intact, or a document timestamp */
    SR_CMS_LEVEL_B,    /* the signature alone */
    SR_CMS_LEVEL_T,    /* with a timestamp */
    SR_CMS_LEVEL_LT,   /* with what proves of all certificates whether they were revoked */
    SR_CMS_LEVEL_LTA   /* these proofs are covered by a document timestamp */
} sr_cms_level_t;

typedef enum sr_cms_stamp_state_t {
    SR_CMS_STAMP_NONE, /* there is no timestamp */
    SR_CMS_STAMP_VALID,
    SR_CMS_STAMP_BROKEN,   /* it is not of this signature, or was changed */
    SR_CMS_STAMP_UNTRUSTED /* it is intact, and no chain leads to an anchor, or there are no anchors */
} sr_cms_stamp_state_t;

/* A timestamp (RFC 3161) of a signature, or of a document. */
typedef struct sr_cms_stamp_t {
    sr_cms_stamp_state_t state;
    apr_time_t time;       /* 0 if it is broken */
    const char *authority; /* name of its certificate; NULL if it is broken */
    const char *fault;     /* why it is not valid */
} sr_cms_stamp_t;

typedef struct sr_cms_result_t {
    sr_cms_state_t state;
    const char *fault;                  /* why it is not intact: plain text that continues "broken: " */
    const sr_cms_certificate_t *signer; /* NULL if the signature does not contain it */
    const char *algorithm;              /* "P-256 with SHA-256" */
    bool bound; /* the signed attributes name the certificate (signing-certificate-v2, or its predecessor) */
    bool ours;  /* intact, and made with a certificate of the context's `ours`; only sr_cms_is_our_seal sets it */
    bool expired, premature; /* the certificate has expired or is not yet valid, at the context's `now` */
    apr_time_t signing_time; /* the signing-time attribute: the clock of the signer; 0 if missing */
    sr_cms_trust_t trust;    /* at the time that is proved, or else at the context's `now` */
    const char *distrust;    /* for SR_CMS_UNTRUSTED and SR_CMS_REVOKED: the reason */
    sr_cms_level_t level;    /* what the file has, whether it is trusted or not */
    sr_cms_stamp_t stamp;    /* of the signature. Of a document timestamp: itself */
    /* If it is trusted: how long that can be proved with this file alone. 0: unknown. */
    apr_time_t proven_until;
    /* OpenSSL's name of the hash function of the document; NULL if the signature is not intact whatever the document is
     */
    const char *hash;
    bool timestamp; /* it is the token of a document timestamp (RFC 3161), which contains the digest of the document */
    sr_cms_bytes_t digest; /* digest of the document that was signed, if the signature is intact */
    /* The signed attributes as DER, and the signature over them. Empty if one of them is longer than SR_CMS_MAX_PROOF.
     */
    sr_cms_bytes_t attributes, signature;
} sr_cms_result_t;

typedef struct sr_cms_context_t {
    const sr_cms_anchors_t *anchors;         /* or NULL: chains are not checked */
    const sr_cms_certificate_t *const *ours; /* the certificates of this service, ended by NULL; or NULL */
    apr_time_t now;                          /* the time of the check; 0: the current time */
} sr_cms_context_t;

/* Limit in bytes. The signed attributes of this service take 160 bytes, and its keys make signatures of at most 1,024
 * bytes. */
#define SR_CMS_MAX_PROOF 2048
#define SR_CMS_OTHER_DOCUMENT "the document is not the one that was signed"

/* Limits of the proofs (certificates, OCSP responses and CRLs) of one document that count: all of them together, and
 * their number. Those above a limit are left out. OpenSSL needs up to 20 times this memory to decode them. */
#define SR_CMS_MAX_PROOF_BYTES ((size_t)1 << 20)
#define SR_CMS_MAX_PROOFS 1024

#define SR_CMS_MAX_SERIAL 128 /* digits of the serial number of a certificate; RFC 5280 allows 40 */

/* Names of the members of sr_cms_state_t and of sr_cms_trust_t, and the hash functions that are accepted. */
#define SR_CMS_STATE_NAMES                                                                                             \
    {                                                                                                                  \
        "intact", "broken", "unchecked", NULL                                                                          \
    }
#define SR_CMS_TRUST_NAMES                                                                                             \
    {                                                                                                                  \
        "unknown", "trusted", "untrusted", "revoked", NULL                                                             \
    }
#define SR_CMS_HASH_NAMES                                                                                              \
    {                                                                                                                  \
        "SHA256", "SHA384", "SHA512", "SHA3-256", "SHA3-384", "SHA3-512", NULL                                         \
    }
#define SR_CMS_LEVEL_NAMES                                                                                             \
    {                                                                                                                  \
        "none", "B-B", "B-T", "B-LT", "B-LTA", NULL                                                                    \
    }
#define SR_CMS_STAMP_NAMES                                                                                             \
    {                                                                                                                  \
        "none", "valid", "broken", "untrusted", NULL                                                                   \
    }
/* The kinds of proofs, in the order of sr_cms_proof_kind_t. */
#define SR_CMS_PROOF_NAMES                                                                                             \
    {                                                                                                                  \
        "certificate", "ocsp", "crl", NULL                                                                             \
    }

/* One entry of the document security store (DSS), as DER. */
typedef enum sr_cms_proof_kind_t { SR_CMS_PROOF_CERTIFICATE, SR_CMS_PROOF_OCSP, SR_CMS_PROOF_CRL } sr_cms_proof_kind_t;
typedef struct sr_cms_proof_t {
    sr_cms_proof_kind_t kind;
    sr_cms_bytes_t der;
    apr_off_t at; /* its offset in the file */
} sr_cms_proof_t;
typedef struct sr_cms_asked_t {
    const void *der; /* zero bytes may follow the CMS, as in a PDF */
    apr_size_t length;
    apr_off_t covers; /* size of the file when it was signed */
    bool refuted;     /* its digest is not that of the document, so it does not prove the time of anything */
} sr_cms_asked_t;

/* Checks the signatures and document timestamps of one document, as far as that is possible without the document. If
 * one is intact, `digest` is the digest that the document must have, and the results of the others rely on this. A
 * trusted timestamp proves that what it covers existed at its time, so the chain of a signature is judged at the
 * earliest time that is proved, with proofs of revocation from the DSS alone. Nothing is fetched. Only a worker calls
 * this function. The members of the results are in `pool`. */
void sr_cms_check_all(sr_cms_result_t *results, const sr_cms_asked_t *asked, int count, const sr_cms_proof_t *proofs,
                      int proof_count, const sr_cms_context_t *context, apr_pool_t *pool);
/* Does the same for one signature without a DSS. */
void sr_cms_check(sr_cms_result_t *result, const void *der, apr_size_t length, const sr_cms_context_t *context,
                  apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ our_seal.c */
/* Compares the result of a worker with the digest of the document, which was made with result->hash. The claim that a
 * certificate of this service made the signature is not trusted: the signature is verified again with the service's own
 * public key. If the worker sent no attributes and signature for that, the result becomes SR_CMS_UNCHECKED. */
void sr_cms_is_our_seal(sr_cms_result_t *result, const unsigned char *digest, apr_size_t length,
                        const sr_cms_context_t *context);

#endif
