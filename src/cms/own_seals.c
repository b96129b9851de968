/* SPDX-License-Identifier: Apache-2.0 */
/* own_seals.c: the own seals of organisations, in the folder of SigreqOrganizationSeals. Each has a folder that is
 * named by the uuid of the organisation, with the files that `sigreqctl seal` makes. A fault of one of them is noted in
 * that seal alone, so that it never stops the others. */
#include "cms/cms.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *own_seals_in_folder(const char *folder, const char *organization, const char *name, apr_pool_t *pool)
{
    return apr_pstrcat(pool, folder, "/", organization, "/", name, NULL);
}

/* Returns false only if there is no such file. What cannot be looked at, for a lack of rights or because of a disk, is
 * there: otherwise another seal would take its place. */
static bool own_seals_is_there(const char *folder, const char *organization, const char *name, apr_pool_t *pool)
{
    return access(own_seals_in_folder(folder, organization, name, pool), F_OK) == 0 || errno != ENOENT;
}

const char *sr_cms_own_certificate(const char *folder, const char *organization, apr_pool_t *pool)
{
    return own_seals_in_folder(folder, organization, "seal.crt", pool);
}

/* Without a certificate and with a request, the organisation waits for its first certificate. `sigreqctl seal request`
 * writes the request before the key, and `seal import` removes it after it has written the certificate. So a folder
 * that has a key, and neither of both, has lost its certificate. A link that leads nowhere, or a file instead of the
 * folder, is a seal that cannot be used. */
static bool is_waiting(const char *folder, const char *organization, apr_pool_t *pool)
{
    struct stat info;
    if (stat(own_seals_in_folder(folder, organization, "", pool), &info) != 0) return false;
    if (own_seals_is_there(folder, organization, "seal.crt", pool)) return false;
    if (own_seals_is_there(folder, organization, "seal.csr", pool)) return true;
    return !own_seals_is_there(folder, organization, "seal.key", pool)
           && !own_seals_is_there(folder, organization, "former", pool);
}

/* Hidden files, what is not complete yet, and what `sigreqctl org seal --remove` has put away. */
static bool is_ignored(const char *name)
{
    const char *end = strrchr(name, '.');
    return *name == '.' || (end && !strcmp(end, ".partial")) || strstr(name, SR_CMS_OWN_REMOVED);
}

static bool names_organization(const char *name)
{
    return sr_uuid_valid(name) && !name[strcspn(name, "ABCDEF")];
}

static int own_seals_compare(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

sr_error_t *sr_cms_own_list(apr_array_header_t **organizations, apr_array_header_t **strangers, const char *folder,
                            apr_pool_t *pool)
{
    DIR *listing = opendir(folder);
    *organizations = apr_array_make(pool, 8, sizeof(const char *));
    *strangers = apr_array_make(pool, 1, sizeof(const char *));
    if (!listing)
        return sr_error(pool, errno == ENOENT ? SR_ENOTFOUND : SR_EINTERNAL, "%s: %s", folder, strerror(errno));
    const struct dirent *entry;
    while ((errno = 0, entry = readdir(listing)) != NULL) {
        const char *name = entry->d_name;
        if (is_ignored(name) || (names_organization(name) && is_waiting(folder, name, pool))) continue;
        apr_array_header_t *list = names_organization(name) ? *organizations : *strangers;
        APR_ARRAY_PUSH(list, const char *) = apr_pstrdup(pool, name);
    }
    sr_error_t *error = errno ? sr_error(pool, SR_EINTERNAL, "%s: %s", folder, strerror(errno)) : NULL;
    closedir(listing);
    qsort((*organizations)->elts, (size_t)(*organizations)->nelts, sizeof(const char *), own_seals_compare);
    return error;
}

/* --------------------------------------------------------------------------------------------------- loading */

void sr_cms_own_load(sr_cms_own_t *own, const char *folder, const char *organization, apr_pool_t *pool)
{
    *own = (sr_cms_own_t){.organization = apr_pstrdup(pool, organization)};
    sr_error_t *error = sr_cms_identity_load(&own->identity, sr_cms_own_certificate(folder, organization, pool),
                                             own_seals_in_folder(folder, organization, "seal.key", pool), pool);
    if (error) own->fault = error->message;
}

/* Reads a certificate and its chain. Returns NULL if that is not possible. */
static const sr_cms_identity_t *read_chain(const char *path, apr_pool_t *pool)
{
    const sr_cms_identity_t *identity;
    const char *pem;
    if (sr_cms_certificates_text(&pem, path, pool)) return NULL;
    return sr_cms_identity_without_key(&identity, pem, path, NULL, NULL, pool) ? NULL : identity;
}

sr_error_t *sr_cms_own_read(apr_array_header_t **all, const char *folder, apr_pool_t *pool)
{
    apr_array_header_t *organizations, *strangers;
    SR_TRY(sr_cms_own_list(&organizations, &strangers, folder, pool));
    *all = apr_array_make(pool, organizations->nelts + 1, sizeof(sr_cms_own_t));
    for (int i = 0; i < organizations->nelts; i++) {
        const char *name = APR_ARRAY_IDX(organizations, i, const char *);
        sr_cms_own_t *own = apr_array_push(*all);
        *own = (sr_cms_own_t){.organization = name,
                              .identity = read_chain(sr_cms_own_certificate(folder, name, pool), pool)};
        if (!own->identity) own->fault = "its certificate cannot be read";
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------- looking */

sr_cms_own_t *sr_cms_own_find(const apr_array_header_t *all, const char *organization)
{
    int low = 0, high = all && organization ? all->nelts : 0;
    while (low < high) {
        const int middle = (low + high) / 2;
        sr_cms_own_t *own = &APR_ARRAY_IDX(all, middle, sr_cms_own_t);
        const int order = strcmp(organization, own->organization);
        if (!order) return own;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return NULL;
}

const sr_cms_certificate_t *const *sr_cms_own_ours(const sr_cms_identity_t *const *seals, int count,
                                                   const apr_array_header_t *all, const apr_array_header_t *former,
                                                   apr_pool_t *pool)
{
    const int most = count + (all ? all->nelts : 0) + (former ? former->nelts : 0);
    const sr_cms_certificate_t **ours = apr_pcalloc(pool, sizeof(void *) * (apr_size_t)(most + 1));
    int found = 0;
    for (int i = 0; i < count; i++)
        if (seals[i]) ours[found++] = sr_cms_identity_certificate(seals[i]);
    for (int i = 0; all && i < all->nelts; i++) {
        const sr_cms_own_t *own = &APR_ARRAY_IDX(all, i, sr_cms_own_t);
        const sr_cms_identity_t *identity = __atomic_load_n(&own->identity, __ATOMIC_ACQUIRE);
        if (identity) ours[found++] = sr_cms_identity_certificate(identity);
    }
    for (int i = 0; former && i < former->nelts; i++)
        ours[found++] = APR_ARRAY_IDX(former, i, const sr_cms_certificate_t *);
    return ours;
}
