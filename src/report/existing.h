/* SPDX-License-Identifier: Apache-2.0 */
/* existing.h: the signature fields that an uploaded document contains already. Part of model.h.
 *
 * A field is identified by its fully qualified name (ISO 32000-2, 12.7.4.2). In a report it is
 * {"name":"Tenant","page":0,"rect":[x0,y0,x1,y1],"seed":true}; "seed" is present only if the field has preferences
 * (SV) that this service does not follow. A field that cannot be signed is {"name":"Tenant","fault":"signed"}. */
#ifndef SR_REPORT_EXISTING_H
#define SR_REPORT_EXISTING_H

#include "base/base.h"

typedef enum sr_existing_fault_t {
#define SR_EXISTING(id, name, sentence) SR_EXISTING_##id,
#include "report/existing.def"
#undef SR_EXISTING
    SR_EXISTING_COUNT
} sr_existing_fault_t;

#define SR_EXISTING_MAX 500      /* the number of fields of a document that a report lists, at most */
#define SR_EXISTING_MAX_NAME 500 /* bytes; a field with a longer name is not listed */
typedef struct sr_existing_t {
    const char *name;
    sr_existing_fault_t fault; /* SR_EXISTING_EMPTY: it can be signed, and the members below are set */
    int page;                  /* 0-based */
    double rect[4];            /* x0 y0 x1 y1 in user space, x0 < x1, y0 < y1 */
    bool seed;
} sr_existing_t;

const char *sr_existing_sentence(sr_existing_fault_t fault); /* existing.def */
/* Reads the list of a report of a document with so many pages. `list` may be NULL. Returns false if the list is
 * malformed. */
bool sr_existing_parse(const apr_array_header_t **fields, const json_t *list, int pages, apr_pool_t *pool);
/* Returns a field as a report lists it. New reference. */
json_t *sr_existing_json(const sr_existing_t *field);
/* Returns the field with this name, or NULL. */
const sr_existing_t *sr_existing_find(const apr_array_header_t *fields, const char *name);

#endif
