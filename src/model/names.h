/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: words that stand in columns and answers (names.def). Each list ends with NULL. */
#ifndef SR_MODEL_NAMES_H
#define SR_MODEL_NAMES_H

#include "base/base.h"

extern const char *const sr_status_names[];
extern const char *const sr_notice_names[];

/* SR_EBADREQUEST "LABEL must be a, b or c" for another name. NULL is accepted. */
sr_error_t *sr_name_expect(const char *const *names, const char *name, const char *label, apr_pool_t *pool);

#endif
