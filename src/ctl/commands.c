/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c: the tables of sigreqctl's commands and options. The parser, the checks and the help pages use them. */
#include "ctl/ctl.h"

const ctl_option_t ctl_options[OPTION_COUNT] = {
    [OPTION_CONFIG] = {"config", "FILE", "read DBDriver, DBDParams and the Sigreq directives from this file", NULL},
    [OPTION_DRIVER] = {"driver", "pgsql|sqlite3", "driver of the database, instead of DBDriver", NULL},
    [OPTION_PARAMS] = {"params", "TEXT",
                       "connection parameters without a password, instead of DBDParams; for sqlite3, the file",
                       ctl_check_params},
    [OPTION_DOCUMENTS] = {"documents", "DIRECTORY", "directory of the documents, instead of SigreqDocuments", NULL},
    [OPTION_SERVER] = {"server", "NAME|all",
                       "virtual host whose database is used (its ServerName, or main), or all, one after the other",
                       ctl_check_text},
    [OPTION_QUIET] = {"quiet", NULL, "print nothing if the command succeeds", NULL},
    [OPTION_JSON] = {"json", NULL, "print one JSON document", NULL},
    [OPTION_VERSION] = {"version", NULL, "print only the version of this program", NULL},
    [OPTION_HELP] = {"help", NULL, "print this text (also -h)", NULL},
    [OPTION_ORGANIZATION] = {"organization", "UUID|NAME", "the organization", ctl_check_text},
    [OPTION_USER] = {"user", "UUID|EMAIL", "the user; add --organization if several organizations use the address",
                     ctl_check_text},
    [OPTION_ENVIRONMENT] = {"environment", "test|production", "the environment", ctl_check_environment},
    [OPTION_NAME] = {"name", "TEXT", "the name", ctl_check_text},
    [OPTION_QUOTA] = {"quota", "N|unlimited", "total number of production submissions allowed", ctl_check_quota},
    [OPTION_FIRSTNAME] = {"firstname", "TEXT", "first name", ctl_check_text},
    [OPTION_LASTNAME] = {"lastname", "TEXT", "last name", ctl_check_text},
    [OPTION_EMAIL] = {"email", "EMAIL", "email address, unique within an organization", ctl_check_email},
    [OPTION_EXPIRES] = {"expires", "TIME", "end: 2027-01-31 or 2027-01-31T12:00:00Z", ctl_check_expires},
    [OPTION_UUID] = {"uuid", "UUID", "uuid of the token, submission or event, as the lists show it", ctl_check_uuid},
    [OPTION_DRY_RUN] = {"dry-run", NULL, "delete nothing, print what would be deleted", NULL},
    [OPTION_OUT] = {"out", "DIRECTORY", "directory for the files, created if it is missing", ctl_check_text},
    [OPTION_DAYS] = {"days", "N", "validity of the certificate; default: 3650", ctl_check_days},
    [OPTION_TEST] = {"test", NULL, "for the test environment: the name says that the seal is not legally binding",
                     NULL},
    [OPTION_CERTIFICATE] = {"certificate", "FILE",
                            "certificate of the seal (show, verify, archive: instead of SigreqSealCertificate)", NULL},
    [OPTION_KEY] = {"key", "FILE", "private key (show: instead of SigreqSealKey), or pkcs11:... for a key in a token",
                    NULL},
    [OPTION_MODULE] = {"module", "FILE", "PKCS#11 module of the token, instead of SigreqPKCS11Module", ctl_check_text},
    [OPTION_PIN] = {"pin", "file:FILE", "file with the PIN of the token, instead of SigreqSealPIN", ctl_check_text},
    [OPTION_SIGNER] = {"signer", "FILE", "program that uses keys in tokens, instead of SigreqSealProgram",
                       ctl_check_text},
    [OPTION_TEST_CERTIFICATE] = {"test-certificate", "FILE",
                                 "certificate of the test seal, instead of SigreqTestSealCertificate", NULL},
    [OPTION_FILE] = {"file", "FILE", "the PDF", NULL},
    [OPTION_TRUST] =
        {"trust", "FILE",
         "certificates (PEM) at which the chains of signers and timestamps must end, instead of SigreqTrust", NULL},
    [OPTION_HELPER] = {"helper", "FILE", "program that reads PDF files, instead of SigreqHelper", NULL},
    [OPTION_HISTORY_DAYS] = {"history-days", "N", "how long the history of webhook calls is kept; default: 90",
                             ctl_check_days},
    [OPTION_CACHE] = {"cache", "DIRECTORY", "directory of page images, instead of SigreqCache", NULL},
    [OPTION_UNUSED] = {"unused", "DAYS", "how long page images are kept after the last request; default: 30",
                       ctl_check_unused},
    [OPTION_CHILDREN] = {"children", NULL, "also all tokens that it created, directly or indirectly", NULL},
    [OPTION_EXPIRING] = {"expiring", "PERIOD", "only valid tokens that expire within this time, such as 30d",
                         ctl_check_period},
    [OPTION_KEEP] = {"keep", "PERIOD", "how long the old token stays valid, such as 1d or 12h", ctl_check_period},
    [OPTION_CLEAR] = {"clear", NULL, "remove all three URLs", NULL},
    [OPTION_SENT] = {"sent", "URL|none", "URL called when a submission was sent", ctl_check_url},
    [OPTION_SIGNED] = {"signed", "URL|none", "URL called when a signer signs or refuses", ctl_check_url},
    [OPTION_COMPLETED] = {"completed", "URL|none", "URL called when the last signer has signed", ctl_check_url},
    [OPTION_QUARANTINE_DAYS] =
        {"quarantine-days", "N",
         "how long removed documents stay in the quarantine, instead of SigreqQuarantineDays; default: 30",
         ctl_check_unused},
    [OPTION_RESERVED] = {"reserved", "SECONDS",
                         "minimum age of an upload without a submission that is removed; default: 3600",
                         ctl_check_unused},
    [OPTION_STATUS] = {"status", "STATUS", "open, completed, refused, cancelled, expired or deleted", ctl_check_status},
    [OPTION_LIMIT] = {"limit", "N", "maximum number of rows; default: 100", ctl_check_limit},
    [OPTION_BEFORE] = {"before", "UUID", "continue after this row of the previous list", ctl_check_uuid},
    [OPTION_BY_SIGNER] = {"signer", "EMAIL", "only with this signer, even if they were replaced", ctl_check_email},
    [OPTION_ONE_SIGNER] = {"signer", "EMAIL|LINK",
                           "the signer: the email address, or the link as 'submission show' prints it", ctl_check_text},
    [OPTION_THEME] = {"theme", "DIRECTORY", "theme of the mail, instead of SigreqTheme", ctl_check_text},
    [OPTION_SINCE] = {"from", "TIME", "only rows created at this time or later: 2027-01-31, or 2027-01-31T12:00:00Z",
                      ctl_check_since},
    [OPTION_UNTIL] = {"to", "TIME", "only rows created before this time, or until the end of this day (UTC)",
                      ctl_check_until},
    [OPTION_EXTERNAL_ID] = {"external-id", "TEXT", "only with this externalId", ctl_check_text},
    [OPTION_REASON] = {"reason", "TEXT", "the reason", ctl_check_text},
    [OPTION_SUBMISSION] = {"submission", "UUID", "only of this submission", ctl_check_uuid},
    [OPTION_FAILED] = {"failed", NULL, "only failed ones", NULL},
    [OPTION_ERASE] = {"erase", NULL, "first delete the closed submissions, like 'submission delete'", NULL},
    [OPTION_TIMESTAMP] = {"timestamp", "URLS", "timestamp authorities, instead of SigreqTimestamp", ctl_check_text},
    [OPTION_AUTHORITIES] = {"authorities", "FILE",
                            "certificates (PEM) at which their chains must end, instead of SigreqTimestampAuthorities",
                            NULL},
    [OPTION_PROXY] = {"proxy", "URL", "HTTP proxy for these authorities, instead of SigreqProxy", NULL},
    [OPTION_RENEW] = {"renew", "DAYS",
                      "renew timestamps that end within this time, instead of SigreqRenew; default: 90",
                      ctl_check_days},
    [OPTION_PROOFS] = {"proofs", "DIRECTORY", "directory of the proofs, instead of SigreqProofs", NULL},
    [OPTION_FOLDER] = {"folder", "DIRECTORY", "directory of the seal, with seal.crt and seal.key", ctl_check_text},
    [OPTION_NEXT_CERTIFICATE] = {"next-certificate", "FILE",
                                 "next certificate of the seal, instead of SigreqSealNextCertificate", NULL},
    [OPTION_NEXT_KEY] = {"next-key", "FILE", "private key of the next certificate, instead of SigreqSealNextKey", NULL},
    [OPTION_SEALS] = {"seals", "DIRECTORY",
                      "directory of the seals of organizations, instead of SigreqOrganizationSeals", ctl_check_text},
    [OPTION_REQUEST] = {"request", NULL, "create a key and a certificate request in the name of --name", NULL},
    [OPTION_ROTATE] = {"rotate", NULL, "replace certificate and key by the next ones", NULL},
    [OPTION_REMOVE] = {"remove", NULL, "rename the directory of the seal, so that the seal of the service is used",
                       NULL},
    [OPTION_REMOTE] = {"remote", NULL, "read all documents of a bucket (s3://), instead of only comparing sizes", NULL},
    [OPTION_CONNECTIONS] = {"connections", "N",
                            "number of connections that httpd may open, instead of the configured number",
                            ctl_check_unused},
    [OPTION_S3_ENDPOINT] = {"s3-endpoint", "URL", "object store, instead of SigreqS3Endpoint", NULL},
    [OPTION_S3_REGION] = {"s3-region", "NAME", "region of the object store, instead of SigreqS3Region", NULL},
    [OPTION_S3_CREDENTIALS] = {"s3-credentials", "file:FILE",
                               "keys of the object store, instead of SigreqS3Credentials", NULL},
    [OPTION_DOCUMENTS_CACHE] = {"documents-cache", "DIRECTORY", "local cache, instead of SigreqDocumentsCache", NULL},
    [OPTION_DOCUMENTS_ALSO] = {"documents-also", "PLACE", "second place of documents, instead of SigreqDocumentsAlso",
                               NULL},
    [OPTION_FROM] = {"from", "PLACE", "directory or s3://bucket/prefix that contains the documents", ctl_check_text},
    [OPTION_TO] = {"to", "PLACE", "directory or s3://bucket/prefix to which they are copied", ctl_check_text},
    [OPTION_VERIFY] = {"verify", NULL, "read documents that exist at the new place, and compare their SHA-256", NULL},
    [OPTION_EVIDENCE] = {"evidence", NULL, "also compare each submission with its audit trail", NULL},
    [OPTION_TO_DRIVER] = {"to-driver", "pgsql", "driver of the new database", ctl_check_pgsql},
    [OPTION_TO_PARAMS] = {"to-params", "TEXT",
                          "parameters of the new database, like DBDParams; the password is in PGPASSWORD or PGPASSFILE",
                          ctl_check_params},
    [OPTION_TARGET] = {"target", "DIRECTORY", "directory of the backup, created if it is missing", ctl_check_text},
    [OPTION_MAIL] = {"mail", "ADDRESS", "send a test mail to this address", ctl_check_email},
    [OPTION_WEBHOOK] = {"webhook", "URL", "call this URL with the event test", ctl_check_url},
    [OPTION_ASK_TIMESTAMP] = {"ask-timestamp", NULL, "get one timestamp from the authorities of SigreqTimestamp", NULL},
    [OPTION_QUICK] = {"quick", NULL, "compare only sizes, without reading the documents", NULL},
};

