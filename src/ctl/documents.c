/* SPDX-License-Identifier: Apache-2.0 */
/* documents.c: the database that a documents folder belongs to. */
#include "ctl/ctl.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* What httpd limits, this command does not. */
#define CACHE_MOST (APR_INT64_MAX / 4)

static sr_error_t *database_uuid(ctl_t *ctl, const char **uuid)
{
    const sr_installation_row_t *row;
    sr_outcome_t outcome;
    SR_TRY(sr_store_ping(ctl->database, &outcome, &row, ctl->database->servers, ctl->pool));
    *uuid = row->database;
    return NULL;
}

/* Returns the fault of an option of the bucket, or NULL. `name` is what names the URL. */
static const char *read_options(sr_s3_options_t *options, const ctl_t *ctl, const char *name, const char *place)
{
    static const ctl_option_id_t needed[] = {OPTION_S3_ENDPOINT, OPTION_S3_CREDENTIALS, OPTION_DOCUMENTS_CACHE};
    static const char *const names[] = {"SigreqS3Endpoint", "SigreqS3Credentials", "SigreqDocumentsCache"};
    static const char scheme[] = "file:";
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!ctl->given[needed[i]]) return apr_psprintf(ctl->pool, "%s is missing: give --config with it", names[i]);
    const char *path = ctl->values[OPTION_S3_CREDENTIALS];
    const char *words = ctl->values[OPTION_S3_ENDPOINT];
    const char *url = NULL;
    while (*words) { /* the URL, and path or virtual-host, in any order */
        const char *word = apr_pstrmemdup(ctl->pool, words, strcspn(words, " "));
        words += strlen(word);
        words += strspn(words, " ");
        if (!strcasecmp(word, "virtual-host")) options->virtual_host = true;
        else if (strcasecmp(word, "path") != 0) url = word;
    }
    const char *fault = sr_s3_read_url(options, place, ctl->pool);
    if (fault) return apr_pstrcat(ctl->pool, name, " ", fault, NULL);
    fault = url ? sr_s3_read_endpoint(options, url, ctl->pool) : "must be a URL";
    if (fault) return apr_pstrcat(ctl->pool, "SigreqS3Endpoint ", fault, NULL);
    if (strncmp(path, scheme, sizeof scheme - 1) == 0) path += sizeof scheme - 1;
    return sr_s3_read_credentials(&options->credentials, path, ctl->pool);
}

/* Reads the credentials first, with the rights of the caller. */
static sr_error_t *open_bucket(ctl_t *ctl, sr_place_t *place, const char *name, const char *text)
{
    sr_s3_options_t options = {.region = ctl->given[OPTION_S3_REGION] ? ctl->values[OPTION_S3_REGION] : "us-east-1"};
    ctl_rights_t before;
    SR_TRY(ctl_be_caller(ctl, &before));
    const char *fault = read_options(&options, ctl, name, text);
    SR_TRY(ctl_be_owner_again(ctl, &before));
    if (fault) return sr_error(ctl->pool, SR_EBADREQUEST, "%s", fault);
    SR_TRY(ctl_become_owner(ctl, ctl->values[OPTION_DOCUMENTS_CACHE]));
    place->root = sr_s3_folder(&options, ctl->values[OPTION_DOCUMENTS_CACHE], ctl->pool);
    return sr_bucket_create(&place->bucket, &options, place->root, CACHE_MOST, ctl->pool);
}

sr_error_t *ctl_find_place(ctl_t *ctl, sr_place_t *place, const char *name, const char *text)
{
    *place = (sr_place_t){.root = text};
    return sr_s3_is_url(text) ? open_bucket(ctl, place, name, text) : ctl_become_owner(ctl, text);
}

sr_error_t *ctl_open_documents(ctl_t *ctl, sr_blobs_t **documents)
{
    SR_TRY(ctl_open_store(ctl));
    return ctl_open_places(ctl, documents);
}

sr_error_t *ctl_open_places(ctl_t *ctl, sr_blobs_t **documents)
{
    sr_place_t *place = &ctl->storage.main;
    if (!ctl->given[OPTION_DOCUMENTS])
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "no folder of documents is named: give --documents, or --config with SigreqDocuments");
    SR_TRY(ctl_find_place(ctl, place, "SigreqDocuments", ctl->values[OPTION_DOCUMENTS]));
    SR_TRY(place->bucket ? sr_blobs_bucket(documents, place->bucket, ctl->given[OPTION_REMOTE], ctl->pool)
                         : sr_blobs_folder(documents, place->root, ctl->pool));
    if (!ctl->given[OPTION_DOCUMENTS_ALSO]) return NULL;
    SR_TRY(ctl_find_place(ctl, &ctl->storage.also, "SigreqDocumentsAlso", ctl->values[OPTION_DOCUMENTS_ALSO]));
    return sr_blobs_read_also(*documents, &ctl->storage.also, ctl->pool);
}

sr_error_t *ctl_same_database(ctl_t *ctl, const char **folder, sr_blobs_t *documents, const char *root)
{
    const char *bound, *uuid;
    SR_TRY(database_uuid(ctl, &uuid));
    SR_TRY(sr_blobs_binding_refresh(documents, ctl->pool));
    SR_TRY(sr_blobs_binding(&bound, folder, documents, ctl->pool));
    if (!bound) {
        *folder = CTL_NOBODY;
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
    *folder = apr_pstrcat(ctl->pool, ctl->storage.main.root, "/cache", NULL);
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
