/* SPDX-License-Identifier: Apache-2.0 */
/* warnings.h: what is said of a document that can be signed, as part of model.h: a row of warnings.def each. A set is a
 * sum of bits.
 */
#ifndef SR_MODEL_WARNINGS_H
#define SR_MODEL_WARNINGS_H

#include "base/base.h"

typedef enum sr_warning_t {
#define SR_WARNING(id, name, active, sentence) SR_WARNING_##id,
#include "model/warnings.def"
#undef SR_WARNING
    SR_WARNING_COUNT
} sr_warning_t;
#define SR_WARNING_BIT(warning) (1u << (warning))

typedef struct sr_warning_row_t {
    const char *name; /* for programs */
    bool active;      /* it is refused where SigreqActiveContent says so */
    const char *sentence;
} sr_warning_row_t;
const sr_warning_row_t *sr_warning(sr_warning_t warning);
/* JSON arrays, in the order of the table. New references. */
json_t *sr_warnings_names(unsigned int set);
json_t *sr_warnings_sentences(unsigned int set);
/* Reads an array of names; NULL is the empty set. False when it is anything else. */
bool sr_warnings_parse(unsigned int *set, const json_t *names);
/* The name that goes with a sentence, or NULL for one of another version. */
const char *sr_warning_named(const char *sentence);
/* Why a document is refused where active content is; NULL: it is not. Goes on after "cannot be signed: ". */
const char *sr_warnings_refusal(unsigned int set, apr_pool_t *pool);

#endif
