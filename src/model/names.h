/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: words in database columns and in responses (names.def). Each list ends with NULL. */
#ifndef SR_MODEL_NAMES_H
#define SR_MODEL_NAMES_H

#include "base/base.h"

extern const char *const sr_status_names[];
extern const char *const sr_filter_names[];
extern const char *const sr_notice_names[];

/* Returns true if a name is in a list. */
bool sr_name_is(const char *const *names, const char *name);

/* Checks that a name is in a list. NULL is accepted. Errors: SR_EBADREQUEST with "LABEL must be a, b or c". */
sr_error_t *sr_name_expect(const char *const *names, const char *name, const char *label, apr_pool_t *pool);

#endif
