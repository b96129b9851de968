/* SPDX-License-Identifier: Apache-2.0 */
/* revisions_make.h: two revisions of a document, of which a signature covers each, and what is told of the changes
 * between them (src/helper/main/compare/changes.cc, rules.cc, uses.cc). The revisions are compared in the process of
 * the test, and no signature is looked at: so documents may have what no signer of ours writes. pdf_changes.c has
 * signatures. */
#ifndef SR_TEST_REVISIONS_MAKE_H
#define SR_TEST_REVISIONS_MAKE_H

#include "changes_make.h"
#include "helper/main/compare/changes.h"

#define NOTHING ""
#define UNKNOWN "unknown"

/* `what` in an object becomes `with`; without `what` the object becomes `with`, and may be a new one. "@" in a new one
 * is the length of the revision less 2, in ten digits. */
typedef struct edit_t {
    int number;
    const char *what, *with;
} edit_t;

typedef struct case_t {
    const char *name;
    edit_t before[4], after[3];
    const char *says; /* the changes, and the fields that were filled in */
} case_t;

#define SIGNATURE(more) "<</Type/Sig/ByteRange[0 1 2 @]/Contents<00>" more ">>"
#define SIGNED(more)                                                                                                   \
    {                                                                                                                  \
        {12, "/FT/Sig", "/FT/Sig/V 60 0 R"},                                                                           \
        {                                                                                                              \
            60, NULL, SIGNATURE(more)                                                                                  \
        }                                                                                                              \
    }
#define REFERENCE(method, parameters) "/Reference[<</TransformMethod/" method "/TransformParams<<" parameters ">>>>]"
#define FILL                                                                                                           \
    {                                                                                                                  \
        10, "/V(1)", "/V(2)"                                                                                           \
    }
#define FILLED "; filled: amount"
#define FIELD "the form field \"amount\""
#define NEW_FIELD(kind)                                                                                                \
    {                                                                                                                  \
        {9, "10 0 R", "61 0 R 10 0 R"},                                                                                \
        {                                                                                                              \
            61, NULL, "<</Type/Annot/Subtype/Widget/FT/Sig/T(new)" kind ">>"                                           \
        }                                                                                                              \
    }
#define SEEN "/Rect[0 0 9 9]"
#define UNSEEN "/Rect[0 0 0 0]"
#define TIMESTAMP "/V<</Type/DocTimeStamp/ByteRange[0 1 2 3]/Contents<00>>>"
#define NAMED(name) "the new form field \"" name "\""

/* An update of one object. */
static inline void apply(pdf_t *pdf, const edit_t *edit)
{
    const size_t previous = sign_start(pdf);
    char *text = edit->what ? changes_text(pdf, edit->number) : NULL, *at = text ? strstr(text, edit->what) : NULL;
    if (text && !at) printf("# object %d: %s\n", edit->number, text);
    if (text && !at) abort();
    sign_object(pdf, edit->number);
    if (text) pdf_print(pdf, "%.*s%s%s", (int)(at - text), text, edit->with, at + strlen(edit->what));
    else pdf_print(pdf, "%s", edit->with);
    pdf_print(pdf, "\nendobj\n");
    free(text);
    sign_update(pdf, &edit->number, 1, previous);
}

/* Puts the length of the revision to where "@" stands. */
static inline void apply_all(pdf_t *pdf, const edit_t *edits, size_t count)
{
    const size_t from = pdf->size;
    char digits[11];
    pdf_t edited = {0};
    for (size_t i = 0; i < count && edits[i].number; i++) {
        edit_t edit = edits[i];
        char *mark = strchr(edit.with, '@');
        edited.size = 0;
        if (mark) pdf_print(&edited, "%.*s0000000@00%s", (int)(mark - edit.with), edit.with, mark + 1);
        if (mark) edit.with = edited.data;
        apply(pdf, &edit);
    }
    free(edited.data);
    char *mark = memmem(pdf->data + from, pdf->size - from, "0000000@00", 10);
    snprintf(digits, sizeof digits, "%010zu", pdf->size - 2);
    if (mark) memcpy(mark, digits, 10);
}

static inline const char *joined(const json_t *texts)
{
    const char *all = "";
    size_t i;
    const json_t *text;
    json_array_foreach (texts, i, text)
        all = apr_pstrcat(bench.pool, all, *all ? "; " : "", json_string_value(text), NULL);
    return all;
}

/* The changes between two revisions that are signed; and after the last one: "validation", if it is that alone. */
static inline const char *said(const pdf_t *pdf, size_t end, bool last)
{
    sr_pdfd_revision_t revisions[2] = {{.end = end}, {.end = pdf->size}};
    sr_pdfd_changes_find(revisions, last ? 1 : 2, (const unsigned char *)pdf->data, pdf->size, 60);
    const char *text = revisions[0].changes ? joined(revisions[0].changes) : UNKNOWN;
    const char *filled = joined(revisions[0].filled);
    if (*filled) text = apr_pstrcat(bench.pool, text, "; filled: ", filled, NULL);
    if (revisions[0].validation) text = "validation";
    for (int i = 0; i < 2; i++) json_decref(revisions[i].changes);
    for (int i = 0; i < 2; i++) json_decref(revisions[i].filled);
    for (int i = 0; i < 2; i++) json_decref(revisions[i].widgets);
    return text;
}

static inline void test_cases(const case_t *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pdf_t pdf = changes_contract();
        apply_all(&pdf, cases[i].before, 4);
        const size_t end = pdf.size;
        apply_all(&pdf, cases[i].after, 3);
        const bool last = !strcmp(cases[i].says, "validation");
        is_str(said(&pdf, end, last), cases[i].says, "%s", cases[i].name);
        free(pdf.data);
    }
}

#endif
