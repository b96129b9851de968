/* SPDX-License-Identifier: Apache-2.0 */
/* uploads.h: the documents of a creation, for create.c, and for drafts. */
#ifndef SR_SERVICE_SUBMISSIONS_UPLOADS_H
#define SR_SERVICE_SUBMISSIONS_UPLOADS_H

#include "service/documents/contents.h"
#include "service/submissions/preflight.h"

/* Begins the preflight: checks the uploaded files, or takes those of the template, and sets their page boxes, from the
 * stored report if the owner has uploaded the document before, else by a helper. Documents get new uuids. */
sr_error_t *sr_uploads_check(const sr_service_t *service, sr_preflight_t *preflight, const sr_create_t *request,
                             apr_pool_t *pool);
/* Begins the preflight with documents that are stored (sr_document_state_t). */
sr_error_t *sr_uploads_stored(const sr_service_t *service, sr_preflight_t *preflight,
                              const apr_array_header_t *documents, const sr_create_t *request, apr_pool_t *pool);
/* Stores every file that is not stored yet durably under a reserved key, with its report. `contents` must be empty,
 * and then has all contents of the creation. */
sr_error_t *sr_uploads_commit(const sr_service_t *service, apr_array_header_t *contents,
                              const sr_preflight_t *preflight, const sr_create_t *request, apr_pool_t *pool);
/* To be called after SR_STALE: all files whose content is available count as not stored, and no cached key is used. */
sr_error_t *sr_uploads_stale(const sr_service_t *service, const sr_preflight_t *preflight, const sr_create_t *request,
                             apr_pool_t *pool);
/* After a refusal: removes the reports of files that were not known before. `sigreqctl gc` removes the files,
 * because another creation may be about to refer to them. */
void sr_uploads_forget(const sr_preflight_t *preflight, const sr_create_t *request, apr_pool_t *pool);
/* Frees the rewritten documents. The caller frees the uploads. */
void sr_uploads_drop(const sr_preflight_t *preflight);

#endif
