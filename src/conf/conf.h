/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: the module's configuration. directives.def is the one place where a directive is described. */
#ifndef SR_CONF_H
#define SR_CONF_H

#include <httpd.h>
#include <http_config.h>

#include "model/model.h"

typedef int sr_conf_SWITCH;
typedef const char *sr_conf_PATH;      /* absolute, or "" */
typedef const char *sr_conf_SMTP;      /* smtp://…, smtps://… or maildir:/…, or "" */
typedef const char *sr_conf_MAILBOX;   /* "name@host" or "Name <name@host>", or "" */
typedef const char *sr_conf_URL;       /* without a slash at the end, or "" */
typedef const char *sr_conf_LINK;      /* http:// or https://, or "" */
typedef const char *sr_conf_ANCESTORS; /* sources separated by spaces, or "" */
typedef sr_origin_t sr_conf_ORIGIN;
typedef bool sr_conf_ACTIVE;      /* refuse */
typedef apr_int64_t sr_conf_SIZE; /* bytes */
typedef apr_int64_t sr_conf_NUMBER;
typedef apr_int64_t sr_conf_TIME;           /* microseconds */
typedef apr_int64_t sr_conf_AGE;            /* microseconds, or 0: none */
typedef apr_array_header_t *sr_conf_RANGES; /* apr_ipsubnet_t * */
typedef sr_rates_t sr_conf_RATES;
typedef sr_rates_t sr_conf_MAIL_RATES;

#define SR_FIELDS_OF(wanted, scope, kind, field) SR_FIELDS_##wanted##_##scope(kind, field)
#define SR_FIELDS_LOCATION_LOCATION(kind, field) sr_conf_##kind field;
#define SR_FIELDS_LOCATION_PROCESS(kind, field)
#define SR_FIELDS_PROCESS_PROCESS(kind, field) sr_conf_##kind field;
#define SR_FIELDS_PROCESS_LOCATION(kind, field)

/* What holds at one place of the URL space (httpd's per-directory configuration). Every field has a value, its
 * default where nothing was said; `set` has a bit for each directive that was given. */
typedef struct sr_conf_t {
    apr_uint64_t set;
    const char *location; /* path where Sigreq was given last, "" for "/"; NULL where it never was */
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help) SR_FIELDS_OF(LOCATION, scope, kind, field)
#include "conf/directives.def"
#undef SR_DIRECTIVE
} sr_conf_t;

/* What holds for the whole process (the main server's configuration). */
typedef struct sr_conf_process_t {
    apr_uint64_t set;
#define SR_DIRECTIVE(scope, kind, name, field, def, min, max, help) SR_FIELDS_OF(PROCESS, scope, kind, field)
#include "conf/directives.def"
#undef SR_DIRECTIVE
} sr_conf_process_t;

extern const command_rec sr_conf_commands[];
void *sr_conf_create_location(apr_pool_t *pool, char *section);
void *sr_conf_merge_location(apr_pool_t *pool, void *base, void *over);
void *sr_conf_create_process(apr_pool_t *pool, server_rec *server);

const sr_conf_t *sr_conf_of_request(const request_rec *r);
const sr_conf_process_t *sr_conf_of_process(server_rec *server);
/* The folder of "maildir:/folder", or NULL. */
const char *sr_conf_maildir(const char *smtp);
/* Whether "Sigreq On" stands in that server, or in the main one for all. */
bool sr_conf_serves(const server_rec *server, const server_rec *main_server);

/* rates.c: adds values ("token=100/s link=20/s") to what is there: NULL, or what is wanted. */
typedef enum sr_conf_limited_t { SR_CONF_REQUESTS, SR_CONF_INVITATIONS } sr_conf_limited_t;
const char *sr_conf_read_rates(apr_pool_t *pool, sr_rates_t *rates, sr_conf_limited_t what, const char *text);
/* Lays an inner section's limits over those around it. */
void sr_conf_merge_rates(sr_rates_t *merged, const sr_rates_t *over);

/* databases.c: the servers (server_rec *) with a database of their own that a service uses: virtual hosts, and the main
 * server, whose database is that of all others. For child_init. */
const apr_array_header_t *sr_conf_databases(apr_pool_t *pool, server_rec *main_server);

/* How many sections say "Sigreq On", and the folder of documents that one of them has for a server; NULL if it does not
 * serve it. */
int sr_conf_sections(void);
const char *sr_conf_documents(apr_pool_t *pool, int section, server_rec *server, const server_rec *main_server);
/* sharing.c: a part of sr_conf_check. */
int sr_conf_check_sharing(apr_pool_t *ptemp, server_rec *main_server);
/* writable.c: whether httpd's user can write to a folder. */
bool sr_conf_can_write(const char *folder);
/* A warning for each folder of documents that httpd's user cannot write to. */
void sr_conf_warn_of_documents(apr_pool_t *ptemp, server_rec *main_server);

/* pre_config: forgets what an earlier reading of the configuration found. */
void sr_conf_reset(apr_pool_t *pconf);
/* Whether "Sigreq On" stands anywhere. */
bool sr_conf_is_used(void);
/* check_config, which `httpd -t` runs too: OK, or HTTP_INTERNAL_SERVER_ERROR after one line per fault. */
int sr_conf_check(apr_pool_t *ptemp, server_rec *main_server);

#endif
