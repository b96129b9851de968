/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: the rows of directives.def and the parsers of their values, for the files of this folder. */
#ifndef SR_CONF_PRIVATE_H
#define SR_CONF_PRIVATE_H

#include "conf/conf.h"

typedef enum sr_conf_kind_t {
    SWITCH,
    DESK,
    PATH,
    KEY,
    PIN,
    DOCUMENTS,
    ENDPOINT,
    NAME,
    URL,
    LINK,
    ANCESTORS,
    EXPRESSION,
    ORIGIN,
    ACTIVE,
    SIZE,
    NUMBER,
    TIME,
    TIMES,
    TIMESTAMPS,
    STAMPING,
    LONG_TERM,
    PROXY,
    CALLED,
    AGE,
    REDIRECTS,
    RANGES,
    RATES,
    MAIL_RATES,
    RETENTION,
    SMTP,
    MAILBOX
} sr_conf_kind_t;
typedef enum sr_conf_scope_t { LOCATION, PROCESS } sr_conf_scope_t;

typedef struct sr_conf_row_t {
    const char *name;
    sr_conf_scope_t scope;
    sr_conf_kind_t kind;
    size_t offset;
    const char *default_text;
    apr_int64_t min, max;
} sr_conf_row_t;

/* values.c: parses the value of a directive into the field at `slot`. Returns NULL, or a text that describes the
 * expected values. */
const char *sr_conf_read(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot);
/* storage.c: the same for one kind each. */
const char *sr_conf_read_documents(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot);
const char *sr_conf_read_endpoint(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot);
const char *sr_conf_read_name(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot);
/* Returns the size of a field of this kind. */
size_t sr_conf_size(sr_conf_kind_t kind);

#endif
