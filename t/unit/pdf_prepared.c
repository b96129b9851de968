/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_prepared.c: what is told of an update with the fields of all signers without the document
 * (src/helper/check/prepared.c): updates of each form that the helper writes are taken, and each change of one is
 * refused for its reason. The helper writes some of these forms only for rare documents; pdf_lies.c has the true
 * helper. */
#include "helper/check/appended.h"
#include "helper/protocol.h"
#include "tap.h"
#include "updates.h"

#include <apr_general.h>
#include <apr_strings.h>

#define NO_APPEARANCE "it does not have the empty appearance of fields"
#define NO_FIELD "a field is not the requested one"
#define OTHER_PAGE "fields of one page are on several"
#define NO_ELEMENT "an element of the structure is not that of a field"
#define NEW_OBJECT "it has an object that was not requested"
#define NO_LOOK "a field that is filled in has another appearance than the requested one"
#define NO_LOCK "the lock of a signature is not that of the signer's fields"
#define OLD_OBJECT "an object of the document ends otherwise than with the new fields"

static apr_pool_t *pool;

typedef struct object_t {
    int number;
    const char *text;
} object_t;

/* Two fields of ann on the first page, one of bob on the second. Objects of the document are below 20. */
#define EMPTY                                                                                                          \
    {                                                                                                                  \
        20, "<</Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>/Length 0>>"                                      \
    }
#define FIELD(name, tag, page, rect)                                                                                   \
    "<</Type/Annot/Subtype/Widget/F 132/T(Signature_" name ")/TU(" SR_PDF_FIELD_LABEL ")" tag "/FT/Sig/P " page        \
    "/Rect[" rect "]"
#define RENDER_VERSION "/AP<</N 20 0 R>>>>"
#define FIELDS(one, two, three)                                                                                        \
    {21, FIELD("ann", one, "3 0 R", "50 50 150 90 ") RENDER_VERSION},                                                  \
        {22, FIELD("ann_2", two, "3 0 R", "50.5 100 150 140 ") "/MK<</R 90>>" RENDER_VERSION},                         \
    {                                                                                                                  \
        23, FIELD("bob", three, "4 0 R", "-5 200 150 240.25 ") "/MK<</R 270>>" RENDER_VERSION                          \
    }
#define PLAIN EMPTY, FIELDS("", "", "")
#define PAGES                                                                                                          \
    {3, "<</Type/Page/Annots[21 0 R 22 0 R ]>>"},                                                                      \
    {                                                                                                                  \
        4, "[9 0 R 23 0 R ]"                                                                                           \
    }
#define REFERENCES "21 0 R 22 0 R 23 0 R "
#define ELEMENT(parent, page, field)                                                                                   \
    "<</Type/StructElem/S/Form/P " parent "/Pg " page "/K<</Type/OBJR/Obj " field ">>>>"
#define ELEMENTS(parent)                                                                                               \
    {24, ELEMENT(parent, "3 0 R", "21 0 R")}, {25, ELEMENT(parent, "3 0 R", "22 0 R")},                                \
    {                                                                                                                  \
        26, ELEMENT(parent, "4 0 R", "23 0 R")                                                                         \
    }
#define TAGS(parent) EMPTY, FIELDS("/StructParent 5", "/StructParent 6", "/StructParent 7"), ELEMENTS(parent)
#define KIDS "24 0 R 25 0 R 26 0 R "
#define NUMBERS "5 24 0 R 6 25 0 R 7 26 0 R "
#define STRUCTURE                                                                                                      \
    {8, "<</S/Document/K[" KIDS "]>>"},                                                                                \
    {                                                                                                                  \
        7, "<</K 8 0 R/ParentTreeNextKey 8>>"                                                                          \
    }

/* What is filled in, when the second field of ann and that of bob are a text and a check box. */
#define WIDGET(text, rect) "<</Type/Annot/Subtype/Widget/F 132/T" text "/Rect[" rect "]"
#define RENT                                                                                                           \
    WIDGET("(rent)/TU(Rent)/FT/Tx/Ff 1/MaxLen 9/DA(/Helv 0 Tf 0 g)/P 3 0 R", "50.5 100 150 140 ") "/MK<</R 90>>"
