/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_compose.c: documents made of texts, by a real helper: what is in them, how many pages they take, that they are
 * well-formed and the same each time, and that they can be sealed like any other. */
#include "pdf_seal.h"

#define HASH "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define ARABIC "\xd8\xa3\xd9\x85\xd9\x84 \xd8\xa7\xd9\x84\xd8\xb5\xd8\xa7\xd9\x84\xd8\xad"
#define CHINESE "\xe6\x9d\x8e\xe5\xb0\x8f\xe9\xbe\x99\xe7\xad\xbe\xe5\x90\x8d"
#define HINDI "\xe0\xa4\xa8\xe0\xa5\x80\xe0\xa4\xa4\xe0\xa4\xbf"
#define HEBREW "\xd7\x93\xd7\x95\xd7\x93"
#define THAI "\xe0\xb8\xaa\xe0\xb8\xa1\xe0\xb8\x8a\xe0\xb8\xb2\xe0\xb8\xa2"
#define EMOJI "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"
#define PRIVATE "\xee\x80\x80\xf4\x8f\xbf\xbd" /* no font's */

static seal_bench_t bench;

/* ------------------------------------------------------------------------------------------------- requests */

static json_t *text_of(const char *format, apr_pool_t *pool)
{
    json_t *value;
    if (sr_json_parse(&value, format, strlen(format), pool)) abort();
    return value;
}

static json_t *request(const char *members, apr_pool_t *pool)
{
    return text_of(apr_psprintf(pool, "{\"title\":\"A title\",\"time\":\"2026-11-20T18:09:23.5Z\"%s}", members), pool);
}

/* A document of so many items, each with this value. */
static json_t *list(int count, const char *name, const char *value, apr_pool_t *pool)
{
    json_t *what = request("", pool), *section = json_object(), *sections = json_array(), *items = json_array();
    for (int i = 0; i < count; i++) {
        json_t *item = json_object(), *rows = json_array(), *row = json_array();
        json_array_append_new(row, json_string("Label"));
        json_array_append_new(row, json_string(value));
        json_array_append_new(rows, row);
        json_object_set_new(item, "heading", json_string(apr_psprintf(pool, "%s %d", name, i + 1)));
        json_object_set_new(item, "rows", rows);
        json_array_append_new(items, item);
    }
    json_object_set_new(section, "heading", json_string("Signers"));
    json_object_set_new(section, "items", items);
    json_array_append_new(sections, section);
    json_object_set_new(what, "sections", sections);
    return what;
}

/* The document's bytes, in a file of that name, too. */
static pdf_t compose(sr_pdf_composed_t *composed, const json_t *what, const char *name, apr_pool_t *pool)
{
    pdf_t pdf = {0};
    sr_error_t *error = sr_pdf_compose(composed, bench.workers, what, pool);
    if (!ok(!error && !composed->reason, "%s is composed", name)) {
        printf("# %s\n", error ? error->cause : composed->reason);
        return pdf;
    }
    size_t size = (size_t)composed->document->size;
    char *bytes = apr_palloc(pool, size);
    if (pread(composed->document->descriptor, bytes, size, 0) != (ssize_t)size) abort();
    pdf_add(&pdf, bytes, size);
    seal_write(&bench, name, pdf.data, pdf.size);
    return pdf;
}

static void is_clean(const char *name, apr_pool_t *pool)
{
    int status;
    const char *said = seal_run(&status, &bench, pool, "qpdf --check '%s'", name);
    if (!ok(status == 0, "%s: qpdf finds nothing wrong", name)) printf("# %s\n", said);
}

static const char *text_in(const char *name, apr_pool_t *pool)
{
    int status;
    const char *text = seal_run(&status, &bench, pool, "pdftotext -q '%s' -", name);
    return status ? "" : text;
}

static bool has(const char *text, const char *words, apr_pool_t *pool)
{
    return strstr(seal_squeeze(text, pool), seal_squeeze(words, pool));
}

/* ----------------------------------------------------------------------------------------------------- tests */

