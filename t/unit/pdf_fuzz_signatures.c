/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_fuzz_signatures.c: signed PDFs with faults put in at random, asked for their signatures: whatever they do to a
 * worker each gets an answer, and none of what remains readable is called signed. */
#include "pdf_mutate.h"
#include "pdf_said.h"

#define DOCUMENTS 500 /* or $SIGREQ_FUZZ_COUNT */

/* A fault in what lies behind the signed part, or in nothing: then it may still be intact. */
static bool is_unchanged(const pdf_t *before, const pdf_t *after, const signed_t *at)
{
    return after->size >= at->end && !memcmp(before->data, after->data, at->gap)
           && !memcmp(before->data + at->gap_end, after->data + at->gap_end, at->end - at->gap_end);
}

int main(void)
{
    int conclusions[SR_PDF_UNREADABLE + 1] = {0}, unavailable = 0, wrong = 0;
    int count = getenv("SIGREQ_FUZZ_COUNT") ? atoi(getenv("SIGREQ_FUZZ_COUNT")) : DOCUMENTS;
    if (getenv("SIGREQ_FUZZ_SEED")) mutate_state = strtoull(getenv("SIGREQ_FUZZ_SEED"), NULL, 10) | 1;
    signed_t at;
    apr_pool_t *pool;
    said_begin();
    apr_pool_create(&pool, root);
    pdf_t one = signed_pdf(&at), two = copy(&one);
    sign_alter(&two, "/MediaBox[0 0 1 1]");
    for (int i = 0; i < count; i++) {
        sr_pdf_verification_t found;
        uint64_t seed = mutate_state;
        pdf_t pdf = copy(i % 2 ? &one : &two);
        mutate(&pdf);
        sr_error_t *error = verify(&found, &pdf, pool);
        if (error) unavailable++;
        else conclusions[found.conclusion]++;
        for (int k = 0; !error && k < found.count; k++)
            if (found.signatures[k].state == SR_CMS_INTACT && !is_unchanged(&one, &pdf, &at)) wrong++;
        if (error || wrong)
            printf("# document %d, state %llu: %s\n", i, (unsigned long long)seed, say(error, &found, pool));
        free(pdf.data);
        apr_pool_clear(pool);
    }
    is_int(unavailable, 0, "%d documents, each with an answer", count);
    is_int(wrong, 0, "no signature of a changed document is intact");
    for (int i = 0; i <= SR_PDF_UNREADABLE; i++)
        printf("# %s: %d\n", sr_pdf_conclusion_name((sr_pdf_conclusion_t)i), conclusions[i]);
    ok(conclusions[SR_PDF_BROKEN] > count / 4, "most can still be read, and are broken");
    ok(conclusions[SR_PDF_UNREADABLE] > 0 && conclusions[SR_PDF_EXTENDED] > 0, "some cannot, and some are untouched");
    is_int(help_children().zombies, 0, "no zombie");
    free(one.data);
    free(two.data);
    return said_end();
}
