/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_tamper.c: a document that three signers have sealed by our own engine, changed afterwards: no byte that a
 * signature covers can be another without breaking it, and whatever is appended, nothing is said to be whole. Of the
 * flips all are checked by hash and signature, over the ranges as they were; and some by sr_pdf_verify, worker
 * included, which takes ten times as long: the bytes of the signature dictionaries (of the earlier ones, which have the
 * same form, every fourth), and others at random. */
#include "pdf_mutate.h"
#include "pdf_seal.h"

#define FLIPS 3000
#define WHOLE_FLIPS 100 /* or $SIGREQ_FLIPS: of them, by sr_pdf_verify */
#define SIGNERS 3

static seal_bench_t bench;
static int whole_flips = WHOLE_FLIPS;
static const char *const signers[SIGNERS] = {"0b8f9d2e5a0c", "1b8f9d2e5a0c", "2b8f9d2e5a0c"};

typedef struct sealed_t {
    pdf_t pdf;
    size_t gap[SIGNERS], gap_end[SIGNERS], end[SIGNERS]; /* what each signature covers */
    int descriptor;                                      /* of a copy that the flips are made in */
} sealed_t;

/* Pages with something on them, so that there is more than one kind of byte to change. */
static pdf_t document(void)
{
    pdf_t content = {0}, object = {0};
    for (int i = 0; i < 500; i++) pdf_print(&content, "%d %d m %d %d l S\n", i % 300, i % 200, i % 77, i % 99);
    pdf_print(&object, "<</Length %zu>>stream\n%s\nendstream", content.size, content.data);
    pdf_t pdf = pdf_document(&(pdf_parts_t){.pages = 2,
                                            .page = "/MediaBox[0 0 400 300]/Contents 5 0 R",
                                            .trailer = "/Info<</Title(a contract)>>",
                                            .objects = {object.data}});
    free(content.data);
    free(object.data);
    return pdf;
}

static sealed_t seal_all(apr_pool_t *pool)
{
    sealed_t sealed = {.pdf = document()};
    sr_pdf_field_t fields[SIGNERS + 1];
    for (int i = 0; i <= SIGNERS; i++)
        fields[i] = seal_field(signers[i % SIGNERS], i / SIGNERS, 50, 9 + 70 * i, 150, 70 + 70 * i);
    const char *reason = seal_prepare(&bench, &sealed.pdf, fields, SIGNERS + 1, pool);
    for (int i = 0; !reason && i < SIGNERS; i++) {
        size_t before = sealed.pdf.size;
        sr_pdf_signature_t signature = {.signer = signers[i], .name = "Ann Lee", .time = apr_time_now()};
        signature.ink = seal_ink(SEAL_INK, pool);
        reason = seal_fill(&bench, &sealed.pdf, &signature, pool);
        if (reason) break;
        const char *gap = memmem(sealed.pdf.data + before, sealed.pdf.size - before, "/Contents<", 10);
        if (!gap) abort();
        sealed.gap[i] = (size_t)(gap + 9 - sealed.pdf.data);
        sealed.gap_end[i] = sealed.gap[i] + 2 * SR_CMS_MAX_BYTES + 2;
        sealed.end[i] = sealed.pdf.size;
    }
    ok(!reason, "a document of three signers%s%s", reason ? ": " : "", reason ? reason : "");
    sealed.descriptor = help_descriptor(sealed.pdf.data, sealed.pdf.size);
    return sealed;
}

static bool is_covered(const sealed_t *sealed, int signer, size_t at)
{
    return at < sealed->end[signer] && (at < sealed->gap[signer] || at >= sealed->gap_end[signer]);
}

static bool is_in_gap(const sealed_t *sealed, size_t at)
{
    for (int i = 0; i < SIGNERS; i++)
        if (at >= sealed->gap[i] && at < sealed->gap_end[i]) return true;
    return false;
}

static sr_error_t *verify(sr_pdf_verification_t *found, int descriptor, size_t size, apr_pool_t *pool)
{
    static const sr_cms_context_t context;
    return sr_pdf_verify(found, bench.workers, descriptor, (apr_off_t)size, &context, pool);
}

