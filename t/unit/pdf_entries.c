/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_entries.c: updates whose cross-reference entries lead to other objects than their own, or back to old ones, after
 * documents of all kinds (src/helper/main/compare/entries.cc, rules.cc). Each is a change, and none can be uploaded as
 * it is. A sound update is neither, unless an object of the document has no end (uses.cc). If nothing is called a
 * change, poppler and mupdf draw the same pages as before. With the name of a folder, signed documents with such
 * updates are written into it (t/api/entries.t). */
#include "revisions_make.h"

#define EVIL "<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]>>"
#define MAX_ROWS 3

typedef struct base_t {
    const char *name;
    pdf_t pdf;
    int page;
    bool endless;      /* an object of it has no end */
    char trailer[400]; /* what all trailers of the document contain */
} base_t;

typedef struct row_t {
    int number, type;
    size_t where;
    int last; /* generation, or index in an object stream */
} row_t;

static size_t here(const base_t *base)
{
    const unsigned char *header = memmem(base->pdf.data, base->pdf.size, "%PDF-", 5);
    return base->pdf.size - (size_t)(header - (const unsigned char *)base->pdf.data);
}

/* Ends an update with a table, or with a stream (the number 63). */
static void end_update(base_t *base, bool stream, const row_t *rows, int count, size_t previous)
{
    pdf_t *pdf = &base->pdf;
    const size_t start = here(base);
    if (!stream) {
        pdf_print(pdf, "xref\n");
        for (int i = 0; i < count; i++)
            pdf_print(pdf, "%d 1\n%010zu %05d n \n", rows[i].number, rows[i].where, rows[i].last);
        pdf_print(pdf, "trailer\n<</Size 64%s/Prev %zu>>", base->trailer, previous);
    } else {
        pdf_print(pdf, "63 0 obj\n<</Type/XRef/W[1 4 2]/Size 64%s/Prev %zu/Length %d/Index[", base->trailer, previous,
                  7 * count);
        for (int i = 0; i < count; i++) pdf_print(pdf, "%d 1 ", rows[i].number);
        pdf_print(pdf, "]>>stream\n");
        for (int i = 0; i < count; i++) {
            const size_t at = rows[i].where;
            const char row[7] = {(char)rows[i].type, (char)(at >> 24),          (char)(at >> 16),  (char)(at >> 8),
                                 (char)at,           (char)(rows[i].last >> 8), (char)rows[i].last};
            pdf_add(pdf, row, sizeof row);
        }
        pdf_print(pdf, "\nendstream\nendobj\n");
    }
    pdf_print(pdf, "\nstartxref\n%zu\n%%%%EOF\n", start);
}

/* ------------------------------------------------------------------------------------------------- documents */

static base_t base_of(const char *name, pdf_t pdf)
{
    return (base_t){.name = name, .pdf = pdf, .page = 3, .trailer = "/Root 1 0 R/Info 19 0 R/ID[<00><00>]"};
}

static base_t table_base(void)
{
    return base_of("a table", changes_contract());
}

static base_t chain_base(void)
{
    base_t base = base_of("several updates", changes_contract());
    for (int i = 0; i < 3; i++) apply(&base.pdf, &(edit_t){21, "/Subtype", "/Subtype"});
    return base;
}

static base_t certified_base(void)
{
    base_t base = base_of("a certification", changes_contract());
    const edit_t edits[] = {{12, "/FT/Sig", "/FT/Sig/V 58 0 R"},
                            {58, NULL, SIGNATURE(REFERENCE("DocMDP", "/P 2"))},
                            {1, "/Names<<", "/Perms<</DocMDP 58 0 R>>/Names<<"}};
    apply_all(&base.pdf, edits, 3);
    return base;
}

/* A document with an object whose end is missing, so that readers find it in what is appended. */
static base_t endless_base(const char *name, const char *object)
{
    base_t base = base_of(name, changes_contract());
    const edit_t edits[] = {{58, NULL, object}, {3, "/Contents[5 0 R", "/Contents[58 0 R 5 0 R"}};
    apply_all(&base.pdf, edits, 2);
    base.endless = true;
    return base;
}

