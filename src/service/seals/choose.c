/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c: which seal is used, and whether it may be: not while its certificate is revoked. httpd/proofs.c finds that
 * out. A request costs one stat here. */
#include "service/seals/seal_document.h"

#include <string.h>

#include "metrics/metrics.h"

/* The certificate of a seal is reported as soon as it expires within this time. */
#define SOON apr_time_from_sec(30 * 24 * 3600)

static const sr_proofs_t *choose_proofs_of(const sr_service_t *service, const sr_cms_certificate_t *seal,
                                           apr_pool_t *pool)
{
    return service->child->proofs ? sr_proof_cache_get(service->child->proofs, seal->sha256, pool) : NULL;
}

sr_error_t *sr_sealing_allowed(const sr_service_t *service, const sr_cms_certificate_t *seal, apr_pool_t *pool)
{
    const sr_proofs_t *proofs = choose_proofs_of(service, seal, pool);
    if (!proofs || !proofs->revoked) return NULL;
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "Signing is unavailable now, try again later"), pool, "%s",
                            proofs->revoked);
}

const sr_cms_identity_t *sr_sealing_of_service(const sr_service_t *service, sr_environment_t environment)
{
    return __atomic_load_n(&service->child->seal[environment], __ATOMIC_ACQUIRE);
}

#define UNUSABLE "the error log has the reason (SR0400 at the last start or restart, or SR0405)"

/* Also if the signer process is missing. The parent sets this metric. */
static bool is_unusable(void)
{
    return sr_metrics_value(SR_METRIC_SEAL_UNUSABLE, SR_PRODUCTION, 0) != 0;
}

sr_error_t *sr_sealing_usable(const sr_service_t *service, apr_pool_t *pool)
{
    if (!is_unusable() && sr_sealing_of_service(service, SR_PRODUCTION)) return NULL;
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The seal cannot be used"), pool, UNUSABLE);
}

const sr_cms_own_t *sr_sealing_own(const sr_service_t *service, const sr_signing_t *signing)
{
    if (signing->environment != SR_PRODUCTION) return NULL;
    return sr_cms_own_find(service->child->own, signing->organization_uuid);
}

const sr_cms_identity_t *sr_sealing_of_own(const sr_cms_own_t *own)
{
    return __atomic_load_n(&own->identity, __ATOMIC_ACQUIRE);
}

sr_error_t *sr_sealing_identity(const sr_cms_identity_t **seal, const sr_service_t *service,
                                const sr_signing_t *signing, apr_pool_t *pool)
{
    const sr_cms_own_t *own = sr_sealing_own(service, signing);
    *seal = own ? sr_sealing_of_own(own) : sr_sealing_of_service(service, signing->environment);
    if (*seal) return NULL;
    sr_metrics_count(SR_METRIC_SEALS, signing->environment, SR_RESULT_FAILED, 1);
    sr_error_t *error = sr_error(pool, SR_EUNAVAILABLE, "Signing is unavailable now, try again later");
    if (!own) return sr_error_because(error, pool, "the seal cannot be used: " UNUSABLE);
    return sr_error_because(error, pool, "the seal of organization %s cannot be used: %s", own->organization,
                            own->fault);
}

static void add_proofs(apr_array_header_t *all, sr_pdf_proof_kind_t kind, const apr_array_header_t *some)
{
    for (int i = 0; some && i < some->nelts; i++) {
        const sr_cms_bytes_t *one = &APR_ARRAY_IDX(some, i, sr_cms_bytes_t);
        APR_ARRAY_PUSH(all, sr_pdf_proof_t) = (sr_pdf_proof_t){kind, one->data, one->length};
    }
}

bool sr_sealing_proves(const sr_service_t *service)
{
    return service->child->long_term && service->child->timestamps && service->child->proofs;
}

const apr_array_header_t *sr_sealing_list(const sr_proofs_t *proofs, apr_pool_t *pool)
{
    apr_array_header_t *all = apr_array_make(pool, 8, sizeof(sr_pdf_proof_t));
    add_proofs(all, SR_PDF_CERTIFICATE, proofs->certificates);
    add_proofs(all, SR_PDF_OCSP, proofs->ocsps);
    add_proofs(all, SR_PDF_CRL, proofs->crls);
    return all;
}

const apr_array_header_t *sr_sealing_proofs(const sr_service_t *service, apr_time_t *since, const char *sha256,
                                            apr_pool_t *pool)
{
    if (!sr_sealing_proves(service)) return NULL;
    const sr_proofs_t *proofs = sr_proof_cache_all(service->child->proofs, sha256, pool);
    if (!proofs || proofs->missing) return NULL;
    *since = proofs->since;
    return sr_sealing_list(proofs, pool);
}

