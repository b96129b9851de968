/* SPDX-License-Identifier: Apache-2.0 */
/* database.c: sigreqctl db: creates and upgrades the tables, shows their version, and copies them. */
#include "ctl/ctl.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The bytes of an SQLite file that its processes lock. */
#define LOCKS 0x40000000
#define LOCK_COUNT 512

static const char *const columns[] = {"driver", "version", "latest", "current", "problem", "risk", NULL};

sr_error_t *ctl_database_risk(ctl_t *ctl, const sr_installation_row_t **row, const char **risk)
{
    sr_outcome_t outcome;
    SR_TRY(sr_store_ping(ctl->database, &outcome, row, ctl->database->servers, ctl->pool));
    const int connections = (int)(*row)->connections;
    const int needed = ctl->given[OPTION_CONNECTIONS] ? (int)apr_atoi64(ctl->values[OPTION_CONNECTIONS]) : 0;
    *risk = (*row)->risk;
    if (!*risk && connections && connections < needed + SR_SPARE_CONNECTIONS)
        *risk = apr_psprintf(ctl->pool, "it accepts %d connections, and httpd may open %d: set max_connections to %d",
                             connections, needed, needed + SR_SPARE_CONNECTIONS);
    return NULL;
}

static sr_error_t *add_risk(json_t *report, ctl_t *ctl)
{
    const sr_installation_row_t *row;
    const char *risk;
    SR_TRY(ctl_use_store(ctl));
    SR_TRY(ctl_database_risk(ctl, &row, &risk));
    if (risk) json_object_set_new(report, "risk", json_string(risk));
    return NULL;
}

/* Prints the current state of the schema. */
static sr_error_t *database_answer(ctl_t *ctl, json_t *applied)
{
    sr_schema_t schema;
    sr_error_t *error = sr_schema_read(&schema, ctl->driver, ctl->handle, ctl->pool);
    if (error) {
        json_decref(applied);
        return error;
    }
    json_t *report = json_object();
    json_object_set_new(report, "driver", json_string(apr_dbd_name(ctl->driver)));
    json_object_set_new(report, "version", json_integer(schema.version));
    json_object_set_new(report, "latest", json_integer(schema.latest));
    json_object_set_new(report, "current", json_boolean(!schema.problem));
    if (schema.problem) json_object_set_new(report, "problem", json_string(schema.problem));
    if (applied) json_object_set_new(report, "applied", applied);
    if (schema.problem) ctl->status = CTL_FAILED;
    else error = add_risk(report, ctl);
    if (error) json_decref(report);
    else ctl_print(ctl, report, columns);
    return error;
}

/* Runs init and upgrade: applies all missing migrations and the definitions of this build, in one transaction. */
sr_error_t *ctl_db_init(ctl_t *ctl)
{
    apr_array_header_t *applied;
    bool defined;
    SR_TRY(ctl_connect(ctl, true));
    SR_TRY(sr_schema_upgrade(&applied, &defined, ctl->driver, ctl->handle, ctl->pool));
    json_t *names = json_array();
    for (int i = 0; i < applied->nelts; i++) {
        const sr_migration_t *migration = APR_ARRAY_IDX(applied, i, const sr_migration_t *);
        json_array_append_new(names, json_sprintf("%d %s", migration->version, migration->name));
    }
    if (defined) json_array_append_new(names, json_string("functions and views"));
    return database_answer(ctl, names);
}

sr_error_t *ctl_db_status(ctl_t *ctl)
{
    SR_TRY(ctl_connect(ctl, false));
    return database_answer(ctl, NULL);
}

/* Refuses an SQLite file that another process uses. httpd keeps a lock for reading on it. To be called before this
 * process uses the file, because closing a descriptor releases all of its locks. */
static sr_error_t *check_unused(ctl_t *ctl, const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKS, .l_len = LOCK_COUNT};
    const int file = open(path, O_RDWR | O_CLOEXEC);
    const bool known = file >= 0 && fcntl(file, F_GETLK, &lock) == 0;
    const int why = errno;
    if (file >= 0) close(file);
    if (!known) return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s", path, strerror(why));
    if (lock.l_type == F_UNLCK) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT, "the process %d uses %s: stop httpd, and repeat this command",
                    (int)lock.l_pid, path);
}

/* Connects to the new database with the rights of the caller, who may read a file with its password. */
static sr_error_t *connect_target(ctl_t **target, ctl_t *ctl)
{
    ctl_t *to = apr_pmemdup(ctl->pool, ctl, sizeof *ctl);
    ctl_rights_t owner;
    to->given[OPTION_CONFIG] = false;
    to->given[OPTION_DRIVER] = to->given[OPTION_PARAMS] = true;
    to->values[OPTION_DRIVER] = ctl->values[OPTION_TO_DRIVER];
    to->values[OPTION_PARAMS] = ctl->values[OPTION_TO_PARAMS];
    SR_TRY(ctl_be_caller(ctl, &owner));
    sr_error_t *error = ctl_connect(to, false);
    SR_TRY(ctl_be_owner_again(ctl, &owner));
    *target = to;
    return error;
}

sr_error_t *ctl_db_copy(ctl_t *ctl)
{
    static const char *const copied[] = {"table", "rows", NULL};
    json_t *report = sr_json_own(json_array(), ctl->pool);
    ctl_t *to;
    SR_TRY(ctl_connect(ctl, false));
    if (strcmp(ctl->values[OPTION_DRIVER], "sqlite3") != 0)
        return sr_error(ctl->pool, SR_EBADREQUEST, "only an SQLite database can be copied, and this one is %s",
                        ctl->values[OPTION_DRIVER]);
    SR_TRY(check_unused(ctl, ctl->values[OPTION_PARAMS]));
    SR_TRY(connect_target(&to, ctl));
    SR_TRY(sr_schema_import(report, ctl->driver, ctl->handle, to->driver, to->handle, ctl->pool));
    ctl_print(ctl, json_incref(report), copied);
    return NULL;
}

sr_error_t *ctl_config(ctl_t *ctl)
{
    const char *text;
    SR_TRY(ctl_config_text(ctl, &text));
    if (!text) return sr_error(ctl->pool, SR_EBADREQUEST, "there is no configuration: give --config FILE");
    printf("%s", text);
    ctl->status = strstr(text, "DBDParams") ? CTL_DONE : CTL_FAILED;
    return NULL;
}
