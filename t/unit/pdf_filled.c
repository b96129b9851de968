/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_filled.c: what is told of an update with one signature (src/helper/check/filled.c): that of Ann, who has two
 * fields, is taken, and each change of it is refused for its reason. pdf_lies.c has the true helper. */
#include "helper/check/appended.h"
#include "helper/protocol.h"
#include "tap.h"
#include "updates.h"

#include <apr_general.h>
#include <apr_strings.h>

#define OTHER_DOCUMENT "it does not continue the document as it stands"
#define NO_SIGNATURE "the signature dictionary is not the requested one"
#define NEW_OBJECT "it has an object that was not requested"
#define OLD_OBJECT "it changes an object that is not a field of this signer"
#define NO_FIELD "a field of the signer is changed otherwise than by its signature"

#define DICTIONARY "<</Type/Sig/Name(Ann Lee)/ByteRange"
#define START 900

static apr_pool_t *pool;

typedef struct object_t {
    int number;
    const char *text;
} object_t;

#define FIELD(name, rect) "<</FT/Sig/T(Signature_" name ")/Rect[" rect "]/AP<</N 20 0 R>>>>"
#define FILLED(name, rect, look) "<< /Rect [" rect "] /T (Signature_" name ") /FT /Sig /V 30 0 R /AP <</N " look ">> >>"
#define FORM(resources) "<</Type/XObject/Subtype/Form/BBox[0 0 9 9.5]/Resources" resources "/Length 1>>"
#define IMAGE "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8"

static const object_t PREPARED[] = {{20, "<</Type/XObject/Length 0>>"}, {21, FIELD("ann", "0 0 9 9")},
                                    {22, FIELD("ann_2", "0 9 9 18")},   {23, FIELD("bob", "9 0 18 9")},
                                    {24, FIELD("anna", "9 9 18 18")},   {25, "[21 0 R]"}};

#define SIGNATURE "signature" /* the text is made by signature_text() */

static const object_t APPENDED[] = {{30, SIGNATURE},
                                    {31, FORM("<<>>")},
                                    {32, FORM("<</XObject<</M 31 0 R>>>>")},
                                    {33, FORM("<</XObject<</M 31 0 R>>>>")},
                                    {21, FILLED("ann", "0 0 9 9", "32 0 R")},
                                    {22, FILLED("ann_2", "0 9 9 18", "33 0 R")}};

typedef enum what_t {
    NOTHING,
    TEXT,
    WHOLE,
    STREAM,
    PLAIN,
    GENERATION,
    DROP,
    ADD,
    SIZE,
    PREVIOUS,
    KEYS,
    SECTION,
    PLACE
} what_t;

