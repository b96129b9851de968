/* SPDX-License-Identifier: Apache-2.0 */
/* former.c: the certificates with which a seal has signed before its present one. `sigreqctl seal rotate` keeps them in
 * the folder `former`, beside the file of the present one; `sigreqctl org seal --rotate` does so for own seals. */
#include "cms/cms.h"

#include <dirent.h>
#include <string.h>

#define MOST 256 /* certificates */

static bool is_certificate(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(".crt");
    return length > suffix && !strcmp(name + length - suffix, ".crt");
}

apr_array_header_t *sr_cms_former_read(const char **fault, const char *certificate_path, apr_pool_t *pool)
{
    apr_array_header_t *former = apr_array_make(pool, 4, sizeof(const sr_cms_certificate_t *));
    const char *slash = strrchr(certificate_path, '/');
    const char *folder =
        apr_pstrcat(pool, slash ? apr_pstrmemdup(pool, certificate_path, (apr_size_t)(slash - certificate_path)) : ".",
                    "/former", NULL);
    DIR *listing = opendir(folder);
    *fault = NULL;
    for (const struct dirent *entry; listing && former->nelts < MOST && (entry = readdir(listing)) != NULL;) {
        const sr_cms_certificate_t *one;
        if (!is_certificate(entry->d_name)) continue;
        const sr_error_t *error =
            sr_cms_certificate_read(&one, apr_pstrcat(pool, folder, "/", entry->d_name, NULL), pool);
        if (error) *fault = error->message;
        else APR_ARRAY_PUSH(former, const sr_cms_certificate_t *) = one;
    }
    if (listing) closedir(listing);
    return former;
}

apr_array_header_t *sr_cms_former_of_own(const char **fault, const char *folder, apr_pool_t *pool)
{
    apr_array_header_t *all = apr_array_make(pool, 4, sizeof(const sr_cms_certificate_t *)), *organizations, *strangers;
    const sr_error_t *error = sr_cms_own_list(&organizations, &strangers, folder, pool);
    *fault = error ? error->message : NULL;
    for (int i = 0; !error && i < organizations->nelts; i++) {
        const char *of_one, *organization = APR_ARRAY_IDX(organizations, i, const char *);
        apr_array_cat(all, sr_cms_former_read(&of_one, sr_cms_own_certificate(folder, organization, pool), pool));
        if (of_one) *fault = of_one;
    }
    return all;
}
