/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_others.h: what the programs of others say of a signed document: qpdf, pdfsig, mutool, and pyHanko if it is
 * there. Its signatures are those of `bench`. pyHanko is asked about all documents at the end, because its start takes
 * longer than it takes for ten of them. */
#ifndef SR_TEST_PDF_OTHERS_H
#define SR_TEST_PDF_OTHERS_H

#include "changes_make.h"

static struct {
    const char *name;
    int fields;
    bool archived; /* it has timestamps, which pyHanko does not trust */
} others_judged[64];
static int others_count;

static inline void others_judge_later(const pdf_t *pdf, const char *name, int fields, bool archived)
{
    if (others_count == sizeof others_judged / sizeof *others_judged) abort();
    seal_write(&bench, apr_psprintf(bench.pool, "judged-%02d.pdf", others_count), pdf->data, pdf->size);
    others_judged[others_count].name = apr_pstrdup(bench.pool, name);
    others_judged[others_count].fields = fields;
    others_judged[others_count++].archived = archived;
}

static inline void test_judged_later(void)
{
    int status;
    const char *said = seal_pyhanko(&status, &bench, "judged-*.pdf", bench.pool);
    if (!said) return;
    for (int i = 0; i < others_count; i++, said += strspn(said, "\n")) {
        const char *line = apr_pstrndup(bench.pool, said, strcspn(said, "\n")), *name = others_judged[i].name;
        said += strlen(line);
        const bool read = strstr(line, apr_psprintf(bench.pool, "\"file\": \"judged-%02d.pdf\"", i)) != NULL;
        ok(read && seal_count(line, "\"bottom_line\": true") == others_judged[i].fields,
           "%s: pyHanko trusts the signatures in all fields", name);
        ok(read && !strstr(line, "suspicious")
               && (others_judged[i].archived || !(strstr(line, "\"error\"") || strstr(line, ": false"))),
           "%s: … and finds no change that is not explained: %s", name, line);
    }
}

/* `last`: how many fields show the last signature. */
static inline void test_programs(const pdf_t *pdf, const char *file, int fields, int last)
{
    int status;
    const char *said;
    seal_write(&bench, file, pdf->data, pdf->size);
    said = seal_run(&status, &bench, bench.pool, "qpdf --check %s", file);
    is_int(status, 0, "%s: qpdf has nothing to say%s", file, status ? said : "");
    said = seal_run(&status, &bench, bench.pool, "pdfsig -nocert %s", file);
    is_int(seal_count(said, "Signature is Valid"), fields, "%s: pdfsig finds a valid signature in each field", file);
    said = seal_run(&status, &bench, bench.pool, "mutool sign -v %s", file);
    int unchanged = seal_count(said, "The document is unchanged since signing");
    int intact = unchanged + seal_count(said, "The signature is valid but there have been edits since signing");
    if (status == 127) skip("mutool is not installed (mupdf-tools)");
    else ok(intact == fields && unchanged == last, "%s: mutool says the same", file);
}

static inline void test_others(const pdf_t *pdf, const char *file, int fields, int last)
{
    test_programs(pdf, file, fields, last);
    others_judge_later(pdf, file, fields, false);
}

#endif