static const struct {
    what_t what;
    int number;
    const char *find, *put, *reason, *name;
} CHANGES[] = {
    {NOTHING, 0, "", "", NULL, "nothing"},
    {PREVIOUS, START + 1, "", "", OTHER_DOCUMENT, "another section before"},
    {KEYS, 0, "", "/Root 2 0 R", OTHER_DOCUMENT, "another catalog"},
    {SECTION, 35, "", "", NULL, "the section is a stream, which has a number"},
    {SECTION, 34, "", "", NEW_OBJECT, "the section is a stream without a number"},
    {SIZE, 35, "", "", NEW_OBJECT, "room for one object more"},

    {DROP, 30, "", "", NEW_OBJECT, "no signature"},
    {STREAM, 30, "", "", NO_SIGNATURE, "the signature is a stream"},
    {GENERATION, 30, "", "1", NO_SIGNATURE, "the signature has a generation"},
    {TEXT, 30, "Ann Lee", "Bob Lee", NO_SIGNATURE, "another name"},
    {TEXT, 30, "/Contents<", "/Contents <", NO_SIGNATURE, "the digits are elsewhere"},
    {PLACE, 1, "", "", NO_SIGNATURE, "the seal is to be elsewhere"},
    {TEXT, 30, "0>>>", "0>/A 1>>", NO_SIGNATURE, "a key after the digits"},
    {TEXT, 30, "0>>>", "0>>]", NO_SIGNATURE, "an end of another kind"},

    {DROP, 31, "", "", NEW_OBJECT, "a number that is counted and not there"},
    {PLAIN, 31, "", "", NEW_OBJECT, "an appearance that is no stream"},
    {GENERATION, 31, "", "1", NEW_OBJECT, "an appearance with a generation"},
    {WHOLE, 31, "", "[1]", NEW_OBJECT, "an appearance that is an array"},
    {TEXT, 31, "/Type/XObject", "", NEW_OBJECT, "an appearance without a type"},
    {TEXT, 31, "/Subtype/Form", "", NEW_OBJECT, "an appearance without a kind"},
    {TEXT, 31, "/Subtype/Form", "/Subtype/PS", NEW_OBJECT, "an appearance of another kind"},
    {TEXT, 31, "/Type/XObject", "/Type/XObject/OC 1 0 R", NEW_OBJECT, "an appearance in a layer"},
    {TEXT, 31, "/Length 1", "/Length 1/Length 1", NEW_OBJECT, "a key twice"},
    {TEXT, 31, "/Length 1", "/Length 1 0 R", NEW_OBJECT, "a length that is a reference"},
    {TEXT, 31, "/Length 1", "/Length", NEW_OBJECT, "a key without a value"},
    {TEXT, 31, "[0 0 9 9.5]", "[0 0 9]", NEW_OBJECT, "a box of three numbers"},
    {TEXT, 31, "[0 0 9 9.5]", "[0 0 9 9 9]", NEW_OBJECT, "a box of five numbers"},
    {TEXT, 31, "[0 0 9 9.5]", "[0 0 9/A]", NEW_OBJECT, "a box with a name"},
    {TEXT, 31, "[0 0 9 9.5]", "[0 0 9 1 0 R]", NEW_OBJECT, "a box with a reference"},
    {TEXT, 31, "[0 0 9 9.5]", "9", NEW_OBJECT, "a box that is a number"},
    {TEXT, 31, "[0 0 9 9.5]", "[0 -1 +9 .5 ]", NULL, "another box"},
    {TEXT, 31, "/Length", "/Matrix[1 0 0 1 0 0]/Length", NULL, "a matrix"},
    {TEXT, 31, "/Length", "/Matrix[1 0 0 1]/Length", NEW_OBJECT, "a matrix of four numbers"},
    {TEXT, 31, "<<>>", SR_PDF_RESOURCES, NULL, "the colours of PDF/A"},
    {TEXT, 31, "<<>>", "<</Font<</F 1 0 R>>>>", NEW_OBJECT, "fonts"},
    {TEXT, 32, "M 31 0 R", "M 21 0 R", NEW_OBJECT, "it draws what is no new object"},
    {TEXT, 32, "M 31 0 R", "M 30 0 R", NEW_OBJECT, "it draws the signature"},
    {TEXT, 32, "M 31 0 R", "M 32 0 R", NEW_OBJECT, "it draws itself"},
    {TEXT, 32, "M 31 0 R", "M 33 0 R", NEW_OBJECT, "it draws what comes later"},
    {TEXT, 32, "M 31 0 R", "M 34 0 R", NEW_OBJECT, "it draws what is not there"},
    {TEXT, 32, "M 31 0 R", "M 31 1 R", NEW_OBJECT, "it draws another generation"},
    {TEXT, 32, "M 31 0 R", "M[31 0 R]", NEW_OBJECT, "it draws a list"},
    {TEXT, 32, "M 31 0 R", "M 31 0 R/N", NEW_OBJECT, "it draws nothing by a name"},
    {TEXT, 32, "M 31 0 R>>>>", "M 31 0 R>>/Font<<>>>>", NEW_OBJECT, "forms and fonts"},
    {WHOLE, 31, "", IMAGE "/ColorSpace/DeviceRGB/Filter/FlateDecode/Length 1>>", NULL, "an image"},
    {WHOLE, 31, "", IMAGE "/ColorSpace" SR_PDF_GRAY "/Filter/DCTDecode/Length 1>>", NULL, "an image in PDF/A"},
    {WHOLE, 31, "", IMAGE "/ColorSpace/Pattern/Length 1>>", NEW_OBJECT, "an image of other colours"},
    {WHOLE, 31, "", IMAGE "/Filter/JBIG2Decode/Length 1>>", NEW_OBJECT, "an image with another filter"},
    {WHOLE, 31, "", IMAGE "/ImageMask false/Length 1>>", NEW_OBJECT, "a mask that is none"},
    {WHOLE, 31, "", IMAGE "/SMask 32 0 R/Length 1>>", NULL, "an image with a mask"},
    {WHOLE, 31, "", IMAGE "/SMask 20 0 R/Length 1>>", NEW_OBJECT, "an image with a mask of the document"},
    {WHOLE, 31, "", IMAGE "/Mask[0 1]/Length 1>>", NEW_OBJECT, "an image with a mask of colours"},

    {ADD, 20, "", "<</Type/XObject/Length 0>>", OLD_OBJECT, "what all empty fields look like"},
    {ADD, 23, "", FILLED("bob", "9 0 18 9", "32 0 R"), OLD_OBJECT, "the field of another signer"},
    {ADD, 24, "", FILLED("anna", "9 9 18 18", "32 0 R"), OLD_OBJECT, "the field of one whose name begins so"},
    {ADD, 25, "", "[21 0 R]", OLD_OBJECT, "an array that was prepared"},
    {ADD, 3, "", "<<>>", OLD_OBJECT, "an object of the document"},
    {ADD, 21, "", FILLED("ann", "0 0 9 9", "32 0 R"), NO_FIELD, "a field twice"},
    {DROP, 21, "", "", NO_FIELD, "a field is not filled"},
    {STREAM, 21, "", "", NO_FIELD, "a field is a stream"},
    {GENERATION, 21, "", "1", NO_FIELD, "a field has a generation"},
    {WHOLE, 21, "", "[1]", NO_FIELD, "a field is an array"},
    {TEXT, 21, "[0 0 9 9]", "[0 0 9 99]", NO_FIELD, "a field is larger"},
    {TEXT, 21, "/FT /Sig", "", NO_FIELD, "a field has no type"},
    {TEXT, 21, "/FT /Sig", "/FT /Sig /A 1", NO_FIELD, "a field has one key more"},
    {TEXT, 21, "/FT /Sig", "/A 1", NO_FIELD, "a field has another key"},
    {TEXT, 21, "/V 30 0 R", "/V 31 0 R", NO_FIELD, "a field has another value"},
    {TEXT, 21, "/V 30 0 R", "/X 30 0 R", NO_FIELD, "a field has no value"},
    {TEXT, 21, "/N 32 0 R", "/N 20 0 R", NO_FIELD, "a field looks as it was prepared"},
    {TEXT, 21, "/N 32 0 R", "/N 32 0 R/D 32 0 R", NO_FIELD, "a field looks otherwise when it is touched"},
    {TEXT, 21, "<</N 32 0 R>>", "32 0 R", NO_FIELD, "a field whose look is an object"},
};

