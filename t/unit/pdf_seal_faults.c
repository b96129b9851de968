/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_seal_faults.c: sealed documents with faults put in: no byte inside the byte ranges can be changed, nothing
 * appended goes unnoticed; documents, drawings and images that are broken at random never end a worker, and what is
 * accepted of them can be read again. $SIGREQ_FUZZ_COUNT is how many of each. */
#include "pdf_mutate.h"
#include "pdf_seal.h"

#define FLIPS 100     /* or $SIGREQ_FLIPS */
#define DOCUMENTS 400 /* or $SIGREQ_FUZZ_COUNT */

static seal_bench_t bench;
static int count = DOCUMENTS, flips = FLIPS;

static const char SIGNER[] = "0b8f9d2e-5a0c-4a8e-9d51-1b2f6f0c9a11";

static pdf_t prepared(const pdf_parts_t *parts, apr_pool_t *pool)
{
    pdf_t pdf = pdf_document(parts);
    sr_pdf_field_t fields[] = {seal_field(SIGNER, 0, 50, 50, 150, 90), seal_field(SIGNER, 0, 160, 50, 300, 90)};
    const char *reason = seal_prepare(&bench, &pdf, fields, 2, pool);
    if (reason) printf("# %s\n", reason);
    return pdf;
}

static const char *fill(pdf_t *pdf, sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    signature->signer = SIGNER;
    signature->name = "Ann Lee";
    signature->time = apr_time_now();
    return seal_fill(&bench, pdf, signature, pool);
}

/* ------------------------------------------------------------------------------------------------ sealed documents */

static bool is_valid(const char *said)
{
    return strstr(said, "Signature is Valid.") && strstr(said, "Total document signed");
}

