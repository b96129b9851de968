/* SPDX-License-Identifier: Apache-2.0 */
/* service_key_cache.c: the key of a stored content is read from the database once for each owner, and again when the
 * cached key is of no use. */
#include "cms_make.h"
#include "counted.h"
#include "service/documents/contents.h"
#include "service/setup.h"

#define SHA256 "00000000000000000000000000000000000000000000000000000000000000c1"
#define FIRST SHA256 ".0000000000000001"
#define SECOND SHA256 ".0000000000000002"

typedef struct test_t {
    link_t l;
    counted_t counted;
    sr_service_t service;
    sr_blobs_t *documents;
} test_t;

/* Finds the content for an owner, and counts the queries. */
static void finds(test_t *t, const char *owner, const char *key, int queries, const char *name)
{
    const char *found;
    t->counted.reads = 0;
    sr_error_t *error = sr_contents_find(&t->service, &found, t->documents, owner, SHA256, t->l.pool);
    ok(!error, "%s: no error", name);
    is_str(found, key, "%s", name);
    is_int(t->counted.reads, queries, "%s: %d queries", name, queries);
}

static void store(test_t *t, const char *key)
{
    ok(!sr_blobs_put(t->documents, key, "x", 1, t->l.pool), "a file");
}

static void remove_file(test_t *t, const char *key)
{
    apr_off_t size;
    bool removed;
    ok(!sr_blobs_remove(&removed, &size, t->documents, key, t->l.pool) && removed, "the file is removed");
}

/* Writes the row of the content. */
static void write_row(test_t *t, const char *key)
{
    const char *schema = strcmp(t->l.base->driver_name, "pgsql") == 0 ? "sigreq." : "", *database, *folder;
    if (sr_blobs_binding(&database, &folder, t->documents, t->l.pool) || !folder) abort();
    execute(&t->l, apr_psprintf(t->l.pool, "DELETE FROM %sblob", schema));
    execute(&t->l,
            apr_psprintf(t->l.pool, "INSERT INTO %sblob (folder, sha256, key, size) VALUES ('%s', '%s', '%s', 1)",
                         schema, folder, SHA256, key));
}

static void check_finding(test_t *t)
{
    finds(t, "one", NULL, 1, "a content that is not stored");
    write_row(t, FIRST);
    finds(t, "one", NULL, 1, "a content without its file");
    store(t, FIRST);
    finds(t, "one", FIRST, 1, "a stored content");
    finds(t, "one", FIRST, 0, "the same again");
    finds(t, "two", FIRST, 1, "the same for another owner");
    if (sr_contents_forget(&t->service, t->documents, "one", SHA256, t->l.pool)) abort();
    finds(t, "one", FIRST, 1, "after it was forgotten");
    finds(t, "two", FIRST, 0, "the other owner's key was not forgotten");
    remove_file(t, FIRST);
    finds(t, "one", NULL, 1, "a content whose file is removed");
    write_row(t, SECOND);
    store(t, SECOND);
    finds(t, "one", SECOND, 1, "a content that was stored again");
    finds(t, "two", SECOND, 1, "for the owner who has the old key");
    finds(t, "two", SECOND, 0, "and then without a query");
}

static void checks(base_t *base)
{
    char folder[] = "/tmp/sigreq-keys-XXXXXX";
    test_t t = {.counted = COUNTED};
    if (!mkdtemp(folder)) abort();
    link_connect(&t.l, base, base->pool);
    ok(!link_upgrade(&t.l) && !link_open(&t.l), "a schema");
    t.counted.store = t.l.store;
    const sr_child_t child = {.keys = sr_key_cache_create(t.l.pool)}, without = {0};
    t.service = (sr_service_t){.child = &child, .database = &t.counted.source, .storage.main.root = folder};
    if (sr_blobs_folder(&t.documents, folder, t.l.pool)) abort();
    if (sr_service_folder(&t.service, t.documents, t.l.pool)) abort();
    check_finding(&t);
    t.service.child = &without;
    finds(&t, "two", SECOND, 1, "without a cache");
    finds(&t, "two", SECOND, 1, "always by a query");
    link_close(&t.l);
    make_run("rm -rf '%s'", folder);
}

int main(void)
{
    return each_base(checks);
}