void sr_service_seal_state(const sr_service_t *service, sr_seal_state_t *state, apr_pool_t *pool)
{
    const apr_time_t now = sr_time_now();
    const sr_cms_identity_t *identity = sr_sealing_of_service(service, SR_PRODUCTION);
    const sr_cms_certificate_t *seal = identity ? sr_cms_identity_certificate(identity) : NULL;
    if (!seal || is_unusable()) {
        *state = (sr_seal_state_t){.state = "unusable", .watched = service->child->proofs != NULL};
        return;
    }
    const sr_proofs_t *proofs = choose_proofs_of(service, seal, pool);
    *state = (sr_seal_state_t){.expires = seal->until, .watched = service->child->proofs != NULL};
    state->state = proofs && proofs->revoked  ? "revoked"
                   : seal->until < now        ? "expired"
                   : seal->until - now < SOON ? "expiring"
                                              : "ok";
    if (proofs && !proofs->missing) state->proven_until = proofs->until;
}

static void count_own(const sr_service_t *service, sr_own_seals_t *counted, const sr_cms_own_t *own, apr_time_t now,
                      apr_pool_t *pool)
{
    const sr_cms_identity_t *identity = sr_sealing_of_own(own);
    const sr_cms_certificate_t *seal = identity ? sr_cms_identity_certificate(identity) : NULL;
    const sr_proofs_t *proofs = seal ? choose_proofs_of(service, seal, pool) : NULL;
    counted->count++;
    if (!seal || seal->until < now) counted->unusable++;
    else if (proofs && proofs->revoked) counted->revoked++;
    else if (seal->until - now < SOON) counted->expiring++;
    else counted->ok++;
}

void sr_service_own_seals(const sr_service_t *service, sr_own_seals_t *counted, apr_pool_t *pool)
{
    const apr_array_header_t *own = service->child->own;
    const apr_time_t now = sr_time_now();
    apr_pool_t *each;
    *counted = (sr_own_seals_t){.configured = own != NULL};
    apr_pool_create(&each, pool);
    for (int i = 0; own && i < own->nelts; i++) {
        count_own(service, counted, &APR_ARRAY_IDX(own, i, sr_cms_own_t), now, each);
        apr_pool_clear(each);
    }
    apr_pool_destroy(each);
}

/* Returns the chain (sr_cms_bytes_t) of the certificate that made a timestamp, or NULL if it reaches no authority. */
static const apr_array_header_t *chain_of(const sr_service_t *service, const void *token, apr_size_t length,
                                          apr_pool_t *pool)
{
    apr_array_header_t *chain, *copy;
    if (sr_timestamps_chain(&chain, service->child->timestamps, token, length, pool)) return NULL;
    copy = apr_array_make(pool, chain->nelts, sizeof(sr_cms_bytes_t));
    for (int i = 0; i < chain->nelts; i++) {
        const sr_trust_der_t *one = &APR_ARRAY_IDX(chain, i, sr_trust_der_t);
        APR_ARRAY_PUSH(copy, sr_cms_bytes_t) = (sr_cms_bytes_t){one->data, one->length};
    }
    return copy;
}

void sr_sealing_want(const sr_service_t *service, const sr_stamp_t *stamp, apr_pool_t *pool)
{
    sr_proof_cache_t *proofs = service->child->proofs;
    if (!proofs || !stamp->token || !sr_proof_cache_is_time(proofs, stamp->authority)) return;
    const apr_array_header_t *chain = chain_of(service, stamp->token, stamp->length, pool);
    if (chain) (void)sr_proof_want_chain(sr_proof_cache_folder(proofs), chain, pool);
}

bool sr_sealing_prove(const sr_service_t *service, sr_proofs_t *proofs, const void *token, apr_size_t length,
                      apr_pool_t *pool)
{
    const apr_array_header_t *chain = chain_of(service, token, length, pool);
    if (!chain || sr_proof_want_chain(sr_proof_cache_folder(service->child->proofs), chain, pool)) return false;
    const sr_cms_bytes_t *first = &APR_ARRAY_IDX(chain, 0, sr_cms_bytes_t);
    const char *sha256 = sr_sha256_hex(first->data, first->length, pool);
    const sr_proofs_t *own = sr_proof_cache_get(service->child->proofs, sha256, pool);
    if (!own || own->missing) return false;
    sr_proofs_join(proofs, own, pool);
    return true;
}
