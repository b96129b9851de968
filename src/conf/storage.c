/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c: parses the values of directives about where documents are stored. */
#include "conf/private.h"

#include "blobs/s3/s3.h"

const char *sr_conf_read_documents(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    sr_s3_options_t options = {0};
    if (!sr_s3_is_url(text)) {
        *(sr_setting_DOCUMENTS *)slot = *text ? ap_server_root_relative(pool, text) : "";
        return *(sr_setting_DOCUMENTS *)slot ? NULL : "must be a path or s3://bucket";
    }
    const char *fault = sr_s3_read_url(&options, text, pool);
    if (fault) return fault;
    /* one form, so that equal texts are equal places */
    *(sr_setting_DOCUMENTS *)slot = apr_pstrcat(pool, "s3://", options.bucket, "/", options.prefix, NULL);
    return NULL;
}

/* It is called for each argument: the URL, and the style. */
const char *sr_conf_read_endpoint(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    sr_s3_options_t options = {0};
    sr_setting_ENDPOINT *endpoint = slot;
    const bool is_virtual = !strcasecmp(text, "virtual-host");
    if (!*text) *endpoint = (sr_setting_ENDPOINT){.url = ""};
    if (!*text) return NULL;
    if (is_virtual || !strcasecmp(text, "path")) {
        endpoint->virtual_host = is_virtual;
        return NULL;
    }
    const char *fault = sr_s3_read_endpoint(&options, text, pool);
    if (fault) return fault;
    endpoint->url = apr_pstrdup(pool, text);
    return NULL;
}

const char *sr_conf_read_name(apr_pool_t *pool, const sr_conf_row_t *row, const char *text, void *slot)
{
    static const char letters[] = "-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    *(sr_setting_NAME *)slot = apr_pstrdup(pool, text);
    return text[strspn(text, letters)] ? "must be a name such as eu-central-1" : NULL;
}
