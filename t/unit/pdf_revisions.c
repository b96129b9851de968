/* pdf_revisions.c: what is told of the changes between two revisions of a document, of which a signature covers each
 * (src/pdfd/changes.cc, rules.cc, uses.cc). The revisions are compared in this process, and no signature is looked at:
 * so documents may have what no signer of ours writes. pdf_changes.c has signatures. */
#include "changes_make.h"
#include "pdfd/changes.h"

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

static const case_t POLICIES[] = {
    {"a certification that allows nothing",
     SIGNED(REFERENCE("DocMDP", "/P 1")),
     {FILL},
     FIELD ": the signature allows no changes" FILLED},
    {"one that allows forms", SIGNED(REFERENCE("DocMDP", "/P 2")), {FILL}, FILLED},
    {"one that does not say what it allows", SIGNED(REFERENCE("DocMDP", "")), NEW_FIELD(SEEN),
     "the form field \"new\": the signature allows no new fields"},
    {"one that allows forms, and a field that shows nothing", SIGNED(REFERENCE("DocMDP", "/P 2")), NEW_FIELD(UNSEEN),
     NOTHING},
    {"one that allows nothing, and a document timestamp", SIGNED(REFERENCE("DocMDP", "/P 1")),
     NEW_FIELD(UNSEEN TIMESTAMP), NOTHING},
    {"one that allows nothing, and a timestamp that is seen", SIGNED(REFERENCE("DocMDP", "/P 1")),
     NEW_FIELD(SEEN TIMESTAMP), "the form field \"new\": the signature allows no changes"},
    {"a lock of all fields",
     SIGNED(REFERENCE("FieldMDP", "/Action/All")),
     {FILL},
     FIELD ", which the signature locks" FILLED},
    {"a lock of some fields",
     SIGNED(REFERENCE("FieldMDP", "/Action/Include/Fields[(x)(amount)1]")),
     {FILL},
     FIELD ", which the signature locks" FILLED},
    {"a lock of other fields", SIGNED(REFERENCE("FieldMDP", "/Action/Include/Fields[(x)]")), {FILL}, FILLED},
    {"a lock of all but some", SIGNED(REFERENCE("FieldMDP", "/Action/Exclude/Fields[(amount)]")), {FILL}, FILLED},
    {"a lock of all but others",
     SIGNED(REFERENCE("FieldMDP", "/Action/Exclude/Fields[(x)]")),
     {FILL},
     FIELD ", which the signature locks" FILLED},
    {"a lock without a list",
     SIGNED(REFERENCE("FieldMDP", "/Action/Exclude/Fields 1")),
     {FILL},
     FIELD ", which the signature locks" FILLED},
    {"a lock that does not say of what", SIGNED(REFERENCE("FieldMDP", "/Fields[(amount)]")), {FILL}, FILLED},
    {"a reference that names no method", SIGNED("/Reference[<</TransformMethod(DocMDP)>>]"), {FILL}, FILLED},
    {"a reference of another kind", SIGNED(REFERENCE("UR3", "/P 1")), {FILL}, FILLED},
    {"references that are no list", SIGNED("/Reference 1"), {FILL}, FILLED},
    {"a lock in the field",
     {{12, "/FT/Sig", "/FT/Sig/Lock<</P 1>>/V 60 0 R"}, {60, NULL, SIGNATURE("")}},
     {FILL},
     FIELD ": the signature allows no changes" FILLED},
    {"a lock in the field is less than the certification",
     {{12, "/FT/Sig", "/FT/Sig/Lock<</P 1>>/V 60 0 R"}, {60, NULL, SIGNATURE(REFERENCE("DocMDP", "/P 2"))}},
     {FILL},
     FILLED},
    {"the signature in a part of the field",
     {{12, "/FT/Sig", "/FT/Sig/Kids[1 62 0 R 61 0 R]"},
      {61, NULL, "<</Parent 12 0 R/V 60 0 R>>"},
      {62, NULL, "<</Parent 12 0 R>>"},
      {60, NULL, SIGNATURE(REFERENCE("DocMDP", "/P 1"))}},
     {FILL},
     FIELD ": the signature allows no changes" FILLED},
    {"a signature of another revision",
     {{12, "/FT/Sig", "/FT/Sig/V 60 0 R"},
      {60, NULL, "<</Type/Sig/ByteRange[0 1 2 3]/Contents<00>" REFERENCE("DocMDP", "/P 1") ">>"}},
     {FILL},
     FILLED},
    {"a range of three numbers",
     {{12, "/FT/Sig", "/FT/Sig/V 60 0 R"},
      {60, NULL, "<</Type/Sig/ByteRange[0 2 @]/Contents<00>" REFERENCE("DocMDP", "/P 1") ">>"}},
     {FILL},
     FILLED},
    {"a range that is no numbers",
     {{12, "/FT/Sig", "/FT/Sig/V 60 0 R"},
      {60, NULL, "<</Type/Sig/ByteRange[0 1(2)@]/Contents<00>" REFERENCE("DocMDP", "/P 1") ">>"}},
     {FILL},
     FILLED},
};