static base_t hybrid_base(void)
{
    base_t base = base_of("a hybrid", changes_contract());
    pdf_t *pdf = &base.pdf;
    const size_t previous = sign_start(pdf), at = pdf->size;
    pdf_print(pdf, "58 0 obj\n<<>>\nendobj\n");
    const size_t second = pdf->size;
    pdf_print(pdf, "59 0 obj\n<</Type/XRef/Size 64/W[1 4 1]/Index[58 1]/Length 6>>stream\n");
    pdf_add(pdf, (const char[]){1, 0, 0, (char)(at >> 8), (char)at, 0}, 6);
    pdf_print(pdf, "\nendstream\nendobj\n");
    const size_t start = pdf->size;
    pdf_print(pdf, "xref\n0 0\ntrailer\n<</Size 64%s/Prev %zu/XRefStm %zu>>\nstartxref\n%zu\n%%%%EOF\n", base.trailer,
              previous, second, start);
    return base;
}

static const char *text_after(const pdf_t *pdf, const char *key)
{
    const char *found = NULL, *at = pdf->data;
    while ((at = memmem(at, pdf->size - (size_t)(at - pdf->data), key, strlen(key)))) found = at++;
    return found;
}

/* Lets qpdf write the contract. */
static base_t qpdf_base(const char *name, const char *options)
{
    base_t base = {.name = name};
    pdf_t plain = changes_contract();
    int status;
    seal_write(&bench, "plain.pdf", plain.data, plain.size);
    seal_run(&status, &bench, bench.pool, "qpdf %s plain.pdf base.pdf", options);
    const char *said = seal_run(&status, &bench, bench.pool, "qpdf --show-pages base.pdf");
    if (sscanf(said, "page 1: %d", &base.page) != 1) abort();
    const char *path = apr_psprintf(bench.pool, "%s/base.pdf", bench.folder);
    FILE *file = fopen(path, "rb");
    char block[4096];
    if (!file) abort();
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;) pdf_add(&base.pdf, block, got);
    fclose(file);
    free(plain.data);
    int root = 0, encryption = 0;
    const char *id = text_after(&base.pdf, "/ID ["), *encrypt = text_after(&base.pdf, "/Encrypt ");
    if (!id || sscanf(text_after(&base.pdf, "/Root "), "/Root %d", &root) != 1) abort();
    if (encrypt && sscanf(encrypt, "/Encrypt %d", &encryption) != 1) abort();
    const int length = (int)(strchr(id, ']') - id) + 1;
    const int written = snprintf(base.trailer, sizeof base.trailer, "/Root %d 0 R%.*s", root, length, id);
    if (encrypt) snprintf(base.trailer + written, sizeof base.trailer - (size_t)written, "/Encrypt %d 0 R", encryption);
    return base;
}

/* --------------------------------------------------------------------------------------------------- updates */

static size_t put(base_t *base, const char *text)
{
    const size_t at = here(base);
    pdf_print(&base->pdf, "%s", text);
    return at;
}

static size_t put_object(base_t *base, int number, const char *text)
{
    const size_t at = here(base);
    pdf_print(&base->pdf, "%d 0 obj\n%s\nendobj\n", number, text);
    return at;
}

static size_t put_evil(base_t *base)
{
    return put_object(base, base->page, EVIL);
}

/* An attack makes one or two updates. It ends each by update(). */
typedef struct attack_t {
    const char *name;
    bool sound, replaces; /* an honest update; entries are right, but an object is replaced */
    bool streams;         /* it needs a cross-reference stream */
    void (*make)(base_t *base, bool stream);
} attack_t;

static size_t ends[3];
static int end_count;

static void update(base_t *base, bool stream, const row_t *rows, int count)
{
    end_update(base, stream, rows, count, sign_start(&base->pdf));
    ends[end_count++] = base->pdf.size;
}

static void make_sound(base_t *base, bool stream)
{
    const size_t at = put_object(base, 60, "<</A 1>>");
    update(base, stream, (row_t[]){{60, 1, at, 0}}, 1);
}

