/* SPDX-License-Identifier: Apache-2.0 */
/* sign.c: signs a PDF as the service does, for tests: sign HELPER CERTIFICATE KEY IN OUT NAME…
 * The document is prepared once for all signers, and filled and sealed for each in turn, on 2026-11-20. */
#include "helper/pdf.h"

#include <apr_general.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static apr_pool_t *pool;
static sr_pdf_pool_t *workers;
static int out;
static apr_off_t size;

static void check(const sr_error_t *error, const char *fault)
{
    if (error) fprintf(stderr, "sign: %s (%s)\n", error->message, error->cause ? error->cause : "");
    else if (fault) fprintf(stderr, "sign: %s\n", fault);
    if (error || fault) exit(1);
}

static void append(const void *bytes, apr_size_t length)
{
    if (write(out, bytes, length) != (ssize_t)length) check(NULL, "writing failed");
    size += (apr_off_t)length;
}

static void copy(const char *path)
{
    char buffer[65536];
    int in = open(path, O_RDONLY);
    ssize_t count = -1;
    while (in >= 0 && (count = read(in, buffer, sizeof buffer)) > 0) append(buffer, (apr_size_t)count);
    if (count < 0) check(NULL, path);
    close(in);
}

/* A document that was signed by this program already needs others: $SIGN_ALIAS. */
static const char *alias(int signer)
{
    const char *prefix = getenv("SIGN_ALIAS");
    return apr_psprintf(pool, "%s%d", prefix ? prefix : "s", signer);
}

static apr_off_t base_size;
static apr_size_t prepared_size;

static void prepare(int count)
{
    sr_pdf_update_t update = {0};
    apr_array_header_t *fields = apr_array_make(pool, count, sizeof(sr_pdf_field_t));
    for (int i = 0; i < count; i++) {
        sr_pdf_field_t field = {.signer = alias(i), .rect = {72, 72 + 60 * i, 252, 122 + 60 * i}};
        APR_ARRAY_PUSH(fields, sr_pdf_field_t) = field;
    }
    sr_error_t *error = sr_pdf_prepare(&update, workers, out, size, fields, pool);
    check(error, update.fault ? update.reason : NULL);
    base_size = size;
    prepared_size = update.length;
    append(update.bytes, update.length);
}

static void sign(const sr_cms_identity_t *identity, int signer, const char *name)
{
    sr_pdf_revision_t revision = {0};
    sr_pdf_signature_t signature = {
        .signer = alias(signer), .base_size = base_size, .prepared_size = prepared_size, .name = name, .text = name};
    signature.hash = sr_cms_identity_hash(identity);
    const unsigned char *der;
    apr_size_t length;
    sr_time_parse(&signature.time, "2026-11-20T18:09:23Z");
    sr_error_t *error = sr_pdf_fill(&revision, workers, out, size, &signature, pool);
    check(error, revision.fault ? revision.reason : NULL);
    check(sr_cms_sign(&der, &length, identity, revision.digest, pool), NULL);
    check(sr_pdf_seal(&revision, der, length, pool), NULL);
    append(revision.bytes, revision.length);
}

int main(int argc, const char *const *argv)
{
    const sr_cms_identity_t *identity;
    if (argc < 7) return 2;
    apr_initialize();
    apr_pool_create(&pool, NULL);
    const sr_pdf_options_t options = {.program = argv[1], .workers = 1, .timeout = apr_time_from_sec(30)};
    check(sr_pdf_pool_create(&workers, &options, pool), NULL);
    check(sr_cms_identity_load(&identity, argv[2], argv[3], pool), NULL);
    out = open(argv[5], O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
    if (out < 0) check(NULL, argv[5]);
    copy(argv[4]);
    prepare(argc - 6);
    for (int i = 6; i < argc; i++) sign(identity, i - 6, argv[i]);
    apr_pool_destroy(pool);
    return 0;
}