static void test_good(const sealed_t *sealed)
{
    sr_pdf_verification_t found;
    int right = 0;
    ok(!verify(&found, sealed->descriptor, sealed->pdf.size, bench.pool) && found.conclusion == SR_PDF_SIGNED
           && found.count == SIGNERS,
       "is signed by all");
    for (int i = 0; i < found.count; i++)
        right += found.signatures[i].state == SR_CMS_INTACT && found.signatures[i].covers == (apr_off_t)sealed->end[i]
                 && found.signatures[i].whole == (i == SIGNERS - 1);
    is_int(right, SIGNERS, "each intact over its own revision, the last one over everything");
}

/* ------------------------------------------------------------------------------------------------------- flips */

typedef struct places_t {
    size_t *at;
    int count;
} places_t;

/* What all signatures together cover: outside of all Contents, or in those of earlier signatures. Free `at`. */
static places_t places(const sealed_t *sealed, bool in_gaps)
{
    places_t found = {malloc(sealed->pdf.size * sizeof(size_t)), 0};
    if (!found.at) abort();
    for (size_t at = 0; at < sealed->pdf.size; at++)
        if (is_in_gap(sealed, at) == in_gaps && is_covered(sealed, SIGNERS - 1, at)) found.at[found.count++] = at;
    return found;
}

/* Brings `count` of them, chosen at random, to the front (Fisher-Yates): no place twice. */
static void shuffle(places_t *all, int count)
{
    for (int i = 0; i < count; i++) {
        size_t other = (size_t)i + random_below((size_t)(all->count - i)), kept = all->at[i];
        all->at[i] = all->at[other];
        all->at[other] = kept;
    }
}

/* FLIPS places: a tenth in earlier signatures' Contents, if there are so many. */
static places_t choose(const sealed_t *sealed)
{
    places_t outside = places(sealed, false), inside = places(sealed, true);
    int in_gaps = FLIPS / 10;
    ok(outside.count >= FLIPS - in_gaps && inside.count >= in_gaps,
       "%d bytes outside of all Contents, %d in those of earlier signatures", outside.count, inside.count);
    if (outside.count < FLIPS - in_gaps) exit(EXIT_FAILURE);
    shuffle(&outside, FLIPS - in_gaps);
    shuffle(&inside, in_gaps);
    memcpy(outside.at + (FLIPS - in_gaps), inside.at, (size_t)in_gaps * sizeof *inside.at);
    free(inside.at);
    outside.count = FLIPS;
    return outside;
}

static char other_than(char byte)
{
    return (char)(byte ^ (char)(1 + random_below(255)));
}

/* The CMS of each signature as it stands in the file. */
static void read_cms(sr_cms_result_t *cms, const sealed_t *sealed, apr_pool_t *pool)
{
    for (int i = 0; i < SIGNERS; i++) {
        unsigned char *der = apr_palloc(pool, SR_CMS_MAX_BYTES);
        for (int j = 0; j < SR_CMS_MAX_BYTES; j++) {
            const char digits[] = {sealed->pdf.data[sealed->gap[i] + 1 + 2 * (size_t)j],
                                   sealed->pdf.data[sealed->gap[i] + 2 + 2 * (size_t)j], '\0'};
            der[j] = (unsigned char)strtoul(digits, NULL, 16);
        }
        sr_cms_check(&cms[i], der, SR_CMS_MAX_BYTES, &(sr_cms_context_t){0}, pool);
    }
}

static bool is_intact(const sealed_t *sealed, int signer, sr_cms_result_t result, EVP_MD_CTX *context)
{
    static const sr_cms_context_t nobody;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length;
    const char *data = sealed->pdf.data;
    EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    EVP_DigestUpdate(context, data, sealed->gap[signer]);
    EVP_DigestUpdate(context, data + sealed->gap_end[signer], sealed->end[signer] - sealed->gap_end[signer]);
    EVP_DigestFinal_ex(context, digest, &length);
    sr_cms_is_our_seal(&result, digest, length, &nobody);
    return result.state == SR_CMS_INTACT;
}