/* Bytes in a gap, to which no entry leads. */
static void make_gap(base_t *base, bool stream)
{
    const size_t at = put_object(base, 60, "<</A 1>>");
    put(base, "Q BT /F1 24 Tf 72 700 Td (I owe 1000000 EUR) Tj ET\nendstream\nendobj\n");
    put_evil(base);
    update(base, stream, (row_t[]){{60, 1, at, 0}}, 1);
}

static void make_sound_objects(base_t *base, bool stream)
{
    const size_t at = put(base, "60 0 obj\n<</Type/ObjStm/N 2/First 10/Length 22>>stream\n61 0 62 4 <<>><</A 1>>\n"
                                "endstream\nendobj\n");
    update(base, stream, (row_t[]){{60, 1, at, 0}, {61, 2, 60, 0}, {62, 2, 60, 1}}, 3);
}

static void make_replaced(base_t *base, bool stream)
{
    const size_t at = put_evil(base);
    update(base, stream, (row_t[]){{base->page, 1, at, 0}}, 1);
}

/* P1: an unused number leads to the bytes, and a second update then uses them. */
static void make_unused(base_t *base, bool stream)
{
    const size_t at = put_evil(base);
    update(base, stream, (row_t[]){{60, 1, at, 0}}, 1);
    update(base, stream, (row_t[]){{base->page, 1, at, 0}}, 1);
}

static void make_inside(base_t *base, bool stream)
{
    const size_t head = put(base, "61 0 obj\n<</Length 73>>stream\n"), at = put_evil(base);
    pdf_print(&base->pdf, "%*s\nendstream\nendobj\n", (int)(73 - (here(base) - at)), "");
    update(base, stream, (row_t[]){{60, 1, at, 0}, {61, 1, head, 0}}, 2);
    update(base, stream, (row_t[]){{base->page, 1, at, 0}}, 1);
}

/* The wrong entry is no longer used in the revision that is signed. */
static void make_superseded(base_t *base, bool stream)
{
    const size_t at = put_evil(base);
    end_update(base, stream, (row_t[]){{60, 1, at, 0}}, 1, sign_start(&base->pdf));
    make_sound(base, stream);
}

/* P2: readers meet a wrong entry and repair the document. */
static void make_dangling(base_t *base, bool stream, size_t where)
{
    put_evil(base);
    const size_t at = put_object(base, 60, "<</N 61 0 R>>");
    update(base, stream, (row_t[]){{60, 1, at, 0}, {61, 1, where ? where : at, 0}}, 2);
}

static void make_garbage(base_t *base, bool stream)
{
    make_dangling(base, stream, put(base, "%garbage\n") + 3);
}

static void make_beyond(base_t *base, bool stream)
{
    make_dangling(base, stream, 9999999);
}

static void make_other(base_t *base, bool stream)
{
    make_dangling(base, stream, 0);
}

static void make_middle(base_t *base, bool stream)
{
    const size_t at = put_object(base, 160, "<<>>");
    update(base, stream, (row_t[]){{60, 1, at + 1, 0}}, 1);
}

static void make_generation(base_t *base, bool stream)
{
    const size_t at = put_object(base, 60, "<<>>");
    update(base, stream, (row_t[]){{60, 1, at, 1}}, 1);
}

/* A reader that looks at 18 digits alone sees the number 0. */
static void make_long(base_t *base, bool stream)
{
    const size_t at = here(base);
    pdf_print(&base->pdf, "%019d 0 obj\n" EVIL "\nendobj\n", base->page);
    update(base, stream, (row_t[]){{0, 1, at, 0}}, 1);
}

static void make_malformed(base_t *base, bool stream)
{
    const size_t at = put_object(base, 60, "<</A (x>>");
    put_evil(base);
    update(base, stream, (row_t[]){{60, 1, at, 0}}, 1);
}

static void make_two_keys(base_t *base, bool stream)
{
    const size_t at = put_object(base, 60, "<</A 1/A 2>>");
    update(base, stream, (row_t[]){{60, 1, at, 0}}, 1);
}

/* A new entry that leads to bytes that were signed already. */
static void make_stale(base_t *base, bool stream)
{
    const size_t old = put_object(base, 60, "<</A 1>>"), at = put_object(base, 60, "<</A 2>>");
    update(base, stream, (row_t[]){{60, 1, at, 0}}, 1);
    update(base, stream, (row_t[]){{60, 1, old, 0}}, 1);
}

