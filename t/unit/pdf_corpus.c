/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_corpus.c: every file of the corpus of PDFs that broke readers ($SIGREQ_CORPUS) gets a verdict. Where the folder
 * is absent the test says so and is skipped. */
#include "corpus_folder.h"
#include "pdf_help.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#define TIMEOUT_MS 2500

static apr_pool_t *root;
static sr_pdf_pool_t *workers;
static int files, errors, normalise, verdicts[5];
static int64_t slowest;
static char slowest_name[PATH_MAX];

static int each_file(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    if (type != FTW_F) return 0;
    apr_pool_t *pool;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, root);
    int fd = open(path, O_RDONLY | O_CLOEXEC), notices = help_notices;
    int64_t begun = help_now();
    sr_error_t *error = sr_pdf_probe(&probe, workers, fd, (apr_off_t)info->st_size, pool);
    int64_t took = help_now() - begun;
    close(fd);
    files++;
    if (error) errors++;
    else verdicts[probe.verdict]++;
    if (error || help_notices > notices)
        printf("# %s: %s, %d ms%s%s\n", path, help_say(error, &probe, pool), (int)took,
               help_notices > notices ? ", " : "", help_notices > notices ? help_last_notice : "");
    if (!error && probe.verdict == SR_PDF_ACCEPTED && strstr(probe.pages->report, "\"normalise\":true")) normalise++;
    if (took > slowest) {
        slowest = took;
        snprintf(slowest_name, sizeof slowest_name, "%s", path);
    }
    apr_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const char *folder = corpus_folder();
    if (!folder) return done();
    apr_initialize();
    apr_pool_create(&root, NULL);
    workers = help_pool(help_program(), 1, TIMEOUT_MS, root);
    nftw(folder, each_file, 16, FTW_PHYS);
    ok(files > 0, "%d files of %s", files, folder);
    is_int(errors, 0, "each gets a verdict: %d accepted (%d to be rewritten), %d no PDF, %d encrypted, %d refused",
           verdicts[SR_PDF_ACCEPTED], normalise, verdicts[SR_PDF_NOT_PDF], verdicts[SR_PDF_PASSWORD],
           verdicts[SR_PDF_REFUSED]);
    printf("# the slowest took %d ms: %s\n", (int)slowest, slowest_name);
    ok(verdicts[SR_PDF_ACCEPTED] > 0 && verdicts[SR_PDF_NOT_PDF] > 0, "and not the same one for all");
    printf("# %d workers died or were killed\n", help_notices);
    is_int(help_children().zombies, 0, "no zombie");
    apr_pool_destroy(root);
    return done();
}
