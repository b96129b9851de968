/* SPDX-License-Identifier: Apache-2.0 */
/* service_sign.c: what one signature costs, counted with the helper itself and on each database: the submission is read
 * once, the document is hashed once, and the store is asked as often as is necessary. The API's tests have the rest.
 * The caller then sees a page of the document as long as their token is valid. */
#include "cms_make.h"
#include "counted.h"
#include "pdf_help.h"
#include "service/private.h"
#include "service/setup.h"

#include <dlfcn.h>

#define ORGANIZATION "00000001-0000-4000-8000-000000000005"
#define MARGIN 300000 /* bytes: what is appended, the certificate of completion, tokens and names */

static size_t hashed; /* bytes, by this process */

/* It takes the place of libcrypto's function, which it calls. */
int EVP_DigestUpdate(EVP_MD_CTX *context, const void *data, size_t length)
{
    int (*function)(EVP_MD_CTX *, const void *, size_t);
    *(void **)&function = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
    hashed += length;
    return function(context, data, length);
}

/* --- a submission of two signers, and its one document */

static pdf_t make_document(size_t size, apr_pool_t *p)
{
    char *padding = apr_palloc(p, size + 1);
    memset(padding, 'x', size);
    padding[size] = '\0';
    const char *stream = apr_psprintf(p, "<</Length %d>>stream\n%s\nendstream", (int)size, padding);
    return pdf_document(&(pdf_parts_t){.pages = 1, .objects = {stream}});
}

static void make_organization(link_t *l, const char *hash, const char *now)
{
    apr_pool_t *p = l->pool;
    RUN(l, SR_OP_ADMIN_ORGANIZATION_CREATE, ORGANIZATION, "Org", NULL, now);
    RUN(l, SR_OP_ADMIN_USER_CREATE, uuid(6, 1, p), "Org", "Dee", "Owner", "dee@x.org", now);
    RUN(l, SR_OP_ADMIN_TOKEN_CREATE, uuid(7, 1, p), "Org", "dee@x.org", "test", "t", hash, NULL, now);
    is_str(link_outcome(l), "ok", "a token");
}

static const char *signer_row(unsigned n, int y, apr_pool_t *p)
{
    return apr_psprintf(
        p,
        "{\"state\":\"sent\",\"signing_order\":1,\"uuid\":\"%s\",\"firstname\":\"Ann\",\"lastname\":\"Lee "
        "%u\",\"fields\":[{"
        "\"name\":\"s\",\"type\":\"signature\",\"document\":\"a.pdf\",\"page\":0,\"area\":{\"x\":50,"
        "\"y\":%d,\"w\":100,\"h\":40,\"page\":0,\"origin\":\"user-space\"},\"percent\":{\"x\":1,\"y\":2,"
        "\"w\":3,\"h\":4},\"rect\":[50,%d,150,%d]}]}",
        uuid(4, n, p), n, y, y, y + 40);
}

/* The document's row in the folder that the service uses. */
static const char *make_blob(link_t *l, const sr_service_t *service, sr_blobs_t *documents, const char *sha256,
                             size_t size)
{
    const char *database, *folder = NULL;
    if (sr_service_folder(service, documents, l->pool)) abort();
    if (sr_blobs_binding(&database, &folder, documents, l->pool) || !folder) abort();
    execute(l, apr_psprintf(l->pool, "INSERT INTO %sblob (folder, sha256, key, size) VALUES ('%s', '%s', '%s', %d)",
                            strcmp(l->base->driver_name, "pgsql") == 0 ? "sigreq." : "", folder, sha256, sha256,
                            (int)size));
    return folder;
}

static void make_submission(link_t *l, unsigned n, const char *hash, const char *now, const char *folder,
                            const char *sha256, size_t size)
{
    apr_pool_t *p = l->pool;
    CREATE(l,
           apr_psprintf(p,
                        "{\"token_hash\":\"%s\",\"now\":%s,\"uuid\":\"%s\",\"name\":\"One\",\"template_uuid\":\"%s\","
                        "\"skip_intro\":false,\"send_email\":false,\"search\":\"one\",\"base_url\":\"https://x.org\","
                        "\"representation\":\"{}\",\"representation_version\":1,\"event_hash\":\"e1\","
                        "\"event\":\"{}\","
                        "\"idempotency_since\":0,\"folder\":\"%s\",\"documents\":[{\"uuid\":\"%s\",\"name\":\"a.pdf\","
                        "\"sha256\":\"%s\","
                        "\"size\":%d,\"pages\":1}],\"signers\":[%s,%s]}",
                        hash, now, uuid(1, n, p), uuid(2, n, p), folder, uuid(3, n, p), sha256, (int)size,
                        signer_row(2 * n, 100, p), signer_row(2 * n + 1, 200, p)));
    is_str(link_outcome(l), "ok", "a submission");
}

/* --- signing */