#define WITH(with)                                                                                                     \
    {                                                                                                                  \
        1, "/Names<<", with "/Names<<"                                                                                 \
    }
#define DSS "its validation data (DSS)"
#define STORE                                                                                                          \
    {                                                                                                                  \
        WITH("/DSS 60 0 R"), {60, NULL, "<</VRI 61 0 R/Certs 62 0 R>>"}, {61, NULL, "<</A<<>>>>"},                     \
        {                                                                                                              \
            62, NULL, "[63 0 R]"                                                                                       \
        }                                                                                                              \
    }
#define FORM(what, with)                                                                                               \
    {                                                                                                                  \
        9, what, with                                                                                                  \
    }
#define GROUP(parent, kid)                                                                                             \
    {10, NULL, "<</T(group)/FT/Tx" parent "/Kids[60 0 R]>>"},                                                          \
    {                                                                                                                  \
        60, NULL, "<</Type/Annot/Subtype/Widget/Parent 10 0 R/Rect[9 9 99 29]" kid ">>"                                \
    }
#define TEN "aaaaaaaaaa"
#define FIFTY TEN TEN TEN TEN TEN
#define LONG FIFTY FIFTY FIFTY TEN TEN "aaaaaaaaa" /* 199 bytes with what is before it */
#define LOOK "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 2>>stream\nBT\nendstream"

