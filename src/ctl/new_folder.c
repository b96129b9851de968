/* SPDX-License-Identifier: Apache-2.0 */
/* new_folder.c: writes a folder that has its name only when it is complete. Everything is written to a folder beside
 * it, which is then renamed. A killed process leaves that folder, whose name says that it is incomplete. */
#include "ctl/ctl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".partial"
#define OPEN_FOLDERS 8 /* descriptors that deleting may use */

static sr_error_t *new_folder_fail(const ctl_new_folder_t *folder, const char *name)
{
    return sr_error(folder->ctl->pool, SR_EINTERNAL, "%s%s%s: %s", folder->partial, *name ? "/" : "", name,
                    strerror(errno));
}

/* Sets errno to ENOTEMPTY if there is something in the folder, and else to the error of reading it, or 0. */
static void look_into(const char *path)
{
    DIR *listing = opendir(path);
    if (!listing) return;
    int result = 0;
    for (const struct dirent *entry; (errno = 0, entry = readdir(listing)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) result = ENOTEMPTY;
    if (errno == 0) errno = result;
    const int reason = errno;
    closedir(listing);
    errno = reason;
}

/* The folder itself must be new or empty. */
static sr_error_t *new_folder_check(const ctl_new_folder_t *folder)
{
    look_into(folder->path);
    if (errno == 0 || errno == ENOENT) return NULL;
    if (errno == ENOTEMPTY)
        return sr_error(folder->ctl->pool, SR_ECONFLICT, "%s is not empty: nothing was written", folder->path);
    return sr_error(folder->ctl->pool, SR_EINTERNAL, "%s: %s", folder->path, strerror(errno));
}

static sr_error_t *new_folder_make(ctl_new_folder_t *folder)
{
    SR_TRY(new_folder_check(folder));
    if (mkdir(folder->partial, 0700) != 0 && errno == EEXIST)
        return sr_error(folder->ctl->pool, SR_ECONFLICT,
                        "%s exists: this command was interrupted, or runs at this moment. Delete that folder",
                        folder->partial);
    folder->descriptor = open(folder->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->descriptor < 0) return new_folder_fail(folder, "");
    sr_descriptor_own(folder->descriptor, folder->ctl->pool);
    return NULL;
}

/* Returns the path without slashes at its end; for a folder that exists, its path without links and dots. */
static const char *plain_path(const char *path, apr_pool_t *pool)
{
    char *real = realpath(path, NULL);
    char *plain = apr_pstrdup(pool, real ? real : path);
    free(real);
    for (size_t length = strlen(plain); length > 1 && plain[length - 1] == '/';) plain[--length] = '\0';
    return plain;
}

sr_error_t *ctl_new_folder_begin(ctl_new_folder_t *folder, ctl_t *ctl, const char *path)
{
    ctl_rights_t owner;
    SR_TRY(ctl_be_caller(ctl, &owner));
    *folder = (ctl_new_folder_t){.ctl = ctl, .path = plain_path(path, ctl->pool), .descriptor = -1};
    folder->partial = apr_pstrcat(ctl->pool, folder->path, SUFFIX, NULL);
    sr_error_t *error = new_folder_make(folder);
    SR_TRY(ctl_be_owner_again(ctl, &owner));
    return error;
}

sr_error_t *ctl_new_folder_sub(const ctl_new_folder_t *folder, const char *name)
{
    ctl_rights_t owner;
    SR_TRY(ctl_be_caller(folder->ctl, &owner));
    const bool made = mkdirat(folder->descriptor, name, 0700) == 0;
    SR_TRY(ctl_be_owner_again(folder->ctl, &owner));
    return made ? NULL : new_folder_fail(folder, name);
}

sr_error_t *ctl_new_folder_file(const ctl_new_folder_t *folder, int *descriptor, const char *name)
{
    ctl_rights_t owner;
    SR_TRY(ctl_be_caller(folder->ctl, &owner));
    *descriptor = openat(folder->descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    SR_TRY(ctl_be_owner_again(folder->ctl, &owner));
    return *descriptor < 0 ? new_folder_fail(folder, name) : NULL;
}

sr_error_t *ctl_new_folder_delete(const ctl_new_folder_t *folder, const char *name)
{
    ctl_rights_t owner;
    SR_TRY(ctl_be_caller(folder->ctl, &owner));
    const bool deleted = unlinkat(folder->descriptor, name, 0) == 0;
    SR_TRY(ctl_be_owner_again(folder->ctl, &owner));
    return deleted ? NULL : new_folder_fail(folder, name);
}

sr_error_t *ctl_new_folder_end(ctl_new_folder_t *folder)
{
    ctl_rights_t owner;
    SR_TRY(ctl_be_caller(folder->ctl, &owner));
    const bool done = rename(folder->partial, folder->path) == 0;
    SR_TRY(ctl_be_owner_again(folder->ctl, &owner));
    return done ? NULL : sr_error(folder->ctl->pool, SR_EINTERNAL, "%s: %s", folder->path, strerror(errno));
}

static int delete_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    return remove(path);
}

void ctl_new_folder_drop(ctl_new_folder_t *folder)
{
    ctl_rights_t owner;
    if (folder->descriptor < 0 || ctl_be_caller(folder->ctl, &owner)) return;
    nftw(folder->partial, delete_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    ctl_be_owner_again(folder->ctl, &owner);
}