#define RICH                                                                                                           \
    ",\"subtitle\":\"Under it\",\"banner\":\"TEST \xe2\x80\x94 not binding\",\"seal\":\"Sealed by us\","               \
    "\"footer\":\"At the foot\",\"language\":\"en\",\"sections\":[{\"heading\":\"One\",\"items\":[{\"heading\":"       \
    "\"First item\",\"rows\":[[\"Hash\",\"" HASH "\",\"code\"],[\"Arabic\",\"" ARABIC "\"],[\"Chinese\",\"" CHINESE    \
    "\"],[\"Hindi\",\"" HINDI "\"],[\"Hebrew\",\"" HEBREW "\"],[\"Left\",\"short\",\"Right\",\"as short\"]]}]},"       \
    "{\"heading\":\"Two\",\"items\":[{\"rows\":[[\"" EMOJI "\",\"" THAI " " EMOJI "\"],[\"" PRIVATE "\",\"x " PRIVATE  \
    "\"],[\"Mixed\",\"a " ARABIC " b\"]]}]}]"

static void test_texts(void)
{
    static const char *const words[] = {"A title",      "Under it",    "TEST \xe2\x80\x94 not binding",
                                        "Sealed by us", "At the foot", "One",
                                        "First item",   "Hash",        HASH,
                                        ARABIC,         CHINESE,       HINDI,
                                        HEBREW,         "Left",        "short",
                                        "Right",        "as short",    "Two",
                                        "Mixed",        THAI};
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    int status;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = compose(&composed, request(RICH, pool), "rich.pdf", pool);
    is_int(composed.pages, 1, "on one page");
    const char *text = text_in("rich.pdf", pool);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) ok(has(text, words[i], pool), "it says %s", words[i]);
    ok(strstr(text, HASH), "the hash in one piece");
    ok(!strstr(text, "1 / 1"), "a single page has no number");
    is_clean("rich.pdf", pool);
    const char *about = seal_run(&status, &bench, pool, "pdfinfo -isodates rich.pdf");
    ok(strstr(about, "A title\n"), "its title is said in its properties");
    ok(strstr(about, "CreationDate:    2026-11-20T18:09:23Z\n"), "and when it was made");
    ok(strstr(about, "(A4)"), "it is A4");
    const char *fonts = seal_run(&status, &bench, pool, "pdffonts rich.pdf");
    is_int(seal_count(fonts, " no "), 0, "every font is in it, and only in part");
    free(pdf.data);
    apr_pool_destroy(pool);
}

#define STRUCTURED                                                                                                     \
    ",\"second\":\"Ein Titel\",\"banner\":\"TEST\",\"footer\":\"At the foot\",\"language\":\"de-AT\",\"seal\":\"By "   \
    "us\",\"sealNotes\":[\"A note\"],"                                                                                 \
    "\"sealRows\":[[\"Print\",\"00ff\"]],\"qr\":\"https://x.org\",\"qrText\":\"Look at "                               \
    "x.org\",\"sections\":[{"                                                                                          \
    "\"heading\":\"One\",\"items\":[{\"heading\":\"First "                                                             \
    "item\",\"rows\":[[\"A\",\"b\",\"C\",\"d\"],[\"E\",\"f\"]]},{\"rows\":[{\"cells\":[\"\",\"Ann\",\"Bob\"],"         \
    "\"head\":true},{\"cells\":[\"\",{\"drawing\":{},\"alternative\":\"Signature: "                                    \
    "Ann\"},null]},{\"cells\":[\"G\",\"h\",\"i\"]}]}]},{\"heading\":\"Two\",\"items\":[{\"rows\":"                     \
    "[{\"event\":[\"Monday\",\"Signed\",\"Ann\"]},{\"event\":[\"Tuesday\",\"\",\"Bob\"]}]}]}]"

