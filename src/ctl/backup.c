/* SPDX-License-Identifier: Apache-2.0 */
/* backup.c: sigreqctl backup: the database as one file, and the documents that it names, in a folder that the next
 * backup continues. httpd may run. Documents are copied before the database, so that little is left to copy after it,
 * and after it, so that the folder has every document that the copy of the database names. */
#include "ctl/ctl.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUARANTINE (30 * CTL_DAY) /* as in src/settings/directives.def */

typedef struct backup_t {
    ctl_t *ctl;
    const char *root;     /* the folder of the backup */
    const char *folder;   /* its documents */
    const char *database; /* its file of the database */
    sr_blobs_t *from, *to;
    apr_int64_t removed, copied;
    apr_off_t bytes;
} backup_t;

static sr_error_t *backup_fail(const backup_t *backup, const char *path)
{
    return sr_error(backup->ctl->pool, SR_EINTERNAL, "%s: %s", path, strerror(errno));
}

/* --- the folder */

/* Refuses a folder in which the service itself works, and one in which something else would be overwritten. */
static sr_error_t *check_folder(const backup_t *backup)
{
    const ctl_t *ctl = backup->ctl;
    if (ctl_is_same_file(backup->folder, ctl->storage.main.root)
        || ctl_is_same_file(backup->root, ctl->storage.main.root)
        || (ctl->storage.also.root && ctl_is_same_file(backup->folder, ctl->storage.also.root))
        || ctl_is_same_file(backup->database, ctl->values[OPTION_PARAMS]))
        return sr_error(ctl->pool, SR_ECONFLICT, "%s is in use by the service: name another folder", backup->root);
    if (access(backup->database, F_OK) == 0 && access(backup->folder, F_OK) != 0)
        return sr_error(ctl->pool, SR_ECONFLICT, "%s exists, but %s does not: this is not a backup. Nothing was done",
                        backup->database, backup->folder);
    return NULL;
}

static sr_error_t *backup_make_folder(const backup_t *backup, const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST ? NULL : backup_fail(backup, path);
}

static sr_error_t *backup_open_folder(backup_t *backup)
{
    SR_TRY(check_folder(backup));
    SR_TRY(backup_make_folder(backup, backup->root));
    SR_TRY(backup_make_folder(backup, backup->folder));
    return sr_blobs_folder(&backup->to, backup->folder, backup->ctl->pool);
}

/* --- the documents */

static sr_error_t *remove_stranger(void *baton, const char *key, apr_pool_t *pool)
{
    backup_t *backup = baton;
    apr_off_t size;
    bool removed;
    SR_TRY(sr_blobs_remove(&removed, &size, backup->to, key, pool));
    backup->removed += removed;
    return NULL;
}

/* The database does not know documents that were deleted since the last backup. */
static sr_error_t *remove_strangers(backup_t *backup)
{
    sr_blobs_gc_t expired;
    SR_TRY(ctl_each_stranger(backup->ctl, sr_blobs_list, backup->to, remove_stranger, backup));
    SR_TRY(sr_quarantine_expire(&expired, backup->to, QUARANTINE, false, backup->ctl->pool));
    return sr_temporary_expire(&expired, backup->to, false, backup->ctl->pool);
}

/* *report is NULL if the service has no documents yet. */
static sr_error_t *copy_documents(backup_t *backup, json_t **report, bool tidy)
{
    const char *name = backup->ctl->values[OPTION_DOCUMENTS], *folder;
    *report = NULL;
    SR_TRY(ctl_same_database(backup->ctl, &folder, backup->from, name));
    if (!strcmp(folder, CTL_NOBODY)) return NULL;
    SR_TRY(ctl_same_database(backup->ctl, &folder, backup->to, backup->folder));
    if (tidy) SR_TRY(remove_strangers(backup));
    SR_TRY(ctl_copy_blobs(backup->ctl, report, backup->from, name, backup->to, backup->folder));
    backup->copied += json_integer_value(json_object_get(*report, "copied"));
    backup->bytes += json_integer_value(json_object_get(*report, "copied_bytes"));
    return NULL;
}

/* --- the database */

