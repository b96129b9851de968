/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_appended.c: the strict reader of updates (src/helper/check/appended.c): what it takes, and what it refuses for
 * which reason. Every update here begins at byte 1000 of a document that does not matter. */
#include "helper/check/appended.h"
#include "pdf_make.h"
#include "tap.h"

#include <apr_general.h>
#include <apr_strings.h>

#define BASE 1000
#define MOST 4

static const char UNKNOWN[] = "it is not written as updates are";
static const char TOO_MANY[] = "it has more objects than were requested";
static const char BAD_SECTION[] = "its cross-reference section is not about its objects";

static apr_pool_t *pool;

typedef struct object_t {
    const char *head, *text; /* "5 0", and what is between "obj" and "endobj" */
} object_t;

#define KEYS "/Root 1 0 R/ID[<00ff><0123456789abcdef0123456789abcdef>]/Prev 900"

static int number_of(const object_t *object)
{
    return atoi(object->head);
}

/* An update as the helper writes it, with a table or a stream of cross-references, in which `find` becomes `put`. Its
 * objects have ascending numbers without gaps. */
static pdf_t update_of(const object_t *objects, int count, bool stream, const char *find, const char *put)
{
    pdf_t out = {0}, section = {0};
    size_t offsets[8] = {0};
    for (int i = 0; i < count; i++) {
        offsets[i] = BASE + out.size;
        pdf_print(&out, "%s obj\n%s\nendobj\n", objects[i].head, objects[i].text);
    }
    const size_t start = offsets[count] = BASE + out.size;
    const int first = number_of(&objects[0]);
    if (stream) {
        pdf_print(&section, "%d 0 obj\n<<" KEYS "/Type/XRef/Size %d/W[1 5 2]/Index[%d %d ]/Length %d>>stream\n",
                  first + count, first + count + 1, first, count + 1, 8 * (count + 1));
        for (int i = 0; i <= count; i++)
            pdf_add(&section, (const char[]){1, 0, 0, 0, (char)(offsets[i] >> 8), (char)(offsets[i] & 255), 0, 0}, 8);
        pdf_print(&section, "\nendstream\nendobj\n");
    } else {
        pdf_print(&section, "xref\n%d %d\n", first, count);
        for (int i = 0; i < count; i++)
            pdf_print(&section, "%010zu %05d n \n", offsets[i], atoi(strchr(objects[i].head, ' ')));
        pdf_print(&section, "trailer\n<</Size %d" KEYS ">>\n", first + count);
    }
    pdf_print(&section, "startxref\n%zu\n%%%%EOF\n", start);
    const char *found = find ? memmem(section.data, section.size, find, strlen(find)) : NULL;
    if (find && !found) abort();
    const size_t before = find ? (size_t)(found - section.data) : section.size;
    pdf_add(&out, section.data, before);
    if (find) {
        pdf_print(&out, "%s", put);
        pdf_add(&out, found + strlen(find), section.size - before - strlen(find));
    }
    free(section.data);
    return out;
}

static const char *read_update(sr_pdf_appended_t *appended, const pdf_t *update)
{
    return sr_pdf_appended_read(appended, update->data, update->size, BASE, MOST, pool);
}

/* ------------------------------------------------------------------------------------------------------ the objects */

#define SIXTEEN "[[[[[[[[[[[[[[[["
#define CLOSED "]]]]]]]]]]]]]]]]"
#define STREAM "stream\nabc\nendstream"

