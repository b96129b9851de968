/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: what is kept, and the contract of every operation on it.
 *
 * Sections: store.c (the engine) · pgsql.c, sqlite3.c (what the two databases do differently) · watch.c · gate.c
 *
 * The SQL is in the folders pgsql and sqlite3: the same operations with the same signatures. One operation is one
 * transaction. It has an outcome (sr_outcome_t) and, with some outcomes, a row or a list of rows. tools/sql2c makes C
 * functions and structs of the signatures and rows.
 *
 * Scope: every operation of a caller takes the SHA-256 of the bearer token and the time, and finds user,
 * organisation and environment by that token in the same statement: a token revoked a moment ago, or one of
 * another environment, cannot read or write anything.
 *
 * Times are microseconds since 1970 (apr_time_t) in bigint columns on both databases.
 */
#ifndef SR_STORE_H
#define SR_STORE_H

#include <apr_dbd.h>
#include <apr_file_io.h>
#include <apr_hash.h>

#include "base/base.h"
#include "metrics/metrics.h"
#include "model/model.h"

/* ------------------------------------------------------------------------------------------------ store.c
 * A store is one database connection while somebody holds it.
 */
typedef struct sr_store_t sr_store_t;

/* Where connections come from: mod_dbd's pool in httpd (src/run), apr_dbd alone in sigreqctl (src/ctl). */
typedef struct sr_store_source_t sr_store_source_t;
struct sr_store_source_t {
    bool reads; /* set before borrow: the operation to come writes nothing */
    /* Borrows a connection until `give_back`. Errors: SR_EUNAVAILABLE. */
    sr_error_t *(*borrow)(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool);
    void (*give_back)(sr_store_source_t *source, sr_store_t *store);
};

/* SQLite admits one writer: who opens the store says how its writers are serialised. May be NULL (one process,
 * one thread: SQLITE_BUSY is still retried). */
typedef struct sr_writer_lock_t {
    apr_status_t (*lock)(void *baton);
    apr_status_t (*unlock)(void *baton);
    void *baton;
} sr_writer_lock_t;

typedef struct sr_watch_t sr_watch_t; /* see watch.c */

/* Makes a store over an open apr_dbd connection. `prepared` is the connection's own table of statements (it
 * must live as long as the connection, as `connection_pool` does): at first use the statements are prepared
 * into it and the schema version is checked, later uses find them there. Drivers: pgsql, sqlite3. `watch` limits
 * what PostgreSQL may take; NULL: no limit.
 * Errors: SR_EUNAVAILABLE, with a cause that says what to do ("… run: sigreqctl db upgrade"). */
sr_error_t *sr_store_open(sr_store_t **store, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_hash_t *prepared,
                          apr_pool_t *connection_pool, const sr_writer_lock_t *lock, sr_watch_t *watch,
                          apr_pool_t *pool);

typedef enum sr_outcome_t {
    SR_OK,
    SR_UNAUTHORIZED, /* the token is unknown, revoked or expired */
    SR_MISSING,      /* no such thing in the caller's scope */
    SR_QUOTA,        /* the organisation's production quota is used up */
    SR_REPLAY,       /* same Idempotency-Key, same request: body is the first answer */
    SR_CONFLICT,     /* same Idempotency-Key, another request; or the name is taken (administration) */
    SR_STALE,        /* somebody else has changed the submission since it was read */
    SR_OUTCOME_COUNT
} sr_outcome_t;