#define PAIR(label, value) "LI(block)Lbl(block)\"" label "\"LBody(block)\"" value "\""
#define STRUCTURE                                                                                                      \
    "DocumentP(block)\"TEST\"H1(block)\"Atitle\"P(block)\"EinTitel\""                                                  \
    "SectH2(block)\"One\"SectH3(block)\"Firstitem\"L(block)" PAIR("A", "b") PAIR("C", "d")                             \
        PAIR("E", "f") "SectTable(block)"                                                                              \
                       "TRTDTH:/Scope/Column\"Ann\"TH:/Scope/Column\"Bob\"TRTH:/Scope/RowTDFigure\"\"TDTRTH:/Scope/"   \
                       "Row\"G\"TD\"h\"TD\"i\""                                                                        \
                       "SectH2(block)\"Two\"SectTable(block)TRTH:/Scope/Row\"Monday\"TD\"Signed\"TD\"Ann\"TRTH:/"      \
                       "Scope/Row\"Tuesday\""                                                                          \
                       "TDTD\"Bob\"P(block)\"Anote\"P(block)\"Byus\"P(block)\"Print\"P(block)\"00ff\"Figure\"\"P("     \
                       "block)\"Atthefoot\""

/* Who cannot see the pages is read all of it, in this order, by what it is. */
static void test_structure(void)
{
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    int status;
    apr_pool_create(&pool, bench.pool);
    free(compose(&composed, request(STRUCTURED, pool), "structured.pdf", pool).data);
    const char *structure = seal_run(&status, &bench, pool, "pdfinfo -struct-text structured.pdf");
    is_str(seal_squeeze(structure, pool), STRUCTURE, "what each part of it is");
    const char *about = seal_run(&status, &bench, pool, "pdfinfo structured.pdf");
    ok(strstr(about, "Tagged:          yes\n"), "it says that it is tagged");
    const char *objects = seal_run(&status, &bench, pool, "qpdf --qdf --object-streams=disable structured.pdf -");
    ok(strstr(objects, "/Lang (de-AT)"), "in which language it is");
    ok(strstr(objects, "/Alt (Signature: Ann)") && strstr(objects, "/Alt (Look at x.org)"), "what its images show");
    ok(strstr(objects, "/DisplayDocTitle true"), "and that its title is to be shown");
    is_clean("structured.pdf", pool);
    apr_pool_destroy(pool);
}

/* All that is drawn is either read or an artifact. Where a line ends, the space that is left out is marked. */
static void test_artifacts(void)
{
    static const char long_note[] = ",\"sections\":[{\"items\":[{\"rows\":[[\"\",\"This note is so long that it takes "
                                    "two lines at least, and where the first of them ends, a space is left out, which "
                                    "readers copy all the same, because it stands beside the text.\"]]}]}]";
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    int status;
    apr_pool_create(&pool, bench.pool);
    free(compose(&composed, request(long_note, pool), "artifacts.pdf", pool).data);
    const char *objects = seal_run(&status, &bench, pool, "qpdf --qdf --object-streams=disable artifacts.pdf -");
    ok(seal_count(objects, "/Span <<") > 0, "a space is left out at the end of a line");
    is_int(seal_count(objects, "/Artifact BMC"), seal_count(objects, " BDC") - seal_count(objects, "/Span <<") + 1,
           "before, between and behind all that is read, there are artifacts");
    is_int(seal_count(objects, "EMC"), seal_count(objects, " BDC") + seal_count(objects, " BMC"), "each part ends");
    is_clean("artifacts.pdf", pool);
    apr_pool_destroy(pool);
}

/* From where to where a word is on the first page. */
static void find_word(double x[2], const char *name, const char *word, apr_pool_t *pool)
{
    int status;
    const char *text = seal_run(&status, &bench, pool, "pdftotext -bbox '%s' -", name);
    const char *end = strstr(text, apr_psprintf(pool, ">%s</word>", word)), *at = end;
    while (at && at > text && strncmp(at, "<word ", 6) != 0) at--;
    x[0] = x[1] = -1;
    if (at) sscanf(at, "<word xMin=\"%lf\" yMin=\"%*f\" xMax=\"%lf\"", &x[0], &x[1]);
}

