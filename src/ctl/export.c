/* SPDX-License-Identifier: Apache-2.0 */
/* export.c: sigreqctl export: writes everything that is stored about one email address into a folder: export.json and
 * the documents that the person has to sign or has signed. One submission after the other is read and written. */
#include "ctl/ctl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define ROWS 1000                    /* rows of one query, which may read all signers */
#define PIECE ((apr_size_t)64 << 10) /* bytes */
#define FORMAT 1                     /* the version of the form of export.json */

typedef struct export_t {
    ctl_t *ctl;
    sr_blobs_t *documents;
    const char *email, *organization, *environment; /* the last two may be NULL */
    ctl_new_folder_t folder;
    FILE *out;                  /* export.json */
    json_t *accounts, *missing; /* missing: files whose content could not be read */
    apr_int64_t submissions, files, bytes;
} export_t;

/* --- files */

typedef struct copying_t {
    int descriptor;
    sr_sha256_t *digest;
    apr_int64_t bytes;
} copying_t;

static sr_error_t *copy_blob(const export_t *export, copying_t *copying, const char *key, char *piece, apr_pool_t *pool)
{
    int blob;
    SR_TRY(sr_blobs_reader(&blob, export->documents, key, pool));
    for (apr_off_t at = 0;;) {
        const apr_ssize_t got = sr_descriptor_read(blob, piece, PIECE, at);
        if (got < 0) return sr_error(pool, SR_EUNAVAILABLE, "%s: %s", key, strerror(errno));
        if (got == 0) return NULL;
        if (!sr_descriptor_write(copying->descriptor, piece, (apr_size_t)got))
            return sr_error(pool, SR_EINTERNAL, "%s: %s", export->folder.partial, strerror(errno));
        sr_sha256_update(copying->digest, piece, (apr_size_t)got);
        at += got;
        copying->bytes += got;
    }
}

static sr_error_t *copy_blobs(const export_t *export, copying_t *copying, const ctl_exported_file_t *file,
                              apr_pool_t *pool)
{
    char *piece = apr_palloc(pool, PIECE);
    for (int i = 0; i < file->keys->nelts; i++)
        SR_TRY(copy_blob(export, copying, APR_ARRAY_IDX(file->keys, i, const char *), piece, pool));
    if (strcmp(sr_sha256_end_hex(copying->digest, pool), file->sha256) == 0) return NULL;
    return sr_error(pool, SR_EUNAVAILABLE, "its content differs from what was stored");
}

/* Leaves out a file whose content is missing or damaged, and notes that. */
static sr_error_t *export_leave_out(const export_t *export, const ctl_exported_file_t *file, const sr_error_t *error)
{
    fprintf(stderr, "sigreqctl: %s: %s\n", file->name, error->message);
    json_array_append_new(export->missing, json_pack("{s:s,s:s}", "file", file->name, "reason", error->message));
    return ctl_new_folder_delete(&export->folder, file->name);
}

static sr_error_t *export_write_file(export_t *export, const ctl_exported_file_t *file, apr_pool_t *pool)
{
    copying_t copying = {-1, sr_sha256_begin(pool), 0};
    SR_TRY(ctl_new_folder_file(&export->folder, &copying.descriptor, file->name));
    sr_descriptor_own(copying.descriptor, pool);
    sr_error_t *error = copy_blobs(export, &copying, file, pool);
    if (error && error->code == SR_EUNAVAILABLE) return export_leave_out(export, file, error);
    SR_TRY(error);
    if (fsync(copying.descriptor) != 0)
        return sr_error(pool, SR_EINTERNAL, "%s: %s", export->folder.partial, strerror(errno));
    export->files++;
    export->bytes += copying.bytes;
    return NULL;
}

static sr_error_t *write_files(export_t *export, const char *submission, const apr_array_header_t *files,
                               apr_pool_t *pool)
{
    apr_pool_t *each;
    sr_error_t *error = NULL;
    if (!files->nelts) return NULL;
    if (!export->files && !json_array_size(export->missing)) SR_TRY(ctl_new_folder_sub(&export->folder, "submissions"));
    SR_TRY(ctl_new_folder_sub(&export->folder, apr_pstrcat(pool, "submissions/", submission, NULL)));
    apr_pool_create(&each, pool);
    for (int i = 0; !error && i < files->nelts; i++) {
        error = sr_error_copy(export_write_file(export, &APR_ARRAY_IDX(files, i, ctl_exported_file_t), each), pool);
        apr_pool_clear(each);
    }
    return error;
}

/* --- export.json: an object that is written in parts */

