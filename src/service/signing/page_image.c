/* SPDX-License-Identifier: Apache-2.0 */
/* page_image.c: a page of a document as an image, or its text. A helper makes it once, and then it is a file in the
 * cache. The name of the file has the digest of the document, so a document that has a new revision has other files.
 * Each organisation has its own files in each environment. So the time that a response takes does not tell whether
 * others have the document. */
#include "service/private.h"

#include <apr_portable.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics/metrics.h"

/* Raise it if images or texts of pages change. Cached files of an older version are not used. */
#define RENDER_VERSION 4
#define REFUSAL_LIFETIME apr_time_from_sec(300) /* so long a page that has killed a helper is not tried again */
#define REASON_MAX 1000
#define LONGEST_WAIT apr_time_from_sec(8)
#define COSTLY_PAGES 3 /* so many pages that have killed a helper make the whole document refused */

typedef struct work_t {
    const sr_service_t *service;
    const sr_show_t *show;
    const char *sha256; /* of the version that is shown */
    const char *key, *refusal_key, *cost_key;
    apr_time_t until; /* the time at which the request stops waiting */
    apr_pool_t *pool;
} work_t;

_Static_assert(SR_SHOW_MIN_WIDTH == SR_PDF_MIN_WIDTH && SR_SHOW_MAX_WIDTH == SR_PDF_MAX_WIDTH, "widths of a helper");

int sr_show_width(int wanted)
{
    static const int widths[] = {200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 3000, SR_PDF_MAX_WIDTH};
    size_t i = 0;
    while (widths[i] < wanted) i++;
    return widths[i];
}

static const char *page_image_owner_of(const sr_signing_t *signing, apr_pool_t *pool)
{
    return sr_page_owner(sr_owner_of(signing->organization_uuid, signing->environment, pool), pool);
}

static void page_image_begin(work_t *work, const char *sha256, const char *owner)
{
    const sr_show_t *show = work->show;
    work->sha256 = sha256;
    const char *page_image_begin = apr_psprintf(work->pool, "%s.%s.%d", sha256, owner, RENDER_VERSION);
    work->key = show->width ? apr_psprintf(work->pool, "%s.%d.%d.%s", page_image_begin, show->page, show->width,
                                           show->png ? "png" : "image")
                            : apr_psprintf(work->pool, "%s.%d.json", page_image_begin, show->page);
    work->refusal_key = apr_pstrcat(work->pool, work->key, ".no", NULL);
    work->cost_key = apr_pstrcat(work->pool, page_image_begin, ".no", NULL);
}

/* Returns the media type of a file by its first byte. */
static const char *page_image_type_of(const work_t *work, apr_file_t *file)
{
    int descriptor;
    unsigned char first = 0;
    if (!work->show->width) return "application/json";
    if (work->show->png || apr_os_file_get(&descriptor, file)) return "image/png";
    return pread(descriptor, &first, 1, 0) == 1 && first == 0xff ? "image/jpeg" : "image/png";
}

/* Describes the file. The ETag has its size, because another release of poppler may have drawn the page differently. */
static sr_error_t *page_image_serve(sr_shown_t *shown, const work_t *work, apr_file_t *file, apr_off_t size)
{
    const sr_show_t *show = work->show;
    shown->type = page_image_type_of(work, file);
    shown->file = file;
    shown->size = size;
    shown->etag = apr_psprintf(work->pool, "%.32s-%d-%d-%d%s-%" APR_OFF_T_FMT, work->sha256, RENDER_VERSION, show->page,
                               show->width, show->png ? "p" : "", size);
    return NULL;
}

static bool page_image_find(sr_shown_t *shown, const work_t *work)
{
    sr_cached_t cached;
    if (!sr_cache_get(&cached, work->service->cache_root, work->key, work->pool)) return false;
    return !page_image_serve(shown, work, cached.file, cached.size);
}

/* --- pages that cannot be shown */

static sr_error_t *page_image_refuse(const work_t *work, const char *reason)
{
    return sr_error(work->pool, SR_ECONTENT, "Page %d cannot be shown: %s", work->show->page, reason);
}

