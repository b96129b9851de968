/* SPDX-License-Identifier: Apache-2.0 */
/* folders.c: the folders that a worker may read to show a page: the fonts of the system, for documents that name fonts
 * without embedding them, and poppler's data for East Asian scripts. The sandbox permits no other folders. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <fontconfig/fontconfig.h>
#include <string.h>
#include <sys/stat.h>

static bool is_below(const char *path, const char *folder)
{
    apr_size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

/* Skips a folder below another one of the list. fontconfig lists parents first. */
static void folders_add(apr_array_header_t *folders, const char *path)
{
    char *real = realpath(path, NULL);
    bool known = !real;
    for (int i = 0; !known && i < folders->nelts; i++) known = is_below(real, APR_ARRAY_IDX(folders, i, const char *));
    if (!known) APR_ARRAY_PUSH(folders, const char *) = apr_pstrdup(folders->pool, real);
    free(real);
}

/* Adds the folder that a symbolic link leads to, which may be elsewhere (as for the fonts of TeX). */
static void add_linked(apr_array_header_t *folders, const char *path)
{
    struct stat info;
    if (lstat(path, &info) || !S_ISLNK(info.st_mode)) return;
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (slash && slash > real) {
        *slash = '\0';
        folders_add(folders, real);
    }
    free(real);
}

const char *const *sr_pdfd_folders_find(apr_pool_t *pool)
{
    apr_array_header_t *folders = apr_array_make(pool, 8, sizeof(const char *));
    folders_add(folders, SR_POPPLER_DATA);
    FcStrList *listed = FcConfigGetFontDirs(NULL);
    for (FcChar8 *path; listed && (path = FcStrListNext(listed));) folders_add(folders, (const char *)path);
    if (listed) FcStrListDone(listed);
    const FcFontSet *fonts = FcConfigGetFonts(NULL, FcSetSystem);
    for (int i = 0; fonts && i < fonts->nfont; i++) {
        FcChar8 *path;
        if (FcPatternGetString(fonts->fonts[i], FC_FILE, 0, &path) == FcResultMatch)
            add_linked(folders, (const char *)path);
    }
    APR_ARRAY_PUSH(folders, const char *) = NULL;
    return (const char *const *)folders->elts;
}
