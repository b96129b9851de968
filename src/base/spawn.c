/* SPDX-License-Identifier: Apache-2.0 */
/* spawn.c: starts a program beside httpd. It uses posix_spawn instead of fork, because httpd has threads and much
 * memory. */
#include "base/base.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#define FIRST 3

static int add_actions(posix_spawn_file_actions_t *actions, const sr_spawn_t *what)
{
    int failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!failed) failed = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    for (int i = 0; !failed && i < what->count; i++)
        failed = posix_spawn_file_actions_adddup2(actions, what->descriptors[i], FIRST + i);
    if (!failed) failed = posix_spawn_file_actions_addclosefrom_np(actions, FIRST + what->count);
    return failed;
}

/* Threads of httpd block signals and ignore SIGPIPE. The program starts with no signal blocked or ignored. It leads its
 * own process group, because Ctrl-C on a terminal would otherwise end it while httpd still serves its last requests. */
static int add_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int failed = posix_spawnattr_setsigmask(attributes, &none);
    if (!failed) failed = posix_spawnattr_setsigdefault(attributes, &all);
    if (!failed) failed = posix_spawnattr_setpgroup(attributes, 0);
    if (!failed)
        failed = posix_spawnattr_setflags(attributes,
                                          POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return failed;
}

int sr_process_spawn(pid_t *pid, const sr_spawn_t *what)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed) return failed;
    failed = posix_spawnattr_init(&attributes);
    if (!failed) {
        char *const arguments[] = {(char *)what->title, NULL};
        failed = add_actions(&actions, what);
        if (!failed) failed = add_attributes(&attributes);
        if (!failed) failed = posix_spawn(pid, what->program, &actions, &attributes, arguments, what->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}
