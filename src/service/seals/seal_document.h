/* SPDX-License-Identifier: Apache-2.0 */
/* seal_document.h: shared by sign.c and certify.c. */
#ifndef SR_SERVICE_SEALS_SEAL_DOCUMENT_H
#define SR_SERVICE_SEALS_SEAL_DOCUMENT_H

#include "service/submissions/transition.h"

/* A document while it is sealed. */
typedef struct sr_sealing_t {
    sr_environment_t environment;
    sr_pdf_revision_t revision; /* what is appended */
    const unsigned char *cms;
    apr_size_t length;
    apr_interval_time_t took; /* to fill and sign */
    apr_time_t stamped;       /* the time that a timestamp proves; 0: there is none */
    const char *authority;    /* which authority says so */
    sr_stamp_fault_t fault;   /* without a timestamp: why */
} sr_sealing_t;

/* Fills a prepared document and signs it with `seal`, as sr_sealing_identity returns it. Errors: SR_EBADREQUEST if
 * the signature cannot be drawn, and SR_EUNAVAILABLE for everything else; the signer may try again. */
sr_error_t *sr_seal_begin(const sr_service_t *service, sr_sealing_t *sealing, const sr_joined_t *joined,
                          const sr_pdf_signature_t *what, const sr_cms_identity_t *seal, apr_pool_t *pool);
/* Adds timestamps to the signatures of all these documents, if timestamps are configured. All are requested at the same
 * time. No helper should be kept meanwhile. Errors: SR_EUNAVAILABLE if one is missing that is required. */
sr_error_t *sr_seal_stamp(const sr_service_t *service, sr_sealing_t *const *sealings, int count, apr_pool_t *pool);
/* Inserts the signature. revision.sha256 is that of the whole document then. */
sr_error_t *sr_seal_end(sr_sealing_t *sealing, apr_pool_t *pool);
/* Adds a timestamp to what an event says of a document. */
void sr_seal_stamped(json_t *detail, apr_time_t time, const char *authority);
/* Adds the timestamp, or why there is none, to what an event says of a document, if timestamps are configured. */
void sr_seal_evidence(const sr_service_t *service, json_t *detail, const sr_sealing_t *sealing);
/* Makes an SR_EUNAVAILABLE. `what` and `why` are for the log. */
sr_error_t *sr_seal_failed(apr_pool_t *pool, const char *what, const char *why);

/* choose.c: finds what seals a submission: the own seal of its organisation if that has one, else that of the service.
 * Returns SR_EUNAVAILABLE if there is an own seal that cannot be used: no other one takes its place. */
sr_error_t *sr_sealing_identity(const sr_cms_identity_t **seal, const sr_service_t *service,
                                const sr_signing_t *signing, apr_pool_t *pool);
/* For the health check: returns an error if the seal of production cannot be used because of its files. One that has
 * expired or is revoked is not the fault of this host. */
sr_error_t *sr_sealing_usable(const sr_service_t *service, apr_pool_t *pool);
/* Its parts: the seal of the service; the own seal of the organisation of a submission, or NULL; its identity, or NULL
 * if it cannot be used. */
const sr_cms_identity_t *sr_sealing_of_service(const sr_service_t *service, sr_environment_t environment);
const sr_cms_own_t *sr_sealing_own(const sr_service_t *service, const sr_signing_t *signing);
const sr_cms_identity_t *sr_sealing_of_own(const sr_cms_own_t *own);
/* Returns SR_EUNAVAILABLE while the certificate of a seal is known to be revoked. */
sr_error_t *sr_sealing_allowed(const sr_service_t *service, const sr_cms_certificate_t *seal, apr_pool_t *pool);
/* Returns true if signatures get proofs (SigreqLongTerm). */
bool sr_sealing_proves(const sr_service_t *service);
/* Returns the proofs (sr_pdf_proof_t) for a document that is sealed with the certificate with this SHA-256. They live
 * as long as `pool`. NULL: signatures get none, or they are not complete. *since is when the oldest of them was made.
 */
const apr_array_header_t *sr_sealing_proofs(const sr_service_t *service, apr_time_t *since, const char *sha256,
                                            apr_pool_t *pool);
/* Asks for the proofs of the authority that made a timestamp, once an hour. A failure only means that they are missing.
 */
void sr_sealing_want(const sr_service_t *service, const sr_stamp_t *stamp, apr_pool_t *pool);

/* Returns the proofs as a list (sr_pdf_proof_t). */
const apr_array_header_t *sr_sealing_list(const sr_proofs_t *proofs, apr_pool_t *pool);
/* Adds the proofs of the chain that made a timestamp (DER) to `proofs`, and asks for them. Returns false if they are
 * not complete. */
bool sr_sealing_prove(const sr_service_t *service, sr_proofs_t *proofs, const void *token, apr_size_t length,
                      apr_pool_t *pool);

/* renewal.c: finds the proofs (sr_pdf_proof_t) of the chains that made the newest document timestamps of a submission.
 * *proofs is NULL if there are none, and *complete is false if some are missing, which are then asked for. */
sr_error_t *sr_renewal_proofs(const sr_service_t *service, const apr_array_header_t **proofs, bool *complete,
                              sr_blobs_t *documents, const sr_signing_t *signing, apr_pool_t *pool);

/* certify.c: makes, seals and stores the certificate of completion after the last signature, and adds it to the
 * transition. */
sr_error_t *sr_certify(const sr_service_t *service, sr_transition_t *transition, sr_blobs_t *documents);
/* Returns the drawing of a signature (sr_pdf_drawing) for the event "signed", where sr_certify finds it. *drawing is
 * NULL if it cannot be drawn. Errors: SR_EUNAVAILABLE. */
sr_error_t *sr_certify_drawing(const char **drawing, const sr_service_t *service, const sr_signing_t *signing,
                               const sr_signature_t *signature, apr_pool_t *pool);

#endif