static const struct {
    const char *text;
    bool good;
} VALUES[] = {
    {"[1 -2.5 +3 .5 (a\\)b) ((b)) () <0aF> <> /Name / true false null 5 0 R [<<>>]]", true},
    {"<<>>", true},
    {"<</A 1/B(x)/C/D/E 5 0 R/F[1 0 R 2 0 R]/G<</H<00>>> >>", true},
    {SIXTEEN SIXTEEN SIXTEEN SIXTEEN CLOSED CLOSED CLOSED CLOSED, true},
    {SIXTEEN SIXTEEN SIXTEEN SIXTEEN "[]" CLOSED CLOSED CLOSED CLOSED, false},
    {"", false},
    {"5 0 R", false},
    {"(a)", false},
    {"/Name", false},
    {"<00>", false},
    {"[(a]", false},
    {"[(a\\)]", false},
    {"[(a\\", false},
    {"[)]", false},
    {"[<0G>]", false},
    {"[<00]", false},
    {"[1 2", false},
    {"[1 2]]", false},
    {"[1>>", false},
    {"<<]", false},
    {"[<</A 1]>>", false},
    {"<</A[1>>]", false},
    {"<<A 1>>", false},
    {"<<(A)1>>", false},
    {"<</A>>", false},
    {"<</A 1 2>>", false},
    {"<</A 1 0>>", false},
    {"<</A 1>>1", false},
    {"[word]", false},
    {"[obj]", false},
    {"[-]", false},
    {"[.]", false},
    {"[1-2]", false},
    {"[%x]", false},
    {"[{1}]", false},
    {"[>]", false},
    {"[\001]", false},
    {"[\351]", false},
    {"[1\n2]", false},
    {"[1\t2]", false},
    {"<</Length 3>>" STREAM, true},
    {"<</Type/X/Length 3>>" STREAM, true},
    {"<</Length 4>>" STREAM, false},
    {"<</Length 2>>" STREAM, false},
    {"<<>>" STREAM, false},
    {"<</Length 3 0 R>>" STREAM, false},
    {"<</Length 3.0>>" STREAM, false},
    {"<</Length -3>>" STREAM, false},
    {"<</Length(3)>>" STREAM, false},
    {"<</Length 99999>>" STREAM, false},
    {"<</Length 1000000000000000>>" STREAM, false},
    {"[/Length 3]" STREAM, false},
    {"<</Length 3>>stream\r\nabc\nendstream", false},
    {"<</Length 3>>stream\nabc\nendstream ", false},
    {"<</Length 3>> stream\nabc\nendstream", false},
};

static void test_values(void)
{
    for (size_t i = 0; i < sizeof VALUES / sizeof *VALUES; i++) {
        sr_pdf_appended_t appended;
        const object_t objects[] = {{"5 0", VALUES[i].text}, {"6 0", "<</A 1>>"}};
        pdf_t update = update_of(objects, 2, false, NULL, NULL);
        const char *reason = read_update(&appended, &update);
        is_str(reason, VALUES[i].good ? NULL : UNKNOWN, "%s: %s", VALUES[i].good ? "taken" : "refused", VALUES[i].text);
        if (!reason) {
            const sr_pdf_object_t *object = &APR_ARRAY_IDX(appended.objects, 0, sr_pdf_object_t);
            const bool stream = strstr(VALUES[i].text, "stream") != NULL;
            const size_t length = strlen(VALUES[i].text) - (stream ? strlen(STREAM) : 0);
            ok(appended.objects->nelts == 2 && object->number == 5 && object->is_stream == stream
                   && (size_t)(object->body.end - object->body.at) == length,
               "the object is read as it is");
        }
        free(update.data);
    }
}

static void test_heads(void)
{
    static const struct {
        const char *head;
        int generation;
        const char *reason;
    } heads[] = {
        {"5 0", 0, NULL},
        {"5 65535", 65535, NULL},
        {"5 65536", 65536, UNKNOWN},
        {"0 0", 0, UNKNOWN},
        {"-5 0", 0, UNKNOWN},
        {"5  0", 0, UNKNOWN},
        {"05 0", 0, NULL},
        {"5", 0, UNKNOWN},
        {"5 0 ", 0, UNKNOWN},
        {"% a\n5 0", 0, UNKNOWN},
        {"1000000000000000 0", 0, UNKNOWN},
        {"5 x", 0, UNKNOWN},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        sr_pdf_appended_t appended;
        pdf_t update = {0};
        pdf_print(&update, "%s obj\n<<>>\nendobj\n", heads[i].head);
        const size_t start = BASE + update.size;
        pdf_print(&update, "xref\n5 1\n%010d %05d n \ntrailer\n<</Size 6" KEYS ">>\n", BASE, heads[i].generation);
        pdf_print(&update, "startxref\n%zu\n%%%%EOF\n", start);
        is_str(read_update(&appended, &update), heads[i].reason, "an object begins with \"%s obj\"", heads[i].head);
        free(update.data);
    }
}

