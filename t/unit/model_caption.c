/* SPDX-License-Identifier: Apache-2.0 */
/* model_caption.c: tests of src/model/caption_text.c and src/base/caption_area.c: the words that a caption may have,
 * their texts in several languages and time zones, and the height of the line. */
#include "model/model.h"
#include "tap.h"

#include <time.h>

static apr_pool_t *pool;

#define UUID "0b8f9d2e-5a0c-4a8e-9d51-1b2f6f0c9a11"

static void test_words(void)
{
    static const struct {
        const char *text, *caption; /* NULL if it is refused */
    } cases[] = {
        {"name", "name"},
        {"date", "date"},
        {"id", "id"},
        {"name,date,id", "name,date,id"},
        {"id,name", "id,name"},
        {" name , date ", "name,date"},
        {"", ""},
        {"  ", ""},
        {"Name", NULL},
        {"name,", NULL},
        {",", NULL},
        {"name;date", NULL},
        {"name,name", NULL},
        {"name date", NULL},
        {"na me", NULL},
        {"true", NULL},
        {"time", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *caption;
        const bool good = sr_caption_read(&caption, cases[i].text, pool);
        is_str(good ? caption : NULL, cases[i].caption, "the words '%s'", cases[i].text);
    }
}

static sr_signer_t *signer(const char *locale, const char *const *captions)
{
    sr_signer_t *made = apr_pcalloc(pool, sizeof *made);
    apr_array_header_t *fields = apr_array_make(pool, 4, sizeof(sr_field_t));
    for (; *captions; captions++)
        APR_ARRAY_PUSH(fields, sr_field_t) = (sr_field_t){.document = strchr(*captions, '!') ? "b.pdf" : "a.pdf",
                                                          .caption = **captions == '!' ? NULL : *captions};
    *made = (sr_signer_t){.uuid = UUID, .firstname = "Ann", .lastname = "Lee", .locale = locale, .fields = fields};
    return made;
}

/* Removes the marks of direction. */
static const char *bare(const char *text)
{
    char *out = apr_pstrdup(pool, text), *to = out;
    for (const char *at = text, *from = at; *at; from = at) {
        const uint32_t c = sr_text_next(&at);
        if (c == 0x200e || c == 0x200f || c == 0x2068 || c == 0x2069) continue;
        while (from < at) *to++ = *from++;
    }
    *to = '\0';
    return out;
}

static const char *text_of(const char *locale, const char *page, const char *caption, const char *when, int offset)
{
    sr_client_t client = {.time_zone = "Europe/Berlin", .utc_offset = offset};
    const sr_signer_t *person = signer(locale, (const char *const[]){caption, NULL});
    sr_captions_t captions = {person, sr_language_of(page), &client, 0};
    sr_time_parse(&captions.when, when);
    const json_t *texts = json_object_get(sr_captions_json(&captions, NULL, pool), "texts");
    return json_string_value(json_array_get(texts, 0));
}

static void test_texts(void)
{
    static const char noon[] = "2026-11-05T12:00:00Z";
    static const struct {
        const char *locale, *page, *text;
    } dates[] = {
        {"de-AT", "en", "5. November 2026"},
        {NULL, "en", "5 November 2026"},
        {NULL, "fr", "5 novembre 2026"},
        {"tlh", "pl", "5 listopada 2026"},
        {"uk", "en",
         "5 \xd0\xbb\xd0\xb8\xd1\x81\xd1\x82\xd0\xbe\xd0\xbf\xd0\xb0"
         "\xd0\xb4\xd0\xb0 2026 \xd1\x80."},
        {"ja", "en",
         "2026\xe5\xb9\xb4"
         "11\xe6\x9c\x88"
         "5\xe6\x97\xa5"},
        {"pt-BR", "en", "5 de novembro de 2026"},
    };
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        is_str(bare(text_of(dates[i].locale, dates[i].page, "date", noon, 60)), dates[i].text,
               "the date for the locale %s on a page in %s", dates[i].locale ? dates[i].locale : "(none)",
               dates[i].page);
    const char *id = apr_pstrndup(pool, sr_signer_alias(&(sr_signer_t){.uuid = UUID}, pool), 8);
    is_str(bare(text_of("en", "en", "id", noon, 0)), id, "the word id is the beginning of the fields' names");
    const char *all = apr_pstrcat(pool, id, " \xc2\xb7 Ann Lee \xc2\xb7 5 November 2026", NULL);
    is_str(bare(text_of("en", "en", "id,name,date", noon, 0)), all, "all three words, in the order of the request");
    ok(!strncmp(text_of("ar", "en", "name", noon, 0), "\xe2\x80\x8f", 3), "in Arabic the line goes from right to left");
    ok(!strncmp(text_of("de", "ar", "name", noon, 0), "\xe2\x80\x8e", 3), "in German from left to right");
}

static void test_zones(void)
{
    is_str(bare(text_of("en", "en", "date", "2026-12-31T23:30:00Z", 60)), "1 January 2027",
           "the date of a zone in which it is after midnight");
    is_str(bare(text_of("en", "en", "date", "2027-01-01T04:59:00Z", -300)), "31 December 2026",
           "the date of a zone in which it is before midnight");
    sr_client_t client = {0};
    sr_captions_t captions = {signer("en", (const char *const[]){"date", NULL}), sr_language_of("en"), &client, 0};
    sr_time_parse(&captions.when, "2026-12-31T23:30:00Z");
    setenv("TZ", "Asia/Tokyo", 1);
    tzset();
    const json_t *texts = json_object_get(sr_captions_json(&captions, NULL, pool), "texts");
    is_str(bare(json_string_value(json_array_get(texts, 0))), "1 January 2027",
           "the server's zone is used if the signer's is unknown");
}

static void test_fields(void)
{
    const sr_client_t client = {0};
    static const char *const fields[] = {"name", "!", "name,date", "name", "", NULL};
    sr_captions_t captions = {signer("en", fields), sr_language_of("en"), &client, sr_time_now()};
    const json_t *json = sr_captions_json(&captions, "a.pdf", pool);
    is_int(json_array_size(json_object_get(json, "texts")), 2, "each text is listed once");
    is_str(sr_json_text(json_object_get(json, "fields"), pool), "[0,1,0,-1]",
           "the texts of the fields of one document");
    json = sr_captions_json(&captions, "b.pdf", pool);
    is_str(sr_json_text(json_object_get(json, "fields"), pool), "[-1]", "the texts of the fields of another document");
    const sr_field_t *list = (const sr_field_t *)captions.signer->fields->elts;
    is_int(sr_caption_number(captions.signer, &list[2], pool), 1, "the text of a field");
    is_int(sr_caption_number(captions.signer, &list[4], pool), -1, "a field without a caption has no text");
    captions.signer = signer("en", (const char *const[]){"", "!", NULL});
    ok(!sr_captions_json(&captions, "a.pdf", pool), "without captions there is no JSON");
}

static void test_long_name(void)
{
    const sr_client_t client = {.time_zone = "UTC"};
    sr_signer_t *person = signer("ar", (const char *const[]){"name,date,id", NULL});
    char name[501] = {0};
    person->lastname = memset(name, 'x', 500);
    const sr_captions_t captions = {person, sr_language_of("en"), &client, sr_time_now()};
    const json_t *texts = json_object_get(sr_captions_json(&captions, NULL, pool), "texts");
    const char *text = json_string_value(json_array_get(texts, 0));
    ok(sr_text_length(text) < 200, "a long name is shortened: %d characters", (int)sr_text_length(text));
    ok(strstr(text, "\xe2\x80\xa6") != NULL, "a shortened name has an ellipsis");
}

static void test_line(void)
{
    static const double cases[][2] = {{15.99, 0}, {16, 4}, {24, 6}, {32, 8}, {50, 8}, {1000, 8}, {0.01, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ok(fabs(sr_caption_line(cases[i][0]) - cases[i][1]) < 1e-9, "the line in a field %g points high: %g",
           cases[i][0], cases[i][1]);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_words();
    test_texts();
    test_zones();
    test_fields();
    test_long_name();
    test_line();
    apr_terminate();
    return done();
}