/* Returns the note that was stored under this key in the last REFUSAL_LIFETIME, or NULL. */
static const char *recall(const work_t *work, const char *key)
{
    char *text = apr_palloc(work->pool, REASON_MAX + 1);
    apr_size_t length = REASON_MAX;
    sr_cached_t cached;
    if (!sr_cache_get(&cached, work->service->cache_root, key, work->pool)) return NULL;
    if (cached.made + REFUSAL_LIFETIME < sr_time_now() || cached.size > REASON_MAX) {
        sr_cache_remove(work->service->cache_root, key, work->pool);
        return NULL;
    }
    if (apr_file_read_full(cached.file, text, (apr_size_t)cached.size, &length)) return NULL;
    text[length] = '\0';
    return text;
}

/* Returns how many pages of the document have killed a helper, and sets the reason of the last one: "2 it could not
 * be read …" */
static int recall_cost(const char **reason, const work_t *work)
{
    const char *noted = recall(work, work->cost_key);
    char *end = NULL;
    const int count = noted ? (int)strtol(noted, &end, 10) : 0;
    *reason = noted && *end == ' ' ? end + 1 : "";
    return count;
}

static sr_error_t *recall_refusal(const work_t *work)
{
    const char *reason = recall(work, work->refusal_key);
    if (reason || recall_cost(&reason, work) >= COSTLY_PAGES) return page_image_refuse(work, reason);
    return NULL;
}

/* Counts one more page. Two at the same time may be counted as one. */
static void note_cost(const work_t *work, const char *reason)
{
    const char *before;
    const char *text = apr_psprintf(work->pool, "%d %s", recall_cost(&before, work) + 1, reason);
    sr_cache_remove(work->service->cache_root, work->cost_key, work->pool); /* sr_cache_put does not replace a file */
    (void)sr_cache_put(work->service->cache_root, work->cost_key, text, strlen(text), work->pool);
}

/* --- making a page */

static sr_error_t *unreadable(const work_t *work, const char *why)
{
    return sr_error_because(sr_error(work->pool, SR_EUNAVAILABLE, "The document cannot be read now, try again later"),
                            work->pool, "%s: %s", work->sha256, why);
}

/* Joins this version of the document, in memory if the disk is full. */
static sr_error_t *page_image_join(sr_joined_t *joined, const work_t *work, sr_blobs_t *documents,
                                   const apr_array_header_t *files)
{
    if (sr_blobs_join(joined, documents, files, false, work->pool))
        SR_TRY(sr_blobs_join_in_memory(joined, documents, files, work->pool));
    return strcmp(joined->sha256, work->sha256) ? unreadable(work, "the SHA-256 of the stored document is wrong")
                                                : NULL;
}

static sr_error_t *ask_within(const char **reason, bool *costly, sr_pdf_output_t **output, const work_t *work,
                              sr_pdf_pool_t *pdf, const sr_joined_t *joined)
{
    const sr_show_t *show = work->show;
    sr_pdf_image_t image;
    sr_pdf_text_t text;
    if (show->width) {
        SR_TRY(sr_pdf_render(&image, pdf, joined->descriptor, show->page, show->width, show->png, work->pool));
        *reason = image.reason;
        *costly = image.costly;
        *output = image.output;
    } else {
        SR_TRY(sr_pdf_text(&text, pdf, joined->descriptor, show->page, work->pool));
        *reason = text.reason;
        *costly = text.costly;
        *output = text.output;
    }
    return NULL;
}

/* Lets a helper make the page. The helper is released before the page is sent, which may take long. It shows no
 * other document. */
static sr_error_t *page_image_ask(const char **reason, bool *costly, sr_pdf_output_t **output, const work_t *work,
                                  const sr_joined_t *joined)
{
    const apr_interval_time_t left = work->until - sr_time_steady();
    apr_pool_t *scratch;
    apr_pool_create(&scratch, work->pool);
    sr_pdf_pool_t *pdf = sr_pdf_pool_for_request(work->service->pdf, work->cost_key, left > 1 ? left : 1, scratch);
    sr_error_t *error = ask_within(reason, costly, output, work, pdf, joined);
    apr_pool_destroy(scratch);
    return error;
}

/* Caches a page. If there is no room, this is not an error. */
static sr_error_t *page_image_keep(const work_t *work, const char *key, int descriptor, const char *text,
                                   apr_off_t size)
{
    const char *root = work->service->cache_root;
    if (!sr_cache_has_room(root, size)) return NULL;
    SR_TRY(text ? sr_cache_put(root, key, text, (apr_size_t)size, work->pool)
                : sr_cache_copy(root, key, descriptor, size, work->pool));
    return sr_cache_count(NULL, root, size, work->service->settings->cache_size, work->pool);
}