/* ------------------------------------------------------------------------------------------------------ the section */

static const struct {
    bool stream;
    const char *find, *put, *reason, *name;
} SECTIONS[] = {
    {false, NULL, NULL, NULL, "a table"},
    {false, "xref\n5 2", "xref\n5 1", BAD_SECTION, "fewer rows than objects"},
    {false, "xref\n5 2", "xref\n4 2", BAD_SECTION, "rows of other objects"},
    {false, "xref\n5 2", "xref\n0 1\n0000000000 65535 f \n5 2", BAD_SECTION, "a row of an object that is free"},
    {false, "0000001000", "0000001001", BAD_SECTION, "an object is elsewhere"},
    {false, " 00000 n", " 00001 n", BAD_SECTION, "an object has another generation"},
    {false, " 00000 n", " 00000 f", BAD_SECTION, "an object is free"},
    {false, "n \n", "n\r\n", BAD_SECTION, "rows end otherwise"},
    {false, "trailer\n", "trailer ", BAD_SECTION, "a trailer on one line"},
    {false, "/Size 7", "/Size 6", BAD_SECTION, "a size below the highest number"},
    {false, "/Size 7", "/Size 99", NULL, "a size above all numbers, which is for others to judge"},
    {false, "/Size 7", "/Size x", BAD_SECTION, "no size"},
    {false, "/Size 7", "/Size 7/XRefStm 9", BAD_SECTION, "a section that only some readers see"},
    {false, "/Root 1 0 R", "", BAD_SECTION, "no catalog"},
    {false, "/Root 1 0 R", "/Root 1 R", BAD_SECTION, "a catalog that is no reference"},
    {false, "/Root 1 0 R", "/Root <<>>", BAD_SECTION, "a catalog in the trailer"},
    {false, "/ID", "/Info 2 0 R/ID", NULL, "an information dictionary"},
    {false, "/ID", "/Info<<>>/ID", BAD_SECTION, "an information dictionary in the trailer"},
    {false, "/ID", "/Encrypt 3 0 R/ID", NULL, "an encryption"},
    {false, "/ID", "/Encrypt 3 0/ID", BAD_SECTION, "an encryption that is no reference"},
    {false, "/ID", "/Encrypt 3 0 R/Info 2 0 R/ID", BAD_SECTION, "another order"},
    {false, "/ID[<00ff>", "/ID[<>", NULL, "an identifier without digits"},
    {false, "/ID[<00ff>", "/ID[<00FF>", BAD_SECTION, "an identifier in capitals"},
    {false, "/ID[<00ff>", "/ID[(a)", BAD_SECTION, "an identifier that is a text"},
    {false, "cdef>]", "cde>]", BAD_SECTION, "a second identifier that is shorter"},
    {false, "cdef>]", "cdef0>]", BAD_SECTION, "a second identifier that is longer"},
    {false, "cdef>]", "cdef><00>]", BAD_SECTION, "a third identifier"},
    {false, "/Prev 900", "", BAD_SECTION, "no section before"},
    {false, "/Prev 900", "/Prev -9", BAD_SECTION, "a section before the document"},
    {false, "/Prev 900", "/Prev 900/A 1", BAD_SECTION, "more in the trailer"},
    {false, ">>\nstartxref", ">> \nstartxref", BAD_SECTION, "a space after the trailer"},
    {false, "startxref\n1", "startxref\n2", BAD_SECTION, "the section is elsewhere"},
    {false, "startxref\n1", "startxref\n01", BAD_SECTION, "its place is written otherwise"},
    {false, "%%EOF\n", "%%EOF", BAD_SECTION, "the last line does not end"},
    {false, "%%EOF\n", "", BAD_SECTION, "no end"},
    {true, NULL, NULL, NULL, "a stream of cross-references"},
    {true, "7 0 obj", "8 0 obj", BAD_SECTION, "the stream has another number"},
    {true, "/Size 8", "/Size 9", BAD_SECTION, "its number is not the highest"},
    {true, "/Size 8", "/Size x", UNKNOWN, "no size in the stream"},
    {true, "/W[1 5 2]", "/W[1 4 3]", BAD_SECTION, "other widths"},
    {true, "/Index[5 3 ]", "/Index[5 2 7 1 ]", BAD_SECTION, "the numbers in two parts"},
    {true, "/Index[5 3 ]", "/Index[4 3 ]", BAD_SECTION, "rows of other objects in the stream"},
    {true, "\001", "\002", BAD_SECTION, "an object is in an object stream"},
    {true, "/Length 24", "/Length 23", UNKNOWN, "the stream is longer than it says"},
    {true, "/Type/XRef/Size 8", "/Size 8/Type/XRef", BAD_SECTION, "another order in the stream"},
    {true, "/Root 1 0 R", "", BAD_SECTION, "no catalog in the stream"},
    {true, "/Type/XRef", "/Type/XRef/Filter/FlateDecode", BAD_SECTION, "a compressed stream"},
    {true, "endstream\nendobj\nstart", "endstream\nendobj\n\nstart", BAD_SECTION, "an empty line after the stream"},
};

