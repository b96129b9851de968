/* SPDX-License-Identifier: Apache-2.0 */
/* checked.h: the request "check" and its answer: what a worker says of signatures. Private to src/pdf. */
#ifndef SR_PDF_CHECKED_H
#define SR_PDF_CHECKED_H

#include "pdf/pdf.h"

/* Asks a worker of its own, which reads nothing else, for the results of sr_cms_check. `signatures` is an array of the
 * DER of each in base64. If it kills or outlasts the worker, each is SR_CMS_UNCHECKED. */
sr_error_t *sr_cms_ask(sr_cms_result_t *results, sr_pdf_pool_t *workers, const json_t *signatures,
                       const sr_cms_context_t *context, apr_pool_t *pool);

#endif
