/* SPDX-License-Identifier: Apache-2.0 */
/* store.h: the database, and the contract of every operation on it.
 *
 * Sections: store.c (the engine) with pgsql.c and sqlite3.c (what differs); gate.h. The tables are
 * in schema.h.
 *
 * The SQL is in the folder common, or in pgsql and sqlite3, with the same signatures. One operation
 * is one transaction. It has an outcome (sr_outcome_t) and, with some outcomes, a row or a list of rows. tools/sql2c
 * makes C functions and structs from the signatures and rows.
 *
 * Scope: every operation of a caller takes the SHA-256 of the bearer token and the time, and finds user, organisation
 * and environment by that token in the same statement. So a token that was revoked a moment ago, or one of another
 * environment, can neither read nor write anything.
 * Times are microseconds since 1970 (apr_time_t) in bigint columns on both databases.
 */
#ifndef SR_STORE_STORE_H
#define SR_STORE_STORE_H

#include <apr_dbd.h>
#include <apr_file_io.h>
#include <apr_hash.h>

#include "base/base.h"
#include "metrics/metrics.h"
#include "model/model.h"

/* ------------------------------------------------------------------------------------------------ store.c
 * A store is one database connection while it is borrowed.
 */
typedef struct sr_store_t sr_store_t;

/* A source of connections: in httpd the pool of mod_dbd (src/httpd), in sigreqctl one connection of apr_dbd (src/ctl).
 * SQLite allows one writer at a time, so the source of several threads or processes lends connections to one writer
 * after the other. SQLITE_BUSY is retried in any case. */
typedef struct sr_store_source_t sr_store_source_t;
struct sr_store_source_t {
    bool reads;          /* set before `borrow`: true if the next operation only reads */
    int servers, number; /* of sr_store_servers; of the database, among those of the process, or -1 */
    /* Borrows a connection, which the caller returns by `give_back`. Errors: SR_EUNAVAILABLE. */
    sr_error_t *(*borrow)(sr_store_source_t *source, sr_store_t **store, apr_pool_t *pool);
    void (*give_back)(sr_store_source_t *source, sr_store_t *store);
};

#define SR_SPARE_CONNECTIONS 10 /* beside those of httpd: for sigreqctl, backups and monitoring */
/* Returns how many servers a connection string names: 0 for SQLite. */
int sr_store_servers(const char *driver, const char *params);
typedef struct sr_watch_t sr_watch_t; /* see watch.c */

/* Makes a store of an open apr_dbd connection. `prepared` is a table of the connection. It must live as long as the
 * connection, and so must `connection_pool`. The first use of a connection checks the schema version. Statements are
 * prepared when their operation first runs, and put into the table. Drivers: pgsql, sqlite3. `watch` limits the time
 * that an operation on PostgreSQL may take; NULL means no limit. Errors: SR_EUNAVAILABLE, with a cause that says what
 * to do ("… run: sigreqctl db upgrade"). */
sr_error_t *sr_store_open(sr_store_t **store, const apr_dbd_driver_t *driver, apr_dbd_t *handle, apr_hash_t *prepared,
                          apr_pool_t *connection_pool, sr_watch_t *watch, apr_pool_t *pool);

typedef enum sr_outcome_t {
    SR_OK,
    SR_UNAUTHORIZED, /* the token is unknown, revoked or expired, or its user is disabled */
    SR_MISSING,      /* nothing with this name is in the caller's scope */
    SR_QUOTA,        /* the organisation's production quota is used up */
    SR_REPLAY,       /* same Idempotency-Key, same request: the row is the first response */
    SR_CONFLICT,     /* same Idempotency-Key, another request; or the name is taken (administration) */
    SR_GONE,         /* the link of a signer who was replaced; or the creation is no replay (only_replay) */
    SR_STALE,        /* the submission was changed after it was read */
    SR_DELETED,      /* the submission was deleted */
    SR_OUTCOME_COUNT
} sr_outcome_t;