/* A page in a language from right to left is the mirror image of the other, but for the letters. */
static void test_mirrored(void)
{
    static const char *const words[] = {"title", "Signers", "Label", "value", "place"};
    apr_pool_t *pool;
    sr_pdf_composed_t left, right;
    apr_pool_create(&pool, bench.pool);
    json_t *what = list(1, "Ann", "value", pool);
    json_object_set_new(what, "title", json_string("title"));
    json_object_set_new(what, "seal", json_string("place"));
    free(compose(&left, what, "left.pdf", pool).data);
    json_object_set_new(what, "dir", json_string("rtl"));
    free(compose(&right, what, "right.pdf", pool).data);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        double a[2], b[2];
        find_word(a, "left.pdf", words[i], pool);
        find_word(b, "right.pdf", words[i], pool);
        ok(a[0] > 0 && b[0] > a[0] && fabs(a[0] + b[1] - 595.28) < 0.2,
           "'%s' from the left at %g, from the right at %g", words[i], a[0], 595.28 - b[1]);
    }
    ok(fabs(left.field.rect[0] + right.field.rect[2] - 595.28) < 0.01
           && fabs(left.field.rect[2] + right.field.rect[0] - 595.28) < 0.01,
       "so is the field");
    is_clean("right.pdf", pool);
    apr_pool_destroy(pool);
}

static void test_sameness(void)
{
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    apr_pool_create(&pool, bench.pool);
    pdf_t first = compose(&composed, request(RICH, pool), "first.pdf", pool);
    sr_pdf_pool_t *before = bench.workers;
    bench.workers = help_pool(help_program(), 1, 5000, pool);
    pdf_t between = compose(&composed, list(3, "Ann", HINDI, pool), "between.pdf", pool);
    pdf_t second = compose(&composed, request(RICH, pool), "second.pdf", pool);
    ok(first.size == second.size && !memcmp(first.data, second.data, first.size),
       "another worker makes the same bytes");
    bench.workers = before;
    free(first.data);
    free(between.data);
    free(second.data);
    apr_pool_destroy(pool);
}

static void test_many(int count, int least, int most)
{
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    int found = 0;
    apr_pool_create(&pool, bench.pool);
    json_t *what = list(count, "Signer", "ann@x.org", pool);
    json_object_set_new(what, "banner", json_string("BANNER"));
    pdf_t pdf = compose(&composed, what, "many.pdf", pool);
    if (!ok(composed.pages >= least && composed.pages <= most, "%d items on %d pages", count, composed.pages)) return;
    const char *text = text_in("many.pdf", pool);
    for (int i = 1; i <= count; i++) found += strstr(text, apr_psprintf(pool, "Signer %d\n", i)) != NULL;
    is_int(found, count, "all of them");
    is_int(seal_count(text, "ann@x.org"), count, "with what is in them");
    is_int(seal_count(text, "BANNER"), composed.pages, "the banner on each page");
    is_int(seal_count(text, "A title"), composed.pages, "the title, too");
    found = 0;
    text = seal_squeeze(text, pool);
    for (int i = 1; i <= composed.pages; i++)
        found += strstr(text, apr_psprintf(pool, "%d/%d", i, composed.pages)) != NULL;
    is_int(found, composed.pages > 1 ? composed.pages : 0, "and each its number, if there are more than one");
    is_clean("many.pdf", pool);
    free(pdf.data);
    apr_pool_destroy(pool);
}

