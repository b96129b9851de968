/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_seal_speed.c: how long filling and sealing takes beside what nobody can save: reading and writing the same bytes,
 * one SHA-256 over them, one raw signature of the same key. The figures to keep with a helper that has filled a
 * document of the organisation before: at most 4 times as long for 100 kB, 1.3 times for 2 MB and for 50 MB. A new
 * helper, which the first document of an organisation needs, may cost 2 ms more. */
#include "../unit/pdf_seal.h"
#include "figures.h"

#include <fcntl.h>

#define TRIALS 25

static seal_bench_t bench;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static void sign_raw(const unsigned char *digest)
{
    unsigned char signature[128];
    size_t size = sizeof signature;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(bench.key.key, NULL);
    if (EVP_PKEY_sign_init(context) <= 0 || EVP_PKEY_sign(context, signature, &size, digest, 32) <= 0) abort();
    EVP_PKEY_CTX_free(context);
}

static double copy_and_hash(int from, int to, size_t size, void *piece, size_t room)
{
    unsigned char digest[32];
    double begun = now();
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
    for (size_t at = 0; at < size;) {
        ssize_t got = pread(from, piece, size - at < room ? size - at : room, (off_t)at);
        if (got <= 0 || pwrite(to, piece, (size_t)got, (off_t)at) != got) abort();
        EVP_DigestUpdate(hash, piece, (size_t)got);
        at += (size_t)got;
    }
    EVP_DigestFinal_ex(hash, digest, NULL);
    EVP_MD_CTX_free(hash);
    sign_raw(digest);
    return now() - begun;
}

/* The whole of it: fill, CMS, seal, and the revision written behind the document. */
static double fill(sr_pdf_pool_t *workers, int from, int to, const pdf_t *pdf, const char *signer, apr_pool_t *parent)
{
    const size_t size = pdf->size;
    sr_pdf_revision_t revision;
    unsigned char *der;
    apr_pool_t *pool;
    apr_pool_create(&pool, parent);
    double begun = now();
    sr_pdf_signature_t signature = {.signer = signer, .name = "Ann Lee", .reason = "I agree", .time = apr_time_now()};
    signature.ink = seal_ink(SEAL_INK, pool);
    signature.base_size = (apr_off_t)pdf->base;
    signature.prepared_size = pdf->prepared;
    if (sr_pdf_fill(&revision, workers, from, (apr_off_t)size, &signature, pool) || revision.fault) abort();
    int length = seal_cms(&der, &bench.key, revision.digest);
    if (sr_pdf_seal(&revision, der, (apr_size_t)length, pool)) abort();
    if (pwrite(to, revision.bytes, revision.length, (off_t)size) != (ssize_t)revision.length) abort();
    double took = now() - begun;
    OPENSSL_free(der);
    apr_pool_destroy(pool);
    return took;
}

/* A page of so many bytes in 20 kB streams, prepared for one signer with two placements. */
static pdf_t document_of(size_t size, const char *signer, apr_pool_t *pool)
{
    static const size_t stream = 20000;
    pdf_t pdf = {0};
    char *noise = apr_palloc(pool, stream);
    for (size_t i = 0; i < stream; i++) noise[i] = (char)(' ' + (i * 7919 >> 3) % 90);
    pdf_print(&pdf, "%%PDF-1.7\n");
    int count = 3 + (int)(size / stream);
    size_t *offsets = apr_palloc(pool, ((size_t)count + 1) * sizeof *offsets);
    const char *fixed[] = {"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
                           "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>"};
    for (int i = 1; i <= count; i++) {
        offsets[i] = pdf.size;
        if (i <= 3) pdf_print(&pdf, "%d 0 obj\n%s\nendobj\n", i, fixed[i - 1]);
        if (i <= 3) continue;
        pdf_print(&pdf, "%d 0 obj\n<</Length %zu>>stream\n", i, stream);
        pdf_add(&pdf, noise, stream);
        pdf_print(&pdf, "\nendstream\nendobj\n");
    }
    size_t start = pdf.size;
    pdf_print(&pdf, "xref\n0 %d\n0000000000 65535 f \n", count + 1);
    for (int i = 1; i <= count; i++) pdf_print(&pdf, "%010zu 00000 n \n", offsets[i]);
    pdf_print(&pdf, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%zu\n%%%%EOF\n", count + 1, start);
    sr_pdf_field_t fields[] = {seal_field(signer, 0, 50, 700, 200, 750), seal_field(signer, 0, 300, 700, 450, 750)};
    if (seal_prepare(&bench, &pdf, fields, 2, pool)) abort();
    return pdf;
}

static void measure(size_t size, double at_most)
{
    double least[TRIALS], kept[TRIALS], ratio[TRIALS], new[TRIALS], more[TRIALS];
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    const char *signer = sr_uuid_make(pool);
    pdf_t pdf = document_of(size, signer, pool);
    sr_pdf_pool_t *workers = sr_pdf_pool_for_request(bench.workers, "organisation", 0, pool);
    const size_t room = 1 << 18;
    void *piece = apr_palloc(pool, room);
    seal_write(&bench, "in.pdf", pdf.data, pdf.size);
    int from = open(apr_pstrcat(pool, bench.folder, "/in.pdf", NULL), O_RDONLY);
    int to = open(apr_pstrcat(pool, bench.folder, "/out.pdf", NULL), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (from < 0 || to < 0) abort();
    fill(workers, from, to, &pdf, signer, pool);
    for (int i = 0; i < TRIALS; i++) {
        least[i] = copy_and_hash(from, to, pdf.size, piece, room);
        kept[i] = fill(workers, from, to, &pdf, signer, pool);
        ratio[i] = kept[i] / least[i];
    }
    for (int i = 0; i < TRIALS; i++) new[i] = fill(bench.workers, from, to, &pdf, signer, pool);
    for (int i = 0; i < TRIALS; i++) more[i] = new[i] - kept[i];
    close(from);
    close(to);
    const char *what = apr_psprintf(pool, "a document of %d kB filled and sealed", (int)(pdf.size / 1000));
    figures_row(apr_pstrcat(pool, what, " by a new helper", NULL), "by a helper that has filled one before", new, kept,
                more, TRIALS, 2, " ms");
    figures_row(what, "the same bytes read, written, hashed and signed once", kept, least, ratio, TRIALS, at_most,
                " × the time");
    double floor = least[0], took = kept[0]; /* sorted: the least, since other processes can only add */
    ok(took <= at_most * floor, "%zu kB: sealed in %.2f ms, %.1f times the %.2f ms of cat + sha256 + one signature",
       pdf.size / 1000, took, took / floor, floor);
    free(pdf.data);
    apr_pool_destroy(pool);
}

int main(void)
{
    bench = seal_begin(8000);
    measure(100000, 4);
    measure(2000000, 1.3);
    measure(50000000, 1.3);
    return seal_end(&bench);
}