/* The password is in the environment, which other users cannot read. */
static sr_error_t *dump(ctl_t *ctl, const char *path)
{
    const char *password, *out, *errors;
    const char *params = sr_schema_parameters(&password, ctl->driver, ctl->handle, ctl->pool);
    const char *arguments[] = {
        "pg_dump", "--format=custom", "--schema=sigreq", "--no-unlogged-table-data", "--file", path, "--dbname", params,
        NULL};
    if (!params) return sr_error(ctl->pool, SR_EUNAVAILABLE, "libpq was not found");
    if (password && setenv("PGPASSWORD", password, 1) != 0) return sr_error(ctl->pool, SR_EINTERNAL, "no memory");
    if (ctl_run_program((char *const *)arguments, &out, &errors, ctl->pool)) return NULL;
    return sr_error(ctl->pool, SR_EUNAVAILABLE, "the database cannot be saved: %s",
                    *errors ? errors : "there is no pg_dump: install postgresql-client");
}

/* By another connection, because VACUUM makes the prepared statements of its connection invalid. */
static sr_error_t *vacuum(ctl_t *ctl, const char *path)
{
    ctl_t *other = apr_pmemdup(ctl->pool, ctl, sizeof *ctl);
    ctl_rights_t owner;
    SR_TRY(ctl_connect(other, false));
    SR_TRY(ctl_be_caller(ctl, &owner));
    return sr_schema_vacuum(other->driver, other->handle, path, ctl->pool);
}

static sr_error_t *sync_path(const backup_t *backup, const char *path, apr_off_t *size)
{
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool synced =
        file >= 0 && fchmod(file, size ? 0600 : 0700) == 0 && fsync(file) == 0 && fstat(file, &status) == 0;
    sr_error_t *error = synced ? NULL : backup_fail(backup, path);
    if (file >= 0) close(file);
    if (synced && size) *size = status.st_size;
    return error;
}

/* The file replaces the former one when it is complete. */
static sr_error_t *save_database(const backup_t *backup, apr_off_t *size)
{
    ctl_t *ctl = backup->ctl;
    const char *partial = apr_pstrcat(ctl->pool, backup->database, ".partial", NULL);
    if (unlink(partial) != 0 && errno != ENOENT) return backup_fail(backup, partial);
    umask(077);
    SR_TRY(!strcmp(apr_dbd_name(ctl->driver), "pgsql") ? dump(ctl, partial) : vacuum(ctl, partial));
    SR_TRY(sync_path(backup, partial, size));
    if (rename(partial, backup->database) != 0) return backup_fail(backup, backup->database);
    return sync_path(backup, backup->root, NULL);
}

sr_error_t *ctl_backup(ctl_t *ctl)
{
    static const char *const columns[] = {"database", "database_bytes", "documents", "copied", "copied_bytes",
                                          "removed",  "missing",        "damaged",   NULL};
    backup_t backup = {.ctl = ctl, .root = ctl->values[OPTION_TARGET]};
    ctl_rights_t owner;
    json_t *report;
    apr_off_t size;
    ctl->given[OPTION_REMOTE] = true; /* what a bucket has, and not its cache */
    SR_TRY(ctl_open_documents(ctl, &backup.from));
    const bool pgsql = !strcmp(apr_dbd_name(ctl->driver), "pgsql");
    backup.folder = apr_pstrcat(ctl->pool, backup.root, "/documents", NULL);
    backup.database = apr_pstrcat(ctl->pool, backup.root, pgsql ? "/sigreq.dump" : "/sigreq.db", NULL);
    /* as the owner, because this may store the uuids of a bucket in its local folder */
    SR_TRY(ctl_same_database(ctl, &(const char *){NULL}, backup.from, ctl->values[OPTION_DOCUMENTS]));
    SR_TRY(ctl_be_caller(ctl, &owner)); /* until the end: the folder of the backup is the caller's */
    SR_TRY(backup_open_folder(&backup));
    SR_TRY(copy_documents(&backup, &report, true));
    SR_TRY(save_database(&backup, &size));
    SR_TRY(copy_documents(&backup, &report, false));
    if (!report)
        report = sr_json_own(json_pack("{s:i,s:i,s:i}", "documents", 0, "missing", 0, "damaged", 0), ctl->pool);
    json_object_set_new(report, "database", json_string(backup.database));
    json_object_set_new(report, "database_bytes", json_integer(size));
    json_object_set_new(report, "copied", json_integer(backup.copied));
    json_object_set_new(report, "copied_bytes", json_integer(backup.bytes));
    json_object_set_new(report, "removed", json_integer(backup.removed));
    ctl_copy_print(ctl, report, columns);
    return NULL;
}
