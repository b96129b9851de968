/* SPDX-License-Identifier: Apache-2.0 */
/* form.h: the form of a document that is stored already. Part of service.h. */
#ifndef SR_SERVICE_FORM_H
#define SR_SERVICE_FORM_H

#include "service/service.h"

/* describe.c: lists the fields of the form of a document (uuid) as sr_service_inspect does. *answer is {"fields"}, a
 * new reference. sr_service_signing_boxes saves work before. Errors: SR_ENOTFOUND if the submission has no such
 * document. */
sr_error_t *sr_service_form(const sr_service_t *service, json_t **answer, const sr_signing_t *signing,
                            const char *document, apr_pool_t *pool);

#endif