/* The operations. The .sql files give their signatures, of which tools/sql2c makes a function and a struct each
 * (embed/operations.h); what is here explains them. The comment gives the arguments in order, the outcomes, and the
 * row: its name, or the JSON in its only column. $T stands for the two first arguments of every caller's operation:
 * token hash (hexadecimal SHA-256), now. The `parent` of a token is the uuid of the token that made it.
 * "urls" is {"sent","signed","completed"}: each a URL, or null for none. A member that is absent changes nothing.
 * "webhook" is {"event_id" (a new uuid),"kind" ("sent"|"signed"|"refused"|"completed"),"body"} (model:
 * sr_webhook_row): it becomes a job, if the submission's token has a URL for that kind. The body is the
 * JSON text of an object with at least one member; "userTokenId" and "webhookUrl" are put in when it is called. One of
 * the kind "invitation" (sr_invitation_row) has its own "url" ("mailto:…"), and waits for no other.
 * "blob" is a content that the operation names: {"sha256","size","key"|null,"replaces"|null}, each content once. It is
 * stored under "key", which SR_OP_BLOB_RESERVE gave; without a key it was stored before. "replaces" is the key under
 * which its file is missing. "folder" is the uuid of the folder of all (sr_blobs_binding). If a reservation or a
 * content is there no more, the operation is STALE and names nothing: store the contents again under new keys. */
