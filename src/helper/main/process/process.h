/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: the process of sigreq-pdfd: how it begins, forks, is confined and ends. See pdfd.h. */
#ifndef SR_HELPER_MAIN_PROCESS_PROCESS_H
#define SR_HELPER_MAIN_PROCESS_PROCESS_H

#include "base/base.h"

/* -------------------------------------------------------------------------------------------- fork_server.c */
/* Returns true if this process has one thread, so that it can be forked. Call it before the sandbox is entered. */
bool sr_pdfd_template_possible(void);
#define SR_PDFD_MANY_ORDERS 8 /* after so many orders, more are expected */
/* Forks workers when the client orders them. It returns true in each worker, which then has its own socket, limits and
 * sandbox. It returns false in the template when the client has closed the connection. `prepare` is called once, after
 * many orders. */
bool sr_pdfd_template_serve(void (*prepare)(void), apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------ heap.c */
#define SR_PDFD_HUGE_PAGE ((apr_size_t)2 << 20) /* bytes of a large page of memory on most machines */
/* Called in the template after all that it allocates: workers then allocate at the end of the heap. */
void sr_pdfd_heap_settle(void);
/* Called in a worker before it needs a megabyte or more, such as for drawing a page: the heap grows by a large page of
 * memory, if the kernel has one. */
void sr_pdfd_heap_grow(void);

/* ------------------------------------------------------------------------------------------------- end.c
 *
 * Builds for `make test SANITIZE=1` and `make coverage` define SR_SANITIZE as the options of the sanitizers. Such a
 * helper has no sandbox and no memory limit, because its reports need files and address space.
 */
#ifdef SR_SANITIZE
#define SR_PDFD_INSTRUMENTED true
#else
#define SR_PDFD_INSTRUMENTED false
#endif
/* Ends the process without destructors. The kernel frees its resources, and a document may have corrupted the memory
 * that destructors would use. A build for tests first destroys the pool, reports leaks and writes its counters. */
_Noreturn void sr_pdfd_end(apr_pool_t *pool);
/* Called before each response, because the client may then kill the process. A build for `make coverage` writes its
 * counters to its files. */
void sr_pdfd_note_counters(void);

/* ---------------------------------------------------------------------------------------------- limits.c */
/* Sets the limits for the whole life of the process: no core files, few descriptors, only descriptors 0 to 3 open, and
 * the first process that the kernel kills if memory runs out. */
void sr_pdfd_limits_begin(void);
/* Sets the processor time of one request in seconds; the default is 5. A worker may use the time of at most 6 requests.
 */
void sr_pdfd_limits_worker(unsigned seconds);
/* Sets the limits for one request about a document of `size` bytes: processor time, and address space of `memory` and
 * twice the document, which is mapped and may be decompressed. The first request sets a ceiling that no later request
 * can exceed, whatever code is running: 1.5 GiB and four times the document. */
void sr_pdfd_limits_request(apr_size_t memory, apr_size_t size);

/* --------------------------------------------------------------------------------------------- sandbox.c */
/* Gives up all system calls except those that are needed to read from memory and to fork a worker. Other calls fail
 * with EPERM. Calls that start programs or open connections end the process. This cannot be undone. Returns false, and
 * writes a line to standard error, if the system has no such sandbox. If *files is set to true, files below `folders`
 * can be opened for reading. Otherwise the kernel cannot confine opening to these folders, and no file can be opened.
 * `folders` ends with NULL, or is NULL for none. */
bool sr_pdfd_sandbox_enter(bool *files, const char *const *folders);
/* The flags of the one clone() that the sandbox permits. The worker becomes a child of the client. */
#define SR_PDFD_FORK_FLAGS (CLONE_PARENT | SIGCHLD) /* sched.h, signal.h */
/* Called in a worker: gives up what only the template needs. A worker that then tries to fork is ended. */
bool sr_pdfd_sandbox_tighten(void);

/* -------------------------------------------------------------------------------------------- landlock.c */
/* Confines the process to opening files below `folders` for reading. Returns false if the kernel cannot do that. The
 * process may then be confined partly or not at all. */
bool sr_pdfd_landlock_enter(const char *const *folders);

/* --------------------------------------------------------------------------------------------- folders.c */
/* Returns the folders of the installed fonts and of poppler's data. The list ends with NULL. */
const char *const *sr_pdfd_folders_find(apr_pool_t *pool);

#endif
