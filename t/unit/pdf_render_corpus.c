/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_render_corpus.c: the first page of every accepted file of the corpus of PDFs that broke readers ($SIGREQ_CORPUS)
 * is shown, as image and as text, or refused, in time; no file is taken for a fault of ours.
 * Where the folder is absent the test says so and is skipped. */
#include "corpus_folder.h"
#include "pdf_help.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#define WIDTH 400
#define TIMEOUT_MS 8000 /* the default of showing */

typedef struct tally_t {
    const char *what;
    int shown, refused, errors, deaths;
    int64_t slowest, total;
    char slowest_name[PATH_MAX];
} tally_t;

static apr_pool_t *root;
static sr_pdf_pool_t *workers;
static int accepted;
static tally_t images = {.what = "image"}, texts = {.what = "text"};

static void count(tally_t *tally, const sr_error_t *error, const char *reason, int64_t took, int deaths,
                  const char *path)
{
    if (error) tally->errors++;
    else if (reason) tally->refused++;
    else tally->shown++;
    if (deaths) tally->deaths++;
    tally->total += took;
    if (error || reason || deaths)
        printf("# %s, %s: %s, %d ms%s%s\n", path, tally->what,
               error    ? error->cause ? error->cause : error->message
               : reason ? reason
                        : "shown",
               (int)took, deaths ? ", " : "", deaths ? help_last_notice : "");
    if (took <= tally->slowest) return;
    tally->slowest = took;
    snprintf(tally->slowest_name, sizeof tally->slowest_name, "%s", path);
}

static void show(const char *path, int fd, apr_pool_t *pool)
{
    sr_pdf_image_t image = {0};
    sr_pdf_text_t text = {0};
    int notices = help_notices;
    int64_t begun = help_now();
    sr_error_t *error = sr_pdf_render(&image, workers, fd, 0, WIDTH, false, pool);
    int64_t between = help_now();
    count(&images, error, image.reason, between - begun, help_notices - notices, path);
    notices = help_notices;
    error = sr_pdf_text(&text, workers, fd, 0, pool);
    count(&texts, error, text.reason, help_now() - between, help_notices - notices, path);
}

static int each_file(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    if (type != FTW_F) return 0;
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, root);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!sr_pdf_probe(&probe, workers, fd, (apr_off_t)info->st_size, pool) && probe.verdict == SR_PDF_ACCEPTED) {
        accepted++;
        show(path, fd, pool);
    }
    close(fd);
    apr_pool_destroy(pool);
    return 0;
}

static void report(const tally_t *tally)
{
    is_int(tally->errors, 0, "%s of each: %d shown, %d refused", tally->what, tally->shown, tally->refused);
    printf("# %d ms on average; the slowest took %d ms: %s\n", (int)(tally->total / (accepted ? accepted : 1)),
           (int)tally->slowest, tally->slowest_name);
    ok(tally->shown > tally->refused * 10, "and nearly all are shown");
    printf("# %d cost a worker\n", tally->deaths);
}

int main(void)
{
    const char *folder = corpus_folder();
    if (!folder) return done();
    apr_initialize();
    apr_pool_create(&root, NULL);
    workers = help_pool(help_program(), 1, TIMEOUT_MS, root);
    nftw(folder, each_file, 16, FTW_PHYS);
    ok(accepted > 0, "%d accepted files of %s", accepted, folder);
    report(&images);
    report(&texts);
    is_int(help_children().zombies, 0, "no zombie");
    apr_pool_destroy(root);
    return done();
}
