/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c: sigreqctl documents copy: copies the blobs that the database names from one place to another, while httpd
 * stores, reads and removes blobs (docs/storage.md has the steps). A blob has the same key in both places, and
 * both have the same .database, so nothing changes in the database. A blob gets its name in the other place when it is
 * complete. So a command that was killed is repeated, and copies what is missing. */
#include "ctl/ctl.h"

#include <string.h>
#include <sys/stat.h>

#define PROGRESS apr_time_from_sec(5)

typedef struct copying_t {
    ctl_t *ctl;
    sr_blobs_t *from, *to;
    const char *folder; /* the uuid of both places */
    apr_int64_t total, copied, present, missing, damaged;
    apr_off_t total_bytes, copied_bytes, present_bytes;
    apr_time_t said; /* when the progress was printed */
    json_t *problems;
} copying_t;

/* The progress is for people, so it is not on the standard output. */
static void copy_say(copying_t *copying)
{
    const apr_time_t now = sr_time_steady();
    const apr_int64_t done = copying->copied + copying->present + copying->missing + copying->damaged;
    if (copying->ctl->given[OPTION_QUIET] || (copying->said && now - copying->said < PROGRESS)) return;
    copying->said = now;
    fprintf(stderr,
            "sigreqctl: %" APR_INT64_T_FMT " of %" APR_INT64_T_FMT " documents, %" APR_OFF_T_FMT " of %" APR_OFF_T_FMT
            " bytes\n",
            done, copying->total, copying->copied_bytes + copying->present_bytes, copying->total_bytes);
}

/* --- one blob */

/* Reads a blob of one of the places, and writes it to `writer` (NULL: nowhere). Returns its fault, or NULL. An error is
 * one of `writer`. */
static sr_error_t *read_blob(const char **fault, sr_blobs_t *blobs, const sr_blob_row_t *row, sr_blob_writer_t *writer,
                             apr_pool_t *pool)
{
    sr_blob_t blob;
    sr_error_t *unread = sr_blobs_open(&blob, blobs, row->key, pool);
    if (!unread) return ctl_blob_read(fault, &blob, row, writer, pool);
    *fault = unread->cause ? unread->cause : unread->message;
    return NULL;
}

/* *right is true if the other place has the blob. *wrong is true if it has another content under its key. */
static sr_error_t *copy_look(bool *right, bool *wrong, const copying_t *copying, const sr_blob_row_t *row,
                             apr_pool_t *pool)
{
    const char *fault = NULL;
    apr_off_t size;
    bool there;
    SR_TRY(sr_blobs_measure(&there, &size, copying->to, row->key, pool));
    *right = there && size == row->size;
    if (*right && copying->ctl->given[OPTION_VERIFY]) SR_TRY(read_blob(&fault, copying->to, row, NULL, pool));
    *right = *right && !fault;
    *wrong = there && !*right;
    return NULL;
}

/* A collection may have removed the blob from both places after its row was read. What was copied later is removed, so
 * that a document that was deleted does not come back. */
static sr_error_t *remove_unnamed(bool *named, const copying_t *copying, const sr_blob_row_t *row, apr_pool_t *pool)
{
    apr_off_t size;
    bool removed;
    SR_TRY(ctl_blob_is_named(named, copying->ctl, copying->folder, row, pool));
    return *named ? NULL : sr_blobs_remove(&removed, &size, copying->to, row->key, pool);
}

/* `wrong`: a wrong content is in the way, and is moved to the quarantine. */
static sr_error_t *transfer(copying_t *copying, const sr_blob_row_t *row, bool wrong, apr_pool_t *pool)
{
    const char *fault, *sha256;
    sr_blob_writer_t *writer;
    apr_off_t size;
    bool named, removed;
    SR_TRY(sr_blobs_begin(&writer, copying->to, pool));
    SR_TRY(read_blob(&fault, copying->from, row, writer, pool));
    if (fault) {
        ctl_note_problem(copying->problems, &copying->damaged, "damaged", row->key, fault);
        return NULL;
    }
    SR_TRY(sr_blobs_end(writer, &sha256, &size));
    if (wrong) SR_TRY(sr_blobs_remove(&removed, &size, copying->to, row->key, pool));
    SR_TRY(sr_blobs_commit(writer, row->key, NULL));
    SR_TRY(remove_unnamed(&named, copying, row, pool));
    copying->copied += named;
    copying->copied_bytes += named ? row->size : 0;
    return NULL;
}

static sr_error_t *copy_one(copying_t *copying, const sr_blob_row_t *row, apr_pool_t *pool)
{
    bool right, wrong, there, named;
    apr_off_t size;
    SR_TRY(copy_look(&right, &wrong, copying, row, pool));
    if (right) {
        copying->present++;
        copying->present_bytes += row->size;
        return NULL;
    }
    SR_TRY(sr_blobs_measure(&there, &size, copying->from, row->key, pool));
    if (there) return transfer(copying, row, wrong, pool);
    SR_TRY(ctl_blob_is_named(&named, copying->ctl, copying->folder, row, pool));
    if (named)
        ctl_note_problem(copying->problems, &copying->missing, "missing", row->key,
                         wrong ? "the other place has a wrong content" : "");
    return NULL;
}