#define ROOM 100

static const char *signature_text(void)
{
    char digits[2 * ROOM + 1];
    memset(digits, '0', 2 * ROOM);
    digits[2 * ROOM] = '\0';
    return apr_psprintf(pool, DICTIONARY "%*s/Contents<%s>>>", SR_PDF_RANGE_WIDTH, "", digits);
}

static sr_pdf_object_t object_of(int number, const char *text)
{
    return update_object(number, strcmp(text, SIGNATURE) ? text : signature_text());
}

static sr_pdf_appended_t update_of(const object_t *objects, size_t count)
{
    static const char keys[] = "/Root 1 0 R";
    apr_array_header_t *list = apr_array_make(pool, 8, sizeof(sr_pdf_object_t));
    for (size_t i = 0; i < count; i++)
        APR_ARRAY_PUSH(list, sr_pdf_object_t) = object_of(objects[i].number, objects[i].text);
    return (sr_pdf_appended_t){
        .objects = list, .trailer = {.size = 34, .previous = START, .keys = {keys, keys + sizeof keys - 1}, .root = 1}};
}

static void change_object(sr_pdf_object_t *object, size_t index)
{
    const char *put = CHANGES[index].put;
    const int number = (int)object->number;
    if (CHANGES[index].what == TEXT)
        *object = object_of(number, update_replaced(object->body.at, CHANGES[index].find, put, pool));
    if (CHANGES[index].what == WHOLE) *object = object_of(number, put);
    if (CHANGES[index].what == STREAM) object->is_stream = true;
    if (CHANGES[index].what == PLAIN) object->is_stream = false;
    if (CHANGES[index].what == GENERATION) object->generation = atoi(put);
}

static sr_pdf_appended_t changed_update(size_t index)
{
    sr_pdf_appended_t update = update_of(APPENDED, sizeof APPENDED / sizeof *APPENDED);
    sr_pdf_trailer_t *trailer = &update.trailer;
    const what_t what = CHANGES[index].what;
    apr_array_header_t *objects =
        update_changed(update.objects, CHANGES[index].number, what == DROP, change_object, index, pool);
    if (what == ADD) APR_ARRAY_PUSH(objects, sr_pdf_object_t) = object_of(CHANGES[index].number, CHANGES[index].put);
    if (what == SIZE || what == SECTION) trailer->size = CHANGES[index].number;
    if (what == PREVIOUS) trailer->previous = CHANGES[index].number;
    if (what == KEYS) trailer->keys = (sr_pdf_span_t){CHANGES[index].put, strchr(CHANGES[index].put, '\0')};
    trailer->is_stream = what == SECTION;
    update.objects = objects;
    return update;
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    const sr_pdf_appended_t prepared = update_of(PREPARED, sizeof PREPARED / sizeof *PREPARED);
    sr_pdf_trailer_t before = prepared.trailer;
    before.size = 30;
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        const sr_pdf_appended_t update = changed_update(i);
        const char *body = APR_ARRAY_IDX(update.objects, 0, sr_pdf_object_t).body.at;
        sr_pdf_filled_t wanted = {.signer = "ann", .dictionary = DICTIONARY, .room = ROOM, .start = START};
        wanted.contents = body + strlen(DICTIONARY) + SR_PDF_RANGE_WIDTH + strlen("/Contents");
        if (CHANGES[i].what == PLACE) wanted.contents += CHANGES[i].number;
        is_str(sr_pdf_filled_check(&update, &prepared, &before, &wanted, pool), CHANGES[i].reason, "%s",
               CHANGES[i].name);
    }
    const sr_pdf_appended_t update = changed_update(0);
    sr_pdf_filled_t nobody = {.signer = "eve", .dictionary = DICTIONARY, .room = ROOM, .start = START};
    is_str(sr_pdf_filled_check(&update, &prepared, &before, &nobody, pool), NO_FIELD, "a signer without a field");
    apr_pool_destroy(pool);
    return done();
}
