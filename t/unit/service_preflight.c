/* SPDX-License-Identifier: Apache-2.0 */
/* service_preflight.c: what is asked of the helpers about the documents of a creation, and for how long: with the
 * helper itself, with one that is slow, with none. The API's tests have the rest (t/api/prove.t). */
#include "helper/client/worker.h"
#include "pdf_help.h"
#include "service/submissions/uploads.h"
#include "store.h"

#include "disk.h"

#include <pthread.h>
#include <sys/stat.h>

static const char SIGNERS[] =
    "[{\"firstname\":\"A\",\"lastname\":\"B\",\"fields\":[{\"type\":\"signature\",\"name\":\"x\","
    "\"document\":\"d0\",\"area\":{\"x\":1,\"y\":1,\"w\":9,\"h\":9,\"page\":1}}]}]";
static const sr_signers_rules_t RULES = {.max_signers = 10, .max_fields = 10};

/* The database, in which keys are reserved. */
static link_t database;

static sr_error_t *borrow(sr_store_source_t *source, sr_store_t **store, apr_pool_t *scratch)
{
    *store = database.store;
    return NULL;
}

static void give_back(sr_store_source_t *source, sr_store_t *store)
{
}

typedef struct attempt_t {
    sr_service_t service;
    sr_create_t request;
    sr_preflight_t preflight;
    apr_array_header_t *signers;
} attempt_t;

/* A creation of `count` documents, none like another or like those of another text; the first has a field. */
static attempt_t *begin_attempt(sr_pdf_pool_t *workers, int count, const char *text)
{
    attempt_t *made = apr_pcalloc(pool, sizeof *made);
    sr_uploads_t *uploads = apr_palloc(pool, sizeof *uploads);
    *uploads = (sr_uploads_t){documents, apr_array_make(pool, count, sizeof(sr_upload_t)), pool};
    static sr_store_source_t source = {.borrow = borrow, .give_back = give_back};
    static const sr_child_t child = {0};
    static const sr_settings_t settings = {0};
    made->service.child = &child;
    made->service.settings = &settings;
    made->service.pdf = workers;
    made->service.database = &source;
    for (int i = 0; i < count; i++) {
        pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 3, .trailer = apr_psprintf(pool, "/X(%s %d)", text, i)});
        if (sr_service_receive_begin(uploads, apr_psprintf(pool, "d%d", i), NULL, true)
            || sr_service_receive_data(uploads, pdf.data, pdf.size) || sr_service_receive_end(uploads))
            abort();
        free(pdf.data);
    }
    static const sr_token_t caller = {.organization_uuid = "00000000-0000-4000-8000-000000000001"};
    made->request = (sr_create_t){.caller = &caller, .uploads = uploads};
    return made;
}

static sr_error_t *check(attempt_t *attempt)
{
    return sr_uploads_check(&attempt->service, &attempt->preflight, &attempt->request, pool);
}

static sr_error_t *prove(attempt_t *attempt)
{
    SR_TRY(sr_signers_parse(&attempt->signers, SIGNERS, strlen(SIGNERS), &RULES, pool));
    SR_TRY(sr_signers_resolve(attempt->signers, attempt->preflight.documents, &(sr_resolving_t){.max_fields = 1000},
                              pool));
    return sr_preflight(&attempt->service, &attempt->preflight, attempt->signers, &attempt->request, pool);
}

static sr_error_t *keep_all(attempt_t *attempt)
{
    apr_array_header_t *contents = sr_contents_make(pool);
    SR_TRY(sr_uploads_commit(&attempt->service, contents, &attempt->preflight, &attempt->request, pool));
    for (int i = 0; i < contents->nelts; i++) { /* what the transaction does that names them */
        const sr_content_t *content = &APR_ARRAY_IDX(contents, i, sr_content_t);
        if (content->key)
            execute(&database, apr_psprintf(pool,
                                            "INSERT INTO blob (folder, sha256, key, size) "
                                            "SELECT folder, '%s', key, 1 FROM blob_reservation WHERE key = '%s'",
                                            content->sha256, content->key));
    }
    return NULL;
}

static const sr_file_t *upload_of(const attempt_t *attempt, int i)
{
    return &APR_ARRAY_IDX(attempt->preflight.files, i, sr_files_t).upload;
}

/* One upload, seen for the first and for the second time. */
static void test_memory(sr_pdf_pool_t *workers, sr_pdf_pool_t *nobody)
{
    attempt_t *attempt = begin_attempt(workers, 2, "memory");
    ok(!check(attempt) && !prove(attempt), "a new document is proved");
    ok(sr_pages_is_prepared(upload_of(attempt, 0)->pages, 1) && !sr_pages_is_prepared(upload_of(attempt, 0)->pages, 0),
       "on the page that has the field");
    is_int(upload_of(attempt, 1)->pages->prepared_count, 0, "one without fields is not");
    is_int(count_files(), 1, "nothing is stored yet but to whom the folder belongs");
    ok(!keep_all(attempt), "they are kept");
    is_int(count_files(), 5, "each with its report");

    attempt = begin_attempt(nobody, 2, "memory");
    ok(!check(attempt), "seen again, they are known");
    attempt->preflight.deadline = 0;
    ok(!prove(attempt), "and nobody is asked, nor any time needed");
    ok(upload_of(attempt, 0)->stored && !upload_of(attempt, 0)->changed, "there is nothing to be noted");
    ok(!keep_all(attempt), "nor to be kept");
    is_int(count_files(), 5, "nothing is stored twice");
}

