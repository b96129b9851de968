/* SPDX-License-Identifier: Apache-2.0 */
/* database.c: sigreqctl db: creates and upgrades the tables, and shows their version. */
#include "ctl/ctl.h"
#include "store/schema.h"

#include <string.h>

static const char *const columns[] = {"driver", "version", "latest", "current", "problem", "risk", NULL};

/* Adds why the database can lose committed data, if it can, or that it accepts too few connections for httpd. */
static sr_error_t *add_risk(json_t *report, ctl_t *ctl)
{
    const sr_installation_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(ctl_use_store(ctl));
    SR_TRY(sr_store_ping(ctl->database, &outcome, &row, ctl->database->servers, ctl->pool));
    const apr_int64_t needed = ctl->given[OPTION_CONNECTIONS] ? apr_atoi64(ctl->values[OPTION_CONNECTIONS]) : 0;
    if (row->risk) json_object_set_new(report, "risk", json_string(row->risk));
    else if (row->connections && row->connections < needed + SR_SPARE_CONNECTIONS)
        json_object_set_new(report, "risk",
                            json_sprintf("it accepts %d connections, and httpd may open %d: set max_connections to %d",
                                         (int)row->connections, (int)needed, (int)needed + SR_SPARE_CONNECTIONS));
    return NULL;
}

/* Prints the current state of the schema. */
static sr_error_t *answer(ctl_t *ctl, json_t *applied)
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
    return answer(ctl, names);
}

sr_error_t *ctl_db_status(ctl_t *ctl)
{
    SR_TRY(ctl_connect(ctl, false));
    return answer(ctl, NULL);
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
