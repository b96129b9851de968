/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_others.h: what the programs of others say of a signed document: qpdf, pdfsig, mutool, and pyHanko if it is
 * there. Its signatures are those of `bench`. */
#ifndef SR_TEST_PDF_OTHERS_H
#define SR_TEST_PDF_OTHERS_H

#include "changes_make.h"

static inline void test_judge(const char *file, int fields)
{
    int status;
    const char *said = seal_pyhanko(&status, &bench, file, bench.pool);
    if (!said) return;
    is_int(status, 0, "%s: pyHanko trusts every signature", file);
    is_int(seal_count(said, "\"bottom_line\": true"), fields, "%s: … in all fields", file);
    if (status) printf("# %s\n", said);
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
    test_judge(file, fields);
}

#endif
