/* SPDX-License-Identifier: Apache-2.0 */
/* preview.h: shared by preview.c, fill.c and field_values.c: how a signature is put into a request, and which drawings
 * the signing page may get. Private to src/helper. */
#ifndef SR_HELPER_CLIENT_PREVIEW_H
#define SR_HELPER_CLIENT_PREVIEW_H

#include "helper/pdf.h"

/* Adds "ink", "text" or "image" to the request. */
void sr_pdf_mark_ask(json_t *request, const sr_pdf_mark_t *mark, apr_pool_t *pool);
/* Does the same for a signature, and adds "seal" and "captions" if there are any. */
void sr_pdf_signature_ask(json_t *request, const sr_pdf_signature_t *signature, apr_pool_t *pool);
/* Returns the reason to refuse the signature without asking a worker, or NULL. */
const char *sr_pdf_signature_fault(const sr_pdf_signature_t *signature);
/* Returns true if this is {"width","height","paths"} with paths that only have numbers and path commands. */
bool sr_pdf_has_paths(const json_t *drawing);

#endif
