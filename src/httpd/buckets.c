/* SPDX-License-Identifier: Apache-2.0 */
/* buckets.c: the buckets of SigreqDocuments s3://. The parent reads the credentials, usually as root, with every
 * configuration, so httpd's user need not be able to read them. Each child makes a client for each bucket. */
#include <httpd.h>
#include <http_log.h>
#include <apr_hash.h>

#include "blobs/blobs.h"
#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

/* Of the current configuration. */
static struct {
    sr_s3_credentials_t credentials;
    const char *agent;
} loaded;

static apr_hash_t *buckets; /* of this child: SigreqDocuments → sr_bucket_t */
static apr_hash_t *others;  /* SigreqDocuments → SigreqDocumentsAlso */

static bool is_used(apr_pool_t *pool, server_rec *main_server)
{
    const apr_array_header_t *uses = sr_conf_uses(pool, main_server);
    for (int i = 0; i < uses->nelts; i++) {
        const sr_conf_use_t *use = &APR_ARRAY_IDX(uses, i, sr_conf_use_t);
        if (sr_s3_is_url(use->documents) || sr_s3_is_url(use->also)) return true;
    }
    return false;
}

void sr_run_buckets_load(apr_pool_t *pool, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    loaded.credentials = (sr_s3_credentials_t){0};
    loaded.agent = "mod_sigreq/" MOD_SIGREQ_VERSION;
    if (!sr_conf_is_used() || !is_used(pool, main_server)) return;
    const char *fault =
        *conf->s3_credentials ? sr_s3_read_credentials(&loaded.credentials, conf->s3_credentials, pool) : NULL;
    if (fault) sr_run_unusable(main_server, apr_pstrcat(pool, "SR0730: SigreqS3Credentials: ", fault, NULL));
}

static void buckets_note(void *baton, const char *text)
{
    char line[400];
    apr_snprintf(line, sizeof line, "SR0731: %s", text);
    sr_run_log(baton, APLOG_WARNING, line);
}

static sr_error_t *buckets_make(sr_bucket_t **bucket, const char *documents, server_rec *main_server, apr_pool_t *pool)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    sr_s3_options_t options = {.region = conf->s3_region,
                               .credentials = loaded.credentials,
                               .virtual_host = conf->s3_endpoint.virtual_host,
                               .authorities = sr_run_authorities(),
                               .agent = loaded.agent,
                               .note = buckets_note,
                               .baton = main_server};
    const char *fault = sr_s3_read_url(&options, documents, pool);
    if (!fault) fault = sr_s3_read_endpoint(&options, conf->s3_endpoint.url, pool);
    if (fault) return sr_error(pool, SR_EINTERNAL, "SigreqDocuments %s: %s", documents, fault);
    return sr_bucket_create(bucket, &options, sr_s3_folder(&options, conf->documents_cache, pool),
                            conf->documents_cache_size, pool);
}

static void add_bucket(const char *documents, server_rec *main_server, apr_pool_t *pchild)
{
    sr_bucket_t *bucket;
    if (!sr_s3_is_url(documents) || apr_hash_get(buckets, documents, APR_HASH_KEY_STRING)) return;
    const sr_error_t *error = buckets_make(&bucket, documents, main_server, pchild);
    if (!error) apr_hash_set(buckets, documents, APR_HASH_KEY_STRING, bucket);
    else
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, main_server, "SR0732: documents cannot be stored in %s: %s", documents,
                     sr_error_text(error, false, pchild));
}

void sr_run_buckets_child_init(apr_pool_t *pchild, server_rec *main_server)
{
    const apr_array_header_t *uses = sr_conf_uses(pchild, main_server);
    buckets = apr_hash_make(pchild);
    others = apr_hash_make(pchild);
    for (int i = 0; i < uses->nelts; i++) {
        const sr_conf_use_t *use = &APR_ARRAY_IDX(uses, i, sr_conf_use_t);
        add_bucket(use->documents, main_server, pchild);
        add_bucket(use->also, main_server, pchild);
        if (*use->also) apr_hash_set(others, use->documents, APR_HASH_KEY_STRING, use->also);
    }
}

static sr_place_t place_of(const char *documents)
{
    sr_bucket_t *bucket =
        buckets && sr_s3_is_url(documents) ? apr_hash_get(buckets, documents, APR_HASH_KEY_STRING) : NULL;
    return (sr_place_t){.root = bucket ? sr_bucket_folder(bucket) : documents, .bucket = bucket};
}

sr_storage_t sr_run_storage(const char *documents)
{
    const char *also = others ? apr_hash_get(others, documents, APR_HASH_KEY_STRING) : NULL;
    return (sr_storage_t){.main = place_of(documents), .also = also ? place_of(also) : (sr_place_t){0}};
}

sr_error_t *sr_run_documents(sr_blobs_t **blobs, const char *documents, server_rec *main_server, apr_pool_t *pool)
{
    sr_bucket_t *bucket = place_of(documents).bucket;
    if (!sr_s3_is_url(documents)) return sr_blobs_folder(blobs, documents, pool);
    if (!bucket) SR_TRY(buckets_make(&bucket, documents, main_server, pool));
    return sr_blobs_bucket(blobs, bucket, false, pool);
}
