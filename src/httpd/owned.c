/* SPDX-License-Identifier: Apache-2.0 */
/* owned.c: asks each database, before httpd serves, whether the documents folders that are used with it belong to it
 * (blobs/binding.c), and whether it keeps what it has committed. mod_dbd has connections only in children, so a forked
 * process with the rights of httpd's user connects by apr_dbd, as children will. No connection, and no file that SQLite
 * makes for root, is left in the parent, and the process is killed if the database does not answer in time. */
#include <apr_dbd.h>
#include <mod_dbd.h>

#include <apr_hash.h>
#include <errno.h>
#include <fcntl.h>
#include <http_core.h>
#include <http_log.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blobs/blobs.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define PATIENCE_SECONDS 5
#define TEXT_MOST ((apr_size_t)64 << 10)
#define FOREIGN 'F' /* the first byte of a line about a folder of another database */
#define UNKNOWN 'U' /* of a line about something that could not be found out */
#define RISK 'R'    /* of a line about a database that can lose committed data */
#define FEW 'C'     /* of a line about a database that accepts too few connections */
#define CLOCK 'T'   /* of a line about a database whose clock differs */
#define CLOCKS_DIFFER apr_time_from_sec(5)
#define COMPLETE "." /* the last line */

/* A database, its folders, and the process that asks it. */
typedef struct ask_t {
    server_rec *main_server;
    const sr_conf_use_t *use;
    apr_array_header_t *folders; /* const char * */
    pid_t pid;                   /* -1: there is none */
    int output;
} ask_t;

/* -------------------------------------------------------------------------------------- in the forked process */

static const char *owned_text_of(const sr_error_t *error, apr_pool_t *pool)
{
    const char *text = error->cause ? error->cause : error->message;
    return apr_pstrmemdup(pool, text, strcspn(text, "\r\n"));
}

/* Sets *row to what the database says of itself. Returns why that is not possible, or NULL. */
static const char *ask_database(const sr_installation_row_t **row, const sr_conf_use_t *use, apr_pool_t *pool)
{
    ap_dbd_t *connection = apr_pcalloc(pool, sizeof *connection);
    sr_store_t *store;
    sr_outcome_t outcome;
    const char *why = sr_run_database_open(connection, use->driver, use->params, pool);
    if (why) return why;
    sr_error_t *error =
        sr_store_open(&store, connection->driver, connection->handle, apr_hash_make(pool), pool, NULL, pool);
    if (!error)
        error = sr_store_ping(sr_store_source(store, pool), &outcome, row, sr_store_servers(use->driver, use->params),
                              pool);
    return error ? owned_text_of(error, pool) : NULL;
}

/* Returns the lines about the database itself. */
static const char *owned_judge(const sr_installation_row_t *row, const sr_conf_use_t *use, apr_pool_t *pool)
{
    const apr_interval_time_t behind = row->clock ? sr_time_now() - row->clock : 0;
    const int needed = use->connections + SR_SPARE_CONNECTIONS;
    const char *lines = "";
    if (row->risk)
        lines = apr_psprintf(pool, "%cthe database of %s (%s) can lose committed data: %s\n", RISK, use->where,
                             use->shown, row->risk);
    if (row->connections && row->connections < needed)
        lines = apr_psprintf(pool,
                             "%s%cthe database of %s (%s) accepts %d connections, and httpd's children may open %d: "
                             "set max_connections of PostgreSQL to %d or more, or lower MaxRequestWorkers\n",
                             lines, FEW, use->where, use->shown, (int)row->connections, use->connections, needed);
    if (behind > CLOCKS_DIFFER || behind < -CLOCKS_DIFFER)
        lines = apr_psprintf(pool,
                             "%s%cthe clocks of this host and of the database of %s (%s) differ by %d s: "
                             "events get the time of this host, deadlines the time of the database\n",
                             lines, CLOCK, use->where, use->shown, (int)apr_time_sec(behind < 0 ? -behind : behind));
    return lines;
}

/* Returns a line about a folder, or "" if it belongs to the database or to none, or is no folder (conf/usable.c). */
static const char *owned_compare(const char *folder, const char *uuid, const ask_t *ask, apr_pool_t *pool)
{
    const char *bound = NULL, *own;
    sr_blobs_t *blobs;
    struct stat status;
    if (*folder == '/' && (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode))) return "";
    sr_error_t *error = sr_run_documents(&blobs, folder, ask->main_server, pool);
    if (!error) error = sr_blobs_binding_refresh(blobs, pool);
    if (!error) error = sr_blobs_binding(&bound, &own, blobs, pool);
    if (error)
        return apr_psprintf(pool, "%ccannot find out to which database SigreqDocuments %s belongs: %s\n", UNKNOWN,
                            folder, owned_text_of(error, pool));
    if (!bound || !strcasecmp(bound, uuid)) return "";
    return apr_psprintf(pool,
                        "%cSigreqDocuments %s belongs to the database %s, but the database of %s (%s) is %s: give each "
                        "database its own SigreqDocuments, or, if the folder was moved to this database, run: "
                        "sigreqctl documents adopt. Nothing is stored there until then (503)\n",
                        FOREIGN, folder, bound, ask->use->where, ask->use->shown, uuid);
}

