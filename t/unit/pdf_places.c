/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_places.c: signers who sign in several places, in a document that nobody has signed and in one that others have
 * signed before. What is added must be signature fields alone, each with one widget, and the fields of one signer have
 * one signature. Other programs are asked whether an earlier signature is as good as before: qpdf, pdfsig, mutool,
 * openssl, and pyHanko where it is at hand. */
#include "changes_make.h"
#include "pdf_others.h"

/* Whether all new fields behind `from` are signature fields with one widget each. */
static void test_structure(const pdf_t *pdf, size_t from, const char *name)
{
    pdf_t words = {0};
    for (size_t i = from; i < pdf->size; i++) pdf_add(&words, pdf->data[i] ? pdf->data + i : " ", 1);
    const char *text = words.data;
    int fields = seal_count(text, "/FT/") + seal_count(text, "/FT /");
    ok(fields > 0, "%s: fields were added", name);
    is_int(seal_count(text, "/FT/Sig") + seal_count(text, "/FT /Sig"), fields, "%s: all are signature fields", name);
    is_int(seal_count(text, "/Kids"), 0, "%s: each has one widget", name);
    free(words.data);
}

int main(void)
{
    bench = seal_begin(8000);
    pdf_t fresh = changes_contract();
    size_t upload = fresh.size;
    changes_sign(&fresh, "ann", 3, bench.pool);
    is_str(changes_said(&fresh, bench.pool), "signed", "three places in a document that nobody has signed");
    test_structure(&fresh, upload, "fresh");
    test_others(&fresh, "fresh.pdf", 3, 3);

    size_t signed_size = fresh.size;
    changes_sign(&fresh, "bob", 2, bench.pool);
    changes_sign(&fresh, "carol", 1, bench.pool);
    is_str(changes_said(&fresh, bench.pool), "signed", "two places in a document that was signed before");
    test_structure(&fresh, signed_size, "again");
    test_others(&fresh, "again.pdf", 6, 1);
    free(fresh.data);
    test_judged_later();
    return seal_end(&bench);
}