/* Each entry has the words and the function of a command, its options, and its help. */
/* clang-format off */
const ctl_command_t ctl_commands[] = {
    {"config", "", ctl_config, 0, {OPTION_COUNT},
     "Prints the directives of the service as httpd reads them. Included files, <IfDefine>, variables and virtual "
     "hosts are resolved. There is a block for each database. --config of another call can name the output. It may "
     "contain passwords. Exits with 1 if no database is configured."},
    {"db", "init", ctl_db_init, 0, {OPTION_COUNT}, "Creates the tables, and the file of an SQLite database."},
    {"db", "upgrade", ctl_db_init, 0, {OPTION_COUNT},
     "Upgrades the tables to the version of this build. May be repeated. Restart httpd afterwards."},
    {"db", "status", ctl_db_status, 0, {OPTION_CONNECTIONS, OPTION_COUNT},
     "Prints the version of the tables, and the problems of the database. Exits with 1 if the version is not that of "
     "this build."},
    {"db", "copy", ctl_db_copy, 2, {OPTION_TO_DRIVER, OPTION_TO_PARAMS, OPTION_COUNT},
     "Copies all rows of an SQLite database into a PostgreSQL database. Stop httpd first. Both databases need the "
     "tables of this build ('db init', 'db upgrade'), and the new one must have no rows. The copy is one "
     "transaction, so after a failure the command can be repeated. The SQLite database is not changed. Then "
     "configure the new database, run 'documents adopt', and start httpd."},
    {"org", "create", ctl_org_create, 1, {OPTION_NAME, OPTION_QUOTA, OPTION_COUNT},
     "Creates an organization. Without --quota its submissions are unlimited."},
    {"org", "list", ctl_org_list, 0, {OPTION_COUNT}, "Lists all organizations."},
    {"org", "show", ctl_org_show, 1, {OPTION_ORGANIZATION, OPTION_COUNT},
     "Shows an organization with its users and tokens. Also counts its open, held, closed and deleted submissions."},
    {"org", "quota", ctl_org_quota, 2, {OPTION_ORGANIZATION, OPTION_QUOTA, OPTION_COUNT},
     "Sets the number of production submissions of an organization. Existing submissions count."},
    {"org", "rename", ctl_org_rename, 2, {OPTION_ORGANIZATION, OPTION_NAME, OPTION_COUNT},
     "Renames an organization. Signed documents keep the old name."},
    {"org", "delete", ctl_org_delete, 1, {OPTION_ORGANIZATION, OPTION_ERASE, OPTION_CACHE, OPTION_COUNT},
     "Deletes an organization with its users and tokens. Without --erase it must have no submissions. With --erase "
     "its closed submissions are deleted completely, with signed documents and tombstones. If a submission is open "
     "or under legal hold, nothing is deleted. If the command is killed, run it again."},
    {"org", "seal", ctl_org_seal, 1,
     {OPTION_ORGANIZATION, OPTION_CERTIFICATE, OPTION_KEY, OPTION_REQUEST, OPTION_NAME, OPTION_ROTATE, OPTION_REMOVE,
      OPTION_SEALS, OPTION_COUNT},
     "Shows, installs or removes the seal of an organization. It seals the production documents of this "
     "organization. --certificate and --key install a seal, or its next one. --request creates a key, for a "
     "--certificate that is installed later. Then run apachectl graceful."},
    {"user", "create", ctl_user_create, 4,
     {OPTION_ORGANIZATION, OPTION_FIRSTNAME, OPTION_LASTNAME, OPTION_EMAIL, OPTION_COUNT},
     "Creates a user of an organization."},
    {"user", "list", ctl_user_list, 0, {OPTION_ORGANIZATION, OPTION_COUNT},
     "Lists the users of all organizations, or of one."},
    {"user", "rename", ctl_user_rename, 1,
     {OPTION_USER, OPTION_FIRSTNAME, OPTION_LASTNAME, OPTION_EMAIL, OPTION_ORGANIZATION, OPTION_COUNT},
     "Changes the name or email address of a user. Signed documents and sent mails keep the old values. The API "
     "shows the new values of a submission after its next change."},
    {"user", "disable", ctl_user_disable, 1, {OPTION_USER, OPTION_ORGANIZATION, OPTION_COUNT},
     "Rejects all tokens of a user until 'user enable'. This includes tokens that are created later. Signers can "
     "still sign the user's submissions, and webhooks are still called. May be repeated."},
    {"user", "enable", ctl_user_enable, 1, {OPTION_USER, OPTION_ORGANIZATION, OPTION_COUNT},
     "Accepts the tokens of a disabled user again. Revoked and expired tokens stay invalid. May be repeated."},
    {"user", "delete", ctl_user_delete, 1, {OPTION_USER, OPTION_ORGANIZATION, OPTION_ERASE, OPTION_CACHE, OPTION_COUNT},
     "Deletes a user with their tokens. Without --erase they must have no submissions. With --erase their closed "
     "submissions are deleted completely, with signed documents and tombstones. If a submission is open or under "
     "legal hold, nothing is deleted. The user is disabled first. If the command is killed, run it again."},
    {"token", "create", ctl_token_create, 4,
     {OPTION_ORGANIZATION, OPTION_USER, OPTION_ENVIRONMENT, OPTION_NAME, OPTION_EXPIRES, OPTION_COUNT},
     "Creates an API token for a user and prints it. Only its hash is stored, so it cannot be shown again."},
    {"token", "list", ctl_token_list, 0, {OPTION_ORGANIZATION, OPTION_USER, OPTION_EXPIRING, OPTION_COUNT},
     "Lists the tokens of all organizations, of one, or of a user. used_on is the day (UTC) of the last accepted "
     "request with the token."},
    {"token", "rotate", ctl_token_rotate, 1, {OPTION_UUID, OPTION_KEEP, OPTION_COUNT},
     "Replaces a token and prints the new one. It has the same name, user, environment and webhooks. The old token "
     "ends at once, or after --keep. If it expires, the new token is valid for as long as the old one was. "
     "Submissions of the old token keep its webhooks. Tokens that it created stay valid."},
    {"token", "revoke", ctl_token_revoke, -1,
     {OPTION_UUID, OPTION_CHILDREN, OPTION_USER, OPTION_ORGANIZATION, OPTION_COUNT},
     "Revokes a token, or all tokens of a user or an organization. Without --children, tokens that it created stay "
     "valid. Its webhook URLs are still called."},
    {"token", "webhooks", ctl_token_webhooks, 1,
     {OPTION_UUID, OPTION_CLEAR, OPTION_SENT, OPTION_SIGNED, OPTION_COMPLETED, OPTION_COUNT},
     "Shows, changes or removes the webhook URLs of a token. The token may be revoked."},
    {"submission", "list", ctl_submission_list, 0,
     {OPTION_ORGANIZATION, OPTION_USER, OPTION_ENVIRONMENT, OPTION_STATUS, OPTION_BY_SIGNER, OPTION_SINCE, OPTION_UNTIL,
      OPTION_NAME, OPTION_EXTERNAL_ID, OPTION_LIMIT, OPTION_BEFORE, OPTION_COUNT},
     "Lists submissions, newest first. --name is a part of the name, in upper or lower case. Reads submissions until "
     "the list is full."},
    {"submission", "show", ctl_submission_show, 1, {OPTION_UUID, OPTION_COUNT},
     "Shows a submission with its signers, documents and events. Signing links are shortened."},
    {"submission", "cancel", ctl_submission_cancel, 1, {OPTION_UUID, OPTION_REASON, OPTION_COUNT},
     "Cancels an open submission, like its caller. The links of signers who have not signed end. No webhook is "
     "called. May be repeated."},
    {"submission", "extend", ctl_submission_extend, 2, {OPTION_UUID, OPTION_EXPIRES, OPTION_COUNT},
     "Changes the deadline of an open submission, like its caller."},
    {"submission", "resend", ctl_submission_resend, 1, {OPTION_UUID, OPTION_ONE_SIGNER, OPTION_THEME, OPTION_COUNT},
     "Reminds the signers whose turn it is, or one signer, by mail. The mail contains the link. The submission must "
     "use sendEmail. A signer gets at most one mail in 10 minutes."},
    {"submission", "replace", ctl_submission_replace, 5,
     {OPTION_UUID, OPTION_ONE_SIGNER, OPTION_FIRSTNAME, OPTION_LASTNAME, OPTION_EMAIL, OPTION_THEME, OPTION_COUNT},
     "Replaces a signer who has neither signed nor refused, like the caller. The old link ends. If the submission "
     "uses sendEmail, the new signer gets an invitation when it is their turn."},
    {"submission", "hold", ctl_submission_hold, 2, {OPTION_UUID, OPTION_REASON, OPTION_COUNT},
     "Puts a submission under legal hold. It cannot be deleted until 'submission release'. A deleted submission "
     "cannot be held, and a submission cannot be held twice."},
    {"submission", "release", ctl_submission_release, 1, {OPTION_UUID, OPTION_COUNT},
     "Ends a legal hold. The reason is deleted."},
    {"submission", "delete", ctl_submission_delete, 1, {OPTION_UUID, OPTION_CACHE, OPTION_COUNT},
     "Deletes a closed submission, like DELETE /signatures/{uuid}. gc then removes its documents."},
    {"export", "", ctl_export, 2, {OPTION_EMAIL, OPTION_OUT, OPTION_ORGANIZATION, OPTION_ENVIRONMENT, OPTION_COUNT},
     "Writes all data about an email address to a new directory. It is for the person with this address, and "
     "contains export.json and the documents that they sign. Nothing in export.json is about other people. Upper and "
     "lower case (A to Z) of the address do not matter. The name of an incomplete directory ends in .partial. Exits "
     "with 3 if nothing is stored, and with 5 if a document cannot be read. Reads all submissions."},
    {"stats", "", ctl_stats, 0, {OPTION_ORGANIZATION, OPTION_SINCE, OPTION_UNTIL, OPTION_COUNT},
     "Counts submissions and stored bytes by month (UTC), organization and environment. Submissions are counted when "
     "they are created, completed or refused. Bytes are those of uploads, signatures and certificates of completion. "
     "Deleted submissions count without bytes. A document of two submissions counts twice, but is stored once. Reads "
     "all submissions."},
    {"delivery", "list", ctl_delivery_list, 0,
     {OPTION_ORGANIZATION, OPTION_SUBMISSION, OPTION_FAILED, OPTION_LIMIT, OPTION_BEFORE, OPTION_COUNT},
     "Lists webhook calls and invitations, newest first. Unfinished ones are included."},
    {"delivery", "redeliver", ctl_delivery_redeliver, 1, {OPTION_UUID, OPTION_COUNT},
     "Repeats the webhook call or invitation of an event (event_id). Webhooks are called at the present URL of the "
     "token, within five seconds, or after the next start of httpd. One repetition of an event can wait at a "
     "time. Events may be repeated 5 times in a minute, invitations once in 10 minutes. SigreqMailLimit does not count "
     "this."},
    {"gc", "", ctl_gc, 0,
     {OPTION_DRY_RUN, OPTION_QUARANTINE_DAYS, OPTION_RESERVED, OPTION_CACHE, OPTION_UNUSED, OPTION_HISTORY_DAYS,
      OPTION_COUNT},
     "Removes what is no longer needed. Documents that no submission uses are moved to the quarantine. Deletes "
     "documents from the quarantine after 30 days, page images 30 days after the last request, Idempotency-Keys "
     "after 24 hours, and the history of webhook calls after 90 days. httpd may run."},
    {"check", "", ctl_check, 0, {OPTION_QUICK, OPTION_REMOTE, OPTION_EVIDENCE, OPTION_COUNT},
     "Compares the stored documents with the database. Names documents that are missing, damaged (the content has "
     "changed) or foreign (the database does not know them). Changes nothing. httpd may run. Exits with 1 if it "
     "names something. --evidence also names submissions whose rows differ from their audit trail, and rows that "
     "belong to no submission. It does not notice a closed submission that was deleted with all its rows on "
     "PostgreSQL. It notices a deleted webhook call only if the token has the URL now and called it before and after "
     "the event. Events of a time when a URL was removed are named as well. Of deleted calls older than a day, which "
     "gc deletes, it notices those after the oldest one in the history."},
    {"documents", "adopt", ctl_documents_adopt, 0, {OPTION_COUNT},
     "Records that the directory of documents belongs to this database. Needed after one of them was moved or "
     "restored. Until then, httpd stores nothing in the directory, and gc deletes nothing."},
    {"documents", "copy", ctl_documents_copy, 2, {OPTION_FROM, OPTION_TO, OPTION_VERIFY, OPTION_COUNT},
     "Copies the documents of the database from one place to another. Each is compared with its SHA-256. httpd may "
     "run. May be repeated after an interruption, and to copy the rest: copied documents are skipped. Deletes "
     "nothing. Exits with 1 if a document cannot be copied."},
    {"backup", "", ctl_backup, 1, {OPTION_TARGET, OPTION_COUNT},
     "Saves the database (sigreq.dump, or sigreq.db with SQLite) and the documents. httpd may run. The next backup "
     "in this directory copies only new documents, and moves deleted ones to its quarantine for 30 days. The seal "
     "and the configuration of httpd are not saved. Exits with 1 if a document is missing or damaged."},
    {"doctor", "", ctl_doctor, 0, {OPTION_MAIL, OPTION_WEBHOOK, OPTION_ASK_TIMESTAMP, OPTION_COUNT},
     "Checks the installation and says what to do. Run it as root on the host of the service. Prints a line for "
     "httpd -t, versions, database, clocks, documents, free space, seal, links, mail and timestamps. Changes "
     "nothing, and sends something only with an option. Exits with 1 if a line says fail."},
    {"archive", "", ctl_archive, -1,
     {OPTION_UUID, OPTION_TIMESTAMP, OPTION_AUTHORITIES, OPTION_PROXY, OPTION_RENEW, OPTION_PROOFS, OPTION_CERTIFICATE,
      OPTION_TEST_CERTIFICATE, OPTION_SEALS, OPTION_HELPER, OPTION_COUNT},
     "Appends proofs and a document timestamp to completed submissions. Without --uuid it archives all submissions "
     "that have no timestamp or whose timestamp ends soon. httpd may run, and the command may run on several hosts. "
     "If it is killed, the submission stays unchanged. Authorities that need SigreqTimestampLogin cannot be used. "
     "Prints how many submissions were archived and how many failed. Exits with 1 if one failed."},
    {"seal", "create", ctl_seal_create, 1, {OPTION_OUT, OPTION_NAME, OPTION_DAYS, OPTION_TEST, OPTION_COUNT},
     "Creates a P-256 key and a self-signed certificate. Never overwrites a file."},
    {"seal", "show", ctl_seal_show, -1,
     {OPTION_FOLDER, OPTION_CERTIFICATE, OPTION_KEY, OPTION_NEXT_CERTIFICATE, OPTION_NEXT_KEY, OPTION_COUNT},
     "Shows the present, next and former certificates of the seal. Former certificates need --folder. Prints dates "
     "and fingerprints. Exits with 1 if httpd could not seal."},
    {"seal", "request", ctl_seal_request, 2,
     {OPTION_FOLDER, OPTION_NAME, OPTION_KEY, OPTION_MODULE, OPTION_PIN, OPTION_SIGNER, OPTION_COUNT},
     "Creates a P-256 key and a certificate request. The request is next.csr, or seal.csr if there is no seal. Send "
     "it to a certificate authority. --key pkcs11:... uses a key in a token. Never overwrites a file."},
    {"seal", "import", ctl_seal_import, 2, {OPTION_FOLDER, OPTION_CERTIFICATE, OPTION_COUNT},
     "Checks and installs the certificate for a 'seal request'. The file contains certificates in PEM, in any order. "
     "They are installed as next.crt, or as seal.crt if there is no seal. If something is wrong, all errors are "
     "named and nothing is installed. Then run apachectl graceful."},
    {"seal", "rotate", ctl_seal_rotate, 1, {OPTION_FOLDER, OPTION_COUNT},
     "Replaces seal.crt and seal.key by next.crt and next.key. Moves the old certificate to the directory former, "
     "and deletes the old key. May be repeated after an interruption. Then run apachectl graceful."},
    {"verify", "", ctl_verify, 1,
     {OPTION_FILE, OPTION_TRUST, OPTION_CERTIFICATE, OPTION_TEST_CERTIFICATE, OPTION_SEALS, OPTION_HELPER,
      OPTION_COUNT},
     "Checks the signatures of a PDF. Exits with 0 if all are intact (with --trust: trusted) and explain all "
     "changes."},
};
/* clang-format on */
const int ctl_command_count = sizeof ctl_commands / sizeof *ctl_commands;
