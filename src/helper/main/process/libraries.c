/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.c: leaves libraries out of the workers. Half of all mapped memory belongs to libraries that poppler, cairo,
 * glib and gnutls need for things that no worker does (windows, TIFF files, certificates of NSS, host names). The
 * kernel copies and frees each mapping with each worker, so workers are forked without them. Workers do not need them,
 * because the template binds all symbols when it starts (LD_BIND_NOW), and no destructor runs. Code that calls one of
 * them nevertheless ends its own worker. */
#include "helper/main/pdfd.h"
#include "helper/main/process/process.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_LIBRARIES 256

/* Prefixes of the names of libraries that workers do not need. Libraries that only these need are left out too. */
static const char *const UNNEEDED[] = {"libX",       "libxcb",  "libtiff",    "libnss",     "libsmime",
                                       "libplc",     "libplds", "libnspr",    "libmount",   "libselinux",
                                       "libcurl",    "libidn2", "libtasn1",   "libp11-kit", "libseccomp",
                                       "libhogweed", "libgmp",  "libgmodule", "libuuid"};

typedef struct library_t {
    const char *name; /* NULL if it has no name */
    struct dl_phdr_info info;
    const ElfW(Dyn) * dynamic;
    const char *strings;
    bool needed, unneeded;
} library_t;

typedef struct libraries_t {
    library_t all[MAX_LIBRARIES];
    int count;
} libraries_t;

static ElfW(Addr) address_of(const library_t *library, ElfW(Addr) value)
{
    return value < library->info.dlpi_addr ? library->info.dlpi_addr + value
                                           : value; /* most loaders have relocated it */
}

static int libraries_add(struct dl_phdr_info *info, size_t size, void *data)
{
    libraries_t *libraries = data;
    if (libraries->count == MAX_LIBRARIES) return 1;
    library_t *library = &libraries->all[libraries->count++];
    *library = (library_t){.info = *info};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            library->dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const ElfW(Dyn) *name = NULL;
    for (const ElfW(Dyn) *entry = library->dynamic; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) library->strings = (const char *)address_of(library, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SONAME) name = entry;
    }
    if (name && library->strings) library->name = library->strings + name->d_un.d_val;
    return 0;
}

static bool is_unneeded(const char *name)
{
    for (size_t i = 0; i < sizeof UNNEEDED / sizeof *UNNEEDED; i++)
        if (!strncmp(name, UNNEEDED[i], strlen(UNNEEDED[i]))) return true;
    return false;
}

static library_t *libraries_find(libraries_t *libraries, const char *name)
{
    for (int i = 0; i < libraries->count; i++)
        if (libraries->all[i].name && !strcmp(libraries->all[i].name, name)) return &libraries->all[i];
    return NULL;
}

/* Marks the libraries that a library needs, recursively. With `stop`, unneeded libraries are not followed. */
// NOLINTNEXTLINE(misc-no-recursion): a library is marked once
static void mark(libraries_t *libraries, const library_t *from, bool stop)
{
    for (const ElfW(Dyn) *entry = from->dynamic; from->strings && entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED) continue;
        const char *name = from->strings + entry->d_un.d_val;
        library_t *found = libraries_find(libraries, name);
        if (!found || (stop && is_unneeded(name))) continue;
        bool *marked = stop ? &found->needed : &found->unneeded;
        if (*marked) continue;
        *marked = true;
        mark(libraries, found, stop);
    }
}

static void libraries_leave_out(const library_t *library)
{
    const ElfW(Addr) page = (ElfW(Addr))sysconf(_SC_PAGESIZE) - 1;
    for (int i = 0; i < library->info.dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->info.dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        ElfW(Addr) from = (library->info.dlpi_addr + part->p_vaddr) & ~page;
        ElfW(Addr) to = (library->info.dlpi_addr + part->p_vaddr + part->p_memsz + page) & ~page;
        madvise((void *)from, to - from, MADV_DONTFORK);
    }
}

void sr_pdfd_libraries_leave_out(apr_pool_t *pool)
{
    libraries_t *libraries = apr_pcalloc(pool, sizeof *libraries);
    if (SR_PDFD_INSTRUMENTED || !getenv("LD_BIND_NOW")) return;
    dl_iterate_phdr(libraries_add, libraries);
    mark(libraries, &libraries->all[0], true); /* the program itself */
    for (int i = 0; i < libraries->count; i++) {
        library_t *library = &libraries->all[i];
        if (!library->name || !is_unneeded(library->name)) continue;
        library->unneeded = true;
        mark(libraries, library, false);
    }
    for (int i = 0; i < libraries->count; i++)
        if (libraries->all[i].unneeded && !libraries->all[i].needed) libraries_leave_out(&libraries->all[i]);
}