typedef enum sr_op_t {
    /* $T → OK + token | UNAUTHORIZED */
    SR_OP_TOKEN_CURRENT,
    /* One JSON argument: {"token_hash","now","uuid","name","template_uuid","skip_intro","send_email","search",
     *  "base_url","warnings":[text]|null,"representation","representation_version","event_hash","event",
     *  "documents":[{"uuid","name","sha256","size","pages","warnings":[name]|null,"rewritten_sha256"|null,
     *  "rewritten_size"|null}],
     *  "signers":[{"uuid","firstname","lastname","email"|null,"locale"|null,"state","fields":[…]}],
     *  "folder","blobs":[blob],"idempotency_key"|null,"fingerprint"|null,"idempotency_since","webhooks":[webhook]}
     * → OK + representation | UNAUTHORIZED | QUOTA | REPLAY + the first representation | CONFLICT | STALE.
     * Takes one from the quota when the token is of production. Repeating it with the same uuid (after a lost
     * connection) changes nothing and is OK. Times are `now`. An idempotency row older
     * than `idempotency_since` counts as absent. */
    SR_OP_SUBMISSION_CREATE,
    /* $T, uuid, version → OK + representation (none, if it is of an older version) | MISSING | UNAUTHORIZED */
    SR_OP_SUBMISSION_GET,
    /* $T, uuid → OK + submission row | MISSING | UNAUTHORIZED. "submission row" is {"uuid","name","template_uuid",
     *  "skip_intro","send_email","state","created_at","updated_at","events" (how many),"events_hash" (of the last),
     *  "access_epoch","certificate_sha256"|null,"certificate_size"|null,"certificate_key"|null,"warnings":[text]|null,
     *  "created_by":{"firstname","lastname","email"},"documents":[document row],
     *  "signers":[{"uuid","firstname","lastname","email"|null,"locale"|null,"state","opened_at"|null,
     *  "completed_at"|null,"refused_at"|null,"refusal_reason"|null,"ip"|null,"user_agent"|null,"signature_type"|null,
     *  "consent"|null,"fields":[…]}]}. */
    SR_OP_SUBMISSION_RECORD,
    /* uuid, events_hash (of the row that it was rendered from), version, representation → OK. It is stored in place of
     * one of an older version, unless the submission has changed since. */
    SR_OP_SUBMISSION_RENDERED,
    /* $T, rows at most, direction ("older"|"newer"), from created_at|NULL, from id|NULL, states|NULL, q (folded)|NULL,
     * created after|NULL, created before|NULL, bytes, version → OK + listed, each; no row: the list is empty |
     * UNAUTHORIZED. Rows after the one with which the representations have that many bytes come without one. So do
     * those whose representation is of an older version: they are `old`. "older": newest first, what is older than
     * created_at and id (or everything); "newer": oldest first, what is newer. states: "sent,opened", at least one
     * signer has one of them. created after is exclusive, before too. */
    SR_OP_SUBMISSION_LIST,
    /* $T, submission uuid, document uuid → OK + document row | MISSING | UNAUTHORIZED. "document row" is
     *  {"uuid","name","sha256","size" (of the upload),"pages","warnings":[name]|null,"rewritten_sha256"|null,
     *  "rewritten_size"|null,"key" (of the upload),"rewritten_key"|null,"revisions":[{"sha256","key","size" (of what
     * was appended),"whole_sha256","whole_size"}] in their order}. A key is what a blob is stored under (blobs.h). */
    SR_OP_DOCUMENT_GET,
    /* $T, SHA-256 → OK + file | MISSING | UNAUTHORIZED: what of
     * the caller's has these very bytes: a document, as it was signed, uploaded or normalised, or (with null) a
     * submission's certificate of completion. One of them where there are several. */
    SR_OP_DOCUMENT_KNOWN,
    /* $T, submission uuid → OK + certificate (name is the submission's) of completion |
     * MISSING (also while there is none) | UNAUTHORIZED */
    SR_OP_CERTIFICATE_GET,
    /* $T, submission uuid → OK + the events as a JSON array, oldest first | MISSING | UNAUTHORIZED */
    SR_OP_AUDIT_GET,
    /* signer uuid (who knows it has the link: no token), version|NULL → OK + {"submission" (submission row),"version"
     *  (of what is read here, opaque),"environment","organization" (its name),"organization_uuid","base_url",
     *  "tell_signed","tell_completed" (1 where there is such a webhook URL, else 0)} | OK without a body: this is still
     *  the version | MISSING */
    SR_OP_SIGNING_GET,
    /* signer uuid → OK + the access_epoch of its submission | MISSING */
    SR_OP_SIGNING_ACCESS,
    /* signer uuid → OK + the events of that submission as a JSON array, oldest first | MISSING */
    SR_OP_SIGNING_EVENTS,
    /* One JSON argument: {"submission","signer","now","seen","seen_hash" (events and events_hash as they were read),
     *  "submission_state" (another one than before raises access_epoch),"representation","representation_version",
     *  "state" (of the signer),"opened_at"|null (kept, when it has one),"completed_at"|null,"refused_at"|null,
     *  "refusal_reason"|null,"ip"|null,"user_agent"|null,"signature_type"|null,"consent"|null,
     *  "events":[{"hash","body"}] (at least one),
     *  "revisions":[{"document","number","sha256","size","whole_sha256","whole_size"}],
     *  "certificate_sha256"|null,"certificate_size"|null,"folder"|null,"blobs":[blob]|absent,
     *  "webhooks":[webhook]|absent}
     * → OK | STALE | MISSING. One transition of a submission and of one signer of it. Repeating it (after a lost
     * connection) changes nothing and is OK. */
    SR_OP_SIGNING_CHANGE,
    /* folder, JSON array of SHA-256, each once → OK + reserved, each: a new key, "<sha256>.<16 hexadecimal digits>",
     * under which something may now be stored, and the key under which the content is stored already. */
    SR_OP_BLOB_RESERVE,
    /* folder, JSON array of SHA-256 → OK + key, of each content that is stored */
    SR_OP_BLOB_FIND,
    /* Submission uuid, holder (a new sr_process_name), microseconds → OK: the holder has a lease of the submission for
     * that time | STALE + the holder ("" if it has just ended): somebody else has one | MISSING: this database keeps no
     * leases, all who use it are on one machine. */
    SR_OP_LOCK_TAKE,
    /* Submission uuid, holder → OK | MISSING as above. The lease ends, if this holder has it. */
    SR_OP_LOCK_RELEASE,
    /* $T, kind ("sent"|"signed"|"completed"), url|NULL → OK | UNAUTHORIZED */
    SR_OP_WEBHOOK_SET,
    /* $T, uuid, name, secret hash, expires_at|NULL → OK + token (of the new one, in the caller's scope) |
     * UNAUTHORIZED */
    SR_OP_TOKEN_CREATE,
    /* $T, uuid → OK + token | MISSING | UNAUTHORIZED. The scope is the caller's user, organisation and
     * environment. */
    SR_OP_TOKEN_GET,
    /* $T, rows at most, direction, from created_at|NULL, from id|NULL → as SR_OP_SUBMISSION_LIST, with tokens;
     * revoked ones are listed too */
    SR_OP_TOKEN_LIST,
    /* $T, uuid, children ("true"|"false") → OK | MISSING | UNAUTHORIZED; revoking twice is OK and keeps the first time.
     * With children, all tokens that it made, directly or through others, are revoked too. */
    SR_OP_TOKEN_REVOKE,
    /* $T, uuid, urls → OK + token | MISSING | UNAUTHORIZED: of any token in the caller's scope, revoked or not */
    SR_OP_TOKEN_WEBHOOKS,

    /* $T, rows at most, direction, from ended_at|NULL, from id|NULL, kind|NULL, submission uuid|NULL, success
     * ("true"|"false")|NULL → as SR_OP_SUBMISSION_LIST, with deliveries: what was called (url: at most 255
     * characters) and how it ended */
    SR_OP_HISTORY_LIST,
    /* $T, event uuid, uuid of the new call → OK + its row as above (success and ended_at null) | MISSING (also while
     * the first call is not over) | CONFLICT (the token has no URL for that kind now) | STALE (one on request is not
     * over) | QUOTA (there were 5 in the last minute, or an invitation in the last 10 minutes) | UNAUTHORIZED. The
     * event is called once more, at the URL its token has now; an invitation goes to its signer. Repeating it with the
     * same uuid changes nothing and is OK. */
    SR_OP_HISTORY_REDELIVER,
    /* $T, event uuid → OK + invitation (the whole URL) | MISSING (no invitation of the
     * caller's) | UNAUTHORIZED: whom a call once more would invite. */
    SR_OP_HISTORY_INVITATION,

    /* No argument → OK + installation */
    SR_OP_PING,
    /* No argument → OK. Writes what is there already, so it fails if nothing can be written. */
    SR_OP_REWRITE,

    /* The job thread (src/jobs). */
    /* now → OK if there may be a job for SR_OP_JOB_BATCH | MISSING + due (in microseconds; NULL: there is none). Writes
     * nothing. */
    SR_OP_JOB_POLL,
    /* One JSON argument: {"now","dead":["<owner>", …] (processes that are dead),
     *  "repeated":{"<kind>":{"attempts","pause" (microseconds)}}}
     * → OK + survey (oldest: microseconds; owners: ["<owner>", …]): schedules the
     * claims of the dead, and those whose lease is over, again if their kind is `repeated` and has attempts left.
     * Records the others as "interrupted, outcome unknown" (if the truth is recorded later, it replaces that). Tells
     * how many those were, how many jobs are pending and claimed (as far as 100,000), since when the oldest of the
     * pending ones is due, and which processes have claims (200 at most). A claim's owner is its name up to the first
     * '.'. */
    SR_OP_JOB_SURVEY,
    /* One JSON argument: {"claim","now","leases":{"<kind>":<microseconds>},"rows" (at most),
     *  "destinations":{"<organization's id>":[["<destination>",<slow>,<room>], …]},
     *  "share":{"room","new","slow"},"organizations":{"<id>":{"room","new","slow"}},"new","slow",
     *  "from" (an organization's id, or -1),"after":{"<id>":"<destination>"},
     *  "ended":[{"id","claim","status"|null,"success","error"|null,"due_at"|null}],"released":[{"id","claim"}]}
     * → OK + job, for each claim one (attempts: that failed), and a last one, whose id is 0, with `due_in` as of
     * SR_OP_JOB_POLL. Records how the jobs of `ended` ended: one with "due_at" failed, and is tried again then. Gives
     * back the claims of `released`, for which nothing was sent. Makes the scheduled jobs pending that are due by
     * `now`. Then claims pending jobs of the kinds that have a lease, for that time, under the name `claim`: of a
     * listed destination `room` at most, of any other one; of an organization `room` in all, `new` of destinations that
     * are not listed and `slow` of those that are slow, as `organizations` says or else `share`; and of all
     * organizations together `new` and `slow` of those. Organizations take turns, beginning after `from`, and so do the
     * destinations of one that are not listed, beginning after `after`.
     * A later event of a submission waits for the earlier ones. Repeating it with the same `claim` gives the same
     * claims again. */
    SR_OP_JOB_BATCH,

    /* Administration (sigreqctl). Lists give every row, oldest first. */
    /* uuid, name, quota|NULL, now → OK + organization | CONFLICT (name taken) */
    SR_OP_ADMIN_ORGANIZATION_CREATE,
    /* → OK + organization, each */
    SR_OP_ADMIN_ORGANIZATION_LIST,
    /* uuid or name, quota|NULL (NULL: unlimited) → OK + organization | MISSING */
    SR_OP_ADMIN_ORGANIZATION_QUOTA,
    /* uuid, organization uuid or name, firstname, lastname, email, now → OK + user | MISSING (organization) |
     * CONFLICT (email taken in it) */
    SR_OP_ADMIN_USER_CREATE,
    /* organization uuid or name, or NULL for all → OK + user, each */
    SR_OP_ADMIN_USER_LIST,
    /* uuid, organization uuid or name, user uuid or email, environment, name, secret hash, expires_at|NULL, now →
     * OK + token | MISSING */
    SR_OP_ADMIN_TOKEN_CREATE,
    /* organization uuid or name|NULL → OK + token, each */
    SR_OP_ADMIN_TOKEN_LIST,
    /* token uuid, now, children ("true"|"false") → OK + token, of each that is revoked now | MISSING */
    SR_OP_ADMIN_TOKEN_REVOKE,
    /* token uuid, urls → OK + token | MISSING */
    SR_OP_ADMIN_TOKEN_WEBHOOKS,
    /* folder, sha256 ("" before the first), rows at most → OK + blob, of each content after it, in their order */
    SR_OP_ADMIN_BLOB_LIST,
    /* JSON array of keys → OK + key, of each that is neither named, reserved nor a tombstone. Ask this of files that
     * were found before: no transaction will ever name them. */
    SR_OP_ADMIN_BLOB_STRANGERS,
    /* folder, sha256 ("" before the first), rows at most → OK + {"after" (the last of these contents)|null,"seen" (how
     *  many they are),"unnamed":[key] (of those that no submission needs)} */
    SR_OP_ADMIN_BLOB_UNNAMED,
    /* folder, microseconds, rows at most → OK + key, of each reservation that is so old */
    SR_OP_ADMIN_BLOB_LATE,
    /* {"named":[key],"reserved":[key]} → OK. They become tombstones: keys of contents that no submission needs and that
     * no transaction under way is about to name, and reservations that no transaction under way takes. */
    SR_OP_ADMIN_BLOB_DOOM,
    /* folder, key ("" before the first), rows at most → OK + tombstone, of each after it, in their order. forget: its
     * content is not stored under another key. */
    SR_OP_ADMIN_BLOB_TOMBSTONES,
    /* JSON array of keys → OK. Their files have been removed: the tombstones go. */
    SR_OP_ADMIN_BLOB_BURY,
    /* idempotency rows older than this time are deleted → OK + count */
    SR_OP_ADMIN_EXPIRE,
    /* webhook calls that ended before this time are forgotten → OK + count */
    SR_OP_ADMIN_HISTORY_EXPIRE,
    SR_OP_COUNT
} sr_op_t;

