/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.c: lists the objects of a bucket (ListObjectsV2), one page after the other. */
#include "blobs/s3/private.h"

#include <string.h>

static const sr_s3_call_t *call_of(const char *prefix, const char *token, apr_pool_t *pool)
{
    sr_s3_pair_t *query = apr_pcalloc(pool, 3 * sizeof *query);
    sr_s3_call_t *call = apr_pcalloc(pool, sizeof *call);
    query[0] = (sr_s3_pair_t){"list-type", "2"};
    query[1] = (sr_s3_pair_t){"prefix", prefix};
    query[2] = (sr_s3_pair_t){"continuation-token", token};
    *call = (sr_s3_call_t){.method = "GET", .query = query, .query_count = token ? 3 : 2, .source = -1, .sink = -1};
    return call;
}

static sr_s3_object_t enumerate_object_of(const apr_xml_elem *row, apr_size_t skipped, apr_pool_t *pool)
{
    sr_s3_object_t object = {.size = apr_atoi64(sr_s3_xml_text(row, "Size", pool))};
    const char *key = sr_s3_xml_text(row, "Key", pool);
    object.key = strlen(key) < skipped ? "" : key + skipped;
    if (!sr_time_parse(&object.modified, sr_s3_xml_text(row, "LastModified", pool))) object.modified = 0;
    return object;
}

/* A server that did not understand the prefix would list objects of others. */
static sr_error_t *list_page(const sr_s3_t *s3, const apr_xml_elem *page, const char *prefix, sr_s3_each_t each,
                             void *baton, apr_pool_t *pool)
{
    const apr_size_t skipped = strlen(s3->options.prefix);
    apr_pool_t *scratch;
    sr_error_t *error = NULL;
    apr_pool_create(&scratch, pool);
    for (const apr_xml_elem *row = NULL; !error && (row = sr_s3_xml_child(page, row, "Contents")) != NULL;) {
        const sr_s3_object_t object = enumerate_object_of(row, skipped, scratch);
        if (strncmp(sr_s3_xml_text(row, "Key", scratch), prefix, strlen(prefix)) == 0)
            error = sr_error_copy(each(baton, &object, scratch), pool);
        apr_pool_clear(scratch);
    }
    apr_pool_destroy(scratch);
    return error;
}

sr_error_t *sr_s3_list(sr_s3_t *s3, const char *begin, sr_s3_each_t each, void *baton, apr_pool_t *pool)
{
    const char *prefix = apr_pstrcat(pool, s3->options.prefix, begin, NULL);
    apr_pool_t *one, *next; /* of a page, and of the page after it */
    const char *token = NULL;
    bool more = true;
    apr_pool_create(&one, pool);
    apr_pool_create(&next, pool);
    while (more) {
        const sr_s3_call_t *call = call_of(prefix, token, one);
        sr_s3_answer_t answer;
        SR_TRY(sr_s3_call(&answer, s3, call, one));
        const apr_xml_elem *page = answer.body ? answer.body->root : NULL;
        if (!page || strcmp(page->name, "ListBucketResult") != 0)
            return sr_s3_trouble(s3, call, "the response is not a list", pool);
        SR_TRY(list_page(s3, page, prefix, each, baton, one));
        more = strcmp(sr_s3_xml_text(page, "IsTruncated", one), "true") == 0;
        token = apr_pstrdup(next, sr_s3_xml_text(page, "NextContinuationToken", one));
        if (more && !*token) return sr_s3_trouble(s3, call, "the list has no continuation", pool);
        apr_pool_clear(one);
        apr_pool_t *swapped = one;
        one = next;
        next = swapped;
    }
    apr_pool_destroy(one);
    apr_pool_destroy(next);
    return NULL;
}
