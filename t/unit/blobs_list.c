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
    test_brigade();
    end();
    return done();
}