/* Returns all lines about a database. */
static const char *owned_examine(const ask_t *ask, apr_pool_t *parent)
{
    const sr_installation_row_t *row = NULL;
    const char *lines = "", *why = "cannot change to httpd's user";
    apr_pool_t *pool;
    apr_pool_create(&pool, parent);
    if (sr_conf_become_user()) why = ask_database(&row, ask->use, pool);
    for (int i = 0; !why && i < ask->folders->nelts; i++)
        lines = apr_pstrcat(
            parent, lines, owned_compare(APR_ARRAY_IDX(ask->folders, i, const char *), row->database, ask, pool), NULL);
    if (!why) lines = apr_pstrcat(parent, lines, owned_judge(row, ask->use, pool), NULL);
    if (why)
        lines = apr_psprintf(parent, "%cthe database of %s (%s) cannot be used now: %s\n", UNKNOWN, ask->use->where,
                             ask->use->shown, why);
    apr_pool_destroy(pool); /* closes the connection */
    return apr_pstrcat(parent, lines, COMPLETE, NULL);
}

static void owned_answer(const ask_t *ask, int output, apr_pool_t *pool)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)signal(signals[i], SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    alarm(PATIENCE_SECONDS + 1); /* for a parent that dies meanwhile */
    setenv("PGCONNECT_TIMEOUT", SR_CONNECT_SECONDS, 0);
    const char *text = owned_examine(ask, pool);
    (void)sr_descriptor_write(output, text, strlen(text));
    _exit(0);
}

/* --------------------------------------------------------------------------------------------- in the parent */

static void owned_begin(ask_t *ask, apr_pool_t *pool)
{
    int ends[2];
    ask->pid = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    ask->pid = fork();
    if (ask->pid == 0) owned_answer(ask, ends[1], pool);
    close(ends[1]);
    ask->output = ends[0];
    if (ask->pid < 0) close(ends[0]);
}

/* Returns the lines of a process. */
static char *owned_result_of(const ask_t *ask, apr_time_t until, apr_pool_t *pool)
{
    const char *read = "";
    apr_size_t length = 0;
    if (ask->pid > 0) {
        (void)sr_descriptor_receive(&read, &length, ask->output, TEXT_MOST, until, pool);
        close(ask->output);
        kill(ask->pid, SIGKILL); /* it has ended, or it is late */
        while (waitpid(ask->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    char *text = apr_pstrmemdup(pool, read, length), *end = text + strlen(text);
    if (end > text && end[-1] == *COMPLETE && (end - 1 == text || end[-2] == '\n')) {
        end[-1] = '\0';
        return text;
    }
    return apr_psprintf(pool, "%cthe database of %s (%s) cannot be used now: no answer within %d s\n", UNKNOWN,
                        ask->use->where, ask->use->shown, PATIENCE_SECONDS);
}

static void owned_add_folder(apr_array_header_t *folders, const char *folder)
{
    for (int i = 0; i < folders->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(folders, i, const char *), folder)) return;
    if (*folder) APR_ARRAY_PUSH(folders, const char *) = folder;
}

/* Returns one ask_t for each database, with its folders. */
static apr_array_header_t *asks_of(apr_pool_t *pool, server_rec *main_server)
{
    const apr_array_header_t *uses = sr_conf_uses(pool, main_server);
    apr_array_header_t *asks = apr_array_make(pool, 2, sizeof(ask_t));
    for (int i = 0; i < uses->nelts; i++) {
        const sr_conf_use_t *use = &APR_ARRAY_IDX(uses, i, sr_conf_use_t);
        int at = 0;
        while (at < asks->nelts && strcmp(APR_ARRAY_IDX(asks, at, ask_t).use->database, use->database) != 0) at++;
        if (at == asks->nelts)
            *(ask_t *)apr_array_push(asks) = (ask_t){main_server, use, apr_array_make(pool, 2, sizeof(char *)), -1, -1};
        owned_add_folder(APR_ARRAY_IDX(asks, at, ask_t).folders, use->documents);
        owned_add_folder(APR_ARRAY_IDX(asks, at, ask_t).folders, use->also);
    }
    return asks;
}

static void owned_report(char *lines, server_rec *main_server)
{
    static const struct {
        char kind, tag[9];
    } tags[] = {
        {FOREIGN, "SR0702: "}, {UNKNOWN, "SR0703: "}, {RISK, "SR0704: "}, {FEW, "SR0705: "}, {CLOCK, "SR0706: "}};
    char *rest;
    for (char *line = apr_strtok(lines, "\n", &rest); line; line = apr_strtok(NULL, "\n", &rest)) {
        size_t i = 0;
        while (i + 1 < sizeof tags / sizeof *tags && tags[i].kind != *line) i++;
        ap_log_error(APLOG_MARK, sr_conf_level(*line == FOREIGN ? APLOG_CRIT : APLOG_WARNING), 0, main_server, "%s%s",
                     tags[i].tag, line + 1);
    }
}

void sr_run_owned_check(apr_pool_t *ptemp, server_rec *main_server)
{
    if (!sr_conf_is_used()) return;
    apr_array_header_t *asks = asks_of(ptemp, main_server);
    const apr_time_t until = sr_time_steady() + apr_time_from_sec(PATIENCE_SECONDS);
    for (int i = 0; i < asks->nelts; i++) owned_begin(&APR_ARRAY_IDX(asks, i, ask_t), ptemp); /* all at the same time */
    for (int i = 0; i < asks->nelts; i++)
        owned_report(owned_result_of(&APR_ARRAY_IDX(asks, i, ask_t), until, ptemp), main_server);
}
