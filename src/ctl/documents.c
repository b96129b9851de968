/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c: the database that a documents folder belongs to. */
#include "ctl/ctl.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Stands for a folder in which nothing has been stored yet. */
#define NOBODY "00000000-0000-0000-0000-000000000000"

static sr_error_t *database_uuid(ctl_t *ctl, const char **uuid)
{
    const sr_installation_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_ping(ctl->database, &outcome, &row, ctl->pool));
    *uuid = row->database;
    return NULL;
}

sr_error_t *ctl_open_documents(ctl_t *ctl, sr_blobs_t **documents)
{
    SR_TRY(ctl_open_store(ctl));
    if (!ctl->given[OPTION_DOCUMENTS])
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "no folder of documents is named: give --documents, or --config with SigreqDocuments");
    SR_TRY(ctl_become_owner(ctl, ctl->values[OPTION_DOCUMENTS]));
    return sr_blobs_folder(documents, ctl->values[OPTION_DOCUMENTS], ctl->pool);
}

sr_error_t *ctl_same_database(ctl_t *ctl, const char **folder, sr_blobs_t *documents)
{
    const char *root = ctl->values[OPTION_DOCUMENTS], *bound, *uuid;

    SR_TRY(database_uuid(ctl, &uuid));
    SR_TRY(sr_blobs_binding(&bound, folder, documents, ctl->pool));
    if (!bound) {
        *folder = NOBODY;
        return NULL;
    }
    if (strcasecmp(bound, uuid) == 0) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT,
                    "%s belongs to the database %s, and this is %s: nothing was done. If the folder was moved to this "
                    "database, run: sigreqctl documents adopt",
                    root, bound, uuid);
}

/* A symbolic link at the default place is not followed, because the administrator did not name it. */
sr_error_t *ctl_find_cache(ctl_t *ctl, const char **folder)
{
    struct stat status;

    *folder = ctl->values[OPTION_CACHE];
    if (ctl->given[OPTION_CACHE]) return NULL;
    *folder = apr_pstrcat(ctl->pool, ctl->values[OPTION_DOCUMENTS], "/cache", NULL);
    if (lstat(*folder, &status) != 0 || !S_ISLNK(status.st_mode)) return NULL;
    return sr_error(ctl->pool, SR_ECONFLICT,
                    "%s is a link, which is not followed: nothing was deleted. If it is right, name the folder with "
                    "--cache or SigreqCache",
                    *folder);
}

sr_error_t *ctl_documents_adopt(ctl_t *ctl)
{
    static const char *const columns[] = {"folder", "database", NULL};
    sr_blobs_t *documents;
    const char *uuid;

    SR_TRY(ctl_open_documents(ctl, &documents));
    SR_TRY(database_uuid(ctl, &uuid));
    SR_TRY(sr_blobs_bind(documents, uuid, true, ctl->pool));
    json_t *report = json_object();
    json_object_set_new(report, "folder", json_string(ctl->values[OPTION_DOCUMENTS]));
    json_object_set_new(report, "database", json_string(uuid));
    ctl_print(ctl, report, columns);
    return NULL;
}