static void make_stale_new(base_t *base, bool stream)
{
    const size_t old = put_object(base, 60, "<</A 1>>");
    put_object(base, 61, "<<>>");
    update(base, stream, (row_t[]){{62, 1, put_object(base, 62, "<<>>"), 0}}, 1);
    update(base, stream, (row_t[]){{60, 1, old, 0}}, 1);
}

static void make_objects(base_t *base, const char *numbers, const row_t *rows, int count)
{
    row_t all[MAX_ROWS] = {{60, 1, here(base), 0}};
    pdf_print(&base->pdf,
              "60 0 obj\n<</Type/ObjStm/N 2/First 12/Length 24>>stream\n%-12s<<>><</A 1>>\nendstream\nendobj\n",
              numbers);
    for (int i = 0; i < count; i++) all[i + 1] = rows[i];
    update(base, true, all, count + 1);
}

static void make_index(base_t *base, bool stream)
{
    (void)stream;
    make_objects(base, "61 0 62 4", (row_t[]){{61, 2, 60, 1}}, 1);
}

static void make_absent(base_t *base, bool stream)
{
    (void)stream;
    make_objects(base, "61 0 62 4", (row_t[]){{59, 2, 60, 0}}, 1);
}

static void make_twice(base_t *base, bool stream)
{
    (void)stream;
    make_objects(base, "61 0 61 4", (row_t[]){{61, 2, 60, 0}}, 1);
}

static void make_no_stream(base_t *base, bool stream)
{
    (void)stream;
    const size_t at = put_object(base, 60, "<<>>");
    update(base, true, (row_t[]){{60, 1, at, 0}, {61, 2, 60, 0}}, 2);
}

static const attack_t ATTACKS[] = {
    {"a new object", true, false, false, make_sound},
    {"content and a page in a gap", true, false, false, make_gap},
    {"new objects in a stream", true, false, true, make_sound_objects},
    {"another page", false, true, false, make_replaced},
    {"an unused entry that leads to a page", false, false, false, make_unused},
    {"one that leads into a stream", false, false, false, make_inside},
    {"a wrong entry that is superseded", false, false, false, make_superseded},
    {"a reference to garbage", false, false, false, make_garbage},
    {"a reference beyond the end", false, false, false, make_beyond},
    {"a reference to another object", false, false, false, make_other},
    {"an entry that leads into a number", false, false, false, make_middle},
    {"another generation", false, false, false, make_generation},
    {"a number of nineteen digits", false, false, false, make_long},
    {"an object that readers repair", false, true, false, make_malformed},
    {"a key that occurs twice", false, true, false, make_two_keys},
    {"an old object", false, true, false, make_stale},
    {"an object that was hidden", false, true, false, make_stale_new},
    {"another index in an object stream", false, false, true, make_index},
    {"a number that an object stream has not", false, false, true, make_absent},
    {"a number that an object stream has twice", false, false, true, make_twice},
    {"an object stream that is a dictionary", false, false, true, make_no_stream},
};
static const char *told(const pdf_t *pdf, size_t end)
{
    sr_pdfd_revision_t revisions[3] = {{.end = end}};
    for (int i = 0; i < end_count; i++) revisions[i + 1].end = ends[i];
    sr_pdfd_changes_find(revisions, 1 + end_count, (const unsigned char *)pdf->data, pdf->size, 60);
    const char *text = revisions[0].changes ? joined(revisions[0].changes) : UNKNOWN;
    for (int i = 0; i <= end_count; i++) json_decref(revisions[i].changes);
    for (int i = 0; i <= end_count; i++) json_decref(revisions[i].filled);
    for (int i = 0; i <= end_count; i++) json_decref(revisions[i].widgets);
    return text;
}

