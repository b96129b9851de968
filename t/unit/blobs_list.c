/* SPDX-License-Identifier: Apache-2.0 */
/* blobs_list.c: tests of src/blobs/blobs.c and fs.c: the functions of a provider. */
#include "disk.h"

static int open_descriptors(void)
{
    int i, count = 0;
    for (i = 0; i < 256; i++) count += fcntl(i, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

static int listed;
static apr_off_t listed_size;

static sr_error_t *count_listed(void *baton, const char *key, apr_off_t size, apr_pool_t *scratch)
{
    const char *stop = baton;
    if (stop && strcmp(stop, key) == 0) return sr_error(scratch, SR_EINTERNAL, "stop");
    listed++;
    listed_size += size;
    return NULL;
}

static int count_blobs(void)
{
    listed = 0;
    listed_size = 0;
    return sr_blobs_list(documents, count_listed, NULL, pool) ? -1 : listed;
}

static void test_list(void)
{
    apr_off_t size;
    bool there;
    start_over();
    is_int(count_blobs(), 0, "an empty folder has no blob");
    const char *one = keep("one", REPORT), *key = apr_pstrcat(pool, one, ".0123456789abcdef", NULL);
    const char *other = keep("other", NULL);
    ok(!sr_blobs_put(documents, key, "one", 3, pool), "one content under two keys");
    put_file(apr_pstrcat(pool, sr_blobs_path(documents, one, pool), ".800.png", NULL), "an image");
    put_file(apr_pstrcat(pool, root, "/readme", NULL), "a file of somebody else");
    is_int(count_blobs(), 3, "only blobs are listed, no reports, images or other files");
    is_int(listed_size, 11, "blobs are listed with their sizes");
    ok(sr_blobs_list(documents, count_listed, (void *)other, pool) != NULL, "an error of the callback ends the list");
    ok(!sr_blobs_exists(&there, documents, key, pool) && there, "a blob exists");
    ok(!sr_blobs_remove(&there, &size, documents, key, pool) && there && size == 3, "the blob is removed");
    ok(!sr_blobs_remove(&there, &size, documents, key, pool) && !there && size == 0, "once");
    ok(!sr_blobs_exists(&there, documents, key, pool) && !there, "a removed blob does not exist");
    is_int(count_blobs(), 2, "another key of the same content still exists");
}

/* Moves a stored file to where earlier versions have stored it. */
static void move_back(const char *name)
{
    const char *ab = apr_psprintf(pool, "%s/%.2s", root, name), *cd = apr_psprintf(pool, "%s/%.2s", ab, name + 2);
    mkdir(cd, 0700);
    ok(rename(apr_pstrcat(pool, ab, "/", name, NULL), apr_pstrcat(pool, cd, "/", name, NULL)) == 0, "%s in %s", name,
       cd);
}

static void test_former(void)
{
    const char *report;
    apr_off_t size;
    sr_blob_t blob;
    bool there;
    start_over();
    const char *key = keep_under("former", ".1", REPORT), *sha256 = apr_pstrndup(pool, key, SR_SHA256_HEX_LENGTH);
    move_back(key);
    move_back(apr_pstrcat(pool, sha256, ".", OWNER, ".json", NULL));
    ok(!sr_blobs_exists(&there, documents, key, pool) && there, "a blob of an earlier version exists");
    ok(!sr_blobs_open(&blob, documents, key, pool) && blob.size == 6, "it can be opened");
    ok(!sr_reports_read(&report, documents, sha256, pool) && report && !strcmp(report, REPORT), "its report is read");
    ok(keep_under("former", ".2", NULL) != NULL, "the same content under another key");
    is_int(count_blobs(), 2, "both are listed");
    ok(!sr_reports_write(documents, sha256, OTHER_REPORT, pool) && !sr_reports_read(&report, documents, sha256, pool),
       "the report is written again");
    is_str(report, OTHER_REPORT, "the newer one is read");
    sr_reports_remove(documents, sha256, pool);
    ok(!sr_reports_read(&report, documents, sha256, pool) && !report, "both reports are removed");
    ok(keep_under("former", ".3", REPORT) != NULL, "the document is stored again");
    move_back(apr_pstrcat(pool, sha256, ".", OWNER, ".json", NULL));
    ok(!sr_reports_forget(documents, sha256, pool) && !sr_reports_read(&report, documents, sha256, pool) && !report,
       "the report of an earlier version is forgotten");
    ok(!sr_blobs_remove(&there, &size, documents, key, pool) && there && size == 6, "the blob is removed");
    ok(!sr_blobs_exists(&there, documents, key, pool) && !there && is_quarantined(key), "it is in the quarantine");
    is_int(count_blobs(), 2, "the other keys still exist");
}

static void test_brigade(void)
{
    const int before = open_descriptors();
    const char *keys[] = {keep("first ", NULL), keep("second", NULL)};
    apr_bucket_alloc_t *allocator;
    char text[20];
    apr_size_t length = sizeof text;
    apr_pool_t *own;
    apr_off_t size;
    apr_pool_create(&own, pool);
    allocator = apr_bucket_alloc_create(own);
    apr_bucket_brigade *brigade = apr_brigade_create(own, allocator);
    for (int i = 0; i < 2; i++) {
        sr_blob_t blob;
        ok(!sr_blobs_open(&blob, documents, keys[i], own) && blob.size == 6, "a blob is opened");
        sr_blob_append(brigade, &blob, own);
    }
    ok(!apr_brigade_length(brigade, 0, &size) && size == 12, "the length of the brigade is known without reading");
    ok(APR_BUCKET_IS_FILE(APR_BRIGADE_FIRST(brigade)), "the buckets are files");
    ok(!apr_brigade_flatten(brigade, text, &length) && length == 12 && memcmp(text, "first second", 12) == 0,
       "the brigade has the content of the blobs, in order");
    apr_pool_destroy(own);
    is_int(open_descriptors(), before, "no descriptor is left open");
}

int main(void)
{
    begin();
    test_list();
    test_former();
    test_brigade();
    end();
    return done();
}
