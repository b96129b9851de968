/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_find_corpus.c: words that occur once in a file of the corpus of PDFs that broke readers ($SIGREQ_CORPUS) are
 * found, once, where pdftotext says they are. pdftotext also reads annotations and the values of form fields, which are
 * no text of a page. Where the folder is absent the test says so and is skipped. */
#include "corpus_folder.h"
#include "pdf_seal.h"

#include <fcntl.h>
#include <ftw.h>

#define WORDS_EACH 5
#define SHORTEST 5 /* letters of a word */
#define MOST_PAGES 60
#define NEAR 0.5      /* points */
#define MOST_MISSED 5 /* words */

typedef struct word_t {
    double box[4]; /* x0, y0, x1, y1 */
    int page;
    const char *text;
} word_t;

static seal_bench_t bench;
static int files, documents, words, missed, annotated, elsewhere;

static bool is_plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))) return false;
    return strlen(text) >= SHORTEST;
}

/* Reads the words of `pdftotext -bbox`. */
static apr_array_header_t *read_words(char *html, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, 256, sizeof(word_t));
    char *rest;
    int page = -1;
    for (char *line = apr_strtok(html, "\n", &rest); line; line = apr_strtok(NULL, "\n", &rest)) {
        word_t word = {.page = page};
        const char *text = strchr(line, '>');
        if (strstr(line, "<page ")) page++;
        if (!text
            || sscanf(line, " <word xMin=\"%lf\" yMin=\"%lf\" xMax=\"%lf\" yMax=\"%lf\"", &word.box[0], &word.box[1],
                      &word.box[2], &word.box[3])
                   != 4)
            continue;
        word.text = apr_pstrndup(pool, text + 1, strcspn(text + 1, "<"));
        APR_ARRAY_PUSH(list, word_t) = word;
    }
    return list;
}

static bool is_unique(const apr_array_header_t *list, int number)
{
    const char *text = APR_ARRAY_IDX(list, number, word_t).text;
    for (int i = 0; i < list->nelts; i++)
        if (i != number && strstr(APR_ARRAY_IDX(list, i, word_t).text, text)) return false;
    return true;
}

static bool has_annotations(const char *path, apr_pool_t *pool)
{
    int status;
    setenv("FILE", path, 1);
    seal_run(&status, &bench, pool, "qpdf --qdf --object-streams=disable \"$FILE\" - 2>/dev/null | grep -aq /Annots");
    return status == 0;
}

static void compare(const char *path, const word_t *word, const json_t *result, apr_pool_t *pool)
{
    const json_t *place = json_array_get(json_object_get(result, "places"), 0);
    double at[5];
    words++;
    if (json_integer_value(json_object_get(result, "count")) != 1) {
        if (has_annotations(path, pool)) {
            annotated++;
            return;
        }
        missed++;
        printf("# %s: \"%s\" on page %d is found %d times\n", path, word->text, word->page,
               (int)json_integer_value(json_object_get(result, "count")));
        return;
    }
    for (size_t i = 0; i < 5; i++) at[i] = json_number_value(json_array_get(place, i));
    bool same = (int)at[0] == word->page;
    for (int i = 0; i < 2; i++)
        same = same && fabs(at[1 + i] - word->box[i]) < NEAR && fabs(at[1 + i] + at[3 + i] - word->box[2 + i]) < NEAR;
    if (same) return;
    elsewhere++;
    printf("# %s: \"%s\" is on page %g at %g %g (%g × %g), not on page %d at %g %g\n", path, word->text, at[0], at[1],
           at[2], at[3], at[4], word->page, word->box[0], word->box[1]);
}

static void try_document(const char *path, int fd, int pages, apr_pool_t *pool)
{
    int status;
    setenv("FILE", path, 1);
    char *html = (char *)seal_run(&status, &bench, pool, "pdftotext -cropbox -bbox \"$FILE\" - 2>/dev/null");
    if (status) return;
    const apr_array_header_t *list = read_words(html, pool);
    apr_array_header_t *chosen = apr_array_make(pool, WORDS_EACH, sizeof(word_t));
    json_t *texts = sr_json_own(json_array(), pool), *found;
    for (int i = 0; i < list->nelts && chosen->nelts < WORDS_EACH; i++) {
        const word_t *word = &APR_ARRAY_IDX(list, i, word_t);
        if (!is_plain(word->text) || !is_unique(list, i)) continue;
        APR_ARRAY_PUSH(chosen, word_t) = *word;
        json_array_append_new(texts, json_pack("{s:s}", "text", word->text));
    }
    if (!chosen->nelts) return;
    if (sr_pdf_find(&found, bench.workers, fd, path, pages, texts, 10, pool)) abort();
    documents += found != NULL;
    if (!found) printf("# %s cannot be read\n", path);
    for (int i = 0; found && i < chosen->nelts; i++)
        compare(path, &APR_ARRAY_IDX(chosen, i, word_t), json_array_get(json_object_get(found, "texts"), (size_t)i),
                pool);
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
    if (probe.verdict == SR_PDF_ACCEPTED && probe.pages->count <= MOST_PAGES)
        try_document(path, fd, probe.pages->count, pool);
    close(fd);
    apr_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const char *folder = corpus_folder();
    if (!folder) return done();
    bench = seal_begin(8000);
    nftw(folder, each_file, 16, FTW_PHYS);
    ok(documents > 0 && words > documents, "%d files: %d words of %d documents", files, words, documents);
    is_int(elsewhere, 0, "each is where pdftotext says");
    ok(missed <= MOST_MISSED, "%d are missed, and %d are in documents with annotations", missed, annotated);
    return seal_end(&bench);
}