static void test_away(sr_pdf_pool_t *workers, sr_pdf_pool_t *nobody)
{
    attempt_t *attempt = begin_attempt(nobody, 1, "away");
    sr_error_t *error = check(attempt);
    ok(error && error->code == SR_EUNAVAILABLE, "no helper for a new document: that is no fault of it");
    attempt = begin_attempt(workers, 1, "away");
    ok(!check(attempt), "it is read");
    APR_ARRAY_IDX(attempt->preflight.files, 0, sr_files_t).pdf = nobody;
    error = prove(attempt);
    ok(error && error->code == SR_EUNAVAILABLE, "no helper to prove it: nor that");
}

static void test_late(sr_pdf_pool_t *workers)
{
    attempt_t *attempt = begin_attempt(workers, 1, "late");
    ok(!check(attempt), "a new document");
    attempt->preflight.deadline = sr_time_steady();
    sr_error_t *error = prove(attempt);
    ok(error && error->code == SR_EUNAVAILABLE, "when there is no time left it is not to blame: %s",
       error ? error->message : "");
    APR_ARRAY_IDX(attempt->preflight.files, 0, sr_files_t).pdf->used = 7 * APR_USEC_PER_SEC;
    error = prove(attempt);
    ok(error && error->code == SR_EBADREQUEST, "unless the documents took the processor time");
    is_str(error ? error->message : "", "Document d0 cannot be signed: it takes too long to read", "and is told so");
}

/* Moves the clocks forward by ten seconds for each question: as soon as it is put, which `asked` notes, and before it
 * is answered, for which the helper waits until `moved` is as long. */
static void *hurry(void *data)
{
    const char *path = data;
    char asked[APR_PATH_MAX], moved[APR_PATH_MAX];
    struct stat info;
    snprintf(asked, sizeof asked, "%s.asked", path);
    snprintf(moved, sizeof moved, "%s.moved", path);
    for (int count = 1; access(path, F_OK) == 0; count++) {
        while (access(path, F_OK) == 0 && (stat(asked, &info) || info.st_size < count)) usleep(10000);
        sr_time_forward(apr_time_from_sec(10));
        FILE *file = fopen(moved, "a");
        if (!file) abort();
        fputs("\n", file);
        fclose(file);
    }
    return NULL;
}

/* Each question takes ten seconds, but no processor time, as on a busy machine: some may be put, and the others would
 * come too late. */
static void test_slow(void)
{
    static const char answer[] =
        "{\"verdict\":\"accepted\",\"report\":\""
        "{\\\"version\\\":" APR_STRINGIFY(
            SR_PAGES_VERSION) ",\\\"pages\\\":1,\\\"runs\\\":"
                              "[[1,0,0,9,9,0]],\\\"signatures\\\":0,\\\"normalise\\\":false}\"}";
    const char *path = apr_pstrcat(pool, root, "/slow", NULL);
    FILE *file = fopen(path, "w");
    pthread_t thread;
    if (!file) abort();
    fputs("#!/bin/sh\nprintf 'SPR1\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0{}' >&3\n"
          "dd bs=30 count=1 <&3 >/dev/null 2>&1\n",
          file);
    fprintf(file, "echo >>%s.asked\nuntil cmp -s %s.asked %s.moved; do sleep 0.02; done\n", path, path, path);
    fprintf(file, "printf 'SPR1\\1\\0\\0\\0\\1\\0\\0\\0\\%o\\0\\0\\0' >&3\nprintf %%s '%s' >&3\nexec sleep 5\n",
            (unsigned)strlen(answer), answer);
    fclose(file);
    chmod(path, 0700);
    if (pthread_create(&thread, NULL, hurry, (void *)path)) abort();
    attempt_t *attempt = begin_attempt(help_pool(path, 1, 2500, pool), 10, "slow");
    sr_error_t *error = check(attempt);
    struct stat asked;
    if (stat(apr_pstrcat(pool, path, ".asked", NULL), &asked)) asked.st_size = 0;
    ok(error && error->code == SR_EUNAVAILABLE, "ten slow documents are not read for now: %s",
       error ? error->message : "");
    is_int((int)asked.st_size, 3, "after thirty seconds, no other one is asked for");
    is_int(help_notices, 0, "none of them alone: %s", help_last_notice);
    unlink(path);
    pthread_join(thread, NULL);
}

static void open_database(base_t *base)
{
    apr_dbd_init(pool);
    if (!base_make(base, "sqlite3", pool)) die("sqlite3", NULL);
    link_connect(&database, base, pool);
    ok(!link_upgrade(&database) && !link_open(&database), "a database");
    ok(!sr_blobs_bind(documents, uuid(1, 1, pool), false, pool), "whose folder it is");
}

int main(void)
{
    base_t base;
    begin();
    open_database(&base);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 20000, pool), *nobody = help_pool("/nowhere", 1, 500, pool);
    test_memory(workers, nobody);
    test_away(workers, nobody);
    test_late(workers);
    test_slow();
    link_close(&database);
    base_remove(&base);
    end();
    return done();
}