/* --- all blobs */

static sr_error_t *count_one(void *baton, const sr_blob_row_t *row, apr_pool_t *pool)
{
    copying_t *copying = baton;
    copying->total++;
    copying->total_bytes += row->size;
    return NULL;
}

static sr_error_t *copy_next(void *baton, const sr_blob_row_t *row, apr_pool_t *pool)
{
    SR_TRY(copy_one(baton, row, pool));
    copy_say(baton);
    return NULL;
}

/* --- both places */

static sr_error_t *open_place(ctl_t *ctl, sr_blobs_t **blobs, sr_place_t *place, const char *name, const char *text)
{
    struct stat status;
    SR_TRY(ctl_find_place(ctl, place, name, text));
    if (place->bucket) return sr_blobs_bucket(blobs, place->bucket, true, ctl->pool);
    if (stat(text, &status) != 0 || !S_ISDIR(status.st_mode))
        return sr_error(ctl->pool, SR_EBADREQUEST, "%s %s is not a folder", name, text);
    return sr_blobs_folder(blobs, text, ctl->pool);
}

bool ctl_is_same_file(const char *one, const char *other)
{
    struct stat first, second;
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
           && first.st_ino == second.st_ino;
}

/* Checks that both places are of this database, or that the other one is empty, and gives that the same uuids. */
static sr_error_t *bind_both(copying_t *copying, const char *from, const char *to)
{
    ctl_t *ctl = copying->ctl;
    const char *database, *folder;
    SR_TRY(ctl_same_database(ctl, &copying->folder, copying->from, from));
    if (!strcmp(copying->folder, CTL_NOBODY))
        return sr_error(ctl->pool, SR_ECONFLICT, "--from %s has no documents: nothing was stored there yet", from);
    SR_TRY(ctl_same_database(ctl, &folder, copying->to, to));
    if (strcmp(folder, CTL_NOBODY) != 0 && strcmp(folder, copying->folder) != 0)
        return sr_error(ctl->pool, SR_ECONFLICT,
                        "--to %s has documents of its own: its .database is not that of %s. Name an empty place", to,
                        from);
    SR_TRY(sr_blobs_binding(&database, &folder, copying->from, ctl->pool));
    return sr_blobs_bind_as(copying->to, database, folder, ctl->pool);
}

sr_error_t *ctl_copy_blobs(ctl_t *ctl, json_t **report, sr_blobs_t *from, const char *from_name, sr_blobs_t *to,
                           const char *to_name)
{
    copying_t c = {.ctl = ctl, .from = from, .to = to, .problems = sr_json_own(json_array(), ctl->pool)};
    SR_TRY(bind_both(&c, from_name, to_name));
    SR_TRY(ctl_each_blob(ctl, c.folder, count_one, &c));
    copy_say(&c);
    SR_TRY(ctl_each_blob(ctl, c.folder, copy_next, &c));
    *report = sr_json_own(json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:O}", "documents", (json_int_t)c.total, "copied",
                                    (json_int_t)c.copied, "copied_bytes", (json_int_t)c.copied_bytes, "present",
                                    (json_int_t)c.present, "present_bytes", (json_int_t)c.present_bytes, "missing",
                                    (json_int_t)c.missing, "damaged", (json_int_t)c.damaged, "problems", c.problems),
                          ctl->pool);
    return NULL;
}

void ctl_copy_print(ctl_t *ctl, json_t *report, const char *const *columns)
{
    static const char *const rows[] = {"problem", "key", "detail", NULL};
    json_t *problems = json_object_get(report, "problems");
    ctl_print(ctl, json_incref(report), columns);
    if (!json_array_size(problems)) return;
    ctl->status = CTL_FAILED;
    if (!ctl->given[OPTION_JSON]) ctl_print(ctl, json_incref(problems), rows);
}

sr_error_t *ctl_documents_copy(ctl_t *ctl)
{
    static const char *const columns[] = {"documents",     "copied",  "copied_bytes", "present",
                                          "present_bytes", "missing", "damaged",      NULL};
    const char *from_name = ctl->values[OPTION_FROM], *to_name = ctl->values[OPTION_TO];
    sr_place_t from, to;
    sr_blobs_t *source, *target;
    json_t *report;
    SR_TRY(ctl_open_store(ctl));
    SR_TRY(open_place(ctl, &source, &from, "--from", from_name));
    SR_TRY(open_place(ctl, &target, &to, "--to", to_name));
    if (ctl_is_same_file(from.root, to.root)) /* each bucket has a local folder of its own */
        return sr_error(ctl->pool, SR_EBADREQUEST, "--from and --to are the same place");
    SR_TRY(ctl_copy_blobs(ctl, &report, source, from_name, target, to_name));
    ctl_copy_print(ctl, report, columns);
    return NULL;
}
