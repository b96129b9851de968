/* SPDX-License-Identifier: Apache-2.0 */
/* seal_document.c: seals a document. A helper fills it and adds proofs (SigreqLongTerm), httpd signs the digest of the
 * result, adds a timestamp to the signature, and inserts it. */
#include "service/seals/seal_document.h"

#include "metrics/metrics.h"

sr_error_t *sr_seal_failed(apr_pool_t *pool, const char *what, const char *why)
{
    return sr_error_because(sr_error(pool, SR_EUNAVAILABLE, "The document could not be sealed, try again later"), pool,
                            "%s: %s", what, why);
}

static sr_error_t *fill_and_sign(const sr_service_t *service, sr_sealing_t *sealing, const sr_joined_t *joined,
                                 const sr_pdf_signature_t *what, const sr_cms_identity_t *seal, apr_pool_t *pool)
{
    sr_pdf_revision_t *revision = &sealing->revision;
    sr_pdf_signature_t signature = *what;
    apr_time_t since;
    SR_TRY(sr_sealing_allowed(service, sr_cms_identity_certificate(seal), pool));
    signature.hash = sr_cms_identity_hash(seal);
    signature.room = service->child->timestamps ? SR_CMS_MAX_BYTES : sr_cms_identity_room(seal);
    signature.digest = joined->digest;
    signature.proofs = sr_sealing_proofs(service, &since, sr_cms_identity_certificate(seal)->sha256, pool);
    SR_TRY(sr_pdf_fill(revision, service->pdf, joined->descriptor, joined->size, &signature, pool));
    if (revision->fault == SR_PDF_SIGNATURE_AT_FAULT) return sr_error(pool, SR_EBADREQUEST, "%s", revision->reason);
    if (revision->fault != SR_PDF_DONE) return sr_seal_failed(pool, "filling", revision->reason);
    if (sr_sealing_proves(service) && !revision->proven)
        sr_metrics_count(SR_METRIC_UNPROVEN, sealing->environment, 0, 1);
    return sr_cms_sign(&sealing->cms, &sealing->length, seal, revision->digest, pool);
}

/* Counts a failure. A signature that cannot be drawn does not count, because nothing was to be sealed. */
static sr_error_t *seal_document_note(const sr_sealing_t *sealing, sr_error_t *error)
{
    if (error && error->code != SR_EBADREQUEST)
        sr_metrics_count(SR_METRIC_SEALS, sealing->environment, SR_RESULT_FAILED, 1);
    return error;
}

sr_error_t *sr_seal_begin(const sr_service_t *service, sr_sealing_t *sealing, const sr_joined_t *joined,
                          const sr_pdf_signature_t *what, const sr_cms_identity_t *seal, apr_pool_t *pool)
{
    const apr_time_t begun = sr_time_steady();
    *sealing = (sr_sealing_t){.environment = what->test ? SR_TEST : SR_PRODUCTION};
    sr_error_t *error = fill_and_sign(service, sealing, joined, what, seal, pool);
    sealing->took = sr_time_steady() - begun;
    return seal_document_note(sealing, error);
}

/* --- timestamps */

/* Adds a token to the signature, unless there is none. */
static sr_error_t *take_stamp(sr_sealing_t *sealing, const sr_stamp_t *stamp, apr_pool_t *pool)
{
    sealing->fault = stamp->fault;
    if (!stamp->token) return NULL;
    sealing->stamped = stamp->time;
    sealing->authority = apr_pstrdup(pool, stamp->authority);
    return sr_cms_stamp(&sealing->cms, &sealing->length, sealing->cms, sealing->length, stamp->token, stamp->length,
                        pool);
}

static sr_error_t *seal_document_stamp_all(const sr_service_t *service, sr_sealing_t *const *sealings, int count,
                                           apr_pool_t *result_pool, apr_pool_t *scratch_pool)
{
    sr_timestamps_t *timestamps = service->child->timestamps;
    sr_stamp_t *stamps = apr_pcalloc(scratch_pool, sizeof *stamps * (apr_size_t)count);
    for (int i = 0; i < count; i++)
        SR_TRY(sr_cms_stamped_digest(stamps[i].digest, sealings[i]->cms, sealings[i]->length, scratch_pool));
    sr_error_t *error = sr_timestamps_make(timestamps, stamps, count, scratch_pool);
    if (error && sr_timestamps_required(timestamps)) return error;
    sr_sealing_want(service, &stamps[0], scratch_pool);
    for (int i = 0; i < count; i++) SR_TRY(take_stamp(sealings[i], &stamps[i], result_pool));
    return NULL;
}

sr_error_t *sr_seal_stamp(const sr_service_t *service, sr_sealing_t *const *sealings, int count, apr_pool_t *pool)
{
    apr_pool_t *scratch;
    if (!service->child->timestamps || !count) return NULL;
    apr_pool_create(&scratch, pool);
    sr_error_t *error = sr_error_copy(seal_document_stamp_all(service, sealings, count, pool, scratch), pool);
    apr_pool_destroy(scratch);
    for (int i = 0; error && i < count; i++) (void)seal_document_note(sealings[i], error);
    return error;
}

/* --- the end */

sr_error_t *sr_seal_end(sr_sealing_t *sealing, apr_pool_t *pool)
{
    SR_TRY(seal_document_note(sealing, sr_pdf_seal(&sealing->revision, sealing->cms, sealing->length, pool)));
    sr_metrics_count(SR_METRIC_SEALS, sealing->environment, SR_RESULT_SEALED, 1);
    sr_metrics_observe(SR_METRIC_SEAL_SECONDS, 0, sealing->took);
    return NULL;
}

void sr_seal_stamped(json_t *detail, apr_time_t time, const char *authority)
{
    json_t *timestamp = json_object();
    json_object_set_new(timestamp, "time", sr_time_json(time));
    json_object_set_new(timestamp, "authority", json_string(authority));
    json_object_set_new(detail, "timestamp", timestamp);
}

void sr_seal_evidence(const sr_service_t *service, json_t *detail, const sr_sealing_t *sealing)
{
    if (!service->child->timestamps) return;
    if (sealing->stamped) {
        sr_seal_stamped(detail, sealing->stamped, sealing->authority);
        return;
    }
    json_object_set_new(detail, "timestamp", json_null());
    json_object_set_new(detail, "timestampFault",
                        json_string(sr_metrics_text_of(SR_LABEL_STAMP_FAULT, (int)sealing->fault)));
}
