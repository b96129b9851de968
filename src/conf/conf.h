/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: reads the directives of the module into the settings (settings.h), and checks them. */
#ifndef SR_CONF_CONF_H
#define SR_CONF_CONF_H

#include <httpd.h>
#include <http_config.h>

#include "settings/settings.h"

extern const command_rec sr_conf_commands[];
void *sr_conf_create_location(apr_pool_t *pool, char *section);
void *sr_conf_merge_location(apr_pool_t *pool, void *base, void *over);
void *sr_conf_create_process(apr_pool_t *pool, server_rec *server);

const sr_settings_t *sr_conf_of_request(const request_rec *r);
const sr_process_settings_t *sr_conf_of_process(server_rec *server);
/* values.c: returns the folder of "maildir:/folder", or NULL for another value. */
const char *sr_conf_maildir(const char *smtp);
/* Returns true if "Sigreq On" applies in this server, or in the main server for all. */
bool sr_conf_serves(const server_rec *server, const server_rec *main_server);

/* rates.c: adds limits ("token=100/s link=20/s") to `rates`. Returns NULL, or a text that describes the expected
 * values. */
typedef enum sr_conf_limited_t { SR_CONF_REQUESTS, SR_CONF_INVITATIONS } sr_conf_limited_t;
const char *sr_conf_read_rates(apr_pool_t *pool, sr_rates_t *rates, sr_conf_limited_t what, const char *text);
/* Replaces limits in `merged` by those that an inner section gives. */
void sr_conf_merge_rates(sr_rates_t *merged, const sr_rates_t *over);

/* retention.c: adds "ENVIRONMENT OUTCOME=TIME…". Returns NULL, or a text that describes the fault. */
const char *sr_conf_read_retention(apr_pool_t *pool, sr_retention_t *retention, const char *text);

/* databases.c: returns the servers (server_rec *) that have a database of their own which the service uses: virtual
 * hosts, and the main server, whose database is used by all other servers. For child_init. */
const apr_array_header_t *sr_conf_databases(apr_pool_t *pool, server_rec *main_server);

/* Returns how many connections a child may have to the database of a server (DBDMax). */
int sr_conf_connections(apr_pool_t *pool, const server_rec *server, const server_rec *main_server);
/* Returns how many all children together may have. A child uses one for each thread, one for the job thread, and one
 * for the watch. */
int sr_conf_all_connections(apr_pool_t *pool, const server_rec *server, const server_rec *main_server);

/* Returns the number of sections with "Sigreq On", and the configuration that one of them has in a server; NULL if that
 * section does not apply to the server. */
int sr_conf_sections(void);
const sr_settings_t *sr_conf_section(apr_pool_t *pool, int section, server_rec *server, const server_rec *main_server);
/* Returns the configuration of a section in its own server, and its file:line. */
const sr_settings_t *sr_conf_section_place(const char **where, apr_pool_t *pool, int section);
/* sharing.c: a documents folder that a server uses with a database. */
typedef struct sr_conf_use_t {
    const char *documents;
    const char *also;            /* SigreqDocumentsAlso, or "" */
    const char *driver, *params; /* of mod_dbd; "" if they are not given */
    int connections;             /* how many all children together may open (DBDMax of each) */
    const char *database;        /* a text that is equal for equal databases */
    const char *shown;           /* the database for the log, without a password */
    const char *where;           /* "the main server" or "the virtual host at FILE:LINE" */
} sr_conf_use_t;
/* Returns all uses (sr_conf_use_t). A folder and a database may be in several. */
const apr_array_header_t *sr_conf_uses(apr_pool_t *pool, server_rec *main_server);
/* Returns the argument of a directive of mod_dbd in a server, "" if it is not given. */
const char *sr_conf_setting(apr_pool_t *pool, const server_rec *server, const server_rec *main_server,
                            const char *name);
/* Returns the documents folders (const char *) that are used with the database of a server. */
const apr_array_header_t *sr_conf_folders(apr_pool_t *pool, server_rec *server, server_rec *main_server);
/* The same as sr_conf_check, for folders that servers share. */
int sr_conf_check_sharing(apr_pool_t *ptemp, server_rec *main_server);
/* protected.c: the same for a desk that no login protects. */
int sr_conf_check_desk(apr_pool_t *ptemp, server_rec *main_server);
/* Returns the directives of a virtual host, or NULL. */
const ap_directive_t *sr_conf_content(const server_rec *server);
/* dump.c: returns true if httpd was started to print its configuration for sigreqctl, and prints it. */
bool sr_conf_is_dump(void);
void sr_conf_dump(apr_pool_t *pool, server_rec *main_server);
/* writable.c: returns true if httpd's user can write to a folder. */
bool sr_conf_can_write(const char *folder);
/* Returns true if httpd was started by root and its user can read a file that only root should read. */
bool sr_conf_is_exposed(const char *file);
/* Gives the calling process the rights of httpd's user, if it is root's. For a process that was forked for this.
 * Returns false if that is not possible. */
bool sr_conf_become_user(void);
/* usable.c: logs which folders and programs of the configuration cannot be used at present, and what is probably a
 * mistake. */
void sr_conf_check_files(apr_pool_t *ptemp, server_rec *main_server);

/* Returns true for `httpd -t`, and when httpd reads its configuration for the first time: messages reach the terminal.
 */
bool sr_conf_is_rehearsal(void);
/* Returns a level for ap_log_error: on a terminal the message has no time and no level. */
int sr_conf_level(int level);
/* pre_config: forgets what was found when the configuration was read before. */
void sr_conf_reset(apr_pool_t *pconf);
/* Returns true if there is a "Sigreq On" anywhere. */
bool sr_conf_is_used(void);
/* check_config, which `httpd -t` also runs: checks what the text of the configuration alone shows. Returns OK, or
 * HTTP_INTERNAL_SERVER_ERROR after one message in the log per fault. */
int sr_conf_check(apr_pool_t *ptemp, server_rec *main_server);

#endif
