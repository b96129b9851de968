/* SPDX-License-Identifier: Apache-2.0 */
/* templates.h: the templates of submissions, as a creation reads them. */
#ifndef SR_SERVICE_SUBMISSIONS_TEMPLATES_H
#define SR_SERVICE_SUBMISSIONS_TEMPLATES_H

#include "service/private.h"

typedef struct sr_template_record_t {
    const char *uuid;              /* NULL: there is no such template in the caller's scope */
    bool deleted;                  /* submissions cannot be made from it any more */
    apr_array_header_t *documents; /* sr_document_state_t */
    const json_t *row, *roles;     /* SR_OP_TEMPLATE_GET, and the fields in it */
} sr_template_record_t;
/* Reads the template with this uuid, which may be any text. */
sr_error_t *sr_template_read(sr_template_record_t *record, const sr_service_t *service, const char *token_hash,
                             const char *uuid, apr_pool_t *pool);
/* Returns the SR_EBADREQUEST of a creation from a template that it cannot have, for whatever reason. */
sr_error_t *sr_template_unknown(const char *uuid, apr_pool_t *pool);

#endif