static const case_t RULES[] = {
    /* the catalog and what it refers to */
    {"extensions", {{0}}, {WITH("/Extensions<</A<<>>>>")}, NOTHING},
    {"extensions that are none", {{0}}, {WITH("/Extensions 1")}, "its catalog: /Extensions"},
    {"extensions in an object",
     {WITH("/Extensions 60 0 R"), {60, NULL, "<</A 1>>"}},
     {{60, NULL, "<</A 2>>"}},
     NOTHING},
    {"extensions in an object that is something else too",
     {WITH("/Extensions 20 0 R")},
     {{20, "(a)", "(b)"}},
     "its catalog: /Extensions"},
    {"what is said of marks",
     {WITH("/MarkInfo 60 0 R"), {60, NULL, "<</Marked true>>"}},
     {{60, NULL, "<</Marked false>>"}},
     NOTHING},
    {"metadata are gone", {{0}}, {{1, "/Metadata 18 0 R", ""}}, NOTHING},
    {"metadata that are no stream", {{0}}, {{1, "/Metadata 18 0 R", "/Metadata<<>>"}}, "its catalog: /Metadata"},
    {"a catalog that is no dictionary", {{0}}, {{1, NULL, "[]"}}, "its catalog; its catalog: it is another object"},
    {"many changes",
     {{0}},
     {WITH("/A 1/B 1/C 1/D 1/E 1/F 1/G 1/H 1/I 1/J 1/K 1/L 1/M 1/N 1/O 1/P 1/Q 1/R 1/S 1/T 1/U 1/V 1")},
     "its catalog: /A; its catalog: /B; its catalog: /C; its catalog: /D; its catalog: /E; its catalog: /F; "
     "its catalog: /G; its catalog: /H; its catalog: /I; its catalog: /J; its catalog: /K; its catalog: /L; "
     "its catalog: /M; its catalog: /N; its catalog: /O; its catalog: /P; its catalog: /Q; its catalog: /R; "
     "its catalog: /S; its catalog: /T; and more"},
    {"a key with a byte that is no text", {{0}}, {WITH("/\351 1")}, "its catalog: /?"},
    {"a key with a byte that is not shown", {{0}}, {WITH("/A#1bB 1")}, "its catalog: /A?B"},
    {"an object that nothing refers to", {{60, NULL, "<<>>"}}, {{60, NULL, "<</A 1>>"}}, "object 60"},

    /* validation data */
    {"validation data", {{0}}, {WITH("/DSS<</VRI<<>>/Certs[]>>")}, "validation"},
    {"validation data that are none", {{0}}, {WITH("/DSS 1")}, DSS},
    {"validation data of an unknown kind", {{0}}, {WITH("/DSS<</Foo 1>>")}, DSS},
    {"validation data whose certificates are no list", {{0}}, {WITH("/DSS<</Certs 1>>")}, DSS},
    {"validation data of signatures that are none", {{0}}, {WITH("/DSS<</VRI 1>>")}, DSS},
    {"validation data are gone", STORE, {{1, "/DSS 60 0 R", ""}}, DSS},
    {"more certificates", STORE, {{62, NULL, "[63 0 R 63 0 R]"}}, "validation"},
    {"validation data of one more signature", STORE, {{61, NULL, "<</A<<>>/B<<>>>>"}}, "validation"},
    {"validation data of another signature", STORE, {{61, NULL, "<</B<<>>>>"}}, DSS},
    {"other validation data of a signature", STORE, {{61, NULL, "<</A<</Cert[]>>>>"}}, DSS},
    {"another store", STORE, {{60, NULL, "<</VRI 61 0 R>>"}}, "validation"},
    {"a list of certificates that a page draws with",
     {WITH("/DSS<</Certs 60 0 R>>"), {60, NULL, "[1]"}, {2, "/X1 16 0 R", "/X1 16 0 R/C 60 0 R"}},
     {{60, NULL, "[2]"}},
     "its catalog: /DSS"},

    /* the form */
    {"no form any more", {{0}}, {{1, "/AcroForm 9 0 R", ""}}, "its form"},
    {"a form that is no dictionary", {{0}}, {{1, "/AcroForm 9 0 R", "/AcroForm[]"}}, "its form"},
    {"no form in both", {{1, "/AcroForm 9 0 R", ""}}, {WITH("/Version/1.7")}, NOTHING},
    {"a form where there was none", {{1, "/AcroForm 9 0 R", ""}}, {WITH("/AcroForm<</Fields[]/SigFlags 3>>")}, NOTHING},
    {"a form of fields that were there",
     {{1, "/AcroForm 9 0 R", ""}},
     {WITH("/AcroForm<</Fields[10 0 R]>>")},
     NAMED("amount")},
    {"flags", {{0}}, {FORM("/SigFlags 0", "/SigFlags 3")}, NOTHING},
    {"flags that are less",
     {FORM("/SigFlags 0", "/SigFlags 3")},
     {FORM("/SigFlags 3", "/SigFlags 1")},
     "its form: /SigFlags"},
    {"flags that are none", {{0}}, {FORM("/SigFlags 0", "/SigFlags/A")}, "its form: /SigFlags"},
    {"another default of texts", {{0}}, {FORM("/Helv 0 Tf", "/Helv 9 Tf")}, NOTHING},
    {"a default of texts that is none", {{0}}, {FORM("/DA(/Helv 0 Tf 0 g)", "/DA 1")}, "its form: /DA"},
    {"another default of lines", {{0}}, {FORM("/DA", "/Q 1/DA")}, NOTHING},
    {"a default of lines that is none", {{0}}, {FORM("/DA", "/Q(1)/DA")}, "its form: /Q"},
    {"appearances need not be drawn", {{0}}, {FORM("/DA", "/NeedAppearances false/DA")}, NOTHING},
    {"resources that are gone", {{0}}, {FORM("/DR<</Font<</Helv 7 0 R>>>>", "")}, "its form: /DR"},
    {"more resources", {{0}}, {FORM("/Font<<", "/Encoding<<>>/Font<</F9 17 0 R")}, NOTHING},
    {"resources of another kind", {FORM("/Font<<", "/A 1/Font<<")}, {FORM("/A 1", "/A 2")}, "its form: /DR"},
    {"the same resources of another kind", {FORM("/Font<<", "/A 1/Font<<")}, {FORM("/A 1", "/A 1/B 1")}, NOTHING},
    {"resources in objects",
     {FORM("/DR<</Font<</Helv 7 0 R>>>>", "/DR 60 0 R"), {60, NULL, "<</Font 61 0 R>>"}, {61, NULL, "<</Helv 7 0 R>>"}},
     {{61, NULL, "<</Helv 7 0 R/F9 17 0 R>>"}},
     NOTHING},
    {"resources in an object that a page draws with",
     {FORM("/DR<</Font<</Helv 7 0 R>>>>", "/DR<</Font 61 0 R>>"),
      {61, NULL, "<</Helv 7 0 R>>"},
      {2, "/Font<</F1 7 0 R/F2 17 0 R>>", "/Font 61 0 R"}},
     {{61, NULL, "<</Helv 7 0 R/F9 17 0 R>>"}},
     "its page tree"},
    {"fields that are no list",
     {{0}},
     {FORM("/Fields[10 0 R 11 0 R 12 0 R 13 0 R 14 0 R]", "/Fields 1")},
     "its form: /Fields"},
    {"no fields any more", {{0}}, {FORM("/Fields[10 0 R 11 0 R 12 0 R 13 0 R 14 0 R]", "")}, "its form: /Fields"},
    {"no fields in both", {FORM("/Fields[10 0 R 11 0 R 12 0 R 13 0 R 14 0 R]", "")}, {FORM("/DA", "/Q 1/DA")}, NOTHING},
    {"fields that were no list",
     {FORM("/Fields[10 0 R 11 0 R 12 0 R 13 0 R 14 0 R]", "/Fields 1")},
     {FORM("/Fields 1", "/Fields[]")},
     "its form: /Fields"},
    {"a field in the list itself", {FORM("[10 0 R", "[<</T(in)/FT/Tx>>10 0 R")}, {FILL}, FILLED},
    {"one more in the list itself",
     {FORM("[10 0 R", "[<</T(in)/FT/Tx>>10 0 R")},
     {FORM("[<<", "[<</T(more)/FT/Tx>><<")},
     "its form: /Fields"},
    {"a field is there twice", {{0}}, {FORM("[10 0 R", "[10 0 R 10 0 R")}, NAMED("amount")},

    /* fields that are filled in */
    {"a part of a field", {GROUP("", "/T(part)/V(1)")}, {{60, "/V(1)", "/V(2)"}}, "; filled: group.part"},
    {"a field and how a part of it looks",
     {GROUP("/V(1)", "/AP<</N 15 0 R>>")},
     {{10, "/V(1)", "/V(2)"}, {60, "15 0 R", "61 0 R"}, {61, NULL, LOOK}},
     "; filled: group"},
    {"how a part looks, without a value",
     {GROUP("/V(1)", "/AP<</N 15 0 R>>")},
     {{60, "15 0 R", "61 0 R"}, {61, NULL, LOOK}},
     "the form field \"group\": /AP"},
    {"fields within each other without end", {GROUP("", "/Kids[60 0 R]")}, {{11, "/V/Off", "/V/Yes"}}, UNKNOWN},
    {"another type", {{0}}, {{10, "/Type/Annot", "/Type/Font"}}, FIELD ": /Type"},
    {"a type where there was none", {{10, "/Type/Annot", ""}}, {{10, "/Subtype", "/Type/Annot/Subtype"}}, NOTHING},
    {"a field that is no dictionary", {{0}}, {{10, NULL, "[]"}}, "page 1: an annotation or form field"},
    {"a value that is a number", {{0}}, {{10, "/V(1)", "/V 1"}}, FIELD ": /V"},
    {"a value that is a dictionary", {{0}}, {{10, "/V(1)", "/V<<>>"}}, FIELD ": /V"},
    {"a value that is a stream", {{0}}, {{10, "/V(1)", "/V 61 0 R"}, {61, NULL, LOOK}}, FIELD ": /V"},
    {"a value in an object", {{10, "/V(1)", "/V 60 0 R"}, {60, NULL, "(1)"}}, {{10, "/V 60 0 R", "/V(2)"}}, FILLED},
    {"the value of a button that is pushed", {{0}}, {{13, "/T(push)", "/T(push)/V(1)"}}, "the form field \"push\": /V"},
    {"an appearance that is none",
     {{0}},
     {{10, "/V(1)", "/V(2)"}, {10, "/AP<</N 15 0 R>>", "/AP 1"}},
     FIELD ": /AP; " FIELD ": /V"},
    {"an appearance of an unknown kind",
     {{0}},
     {{10, "/V(1)", "/V(2)"}, {10, "/AP<<", "/AP<</X 1"}},
     FIELD ": /AP; " FIELD ": /V"},
    {"no appearance any more", {{0}}, {{10, "/V(1)", "/V(2)"}, {10, "/AP<</N 15 0 R>>", ""}}, FILLED},
    {"an appearance in its place", {{10, "15 0 R", "60 0 R"}, {60, NULL, LOOK}}, {FILL, {60, "9 9", "8 8"}}, FILLED},
    {"an appearance of two fields in its place",
     {{10, "15 0 R", "60 0 R"}, {60, NULL, LOOK}, {14, "15 0 R", "60 0 R"}},
     {FILL, {60, "9 9", "8 8"}},
     "page 1: an annotation or form field" FILLED},
    {"appearances in an object",
     {{10, "/AP<</N 15 0 R>>", "/AP 60 0 R"}, {60, NULL, "<</N 61 0 R/D 61 0 R>>"}, {61, NULL, LOOK}},
     {FILL, {60, NULL, "<</N 61 0 R>>"}},
     FILLED},
    {"appearances in an object that two fields have",
     {{10, "/AP<</N 15 0 R>>", "/AP 60 0 R"},
      {60, NULL, "<</N 61 0 R>>"},
      {61, NULL, LOOK},
      {14, "/AP<</N 15 0 R>>", "/AP 60 0 R"}},
     {FILL, {60, NULL, "<<>>"}},
     "page 1: an annotation or form field" FILLED},

    /* fields that are signed */
    {"a signature", {{0}}, {{12, "/FT/Sig", "/FT/Sig/V 60 0 R"}, {60, NULL, SIGNATURE("")}}, NOTHING},
    {"a signature without a type", {{0}}, {{12, "/FT/Sig", "/FT/Sig/V<</ByteRange[]/Contents()>>"}}, NOTHING},
    {"a signature of an unknown type",
     {{0}},
     {{12, "/FT/Sig", "/FT/Sig/V<</Type/X/ByteRange[]/Contents()>>"}},
     "the form field \"empty\": /V"},
    {"a signature that covers nothing",
     {{0}},
     {{12, "/FT/Sig", "/FT/Sig/V<</Type/Sig/Contents()>>"}},
     "the form field \"empty\": /V"},
    {"a signature without contents",
     {{0}},
     {{12, "/FT/Sig", "/FT/Sig/V<</Type/Sig/ByteRange[]>>"}},
     "the form field \"empty\": /V"},
    {"a signature that is an object of before",
     {{60, NULL, SIGNATURE("")}},
     {{12, "/FT/Sig", "/FT/Sig/V 60 0 R"}},
     "the form field \"empty\": /V"},
    {"a value that is no signature", {{0}}, {{12, "/FT/Sig", "/FT/Sig/V(x)"}}, "the form field \"empty\": /V"},
    {"another signature",
     SIGNED(""),
     {{12, "/V 60 0 R", "/V 61 0 R"}, {61, NULL, SIGNATURE("")}},
     "the form field \"empty\": /V"},
    {"how a signed field looks",
     SIGNED(""),
     {{12, "/F 132", "/F 132/AP<</N 61 0 R>>"}, {61, NULL, LOOK}},
     "the form field \"empty\": /AP"},
    {"a signature whose parts get a look",
     {{12, "/F 132", "/F 132/Kids[60 0 R]"}, {60, NULL, "<</Subtype/Widget/Parent 12 0 R/Rect[0 0 9 9]>>"}},
     {{12, "/FT/Sig", "/FT/Sig/V<</ByteRange[]/Contents()>>"},
      {60, "/Rect", "/AP<</N 61 0 R>>/Rect"},
      {61, NULL, LOOK}},
     NOTHING},

    /* new fields */
    {"a field without a name", {{0}}, {{9, "10 0 R", "61 0 R 10 0 R"}, {61, NULL, "<</FT/Sig>>"}}, NAMED("")},
    {"a field with a parent", {{0}}, NEW_FIELD(UNSEEN "/Parent 10 0 R"), NAMED("new")},
    {"a field without a place", {{0}}, NEW_FIELD(""), NOTHING},
    {"a field with a place that is none", {{0}}, NEW_FIELD("/Rect[(a) 0 0 0]"), NOTHING},
    {"a field with a key of another kind", {{0}}, NEW_FIELD(UNSEEN "/A 1"), NAMED("new")},
    {"a field with a look", {{0}}, NEW_FIELD(SEEN "/AP<</N 15 0 R>>"), NOTHING},
    {"a field with a look that is none", {{0}}, NEW_FIELD(SEEN "/AP[]"), NAMED("new")},
    {"a field with a look of an unknown kind", {{0}}, NEW_FIELD(SEEN "/AP<</X 1>>"), NAMED("new")},
    {"a field with a value that is no signature", {{0}}, NEW_FIELD(UNSEEN "/V(x)"), NAMED("new")},
    {"a field with a signature", {{0}}, NEW_FIELD(SEEN "/V<</ByteRange[]/Contents()>>"), NOTHING},
    {"a field whose parts are no list", {{0}}, NEW_FIELD("/Kids 1"), NAMED("new")},
    {"a field with a part",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</FT/Sig/T(new)/Kids[62 0 R]>>"},
      {62, NULL, "<</Subtype/Widget" SEEN "/Parent 61 0 R>>"}},
     NOTHING},
    {"a field with a part that was there", {{0}}, NEW_FIELD("/Kids[21 0 R]"), NAMED("new")},
    {"a field with a part that has a name",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</FT/Sig/T(new)/Kids[62 0 R]>>"},
      {62, NULL, "<</T(a)" SEEN "/Parent 61 0 R>>"}},
     NAMED("new")},
    {"a field with a part that has a value",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</FT/Sig/T(new)/Kids[62 0 R]>>"},
      {62, NULL, "<</V(a)" SEEN "/Parent 61 0 R>>"}},
     NAMED("new")},
    {"a name that is cut within a character",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"}, {61, NULL, "<</FT/Tx/T(" LONG "\344\344\344)>>"}},
     "the new form field \"" LONG},

    /* pages and annotations */
    {"a page that is no dictionary", {{0}}, {{3, NULL, "[]"}}, "page 1: it is another object"},
    {"another key of a page", {{0}}, {{3, "/Rotate 0", "/Rotate 0/Tabs/S"}}, "page 1: /Tabs"},
    {"another size of a page",
     {{0}},
     {{3, "/Rotate 0", "/Rotate 0/MediaBox[0 0 9 9]"}},
     "page 1: its size or rotation"},
    {"another unit of a page", {{0}}, {{3, "/Rotate 0", "/Rotate 0/UserUnit 2"}}, "page 1: its size or rotation"},
    {"another part of a page", {{0}}, {{4, "612.00", "611"}}, "page 2: its size or rotation"},
    {"annotations that are no list", {{0}}, {{8, NULL, "<<>>"}}, "page 1: an annotation or form field"},
    {"annotations that were no list", {{8, NULL, "<<>>"}}, {{8, NULL, "[]"}}, "page 1: an annotation or form field"},
    {"no annotations any more", {{0}}, {{4, "/Annots[13 0 R 21 0 R]", ""}}, "page 2: an annotation or form field"},
    {"annotations of a page that were no list",
     {{4, "/Annots[13 0 R 21 0 R]", "/Annots 1"}},
     {{4, "/Annots 1", "/Annots[]"}},
     "page 2: an annotation or form field"},
    {"a new field on a page",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</Subtype/Widget/FT/Sig/T(new)" SEEN ">>"},
      {4, "21 0 R]", "21 0 R 61 0 R]"}},
     NOTHING},
    {"a new field before others on a page",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</Subtype/Widget/FT/Sig/T(new)" SEEN ">>"},
      {4, "[13 0 R", "[61 0 R 13 0 R"}},
     NOTHING},
    {"a new field on a page that had none",
     {{4, "/Annots[13 0 R 21 0 R]", ""}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</Subtype/Widget/FT/Sig/T(new)" SEEN ">>"},
      {4, "/Parent", "/Annots[61 0 R]/Parent"}},
     NOTHING},
    {"a new field and another key of a page",
     {{0}},
     {{9, "10 0 R", "61 0 R 10 0 R"},
      {61, NULL, "<</Subtype/Widget/FT/Sig/T(new)" SEEN ">>"},
      {4, "21 0 R]", "21 0 R 61 0 R]/Tabs/S"}},
     "page 2: /Tabs"},
    {"annotations that a form has too",
     {{1, "/AcroForm 9 0 R", "/AcroForm 9 0 R/X 8 0 R"}},
     {{9, "10 0 R", "61 0 R 10 0 R"}, {61, NULL, "<</Subtype/Widget/FT/Sig/T(new)" SEEN ">>"}, {8, "]", " 61 0 R]"}},
     "its catalog: /X"},
    {"an annotation that is written otherwise", {{0}}, {{21, "[0 0 9 9]", "[0. -0 +9 09.0]"}}, NOTHING},
    {"a number that becomes a text", {{0}}, {{21, "[0 0 9 9]", "[(0) 0 9 9]"}}, "page 2: an annotation or form field"},
    {"an action that becomes an object",
     {{60, NULL, "<</S/URI/URI(http://example.org)>>"}},
     {{21, "/A<</S/URI/URI(http://example.org)>>", "/A 60 0 R"}},
     "page 2: an annotation or form field"},
};

