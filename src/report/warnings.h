/* SPDX-License-Identifier: Apache-2.0 */
/* warnings.h: warnings about a document that can be signed, one row of warnings.def each. Part of model.h. A set of
 * warnings is a bit mask. */
#ifndef SR_REPORT_WARNINGS_H
#define SR_REPORT_WARNINGS_H

#include "base/base.h"

typedef enum sr_warning_t {
#define SR_WARNING(id, name, active, sentence) SR_WARNING_##id,
#include "report/warnings.def"
#undef SR_WARNING
    SR_WARNING_COUNT
} sr_warning_t;
#define SR_WARNING_BIT(warning) (1u << (warning))

typedef struct sr_warning_row_t {
    const char *name; /* for programs */
    bool active;      /* `SigreqActiveContent refuse` refuses documents with this warning */
    const char *sentence;
} sr_warning_row_t;
const sr_warning_row_t *sr_warning(sr_warning_t warning);
/* Return the names or the sentences of a set as a JSON array, in the order of the table. New references. */
json_t *sr_warnings_names(unsigned int set);
json_t *sr_warnings_sentences(unsigned int set);
/* Reads an array of names. NULL is the empty set. Returns false for anything else. */
bool sr_warnings_parse(unsigned int *set, const json_t *names);
/* Returns the name of a sentence, or NULL for a sentence of another version. */
const char *sr_warning_named(const char *sentence);
/* Returns the reason why `SigreqActiveContent refuse` refuses a document, as the end of a sentence after "cannot be
 * signed: ". NULL: it is not refused. */
const char *sr_warnings_refusal(unsigned int set, apr_pool_t *pool);

#endif
