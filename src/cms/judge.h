/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h: from the bytes of a CMS to a judgement. inspect.c takes a CMS apart and checks its signature, chain.c finds
 * its chain and what proves that nothing in it was revoked, and judge.c combines the signatures and timestamps of a
 * document. All of this runs in a worker. Private to src/cms. */
#ifndef SR_CMS_JUDGE_H
#define SR_CMS_JUDGE_H

#include "cms/certificate.h"

#include <apr_hash.h>

/* ------------------------------------------------------------------------------------------------ inspect.c */
typedef struct sr_cms_checked_t {
    sr_cms_result_t result;  /* the signature alone: `trust`, `level` and `stamp` are not set */
    X509 *certificate;       /* the signer's, or NULL. It lives as long as the pool */
    STACK_OF(X509) * others; /* the certificates that the CMS contains */
    apr_time_t time;         /* of a token: when it was made; 0 if unknown */
    sr_cms_bytes_t value;    /* the bytes of the signature, over which a timestamp is made */
    sr_cms_bytes_t token;    /* the timestamp of the signature as DER; empty if it has none */
} sr_cms_checked_t;

/* Checks one CMS. `more` (may be NULL) are certificates among which that of the signer may be. */
void sr_cms_inspect(sr_cms_checked_t *checked, const void *der, apr_size_t length, STACK_OF(X509) * more,
                    const sr_cms_context_t *context, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ chain.c */
/* Certificates, OCSP responses and CRLs of a document. */
typedef struct sr_cms_store_t {
    STACK_OF(X509) * certificates;
    struct proof_t *proofs;
    int count;
    int budget;           /* how many more proofs may be verified */
    apr_hash_t *verdicts; /* what the proofs say of a certificate of an issuer */
    apr_time_t now;
    apr_pool_t *pool;
} sr_cms_store_t;

/* Reads the certificates, and refers to the other proofs. It lives as long as `pool`. */
sr_cms_store_t *sr_cms_store_new(const sr_cms_proof_t *proofs, int count, apr_time_t now, apr_pool_t *pool);
/* Notes that what is before `end` existed at this time. */
void sr_cms_store_existed(sr_cms_store_t *store, apr_off_t end, apr_time_t time);
/* Forgets these times. */
void sr_cms_store_reset(sr_cms_store_t *store);

typedef struct sr_cms_chain_t {
    sr_cms_trust_t trust; /* never SR_CMS_TRUST_UNKNOWN */
    const char *distrust; /* why it is not trusted */
    bool proved;          /* the file proves of each certificate that it was not revoked at that time, or that it was */
    apr_time_t until;     /* when the first certificate of the chain ends */
} sr_cms_chain_t;

typedef struct sr_cms_how_t {
    X509_STORE *anchors;
    apr_time_t at;    /* when the chain must be valid */
    bool authority;   /* of a timestamp */
    bool past;        /* what has ended since the proofs were made does not matter */
    apr_off_t before; /* only proofs before this offset count; 0: all */
} sr_cms_how_t;

void sr_cms_chain_judge(sr_cms_chain_t *chain, const sr_cms_checked_t *checked, const sr_cms_how_t *how,
                        sr_cms_store_t *store, apr_pool_t *pool);

#endif
