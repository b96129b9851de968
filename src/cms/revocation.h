/* SPDX-License-Identifier: Apache-2.0 */
/* revocation.h: judges one OCSP response or one CRL, without any network. The fetching of proofs (src/authorities) and
 * the checks of signatures in a helper (inspect.c) use the same judgement. */
#ifndef SR_CMS_REVOCATION_H
#define SR_CMS_REVOCATION_H

#include "cms/cms.h"

#include <openssl/x509.h>

/* Limits in bytes. Larger proofs are not read. */
#define SR_REVOCATION_MAX_OCSP (64 << 10)
#define SR_REVOCATION_MAX_CRL (20 << 20)
/* How far the clock of a responder or of an authority may be ahead of ours. */
#define SR_REVOCATION_AHEAD apr_time_from_sec(300)

typedef enum sr_revocation_state_t {
    SR_REVOCATION_UNUSABLE, /* it proves nothing: see `why` */
    SR_REVOCATION_UNKNOWN,  /* the responder does not know the certificate */
    SR_REVOCATION_GOOD,     /* the certificate was not revoked at `from` */
    SR_REVOCATION_REVOKED   /* the certificate was revoked at `revoked_at` */
} sr_revocation_state_t;

typedef struct sr_revocation_t {
    sr_revocation_state_t state;
    const char *why;       /* of UNUSABLE and UNKNOWN: plain text that continues "the OCSP response …: " */
    const char *reason;    /* of REVOKED: the reason that the issuer gives, such as "keyCompromise"; or NULL */
    apr_time_t revoked_at; /* of REVOKED */
    apr_time_t from;       /* thisUpdate; 0 if it was not read */
    apr_time_t until;      /* nextUpdate; 0 if it was not read. It is never missing in a GOOD or REVOKED proof */
    /* The certificate of a delegated OCSP responder, which is freed with the pool; NULL: the issuer itself has signed.
     * `excused` is true if the responder needs no proof of its own (id-pkix-ocsp-nocheck). Otherwise the caller needs
     * one from the same issuer. */
    X509 *responder;
    bool excused;
} sr_revocation_t;

/* Judge a proof about `certificate`. The caller has verified that `issuer` issued it. At the time `at` the proof must
 * have begun and must not be over; with 0 the caller compares `from` and `until` itself. A proof without nextUpdate is
 * unusable, because it cannot be said how long it may be kept. The OCSP response must be signed by the issuer, or by a
 * responder whose certificate the issuer has issued for that (RFC 6960, 4.2.2.2); `others` (may be NULL) are more
 * certificates among which the responder may be. A nonce is ignored. OpenSSL judges the scope of a CRL (its issuing
 * distribution point). A delta CRL, and a CRL that is older than the certificate, are unusable. */
void sr_revocation_ocsp(sr_revocation_t *result, const void *der, apr_size_t length, X509 *certificate, X509 *issuer,
                        STACK_OF(X509) * others, apr_time_t at, apr_pool_t *pool);
void sr_revocation_crl(sr_revocation_t *result, const void *der, apr_size_t length, X509 *certificate, X509 *issuer,
                       apr_time_t at, apr_pool_t *pool);

#endif
