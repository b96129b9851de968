/* SPDX-License-Identifier: Apache-2.0 */
/* proofs.h: proofs that certificates were not revoked: OCSP responses and CRLs of the chains that make seals and
 * timestamps. One process of a machine collects them into a folder. The others read the folder, and keep what they have
 * read in memory, so a signature costs no judgement.
 *
 * The folder has three kinds of files, and two that are locked. Everything in it can be fetched again, so nothing is
 * synced to the disk.
 *   SHA256.der    an OCSP response or a CRL; named by its URL and, of OCSP, by the CertID
 *   SHA256.json   the proofs of one chain; named by the first certificate: which files they are, and the certificates
 *   SHA256.pem    a chain that a process has seen and whose proofs it wants, such as that of a timestamp authority
 *
 * Sections: proof_files.c · proof_set.c · proof_item.c and proof_collect.c · proof_cache.c */
#ifndef SR_AUTHORITIES_PROOFS_H
#define SR_AUTHORITIES_PROOFS_H

#include "cms/cms.h"
#include "authorities/fetch.h"

/* ------------------------------------------------------------------------------------------ proof_files.c */
/* Tries to become the process of this machine that collects (SR_PROOF_COLLECTS), or the one that archives. The lock
 * ends when the pool is destroyed or the process dies. Returns false if another process has it; *fault is set if the
 * folder cannot be used. */
#define SR_PROOF_COLLECTS ".lock"
#define SR_PROOF_ARCHIVES ".archive"
bool sr_proof_lock(const char **fault, const char *folder, const char *name, apr_pool_t *pool);
/* Asks for the proofs of a chain: PEM text, whose first certificate has this SHA-256. The chain is collected until
 * nobody has asked for 30 days. It costs one stat. */
sr_error_t *sr_proof_want(const char *folder, const char *sha256, const char *pem, apr_pool_t *pool);
/* The same for DER (sr_cms_bytes_t), the first certificate first. */
sr_error_t *sr_proof_want_chain(const char *folder, const apr_array_header_t *chain, apr_pool_t *pool);

/* -------------------------------------------------------------------------------------------- proof_set.c */
/* The proofs of one chain. */
typedef struct sr_proofs_t {
    /* sr_cms_bytes_t: DER. `certificates` has the chain, from the first certificate to the anchor, and the certificates
     * of OCSP responders. */
    const apr_array_header_t *certificates, *ocsps, *crls;
    apr_time_t since;    /* when the oldest of the proofs was made; 0: there are none */
    apr_time_t until;    /* when the first of them ends; 0: there are none */
    const char *missing; /* why the proofs are not complete, or NULL */
    const char *revoked; /* which certificate of the chain was revoked, when and why; or NULL */
} sr_proofs_t;

/* Adds to `proofs` what it does not have yet. The arrays of `proofs` are in `pool`; all members may be empty (NULL). */
void sr_proofs_join(sr_proofs_t *proofs, const sr_proofs_t *more, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------- proof_collect.c */
typedef struct sr_proof_keeper_t sr_proof_keeper_t;
typedef struct sr_proof_options_t {
    const char *folder;
    apr_interval_time_t longest; /* the longest time between two requests for the same proof */
    /* Makes one request and sets its result, as sr_fetch_all does. */
    void (*fetch)(void *baton, sr_fetch_t *request, apr_pool_t *pool);
    void *baton;
} sr_proof_options_t;
/* A proof is not fetched again before this time, or before `longest` if that is shorter. */
#define SR_PROOF_SHORTEST apr_time_from_sec(300)
/* The same, if there is no usable proof. */
#define SR_PROOF_HASTY apr_time_from_sec(60)

sr_proof_keeper_t *sr_proof_keeper_create(const sr_proof_options_t *options, apr_pool_t *pool);
/* Collects the proofs of a chain (PEM text, the first certificate first) that ends at one of the anchors (PEM text): a
 * chain that does not is not collected, because its URLs are those of a stranger. Fetches what is due and writes the
 * result into the folder. *next is the time at which something is due again. *proofs is in `pool`. */
sr_error_t *sr_proof_collect(const sr_proofs_t **proofs, apr_time_t *next, sr_proof_keeper_t *keeper, const char *pem,
                             const char *anchors, apr_pool_t *pool);
/* Does the same for each chain that somebody has asked for by sr_proof_want. *earliest is the time at which the first
 * of their proofs ends (0: there are none), *missing names the first fault, or is NULL. Removes files that are not used
 * any more. Without anchors (NULL) it does only that. */
sr_error_t *sr_proof_collect_wanted(apr_time_t *earliest, const char **missing, apr_time_t *next,
                                    sr_proof_keeper_t *keeper, const char *anchors, apr_pool_t *pool);
/* Returns NULL if the chain ends at one of the anchors, or the reason. */
const char *sr_proof_chain_fault(const char *pem, const char *anchors, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------ proof_cache.c */
typedef struct sr_proof_cache_t sr_proof_cache_t;
/* Makes the memory of a process for the sets in a folder. Any number of threads may use it. */
sr_proof_cache_t *sr_proof_cache_create(const char *folder, apr_pool_t *pool);
/* Returns the folder of the cache. */
const char *sr_proof_cache_folder(const sr_proof_cache_t *cache);
/* Returns the proofs of the chain whose first certificate has this SHA-256, or NULL if nothing is known of it. They
 * live as long as `pool`. The file is read again if it has changed, which costs one stat. If a proof has ended,
 * `missing` says so. */
const sr_proofs_t *sr_proof_cache_get(sr_proof_cache_t *cache, const char *sha256, apr_pool_t *pool);
/* Returns what a signature with a timestamp needs: the proofs of this chain, and of all chains that somebody has asked
 * for. NULL: nothing is known of this chain. If `missing` is not NULL, they are not complete: do not use them. */
const sr_proofs_t *sr_proof_cache_all(sr_proof_cache_t *cache, const char *sha256, apr_pool_t *pool);
/* Returns true once an hour for each name: the caller is to ask for the chain with this name (sr_proof_want). */
bool sr_proof_cache_is_time(sr_proof_cache_t *cache, const char *name);

#endif