/* Texts longer than a line, a page, without a place to break them; and what says nothing. */
static void test_shapes(void)
{
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    apr_pool_create(&pool, bench.pool);
    char name[501], *endless = apr_palloc(pool, 20001);
    for (int i = 0; i < 500; i++) name[i] = (char)('a' + i % 26);
    for (int i = 0; i < 20000; i++) endless[i] = (char)('a' + i * 7 % 26);
    name[500] = endless[20000] = '\0';
    json_t *what = list(2, name, endless, pool);
    json_object_set_new(what, "title", json_string(name));
    json_object_set_new(what, "subtitle", json_string(name));
    char *loud = apr_pstrdup(pool, endless);
    for (char *c = loud; *c; c++) *c = (char)(*c - 'a' + 'A');
    json_object_set_new(what, "banner", json_string(loud));
    json_object_set_new(what, "footer", json_string(loud));
    pdf_t pdf = compose(&composed, what, "long.pdf", pool);
    ok(composed.pages > 2 && composed.pages < 30, "long texts take %d pages", composed.pages);
    is_clean("long.pdf", pool);
    const char *text = seal_squeeze(text_in("long.pdf", pool), pool);
    ok(seal_count(text, name) >= 4, "a name of 500 letters is all there");
    /* what else is on a page may stand in one of them where the page ends */
    int want = 2 * seal_count(endless, endless + 19990), got = seal_count(text, endless + 19990);
    ok(got <= want && got >= want - composed.pages, "so is one of 20,000: %d times its end, of %d", got, want);
    is_int(seal_count(text, "-"), 0, "and no hyphens were put in");
    free(pdf.data);

    static const char *const odd[] = {
        "",
        ",\"sections\":[]",
        ",\"sections\":[{}]",
        ",\"sections\":{}",
        ",\"sections\":[{\"items\":[{}]}]",
        ",\"sections\":[{\"items\":[{\"rows\":[[],[\"a\"],[1,2],\"x\",[\"\",\"\"],[\"\",\" \",\"code\"]]}]}]",
        ",\"subtitle\":7",
        ",\"banner\":\"a\\nb\\tc\\u202e\\u0001\"",
        ",\"language\":\"\\u0645\"",
        ",\"footer\":\"\",\"seal\":\"\\u200b\""};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        pdf = compose(&composed, request(odd[i], pool), "odd.pdf", pool);
        is_clean("odd.pdf", pool);
        free(pdf.data);
    }
    apr_pool_destroy(pool);
}

static void test_limits(void)
{
    static const char *const times[] = {"", "tomorrow", "2026-13-01T00:00:00Z"};
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    apr_pool_create(&pool, bench.pool);
    char *much = apr_palloc(pool, 10000001);
    memset(much, 'a', 10000000);
    much[10000000] = '\0';
    help_notices = 0;
    json_t *what = request("", pool);
    json_object_set_new(what, "subtitle", json_string(much));
    ok(!sr_pdf_compose(&composed, bench.workers, what, pool), "ten megabytes are no error");
    is_str(composed.reason, "its texts are too long", "but refused");
    ok(!composed.document, "and there is no document");
    much[32769] = '\0';
    what = list(1, "Ann", much, pool);
    ok(!sr_pdf_compose(&composed, bench.workers, what, pool), "nor is one text too long");
    is_str(composed.reason, "a text in it is longer than 32 KiB", "refused as well");
    much[32768] = '\0';
    free(compose(&composed, list(1, "Ann", much, pool), "longest.pdf", pool).data);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        what = request("", pool);
        json_object_set_new(what, "time", json_string(times[i]));
        ok(!sr_pdf_compose(&composed, bench.workers, what, pool), "nor is the time \"%s\"", times[i]);
        is_str(composed.reason, "it has no time", "refused");
    }
    is_int(help_notices, 0, "no worker was lost");
    free(compose(&composed, request(RICH, pool), "after.pdf", pool).data);
    apr_pool_destroy(pool);
}

/* Marks piled up reach into no other line: the pixels of the line above are as without them. */
static void test_piles(void)
{
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    int status;
    apr_pool_create(&pool, bench.pool);
    const char *pile = "a", *none = "a";
    for (int i = 0; i < 60; i++) pile = apr_pstrcat(pool, pile, "\xcc\x81", NULL);
    const char *const names[] = {"flat", "piled"}, *said[2];
    for (int i = 0; i < 2; i++) {
        const char *members =
            apr_psprintf(pool, ",\"sections\":[{\"items\":[{\"rows\":[[\"\",\"x\"],[\"\",\"x\"],[\"\",\"%s\"]]}]}]",
                         i ? pile : none);
        free(compose(&composed, request(members, pool), apr_pstrcat(pool, names[i], ".pdf", NULL), pool).data);
        /* the two lines above it */
        said[i] = seal_run(&status, &bench, pool, "sh -c 'pdftoppm -r 144 -x 0 -y 0 -W 1190 -H 170 %s.pdf | sha256sum'",
                           names[i]);
    }
    is_str(said[1], said[0], "sixty accents on a letter leave the lines above as they are");
    apr_pool_destroy(pool);
}

