/* SPDX-License-Identifier: Apache-2.0 */
/* writable.c: checks whether httpd's user can write to a folder or read a file. If the caller is root, a child process
 * with the rights of that user tries it, so that groups, access control lists and file servers that do not trust root
 * are respected. */
#include "conf/conf.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unixd.h>

enum { PERMITTED, DENIED };

bool sr_conf_become_user(void)
{
    if (geteuid() != 0) return true;
    const struct passwd *user = getpwuid(ap_unixd_config.user_id);
    const gid_t group = ap_unixd_config.group_id;
    if (setgid(group) != 0) return false;
    if ((user ? initgroups(user->pw_name, group) : setgroups(1, &group)) != 0) return false;
    return setuid(ap_unixd_config.user_id) == 0;
}

/* Returns false if access(2) denies httpd's user this. If the process cannot get the rights of the user, the result is
 * `unknown`. */
static bool may(const char *path, int mode, bool unknown)
{
    int status = 0;
    pid_t waited;
    if (geteuid() != 0) return access(path, mode) == 0;
    const pid_t pid = fork();
    if (pid < 0) return unknown;
    if (pid == 0) {
        if (!sr_conf_become_user()) _exit(unknown ? PERMITTED : DENIED);
        _exit(access(path, mode) == 0 ? PERMITTED : DENIED);
    }
    while ((waited = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    return waited == pid && WIFEXITED(status) ? WEXITSTATUS(status) == PERMITTED : unknown;
}

bool sr_conf_can_write(const char *folder)
{
    return may(folder, W_OK | X_OK, true);
}

bool sr_conf_is_exposed(const char *file)
{
    return geteuid() == 0 && ap_unixd_config.user_id != 0 && may(file, R_OK, false);
}