static void test_flips(void)
{
    apr_pool_t *pool;
    int status, valid = 0, ranges = 0;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = prepared(&(pdf_parts_t){.pages = 2}, pool);
    ok(!fill(&pdf, &(sr_pdf_signature_t){.ink = seal_ink(SEAL_INK, pool)}, pool), "a document to flip bytes of");
    char *from = memmem(pdf.data, pdf.size, "/Contents<", 10);
    if (!from) abort();
    size_t before = (size_t)(from + 9 - pdf.data), after = before + 2 * 16384 + 2,
           signed_bytes = pdf.size - (after - before);
    seal_write(&bench, "it.pdf", pdf.data, pdf.size);
    ok(is_valid(seal_run(&status, &bench, pool, "pdfsig -nocert it.pdf")), "which is valid as it is");
    for (int i = 0; i < flips; i++) {
        apr_pool_t *scratch;
        apr_pool_create(&scratch, pool);
        size_t at = random_below(signed_bytes);
        if (at >= before) at += after - before;
        char kept = pdf.data[at];
        pdf.data[at] = (char)(kept ^ (1 << random_below(8)));
        seal_write(&bench, "it.pdf", pdf.data, pdf.size);
        const char *said = seal_run(&status, &bench, scratch, "pdfsig -nocert it.pdf");
        if (is_valid(said)) printf("# %zu: %02x: %s\n", at, (unsigned char)kept, said);
        valid += is_valid(said);
        ranges += strstr(said, "Signature") != NULL;
        pdf.data[at] = kept;
        apr_pool_destroy(scratch);
    }
    is_int(valid, 0, "%d bytes flipped, one at a time: none is valid", flips);
    ok(ranges > flips / 2, "and most of them still have a signature to be seen (%d)", ranges);
    pdf_add(&pdf, "%\n", 2);
    seal_write(&bench, "it.pdf", pdf.data, pdf.size);
    ok(!is_valid(seal_run(&status, &bench, pool, "pdfsig -nocert it.pdf")), "with two bytes appended it is not whole");
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* --------------------------------------------------------------------------------------------------- broken documents
 */

static const pdf_parts_t SEEDS[] = {
    {.pages = 2,
     .page = "/MediaBox[0 0 400 300]/Annots 5 0 R",
     .objects = {"[6 0 R]", "<</Subtype/Link/Rect[0 0 9 9]>>"}},
    {.pages = 1, .catalog = "/AcroForm 4 0 R", .objects = {"<</Fields[5 0 R]/SigFlags 1>>", "<</FT/Tx/T(a)>>"}},
    {.pages = 9, .page = "", .tree = "/MediaBox[0 0 200 100]/Rotate 90", .trailer = "/ID[<00><01>]/Info 3 0 R"},
};

/* Returns NULL if the service would prepare the document as it is, and not refuse or repair it first. */
static const char *take_upload(const pdf_t *pdf, apr_pool_t *pool)
{
    sr_pdf_probe_t probe;
    const char *says = help_say(help_probe(&probe, bench.workers, pdf->data, pdf->size, pool), &probe, pool);
    return probe.verdict != SR_PDF_ACCEPTED || probe.pages->normalise ? says : NULL;
}

/* Mutates a document before or after it is prepared; whatever is accepted must still be a PDF to a strict reader. */
static void test_documents(void)
{
    int accepted = 0, filled = 0, unreadable = 0;
    for (int i = 0; i < count; i++) {
        apr_pool_t *pool;
        sr_pdf_probe_t probe;
        apr_pool_create(&pool, bench.pool);
        bool early = i % 2;
        sr_pdf_field_t field = seal_field(SIGNER, 0, 50, 50, 150, 90);
        pdf_t pdf = early ? pdf_document(&SEEDS[random_below(3)]) : prepared(&SEEDS[random_below(3)], pool);
        mutate(&pdf);
        const char *reason = early ? take_upload(&pdf, pool) : NULL;
        if (early && !reason) reason = seal_prepare(&bench, &pdf, &field, 1, pool);
        if (!reason) {
            accepted++;
            reason = fill(&pdf, &(sr_pdf_signature_t){.text = "Ann"}, pool);
        }
        if (!reason) {
            filled++;
            const char *says = help_say(help_probe(&probe, bench.workers, pdf.data, pdf.size, pool), &probe, pool);
            /* What was damaged after it was prepared may stay so elsewhere: filling reads the form alone. */
            bool good = probe.verdict != SR_PDF_NOT_PDF && !(early && strstr(says, "damaged"));
            if (!good) printf("# document %d: %s\n", i, says);
            unreadable += !good;
        }
        free(pdf.data);
        apr_pool_destroy(pool);
    }
    ok(accepted > 0 && filled > 0, "%d broken documents: %d accepted, %d filled", count, accepted, filled);
    is_int(unreadable, 0, "and all of these can be read again");
}

/* ------------------------------------------------------------------------------------------ broken drawings and images
 */

static void test_drawings(void)
{
    int parsed = 0, drawn = 0;
    for (int i = 0; i < count; i++) {
        apr_pool_t *pool;
        apr_pool_create(&pool, bench.pool);
        pdf_t text = {0};
        json_t *json;
        sr_ink_t *ink;
        pdf_add(&text, SEAL_INK, sizeof SEAL_INK - 1);
        if (i) {
            size_t at = random_below(text.size);
            static const char others[] = "[]{},:\"0123456789eE.-+ntf ";
            text.data[at] = others[random_below(sizeof others - 1)];
        }
        if (!sr_json_parse(&json, text.data, text.size, pool) && !sr_ink_parse(&ink, json, pool)) {
            parsed++;
            pdf_t pdf = prepared(&(pdf_parts_t){.pages = 1}, pool);
            drawn += !fill(&pdf, &(sr_pdf_signature_t){.ink = ink}, pool);
            free(pdf.data);
        }
        free(text.data);
        apr_pool_destroy(pool);
    }
    ok(parsed > count / 20 && drawn == parsed, "%d broken drawings: %d are drawings still, and %d are drawn", count,
       parsed, drawn);
}

/* Drawings in the worker's own form, as no client of ours would send them. */
static void test_raw_drawings(void)
{
    static const char *const raw[] = {"{}",
                                      "[]",
                                      "{\"width\":1,\"height\":0,\"strokes\":[[0,0,0]]}",
                                      "{\"width\":1,\"height\":1,\"strokes\":[[0,0]]}",
                                      "{\"width\":1,\"height\":1,\"strokes\":[[0,2,0]]}",
                                      "{\"width\":1,\"height\":1,\"strokes\":[[0,-1,0]]}",
                                      "{\"width\":1,\"height\":1,\"strokes\":[[]]}",
                                      "{\"width\":1,\"height\":1,\"strokes\":[]}",
                                      "{\"width\":1,\"height\":1,\"strokes\":[[\"a\",null,{}],5]}"};
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
        apr_pool_t *pool;
        apr_pool_create(&pool, bench.pool);
        sr_ink_t ink = {.text = raw[i], .points = 1};
        pdf_t pdf = prepared(&(pdf_parts_t){.pages = 1}, pool);
        const char *reason = fill(&pdf, &(sr_pdf_signature_t){.ink = &ink}, pool);
        is_str(reason, "The strokes of the signature cannot be understood", "%s", raw[i]);
        free(pdf.data);
        apr_pool_destroy(pool);
    }
}

