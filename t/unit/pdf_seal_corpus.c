/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_seal_corpus.c: every accepted file of the corpus of PDFs that broke readers ($SIGREQ_CORPUS)
 * is normalised if its probe says so, prepared and filled for two signers with proofs, and archived. Each signer fills
 * in a text and a check box, too, unless the file was signed before. pdfsig must call
 * both signatures, which are in two fields each, valid and the last one whole, earlier ones as valid as they were, and
 * qpdf must find no more wrong than before. The proofs of the second signer, which are those of the first, take no
 * room. Where the folder is absent the test says so and is skipped. t/tool/judges, which is one process of poppler and
 * qpdf for all files, is asked first. The programs themselves judge what was signed before, and what it finds fault
 * with. */
#include "corpus_folder.h"
#include "pdf_dss.h"

#include <fcntl.h>
#include <ftw.h>

#define PASS_RATE 0.995

static seal_bench_t bench;
static FILE *to_judges, *from_judges;
static int files, accepted, normalised, signed_before, passed, refused_late, agreed;

/* What pdfsig says of each signature that was there, without its name and number. */
static int count_valid(const char *said)
{
    return seal_count(said, "Signature Validation: Signature is Valid.");
}

static bool load(pdf_t *pdf, int fd)
{
    char piece[65536];
    pdf->size = 0;
    pdf_add(pdf, "", 0);
    for (ssize_t got; (got = pread(fd, piece, sizeof piece, (off_t)pdf->size)) != 0;) {
        if (got < 0) return false;
        pdf_add(pdf, piece, (size_t)got);
    }
    return true;
}

/* NULL, or why not. What comes out of normalising must not have to be normalised. */
static const char *normalise(pdf_t *pdf, sr_pdf_probe_t *probe, apr_pool_t *pool)
{
    sr_pdf_rewritten_t *made = apr_palloc(pool, sizeof *made);
    normalised++;
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_rewrite(made, bench.workers, fd, (apr_off_t)pdf->size, pool);
    close(fd);
    if (error) return error->cause;
    if (made->fault) return made->reason;
    load(pdf, made->document.descriptor);
    const char *says = help_say(help_probe(probe, bench.workers, pdf->data, pdf->size, pool), probe, pool);
    return probe->verdict == SR_PDF_ACCEPTED && strstr(says, "\"normalise\":false") ? NULL : says;
}

/* The fields of two signers: two signatures of each, then a text and a check box of each. */
#define FIELDS 8
static void place_fields(sr_pdf_field_t *fields, sr_pdf_entry_t *entries, const char *const *ids,
                         const sr_pages_t *pages)
{
    for (int i = 0; i < FIELDS; i++) {
        sr_placement_t placement;
        const int row = i / 4;
        sr_area_t area = {.x = 10 + 70 * (i % 2), .y = 20 + 40 * row, .w = 60, .h = 30};
        area.origin = SR_ORIGIN_TOP_LEFT;
        area.page = i % 4 < 2 ? 0 : pages->count - 1;
        sr_area_place(&placement, &area, sr_pages_at(pages, area.page));
        const double *r = placement.rect;
        fields[i] = seal_field(ids[i % 2], area.page, r[0], r[1], r[2], r[3]);
        if (i < 4) continue;
        entries[i - 4] = (sr_pdf_entry_t){.kind = i < 6 ? SR_PDF_ENTRY_TEXT : SR_PDF_ENTRY_CHECKBOX,
                                          .name = "Signature",
                                          .label = "L\xc3\xa4nge",
                                          .text = "950",
                                          .rotate = sr_pages_at(pages, area.page)->rotate,
                                          .content = "rcSAwIDAgMCByZyAwIDAgOSA5IHJlIGYgUQo="};
        fields[i].entry = &entries[i - 4];
    }
}

static const char *sign_two(pdf_t *pdf, const sr_pages_t *pages, const char **reason_to_prepare, apr_pool_t *pool)
{
    const char *ids[] = {sr_uuid_make(pool), sr_uuid_make(pool)};
    sr_pdf_field_t fields[FIELDS];
    sr_pdf_entry_t entries[FIELDS - 4];
    const int count = pages->signatures ? 4 : FIELDS;
    place_fields(fields, entries, ids, pages);
    *reason_to_prepare = seal_prepare(&bench, pdf, fields, count, pool);
    const char *reason = *reason_to_prepare;
    for (int i = 0; !reason && i < 2; i++) {
        const size_t before = pdf->size;
        sr_pdf_signature_t signature = {.signer = ids[i], .name = "Ann Lee", .time = apr_time_now()};
        signature.proofs = dss_proofs('o', pool);
        signature.fields = seal_fields(fields, count, pool);
        entries[i].text = "1,050 \xe2\x82\xac";
        entries[i + 2].ticked = true;
        if (i) signature.text = "Ann Lee";
        else signature.ink = seal_ink(SEAL_INK, pool);
        reason = seal_fill(&bench, pdf, &signature, pool);
        if (i && !reason && memmem(pdf->data + before, pdf->size - before, "/Type/DSS", 9)) reason = "proofs twice";
    }
    return reason;
}

/* ------------------------------------------------------------------------------------------------ t/tool/judges */

