/* SPDX-License-Identifier: Apache-2.0 */
/* mod_store_only.c: for `make bench` alone: what an upload costs when it is only stored. Reads the same body as
 * POST /signatures, unparsed, into a temporary file, fsyncs it and gives it its name. Built by apxs.
 *
 *   <Location "/store-only">
 *       SetHandler store-only
 *       StoreOnlyFolder /path
 *   </Location>
 */
#include <httpd.h>
#include <http_config.h>
#include <http_core.h>
#include <http_protocol.h>

#include <apr_file_io.h>
#include <apr_strings.h>
#include <string.h>

module AP_MODULE_DECLARE_DATA store_only_module;

#define PIECE 65536

static void *create_location(apr_pool_t *pool, char *path)
{
    return apr_pcalloc(pool, sizeof(const char *));
}

static const char *set_folder(cmd_parms *command, void *location, const char *folder)
{
    *(const char **)location = folder;
    return NULL;
}

static apr_status_t write_brigade(apr_file_t *file, apr_bucket_brigade *brigade, int *ended)
{
    for (apr_bucket *b = APR_BRIGADE_FIRST(brigade); b != APR_BRIGADE_SENTINEL(brigade); b = APR_BUCKET_NEXT(b)) {
        const char *data;
        apr_size_t length;
        if (APR_BUCKET_IS_EOS(b)) *ended = 1;
        if (APR_BUCKET_IS_METADATA(b)) continue;
        apr_status_t status = apr_bucket_read(b, &data, &length, APR_BLOCK_READ);
        if (!status) status = apr_file_write_full(file, data, length, NULL);
        if (status) return status;
    }
    return APR_SUCCESS;
}

static apr_status_t receive(request_rec *r, apr_file_t *file)
{
    apr_bucket_brigade *brigade = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    int ended = 0;
    while (!ended) {
        apr_status_t status = ap_get_brigade(r->input_filters, brigade, AP_MODE_READBYTES, APR_BLOCK_READ, PIECE);
        if (!status) status = write_brigade(file, brigade, &ended);
        if (status) return status;
        apr_brigade_cleanup(brigade);
    }
    return APR_SUCCESS;
}

static int handler(request_rec *r)
{
    if (!r->handler || strcmp(r->handler, "store-only")) return DECLINED;
    const char *folder = *(const char **)ap_get_module_config(r->per_dir_config, &store_only_module);
    char *temporary = apr_pstrcat(r->pool, folder, "/tmp.XXXXXX", NULL);
    apr_file_t *file;
    const apr_int32_t flags = APR_FOPEN_CREATE | APR_FOPEN_WRITE | APR_FOPEN_EXCL;
    apr_status_t status = apr_file_mktemp(&file, temporary, flags, r->pool);
    if (!status) status = receive(r, file);
    if (!status) status = apr_file_sync(file);
    if (!status) status = apr_file_close(file);
    if (!status) {
        const char *name = strrchr(temporary, '.') + 1;
        status = apr_file_rename(temporary, apr_pstrcat(r->pool, folder, "/", name, NULL), r->pool);
    }
    if (status) return HTTP_INTERNAL_SERVER_ERROR;
    r->status = HTTP_CREATED;
    ap_set_content_type(r, "text/plain");
    ap_rputs("stored\n", r);
    return OK;
}

static void register_hooks(apr_pool_t *pool)
{
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
}

static const command_rec commands[] = {
    AP_INIT_TAKE1("StoreOnlyFolder", set_folder, NULL, ACCESS_CONF, "where uploads go"),
    {NULL, {NULL}, NULL, 0, RAW_ARGS, NULL},
};

AP_DECLARE_MODULE(store_only) = {
    STANDARD20_MODULE_STUFF, create_location, NULL, NULL, NULL, commands, register_hooks, 0,
};
