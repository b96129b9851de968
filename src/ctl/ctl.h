/* SPDX-License-Identifier: Apache-2.0 */
/* ctl.h: sigreqctl, the administrator's command.
 *
 * Sections: main.c (parses the command line, returns the exit code) · commands.c (the tables of commands and options)
 * · option_check.c (checks values of options) · config.c (finds the database) · httpd.c (asks httpd for its
 * configuration) · documents.c (opens the documents folder) · each.c (walks over blobs and submissions) · evidence.c
 * (compares submissions with their events) · owner.c (changes the user) · new_folder.c (writes a folder that appears
 * only when it is complete) · database.c, people.c, accounts.c, requests.c, gc.c, copy.c, backup.c, doctor.c, erase.c,
 * archive.c, export.c, exported.c, seal.c, rotation.c, own_seals.c, verify.c (the commands) · print.c (prints results
 * as text and as JSON) */
#ifndef SR_CTL_CTL_H
#define SR_CTL_CTL_H

#include "blobs/blobs.h"
#include "cms/cms.h"
#include "store/store.h"

typedef enum ctl_exit_t {
    CTL_DONE,
    CTL_FAILED,   /* the command was refused or has failed */
    CTL_USAGE,    /* the command line is wrong */
    CTL_MISSING,  /* an object that the command names does not exist */
    CTL_CONFLICT, /* the name exists already, or the state does not allow the command */
    CTL_AWAY      /* the database or the helper is not available */
} ctl_exit_t;

typedef enum ctl_option_id_t {
    OPTION_CONFIG,
    OPTION_DRIVER,
    OPTION_PARAMS,
    OPTION_DOCUMENTS,
    OPTION_SERVER,
    OPTION_QUIET,
    OPTION_JSON,
    OPTION_VERSION,
    OPTION_HELP,
    OPTION_ORGANIZATION,
    OPTION_USER,
    OPTION_ENVIRONMENT,
    OPTION_NAME,
    OPTION_QUOTA,
    OPTION_FIRSTNAME,
    OPTION_LASTNAME,
    OPTION_EMAIL,
    OPTION_EXPIRES,
    OPTION_UUID,
    OPTION_DRY_RUN,
    OPTION_QUARANTINE_DAYS,
    OPTION_RESERVED,
    OPTION_QUICK,
    OPTION_HISTORY_DAYS,
    OPTION_EVENT_DAYS,
    OPTION_OUT,
    OPTION_DAYS,
    OPTION_TEST,
    OPTION_CERTIFICATE,
    OPTION_KEY,
    OPTION_TEST_CERTIFICATE,
    OPTION_FILE,
    OPTION_TRUST,
    OPTION_HELPER,
    OPTION_CACHE,
    OPTION_UNUSED,
    OPTION_CHILDREN,
    OPTION_EXPIRING,
    OPTION_KEEP,
    OPTION_CLEAR,
    OPTION_SENT,
    OPTION_SIGNED,
    OPTION_COMPLETED,
    OPTION_STATUS,
    OPTION_LIMIT,
    OPTION_BEFORE,
    OPTION_BY_SIGNER,
    OPTION_ONE_SIGNER,
    OPTION_THEME,
    OPTION_SINCE,
    OPTION_UNTIL,
    OPTION_EXTERNAL_ID,
    OPTION_REASON,
    OPTION_SUBMISSION,
    OPTION_FAILED,
    OPTION_ERASE,
    OPTION_TIMESTAMP,
    OPTION_AUTHORITIES,
    OPTION_PROXY,
    OPTION_RENEW,
    OPTION_PROOFS,
    OPTION_FOLDER,
    OPTION_SEALS,
    OPTION_REQUEST,
    OPTION_ROTATE,
    OPTION_REMOVE,
    OPTION_MODULE,
    OPTION_PIN,
    OPTION_SIGNER,
    OPTION_REMOTE,
    OPTION_CONNECTIONS,
    OPTION_S3_ENDPOINT,
    OPTION_S3_REGION,
    OPTION_S3_CREDENTIALS,
    OPTION_DOCUMENTS_CACHE,
    OPTION_DOCUMENTS_ALSO,
    OPTION_FROM,
    OPTION_TO,
    OPTION_VERIFY,
    OPTION_EVIDENCE,
    OPTION_TO_DRIVER,
    OPTION_TO_PARAMS,
    OPTION_TARGET,
    OPTION_MAIL,
    OPTION_WEBHOOK,
    OPTION_ASK_TIMESTAMP,
    OPTION_COUNT /* also ends a command's list of options */
} ctl_option_id_t;