static void test_flips(sealed_t *sealed, const places_t *chosen)
{
    sr_cms_result_t cms[SIGNERS];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int wrong = 0, broken = 0, spared = 0;
    int64_t begun = help_now();
    read_cms(cms, sealed, bench.pool);
    for (int i = 0; i < chosen->count; i++) {
        char *byte = sealed->pdf.data + chosen->at[i], kept = *byte;
        *byte = other_than(kept);
        for (int j = 0; j < SIGNERS; j++) {
            bool intact = is_intact(sealed, j, cms[j], context), covered = is_covered(sealed, j, chosen->at[i]);
            wrong += intact == covered;
            broken += covered && !intact;
            spared += !covered && intact;
        }
        *byte = kept;
    }
    EVP_MD_CTX_free(context);
    is_int(wrong, 0, "%d bytes, one at a time: each breaks every signature that covers it, and no other",
           chosen->count);
    ok(broken >= FLIPS && spared > FLIPS / 10, "%d signatures broken, %d earlier ones spared", broken, spared);
    printf("# %d ms\n", (int)(help_now() - begun));
}

/* ------------------------------------------------------------------------------------------ flips, all of it */

typedef struct tally_t {
    int flips, errors, bad;
    int earlier;    /* documents of which an earlier signature, that does not cover the byte, is still intact */
    int unreadable; /* documents in which no signature is found */
} tally_t;

/* Whether one that is called intact may be: it is one of ours, and does not cover the byte. */
static bool may_be_intact(const sealed_t *sealed, const sr_pdf_found_t *found, size_t at)
{
    for (int i = 0; i < SIGNERS; i++)
        if (found->covers == (apr_off_t)sealed->end[i]) return !is_covered(sealed, i, at);
    return false;
}

/* What is hidden by the change, such as the last signature, is not seen: of the others it is said that something came
 * later, so nothing is whole. */
static void judge(tally_t *tally, const sealed_t *sealed, size_t at, apr_pool_t *pool)
{
    sr_pdf_verification_t found;
    bool bad = false, earlier = false;
    tally->flips++;
    if (verify(&found, sealed->descriptor, sealed->pdf.size, pool)) {
        tally->errors++;
        return;
    }
    for (int i = 0; i < found.count; i++) {
        if (found.signatures[i].whole) bad = true;
        if (found.signatures[i].state != SR_CMS_INTACT) continue;
        if (may_be_intact(sealed, &found.signatures[i], at)) earlier = true;
        else bad = true;
    }
    if (found.conclusion == SR_PDF_SIGNED) bad = true;
    if (bad) printf("# byte %zu: %s\n", at, sr_pdf_conclusion_name(found.conclusion));
    tally->bad += bad;
    tally->earlier += earlier;
    tally->unreadable += found.count == 0;
}

static void flip(tally_t *tally, const sealed_t *sealed, size_t at)
{
    apr_pool_t *pool;
    char changed = other_than(sealed->pdf.data[at]);
    apr_pool_create(&pool, bench.pool);
    if (pwrite(sealed->descriptor, &changed, 1, (off_t)at) != 1) abort();
    judge(tally, sealed, at, pool);
    if (pwrite(sealed->descriptor, &sealed->pdf.data[at], 1, (off_t)at) != 1) abort();
    apr_pool_destroy(pool);
}

static void test_whole_flips(const sealed_t *sealed, const places_t *chosen)
{
    tally_t tally = {0};
    int64_t begun = help_now();
    for (int i = 0; i < SIGNERS; i++) {
        size_t from = sealed->gap[i];
        while (memcmp(sealed->pdf.data + from, " obj\n", 5) != 0) from--;
        for (const size_t step = i < SIGNERS - 1 ? 4 : 1; from < sealed->gap[i]; from += step)
            flip(&tally, sealed, from);
        for (from = sealed->gap_end[i]; from < sealed->gap_end[i] + 10; from++) flip(&tally, sealed, from);
    }
    ok(tally.flips > 200, "%d bytes of signature dictionaries", tally.flips);
    for (int i = 0; i < whole_flips; i++) flip(&tally, sealed, chosen->at[i * 7919L % chosen->count]);
    is_int(tally.errors, 0, "and %d others: each with an answer", whole_flips);
    is_int(tally.bad, 0, "no signature that covers the byte is intact, none is whole");
    ok(tally.earlier > whole_flips / 10, "earlier ones, which do not cover it, still are (%d times)", tally.earlier);
    printf("# %d documents in which no signature can be found; %d ms\n", tally.unreadable, (int)(help_now() - begun));
    test_good(sealed);
}

