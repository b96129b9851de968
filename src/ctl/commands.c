/* commands.c: every command and every option of sigreqctl. Parsing, checking and the help pages walk these tables. */
#include "ctl/ctl.h"

const ctl_option_t ctl_options[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"config", "FILE", "httpd configuration with DBDriver, DBDParams and SigreqDocuments", NULL},
    [OPTION_DRIVER] = {"driver", "pgsql|sqlite3", "the database, instead of DBDriver", NULL},
    [OPTION_PARAMS] = {"params", "TEXT", "how to reach it, instead of DBDParams (sqlite3: the file)", NULL},
    [OPTION_DOCUMENTS] = {"documents", "FOLDER", "where documents are, instead of SigreqDocuments", NULL},
    [OPTION_JSON] = {"json", NULL, "answer with one JSON document", NULL},
    [OPTION_HELP] = {"help", NULL, "this text", NULL},
    [OPTION_ORGANIZATION] = {"organization", "UUID|NAME", "the organization", ctl_check_text},
    [OPTION_USER] = {"user", "UUID|EMAIL", "the user, in that organization", ctl_check_text},
    [OPTION_ENVIRONMENT] = {"environment", "test|production", "what the token is for", ctl_check_environment},
    [OPTION_NAME] = {"name", "TEXT", "a name for it", ctl_check_text},
    [OPTION_QUOTA] = {"quota", "N|unlimited", "production submissions allowed, in all", ctl_check_quota},
    [OPTION_FIRSTNAME] = {"firstname", "TEXT", "the user's first name", ctl_check_text},
    [OPTION_LASTNAME] = {"lastname", "TEXT", "the user's last name", ctl_check_text},
    [OPTION_EMAIL] = {"email", "EMAIL", "the user's email address, once in each organization", ctl_check_email},
    [OPTION_EXPIRES] = {"expires", "TIME", "when it ends: 2027-01-31 or 2027-01-31T12:00:00Z", ctl_check_expires},
    [OPTION_UUID] = {"uuid", "UUID", "the token's uuid, as 'token list' shows it", ctl_check_uuid},
    [OPTION_DRY_RUN] = {"dry-run", NULL, "delete nothing, only say what would be deleted", NULL},
    [OPTION_FORCE] = {"force", NULL, "go on even where the database knows none of the documents", NULL},
};

/* clang-format off: one command, one entry */
const ctl_command_t ctl_commands[] = {
    {"db", "init", ctl_db_init, 0, {OPTION_COUNT}, "Makes the tables, and the file of an SQLite database."},
    {"db", "upgrade", ctl_db_init, 0, {OPTION_COUNT},
     "Brings the tables to the version of this build. May be repeated; restart httpd afterwards."},
    {"db", "status", ctl_db_status, 0, {OPTION_COUNT},
     "Says which version the tables are. Exits with 1 when that is not this build's."},
    {"org", "create", ctl_org_create, 1, {OPTION_NAME, OPTION_QUOTA, OPTION_COUNT},
     "Makes an organization. Without --quota it is unlimited."},
    {"org", "list", ctl_org_list, 0, {OPTION_COUNT}, "Lists all organizations."},
    {"org", "quota", ctl_org_quota, 2, {OPTION_ORGANIZATION, OPTION_QUOTA, OPTION_COUNT},
     "Sets how many production submissions an organization may make. What it has made still counts."},
    {"user", "create", ctl_user_create, 4,
     {OPTION_ORGANIZATION, OPTION_FIRSTNAME, OPTION_LASTNAME, OPTION_EMAIL, OPTION_COUNT},
     "Makes a user of an organization."},
    {"user", "list", ctl_user_list, 0, {OPTION_ORGANIZATION, OPTION_COUNT},
     "Lists the users, of all organizations or of one."},
    {"token", "create", ctl_token_create, 4,
     {OPTION_ORGANIZATION, OPTION_USER, OPTION_ENVIRONMENT, OPTION_NAME, OPTION_EXPIRES, OPTION_COUNT},
     "Makes an API token for a user and prints it. It is not stored and cannot be shown again."},
    {"token", "list", ctl_token_list, 0, {OPTION_ORGANIZATION, OPTION_COUNT},
     "Lists the tokens, of all organizations or of one."},
    {"token", "revoke", ctl_token_revoke, 1, {OPTION_UUID, OPTION_COUNT}, "Ends a token at once."},
    {"gc", "", ctl_gc, 0, {OPTION_DRY_RUN, OPTION_FORCE, OPTION_COUNT},
     "Deletes documents that no submission has, and Idempotency-Keys older than 24 hours. httpd may run."},
};
/* clang-format on */
const int ctl_command_count = sizeof ctl_commands / sizeof *ctl_commands;