/* The first outline of the drawing in a field. */
static const char *first_outline(const char *name, apr_pool_t *pool)
{
    int status;
    const char *objects = seal_run(&status, &bench, pool, "qpdf --qdf --object-streams=disable '%s' -", name);
    const char *ink = strstr(objects, " rg 1 J 1 j\n"), *from = ink ? strstr(ink, " m\n") : NULL;
    const char *end = from ? strstr(from, "\nh\n") : NULL;
    return end ? apr_pstrmemdup(pool, from, (apr_size_t)(end - from)) : NULL;
}

/* Nobody takes the name of a seal for the signature of a person. */
static void test_seal_drawing(apr_pool_t *pool)
{
    const char *written = first_outline("handwritten.pdf", pool), *sealed = first_outline("sealed.pdf", pool);
    int status;
    ok(written && sealed && strcmp(written, sealed) != 0, "the name of a seal is not in handwriting");
    const char *objects = seal_run(&status, &bench, pool, "qpdf --qdf --object-streams=disable sealed.pdf -");
    is_int(seal_count(objects, "\nS\n"), 2, "a mark is beside it");
}

static void test_sealing(void)
{
    apr_pool_t *pool;
    sr_pdf_composed_t composed;
    sr_pdf_probe_t probe;
    apr_pool_create(&pool, bench.pool);
    pdf_t pdf = compose(&composed, list(40, "Signer", "ann@x.org", pool), "sealed.pdf", pool);
    const double *rect = composed.field.rect;
    is_int(composed.field.page, composed.pages - 1, "the seal's place is on the last page");
    ok(rect[0] >= 20 && rect[1] >= 20 && rect[2] <= 575 && rect[3] <= 822 && rect[2] - rect[0] >= 100
           && rect[3] - rect[1] >= 30,
       "it is large enough, and within the page");
    is_str(help_say(help_probe(&probe, bench.workers, pdf.data, pdf.size, pool), &probe, pool),
           apr_psprintf(pool,
                        "accepted {\"version\":5,\"pages\":%d,\"runs\":[[%d,0,0,595.28,841.89,0]],\"signatures\":0,"
                        "\"normalise\":false}",
                        composed.pages, composed.pages),
           "it can be signed as it is");
    sr_pdf_field_t field = seal_field("seal", composed.field.page, rect[0], rect[1], rect[2], rect[3]);
    sr_pdf_signature_t signature = {.signer = "seal",
                                    .name = "sign.example.org",
                                    .reason = "Certificate of completion",
                                    .time = apr_time_from_sec(1800000000),
                                    .text = "sign.example.org"};
    is_str(seal_prepare(&bench, &pdf, &field, 1, pool), NULL, "prepared");
    pdf_t handwritten = {.base = pdf.base, .prepared = pdf.prepared};
    pdf_add(&handwritten, pdf.data, pdf.size);
    is_str(seal_fill(&bench, &handwritten, &signature, pool), NULL, "filled in handwriting");
    seal_write(&bench, "handwritten.pdf", handwritten.data, handwritten.size);
    free(handwritten.data);
    signature.text = NULL;
    signature.seal = "sign.example.org";
    is_str(seal_fill(&bench, &pdf, &signature, pool), NULL, "filled and sealed");
    seal_write(&bench, "sealed.pdf", pdf.data, pdf.size);
    test_seal_drawing(pool);
    int status;
    const char *structure = seal_run(&status, &bench, pool, "pdfinfo -struct sealed.pdf");
    ok(strstr(structure, "\n  Form"), "the seal's field is the last of what the document has");
    is_str(seal_pdfsig(&bench, "sealed.pdf", 1, pool), NULL, "pdfsig finds one valid signature of everything");
    is_clean("sealed.pdf", pool);
    free(pdf.data);
    apr_pool_destroy(pool);
}

int main(void)
{
    bench = seal_begin(30000); /* long.pdf took 9 s on two processors with a load of 25 */
    test_texts();
    test_structure();
    test_artifacts();
    test_mirrored();
    test_sameness();
    test_many(100, 3, 30);
    test_many(3, 1, 1);
    test_shapes();
    test_limits();
    test_piles();
    test_sealing();
    return seal_end(&bench);
}