/* ---------------------------------------------------------------------------------------------------- appended */

static void check_appended(const sealed_t *sealed, const void *more, size_t size, const char *name)
{
    sr_pdf_verification_t found;
    apr_pool_t *pool;
    int fd = help_descriptor(sealed->pdf.data, sealed->pdf.size), whole = 0, status;
    apr_pool_create(&pool, bench.pool);
    if (lseek(fd, 0, SEEK_END) < 0 || write(fd, more, size) != (ssize_t)size) abort();
    ok(!verify(&found, fd, sealed->pdf.size + size, pool), "%s appended", name);
    for (int i = 0; i < found.count; i++) whole += found.signatures[i].whole;
    ok(!whole && found.conclusion != SR_PDF_SIGNED, "%s: nothing is whole (%s)", name,
       sr_pdf_conclusion_name(found.conclusion));
    char *all = malloc(sealed->pdf.size + size);
    if (!all || pread(fd, all, sealed->pdf.size + size, 0) != (ssize_t)(sealed->pdf.size + size)) abort();
    seal_write(&bench, "more.pdf", all, sealed->pdf.size + size);
    const char *said = seal_run(&status, &bench, pool, "pdfsig -nocert more.pdf");
    ok(!strstr(said, "Total document signed"), "%s: nor to pdfsig", name);
    free(all);
    close(fd);
    apr_pool_destroy(pool);
}

static void test_appended(const sealed_t *sealed)
{
    static const char *const texts[] = {
        "x", "\n", "\r", " ", "% a comment\n", "%%EOF\n", "startxref\n9\n%%EOF\n", "3 0 obj\n<</Type/Page>>\nendobj\n"};
    static const char *const names[] = {"a letter",  "a line end", "another",        "a space",
                                        "a comment", "an end",     "an earlier end", "an object"};
    static char zeros[64 << 10];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_appended(sealed, texts[i], strlen(texts[i]), names[i]);
    check_appended(sealed, "", 1, "a NUL");
    check_appended(sealed, zeros, sizeof zeros, "64 kB of zeros");
    check_appended(sealed, sealed->pdf.data, sealed->pdf.size, "the document itself");
    check_appended(sealed, sealed->pdf.data + sealed->end[1], sealed->end[2] - sealed->end[1], "its last revision");
    pdf_t other = pdf_document(&(pdf_parts_t){.pages = 1});
    check_appended(sealed, other.data, other.size, "another document");
    free(other.data);

    pdf_t grown = {0}; /* an update of our own making, which any reader follows */
    pdf_add(&grown, sealed->pdf.data, sealed->pdf.size);
    sr_pdf_field_t field = seal_field("3b8f9d2e5a0c", 1, 200, 50, 300, 90);
    const char *reason = seal_prepare(&bench, &grown, &field, 1, bench.pool);
    ok(!reason, "a field more%s%s", reason ? ": " : "", reason ? reason : "");
    check_appended(sealed, grown.data + sealed->pdf.size, grown.size - sealed->pdf.size, "an update");
    free(grown.data);
}

int main(void)
{
    bench = seal_begin(8000);
    if (getenv("SIGREQ_FLIPS")) whole_flips = atoi(getenv("SIGREQ_FLIPS"));
    if (getenv("SIGREQ_FUZZ_SEED")) mutate_state = strtoull(getenv("SIGREQ_FUZZ_SEED"), NULL, 10) | 1;
    sealed_t sealed = seal_all(bench.pool);
    test_good(&sealed);
    places_t chosen = choose(&sealed);
    test_flips(&sealed, &chosen);
    test_whole_flips(&sealed, &chosen);
    free(chosen.at);
    test_appended(&sealed);
    is_int(help_notices, 0, "no worker died of any of it%s%s", help_notices ? ": " : "", help_last_notice);
    close(sealed.descriptor);
    free(sealed.pdf.data);
    return seal_end(&bench);
}
