/* SPDX-License-Identifier: Apache-2.0 */
/* bundle_part.h: makes a bundle (sr_bundle_t) of its parts. */
#ifndef SR_SERVICE_DOCUMENTS_BUNDLE_PART_H
#define SR_SERVICE_DOCUMENTS_BUNDLE_PART_H

#include "service/bundle.h"
#include "service/private.h"

/* A file in a bundle: a text, or the concatenation of blobs (const char *, their keys). */
typedef struct sr_bundle_part_t {
    const char *path;
    apr_time_t when;
    const char *text;
    const apr_array_header_t *keys;
    apr_off_t size; /* of the blobs together */
} sr_bundle_part_t;
/* `parts` has sr_bundle_part_t in the order of the ZIP. Errors: SR_EUNAVAILABLE if a blob cannot be read or the disk is
 * full. */
sr_error_t *sr_bundle_make(const sr_service_t *service, sr_bundle_t *bundle, const char *name,
                           const apr_array_header_t *parts, apr_pool_t *result_pool, apr_pool_t *scratch_pool);

#endif