static void sign(sr_service_t *service, const char *signer, size_t size, int reads, int writes, apr_pool_t *p)
{
    counted_t *counted = (counted_t *)(void *)service->database;
    const sr_client_t client = {.ip = "127.0.0.1", .user_agent = "test"};
    sr_signature_t signature;
    sr_signing_t *signing;
    if (sr_signature_typed(&signature, "Ann Lee", p)) abort();
    ok(!sr_service_signing(service, &signing, signer, p), "the submission is read");
    const sr_signing_t *read = signing;
    counted->reads = counted->writes = 0;
    hashed = 0;
    const sr_signed_t what = {.signature = &signature, .consent = sr_consent_of_language("en"), .terms_url = ""};
    sr_error_t *error = sr_service_sign(service, &signing, &client, &what, p);
    if (!ok(!error, "and signed: %s", error ? error->cause ? error->cause : error->message : "")) return;
    ok(signing == read, "it is not read again");
    is_int(counted->reads, reads, "questions to the store");
    is_int(counted->writes, writes, "changes");
    ok(hashed >= size && hashed < size + MARGIN, "%d bytes are hashed once: %d", (int)size, (int)hashed);
}

/* --- a page for the caller */

static int code_of_page(const sr_service_t *service, const char *hash, const char *submission, const sr_show_t *page,
                        apr_pool_t *p)
{
    sr_show_t show = *page;
    sr_shown_t shown;
    show.token_hash = hash;
    show.submission = submission;
    const sr_error_t *error = sr_service_show(service, &shown, &show, p);
    return error ? (int)error->code : 0;
}

static void check_page(link_t *l, sr_service_t *service, const char *hash, const char *sha256, apr_pool_t *p)
{
    counted_t *counted = (counted_t *)(void *)service->database;
    const sr_show_t page = {.document = uuid(3, 1, p), .version = sha256};
    int code = 0;
    is_int(code_of_page(service, "no hash", uuid(1, 1, p), &page, p), SR_EUNAUTHORIZED, "no page without a token");
    is_int(code_of_page(service, hash, uuid(1, 2, p), &page, p), SR_ENOTFOUND, "none as of another submission");
    is_int(code_of_page(service, hash, uuid(1, 1, p), &page, p), 0, "the caller sees a page");
    counted->reads = 0;
    is_int(code_of_page(service, hash, uuid(1, 1, p), &page, p), 0, "again");
    ok(counted->reads <= 1, "only the epoch is read: %d", counted->reads);
    is_int(code_of_page(service, "no hash", uuid(1, 1, p), &page, p), SR_EUNAUTHORIZED, "none for others, still");
    RUN(l, SR_OP_TOKEN_REVOKE, hash, number(sr_time_now(), p), uuid(7, 1, p), "false");
    is_str(link_outcome(l), "ok", "the token is revoked");
    for (int i = 0; i < 10000 && !code; i++) {
        code = code_of_page(service, hash, uuid(1, 1, p), &page, p);
        apr_sleep(1000);
    }
    is_int(code, SR_EUNAUTHORIZED, "the cache permits nothing then");
}

/* `first`: the SHA-256 of the first document. Returns that of this one. */
static const char *check_size(link_t *l, sr_service_t *service, unsigned n, size_t size, const char *first)
{
    static const char hash[] = "00000000000000000000000000000000000000000000000000000000000000a1";
    apr_pool_t *p = l->pool;
    const bool pgsql = strcmp(l->base->driver_name, "pgsql") == 0;
    const char *now = number(sr_time_now(), p);
    pdf_t pdf = make_document(size, p);
    const char *sha256 = sr_sha256_hex(pdf.data, pdf.size, p);
    sr_blobs_t *documents;
    if (n == 1) make_organization(l, hash, now);
    if (sr_blobs_folder(&documents, service->storage.main.root, p)) abort();
    ok(!sr_blobs_put(documents, sha256, pdf.data, pdf.size, p), "a document of %d bytes", (int)pdf.size);
    make_submission(l, n, hash, now, make_blob(l, service, documents, sha256, pdf.size), sha256, pdf.size);
    /* whose the folder is, the lock, whether anything has changed; the reservation of a key, and the change.
     * PostgreSQL's lock is a row: taking it tells what has changed, and the change ends it */
    sign(service, uuid(4, 2 * n, p), pdf.size, pgsql ? 2 : 3, 2, p);
    /* the same, and the audit trail for the certificate, whose key is reserved with the other one */
    sign(service, uuid(4, 2 * n + 1, p), pdf.size, pgsql ? 3 : 4, 2, p);
    if (n == 2) check_page(l, service, hash, first, p);
    free(pdf.data);
    return sha256;
}

static void checks(base_t *base)
{
    char folder[] = "/tmp/sigreq-sign-XXXXXX";
    counted_t counted = COUNTED;
    link_t l;
    if (!mkdtemp(folder)) abort();
    link_connect(&l, base, base->pool);
    ok(!link_upgrade(&l) && !link_open(&l), "a schema");
    counted.store = l.store;
    sr_child_t child = {.helpers = help_pool(help_program(), 2, 20000, l.pool)};
    child.seal[SR_TEST] = make_identity(&(make_t){.name = "seal"}, l.pool);
    child.access = sr_access_cache_create(l.pool);
    static const sr_settings_t settings = {.base_url = "", .cache_size = 1 << 30};
    sr_service_t service = {.child = &child,
                            .settings = &settings,
                            .database = &counted.source,
                            .base_url = "https://x.org",
                            .storage.main.root = folder,
                            .cache_root = folder,
                            .pdf = child.helpers};
    const char *first = check_size(&l, &service, 1, 500000, NULL);
    check_size(&l, &service, 2, 6000000, first); /* too large for memory */
    link_close(&l);
    make_run("rm -rf '%s'", folder);
}

int main(void)
{
    make_begin();
    const int status = each_base(checks);
    make_end();
    return status;
}