typedef struct ctl_option_t {
    const char *name;  /* without "--"; options of different commands may have the same */
    const char *value; /* the placeholder of its value in the help; NULL: the option has no value */
    const char *help;
    /* Checks a value. Returns the fault, or NULL. It may replace the value by another form. */
    const char *(*check)(const char **value, apr_pool_t *pool);
} ctl_option_t;

#define CTL_OPTIONS_MAX 11
#define CTL_DAY apr_time_from_sec(86400)

typedef struct ctl_t ctl_t;

typedef struct ctl_command_t {
    const char *group, *verb; /* verb is "" if the group is the whole command */
    sr_error_t *(*run)(ctl_t *ctl);
    int required; /* the number of options that must be given; they may also be given as arguments without their
                     names. -1: no option must be given, but the first one may be given as an argument */
    ctl_option_id_t options[CTL_OPTIONS_MAX + 1];
    const char *help;
} ctl_command_t;

extern const ctl_option_t ctl_options[OPTION_COUNT];
extern const ctl_command_t ctl_commands[];
extern const int ctl_command_count;

struct ctl_t {
    apr_pool_t *pool;
    const ctl_command_t *command;
    bool given[OPTION_COUNT];
    const char *values[OPTION_COUNT]; /* the values of options; NULL can be a value ("unlimited") */
    const apr_dbd_driver_t *driver;
    apr_dbd_t *handle;
    sr_store_source_t *database;
    const char *config;      /* the configuration file, or another name of its text, or NULL */
    const char *config_text; /* what it says, or NULL */
    sr_storage_t storage;    /* of the documents, after ctl_open_documents */
    ctl_exit_t status;       /* the exit code of a command that returns no error */
};

/* ------------------------------------------------------------------------------------------------ option_check.c */
const char *ctl_check_text(const char **value, apr_pool_t *pool);
const char *ctl_check_pgsql(const char **value, apr_pool_t *pool);
const char *ctl_check_params(const char **value, apr_pool_t *pool);
const char *ctl_check_email(const char **value, apr_pool_t *pool);
const char *ctl_check_environment(const char **value, apr_pool_t *pool);
const char *ctl_check_uuid(const char **value, apr_pool_t *pool);
const char *ctl_check_quota(const char **value, apr_pool_t *pool);   /* "unlimited" becomes NULL */
const char *ctl_check_expires(const char **value, apr_pool_t *pool); /* becomes microseconds, as text */
const char *ctl_check_period(const char **value, apr_pool_t *pool);  /* "30d" becomes microseconds, as text */

/* A date is its beginning, and for ctl_check_until its end. It becomes microseconds, as text. */
const char *ctl_check_since(const char **value, apr_pool_t *pool);
const char *ctl_check_until(const char **value, apr_pool_t *pool);
const char *ctl_check_status(const char **value, apr_pool_t *pool);
const char *ctl_check_limit(const char **value, apr_pool_t *pool);
const char *ctl_check_days(const char **value, apr_pool_t *pool);
const char *ctl_check_unused(const char **value, apr_pool_t *pool);
const char *ctl_check_url(const char **value, apr_pool_t *pool); /* "none" becomes NULL */

/* ----------------------------------------------------------------------------------------------- config.c */
/* Sets those options of `wanted` (ended by OPTION_COUNT) that were not given, from the configuration. If the first
 * `enough` of them were given, only the file of --config is read. `spare`: it is no error if httpd cannot read its
 * configuration. */
sr_error_t *ctl_read_config(ctl_t *ctl, const ctl_option_id_t *wanted, int enough, bool spare);
/* Returns the words of all lines of a directive, or NULL if the configuration does not have it. */
const char *ctl_directive(ctl_t *ctl, const char *name);
/* Sets *text to the configuration, or to NULL. */
sr_error_t *ctl_config_text(ctl_t *ctl, const char **text);
/* Opens the database and sets ctl->driver and ctl->handle, which are closed with the pool. If `create` is true, a
 * missing SQLite file is created first. */
