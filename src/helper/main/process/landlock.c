/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.c: restricts paths, which seccomp cannot do because it only sees numbers. Afterwards the process can open
 * files below the given folders for reading, and no others. This cannot be undone. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All rights of the first version of landlock (Linux 5.13). The system call filter forbids what later versions added
 * (moving, truncating, ioctl, TCP). */
#define EVERYTHING                                                                                                     \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE                         \
     | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE                    \
     | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG                        \
     | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK                     \
     | LANDLOCK_ACCESS_FS_MAKE_SYM)

/* A folder that does not exist needs no rule. */
static bool allow(int rules, const char *folder)
{
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return true;
    const struct landlock_path_beneath_attr beneath = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE, .parent_fd = fd};
    bool allowed = !syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(fd);
    return allowed;
}

bool sr_pdfd_landlock_enter(const char *const *folders)
{
    const struct landlock_ruleset_attr attributes = {.handled_access_fs = EVERYTHING};
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (rules < 0) return false;
    bool entered = true;
    for (; entered && *folders; folders++) entered = allow(rules, *folders);
    entered = entered && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !syscall(SYS_landlock_restrict_self, rules, 0);
    close(rules);
    return entered;
}