#define READ WIDGET("(read_2)/TU(Read)/FT/Btn/Ff 1/P 4 0 R", "-5 200 150 240.25 ")
#define LOOK(size, matrix)                                                                                             \
    "<</Type/XObject/Subtype/Form/BBox[0 0 " size "]/Matrix[" matrix "]/Resources" SR_PDF_CAPTION_RESOURCES            \
    "/Length 0>>"

typedef enum form_t { NEW, TAGGED, LEAF, ROOT, OLD, ARRAY, INLINE, FLAGS, EXTENDED, ENTRIES, FORMS } form_t;

static const struct {
    const char *name;
    int size;
    object_t objects[16];
} UPDATES[FORMS] = {
    [NEW] = {"a new form",
             25,
             {PLAIN, PAGES, {24, "<</SigFlags 3/Fields[" REFERENCES "]>>"}, {1, "<</Type/Catalog/AcroForm 24 0 R>>"}}},
    [TAGGED] = {"a tagged document",
                28,
                {TAGS("8 0 R"),
                 PAGES,
                 STRUCTURE,
                 {9, "<</Nums[" NUMBERS "]>>"},
                 {27, "<</SigFlags 3/Fields[" REFERENCES "]>>"},
                 {1, "<</Type/Catalog/AcroForm 27 0 R>>"}}},
    [LEAF] = {"a tree of numbers with leaves",
              28,
              {TAGS("8 0 R"),
               {27, "<</Limits[5 7]/Nums[" NUMBERS "]>>"},
               PAGES,
               STRUCTURE,
               {9, "<</Kids[10 0 R 27 0 R ]>>"},
               {11, "<</SigFlags 3/Fields[" REFERENCES "]>>"}}},
    [ROOT] = {"elements in the root of the structure",
              27,
              {TAGS("7 0 R"),
               PAGES,
               {7, "<</ParentTreeNextKey 8/K[" KIDS "]>>"},
               {9, "<</Nums[0 10 0 R " NUMBERS "]>>"},
               {11, "<</SigFlags 3/Fields[" REFERENCES "]>>"}}},
    [OLD] = {"a form that was there", 24, {PLAIN, PAGES, {11, "<</SigFlags 3/Fields[9 0 R " REFERENCES "]>>"}}},
    [ARRAY] = {"an array of fields, and flags",
               24,
               {PLAIN, PAGES, {12, "[9 0 R " REFERENCES "]"}, {11, "<</Fields 12 0 R/SigFlags 3>>"}}},
    [INLINE] = {"a form in the catalog", 24, {PLAIN, PAGES, {1, "<</AcroForm<</Fields[9 0 R " REFERENCES "]>>>>"}}},
    [FLAGS] = {"flags of a form in the catalog",
               24,
               {PLAIN, PAGES, {12, "[9 0 R " REFERENCES "]"}, {1, "<</AcroForm<</Fields 12 0 R/SigFlags 7>>>>"}}},
    [EXTENDED] = {"the catalog with the extension",
                  24,
                  {PLAIN,
                   PAGES,
                   {12, "[" REFERENCES "]"},
                   {11, "<</Fields 12 0 R/SigFlags 3>>"},
                   {1, "<</Extensions<<" SR_PDF_EXTENSION ">>>>"}}},
    [ENTRIES] = {"fields that are filled in",
                 27,
                 {EMPTY,
                  {21, FIELD("ann", "", "3 0 R", "50 50 150 90 ") "/Lock 26 0 R" RENDER_VERSION},
                  {22, RENT "/V(950,00)/AP<</N 24 0 R>>>>"},
                  {23, READ "/V/Off/AS/Off/AP<</N<</On 25 0 R/Off 20 0 R>>>>>>"},
                  {24, LOOK("40 99.5 ", "0 1 -1 0 99.5 0 ")},
                  {25, LOOK("155 40.25 ", "1 0 0 1 0 0 ")},
                  {26, "<</Type/SigFieldLock/Action/Include/Fields[(rent)]>>"},
                  PAGES,
                  {11, "<</SigFlags 3/Fields[9 0 R " REFERENCES "]>>"}}},
};