/* Removes a page from the cache if its submission was deleted while the page was made. */
static void forget_deleted(const work_t *work)
{
    apr_int64_t epoch;
    const sr_error_t *error = sr_service_access_epoch(work->service, &epoch, work->show, work->pool);
    if (error && (error->code == SR_ENOTFOUND || error->code == SR_EGONE))
        sr_cache_remove(work->service->cache_root, work->key, work->pool);
}

static sr_error_t *page_image_make(sr_shown_t *shown, const work_t *work, sr_blobs_t *documents,
                                   const apr_array_header_t *files)
{
    const char *reason;
    bool costly;
    sr_pdf_output_t *output;
    sr_joined_t joined;
    apr_file_t *file;
    SR_TRY(page_image_join(&joined, work, documents, files));
    SR_TRY(page_image_ask(&reason, &costly, &output, work, &joined));
    if (reason) {
        shown->uncached = page_image_keep(work, work->refusal_key, -1, reason, (apr_off_t)strlen(reason));
        if (costly) note_cost(work, reason);
        return page_image_refuse(work, reason);
    }
    shown->uncached = page_image_keep(work, work->key, output->descriptor, NULL, output->size);
    forget_deleted(work);
    /* served from memory, by another descriptor, which httpd owns and closes */
    const char *path = apr_psprintf(work->pool, "/proc/self/fd/%d", output->descriptor);
    if (apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_OS_DEFAULT, work->pool))
        return unreadable(work, path);
    return page_image_serve(shown, work, file, output->size);
}

/* Makes the page in one request. The others wait and then find it in the cache. If there is no lock, each request
 * makes it. */
static sr_error_t *make_once(sr_shown_t *shown, const work_t *work, const apr_array_header_t *files)
{
    sr_blobs_t *documents;
    sr_file_lock_t *turn = NULL;
    sr_error_t *error = recall_refusal(work);
    if (error) return error;
    SR_TRY(sr_service_documents(&documents, work->service, work->pool));
    error = sr_file_lock_take(&turn, documents, work->key, work->until, work->pool);
    if (error && sr_time_steady() >= work->until) return error;
    error = NULL;
    if (!page_image_find(shown, work)) {
        error = recall_refusal(work);
        if (!error) error = page_image_make(shown, work, documents, files);
    }
    if (turn) sr_file_lock_release(turn);
    return error;
}

/* Makes the page within LONGEST_WAIT. The gate limits the number of threads that do this. */
static sr_error_t *make_in_turn(sr_shown_t *shown, work_t *work, const apr_array_header_t *files,
                                const sr_signing_t *signing)
{
    sr_pdf_visit_t *visit;
    work->until = sr_time_steady() + LONGEST_WAIT;
    SR_TRY(sr_pdf_visit_begin(&visit, work->service->pdf, signing->submission.uuid, signing->organization, work->pool));
    sr_error_t *error = make_once(shown, work, files);
    sr_pdf_visit_end(visit);
    return error;
}

/* --- permission */

/* Returns the key for the access cache and the version cache. The folders are in it, because services with different
 * documents may share a process. */
static const char *permission(const sr_service_t *service, const sr_show_t *show, apr_pool_t *pool)
{
    const char *who = show->signer      ? apr_pstrcat(pool, "signer ", show->signer, NULL)
                      : show->viewer    ? apr_pstrcat(pool, "viewer ", show->viewer, NULL)
                      : show->placement ? apr_pstrcat(pool, "placement ", show->placement, NULL)
                                        : apr_pstrcat(pool, show->token_hash, " ", show->submission, NULL);
    const char *text = apr_pstrcat(pool, service->storage.main.root, "\n", service->cache_root, "\n", who, "\n",
                                   show->document, "\n", show->version, NULL);
    return sr_sha256_hex(text, strlen(text), pool);
}

/* Reads the submission, if the caller, or the person with the link, may see its documents. */
static sr_error_t *page_image_admit(const sr_service_t *service, sr_signing_t **signing, const sr_show_t *show,
                                    apr_pool_t *pool)
{
    const sr_subject_t subject = {.signer = show->signer,
                                  .viewer = show->viewer,
                                  .placement = show->placement,
                                  .token_hash = show->token_hash,
                                  .submission = show->submission};
    SR_TRY(sr_service_read(service, signing, &subject, pool));
    if (show->viewer) return sr_viewing_may_see(*signing, pool);
    return show->signer ? sr_signing_may_see(*signing, pool) : NULL;
}