/* The operations. Their signatures are in the .sql files, and tools/sql2c makes a function and a struct of each
 * (embed/operations.h). The comments here explain them. A comment gives the arguments in order, the outcomes, and the
 * row: its name, or the JSON in its only column. What several operations have in common:
 *
 * - An argument such as "creation" is a struct (sr_creation_arg_t), and a list of structs is an array of them. Both are
 *   sent as JSON. store/common/writing.sql declares and describes them. An empty array is as NULL.
 * - $T stands for the first two arguments of every operation of a caller: token hash (hexadecimal SHA-256), now.
 * - The `parent` of a token is the uuid of the token that made it.
 * - "urls" is {"sent","signed","completed"}, each a URL, or null for no URL. A member that is absent changes nothing.
 * - "webhook" is {"event_id" (a new uuid),"kind" ("sent"|"signed"|"refused"|"completed"),"body"} (model:
 *   sr_webhook_row). It becomes a job if the submission's token has a URL for that kind. The body is the JSON text of
 *   an object with at least one member. "userTokenId" and "webhookUrl" are added to it when the webhook is called. A
 *   webhook of the kind "invitation", "reminder", "copy" or "view" (sr_invitation_row) has its own "url"
 *   ("mailto:…"), and does not wait for other jobs.
 * - An operation that reads a submission is DELETED if it was deleted and is in the caller's scope. SR_OP_AUDIT_GET and
 *   lists are exceptions.
 * - "folder" is the uuid of the folder of all these blobs (sr_blobs_binding).
 * - A repetition is the same operation after a lost connection, with the same uuid. It changes nothing. */
