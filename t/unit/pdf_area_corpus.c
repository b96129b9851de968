/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_area_corpus.c: for every accepted file of the corpus of PDFs that broke readers ($SIGREQ_CORPUS), an area in
 * percent on each page that differs from the page before, and on the last page, counted from the end. pdfinfo says how
 * many pages there are, and where and how large each of them is. Where the folder is absent the test says so and is
 * skipped. */
#include "model/model.h"
#include "corpus_folder.h"
#include "pdf_seal.h"

#include <fcntl.h>
#include <ftw.h>

#define NEAR 0.02      /* pdfinfo prints the corners of boxes with two decimals, */
#define PRECISION 1e-5 /* and sizes with six digits */

static const double SENT[] = {12.5, 30, 25, 6.25}; /* x, y, w and h in percent */

static seal_bench_t bench;
static int files, unread, documents, places, turned, cropped, wrong;

/* A page as pdfinfo describes it. */
typedef struct shown_t {
    double size[2], media[4], crop[4];
    int rotate;
} shown_t;

/* Returns what follows "Page n <name>:", or NULL. */
static const char *said_of(const char *info, int page, const char *name, apr_pool_t *pool)
{
    const char *key = apr_psprintf(pool, "\nPage %4d %s:", page + 1, name), *found = strstr(info, key);
    return found ? found + strlen(key) : NULL;
}

static bool read_shown(shown_t *shown, const char *info, int page, apr_pool_t *pool)
{
    const char *size = said_of(info, page, "size", pool), *turn = said_of(info, page, "rot", pool);
    const char *media = said_of(info, page, "MediaBox", pool), *crop = said_of(info, page, "CropBox", pool);
    double *m = shown->media, *c = shown->crop;
    return size && turn && media && crop && sscanf(size, "%lf x %lf", &shown->size[0], &shown->size[1]) == 2
           && sscanf(turn, "%d", &shown->rotate) == 1
           && sscanf(media, "%lf %lf %lf %lf", &m[0], &m[1], &m[2], &m[3]) == 4
           && sscanf(crop, "%lf %lf %lf %lf", &c[0], &c[1], &c[2], &c[3]) == 4;
}

/* Computes where the area is by docs/decisions/0002-areas.md. */
static void expect(double rect[4], const shown_t *shown)
{
    const double l = shown->crop[0], b = shown->crop[1], r = shown->crop[2], t = shown->crop[3];
    const bool sideways = shown->rotate % 180 != 0;
    const double width = shown->size[sideways ? 1 : 0] / 100, height = shown->size[sideways ? 0 : 1] / 100;
    const double x = SENT[0] * width, y = SENT[1] * height, w = SENT[2] * width, h = SENT[3] * height;
    const double corners[4][4] = {{l + x, t - y - h, l + x + w, t - y},
                                  {l + y, b + x, l + y + h, b + x + w},
                                  {r - x - w, b + y, r - x, b + y + h},
                                  {r - y - h, t - x - w, r - y, t - x}};
    memcpy(rect, corners[shown->rotate / 90 % 4], sizeof corners[0]);
}

/* Returns NULL, or what is wrong with the placement. */
static const char *fault_of(const sr_placement_t *placement, const shown_t *shown, apr_pool_t *pool)
{
    const double slack = NEAR + PRECISION * fmax(shown->size[0], shown->size[1]);
    double want[4];
    expect(want, shown);
    for (int i = 0; i < 4; i++) {
        if (fabs(placement->percent[i] - SENT[i]) > 1e-4) return "the percentages are others";
        if (fabs(placement->rect[i] - want[i]) > slack)
            return apr_psprintf(pool, "edge %d of page %d is at %f, not %f", i, placement->page, placement->rect[i],
                                want[i]);
    }
    return NULL;
}

/* Resolves the area on a page. */
static const char *try_page(sr_pages_t *pages, int page, bool from_end, const char *info, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, 1, sizeof(sr_document_t));
    apr_array_header_t *signers = apr_array_make(pool, 1, sizeof(sr_signer_t));
    apr_array_header_t *fields = apr_array_make(pool, 1, sizeof(sr_field_t));
    const sr_area_t area = {.x = SENT[0],
                            .y = SENT[1],
                            .w = SENT[2],
                            .h = SENT[3],
                            .page = page,
                            .origin = SR_ORIGIN_TOP_LEFT,
                            .percent = true,
                            .from_end = from_end};
    APR_ARRAY_PUSH(list, sr_document_t) = (sr_document_t){.uuid = "u", .name = "a.pdf", .pages = pages};
    APR_ARRAY_PUSH(fields, sr_field_t) =
        (sr_field_t){.number = 1, .type = sr_field_type("signature"), .document = "a.pdf", .area = area};
    APR_ARRAY_PUSH(signers, sr_signer_t) = (sr_signer_t){.fields = fields};
    const sr_error_t *error = sr_signers_resolve(signers, list, &(sr_resolving_t){.max_fields = 1}, pool);
    if (error) return error->message;
    const sr_field_t *field = &APR_ARRAY_IDX(APR_ARRAY_IDX(signers, 0, sr_signer_t).fields, 0, sr_field_t);
    shown_t shown;
    if (from_end && said_of(info, field->placement.page + 1, "size", pool)) return "a later page is the last one";
    if (!read_shown(&shown, info, field->placement.page, pool)) return "pdfinfo does not know the page";
    places++;
    if (shown.rotate) turned++;
    bool is_cropped = false;
    for (int i = 0; i < 4; i++) is_cropped |= shown.media[i] != shown.crop[i];
    if (is_cropped) cropped++;
    return fault_of(&field->placement, &shown, pool);
}

static void try_document(const char *path, sr_pages_t *pages, apr_pool_t *pool)
{
    int status, page = 0;
    setenv("FILE", path, 1);
    const char *info = seal_run(&status, &bench, pool, "pdfinfo -box -f 1 -l 1000000 \"$FILE\"");
    if (status) {
        unread++;
        return;
    }
    documents++;
    const char *fault = try_page(pages, 0, true, info, pool);
    for (int i = 0; !fault && i < pages->runs->nelts; i++) {
        fault = try_page(pages, page, false, info, pool);
        page += APR_ARRAY_IDX(pages->runs, i, sr_list_run_t).count;
    }
    if (fault) printf("# %s: %s\n", path, fault);
    if (fault) wrong++;
}

static int each_file(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    if (type != FTW_F) return 0;
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    apr_pool_create(&pool, bench.pool);
    files++;
    if (sr_pdf_probe(&probe, bench.workers, fd, (apr_off_t)info->st_size, pool)) abort();
    close(fd);
    if (probe.verdict == SR_PDF_ACCEPTED) try_document(path, probe.pages, pool);
    apr_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const char *folder = corpus_folder();
    if (!folder) return done();
    bench = seal_begin(8000);
    nftw(folder, each_file, 16, FTW_PHYS);
    ok(documents > 0 && turned > 0 && cropped > 0, "%d files: %d documents with %d places, %d turned, %d cropped",
       files, documents, places, turned, cropped);
    is_int(wrong, 0, "each place is where pdfinfo says");
    printf("# pdfinfo reads %d other documents not\n", unread);
    return seal_end(&bench);
}