static void test_sections(void)
{
    static const object_t objects[] = {{"5 0", "<</A 1>>"}, {"6 0", "<</Length 3>>" STREAM}};
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
        sr_pdf_appended_t appended;
        pdf_t update = update_of(objects, 2, SECTIONS[i].stream, SECTIONS[i].find, SECTIONS[i].put);
        const char *reason = read_update(&appended, &update);
        is_str(reason, SECTIONS[i].reason, "%s", SECTIONS[i].name);
        if (!reason) {
            const sr_pdf_trailer_t *trailer = &appended.trailer;
            ok(appended.objects->nelts == 2 && trailer->root == 1 && trailer->previous == 900
                   && trailer->is_stream == SECTIONS[i].stream && appended.length == update.size
                   && trailer->is_encrypted == (SECTIONS[i].put && strstr(SECTIONS[i].put, "/Encrypt")),
               "the section is read");
        }
        free(update.data);
    }
}

static void test_counts(void)
{
    sr_pdf_appended_t appended;
    const object_t same[] = {{"5 0", "<</A 1>>"}, {"5 0", "<</A 2>>"}};
    pdf_t update = update_of(same, 2, false, "xref\n5 2\n", "xref\n5 1\n");
    char *row = strstr(update.data, "xref\n5 1\n") + 9 + 20;
    pdf_t twice = {0};
    pdf_add(&twice, update.data, (size_t)(row - update.data));
    pdf_print(&twice, "5 1\n%s", row);
    is_str(read_update(&appended, &twice), BAD_SECTION, "an object that is there twice, in the table too");
    free(update.data);
    free(twice.data);

    const object_t many[] = {{"5 0", "[]"}, {"6 0", "[]"}, {"7 0", "[]"}, {"8 0", "[]"}, {"9 0", "[]"}};
    update = update_of(many, MOST, false, NULL, NULL);
    is_str(read_update(&appended, &update), NULL, "as many objects as were requested");
    free(update.data);
    update = update_of(many, MOST + 1, false, NULL, NULL);
    is_str(read_update(&appended, &update), TOO_MANY, "one more");
    free(update.data);

    static const char *const empty[] = {"xref\n0 0\n", "xref\n"};
    for (int i = 0; i < 2; i++) {
        const char *text =
            apr_psprintf(pool, "%strailer\n<</Size 7" KEYS ">>\nstartxref\n%d\n%%%%EOF\n", empty[i], BASE);
        is_str(sr_pdf_appended_read(&appended, text, strlen(text), BASE, MOST, pool), BAD_SECTION, "no object");
    }
    is_str(sr_pdf_appended_read(&appended, "", 0, BASE, MOST, pool), UNKNOWN, "nothing");
}

