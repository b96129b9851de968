/* SPDX-License-Identifier: Apache-2.0 */
/* proof_files.c: the folder of proofs. A file is written beside the old one and renamed, so a reader finds the old or
 * the new one. */
#include "authorities/proof_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE 0640

static apr_time_t proof_files_time_of(const struct stat *file)
{
    return apr_time_from_sec(file->st_mtim.tv_sec) + file->st_mtim.tv_nsec / 1000;
}

static void proof_files_set_time(int descriptor)
{
    const apr_time_t now = sr_time_now();
    const struct timespec at = {apr_time_sec(now), apr_time_usec(now) * 1000};
    const struct timespec both[2] = {at, at};
    (void)futimens(descriptor, both);
}

static sr_error_t *trouble(apr_pool_t *pool, const char *what, const char *path)
{
    return sr_error(pool, SR_EUNAVAILABLE, "%s %s: %s", what, path, strerror(errno));
}

bool sr_proof_read(sr_cms_bytes_t *bytes, apr_time_t *written, const char *folder, const char *name, apr_size_t limit,
                   apr_pool_t *pool)
{
    struct stat file;
    const int descriptor = open(apr_pstrcat(pool, folder, "/", name, NULL), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    *bytes = (sr_cms_bytes_t){NULL, 0};
    if (descriptor < 0) return false;
    bool whole = fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_size <= (off_t)limit;
    if (whole) {
        unsigned char *data = apr_palloc(pool, (apr_size_t)file.st_size + 1);
        whole = sr_descriptor_read(descriptor, data, (apr_size_t)file.st_size, 0) == file.st_size;
        data[file.st_size] = '\0';
        if (whole) *bytes = (sr_cms_bytes_t){data, (apr_size_t)file.st_size};
        if (written) *written = proof_files_time_of(&file);
    }
    close(descriptor);
    return whole;
}

sr_error_t *sr_proof_write(const char *folder, const char *name, const void *data, apr_size_t length, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, folder, "/", name, NULL);
    const char *partial = apr_pstrcat(pool, folder, "/.", sr_uuid_make(pool), ".partial", NULL);
    const int descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
    if (descriptor < 0) return trouble(pool, "writing", partial);
    bool written = sr_descriptor_write(descriptor, data, length);
    proof_files_set_time(descriptor);
    written = close(descriptor) == 0 && written && rename(partial, path) == 0;
    sr_error_t *error = written ? NULL : trouble(pool, "writing", path);
    if (error) unlink(partial);
    return error;
}

sr_error_t *sr_proof_want(const char *folder, const char *sha256, const char *pem, apr_pool_t *pool)
{
    struct stat file;
    const char *name = apr_pstrcat(pool, sha256, ".pem", NULL);
    if (stat(apr_pstrcat(pool, folder, "/", name, NULL), &file) == 0
        && sr_time_now() - proof_files_time_of(&file) < SR_PROOF_TOUCH_AFTER)
        return NULL;
    return sr_proof_write(folder, name, pem, strlen(pem), pool);
}

sr_error_t *sr_proof_want_chain(const char *folder, const apr_array_header_t *chain, apr_pool_t *pool)
{
    const sr_cms_bytes_t *first = &APR_ARRAY_IDX(chain, 0, sr_cms_bytes_t);
    return sr_proof_want(folder, sr_sha256_hex(first->data, first->length, pool), sr_proof_pem(chain, pool), pool);
}

static bool ends_with(const char *name, const char *suffix)
{
    const size_t length = strlen(name), end = strlen(suffix);
    return length > end && !strcmp(name + length - end, suffix);
}

/* Returns the days after which a file is not used any more; 0: it is not a file of this program. A proof may be valid
 * for long while it cannot be fetched again. */
static int proof_files_days_of(const char *name)
{
    static const struct {
        const char *suffix;
        int days;
    } kinds[] = {{".der", 400}, {".json", 30}, {".pem", 30}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(name, kinds[i].suffix) && strlen(name) == SR_SHA256_HEX_LENGTH + strlen(kinds[i].suffix))
            return kinds[i].days;
    return *name == '.' && ends_with(name, ".partial") ? 1 : 0;
}

apr_array_header_t *sr_proof_wanted(const char *folder, bool remove, apr_pool_t *pool)
{
    apr_array_header_t *found = apr_array_make(pool, 4, sizeof(const char *));
    struct stat file;
    DIR *all = opendir(folder);
    for (const struct dirent *one; all && (one = readdir(all)) != NULL;) {
        const int days = proof_files_days_of(one->d_name);
        if (!days || fstatat(dirfd(all), one->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0) continue;
        const apr_interval_time_t age = sr_time_now() - proof_files_time_of(&file);
        if (age > apr_time_from_sec(24 * 3600) * days) {
            if (remove) (void)unlinkat(dirfd(all), one->d_name, 0);
        } else if (ends_with(one->d_name, ".pem")) APR_ARRAY_PUSH(found, const char *) = apr_pstrdup(pool, one->d_name);
    }
    if (all) closedir(all);
    return found;
}

bool sr_proof_lock(const char **fault, const char *folder, const char *name, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, folder, "/", name, NULL);
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    const int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, MODE);
    *fault = NULL;
    if (descriptor < 0) *fault = apr_psprintf(pool, "opening %s: %s", path, strerror(errno));
    if (descriptor >= 0 && fcntl(descriptor, F_OFD_SETLK, &range) == 0) {
        sr_descriptor_own(descriptor, pool);
        return true;
    }
    if (descriptor >= 0 && errno != EAGAIN && errno != EACCES)
        *fault = apr_psprintf(pool, "locking %s: %s", path, strerror(errno));
    if (descriptor >= 0) close(descriptor);
    return false;
}
