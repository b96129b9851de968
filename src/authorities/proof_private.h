/* SPDX-License-Identifier: Apache-2.0 */
/* proof_private.h: shared by the files that collect and read proofs. Other folders use proofs.h. */
#ifndef SR_AUTHORITIES_PROOF_PRIVATE_H
#define SR_AUTHORITIES_PROOF_PRIVATE_H

#include "cms/certificate.h"
#include "cms/revocation.h"
#include "authorities/proofs.h"

/* --- proof_files.c */
/* A file that is in use is written again after this time. */
#define SR_PROOF_TOUCH_AFTER apr_time_from_sec(24 * 3600)
/* Reads a file of the folder. Returns false if it is missing, cannot be read or is longer than `limit`. *written (may
 * be NULL) is the time of its last change. */
bool sr_proof_read(sr_cms_bytes_t *bytes, apr_time_t *written, const char *folder, const char *name, apr_size_t limit,
                   apr_pool_t *pool);
/* Writes a file beside the old one and renames it. Its time is sr_time_now(). */
sr_error_t *sr_proof_write(const char *folder, const char *name, const void *data, apr_size_t length, apr_pool_t *pool);
/* Returns the names (const char *) of the chains that somebody has asked for, which are files. If `remove` is true,
 * files that are not used any more are removed. */
apr_array_header_t *sr_proof_wanted(const char *folder, bool remove, apr_pool_t *pool);

/* --- proof_set.c: a file of the set, by name and content */
typedef struct sr_proof_file_t {
    const char *name;
    bool crl;
    sr_cms_bytes_t bytes;
} sr_proof_file_t;
/* Returns the JSON text of a set, whose proofs are these files (sr_proof_file_t). */
const char *sr_proof_set_text(const sr_proofs_t *proofs, const apr_array_header_t *files, apr_pool_t *pool);
/* Reads the set of a certificate and its files. Returns NULL if they do not fit together: the process that collects may
 * be writing them. */
const sr_proofs_t *sr_proof_set_read(const char *folder, const char *sha256, apr_pool_t *pool);

/* --- proof_chain.c */
/* Verifies the chain of the first certificate of `pem`. Returns it, up to the anchor; it is freed with the pool.
 * Returns NULL and sets *fault if it reaches none. */
STACK_OF(X509) * sr_proof_chain(const char **fault, const char *pem, const char *anchors, apr_pool_t *pool);
/* Return the http URLs (const char *) at which a certificate says that its OCSP responder or its CRL is; at most two.
 */
apr_array_header_t *sr_proof_ocsp_urls(X509 *certificate, apr_pool_t *pool);
apr_array_header_t *sr_proof_crl_urls(X509 *certificate, apr_pool_t *pool);
/* Returns the DER of a certificate. */
sr_cms_bytes_t sr_proof_der(X509 *certificate, apr_pool_t *pool);
/* Returns certificates (sr_cms_bytes_t, DER) as PEM text. */
const char *sr_proof_pem(const apr_array_header_t *chain, apr_pool_t *pool);
/* Returns the name of a certificate, for messages. */
const char *sr_proof_name(X509 *certificate, apr_pool_t *pool);

/* --- proof_item.c */
/* A proof that is read or fetched. */
typedef struct sr_proof_item_t {
    bool crl;
    const char *url, *name; /* its file */
    X509 *certificate, *issuer;
    sr_cms_bytes_t bytes;
    sr_revocation_t judged;
    apr_time_t fetched;
    const char *fault; /* why it could not be fetched, or what was fetched is not usable; or NULL */
} sr_proof_item_t;
sr_proof_item_t sr_proof_item(bool crl, const char *url, X509 *certificate, X509 *issuer, apr_pool_t *pool);
/* Reads the proof, and fetches it if that is due. `others` are certificates among which the OCSP responder may be. A
 * proof that ends before `needed` (or 0) is fetched as early as is allowed. Returns when it is due again. */
apr_time_t sr_proof_obtain(sr_proof_item_t *item, sr_proof_keeper_t *keeper, STACK_OF(X509) * others, apr_time_t needed,
                           apr_pool_t *pool);
/* Returns true if the proof says "good" or "revoked". */
bool sr_proof_is_usable(const sr_proof_item_t *item);
const sr_proof_options_t *sr_proof_keeper_options(const sr_proof_keeper_t *keeper);

#endif
