/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp.h: the filter of system calls (seccomp) of the programs that are started beside httpd. A program gives up all
 * calls except those in its lists. See seccomp.c. */
#ifndef SR_BASE_SECCOMP_H
#define SR_BASE_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rule with `compare` applies if argument `argument` equals `value` (EQUAL), does not (OTHER), or equals it after
 * masking with `mask` (MASKED). */
typedef struct sr_seccomp_rule_t {
    int call; /* SCMP_SYS(name) */
    enum { SR_CONFINE_ANY, SR_CONFINE_EQUAL, SR_CONFINE_OTHER, SR_CONFINE_MASKED } compare;
    unsigned argument;
    uint64_t value, mask;
} sr_seccomp_rule_t;
/* A rule that applies to all calls of a function. */
#define SR_CONFINE_CALL(name)                                                                                          \
    {                                                                                                                  \
        SCMP_SYS(name), SR_CONFINE_ANY, 0, 0, 0                                                                        \
    }

typedef struct sr_seccomp_list_t {
    const sr_seccomp_rule_t *rules;
    size_t count;
    bool fatal; /* the calls of the list end the process; otherwise they are allowed */
} sr_seccomp_list_t;

/* What every such program needs: memory that is not executable, the process itself and its clock. */
extern const sr_seccomp_list_t sr_seccomp_common;
/* What code uses that has taken over a process: it starts programs, opens connections or looks into other processes. */
extern const sr_seccomp_list_t sr_seccomp_fatal;

/* Enters the sandbox, with all threads of the process. Other calls than those of the lists fail with EPERM. Afterwards
 * no process of this user can read the memory of this one. This cannot be undone. `lists` ends with NULL. Returns
 * false, and writes a line to standard error that begins with `program`, if the system has no such sandbox. */
bool sr_seccomp_enter(const char *program, const sr_seccomp_list_t *const *lists);

#endif