typedef enum sr_op_t {
    /* $T → OK + token | UNAUTHORIZED */
    SR_OP_TOKEN_CURRENT,
    /* JSON array of token hashes, now, the beginning of a day → OK. Records it as the last day on which the valid ones
     * of these tokens were used. */
    SR_OP_TOKEN_USED,
    /* $T, submission uuid, creation, representation, metadata (JSON text)|NULL, idempotency key|NULL, folder,
     * blobs, new_blobs (those of them that have a key)|NULL, webhooks:[webhook]|NULL, timers
     * → OK | UNAUTHORIZED | QUOTA | REPLAY + the first representation | CONFLICT + the first fingerprint, of which 64
     * characters are compared | MISSING (its template) | STALE. Counts one against the quota if the token is of
     * production. A repetition is OK. All times are `now`. */
    SR_OP_SUBMISSION_CREATE,
    /* $T, uuid, version, known|NULL → OK + shown | MISSING | UNAUTHORIZED. The tag is <hash of the last event>-<version
     * of the representation>, of a draft that was saved with "-<saves>", and changes whenever the representation does.
     * Both are NULL if the representation is of an older version, or if the deadline is over. `known` is an
     * If-None-Match header. The representation is also NULL if the header has an entity-tag that begins with the tag
     * and "-". */
    SR_OP_SUBMISSION_GET,
    /* $T, uuid → OK + submission row | MISSING | UNAUTHORIZED. "submission row" is {"uuid","name","template_uuid",
     *  "skip_intro","send_email","state","created_at","updated_at","events" (how many),"events_hash" (of the last),
     *  "access_epoch","certificate_sha256"|null,"certificate_size"|null,"certificate_key"|null,"warnings":[text]|null,
     *  "closed_at"|null,"expires_at"|null,"cancel_reason"|null,"external_id"|null,"redirect_url"|null,
     *  "metadata":{…}|null,"reminders":{…}|null,"held_at"|null,"stamped_until"|null,
     *  "created_by":{"firstname","lastname","email"},"documents":[document row],
     *  "signers":[{"uuid","firstname","lastname","email"|null,"locale"|null,"state","opened_at"|null,
     *  "completed_at"|null,"refused_at"|null,"refusal_reason"|null,"ip"|null,"user_agent"|null,"signature_type"|null,
     *  "consent"|null,"fields":[…],"due_at"|null,"reminded_at"|null,"reminders","signing_order","replaces"|null,
     *  "alias"|null}],"draft_until"|null,"placement"|null,"placement_until"|null,"saves"}, without signers who were
     * replaced. */
    SR_OP_SUBMISSION_RECORD,
    /* uuid, events_hash and saves (of the row that it was rendered from), version, representation → OK. The
     * representation replaces one of an older version, unless the submission has changed since. */
    SR_OP_SUBMISSION_RENDERED,
    /* $T, limit (of rows), direction ("older"|"newer"), from created_at|NULL, from id|NULL, states|NULL (of
     * signers), state|NULL (of the submission), external id|NULL, updated after|NULL, q (folded)|NULL, created
     * after|NULL, created before|NULL, bytes, version → OK + listed, a row for each submission, and no row for an empty
     * list | UNAUTHORIZED. "older" lists the submissions that are older than created_at and id (or all), newest first;
     * "newer" those that are newer, oldest first. states: those of a status of the API, which a signer has. Both bounds
     * of the creation time are exclusive. After that many bytes, rows have no representation. Those of an older version
     * have none either: they are `old`. A last row without a uuid is where the search for rows that fit has ended. */
    SR_OP_SUBMISSION_LIST,
    /* $T, submission uuid, document uuid → OK + document row | MISSING | UNAUTHORIZED. "document row" is
     * {"uuid","name","sha256","size" (of the upload),"pages","warnings":[name]|null,"rewritten_sha256"|null,
     * "rewritten_size"|null,"key" (of the upload),"rewritten_key"|null,"revisions":[{"kind","sha256","key","size" (of
     * what was appended),"whole_sha256","whole_size"}] in their order}. A key is the name under which a blob is stored
     * (blobs.h). */
    SR_OP_DOCUMENT_GET,
    /* $T, SHA-256 → OK + file | MISSING | UNAUTHORIZED. Finds a file of the caller with this SHA-256: a document, as
     * it was signed, uploaded or rewritten, or (then its document is NULL) a submission's certificate of completion.
     * If there are several, the row is one of them. */
    SR_OP_DOCUMENT_KNOWN,
    /* $T, submission uuid → OK + certificate, with the submission's name | MISSING (also if the submission has no
     * certificate of completion yet) | UNAUTHORIZED */
    SR_OP_CERTIFICATE_GET,
    /* $T, submission uuid → OK + [[event, personal values of it|null]], oldest first (model: sr_events_read) | MISSING
     * | UNAUTHORIZED */
    SR_OP_AUDIT_GET,
    /* $T, limit, direction, from created_at|NULL, from id|NULL → as SR_OP_SUBMISSION_LIST, with templates. Their ids
     * and times of creation are those of their first submissions. Submissions that were made from one are not listed. A
     * last row without a uuid is where the search for templates has ended. */
    SR_OP_TEMPLATE_LIST,
    /* $T, template uuid → OK + {"uuid","name","created_at","used_at"|null,"deleted_at"|null,"documents":[document row],
     * "roles":[[field]]} (fields as they were sent, of the signers in their order) | MISSING | UNAUTHORIZED */
    SR_OP_TEMPLATE_GET,
    /* $T, template uuid → OK | MISSING (also if it was deleted at another time) | UNAUTHORIZED */
    SR_OP_TEMPLATE_DELETE,
    /* signer uuid (it is the secret of the link, so there is no token), version|NULL
     * → OK + {"submission" (submission row),"version" (of what is read here, opaque),"environment","organization" (its
     *  name),"organization_uuid","base_url","tell_signed","tell_completed" (1 if there is such a webhook URL, else 0),
     *  "late" (1 if it is open and its deadline is over by the clock of the database, else 0),"clock" (that clock)}
     * | OK without a body, if `version` is still the current one | MISSING | GONE */
    SR_OP_SIGNING_GET,
    /* uuid of the link of a draft, version|NULL → as SR_OP_SIGNING_GET. GONE: the link has ended. */
    SR_OP_SIGNING_PLACED,
    /* $T, submission uuid, version|NULL → as SR_OP_SIGNING_GET | UNAUTHORIZED */
    SR_OP_SIGNING_READ,
    /* submission uuid, version|NULL → as SR_OP_SIGNING_GET: for the service itself */
    SR_OP_SIGNING_DUE,
    /* signer uuid → OK + the access_epoch of its submission, -1 after the deadline | MISSING */
    SR_OP_SIGNING_ACCESS,
    /* viewer uuid, version|NULL → as SR_OP_SIGNING_GET, without GONE: the reader decides (sr_viewing_may_see) */
    SR_OP_VIEWING_GET,
    /* viewer uuid, microseconds for which the link of a copy works → as SR_OP_SIGNING_ACCESS, -1 also after that time
     */
    SR_OP_VIEWING_ACCESS,
    /* uuid of the link of a draft → as SR_OP_SIGNING_ACCESS | MISSING */
    SR_OP_PLACEMENT_ACCESS,
    /* $T, submission uuid → OK + its access_epoch | MISSING | GONE | UNAUTHORIZED */
    SR_OP_SUBMISSION_ACCESS,
    /* signer uuid → OK | MISSING. OK if the signer is due and the submission is open, before its deadline: a reminder
     * may be sent to them. */
    SR_OP_SIGNING_REMINDS,
    /* submission uuid, viewer uuid|NULL, completed, lifetime (of a copy's link) → OK | MISSING. OK if a mail with the
     * link of this viewer, or of a signer, may be sent: it shows the submission, which must be completed for a copy. */
    SR_OP_SIGNING_SHOWS,
    /* signer uuid → OK + the events of that submission, as SR_OP_AUDIT_GET | MISSING */
    SR_OP_SIGNING_EVENTS,
    /* hash, signer uuid → OK | MISSING: whether the signer has this session (sessions.sql) */
    SR_OP_SESSION_GET,
    /* hash → OK. Records a use. */
    SR_OP_SESSION_USED,
    /* hash, signer uuid → OK | MISSING */
    SR_OP_SESSION_CREATE,
    /* name, signer uuid → OK + login: the name of the signer's login, which is this one or a recent one | MISSING */
    SR_OP_LOGIN_BEGIN,
    /* name → OK + claimant: the signer | MISSING */
    SR_OP_LOGIN_GET,
    /* submission uuid, now, change, representation, folder|NULL, blobs, replaced|NULL, revisions,
     * webhooks:[webhook]|NULL, timers, ended|NULL, sent|NULL → OK | STALE | MISSING | QUOTA (sent). Stores one
     * transition of a submission, and if this is OK, ends the lease of the holder. A repetition is OK. */
    SR_OP_SIGNING_CHANGE,
    /* submission uuid, now, save, representation → OK | STALE. Changes a draft. A repetition is OK. */
    SR_OP_DRAFT_SAVE,
    /* erasure → OK | STALE (also if it is open or held) | MISSING. Deletes a submission: erases what is personal, adds
     * the event, and ends the lease of the holder. Of the contents, those that no other submission of the organisation
     * has in this environment are noted for SR_OP_ERASURE_GET. A repetition is OK. */
    SR_OP_SIGNING_ERASE,
    /* submission uuid|NULL (any) → OK + {"submission","organization","environment","contents":[SHA-256]}, for which
     * files in folders must still be removed | MISSING if there are none */
    SR_OP_ERASURE_GET,
    /* submission uuid → OK. These files have been removed. */
    SR_OP_ERASURE_DONE,
    /* environment, state (not open), microseconds, closed_at and id of a submission (or 0), n → OK + retained, a row
     * for each of the first n submissions after this one, in the order of closed_at and id, that were closed at least
     * so long ago, by the database's clock, and are not under legal hold */
    SR_OP_RETENTION_PAST,
    /* folder, JSON array of SHA-256, each once → OK + reserved, a row for each: a new key, "<sha256>.<16 hexadecimal
     * digits>", under which the content may be stored now, and the key under which it is stored already, or NULL. */
    SR_OP_BLOB_RESERVE,
    /* folder, JSON array of SHA-256 → OK + key, a row for each content that is stored */
    SR_OP_BLOB_FIND,
    /* Submission uuid, holder (a new sr_process_name), microseconds, signer uuid|NULL, version|NULL → OK + the body of
     * SR_OP_SIGNING_GET (without a signer, of SR_OP_SIGNING_DUE), which is read after that: the holder has a lease of
     * the submission for that time | STALE + the holder of another lease (NULL if that lease has just ended) | MISSING:
     * this database has no leases, because all processes that use it are on one machine, or there is no such signer |
     * GONE as with SR_OP_SIGNING_GET. */
    SR_OP_LOCK_TAKE,
    /* Submission uuid, holder → OK | MISSING as above. Ends the lease if this holder has it. SR_OP_SIGNING_CHANGE ends
     * it, too. */
    SR_OP_LOCK_RELEASE,
    /* $T, kind ("sent"|"signed"|"completed"), url|NULL → OK | UNAUTHORIZED */
    SR_OP_WEBHOOK_SET,
    /* $T, uuid, name, secret hash, expires_at|NULL → OK + token (of the new one, in the caller's scope) |
     * UNAUTHORIZED */
    SR_OP_TOKEN_CREATE,
    /* $T, uuid → OK + token | MISSING | UNAUTHORIZED. The token must be of the caller's user, organisation and
     * environment. */
    SR_OP_TOKEN_GET,
    /* $T, limit, direction, from created_at|NULL, from id|NULL → as SR_OP_SUBMISSION_LIST, with tokens.
     * Revoked tokens are listed, too. */
    SR_OP_TOKEN_LIST,
    /* $T, uuid, children ("true"|"false") → OK | MISSING | UNAUTHORIZED; revoking it again is OK and does not change
     * its time. With children, all tokens that it made, directly or through others, are revoked too. */
    SR_OP_TOKEN_REVOKE,
    /* $T, uuid, urls → OK + token | MISSING | UNAUTHORIZED. The token may be any in the caller's scope, or revoked. */
    SR_OP_TOKEN_WEBHOOKS,
    /* email → OK + desk: the environments of the users with this email who are not disabled, two rows for each */
    SR_OP_DESK_SCOPES,
    /* email, organization uuid, environment, uuid, secret hash, now → OK + desk | MISSING (such a user). Makes the
     * user's token of the desk, with this hash, or finds the one that they have. */
    SR_OP_DESK_TOKEN,

    /* $T, limit, direction, from ended_at|NULL, from id|NULL, kind|NULL, submission uuid|NULL, success
     * ("true"|"false")|NULL → as SR_OP_SUBMISSION_LIST, with deliveries that are over: the URL that was called (at
     * most 255 characters) and the result */
    SR_OP_HISTORY_LIST,
    /* $T, event uuid, uuid of the new call → OK + its row as above (success and ended_at null) | MISSING (also while
     * the first call is not over) | CONFLICT (the token has no URL for that kind now) | STALE (an earlier repetition
     * of the event is not over) | QUOTA (there were 5 in the last minute, or a mail in the last 10 minutes) |
     * UNAUTHORIZED. Inserts a job that reports the event again, at the URL that its token has now; a mail is sent to
     * its recipient. A repetition with the same uuid changes nothing and is OK. */
    SR_OP_HISTORY_REDELIVER,
    /* token hash, now, url, uuid, body (JSON text) → OK + delivery | QUOTA | UNAUTHORIZED. Makes a call with the event
     * "test" and without a submission. */
    SR_OP_HISTORY_TEST,
    /* $T, event uuid → OK + invitation (the whole URL) | MISSING (this event of the caller is no mail) |
     * UNAUTHORIZED. Reads to whom SR_OP_HISTORY_REDELIVER would send the mail. */
    SR_OP_HISTORY_INVITATION,

    /* servers (that the connection string names; sr_store_servers) → OK + installation. connections: how many the
     * server accepts, clock: its time; both 0 for a file */
    SR_OP_PING,
    /* No argument → OK. Writes a value that is stored already, so it fails if nothing can be written. */
    SR_OP_REWRITE,

    /* The event feed. */
    /* $T, position of the event after which to read (NULL: before the first that is kept; -1: the last), its mark or
     * NULL, types separated by commas|NULL, limit → OK + feed, oldest first | GONE (there is no such event) |
     * UNAUTHORIZED. With types, at most 5,000 events are looked at. */
    SR_OP_FEED_LIST,
    /* $T → OK | UNAUTHORIZED. Gives positions to the oldest 1,000 events of the caller that have none. */
    SR_OP_FEED_NUMBER,

    /* The job thread (src/jobs). */
    /* now → OK if there may be a job for SR_OP_JOB_BATCH | MISSING + due (microseconds until the next job is due;
     * NULL if there is none). Writes nothing. */
    SR_OP_JOB_POLL,
    /* until → OK if this time has not come by the clock of the database | MISSING */
    SR_OP_JOB_CODE,
    /* One JSON argument:
     * {"now","dead":["<owner>", …] (processes that are dead),
     *  "repeated":{"<kind>":{"attempts","pause" (microseconds)}}}
     * → OK + survey (oldest: microseconds; owners: ["<owner>", …]).
     * Ends the claims of dead processes and those whose lease is over. Their jobs are scheduled again if their kind is
     * `repeated` and they have attempts left. The other jobs are recorded as "interrupted, outcome unknown", which a
     * later result replaces. The row has the number of those, the numbers of pending and claimed jobs (each counted up
     * to 100,000), the time since which the oldest pending job is due, and the processes that have claims (200 at
     * most). The owner of a claim is the part of its name before the first '.'. */
    SR_OP_JOB_SURVEY,
    /* One JSON argument:
     * {"claim","now","leases":{"<kind>":<microseconds>},"rows" (at most),
     *  "destinations":{"<organization's id>":{"<destination>":<room>}},
     *  "share":{"room","other","after" (a destination, or "")},"organizations":{"<id>":{"room","other","after"}},
     *  "other","from" (an organization's id, or -1),
     *  "ended":[{"id","claim","status"|null,"success","error"|null,"said"|null (the error as the feed shows it),
     *  "due_at"|null}],"released":[{"id","claim"}]}
     * → OK + job, a row for each claim (attempts: those that failed), and a last row, whose id is 0, with `due_in` as
     * of SR_OP_JOB_POLL. The steps:
     * 1. Records how the jobs of `ended` ended. A job with "due_at" failed, or is not over, and is tried again at
     *    that time.
     * 2. Releases the claims of `released`, for which nothing was sent.
     * 3. Makes the scheduled jobs pending that are due by `now`.
     * 4. Claims pending jobs under the name `claim`, for the time in `leases`. Kinds without a lease are not claimed.
     *    Of a listed destination `room` jobs are claimed at most, and of any other destination one. Of an organization
     *    `room` jobs are claimed in all, and of them `other` of destinations that are not listed; both are in
     *    `organizations`, or else in `share`. The `other` of the top level limits the same for all organizations
     *    together. Organizations take turns, beginning after `from`, and so do the unlisted destinations of each,
     *    beginning after `after`.
     * A later event of a submission waits for the earlier ones. If there are claims of this name already, the operation
     * was committed before, and returns these claims. */
    SR_OP_JOB_BATCH,
    /* time, time, time, now, n → OK + archiving. Inserts jobs of the kind "archive" for completed submissions that are
     * due, so that an organisation has at most n that are pending; pgsql/jobs.sql explains it. The row has the numbers
     * of those that are due and of the jobs. */
    SR_OP_JOB_ARCHIVE,
    /* → OK + quotas: organizations without a quota, that used less than 9/10 of it (below), less than it, and all */
    SR_OP_JOB_QUOTAS,

    /* Administration (sigreqctl). A list has all rows, oldest first. */
    /* uuid, name, quota|NULL, now → OK + organization | CONFLICT (name taken) */
    SR_OP_ADMIN_ORGANIZATION_CREATE,
    /* → OK + organization, a row for each */
    SR_OP_ADMIN_ORGANIZATION_LIST,
    /* uuid or name, quota|NULL (NULL: unlimited) → OK + organization | MISSING */
    SR_OP_ADMIN_ORGANIZATION_QUOTA,
    /* uuid, organization, firstname, lastname, email, now → OK + user | MISSING (organization) | CONFLICT (email) */
    SR_OP_ADMIN_USER_CREATE,
    /* organization uuid or name, or NULL for all → OK + user, a row for each */
    SR_OP_ADMIN_USER_LIST,
    /* uuid, organization, user, environment, name, secret hash, expires_at|NULL, now → OK + token | MISSING */
    SR_OP_ADMIN_TOKEN_CREATE,
    /* organization uuid or name|NULL, user uuid|NULL, now, time|NULL → OK + token, a row for each. With the time only
     * valid ones that expire until then. */
    SR_OP_ADMIN_TOKEN_LIST,
    /* token uuid, now, children ("true"|"false") → OK + token, a row for each that this has revoked | MISSING */
    SR_OP_ADMIN_TOKEN_REVOKE,
    /* token uuid, uuid and secret hash of the new one, now, time|NULL → OK + the new token | MISSING | CONFLICT (it is
     * revoked). It has the members and the lifetime of the old one, which ends at the time, or now. */
    SR_OP_ADMIN_TOKEN_ROTATE,
    /* token uuid, urls → OK + token | MISSING */
    SR_OP_ADMIN_TOKEN_WEBHOOKS,
    /* user uuid or email, organization uuid or name|NULL → OK + user, a row for each | MISSING (organization) */
    SR_OP_ADMIN_USER_FIND,
    /* user uuid, disabled ("true"|"false"), now → OK + user | MISSING. Disabling again does not change the time. */
    SR_OP_ADMIN_USER_DISABLE,
    /* user uuid, firstname|NULL, lastname|NULL, email|NULL → OK + user | MISSING | CONFLICT (email) */
    SR_OP_ADMIN_USER_RENAME,
    /* organization uuid or name, new name → OK + organization | MISSING | CONFLICT (name taken) */
    SR_OP_ADMIN_ORGANIZATION_RENAME,
    /* organization uuid or name → OK + organization | MISSING */
    SR_OP_ADMIN_ORGANIZATION_FIND,
    /* organization uuid|NULL, user uuid|NULL, now → OK + token, a row for each that this has revoked. One of the first
     * two arguments is NULL, here and in the next two operations. */
    SR_OP_ADMIN_TOKEN_REVOKE_ALL,
    /* organization uuid|NULL, user uuid|NULL → OK + remains (numbers of their submissions; one that is under legal hold
     * is also counted as open or closed) */
    SR_OP_ADMIN_REMAINS,
    /* organization uuid|NULL, user uuid|NULL, now → OK | MISSING | CONFLICT (a submission is open or under legal hold).
     * Disables the user, or all users of the organization, so that they make no new submissions. */
    SR_OP_ADMIN_PEOPLE_FREEZE,
    /* organization uuid|NULL, user uuid|NULL, n → OK + past, a row for each of the first n of their submissions that
     * must still be erased: those that are closed and not under legal hold, and those of SR_OP_ERASURE_GET */
    SR_OP_ADMIN_PEOPLE_CLOSED,
    /* organization uuid|NULL, user uuid|NULL, tombstones → OK | MISSING | CONFLICT (there is a submission). Deletes a
     * user, or an organization with all its users, and their tokens. With `tombstones`, deleted submissions for which
     * no files must be removed are no conflict: they are deleted, too. */
    SR_OP_ADMIN_PEOPLE_DELETE,
    /* organization uuid or name|NULL, user uuid|NULL, environment|NULL, state|NULL, submission uuid|NULL, limit, email
     * of a signer|NULL, created at or after|NULL, before|NULL, part of the name (folded)|NULL, external id|NULL → OK +
     * overview, the submissions that are older than the named one (or all), newest first | MISSING (which of them) */
    SR_OP_ADMIN_SUBMISSION_LIST,
    /* submission uuid → OK + the columns of overview and {"cancel_reason","external_id","people":[{"link" (the
     * beginning of the signer's uuid),…}],"documents":[…],"events":[…]} | MISSING */
    SR_OP_ADMIN_SUBMISSION_GET,
    /* organization uuid or name|NULL, since|NULL, until|NULL → OK + stat, for each month (UTC) | MISSING. Reads all. */
    SR_OP_ADMIN_STATS,
    /* organization uuid or name|NULL, submission uuid|NULL, success|NULL, call uuid|NULL, limit → OK + delivery, the
     * calls that are older than the named one (or all), newest first, also those that are not over | MISSING */
    SR_OP_ADMIN_DELIVERY_LIST,
    /* event uuid, uuid of the new call, now → as SR_OP_HISTORY_REDELIVER, without a caller */
    SR_OP_ADMIN_REDELIVER,
    /* email, organization uuid or name|NULL, environment|NULL (of tokens) → OK +
     * [{"uuid","firstname","lastname","email",
     * "created_at","disabled_at"|null,"organization":{"uuid","name"},"tokens":[{"uuid","name","environment",
     * "created_at","expires_at"|null,"revoked_at"|null}]}], the users with this email | MISSING (organization). Here
     * and in the next two operations, emails are compared without the case of ASCII letters. */
    SR_OP_ADMIN_EXPORT_ACCOUNTS,
    /* email, organization uuid or name|NULL, environment|NULL, id (0 before the first), n → OK + found, a row for each
     * of the first n submissions after this id whose sender or one of whose signers has this email. Deleted submissions
     * are left out. Reads all submissions. */
    SR_OP_ADMIN_EXPORT_FIND,
    /* submission uuid, email → OK + {"uuid","name","environment","state","created_at","updated_at","closed_at"|null,
     * "expires_at"|null,"organization":{"uuid","name"},"sender" (whether the sender has this email),
     *  "signers":[{"uuid","self":true,…} | {"uuid","self":false,"state","order"}] (also those who were replaced; a
     *  signer has all members if they have this email),
     *  "documents":[document row],"certificate":{"sha256","size","key"}|null,
     *  "withheld":[name] (what else is stored, and may be about others),
     *  "events":[[event, personal values of it|null]],
     *  "deliveries":[{"uuid","event","to" (email address or host; null for a mail to somebody else),"success"|null,
     *  "status"|null,"error"|null,"attempts","created_at","ended_at"|null}] (those whose body has this email)}
     * | MISSING (also if it was deleted) */
    SR_OP_ADMIN_EXPORT_GET,
    /* For sigreqctl check --evidence. → OK + {token uuid: {event: [first, last]}}: when the first and the last call of
     * each webhook of each token were queued, of those that the history has. Reads all jobs. */
    SR_OP_ADMIN_EVIDENCE_CALLS,
    /* → OK + {table: number of its rows that belong to no submission}. Reads these tables. */
    SR_OP_ADMIN_EVIDENCE_LOST,
    /* id (0 before the first), n → OK + found, a row for each of the first n submissions after this id, also deleted
     * ones */
    SR_OP_ADMIN_EVIDENCE_FIND,
    /* submission uuid → OK + {"uuid","state","outcome"|null,"events_count","events_hash","certificate" (SHA-256)|null,
     *  "held","send_email","expires_at"|null,"clock","history" (when the oldest job of the history ended)|null,
     *  "token" (uuid),"urls":{"sent","signed","completed"},"expiry" (whether something ends it at its deadline),
     *  "calls":{event: number}|null,"signers":[{"uuid","state","firstname","lastname","email"}]|null (also those who
     *  were replaced),"documents":[document row]|null,"events":[[number, hash, body, personal values|null]]|null}
     * (body and values are texts) | MISSING */
    SR_OP_ADMIN_EVIDENCE_GET,
    /* time, stamped_until and id of a submission (or 0), n → OK + archivable: the first n completed submissions after
     * this one, by stamped_until (0: it was never archived) and id, whose stamped_until is not later than the time */
    SR_OP_ADMIN_ARCHIVE_DUE,
    /* folder, sha256 ("" before the first), limit → OK + blob, the contents after this SHA-256, in its
     * order */
    SR_OP_ADMIN_BLOB_LIST,
    /* JSON array of keys → OK + key, each that is neither in use nor reserved nor a tombstone. The files must have
     * been found before this operation begins. Then no transaction will ever refer to the keys that it returns. */
    SR_OP_ADMIN_BLOB_STRANGERS,
    /* folder, sha256 ("" before the first), limit → OK + {"after" (the last of these contents)|null,"seen"
     * (their number),"unnamed":[key] (of those that no submission needs)} */
    SR_OP_ADMIN_BLOB_UNNAMED,
    /* folder, microseconds, limit → OK + key, a row for each reservation that is at least so old */
    SR_OP_ADMIN_BLOB_LATE,
    /* {"named":[key],"reserved":[key]} → OK. Makes tombstones of `named`, as far as no submission needs their
     * contents and no transaction under way is about to refer to them, and of `reserved`, as far as no transaction
     * under way ends these reservations. */
    SR_OP_ADMIN_BLOB_DOOM,
    /* folder, key ("" before the first), limit → OK + tombstone, those after this key, in the order of
     * keys. forget: true if the content is not stored under another key. */
    SR_OP_ADMIN_BLOB_TOMBSTONES,
    /* JSON array of keys → OK. Deletes these tombstones, whose files have been removed. */
    SR_OP_ADMIN_BLOB_BURY,
    /* time → OK + count. They delete up to 1,000 idempotency rows, jobs that ended, or events of the feed, before it.
     */
    SR_OP_ADMIN_EXPIRE,
    SR_OP_ADMIN_HISTORY_EXPIRE,
    SR_OP_ADMIN_FEED_EXPIRE,
    SR_OP_COUNT
} sr_op_t;

/* Makes a source that lends an open store, in `pool`. */
sr_store_source_t *sr_store_source(sr_store_t *store, apr_pool_t *pool);

/* The operations as functions: sr_store_token_get(source, &outcome, &row, …). Each borrows a connection, runs the
 * operation as one transaction, and returns the connection. If the connection was lost, it is opened again and the
 * operation is sent a second time, within the time of the watch. A busy SQLite is retried for two seconds. Errors:
 * SR_EUNAVAILABLE if the database cannot be reached, SR_EINTERNAL if it refuses the statement. */
#include "embed/operations.h"

/* Returns a row of this operation as a JSON object, whose members are the columns. Times are numbers. New reference. */
json_t *sr_store_row_json(sr_op_t op, const void *row);

#include "store/gate.h"

#endif
