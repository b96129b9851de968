/* SPDX-License-Identifier: Apache-2.0 */
/* commands.c: the table of sigreqctl's commands. The parser, the checks and the help pages use it. */
#include "ctl/ctl.h"

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
     "--certificate that is installed later. --rotate replaces the seal by the next one. Then run apachectl graceful."},
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
    {"submission", "unlock", ctl_submission_unlock, 2, {OPTION_UUID, OPTION_ONE_SIGNER, OPTION_COUNT},
     "Unlocks the check of a signer's identity after wrong codes, like the caller."},
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
      OPTION_EVENT_DAYS, OPTION_COUNT},
     "Removes what is no longer needed. Documents that no submission uses are moved to the quarantine. Deletes "
     "documents from the quarantine after 30 days, page images 30 days after the last request, Idempotency-Keys "
     "after 24 hours, the history of webhook calls after 90 days, and events after SigreqEventDays. httpd may run."},
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
     {OPTION_FOLDER, OPTION_CERTIFICATE, OPTION_KEY, OPTION_COUNT},
     "Shows the present, next and former certificates of the seal. Next and former certificates need --folder. Prints "
     "dates and fingerprints. Exits with 1 if httpd could not seal."},
    {"seal", "request", ctl_seal_request, 2,
     {OPTION_FOLDER, OPTION_NAME, OPTION_KEY, OPTION_MODULE, OPTION_PIN, OPTION_SIGNER, OPTION_COUNT},
     "Creates a P-256 key and a certificate request. The request is next.csr, or seal.csr if there is no seal. Send "
     "it to a certificate authority. --key pkcs11:... uses a key in a token. Never overwrites a file."},
    {"seal", "import", ctl_seal_import, 2, {OPTION_FOLDER, OPTION_CERTIFICATE, OPTION_COUNT},
     "Checks and installs the certificate for a 'seal request'. The file contains certificates in PEM, in any order. "
     "They are installed as next.crt, or as seal.crt if there is no seal. If something is wrong, all errors are "
     "named and nothing is installed. Then run 'sigreqctl seal rotate', or apachectl graceful if it is seal.crt."},
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
