/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_fuzz.c: 500 small PDFs with faults put in at random: whatever they do to a worker, each gets a verdict, its
 * first page is shown or not, and the pool stays in order. The numbers are the same in each run; $SIGREQ_FUZZ_SEED
 * gives others. */
#include "pdf_help.h"
#include "pdf_mutate.h"

#define DOCUMENTS 500 /* or $SIGREQ_FUZZ_COUNT */

static const pdf_parts_t SEEDS[] = {
    {.pages = 1, .trailer = "/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<00>/U<00>>>"},
    {.pages = 1},
    {.pages = 9, .page = "", .tree = "/MediaBox[0 0 200 100]/Rotate 90"},
    {.pages = 2,
     .catalog = "/AcroForm<</Fields[5 0 R]/SigFlags 3>>",
     .objects = {"<</FT/Sig/T(p)/Kids[6 0 R 7 0 R]>>", "<</T(k)/V 8 0 R>>", "<</T(l)/FT/Tx/V(x)>>",
                 "<</Type/Sig/ByteRange[0 1 2 3]/Contents<00>/Reference[<</TransformMethod/FieldMDP>>]>>"}},
    {.pages = 1,
     .page = "/MediaBox 4 0 R/Contents 5 0 R",
     .objects = {"[0 0 10 20]", "<</Length 10>>stream\n0123456789\nendstream",
                 "<</Type/ObjStm/N 2/First 8/Length 20>>stream\n1 0 2 2 <<>> <<>>   \nendstream"}},
    {.pages = 1,
     .page = "/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>/Annots[7 0 R]",
     .objects = {"<</Length 67>>stream\n"
                 "q 50 0 0 50 9 9 cm /I Do Q BT /F 9 Tf 9 80 Td (Seen (twice)) Tj ET\nendstream",
                 "<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Widths[1 2]/FirstChar 9>>",
                 "<</Subtype/Image/Width 2/Height 2/BitsPerComponent 8/ColorSpace/DeviceRGB/Length 12>>stream\n"
                 "abcdefghijkl\nendstream",
                 "<</Subtype/Square/Rect[9 9 90 90]/C[1 0 0]/BS<</W 4>>>>"}},
};

/* The first page, as image and as text. The error, if there is one. */
static sr_error_t *show(int *shown, sr_pdf_pool_t *workers, const pdf_t *pdf, apr_pool_t *pool)
{
    sr_pdf_image_t image;
    sr_pdf_text_t text;
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_render(&image, workers, fd, 0, 64, false, pool);
    if (!error && !image.reason) ++*shown;
    if (!error) error = sr_pdf_text(&text, workers, fd, 0, pool);
    close(fd);
    return error && error->code == SR_ENOTFOUND ? NULL : error;
}

int main(void)
{
    apr_pool_t *root, *pool;
    int unavailable = 0, unshown = 0, shown = 0, verdicts[4] = {0};
    int64_t begun = help_now(), slowest = 0;
    int count = getenv("SIGREQ_FUZZ_COUNT") ? atoi(getenv("SIGREQ_FUZZ_COUNT")) : DOCUMENTS;
    if (getenv("SIGREQ_FUZZ_SEED")) mutate_state = strtoull(getenv("SIGREQ_FUZZ_SEED"), NULL, 10) | 1;
    apr_initialize();
    apr_pool_create(&root, NULL);
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, root);
    int descriptors = -1;
    for (int i = 0; i < count; i++) {
        sr_pdf_probe_t probe;
        uint64_t seed = mutate_state;
        pdf_t pdf = pdf_document(&SEEDS[random_below(sizeof SEEDS / sizeof *SEEDS)]);
        mutate(&pdf);
        int64_t before = help_now();
        int notices = help_notices;
        sr_error_t *error = help_probe(&probe, workers, pdf.data, pdf.size, pool);
        if (help_now() - before > slowest) slowest = help_now() - before;
        if (error) {
            unavailable++;
            printf("# document %d, state %llu: %s\n", i, (unsigned long long)seed, help_say(error, &probe, pool));
        } else {
            verdicts[probe.verdict]++;
        }
        error = show(&shown, workers, &pdf, pool);
        if (error) {
            unshown++;
            printf("# document %d, state %llu: %s\n", i, (unsigned long long)seed, error->cause);
        }
        if (help_notices > notices)
            printf("# document %d, state %llu: %s\n", i, (unsigned long long)seed, help_last_notice);
        free(pdf.data);
        apr_pool_clear(pool);
        if (i == 10) descriptors = help_descriptors();
    }
    is_int(unavailable, 0, "%d documents, each with a verdict: %d accepted, %d no PDF, %d encrypted, %d refused", count,
           verdicts[SR_PDF_ACCEPTED], verdicts[SR_PDF_NOT_PDF], verdicts[SR_PDF_PASSWORD], verdicts[SR_PDF_REFUSED]);
    for (int i = 0; i < 4; i++) ok(verdicts[i] > 0, "verdict %d was given", i);
    is_int(unshown, 0, "no page is taken for a fault of ours");
    ok(shown > count / 4, "%d are shown", shown);
    printf("# the slowest took %d ms, all of them %d ms\n", (int)slowest, (int)(help_now() - begun));
    ok(help_descriptors() <= descriptors, "no descriptor was lost");
    is_int(help_children().zombies, 0, "no zombie");
    printf("# %d workers died or were killed\n", help_notices);
    apr_pool_destroy(root);
    return done();
}