typedef enum what_t { TEXT, NUMBER, GENERATION, STREAM, DROP, ADD, SIZE, CATALOG, SECTION } what_t;

static const struct {
    form_t form;
    what_t what;
    int number;
    const char *find, *put, *reason, *name;
} CHANGES[] = {
    {NEW, DROP, 20, "", "", NO_APPEARANCE, "no empty appearance"},
    {NEW, GENERATION, 20, "", "1", NO_APPEARANCE, "it has a generation"},
    {NEW, TEXT, 20, "/Length 0", "/Length 1", NO_APPEARANCE, "it is not empty"},
    {NEW, TEXT, 20, "1 1]", "9 9]", NO_APPEARANCE, "it is larger"},
    {NEW, STREAM, 21, "", "", NO_FIELD, "a field is a stream"},
    {NEW, NUMBER, 21, "", "19", NO_FIELD, "a field has an old number"},
    {NEW, GENERATION, 21, "", "1", NO_FIELD, "a field has a generation"},
    {NEW, TEXT, 21, "/F 132", "/F 134", NO_FIELD, "a field is hidden"},
    {NEW, TEXT, 21, "_ann)", "_bob)", NO_FIELD, "a field is another signer's"},
    {NEW, TEXT, 21, "_ann)", "_ann_2)", NO_FIELD, "the first field of a signer is called the second"},
    {NEW, TEXT, 22, "_ann_2)", "_ann_3)", NO_FIELD, "the second field of a signer is called the third"},
    {NEW, TEXT, 22, "_ann_2)", "_ann)", NO_FIELD, "both fields of a signer have one name"},
    {NEW, TEXT, 21, "/TU(Signature)", "/TU(Amount)", NO_FIELD, "another label"},
    {NEW, TEXT, 21, "/FT/Sig", "/FT/Btn", NO_FIELD, "a field of another kind"},
    {NEW, TEXT, 21, "/P 3 0 R", "/P 3", NO_FIELD, "a page that is no reference"},
    {NEW, TEXT, 21, "/P 3 0 R", "/P [", NO_FIELD, "a page that is no value"},
    {NEW, TEXT, 21, "/Rect[", "/Rect [", NO_FIELD, "the rectangle is written otherwise"},
    {NEW, TEXT, 21, "[50 ", "[51 ", NO_FIELD, "a field is elsewhere"},
    {NEW, TEXT, 21, "[50 ", "[-50 ", NO_FIELD, "a field is on the other side"},
    {NEW, TEXT, 21, "[50 ", "[ 50 ", NO_FIELD, "a number after a space"},
    {NEW, TEXT, 21, "[50 ", "[50", NO_FIELD, "two numbers become one"},
    {NEW, TEXT, 21, "[50 ", "[50.00001 ", NO_FIELD, "another number of more digits than are written"},
    {NEW, TEXT, 21, "[50 ", "[50.00000 ", NO_FIELD, "the same number with more digits than are written"},
    {NEW, TEXT, 21, "[50 ", "[50. ", NO_FIELD, "a point without digits"},
    {NEW, TEXT, 21, "[50 ", "[50.0 ", NULL, "the same number with more digits"},
    {NEW, TEXT, 22, "50.5", "50.5001", NO_FIELD, "a ten thousandth of a point elsewhere"},
    {NEW, TEXT, 21, "90 ]", "90 1 ]", NO_FIELD, "a rectangle of five numbers"},
    {NEW, TEXT, 22, "/R 90", "/R 91", NO_FIELD, "a turn that is none"},
    {NEW, TEXT, 22, "/R 90", "/R 180", NULL, "another turn, which the document has to confirm"},
    {NEW, TEXT, 21, RENDER_VERSION, "/AP<</N 3 0 R>>>>", NO_FIELD, "another appearance"},
    {NEW, TEXT, 21, RENDER_VERSION, "/V 3 0 R" RENDER_VERSION, NO_FIELD, "a value"},
    {NEW, TEXT, 21, RENDER_VERSION, "/AP<</N 20 0 R>>/A 1>>", NO_FIELD, "more at the end"},
    {NEW, TEXT, 22, "/P 3 0 R", "/P 4 0 R", OTHER_PAGE, "fields of one page on two"},
    {NEW, TEXT, 21, "/FT/Sig", "/StructParent 5/FT/Sig", NO_FIELD, "one field alone is numbered"},
    {NEW, DROP, 23, "", "", NO_FIELD, "a field is missing"},
    {NEW, DROP, 3, "", "", OLD_OBJECT, "a page is missing"},
    {NEW, TEXT, 3, "22 0 R ]", "22 0 R 9 0 R ]", OLD_OBJECT, "an annotation after the fields"},
    {NEW, TEXT, 3, "21 0 R 22 0 R", "22 0 R 21 0 R", OLD_OBJECT, "the fields in another order"},
    {NEW, TEXT, 3, "]>>", "]/A 1>>", OLD_OBJECT, "a key after the annotations"},
    {NEW, STREAM, 3, "", "", NEW_OBJECT, "a page is a stream"},
    {NEW, NUMBER, 3, "", "99", NEW_OBJECT, "a page has a new number"},
    {NEW, STREAM, 24, "", "", NEW_OBJECT, "the form is a stream"},
    {NEW, TEXT, 24, "/SigFlags 3", "/SigFlags 1", NEW_OBJECT, "a form with other flags"},
    {NEW, TEXT, 24, " 23 0 R", "", NEW_OBJECT, "a form without a field"},
    {NEW, DROP, 1, "", "", NEW_OBJECT, "the catalog is missing"},
    {NEW, CATALOG, 2, "", "", OLD_OBJECT, "another object as the catalog"},
    {NEW, STREAM, 1, "", "", OLD_OBJECT, "the catalog is a stream"},
    {NEW, TEXT, 1, "24 0 R>>", "11 0 R>>", OLD_OBJECT, "a catalog with another form"},
    {NEW, TEXT, 1, "24 0 R>>", "24 0 R/A 1>>", OLD_OBJECT, "a catalog with more at its end"},
    {NEW, ADD, 2, "", "<<>>", NEW_OBJECT, "one object more"},
    {NEW, SIZE, 26, "", "", NEW_OBJECT, "room for one object more"},
    {NEW, SECTION, 26, "", "", NULL, "the section is a stream, which has a number"},
    {NEW, SECTION, 25, "", "", NEW_OBJECT, "the section is a stream without a number"},

    {TAGGED, TEXT, 21, "/StructParent 5", "/StructParent 4", NO_FIELD, "numbers with a gap"},
    {TAGGED, TEXT, 22, "/StructParent 6", "/StructParent 5", NO_FIELD, "a number twice"},
    {TAGGED, TEXT, 22, "/StructParent 6", "", NO_FIELD, "a field without a number"},
    {TAGGED, TEXT, 22, "/StructParent 6", "/StructParent x", NO_FIELD, "a number that is none"},
    {TAGGED, DROP, 26, "", "", NO_ELEMENT, "an element is missing"},
    {TAGGED, STREAM, 24, "", "", NO_ELEMENT, "an element is a stream"},
    {TAGGED, NUMBER, 24, "", "99", NO_ELEMENT, "an element has another number"},
    {TAGGED, TEXT, 24, "/S/Form", "/S/P", NO_ELEMENT, "an element of another kind"},
    {TAGGED, TEXT, 24, "/P 8 0 R", "/P 8", NO_ELEMENT, "a parent that is no reference"},
    {TAGGED, TEXT, 24, "/P 8 0 R", "/P 25 0 R", NO_ELEMENT, "a parent that is new"},
    {TAGGED, TEXT, 25, "/P 8 0 R", "/P 7 0 R", NO_ELEMENT, "elements in several"},
    {TAGGED, TEXT, 24, "/Pg 3 0 R", "/Pg 4 0 R", NO_ELEMENT, "an element on another page"},
    {TAGGED, TEXT, 24, "/Pg 3 0 R", "/Pg", NO_ELEMENT, "an element on no page"},
    {TAGGED, TEXT, 24, "21 0 R", "22 0 R", NO_ELEMENT, "an element of another field"},
    {TAGGED, NUMBER, 8, "", "6", NO_ELEMENT, "another element is written again"},
    {TAGGED, STREAM, 8, "", "", NO_ELEMENT, "the parent is a stream"},
    {TAGGED, TEXT, 8, "26 0 R ]", "26 0 R 3 0 R ]", OLD_OBJECT, "the parent has one kid more"},
    {TAGGED, TEXT, 7, "NextKey 8", "NextKey 9", OLD_OBJECT, "another next number"},
    {TAGGED, STREAM, 7, "", "", NO_ELEMENT, "the root is a stream"},
    {TAGGED, TEXT, 9, "7 26 0 R", "7 25 0 R", OLD_OBJECT, "the tree has another element"},
    {TAGGED, STREAM, 9, "", "", NO_ELEMENT, "the tree is a stream"},
    {LEAF, TEXT, 27, "[5 7]", "[5 8]", NO_ELEMENT, "a leaf with other limits"},
    {LEAF, TEXT, 27, "5 24", "5 25", NO_ELEMENT, "a leaf with another element"},
    {LEAF, STREAM, 27, "", "", NO_ELEMENT, "a leaf that is a stream"},
    {LEAF, TEXT, 9, "27 0 R ]", "26 0 R ]", OLD_OBJECT, "the tree has another leaf"},
    {ROOT, TEXT, 7, "NextKey 8", "NextKey 9", OLD_OBJECT, "the root has another next number"},
    {ROOT, TEXT, 7, "26 0 R ]", "]", OLD_OBJECT, "the root has one kid less"},

    {OLD, DROP, 11, "", "", NEW_OBJECT, "no form"},
    {OLD, STREAM, 11, "", "", OLD_OBJECT, "a form that is a stream"},
    {OLD, NUMBER, 11, "", "99", OLD_OBJECT, "a form with a number far away"},
    {OLD, TEXT, 11, " 23 0 R", "", OLD_OBJECT, "a form without a field of its own"},
    {OLD, TEXT, 11, "]>>", "]/XFA 9 0 R>>", OLD_OBJECT, "a form with more at its end"},
    {OLD, ADD, 2, "", "<</SigFlags 3>>", NEW_OBJECT, "flags beside a form that has its fields"},
    {OLD, SIZE, 25, "", "", NEW_OBJECT, "room for an object"},
    {INLINE, TEXT, 1, "]>>>>", "]>>/A 1>>", OLD_OBJECT, "a catalog with more after its form"},
    {ARRAY, TEXT, 11, "3>>", "1>>", OLD_OBJECT, "a form without the second flag"},
    {ARRAY, TEXT, 11, "3>>", "2>>", OLD_OBJECT, "a form without the first flag"},
    {ARRAY, TEXT, 11, "/SigFlags 3", "", OLD_OBJECT, "a form without flags"},
    {ARRAY, TEXT, 11, "3>>", ">>", OLD_OBJECT, "flags without a number"},
    {ARRAY, STREAM, 11, "", "", NEW_OBJECT, "flags in a stream"},
    {ARRAY, ADD, 2, "", "<<>>", NEW_OBJECT, "one object more after the flags"},
    {FLAGS, TEXT, 1, "7>>>>", "4>>>>", OLD_OBJECT, "a catalog whose form has other flags"},
    {EXTENDED, TEXT, 1, "/ESIC", "/EVIL", NEW_OBJECT, "another extension"},
    {EXTENDED, CATALOG, 2, "", "", NEW_OBJECT, "the extension in another object"},
    {EXTENDED, STREAM, 1, "", "", NEW_OBJECT, "the extension in a stream"},
    {EXTENDED, DROP, 11, "", "", NULL, "no flags were missing"},

    {ENTRIES, TEXT, 21, "/Lock 26 0 R", "", NO_FIELD, "a signature without a lock"},
    {ENTRIES, TEXT, 21, "26 0 R", "25 0 R", NO_FIELD, "a signature with another lock"},
    {ENTRIES, TEXT, 22, "(rent)", "(rent_17)", NO_LOCK, "a name with a number, which the lock does not have"},
    {ENTRIES, TEXT, 22, "(rent)", "(rent_x)", NO_FIELD, "a name with something else after it"},
    {ENTRIES, TEXT, 22, "(rent)", "(rent_)", NO_FIELD, "a name with nothing after it"},
    {ENTRIES, TEXT, 22, "(rent)", "(Rent)", NO_FIELD, "another name"},
    {ENTRIES, TEXT, 22, "(Rent)", "(Costs)", NO_FIELD, "another label of a text"},
    {ENTRIES, TEXT, 22, "/FT/Tx", "/FT/Ch", NO_FIELD, "another kind"},
    {ENTRIES, TEXT, 22, "/Ff 1", "/Ff 0", NO_FIELD, "a text that readers may change"},
    {ENTRIES, TEXT, 22, "/MaxLen 9", "/MaxLen 8", NO_FIELD, "another length"},
    {ENTRIES, TEXT, 22, "/R 90", "/R 180", NO_FIELD, "another turn of a text"},
    {ENTRIES, TEXT, 22, "950", "951", NO_FIELD, "another value"},
    {ENTRIES, TEXT, 22, "/V(950,00)", "", NO_FIELD, "no value"},
    {ENTRIES, TEXT, 22, "/N 24", "/N 25", NO_FIELD, "the appearance of another field"},
    {ENTRIES, TEXT, 22, "/N 24 0 R", "/N 24 0 R/D 24 0 R", NO_FIELD, "one appearance more"},
    {ENTRIES, TEXT, 23, "/AS/Off", "/AS/On", NO_FIELD, "a check box that looks ticked"},
    {ENTRIES, TEXT, 23, "/V/Off/AS/Off", "/V/On/AS/On", NO_FIELD, "a check box that is ticked"},
    {ENTRIES, TEXT, 24, "40 99.5 ]", "40 99 ]", NO_LOOK, "an appearance of another size"},
    {ENTRIES, TEXT, 24, "0 1 -1 0", "0 1 1 0", NO_LOOK, "an appearance that is turned otherwise"},
    {ENTRIES, TEXT, 24, "/Type1", "/Type3", NO_LOOK, "an appearance with another font"},
    {ENTRIES, TEXT, 24, "/Length 0", "/Filter/FlateDecode/Length 0", NO_LOOK, "an appearance that is packed"},
    {ENTRIES, TEXT, 24, "/Length 0", "/OC 9 0 R/Length 0", NO_LOOK, "an appearance in a layer"},
    {ENTRIES, GENERATION, 24, "", "1", NO_LOOK, "an appearance with a generation"},
    {ENTRIES, NUMBER, 24, "", "99", NO_LOOK, "an appearance has another number"},
    {ENTRIES, DROP, 24, "", "", NO_LOOK, "an appearance is missing"},
    {ENTRIES, TEXT, 23, "/Off 20", "/Off 25", NO_FIELD, "a check box that is shown ticked"},
    {ENTRIES, TEXT, 23, "/On 25", "/On 20", NO_FIELD, "a check box that is never shown ticked"},
    {ENTRIES, TEXT, 23, "0 R>>>>", "0 R/A 20 0 R>>>>", NO_FIELD, "a check box with one state more"},
    {ENTRIES, TEXT, 25, "155 ", "15 ", NO_LOOK, "a tick of another size"},
    {ENTRIES, TEXT, 26, "(rent)", "", NO_LOCK, "a lock for no field"},
    {ENTRIES, TEXT, 26, "(rent)", "(rent)(read_2)", NO_LOCK, "a lock for a field of another signer"},
    {ENTRIES, TEXT, 26, "/Include", "/Exclude", NO_LOCK, "a lock for all other fields"},
    {ENTRIES, STREAM, 26, "", "", NO_LOCK, "a lock that is a stream"},
    {ENTRIES, DROP, 26, "", "", NO_LOCK, "no lock"},
    {ENTRIES, DROP, 11, "", "", NEW_OBJECT, "no form with what is filled in"},
};

