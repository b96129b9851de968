/* SPDX-License-Identifier: Apache-2.0 */
/* owner.c: gives up root's rights before anything in a folder of httpd's user is changed. That user can create links
 * there, and a program that follows one with root's rights could be made to change any file. */
#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a folder. A symbolic link is followed only if root made it. */
static int owner_open_folder(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    const int descriptor = open(path, flags | O_NOFOLLOW);
    struct stat status;
    if (descriptor >= 0 || (errno != ELOOP && errno != ENOTDIR)) return descriptor;
    if (lstat(path, &status) == 0 && S_ISLNK(status.st_mode) && status.st_uid == 0) return open(path, flags);
    errno = ELOOP;
    return -1;
}

static sr_error_t *become(ctl_t *ctl, const char *path, const struct stat *owner)
{
    if (setgroups(0, NULL) == 0 && setegid(owner->st_gid) == 0 && seteuid(owner->st_uid) == 0) return NULL;
    return sr_error(ctl->pool, SR_EINTERNAL,
                    "%s belongs to user %u, whose rights cannot be taken on: %s. Run this as that user", path,
                    (unsigned)owner->st_uid, strerror(errno));
}

sr_error_t *ctl_become_owner(ctl_t *ctl, const char *path)
{
    const uid_t before = geteuid();
    struct stat owner;
    if (getuid() != 0) return NULL;
    if (seteuid(0) != 0) return sr_error(ctl->pool, SR_EINTERNAL, "%s: %s", path, strerror(errno));
    const int descriptor = owner_open_folder(path);
    if (descriptor < 0 && errno == ENOENT && seteuid(before) == 0) return NULL; /* the caller reports that */
    if (descriptor < 0 || fstat(descriptor, &owner) != 0) {
        const int reason = errno;
        if (descriptor >= 0) close(descriptor);
        return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s", path,
                        reason == ELOOP ? "is not a folder, or is a link that root has not made" : strerror(reason));
    }
    close(descriptor);
    return owner.st_uid == 0 ? NULL : become(ctl, path, &owner);
}

/* Sets the group first, because only root may do that. */
static bool take_rights(const ctl_rights_t *rights)
{
    return seteuid(0) == 0 && setegid(rights->group) == 0 && seteuid(rights->user) == 0;
}

sr_error_t *ctl_be_caller(ctl_t *ctl, ctl_rights_t *before)
{
    const ctl_rights_t caller = {getuid(), getgid()};
    *before = (ctl_rights_t){geteuid(), getegid()};
    if (getuid() != 0 || geteuid() == 0 || take_rights(&caller)) return NULL;
    return sr_error(ctl->pool, SR_EINTERNAL, "the rights of root cannot be taken on again: %s", strerror(errno));
}

sr_error_t *ctl_be_owner_again(ctl_t *ctl, const ctl_rights_t *before)
{
    const int reason = errno; /* of what was done with the caller's rights */
    if (getuid() != 0 || before->user == 0 || take_rights(before)) {
        errno = reason;
        return NULL;
    }
    return sr_error(ctl->pool, SR_EINTERNAL, "the rights of user %u cannot be taken on again: %s",
                    (unsigned)before->user, strerror(errno));
}