/* Makes a source of a store that is open. */
sr_store_source_t *sr_store_source(sr_store_t *store, apr_pool_t *pool);

/* The operations as functions: sr_store_token_get(source, &outcome, &row, …). Each borrows a connection, runs the
 * operation as one transaction, and gives the connection back. A connection that died is opened again and the operation
 * sent once more, within the time of the watch; a busy SQLite is retried for two seconds. Errors: SR_EUNAVAILABLE when
 * the database is away, SR_EINTERNAL when it refuses the statement. */
#include "embed/operations.h"

/* A row that this operation gave as a JSON object, with the names of its columns; times are numbers. New reference. */
json_t *sr_store_row_json(sr_op_t op, const void *row);

/* --- schema (sigreqctl db …): tables by numbered migrations, conf/schema/<driver>/NNNN_name.sql; definitions
 * (functions and views) in src/store/<driver>/ beside the operations. All are compiled in. The database keeps a
 * checksum of each migration that it was made with, and one of its definitions. */
typedef struct sr_migration_t {
    int version;
    const char *name;
    const char *checksum;          /* of the statements, without comments */
    const char *const *statements; /* ends with NULL */
} sr_migration_t;

typedef struct sr_schema_t {
    int version;         /* 0 if nothing is there */
    int latest;          /* the newest version that this build knows */
    bool definitions;    /* they are this build's */
    const char *foreign; /* why these tables are not those of any version of this build, or NULL */
    const char *problem; /* why this build cannot use the database, and what to do; or NULL */
} sr_schema_t;