sr_error_t *ctl_connect(ctl_t *ctl, bool create);
/* Sets ctl->database to the database that is connected. */
sr_error_t *ctl_use_store(ctl_t *ctl);
/* Connects to an existing database, and sets ctl->database. */
sr_error_t *ctl_open_store(ctl_t *ctl);

/* ------------------------------------------------------------------------------------------------ httpd.c */
/* Runs a program without a terminal, found by PATH if its name has no slash. *out is its output to stdout, and *errors
 * the beginning of its output to stderr. Returns false if it cannot be run or has failed. */
bool ctl_run_program(char *const *arguments, const char **out, const char **errors, apr_pool_t *pool);
/* Sets *text to the configuration as httpd prints it, or to NULL if there is no httpd here, or none with this module.
 * SIGREQ_HTTPD of the environment is the command that starts it. */
sr_error_t *ctl_ask_httpd(ctl_t *ctl, const char **text);
/* Runs httpd -t. *said is what it writes to stderr. Returns false if there is no httpd here. */
bool ctl_configtest(ctl_t *ctl, bool *valid, const char **said);
/* Returns true if httpd has printed this text. */
bool ctl_httpd_printed(const char *text);
/* Returns the version of the module that has printed a text, or NULL if httpd has not printed it. */
const char *ctl_httpd_version(const char *text, apr_pool_t *pool);
/* Returns a name (const char *) of a server for each database of such a text. */
const apr_array_header_t *ctl_httpd_servers(const char *text, apr_pool_t *pool);
/* Sets *chosen to the directives of the server that --server names. It is not needed if there is one database. A text
 * that httpd has not printed is chosen as it is. */
sr_error_t *ctl_httpd_block(ctl_t *ctl, const char **chosen, const char *text);

/* -------------------------------------------------------------------------------------------- documents.c */
/* Opens the database and the documents, with the rights of the owner of the (local) folder. */
sr_error_t *ctl_open_documents(ctl_t *ctl, sr_blobs_t **documents);
/* Opens the documents of a database that is open already. */
sr_error_t *ctl_open_places(ctl_t *ctl, sr_blobs_t **documents);
/* Finds a folder or (s3://) makes the client of a bucket, with the rights of its owner. `name` is the option or
 * directive that has the text. */
sr_error_t *ctl_find_place(ctl_t *ctl, sr_place_t *place, const char *name, const char *text);
sr_error_t *ctl_find_cache(ctl_t *ctl, const char **folder);
/* Sets *folder to the uuid of the folder, CTL_NOBODY if nothing has been stored there yet. `root` is its name in the
 * message. Errors: SR_ECONFLICT if the folder belongs to another database. */
#define CTL_NOBODY "00000000-0000-0000-0000-000000000000"
sr_error_t *ctl_same_database(ctl_t *ctl, const char **folder, sr_blobs_t *documents, const char *root);

/* ------------------------------------------------------------------------------------------------- each.c */
/* Adds a problem to a list, and one to a counter. The list has the first 10,000 of each counter. */
void ctl_note_problem(json_t *problems, apr_int64_t *count, const char *problem, const char *key, const char *detail);
/* Sets *named to true if the database still has a blob with this key. A collection may have removed it meanwhile.
 * `folder` is the uuid of the folder. */
sr_error_t *ctl_blob_is_named(bool *named, const ctl_t *ctl, const char *folder, const sr_blob_row_t *row,
                              apr_pool_t *pool);
/* Reads an open blob, and writes it to `writer` (NULL: nowhere). *fault is why it is not the content of the row, or
 * NULL. An error is one of `writer`. */
sr_error_t *ctl_blob_read(const char **fault, const sr_blob_t *blob, const sr_blob_row_t *row, sr_blob_writer_t *writer,
                          apr_pool_t *pool);
