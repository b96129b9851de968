/* SPDX-License-Identifier: Apache-2.0 */
/* placed_fields.h: the fields of signers as helpers add them to a document and fill them in. */
#ifndef SR_SERVICE_DOCUMENTS_PLACED_FIELDS_H
#define SR_SERVICE_DOCUMENTS_PLACED_FIELDS_H

#include "service/private.h"

/* Returns the fields (sr_pdf_field_t) of all signers in the document of this name. `pages`: its page boxes, which are
 * needed if some of the fields have values. */
apr_array_header_t *sr_placed_fields(const apr_array_header_t *signers, const char *document, const sr_pages_t *pages,
                                     apr_pool_t *pool);
/* Returns how a field shows its value. Without `pages`, the page is not rotated. */
sr_pdf_value_t sr_placed_value(const sr_field_t *field, const sr_pages_t *pages);
/* Returns true if a signer has a field with a value in the document. */
bool sr_placed_entries(const apr_array_header_t *signers, const char *document);
/* Has the values of a signer's fields in a document drawn (sr_entry_t.content) by a worker that reads no document of a
 * caller. Adds a fault (sr_entry_fault_t) for each value that does not fit. `owner`: see sr_owner_of. Errors:
 * SR_EUNAVAILABLE. */
sr_error_t *sr_placed_draw(apr_array_header_t *faults, const sr_service_t *service, const char *owner,
                           const sr_signer_t *signer, const char *document, const sr_pages_t *pages, apr_pool_t *pool);

#endif
