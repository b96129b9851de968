/* SPDX-License-Identifier: Apache-2.0 */
/* zip.c: writes ZIP files with libarchive. Only this file uses it. */
#include "service/documents/zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

struct sr_zip_t {
    struct archive *archive;
    struct archive_entry *entry;
    locale_t utf8; /* libarchive marks a name as UTF-8 if the locale has that encoding, and httpd runs in "C" */
    sr_zip_sink_t sink;
    void *baton;
    bool apart;         /* what libarchive writes now is content that the sink does not get */
    apr_size_t written; /* the bytes of the piece that libarchive has written */
    sr_error_t *error;  /* of the sink */
    apr_pool_t *pool;
};

static apr_status_t zip_close(void *data)
{
    sr_zip_t *zip = data;
    if (zip->archive) archive_write_fail(zip->archive); /* otherwise it would write the end of the file now */
    if (zip->archive) archive_write_free(zip->archive);
    if (zip->entry) archive_entry_free(zip->entry);
    if (zip->utf8) freelocale(zip->utf8);
    return APR_SUCCESS;
}

static sr_error_t *zip_trouble(const sr_zip_t *zip)
{
    const char *text = archive_error_string(zip->archive);
    if (zip->error) return zip->error;
    return sr_error_because(sr_error(zip->pool, SR_EINTERNAL, "Internal error"), zip->pool, "libarchive: %s",
                            text ? text : "a content is longer than its entry");
}

static la_ssize_t zip_take(struct archive *archive, void *data, const void *bytes, size_t length)
{
    sr_zip_t *zip = data;
    zip->written += length;
    if (!zip->apart && !zip->error) zip->error = zip->sink(zip->baton, bytes, length);
    return zip->error ? -1 : (la_ssize_t)length;
}

/* Without blocks libarchive hands on each piece as it gets it. */
sr_error_t *sr_zip_begin(sr_zip_t **zip, sr_zip_sink_t sink, void *baton, apr_pool_t *pool)
{
    sr_zip_t *made = *zip = apr_pcalloc(pool, sizeof *made);
    *made = (sr_zip_t){.archive = archive_write_new(),
                       .entry = archive_entry_new(),
                       .sink = sink,
                       .baton = baton,
                       .utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0),
                       .pool = pool};
    apr_pool_cleanup_register(pool, made, zip_close, apr_pool_cleanup_null);
    if (!made->archive || !made->entry || !made->utf8)
        return sr_error_because(sr_error(pool, SR_EINTERNAL, "Internal error"), pool,
                                "no memory, or the system has no locale C.UTF-8");
    if (archive_write_set_format_zip(made->archive) || archive_write_zip_set_compression_store(made->archive)
        || archive_write_set_bytes_per_block(made->archive, 0)
        || archive_write_open2(made->archive, made, NULL, zip_take, NULL, NULL))
        return zip_trouble(made);
    return NULL;
}

sr_error_t *sr_zip_entry(sr_zip_t *zip, const char *name, apr_time_t when, apr_off_t size)
{
    archive_entry_clear(zip->entry);
    archive_entry_set_pathname(zip->entry, name);
    archive_entry_set_filetype(zip->entry, AE_IFREG);
    archive_entry_set_perm(zip->entry, 0644);
    archive_entry_set_mtime(zip->entry, (time_t)apr_time_sec(when), 0);
    archive_entry_set_size(zip->entry, size);
    const locale_t before = uselocale(zip->utf8);
    const int status = archive_write_header(zip->archive, zip->entry);
    uselocale(before);
    return status == ARCHIVE_OK ? NULL : zip_trouble(zip);
}

sr_error_t *sr_zip_write(sr_zip_t *zip, const void *data, apr_size_t length, bool apart)
{
    zip->apart = apart;
    zip->written = 0;
    const la_ssize_t taken = archive_write_data(zip->archive, data, length);
    zip->apart = false;
    return taken == (la_ssize_t)length && zip->written == length ? NULL : zip_trouble(zip);
}

sr_error_t *sr_zip_end(sr_zip_t *zip)
{
    return archive_write_close(zip->archive) == ARCHIVE_OK ? NULL : zip_trouble(zip);
}
