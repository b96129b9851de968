/* SPDX-License-Identifier: Apache-2.0 */
/* judged.h: the request "check" and its response, in which a worker reports on signatures. Private to src/verify. */
#ifndef SR_VERIFY_JUDGED_H
#define SR_VERIFY_JUDGED_H

#include "verify/verify.h"

/* Asks a new worker, which reads nothing else, for the results of sr_cms_check_all. `signatures` is an array of
 * {"der":base64,"length":n,"covers":n,"refuted":true}, and `proofs` one of {"kind":"ocsp","at":n,"der":base64}, or
 * NULL. `results` has room for one result each. If the request kills the worker or takes too long, each result is
 * SR_CMS_UNCHECKED. */
sr_error_t *sr_cms_ask(sr_cms_result_t *results, sr_pdf_pool_t *workers, const json_t *signatures, const json_t *proofs,
                       const sr_cms_context_t *context, apr_pool_t *pool);

#endif