/* What is there. Needs no sr_store_open. */
sr_error_t *sr_schema_read(sr_schema_t *schema, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_pool_t *pool);
/* Applies the migrations that are missing, and the definitions if they differ, all in one transaction: a process that
 * is killed has changed nothing, and several at once do it once. *applied holds const sr_migration_t *, and *defined
 * says whether definitions were made. A database of other tables than this build's is SR_ECONFLICT. */
sr_error_t *sr_schema_upgrade(apr_array_header_t **applied, bool *defined, const apr_dbd_driver_t *driver,
                              apr_dbd_t *handle, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ watch.c
 * A limit for what PostgreSQL may take over one operation. When the time is up the socket of the connection is shut
 * down, and the operation fails as it does when a connection is lost: it may have been committed or not.
 */
typedef struct sr_watchdog_t sr_watchdog_t;
/* Starts the thread that looks after the watches of this process; it ends with the pool. */
sr_error_t *sr_watchdog_start(sr_watchdog_t **watchdog, apr_interval_time_t limit, apr_pool_t *pool);

/* One operation. The caller keeps it in place from begin to end; its members are for reading. */
struct sr_watch_t {
    sr_watchdog_t *watchdog; /* NULL: no limit */
    sr_watch_t *next, **link;
    apr_time_t until; /* by sr_watch_clock */
    int socket;
    bool late, answered; /* the time is up; the database has answered in time */
};
/* From now on the time runs. */
void sr_watch_begin(sr_watch_t *watch, sr_watchdog_t *watchdog);
void sr_watch_end(sr_watch_t *watch);
/* Microseconds of a clock that nobody sets. */
apr_time_t sr_watch_clock(void);

/* ------------------------------------------------------------------------------------------------- gate.c
 * Which threads of a process may go to a database. All of them while it answers. When one has waited in vain, the
 * database counts as stopped for all processes of the machine: one thread at a time tries it, and all others are
 * refused at once, so that they do not spend their time waiting, until one is answered. Those who read and those who
 * writes is counted apart.
 */
typedef struct sr_gate_t sr_gate_t;
/* `number` is the database's of SR_LABEL_SERVER; at most three quarters of `threads` (but two) go in at a time,
 * half of them to write. */
sr_gate_t *sr_gate_create(int number, int threads, apr_interval_time_t limit, apr_pool_t *pool);

typedef enum sr_visit_end_t {
    SR_VISIT_UNKNOWN,
    SR_VISIT_ANSWERED,
    SR_VISIT_LATE,
    SR_VISIT_UNREACHABLE /* late already when the connection was opened */
} sr_visit_end_t;
typedef enum sr_gate_change_t { SR_GATE_SAME, SR_GATE_STOPPED, SR_GATE_ANSWERS } sr_gate_change_t;
typedef struct sr_visit_t {
    sr_gate_t *gate;
    sr_use_t use;
    bool tries; /* whether a database that is stopped answers again */
} sr_visit_t;

/* How long opening a connection may take, per host of the connection string (libpq's connect_timeout). */
#define SR_CONNECT_SECONDS "2"
#define SR_CONNECT_TIME apr_time_from_sec(2)

/* NULL when the thread may go on: it then opens a connection, which one thread at a time does, and says so by
 * sr_gate_opened. Otherwise why it may not. Waits until `until` at the latest, by sr_watch_clock. */
const char *sr_gate_enter(sr_visit_t *visit, sr_gate_t *gate, sr_use_t use, apr_time_t until);
void sr_gate_opened(sr_visit_t *visit);
/* Tells what this has changed, for the log. */
sr_gate_change_t sr_gate_leave(sr_visit_t *visit, sr_visit_end_t end);

#endif
