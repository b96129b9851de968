/* SPDX-License-Identifier: Apache-2.0 */
/* changes_make.h: a contract with a form, and updates of it written by hand, for the tests of what changes between
 * signatures. The signatures are made by our own engine. */
#ifndef SR_TEST_CHANGES_MAKE_H
#define SR_TEST_CHANGES_MAKE_H

#include "pdf_mutate.h"
#include "pdf_seal.h"
#include "pdf_sign.h"

#define CHANGES_NEW 60 /* a number that nothing uses */

static seal_bench_t bench;

/* Object 5 is what page 1 says, 6 is shared; 10 to 14 are fields, 8 the annotations of page 1, 15 the appearance of a
 * field, 16 what both pages draw. */
static inline pdf_t changes_contract(void)
{
    static const char *const objects[] = {
        "<</Type/Catalog/Pages 2 0 R/AcroForm 9 0 R/Metadata 18 0 R/Names<</Dests 20 0 R>>>>",
        "<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 612 792]"
        "/Resources<</Font<</F1 7 0 R/F2 17 0 R>>/XObject<</X1 16 0 R>>>>>>",
        "<</Type/Page/Parent 2 0 R/Contents[5 0 R 6 0 R]/Annots 8 0 R/Rotate 0>>",
        "<</Type/Page/Parent 2 0 R/Contents 6 0 R/Annots[13 0 R 21 0 R]/CropBox[0 0 612.00 792]>>",
        "<</Length 43>>stream\nBT /F1 24 Tf 72 700 Td (I owe 1 EUR) Tj ET \nendstream",
        "<</Length 40>>stream\nBT /F1 9 Tf 72 600 Td (and) Tj ET /X1 Do\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        "[10 0 R 11 0 R 12 0 R 14 0 R]",
        "<</Fields[10 0 R 11 0 R 12 0 R 13 0 R 14 0 R]/DR<</Font<</Helv 7 0 R>>>>/DA(/Helv 0 Tf 0 g)/SigFlags 0>>",
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(amount)/V(1)/DA(/Helv 9 Tf)/F 4/Rect[9 9 99 29]/P 3 0 R/AP<</N 15 0 "
        "R>>>>",
        "<</Type/Annot/Subtype/Widget/FT/Btn/T(check)/V/Off/AS/Off/F 4/Rect[9 50 29 70]/AP<</N 22 0 R>>>>",
        "<</Type/Annot/Subtype/Widget/FT/Sig/T(empty)/F 132/Rect[300 100 500 150]/P 3 0 R>>",
        "<</Type/Annot/Subtype/Widget/FT/Btn/Ff 65536/T(push)/F 4/Rect[9 90 29 110]/P 4 0 R/AP<</N 15 0 R>>>>",
        "<</Type/Annot/Subtype/Widget/FT/Tx/T(note)/F 2/V(hidden)/DA(/Helv 9 Tf)/Rect[9 130 99 150]/AP<</N 15 0 R>>>>",
        "<</Type/XObject/Subtype/Form/BBox[0 0 90 20]/Length 27>>stream\nBT /Helv 9 Tf (1) Tj ET    \nendstream",
        "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 21>>stream\n1 0 0 rg 0 0 9 9 re f\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Courier>>",
        "<</Type/Metadata/Subtype/XML/Length 48>>stream\n<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>\nendstream",
        "<</Title(contract)>>",
        "<</Names[(a)<</X 1>>]>>",
        "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://example.org)>>>>",
        "<</Yes 15 0 R>>",
    };
    pdf_t pdf;
    pdf_begin(&pdf);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) pdf_object(&pdf, objects[i]);
    pdf_end(&pdf, "/Info 19 0 R/ID[<00><00>]");
    return pdf;
}

/* Prepares and fills: a signature of `signer` in `places` places. */
static inline void changes_sign(pdf_t *pdf, const char *signer, int places, apr_pool_t *pool)
{
    sr_pdf_field_t fields[8];
    double low = 160 + 100 * (signer[0] - 'a');
    for (int i = 0; i < places; i++) fields[i] = seal_field(signer, i % 2, 300, low + 20 * i, 400, low + 18 + 20 * i);
    const char *reason = seal_prepare(&bench, pdf, fields, places, pool);
    sr_pdf_signature_t signature = {.signer = signer, .name = "Ann Lee", .time = apr_time_now()};
    signature.ink = seal_ink(SEAL_INK, pool);
    if (!reason) reason = seal_fill(&bench, pdf, &signature, pool);
    if (reason) fprintf(stderr, "# %s: %s\n", signer, reason);
    if (reason) abort();
}

/* The newest text of an object, as it stands in the file. Free it. */
static inline char *changes_text(const pdf_t *pdf, int number)
{
    char head[32];
    const char *found = NULL;
    size_t length = (size_t)snprintf(head, sizeof head, "\n%d 0 obj\n", number);
    for (const char *at = pdf->data; (at = memmem(at, pdf->size - (size_t)(at - pdf->data), head, length)); at++)
        found = at + length;
    if (!found) abort();
    const char *end = memmem(found, pdf->size - (size_t)(found - pdf->data), "\nendobj", 7);
    return strndup(found, (size_t)(end - found));
}

/* An update in which an object has `with` where it had `what`, and perhaps one more object. */
static inline void changes_alter(pdf_t *pdf, int number, const char *what, const char *with, const char *more)
{
    size_t previous = sign_start(pdf);
    int numbers[2] = {number, CHANGES_NEW}, count = 0;
    if (number) {
        char *text = changes_text(pdf, number), *at = *what ? strstr(text, what) : text;
        if (!at) printf("# object %d: %s\n", number, text);
        if (!at) abort();
        sign_object(pdf, number);
        if (!*what) pdf_print(pdf, "%s\nendobj\n", with);
        else pdf_print(pdf, "%.*s%s%s\nendobj\n", (int)(at - text), text, with, at + strlen(what));
        free(text);
        count++;
    }
    if (more) {
        sign_object(pdf, CHANGES_NEW);
        pdf_print(pdf, "%s\nendobj\n", more);
        numbers[count++] = CHANGES_NEW;
    }
    if (pdf->count < CHANGES_NEW) pdf->count = CHANGES_NEW;
    sign_update(pdf, numbers, count, previous);
}

/* What is said: "signed", or "changed: the first change". */
static inline const char *changes_said(const pdf_t *pdf, apr_pool_t *pool)
{
    static const sr_cms_context_t context;
    sr_pdf_verification_t found;
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_verify(&found, bench.workers, fd, (apr_off_t)pdf->size, &context, pool);
    close(fd);
    if (error) return error->message;
    const char *name = sr_pdf_conclusion_name(found.conclusion);
    const char *change = found.count && found.signatures[0].changes ? found.signatures[0].changes[0] : NULL;
    const char *field = found.count && found.signatures[0].filled ? found.signatures[0].filled[0] : NULL;
    for (int i = 0; i < found.count; i++)
        if (found.signatures[i].state != SR_CMS_INTACT) name = apr_pstrcat(pool, name, ", not intact", NULL);
    if (field && !change) return apr_pstrcat(pool, name, ", filled: ", field, NULL);
    return change ? apr_pstrcat(pool, name, ": ", change, NULL) : name;
}

#endif
