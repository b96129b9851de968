/* SPDX-License-Identifier: Apache-2.0 */
/* model_ink.c: tests of src/model/ink.c: drawn signatures of clients are trimmed, independent of the canvas, and the
 * messages of refusals. */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

typedef struct case_t {
    const char *name, *drawn;
    const char *says; /* the text of the ink, or the message of the error */
} case_t;

#define SIDES "A drawn signature needs width and height, from 1 to 100000"
#define POINT "Each point of a stroke must be [x, y] or [x, y, pressure]"

#define TEXT "The strokes of a signature as a text must be numbers written with the letters A to P and a to p"
#define KIND "The strokes of a signature must be an array, or a text"
/* A point with a pen of a sixth of its canvas, and a margin of 9 %: 1/6 / 0.82 = 0.20325 */
#define DOT "{\"width\":0.24835,\"height\":1.0,\"pen\":0.06835,\"strokes\":[[0.12415,0.5,0.06835]]}"

static const case_t CASES[] = {
    {"a dot", "{\"width\":1,\"height\":1,\"strokes\":[[[0,0]]]}", DOT},
    {"elsewhere", "{\"width\":720,\"height\":720,\"strokes\":[[[33.3,700]]]}", DOT},
    {"a pressure of null", "{\"width\":1,\"height\":1,\"strokes\":[[[0,0,null]]]}", DOT},
    {"an empty stroke is skipped", "{\"width\":1,\"height\":1,\"strokes\":[[],[[0,0]]]}", DOT},
    {"a stroke", "{\"width\":720,\"height\":360,\"strokes\":[[[0,0],[100,70,0.5],[200,0]]]}",
     "{\"width\":1.0,\"height\":0.413,\"pen\":0.0226,"
     "\"strokes\":[[0.04845,0.04845,0.0226,0.5,0.36455,0.0226,0.95155,0.04845,0.0226]]}"},
    {"different pressures", "{\"width\":720,\"height\":360,\"strokes\":[[[0,0,0],[200,70,1]]]}",
     "{\"width\":1.0,\"height\":0.413,\"pen\":0.0226,"
     "\"strokes\":[[0.0417,0.0417,0.00905,0.94475,0.35775,0.0361]]}"},
    {"a high canvas", "{\"width\":100,\"height\":700,\"strokes\":[[[0,0],[20,600]]]}",
     "{\"width\":0.22355,\"height\":1.0,\"pen\":0.01675,"
     "\"strokes\":[[0.0984,0.0984,0.01675,0.12515,0.9016,0.01675]]}"},
    {"points outside the canvas", "{\"width\":10,\"height\":10,\"strokes\":[[[-5,5,0.5],[15,5]]]}",
     "{\"width\":1.0,\"height\":0.05855,\"pen\":0.00655,"
     "\"strokes\":[[0.0293,0.0293,0.00655,0.9707,0.0293,0.00655]]}"},
    {"far beyond", "{\"width\":10,\"height\":10,\"strokes\":[[[-5e9,5,7],[1e300,5,-1]]]}",
     "{\"width\":1.0,\"height\":0.0599,\"pen\":0.00495,"
     "\"strokes\":[[0.02995,0.02995,0.0079,0.973,0.02995,0.00195]]}"},
    {"strokes as a text", "{\"width\":720,\"height\":360,\"strokes\":\"AAAiMmIA.iMnIoP\"}",
     "{\"width\":1.0,\"height\":0.4178,\"pen\":0.0224,"
     "\"strokes\":[[0.04885,0.0555,0.02245,0.49665,0.369,0.02245],[0.9445,0.0555,0.03585]]}"},
    {"strokes as a text, with empty ones", "{\"width\":720,\"height\":360,\"strokes\":\"..AAAiMmIA..iMnIoP.\"}",
     "{\"width\":1.0,\"height\":0.4178,\"pen\":0.0224,"
     "\"strokes\":[[0.04885,0.0555,0.02245,0.49665,0.369,0.02245],[0.9445,0.0555,0.03585]]}"},
    {"a text that ends within a number", "{\"width\":1,\"height\":1,\"strokes\":\"AAa\"}", TEXT},
    {"a text that ends within a point", "{\"width\":1,\"height\":1,\"strokes\":\"AA\"}", TEXT},
    {"a text with another letter", "{\"width\":1,\"height\":1,\"strokes\":\"AAQ\"}", TEXT},
    {"a number of seven digits", "{\"width\":1,\"height\":1,\"strokes\":\"aaaaaaAAA\"}", TEXT},
    {"an empty text", "{\"width\":1,\"height\":1,\"strokes\":\"..\"}", "The signature is empty"},
    {"nothing", "{}", SIDES},
    {"no object", "[]", SIDES},
    {"no height", "{\"width\":1,\"strokes\":[]}", SIDES},
    {"a width of 0", "{\"width\":0,\"height\":1,\"strokes\":[]}", SIDES},
    {"a width that is a string", "{\"width\":\"9\",\"height\":1,\"strokes\":[]}", SIDES},
    {"a width of a million", "{\"width\":1e6,\"height\":1e6,\"strokes\":[]}", SIDES},
    {"a ribbon", "{\"width\":51,\"height\":1,\"strokes\":[]}",
     "A drawn signature is at most 50 times as wide as high, or as high as wide"},
    {"no strokes", "{\"width\":1,\"height\":1}", KIND},
    {"a number instead of a stroke", "{\"width\":1,\"height\":1,\"strokes\":[5]}",
     "Each stroke must be an array of points"},
    {"an object instead of a stroke", "{\"width\":1,\"height\":1,\"strokes\":[{}]}",
     "Each stroke must be an array of points"},
    {"a number instead of a point", "{\"width\":1,\"height\":1,\"strokes\":[[5]]}", POINT},
    {"a point of one number", "{\"width\":1,\"height\":1,\"strokes\":[[[5]]]}", POINT},
    {"a point of four numbers", "{\"width\":1,\"height\":1,\"strokes\":[[[5,5,5,5]]]}", POINT},
    {"a point with a string", "{\"width\":1,\"height\":1,\"strokes\":[[[5,\"5\"]]]}", POINT},
    {"a point without y", "{\"width\":1,\"height\":1,\"strokes\":[[[5,null]]]}", POINT},
    {"an empty drawing", "{\"width\":1,\"height\":1,\"strokes\":[]}", "The signature is empty"},
    {"empty strokes", "{\"width\":1,\"height\":1,\"strokes\":[[],[]]}", "The signature is empty"},
};

