/* database.c: sigreqctl db: making and upgrading the tables, and saying where they are. */
#include "ctl/ctl.h"

static const char *const columns[] = {"driver", "version", "latest", "current", NULL};

static sr_error_t *answer(ctl_t *ctl, int version, json_t *applied)
{
    const int latest = sr_schema_latest(ctl->driver);
    json_t *report = json_object();

    json_object_set_new(report, "driver", json_string(apr_dbd_name(ctl->driver)));
    json_object_set_new(report, "version", json_integer(version));
    json_object_set_new(report, "latest", json_integer(latest));
    json_object_set_new(report, "current", json_boolean(version == latest));
    if (applied) json_object_set_new(report, "applied", applied);
    if (version != latest) ctl->status = CTL_FAILED;
    ctl_print(ctl, report, columns);
    return NULL;
}

/* Both init and upgrade: every migration that is missing, none or all. */
sr_error_t *ctl_db_init(ctl_t *ctl)
{
    apr_array_header_t *applied;
    json_t *names;
    int version;

    SR_TRY(ctl_connect(ctl, true));
    SR_TRY(sr_schema_upgrade(&applied, ctl->driver, ctl->handle, ctl->pool));
    SR_TRY(sr_schema_version(&version, ctl->driver, ctl->handle, ctl->pool));
    names = json_array();
    for (int i = 0; i < applied->nelts; i++) {
        const sr_migration_t *migration = APR_ARRAY_IDX(applied, i, const sr_migration_t *);
        json_array_append_new(names, json_sprintf("%d %s", migration->version, migration->name));
    }
    return answer(ctl, version, names);
}

sr_error_t *ctl_db_status(ctl_t *ctl)
{
    int version;

    SR_TRY(ctl_connect(ctl, false));
    SR_TRY(sr_schema_version(&version, ctl->driver, ctl->handle, ctl->pool));
    return answer(ctl, version, NULL);
}