/* Whatever is cut off, the rest is refused, and no byte behind the end is read (valgrind and the sanitizers tell). */
static void test_cut(void)
{
    static const object_t objects[] = {{"5 0", "<</A(x)/B<00>/C[1 0 R]>>"}, {"6 0", "<</Length 3>>" STREAM}};
    for (int stream = 0; stream < 2; stream++) {
        pdf_t update = update_of(objects, 2, stream, NULL, NULL);
        int taken = 0;
        for (size_t length = 0; length < update.size; length++) {
            sr_pdf_appended_t appended;
            char *part = malloc(length + 1); /* of its own, so that reading on is found */
            memcpy(part + 1, update.data, length);
            taken += !sr_pdf_appended_read(&appended, part + 1, length, BASE, MOST, pool);
            free(part);
        }
        is_int(taken, 0, "%s is refused wherever it is cut off", stream ? "a stream" : "a table");
        free(update.data);
    }
}

/* ------------------------------------------------------------------------------------------------- a last trailer */

static void test_trailers(void)
{
    static const struct {
        const char *text, *reason;
    } trailers[] = {
        {"xref\n5 1\n0000001000 00000 n \ntrailer\n<</Size 7" KEYS ">>\nstartxref\n", NULL},
        {"7 0 obj\n<<" KEYS "/Type/XRef/Size 8/W[1 5 2]/Index[", NULL},
        {"xref\n5 1\n0000001000 00000 n \n", BAD_SECTION},
        {"xref\ntrailer\n<</Size x" KEYS ">>", BAD_SECTION},
        {"xref\ntrailer\n<</Size 7/Prev 900>>", BAD_SECTION},
        {"7 0 obj\n<<" KEYS "/Type/XRef/Size 9/W[1 5 2]/Index[", BAD_SECTION},
        {"7 0 obj\n<<" KEYS, BAD_SECTION},
        {"trailer\n<</Size 7" KEYS ">>", BAD_SECTION},
        {"", BAD_SECTION},
    };
    for (size_t i = 0; i < sizeof trailers / sizeof *trailers; i++) {
        sr_pdf_trailer_t trailer;
        const char *reason = sr_pdf_appended_trailer(&trailer, trailers[i].text, strlen(trailers[i].text));
        is_str(reason, trailers[i].reason, "a last trailer: %s", trailers[i].text);
        if (!reason) ok(trailer.root == 1 && trailer.previous == 900, "the last trailer is read");
    }
}

/* ---------------------------------------------------------------------------------------------- values and entries */

static sr_pdf_span_t span(const char *text)
{
    return (sr_pdf_span_t){text, text + strlen(text)};
}

static void test_spans(void)
{
    static const struct {
        const char *one, *other;
        bool same;
    } pairs[] = {
        {"[1 0 R /A (x)]", "[ 1  0 R/A(x) ]", true},
        {"[1 0 R]", "[1 0 R 2 0 R]", false},
        {"[1 0 R]", "[10 R]", false},
        {"/A", "/B", false},
        {"/A", "/AB", false},
        {"(a)", "<61>", false},
        {"[1", "[1", true},
        {"", " ", true},
        {"[1 (", "[1 ", false},
        {"[1 (", "[1 (", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const sr_pdf_span_t one = span(pairs[i].one), other = span(pairs[i].other);
        is_int(sr_pdf_span_same(&one, &other), pairs[i].same, "\"%s\" and \"%s\" are %s", pairs[i].one, pairs[i].other,
               pairs[i].same ? "the same" : "different");
    }
    sr_pdf_span_t value;
    const sr_pdf_span_t body = span("<</A 5 0 R/B<</C 1>>/D(x)>>"), list = span("[/A 1]");
    ok(sr_pdf_find_entry(&value, &body, "/A") && sr_pdf_span_is(&value, "5 0 R"), "a reference is one value");
    ok(sr_pdf_find_entry(&value, &body, "/D") && sr_pdf_span_is(&value, "(x)"), "the last entry is found");
    ok(!sr_pdf_find_entry(&value, &body, "/C"), "an entry of a dictionary inside is not");
    ok(!sr_pdf_find_entry(&value, &list, "/A"), "an array has no entries");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_values();
    test_heads();
    test_sections();
    test_counts();
    test_cut();
    test_trailers();
    test_spans();
    apr_pool_destroy(pool);
    return done();
}