/* ------------------------------------------------------------------------------------------------ lying workers */

#define LIMITS "it could not be read within the limits"
#define NONSENSE "it made the PDF helper send an invalid answer"

/* A worker that greets, takes one request and answers this whatever it was. */
static void test_liar(const char *response, const char *want)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, bench.pool);
    seal_bench_t lied = bench;
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 1});
    const char *script = apr_psprintf(pool,
                                      "#!/bin/sh\nprintf 'SPR1\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0{}' >&3\n"
                                      "dd bs=65536 count=1 <&3 >/dev/null 2>&1\n"
                                      "printf 'SPR1\\1\\0\\0\\0\\0\\0\\0\\0\\%o\\0\\0\\0%s' >&3\nexec sleep 5\n",
                                      (unsigned)strlen(response), response);
    seal_write(&bench, "liar", script, strlen(script));
    const char *path = apr_pstrcat(pool, bench.folder, "/liar", NULL);
    chmod(path, 0700);
    lied.workers = help_pool(path, 1, 1500, pool);
    sr_pdf_signature_t signature = {.signer = SIGNER, .name = "A", .time = apr_time_now(), .text = "A"};
    is_str(seal_fill(&lied, &pdf, &signature, pool), want, "a worker that answers %s", response);
    free(pdf.data);
    apr_pool_destroy(pool);
}

static void test_liars(void)
{
    static const char *const unreadable[] = {"{}",
                                             "[]",
                                             "{\"length\":0,\"contents\":0}",
                                             "{\"length\":-1,\"contents\":0}",
                                             "{\"length\":5}",
                                             "{\"length\":5,\"contents\":6}",
                                             "{\"length\":5,\"contents\":-1}",
                                             "{\"length\":99999999,\"contents\":0}",
                                             "{\"length\":9.5,\"contents\":0}",
                                             "{\"fault\":\"document\"}",
                                             "{\"fault\":\"other\",\"reason\":\"x\"}"};
    static const char *const unsound[] = {"{\"length\":5,\"contents\":3}", "{\"length\":40000,\"contents\":3}",
                                          "{\"length\":40000,\"contents\":7000}",
                                          "{\"length\":40000,\"contents\":40000}"};
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) test_liar(unreadable[i], LIMITS);
    for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++) test_liar(unsound[i], NONSENSE);
    test_liar("{\"fault\":\"document\",\"reason\":\"x y\"}", "x y");
}

int main(void)
{
    bench = seal_begin(8000);
    if (getenv("SIGREQ_FUZZ_COUNT")) count = atoi(getenv("SIGREQ_FUZZ_COUNT"));
    if (getenv("SIGREQ_FLIPS")) flips = atoi(getenv("SIGREQ_FLIPS"));
    if (getenv("SIGREQ_FUZZ_SEED")) mutate_state = strtoull(getenv("SIGREQ_FUZZ_SEED"), NULL, 10) | 1;
    test_documents();
    test_drawings();
    test_raw_drawings();
    is_int(help_notices, 0, "no worker died of any of it%s%s", help_notices ? ": " : "",
           help_notices ? help_last_notice : "");
    test_liars();
    test_flips();
    return seal_end(&bench);
}