/* Returns the files of a version, or NULL if the document never had this version. */
static apr_array_header_t *files_of(const sr_document_state_t *document, const char *version, apr_pool_t *pool)
{
    apr_array_header_t *files = sr_document_state_files(document, pool);
    for (int last = document->revisions->nelts; last >= 0; last--) {
        const char *whole =
            last ? APR_ARRAY_IDX(document->revisions, last - 1, sr_revised_t).whole_sha256 : document->base_sha256;
        files->nelts = last + 1;
        if (!strcmp(whole, version)) return files;
    }
    return NULL;
}

/* Returns true if the access cache allows the version. If its entry is not current, only the epoch is read from the
 * database. */
static bool page_image_is_known(const work_t *work, sr_access_t *access, const char *allowed, apr_time_t now)
{
    const char *document = work->show->document;
    const apr_uint32_t count = sr_version_cache_count(document);
    apr_int64_t epoch;
    bool current;
    if (!sr_access_cache_get(work->service->child->access, access, &current, allowed, document, now)) return false;
    if (current) return true;
    if (sr_service_access_epoch(work->service, &epoch, work->show, work->pool)) return false;
    if (epoch != access->epoch) return false;
    sr_access_cache_put(work->service->child->access, allowed, access, count, now);
    return true;
}

/* Finds a page that the access cache allows. */
static bool find_known(sr_shown_t *shown, work_t *work, const char *allowed, apr_time_t now)
{
    const char *version = work->show->version;
    char current[SR_SHA256_HEX_LENGTH + 1];
    sr_access_t access;
    if (version && !page_image_is_known(work, &access, allowed, now)) return false;
    if (!version
        && !sr_version_cache_has(work->service->child->versions, allowed, work->show->document, now, current,
                                 access.owner))
        return false;
    page_image_begin(work, version ? version : apr_pstrdup(work->pool, current), access.owner);
    return page_image_find(shown, work);
}

/* Stores the permission for the next request. */
static void keep_known(const work_t *work, const char *allowed, const sr_signing_t *signing, const char *version,
                       const char *owner, apr_uint32_t count, apr_time_t now)
{
    sr_access_t access = {.epoch = signing->submission.access_epoch};
    apr_cpystrn(access.owner, owner, sizeof access.owner);
    if (work->show->version) sr_access_cache_put(work->service->child->access, allowed, &access, count, now);
    else sr_version_cache_add(work->service->child->versions, allowed, count, now, version, owner);
}

static sr_error_t *counted(sr_cached_result_t result)
{
    sr_metrics_count(SR_METRIC_PAGES, (int)result, 0, 1);
    return NULL;
}

sr_error_t *sr_service_show(const sr_service_t *service, sr_shown_t *shown, const sr_show_t *show, apr_pool_t *pool)
{
    work_t work = {.service = service, .show = show, .pool = pool};
    const char *allowed = permission(service, show, pool);
    const apr_time_t now = sr_time_steady();
    sr_signing_t *signing;
    *shown = (sr_shown_t){.type = !show->width ? "application/json" : show->png ? "image/png" : NULL};
    if (!service->session && find_known(shown, &work, allowed, now)) return counted(SR_CACHED_HIT);
    const apr_uint32_t count = sr_version_cache_count(show->document);
    SR_TRY(page_image_admit(service, &signing, show, pool));
    const sr_document_state_t *document = sr_signing_document(signing, show->document);
    if (!document) return sr_error(pool, SR_ENOTFOUND, "Not found");
    const char *version = show->version ? show->version : sr_document_state_sha256(document);
    const apr_array_header_t *files = files_of(document, version, pool);
    if (!files) return sr_error(pool, SR_ENOTFOUND, "Not found");
    const char *owner = page_image_owner_of(signing, pool);
    if (!service->session) keep_known(&work, allowed, signing, version, owner, count, now);
    if (show->page < 0 || show->page >= document->pages) return sr_error(pool, SR_ENOTFOUND, "Not found");
    page_image_begin(&work, version, owner);
    if (show->only_cached) {
        if (!page_image_find(shown, &work)) return recall_refusal(&work);
        return NULL;
    }
    if (page_image_find(shown, &work)) return counted(SR_CACHED_HIT);
    counted(SR_CACHED_MISS);
    return make_in_turn(shown, &work, files, signing);
}
