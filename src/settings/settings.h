/* SPDX-License-Identifier: Apache-2.0 */
/* settings.h: the settings of the module, a member for each directive. directives.def describes each directive, and the
 * types below are the types of their values. src/conf reads them from httpd's configuration. Everybody else only reads
 * them here. */
#ifndef SR_SETTINGS_SETTINGS_H
#define SR_SETTINGS_SETTINGS_H

#include "model/model.h"

typedef int sr_setting_SWITCH;
typedef enum sr_setting_DESK { SR_DESK_OFF, SR_DESK_ON, SR_DESK_READ_ONLY } sr_setting_DESK;
typedef const char *sr_setting_PATH;      /* absolute, or "" */
typedef const char *sr_setting_KEY;       /* the same, or pkcs11:… */
typedef const char *sr_setting_PIN;       /* an absolute path, or "" */
typedef const char *sr_setting_DOCUMENTS; /* a path, or s3://bucket/prefix/, or "" */
typedef const char *sr_setting_NAME;
typedef struct sr_setting_ENDPOINT {
    const char *url; /* or "" */
    bool virtual_host;
} sr_setting_ENDPOINT;
typedef const char *sr_setting_SMTP;       /* smtp://…, smtps://… or maildir:/…, or "" */
typedef const char *sr_setting_MAILBOX;    /* "name@host" or "Name <name@host>", or "" */
typedef const char *sr_setting_PROXY;      /* http:// or https://, perhaps with user and password, or "" */
typedef const char *sr_setting_CALLED;     /* https://, or http:// and this host; or "" */
typedef const char *sr_setting_URL;        /* without a slash at the end, or "" */
typedef const char *sr_setting_LINK;       /* http:// or https://, or "" */
typedef const char *sr_setting_ANCESTORS;  /* sources separated by spaces, or "" */
typedef const void *sr_setting_EXPRESSION; /* ap_expr_info_t *, whose result is a string */
typedef sr_origin_t sr_setting_ORIGIN;
typedef bool sr_setting_ACTIVE;   /* true for "refuse" */
typedef bool sr_setting_STAMPING; /* true for "require" */
typedef enum sr_setting_LONG_TERM { SR_LONG_TERM_OFF, SR_LONG_TERM_LT, SR_LONG_TERM_LTA } sr_setting_LONG_TERM;
typedef apr_int64_t sr_setting_SIZE; /* bytes */
typedef int sr_setting_NUMBER;
typedef apr_int64_t sr_setting_TIME; /* microseconds */
typedef struct sr_setting_TIMES {
    apr_int64_t each, all; /* microseconds */
} sr_setting_TIMES;
typedef apr_array_header_t *sr_setting_TIMESTAMPS; /* const char *: URLs, at most this many */
#define SR_SETTING_TIMESTAMPS_MOST 8
typedef apr_array_header_t *sr_setting_REDIRECTS; /* const char *: origins */
typedef apr_int64_t sr_setting_AGE;               /* microseconds, or 0: none */
typedef apr_array_header_t *sr_setting_RANGES;    /* apr_ipsubnet_t * */
typedef sr_rates_t sr_setting_RATES;
typedef sr_rates_t sr_setting_MAIL_RATES;
typedef sr_retention_t sr_setting_RETENTION;

#define SR_FIELDS_OF(wanted, scope, kind, field) SR_FIELDS_##wanted##_##scope(kind, field)
#define SR_FIELDS_LOCATION_LOCATION(kind, field) sr_setting_##kind field;
#define SR_FIELDS_LOCATION_PROCESS(kind, field)
#define SR_FIELDS_PROCESS_PROCESS(kind, field) sr_setting_##kind field;
#define SR_FIELDS_PROCESS_LOCATION(kind, field)

/* The configuration of one location (httpd's per-directory configuration). Every field has a value, by default that
 * of directives.def. `set` has a bit for each directive that was given. */
typedef struct sr_settings_t {
    apr_uint64_t set;
    const char *location; /* path of the section with the last "Sigreq", "" for "/"; NULL: none */
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help) SR_FIELDS_OF(LOCATION, scope, kind, field)
#include "settings/directives.def"
#undef SR_DIRECTIVE
} sr_settings_t;

/* The configuration of the whole process (of the main server). */
typedef struct sr_process_settings_t {
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help) SR_FIELDS_OF(PROCESS, scope, kind, field)
#include "settings/directives.def"
#undef SR_DIRECTIVE
} sr_process_settings_t;

#endif
