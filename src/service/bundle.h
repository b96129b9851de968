/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h: all of a submission as one ZIP, in pieces of files, which are open until the pool is destroyed. Part of
 * service.h.
 *
 * Sections: bundle_parts.c · bundle.c */
#ifndef SR_SERVICE_BUNDLE_H
#define SR_SERVICE_BUNDLE_H

#include "service/service.h"

typedef struct sr_bundle_piece_t {
    apr_file_t *file; /* NULL: the spool */
    apr_off_t at, length;
} sr_bundle_piece_t;
typedef struct sr_bundle_t {
    const char *name, *etag;
    apr_file_t *spool;
    apr_off_t spooled;          /* the size of the spool */
    apr_array_header_t *pieces; /* sr_bundle_piece_t, whose concatenation is the ZIP */
} sr_bundle_t;
/* Documents, uploads that were rewritten, the certificate, the audit trail and the representation, all of one reading.
 * The same submission gives the same bytes until it changes. */
sr_error_t *sr_service_bundle(const sr_service_t *service, sr_bundle_t *bundle, const char *token_hash,
                              const char *uuid, apr_pool_t *pool);
/* Documents and certificate, for somebody with a link, who may see them: the caller has read the record. Errors:
 * SR_ENOTFOUND until all have signed. */
sr_error_t *sr_service_bundle_final(const sr_service_t *service, sr_bundle_t *bundle, const sr_submission_t *submission,
                                    apr_pool_t *pool);
/* bundle.c: returns the content in buckets, without an end-of-stream bucket. */
apr_bucket_brigade *sr_bundle_brigade(const sr_bundle_t *bundle, apr_bucket_alloc_t *allocator, apr_pool_t *pool);

#endif
