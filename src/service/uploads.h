/* uploads.h: the documents of a creation, for create.c. */
#ifndef SR_UPLOADS_H
#define SR_UPLOADS_H

#include "service/service.h"

/* Checks the uploaded files and gives them page boxes, from the report stored beside the document when it was seen
 * before, else from the PDF helper. *documents holds sr_document_t with fresh uuids. */
sr_error_t *sr_uploads_check(const sr_service_t *service, apr_array_header_t **documents, const sr_create_t *request,
                             apr_pool_t *pool);
/* Makes every file that was not stored before durable under its content's name, its report beside it. Under the lock
 * that sr_uploads_check was called under: nothing stored is collected in between. */
sr_error_t *sr_uploads_keep(const apr_array_header_t *documents, const sr_create_t *request);
/* After a refusal: removes those of the files that no submission has. What fails here is left to gc. */
void sr_uploads_take_back(const sr_service_t *service, const sr_create_t *request, apr_pool_t *pool);

#endif