static apr_pool_t *pool;

static const char *parse(const char *text)
{
    json_t *drawn;
    sr_ink_t *ink;
    sr_error_t *error = sr_json_parse(&drawn, text, strlen(text), pool);
    if (!error) error = sr_ink_parse(&ink, drawn, pool);
    if (error && error->code != SR_EBADREQUEST) return "an error of another kind";
    return error ? error->message : ink->text;
}

/* Returns a drawing whose strokes have `text` `count` times. */
static const char *repeated(const char *before, const char *text, int times, const char *after)
{
    apr_size_t length = strlen(text);
    char *all = apr_palloc(pool, (apr_size_t)times * (length + 1) + 1), *at = all;
    for (int i = 0; i < times; i++) {
        if (i) *at++ = ',';
        memcpy(at, text, length);
        at += length;
    }
    *at = '\0';
    return apr_pstrcat(pool, "{\"width\":1,\"height\":1,\"strokes\":[", before, all, after, "]}", NULL);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        is_str(parse(CASES[i].drawn), CASES[i].says, "%s", CASES[i].name);
    ok(parse(repeated("", "[[0,0]]", SR_INK_MAX_STROKES, ""))[0] == '{', "1,000 strokes");
    is_str(parse(repeated("", "[[0,0]]", SR_INK_MAX_STROKES + 1, "")), "A signature has at most 1000 strokes",
           "one more is refused");
    ok(parse(repeated("[", "[0,0]", SR_INK_MAX_POINTS, "]"))[0] == '{', "20,000 points");
    is_str(parse(repeated("[", "[0,0]", SR_INK_MAX_POINTS + 1, "]")), "A signature has at most 20000 points",
           "one more is refused");
    is_str(parse(repeated("[[0,0]],[", "[0,0]", SR_INK_MAX_POINTS, "]")), "A signature has at most 20000 points",
           "the limit counts the points of all strokes");
    apr_pool_destroy(pool);
    return done();
}