static void is_drawn_alike(const pdf_t *pdf, size_t end, const char *name)
{
    seal_write(&bench, "before.pdf", pdf->data, end);
    seal_write(&bench, "after.pdf", pdf->data, pdf->size);
    for (int i = 0; i < 2; i++) {
        const char *by = i ? "mutool draw -q -o -" : "pdftoppm";
        int status;
        seal_run(&status, &bench, bench.pool,
                 "bash -c 'set -o pipefail; for i in before after; do %s -r 30 $i.pdf | md5sum >$i.md5 || exit $?; "
                 "done; cmp before.md5 after.md5'",
                 by);
        if (status == 127) skip("mutool is not installed (mupdf-tools)");
        else ok(!status, "%s: %s draws the same", name, by);
    }
}

static base_t attacked(const base_t *base, const attack_t *attack, bool stream)
{
    base_t made = *base;
    made.pdf.data = NULL;
    made.pdf.size = made.pdf.room = 0;
    pdf_add(&made.pdf, base->pdf.data, base->pdf.size);
    end_count = 0;
    attack->make(&made, stream);
    return made;
}

static void try_attack(const base_t *base, const attack_t *attack, bool stream)
{
    if (base->endless && !attack->sound) return;                      /* others test these updates */
    if (attack->streams && strstr(base->trailer, "/Encrypt")) return; /* the object stream would have to be encrypted */
    base_t made = attacked(base, attack, stream);
    const char *name = apr_psprintf(bench.pool, "%s: %s (%s)", base->name, attack->name, stream ? "stream" : "table");
    const char *text = told(&made.pdf, base->pdf.size);
    const int right = sr_pdfd_entries_are_right((const unsigned char *)made.pdf.data, made.pdf.size);
    if (attack->sound && !base->endless) is_str(text, NOTHING, "%s: no change", name);
    else ok(*text && strcmp(text, UNKNOWN) != 0, "%s: a change (%s)", name, text);
    if (!*text) is_drawn_alike(&made.pdf, base->pdf.size, name);
    is_int(right, attack->sound || attack->replaces, "%s: %s", name, right ? "sound" : "damaged");
    free(made.pdf.data);
}

/* Each attack on documents that Ann has signed. */
static void write_signed(const char *folder)
{
    base_t bases[] = {table_base(), qpdf_base("object streams", "--object-streams=generate")};
    for (int i = 0; i < 2; i++) {
        changes_sign(&bases[i].pdf, "ann", 1, bench.pool);
        for (size_t k = 0; k < sizeof ATTACKS / sizeof *ATTACKS; k++) {
            const attack_t *attack = &ATTACKS[k];
            base_t made = attacked(&bases[i], attack, i || attack->streams);
            const bool harmless = attack->replaces && end_count > 1; /* unless somebody signs between the two updates */
            const char *kind = attack->sound ? "sound" : attack->replaces ? "replaces" : "wrong";
            const char *path = apr_psprintf(bench.pool, "%s/%s-%d-%d.pdf", folder, kind, i, (int)k);
            FILE *file = harmless ? NULL : fopen(path, "wb");
            ok(harmless || (file && fwrite(made.pdf.data, 1, made.pdf.size, file) == made.pdf.size && !fclose(file)),
               "%s", path);
            free(made.pdf.data);
        }
        free(bases[i].pdf.data);
    }
}

int main(int argc, char **argv)
{
    bench = seal_begin(8000);
    if (argc > 1) {
        write_signed(argv[1]);
        return seal_end(&bench);
    }
    base_t bases[] = {table_base(),
                      chain_base(),
                      certified_base(),
                      hybrid_base(),
                      endless_base("an endless string", "<</A (x>>"),
                      endless_base("an endless stream", "<</Length 9>>stream\nq"),
                      endless_base("a long stream", "<</Length 99999>>stream\nq Q\nendstream"),
                      qpdf_base("object streams", "--object-streams=generate"),
                      qpdf_base("encrypted", "--encrypt '' owner 256 --"),
                      qpdf_base("encrypted object streams", "--object-streams=generate --encrypt '' owner 256 --")};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        for (size_t k = 0; k < sizeof ATTACKS / sizeof *ATTACKS; k++)
            for (int stream = ATTACKS[k].streams; stream < 2; stream++) try_attack(&bases[i], &ATTACKS[k], stream);
        free(bases[i].pdf.data);
    }
    return seal_end(&bench);
}
