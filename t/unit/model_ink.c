/* model_ink.c: drawn signatures as clients send them: what is normalised into what, and what is refused in which words.
 */
#include "model/model.h"
#include "tap.h"

#include <apr_general.h>

typedef struct case_t {
    const char *name, *drawn;
    const char *says; /* the ink's text, or the error's message */
} case_t;

#define SIDES "A drawn signature needs width and height, from 1 to 100000"
#define POINT "Each point of a stroke must be [x, y] or [x, y, pressure]"

static const case_t CASES[] = {
    {"a stroke", "{\"width\":200,\"height\":100,\"strokes\":[[[0,0],[100,50,0.25],[200,100,1]]]}",
     "{\"width\":1.0,\"height\":0.5,\"strokes\":[[0.0,0.0,0.5,0.5,0.25,0.25,1.0,0.5,1.0]]}"},
    {"a high canvas", "{\"width\":1,\"height\":4,\"strokes\":[[[1,4]],[[0.5,1]]]}",
     "{\"width\":0.25,\"height\":1.0,\"strokes\":[[0.25,1.0,0.5],[0.125,0.25,0.5]]}"},
    {"points outside the canvas", "{\"width\":10,\"height\":10,\"strokes\":[[[-5,20,7],[1e300,5,-1]]]}",
     "{\"width\":1.0,\"height\":1.0,\"strokes\":[[0.0,1.0,1.0,1.0,0.5,0.0]]}"},
    {"no pressure to tell", "{\"width\":1,\"height\":1,\"strokes\":[[[0,0,null]]]}",
     "{\"width\":1.0,\"height\":1.0,\"strokes\":[[0.0,0.0,0.5]]}"},
    {"numbers are rounded", "{\"width\":3,\"height\":3,\"strokes\":[[[1,2]]]}",
     "{\"width\":1.0,\"height\":1.0,\"strokes\":[[0.33335,0.66665,0.5]]}"},
    {"an empty stroke is passed over", "{\"width\":1,\"height\":1,\"strokes\":[[],[[0,0]]]}",
     "{\"width\":1.0,\"height\":1.0,\"strokes\":[[0.0,0.0,0.5]]}"},
    {"nothing", "{}", SIDES},
    {"no object", "[]", SIDES},
    {"no height", "{\"width\":1,\"strokes\":[]}", SIDES},
    {"a width of 0", "{\"width\":0,\"height\":1,\"strokes\":[]}", SIDES},
    {"a width in words", "{\"width\":\"9\",\"height\":1,\"strokes\":[]}", SIDES},
    {"a width of a country", "{\"width\":1e6,\"height\":1e6,\"strokes\":[]}", SIDES},
    {"a ribbon", "{\"width\":51,\"height\":1,\"strokes\":[]}",
     "A drawn signature is at most 50 times as wide as high, or as high as wide"},
    {"no strokes", "{\"width\":1,\"height\":1}", "The strokes of a signature must be an array"},
    {"strokes that are none", "{\"width\":1,\"height\":1,\"strokes\":[5]}", "Each stroke must be an array of points"},
    {"an object for a stroke", "{\"width\":1,\"height\":1,\"strokes\":[{}]}", "Each stroke must be an array of points"},
    {"points that are none", "{\"width\":1,\"height\":1,\"strokes\":[[5]]}", POINT},
    {"a point of one number", "{\"width\":1,\"height\":1,\"strokes\":[[[5]]]}", POINT},
    {"a point of four", "{\"width\":1,\"height\":1,\"strokes\":[[[5,5,5,5]]]}", POINT},
    {"a point in words", "{\"width\":1,\"height\":1,\"strokes\":[[[5,\"5\"]]]}", POINT},
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

/* `text`, so many times, within brackets. */
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
           "and one more");
    ok(parse(repeated("[", "[0,0]", SR_INK_MAX_POINTS, "]"))[0] == '{', "20,000 points");
    is_str(parse(repeated("[", "[0,0]", SR_INK_MAX_POINTS + 1, "]")), "A signature has at most 20000 points",
           "and one more");
    is_str(parse(repeated("[[0,0]],[", "[0,0]", SR_INK_MAX_POINTS, "]")), "A signature has at most 20000 points",
           "in all strokes together");
    apr_pool_destroy(pool);
    return done();
}