static apr_array_header_t *fields_asked_for(form_t form)
{
    static const sr_pdf_field_t fields[] = {{.signer = "ann", .page = 0, .rect = {50, 50, 150, 90}},
                                            {.signer = "ann", .page = 0, .rect = {50.5, 100, 150, 140}},
                                            {.signer = "bob", .page = 1, .rect = {-5, 200, 150, 240.25}}};
    static const sr_pdf_entry_t rent = {
        .name = "rent", .label = "Rent", .text = "950,00", .max_length = 9, .rotate = 90, .content = "r"};
    static const sr_pdf_entry_t read = {.kind = SR_PDF_ENTRY_CHECKBOX, .name = "read", .label = "Read", .content = "r"};
    apr_array_header_t *list = apr_array_make(pool, 3, sizeof(sr_pdf_field_t));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) APR_ARRAY_PUSH(list, sr_pdf_field_t) = fields[i];
    if (form == ENTRIES) APR_ARRAY_IDX(list, 1, sr_pdf_field_t).entry = &rent;
    if (form == ENTRIES) APR_ARRAY_IDX(list, 2, sr_pdf_field_t).entry = &read;
    return list;
}

static sr_pdf_appended_t update_of(form_t form)
{
    apr_array_header_t *objects = apr_array_make(pool, 16, sizeof(sr_pdf_object_t));
    for (const object_t *one = UPDATES[form].objects; one->text; one++)
        APR_ARRAY_PUSH(objects, sr_pdf_object_t) = update_object(one->number, one->text);
    return (sr_pdf_appended_t){.objects = objects, .trailer = {.size = UPDATES[form].size, .root = 1}};
}

