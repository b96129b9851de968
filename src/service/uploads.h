/* SPDX-License-Identifier: Apache-2.0 */
/* uploads.h: the documents of a creation, for create.c. */
#ifndef SR_UPLOADS_H
#define SR_UPLOADS_H

#include "service/contents.h"
#include "service/preflight.h"

/* Begins the intake: checks the uploaded files and gives them page boxes, from the report stored beside the document
 * when it was seen before, else from the PDF helper. Documents get fresh uuids. */
sr_error_t *sr_uploads_check(const sr_service_t *service, sr_intake_t *intake, const sr_create_t *request,
                             apr_pool_t *pool);
/* Makes every file that is not stored durable under a key that is reserved for it, its report beside it. `contents`,
 * which is empty, then has all contents that the creation names. */
sr_error_t *sr_uploads_commit(const sr_service_t *service, apr_array_header_t *contents, const sr_intake_t *intake,
                              const sr_create_t *request, apr_pool_t *pool);
/* The creation was SR_STALE: all contents that are at hand must be stored again. */
void sr_uploads_stale(const sr_intake_t *intake);
/* After a refusal: removes the reports of files that were not known before. The files are left to gc: another creation
 * may be about to name them. */
void sr_uploads_forget(const sr_intake_t *intake, const sr_create_t *request, apr_pool_t *pool);
/* Lets go of what was rewritten, as the caller does of the uploads. */
void sr_uploads_drop(const sr_intake_t *intake);

#endif