/* Calls a function for each blob that the database names. The pool is cleared after each call. */
typedef sr_error_t *(*ctl_blob_each_t)(void *baton, const sr_blob_row_t *row, apr_pool_t *pool);
sr_error_t *ctl_each_blob(ctl_t *ctl, const char *folder, ctl_blob_each_t each, void *baton);
/* Calls a function for each blob that `list` lists and the database does not know. */
typedef sr_error_t *(*ctl_blobs_list_t)(sr_blobs_t *blobs, sr_blobs_each_t each, void *baton, apr_pool_t *pool);
typedef sr_error_t *(*ctl_stranger_each_t)(void *baton, const char *key, apr_pool_t *pool);
sr_error_t *ctl_each_stranger(ctl_t *ctl, ctl_blobs_list_t list, sr_blobs_t *blobs, ctl_stranger_each_t each,
                              void *baton);
/* Calls `each` for each submission of these sr_found_row_t, with a pool that is cleared after it. Sets *after to the id
 * of the last one. */
typedef sr_error_t *(*ctl_found_each_t)(void *baton, const char *uuid, apr_pool_t *pool);
sr_error_t *ctl_each_found(ctl_t *ctl, const apr_array_header_t *rows, apr_int64_t *after, ctl_found_each_t each,
                           void *baton, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- copy.c */
/* Returns true if both paths lead to the same file or folder. */
bool ctl_is_same_file(const char *one, const char *other);
/* Copies the blobs that the database names from one place to another, whose names are for messages. Sets *report. */
sr_error_t *ctl_copy_blobs(ctl_t *ctl, json_t **report, sr_blobs_t *from, const char *from_name, sr_blobs_t *to,
                           const char *to_name);
/* Prints such a report with its problems, which make the command fail. */
void ctl_copy_print(ctl_t *ctl, json_t *report, const char *const *columns);

/* --------------------------------------------------------------------------------------------- evidence.c */
/* Compares all submissions with their events. Sets their number and the number of problems. */
sr_error_t *ctl_check_evidence(ctl_t *ctl, json_t *problems, apr_int64_t *submissions, apr_int64_t *wrong);

/* ------------------------------------------------------------------------------------------------ owner.c */
/* If the caller is root, continues with the rights of the owner of the path. Does nothing otherwise, or if the path
 * is missing. */
sr_error_t *ctl_become_owner(ctl_t *ctl, const char *path);
/* After ctl_become_owner, the rights of the caller, and then those of the owner again. The database and the documents
 * must not be used between these calls, which change nothing if the caller is not root. */
typedef struct ctl_rights_t {
    uid_t user;
    gid_t group;
} ctl_rights_t;
sr_error_t *ctl_be_caller(ctl_t *ctl, ctl_rights_t *before);
/* Keeps errno. */
sr_error_t *ctl_be_owner_again(ctl_t *ctl, const ctl_rights_t *before);

/* ------------------------------------------------------------------------------------------- new_folder.c
 * A folder that is new or empty. What it is to contain is written to "<path>.partial" first, with the rights of the
 * caller. Folders have the mode 0700 and files 0600.
 */
typedef struct ctl_new_folder_t {
    ctl_t *ctl;
    const char *path, *partial;
    int descriptor; /* of the partial folder */
} ctl_new_folder_t;
/* Errors: SR_ECONFLICT if the folder has something in it, or if there is a partial one. */
sr_error_t *ctl_new_folder_begin(ctl_new_folder_t *folder, ctl_t *ctl, const char *path);
/* Names are relative to the folder: "a", and then "a/b.pdf". *descriptor is for writing. */
sr_error_t *ctl_new_folder_sub(const ctl_new_folder_t *folder, const char *name);
sr_error_t *ctl_new_folder_file(const ctl_new_folder_t *folder, int *descriptor, const char *name);
/* Deletes a file. */
sr_error_t *ctl_new_folder_delete(const ctl_new_folder_t *folder, const char *name);
/* Gives the folder its name. */
sr_error_t *ctl_new_folder_end(ctl_new_folder_t *folder);
/* Deletes the partial folder. */
void ctl_new_folder_drop(ctl_new_folder_t *folder);

/* --------------------------------------------------------------------------------------------- exported.c */
/* A document or certificate that belongs to a submission in an export. */
typedef struct ctl_exported_file_t {
    const char *name;               /* in the folder */
    const apr_array_header_t *keys; /* const char *, of the blobs that are its content */
    const char *sha256;
} ctl_exported_file_t;
/* Makes the description of a submission (a body of SR_OP_ADMIN_EXPORT_GET, which is changed), and the list of its
 * files (ctl_exported_file_t). New reference. */
sr_error_t *ctl_exported_submission(json_t **shown, apr_array_header_t **files, json_t *body, apr_pool_t *pool);
/* Returns a copy of an object of the store as exports show it: "created_at" with a time in microseconds becomes
 * "createdAt" with ISO 8601. New reference. */
json_t *ctl_exported_object(const json_t *object, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- seal.c */
/* Returns the error of errno for a file of the seal. */
sr_error_t *ctl_seal_fault(ctl_t *ctl, const char *path);
/* Writes a new file and syncs it to disk. If that fails, no file is left. */
sr_error_t *ctl_seal_write(ctl_t *ctl, const char *path, const char *text, mode_t mode);
/* Syncs a folder to disk. */
void ctl_seal_sync(const char *path);
/* Describes a certificate. `key` may be NULL. New reference. */
json_t *ctl_seal_describe(const sr_cms_certificate_t *about, const char *certificate, const char *key);
/* Installs the pair of --certificate and --key, and prints it: as the next one of the folder of --folder, or, if
 * `becomes` is not NULL, as the first one. The folder, which is a temporary one, is then renamed to that. */
sr_error_t *ctl_seal_install(ctl_t *ctl, const char *becomes);
/* Returns the path of a key of a folder (`which`: "seal" or "next"), or the URI of a key in a token: a file with its
 * name and .token has that. */
const char *ctl_seal_key(const ctl_t *ctl, const char *folder, const char *which);
/* Loads both files as httpd does at its start, and prints the result. */
sr_error_t *ctl_seal_print(ctl_t *ctl, const char *certificate, const char *key);

/* Has a request for a certificate made, of the key in a token that --key names (signer.c). */
sr_error_t *ctl_signer_request(ctl_t *ctl, const char **request);

/* ------------------------------- database.c people.c accounts.c requests.c gc.c copy.c erase.c export.c seal.c
 * rotation.c own_seals.c verify.c */
sr_error_t *ctl_config(ctl_t *ctl);
sr_error_t *ctl_db_init(ctl_t *ctl);
sr_error_t *ctl_db_status(ctl_t *ctl);
sr_error_t *ctl_db_copy(ctl_t *ctl);
sr_error_t *ctl_backup(ctl_t *ctl);
sr_error_t *ctl_doctor(ctl_t *ctl);
sr_error_t *ctl_org_create(ctl_t *ctl);
sr_error_t *ctl_org_list(ctl_t *ctl);
sr_error_t *ctl_org_show(ctl_t *ctl);
sr_error_t *ctl_org_quota(ctl_t *ctl);
sr_error_t *ctl_user_create(ctl_t *ctl);
sr_error_t *ctl_user_list(ctl_t *ctl);
sr_error_t *ctl_token_create(ctl_t *ctl);
sr_error_t *ctl_token_list(ctl_t *ctl);
sr_error_t *ctl_token_rotate(ctl_t *ctl);
sr_error_t *ctl_token_webhooks(ctl_t *ctl);
sr_error_t *ctl_user_rename(ctl_t *ctl);
sr_error_t *ctl_user_disable(ctl_t *ctl);
sr_error_t *ctl_user_enable(ctl_t *ctl);
sr_error_t *ctl_user_delete(ctl_t *ctl);
sr_error_t *ctl_org_rename(ctl_t *ctl);
sr_error_t *ctl_org_delete(ctl_t *ctl);
sr_error_t *ctl_org_seal(ctl_t *ctl);
sr_error_t *ctl_token_revoke(ctl_t *ctl);
sr_error_t *ctl_submission_list(ctl_t *ctl);
sr_error_t *ctl_submission_show(ctl_t *ctl);
sr_error_t *ctl_stats(ctl_t *ctl);
sr_error_t *ctl_submission_cancel(ctl_t *ctl);
sr_error_t *ctl_submission_extend(ctl_t *ctl);
sr_error_t *ctl_submission_resend(ctl_t *ctl);
sr_error_t *ctl_submission_replace(ctl_t *ctl);
sr_error_t *ctl_submission_unlock(ctl_t *ctl);
sr_error_t *ctl_submission_hold(ctl_t *ctl);
sr_error_t *ctl_submission_release(ctl_t *ctl);
sr_error_t *ctl_delivery_list(ctl_t *ctl);
sr_error_t *ctl_delivery_redeliver(ctl_t *ctl);
sr_error_t *ctl_gc(ctl_t *ctl);
sr_error_t *ctl_archive(ctl_t *ctl);
sr_error_t *ctl_submission_delete(ctl_t *ctl);
sr_error_t *ctl_export(ctl_t *ctl);
sr_error_t *ctl_check(ctl_t *ctl);
sr_error_t *ctl_documents_adopt(ctl_t *ctl);
sr_error_t *ctl_documents_copy(ctl_t *ctl);
sr_error_t *ctl_seal_create(ctl_t *ctl);
sr_error_t *ctl_seal_show(ctl_t *ctl);
sr_error_t *ctl_seal_request(ctl_t *ctl);
sr_error_t *ctl_seal_import(ctl_t *ctl);
sr_error_t *ctl_seal_rotate(ctl_t *ctl);
sr_error_t *ctl_verify(ctl_t *ctl);

/* ------------------------------------------------------------------------------------------------ print.c */
/* Asks the database that is open. *risk is why it can lose committed data, or that it accepts too few connections for
 * httpd, or NULL (database.c). */
sr_error_t *ctl_database_risk(ctl_t *ctl, const sr_installation_row_t **row, const char **risk);
/* Gets a timestamp from the authorities of the configuration, and sets the name of the authority (archive.c). */
sr_error_t *ctl_try_timestamp(ctl_t *ctl, const char **authority);
/* Prints one object, or an array of objects with these members as columns. Takes over the reference. Members whose
 * names end in "_at" are times and are printed as ISO 8601, those in "_on" are days. */
void ctl_print(ctl_t *ctl, json_t *answer, const char *const *columns);
/* Returns a row of an operation as it is printed, without its number in the database. New reference. */
json_t *ctl_row_json(sr_op_t op, const void *row);
json_t *ctl_rows_json(sr_op_t op, const apr_array_header_t *rows);
/* Prints a row of an operation, or its rows. */
sr_error_t *ctl_print_row(ctl_t *ctl, sr_op_t op, const void *row, const char *const *columns);
sr_error_t *ctl_print_rows(ctl_t *ctl, sr_op_t op, const apr_array_header_t *rows, const char *const *columns);
/* Returns the error of the outcomes SR_MISSING and SR_CONFLICT, NULL for others. */
sr_error_t *ctl_refusal(const ctl_t *ctl, sr_outcome_t outcome, const char *missing, const char *conflict);
extern const char *const ctl_organization_columns[], *const ctl_user_columns[], *const ctl_token_columns[];
#define CTL_NO_ORGANIZATION "There is no such organization"
#define CTL_NO_USER "There is no such user"
#define CTL_NO_TOKEN "There is no such token"
/* Prints an array of objects with these columns, as a part of an object. Prints nothing if it is empty. */
void ctl_print_part(ctl_t *ctl, const char *title, json_t *rows, const char *const *columns);
/* Finds the user that --user names, in the organisation of --organization if that is given (people.c). */
sr_error_t *ctl_find_user(ctl_t *ctl, const sr_user_row_t **user);
/* Erases all closed submissions of an organisation or of a user (uuid; the other one is NULL), and sets their number
 * (erase.c). Disables the users first. If *outcome is not SR_OK, it is that of SR_OP_ADMIN_PEOPLE_FREEZE, and nothing
 * was done. */
sr_error_t *ctl_erase_people(ctl_t *ctl, sr_outcome_t *outcome, apr_int64_t *erased, sr_blobs_t *documents,
                             const char *organization, const char *user);
/* Prints help about everything (`group` is NULL), a group, or a command. */
void ctl_help(FILE *out, const char *group, const char *verb);

#endif
