/* SPDX-License-Identifier: Apache-2.0 */
/* base_template.c: tests of src/base/template.c: values, sections, texts with plurals, and escaping. */
#include "base/base.h"
#include "tap.h"

#define ISOLATE "\xe2\x81\xa8"
#define END "\xe2\x81\xa9"

static apr_pool_t *pool;

static const char *piece(const char *name, apr_pool_t *result_pool)
{
    return strcmp(name, "self") ? strcmp(name, "row") ? NULL : "({{n}})" : "x{{>self}}";
}

static json_t *values(void)
{
    return sr_json_own(json_pack("{s:s,s:{s:s},s:[{s:i},{s:i}],s:[],s:b,s:i,s:s,s:s}", "name", "A & \"B\" <c> 'd'",
                                 "of", "name", "inner", "list", "n", 1, "n", 2, "none", "no", 0, "count", 2, "place",
                                 "{{name}}", "turned",
                                 "a\xe2\x80\xae"
                                 "b\xd8\x9c"
                                 "c"),
                       pool);
}

static void test_places(void)
{
    static const struct {
        const char *text, *html, *plain;
    } cases[] = {
        {"a{{name}}z", "aA &amp; &quot;B&quot; &lt;c&gt; &#39;d&#39;z", "aA & \"B\" <c> 'd'z"},
        {"{{of.name}} {{count}}{{nothing}}{{no}}", "inner 2", "inner 2"},
        {"{{#list}}[{{n}}{{count}}]{{/list}}", "[12][22]", "[12][22]"},
        {"{{#none}}x{{/none}}{{^none}}y{{/none}}{{#of}}{{name}}{{/of}}{{#no}}z{{/no}}", "yinner", "yinner"},
        {"{{place}}", "{{name}}", "{{name}}"},
        {"{{turned}}", "abc", "abc"},
        {"{{#list}}{{>row}}{{/list}}{{>other}}", "(1)(2)", "(1)(2)"},
        {"{{>self}}", "xxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxx"},
        {"{{open", "{{open", "{{open"},
        {"{{#list}}never ends", "", ""},
        {"{ {x} }}", "{ {x} }}", "{ {x} }}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sr_template_t html = {.piece = piece}, plain = {.piece = piece, .plain = true};
        is_str(sr_template_fill(cases[i].text, values(), &html, pool), cases[i].html, "%s", cases[i].text);
        is_str(sr_template_fill(cases[i].text, values(), &plain, pool), cases[i].plain,
               "the template is filled as text");
    }
    const sr_template_t keep = {.keep_unknown = true};
    is_str(sr_template_fill("{{nothing}}{{count}}", values(), &keep, pool), "{{nothing}}2",
           "an unknown name can be kept");
}

static void test_texts(void)
{
    json_t *texts = sr_json_own(json_pack("{s:s,s:{s:s,s:s,s:s}}", "said", "<{of.name}> {count}", "pages", "one",
                                          "one {count}", "few", "few {count}", "other", "other {count}"),
                                pool);
    char plurals[201];
    memset(plurals, 'x', 200);
    plurals[200] = '\0';
    plurals[1] = 'o';
    plurals[2] = 'f';
    plurals[3] = 't';
    plurals[101] = 'f';
    const sr_template_t template = {.texts = texts, .plurals = plurals};
    const sr_template_t together = {.texts = texts, .plurals = plurals, .together = true};
    is_str(sr_template_fill("{{:said}}", values(), &template, pool), "&lt;" ISOLATE "inner" END "&gt; 2",
           "a text of the catalogue");
    is_str(sr_template_fill("{{:said}}", values(), &together, pool), "&lt;inner&gt; 2",
           "a text of the catalogue has no isolation if texts are together");
    is_str(sr_template_fill("{{:unknown}}", values(), &template, pool), "", "an unknown text is empty");
    static const struct {
        int count;
        const char *text;
    } cases[] = {{0, "other 0"},   {1, "one 1"},     {2, "few 2"},       {3, "other 3"},
                 {101, "few 101"}, {201, "few 201"}, {199, "other 199"}, {1000001, "few 1000001"},
                 {-1, "other -1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *count = sr_json_own(json_pack("{s:i}", "count", cases[i].count), pool);
        is_str(sr_template_fill("{{:pages}}", count, &template, pool), cases[i].text, "%d", cases[i].count);
    }
    const sr_template_t none = {.texts = texts};
    is_str(sr_template_fill("{{:pages}}", values(), &none, pool), "other 2", "without plural rules");
}

/* No template ends the process. */
static void test_depth(void)
{
    apr_array_header_t *parts = apr_array_make(pool, 100000, sizeof(const char *));
    for (int i = 0; i < 100000; i++) APR_ARRAY_PUSH(parts, const char *) = "{{#of}}";
    const char *text = apr_pstrcat(pool, apr_array_pstrcat(pool, parts, 0), "x{{/of}}", NULL);
    const sr_template_t template = {.keep_unknown = true};
    ok(sr_template_fill(text, values(), &template, pool) != NULL, "nested sections that do not end");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_places();
    test_texts();
    test_depth();
    apr_pool_destroy(pool);
    return done();
}