/* An update of one object. */
static void apply(pdf_t *pdf, const edit_t *edit)
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
static void apply_all(pdf_t *pdf, const edit_t *edits, size_t count)
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

static const char *joined(const json_t *texts)
{
    const char *all = "";
    size_t i;
    const json_t *text;
    json_array_foreach(texts, i, text) all =
        apr_pstrcat(bench.pool, all, *all ? "; " : "", json_string_value(text), NULL);
    return all;
}

/* The changes between two revisions that are signed; and after the last one: "validation", if it is that alone. */
static const char *said(const pdf_t *pdf, size_t end, bool last)
{
    sr_pdfd_revision_t revisions[2] = {{.end = end}, {.end = pdf->size}};
    sr_pdfd_changes_find(revisions, last ? 1 : 2, (const unsigned char *)pdf->data, pdf->size, 60);
    const char *text = revisions[0].changes ? joined(revisions[0].changes) : UNKNOWN;
    const char *filled = joined(revisions[0].filled);
    if (*filled) text = apr_pstrcat(bench.pool, text, "; filled: ", filled, NULL);
    if (revisions[0].validation) text = "validation";
    for (int i = 0; i < 2; i++) json_decref(revisions[i].changes);
    for (int i = 0; i < 2; i++) json_decref(revisions[i].filled);
    return text;
}

static void test_cases(const case_t *cases, size_t count)
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

int main(void)
{
    apr_initialize();
    apr_pool_create(&bench.pool, NULL);
    test_cases(POLICIES, sizeof POLICIES / sizeof *POLICIES);
    test_cases(RULES, sizeof RULES / sizeof *RULES);
    apr_pool_destroy(bench.pool);
    return done();
}