static void start_judges(void)
{
    const char *build = getenv("O") ? getenv("O") : "build";
    int to[2], from[2];
    if (to_judges) fclose(to_judges);
    if (from_judges) fclose(from_judges);
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC)) abort();
    const pid_t child = fork();
    if (child == 0) {
        if (dup2(to[0], 0) < 0 || dup2(from[1], 1) < 0) _exit(126);
        execl(apr_pstrcat(bench.pool, build, "/t/tool/judges", NULL), "judges", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_judges = fdopen(to[1], "w");
    from_judges = fdopen(from[0], "r");
    if (child < 0 || !to_judges || !from_judges) abort();
}

/* The last signature's bytes end here, in one of the byte ranges after `from`. */
static bool ends_at(const pdf_t *pdf, size_t from, size_t length)
{
    static const char key[] = "/ByteRange";
    for (const char *at = pdf->data + from, *end = pdf->data + pdf->size;
         (at = memmem(at, (size_t)(end - at), key, sizeof key - 1)); at++) {
        size_t start = 0, size = 0;
        if (sscanf(at, "/ByteRange [ %*u %*u %zu %zu", &start, &size) == 2 && start + size == length) return true;
    }
    return false;
}

/* Whether poppler calls four fields valid, and qpdf has nothing to say, of after.pdf. */
static bool judges_agree(void)
{
    int valid = 0, complains = 1;
    if (!to_judges || fprintf(to_judges, "%s/after.pdf\n", bench.folder) < 0 || fflush(to_judges)
        || fscanf(from_judges, "%d %d", &valid, &complains) != 2) {
        start_judges();
        return false;
    }
    return valid == 4 && !complains;
}

/* An archived document with `had` valid signatures when it was uploaded, and `length` bytes when it was signed, which
 * is where the last signature must end. qpdf reads all revisions, and reads the upload too if it complains. */
static const char *check(const pdf_t *pdf, int had, size_t upload, size_t length, apr_pool_t *pool)
{
    int before = 0, after = 0, status;
    seal_write(&bench, "after.pdf", pdf->data, pdf->size);
    if (!had && judges_agree() && ends_at(pdf, upload, length)) {
        agreed++;
        return NULL;
    }
    const char *has = seal_run(&status, &bench, pool, "pdfsig -nocert after.pdf");
    if (count_valid(has) != had + 4) return apr_pstrcat(pool, "pdfsig: ", has, NULL);
    if (!strstr(has, apr_psprintf(pool, " - %" APR_SIZE_T_FMT "]\n", length)))
        return apr_pstrcat(pool, "not whole: ", has, NULL);
    const char *complains = seal_run(&after, &bench, pool, "qpdf --check after.pdf");
    if (after) seal_run(&before, &bench, pool, "qpdf --check before.pdf");
    return after <= before ? NULL : apr_pstrcat(pool, "qpdf: ", complains, NULL);
}

static int each_file(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    if (type != FTW_F) return 0;
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    pdf_t pdf = {0};
    int status, fd = open(path, O_RDONLY | O_CLOEXEC);
    apr_pool_create(&pool, bench.pool);
    files++;
    bool loaded = load(&pdf, fd);
    close(fd);
    if (!loaded || help_probe(&probe, bench.workers, pdf.data, pdf.size, pool)) abort();
    if (probe.verdict == SR_PDF_ACCEPTED) {
        accepted++;
        const bool was_signed = !strstr(probe.pages->report, "\"signatures\":0");
        if (was_signed) signed_before++;
        const char *unprepared = NULL, *reason = NULL;
        bool first = strstr(probe.pages->report, "\"normalise\":true") != NULL;
        if (first) reason = normalise(&pdf, &probe, pool);
        size_t upload = pdf.size;
        if (!reason) reason = sign_two(&pdf, probe.pages, &unprepared, pool);
        if (unprepared && !first && !strcmp(unprepared, "it is damaged")) { /* SR_PDF_DOCUMENT_DAMAGED */
            reason = normalise(&pdf, &probe, pool);
            upload = pdf.size;
            if (!reason) reason = sign_two(&pdf, probe.pages, &unprepared, pool);
        }
        if (reason) {
            refused_late++;
            printf("# %s: cannot be signed: %s\n", path, reason);
        } else {
            int had = 0;
            seal_write(&bench, "before.pdf", pdf.data, upload);
            if (was_signed) had = count_valid(seal_run(&status, &bench, pool, "pdfsig -nocert before.pdf"));
            const size_t length = pdf.size;
            reason = dss_archive(&bench, &pdf, "a", dss_proofs('p', pool), pool);
            if (!reason) reason = check(&pdf, had, upload, length, pool);
            if (!reason) passed++;
            else printf("# %s: %.600s\n", path, reason);
        }
    }
    free(pdf.data);
    apr_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const char *folder = corpus_folder();
    if (!folder) return done();
    bench = seal_begin(8000);
    signal(SIGPIPE, SIG_IGN); // NOLINT(cert-err33-c): it cannot fail
    start_judges();
    nftw(folder, each_file, 16, FTW_PHYS);
    ok(accepted > 0 && normalised > 0 && signed_before > 0,
       "%d files: %d accepted, %d of them normalised, %d signed before", files, accepted, normalised, signed_before);
    ok(passed >= PASS_RATE * (accepted - refused_late) && passed > 0, "%d of %d that were signed pass poppler and qpdf",
       passed, accepted - refused_late);
    ok(refused_late <= (1 - PASS_RATE) * 2 * accepted, "%d that were accepted cannot be signed after all",
       refused_late);
    printf("# %d of them by t/tool/judges alone\n", agreed);
    fclose(to_judges);
    fclose(from_judges);
    printf("# %d workers died or were killed, the last one: %s\n", help_notices, help_last_notice);
    return seal_end(&bench);
}