static void export_write_value(const export_t *export, const json_t *value)
{
    json_dumpf(value, export->out, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static void write_member(const export_t *export, const char *name, json_t *value)
{
    fprintf(export->out, "\"%s\": ", name);
    export_write_value(export, value);
    fprintf(export->out, ",\n");
    json_decref(value);
}

static sr_error_t *begin_json(export_t *export)
{
    int descriptor;
    SR_TRY(ctl_new_folder_file(&export->folder, &descriptor, "export.json"));
    export->out = fdopen(descriptor, "w");
    if (!export->out) {
        close(descriptor);
        return sr_error(export->ctl->pool, SR_EINTERNAL, "export.json: %s", strerror(errno));
    }
    fprintf(export->out, "{\n");
    write_member(export, "format", json_integer(FORMAT));
    write_member(export, "exportedAt", sr_time_json(sr_time_now()));
    write_member(export, "email", json_string(export->email));
    write_member(export, "organization", sr_json_string_or_null(export->organization));
    write_member(export, "environment", sr_json_string_or_null(export->environment));
    write_member(export, "accounts", json_incref(export->accounts));
    fprintf(export->out, "\"submissions\": [");
    return NULL;
}

static sr_error_t *end_json(export_t *export)
{
    fprintf(export->out, "],\n\"missing\": ");
    export_write_value(export, export->missing);
    fprintf(export->out, "\n}\n");
    const bool written = fflush(export->out) == 0 && !ferror(export->out) && fsync(fileno(export->out)) == 0;
    return written ? NULL : sr_error(export->ctl->pool, SR_EINTERNAL, "export.json: %s", strerror(errno));
}

/* --- what is found */

static sr_error_t *read_accounts(export_t *export)
{
    apr_pool_t *pool = export->ctl->pool;
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    json_t *rows, *account;
    size_t i;
    SR_TRY(sr_store_admin_export_accounts(export->ctl->database, &outcome, &row, export->email, export->organization,
                                          export->environment, pool));
    SR_TRY(ctl_refusal(export->ctl, outcome, CTL_NO_ORGANIZATION, NULL));
    SR_TRY(sr_json_read(&rows, row->body, pool));
    export->accounts = sr_json_own(json_array(), pool);
    json_array_foreach (rows, i, account) {
        json_t *shown = ctl_exported_object(account, pool), *tokens = json_array(), *token;
        size_t k;
        json_array_foreach (json_object_get(account, "tokens"), k, token)
            json_array_append_new(tokens, ctl_exported_object(token, pool));
        json_object_set_new(shown, "tokens", tokens);
        json_array_append_new(export->accounts, shown);
    }
    return NULL;
}

/* A submission that was deleted meanwhile is left out. */
static sr_error_t *write_submission(void *baton, const char *uuid, apr_pool_t *pool)
{
    export_t *export = baton;
    const sr_body_row_t *row;
    sr_outcome_t outcome;
    apr_array_header_t *files;
    json_t *body, *shown;
    SR_TRY(sr_store_admin_export_get(export->ctl->database, &outcome, &row, uuid, export->email, pool));
    if (outcome == SR_MISSING) return NULL;
    SR_TRY(sr_json_read(&body, row->body, pool));
    SR_TRY(ctl_exported_submission(&shown, &files, body, pool));
    sr_json_own(shown, pool);
    SR_TRY(write_files(export, uuid, files, pool));
    if (export->submissions++) fprintf(export->out, ",\n");
    export_write_value(export, shown);
    return NULL;
}

static sr_error_t *export_find(const export_t *export, apr_array_header_t **rows, apr_int64_t after, apr_pool_t *pool)
{
    sr_outcome_t outcome;
    SR_TRY(sr_store_admin_export_find(export->ctl->database, &outcome, rows, export->email, export->organization,
                                      export->environment, after, ROWS, pool));
    return ctl_refusal(export->ctl, outcome, CTL_NO_ORGANIZATION, NULL);
}

static sr_error_t *write_all_pages(export_t *export, const apr_array_header_t *first)
{
    apr_array_header_t *rows = (apr_array_header_t *)first;
    apr_int64_t after = 0;
    apr_pool_t *page;
    apr_pool_create(&page, export->ctl->pool);
    while (rows->nelts) {
        SR_TRY(ctl_each_found(export->ctl, rows, &after, write_submission, export, page));
        apr_pool_clear(page);
        SR_TRY(export_find(export, &rows, after, page));
    }
    return NULL;
}

static sr_error_t *write_folder(export_t *export, const apr_array_header_t *first)
{
    SR_TRY(begin_json(export));
    SR_TRY(write_all_pages(export, first));
    SR_TRY(end_json(export));
    return ctl_new_folder_end(&export->folder);
}

static void print_result(ctl_t *ctl, const export_t *export)
{
    static const char *const columns[] = {"email", "folder", "accounts", "submissions",
                                          "files", "bytes",  "missing",  NULL};
    ctl_print(ctl,
              json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I}", "email", export->email, "folder", export->folder.path,
                        "accounts", (json_int_t)json_array_size(export->accounts), "submissions",
                        (json_int_t) export->submissions, "files", (json_int_t) export->files, "bytes",
                        (json_int_t) export->bytes, "missing", (json_int_t)json_array_size(export->missing)),
              columns);
}

sr_error_t *ctl_export(ctl_t *ctl)
{
    export_t export = {.ctl = ctl,
                       .email = ctl->values[OPTION_EMAIL],
                       .organization = ctl->values[OPTION_ORGANIZATION],
                       .environment = ctl->values[OPTION_ENVIRONMENT]};
    apr_array_header_t *first;
    const char *binding;
    export.missing = sr_json_own(json_array(), ctl->pool);
    SR_TRY(ctl_open_documents(ctl, &export.documents));
    SR_TRY(ctl_same_database(ctl, &binding, export.documents, ctl->values[OPTION_DOCUMENTS]));
    SR_TRY(read_accounts(&export));
    SR_TRY(export_find(&export, &first, 0, ctl->pool));
    if (!json_array_size(export.accounts) && !first->nelts)
        return sr_error(ctl->pool, SR_ENOTFOUND, "Nothing is stored about this email address");
    SR_TRY(ctl_new_folder_begin(&export.folder, ctl, ctl->values[OPTION_OUT]));
    sr_error_t *error = write_folder(&export, first);
    if (export.out && fclose(export.out) != 0 && !error)
        error = sr_error(ctl->pool, SR_EINTERNAL, "export.json: %s", strerror(errno));
    if (error) ctl_new_folder_drop(&export.folder);
    else print_result(ctl, &export);
    if (error || !json_array_size(export.missing)) return error;
    return sr_error(ctl->pool, SR_EUNAVAILABLE,
                    "The export is incomplete: \"missing\" in export.json names what could not be "
                    "read. Run: sigreqctl check");
}