static void change_object(sr_pdf_object_t *object, size_t index)
{
    const char *put = CHANGES[index].put;
    if (CHANGES[index].what == TEXT)
        *object = update_object((int)object->number, update_replaced(object->body.at, CHANGES[index].find, put, pool));
    if (CHANGES[index].what == NUMBER) object->number = atoi(put);
    if (CHANGES[index].what == GENERATION) object->generation = atoi(put);
    if (CHANGES[index].what == STREAM) object->is_stream = true;
}

static sr_pdf_appended_t changed_update(size_t index)
{
    sr_pdf_appended_t update = update_of(CHANGES[index].form);
    const what_t what = CHANGES[index].what;
    apr_array_header_t *objects =
        update_changed(update.objects, CHANGES[index].number, what == DROP, change_object, index, pool);
    if (what == ADD)
        APR_ARRAY_PUSH(objects, sr_pdf_object_t) = update_object(CHANGES[index].number, CHANGES[index].put);
    if (what == SIZE || what == SECTION) update.trailer.size = CHANGES[index].number;
    if (what == CATALOG) update.trailer.root = CHANGES[index].number;
    update.trailer.is_stream = what == SECTION;
    update.objects = objects;
    return update;
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (form_t form = 0; form < FORMS; form++) {
        const apr_array_header_t *fields = fields_asked_for(form);
        const sr_pdf_appended_t update = update_of(form);
        is_str(sr_pdf_prepared_check(&update, fields, pool), NULL, "%s", UPDATES[form].name);
        ok(update.objects->nelts <= sr_pdf_prepared_most(fields), "the update has no more objects than are read");
    }
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++) {
        const sr_pdf_appended_t update = changed_update(i);
        const apr_array_header_t *fields = fields_asked_for(CHANGES[i].form);
        is_str(sr_pdf_prepared_check(&update, fields, pool), CHANGES[i].reason, "%s: %s", UPDATES[CHANGES[i].form].name,
               CHANGES[i].name);
    }
    const sr_pdf_appended_t none = {.objects = apr_array_make(pool, 1, sizeof(sr_pdf_object_t))};
    is_str(sr_pdf_prepared_check(&none, fields_asked_for(NEW), pool), NO_APPEARANCE, "no object");
    apr_pool_destroy(pool);
    return done();
}
