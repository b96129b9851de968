/* SPDX-License-Identifier: Apache-2.0 */
/* model_language.c: tests of src/model/language.c: the languages of tags and headers, well-formed tags, plurals. */
#include "model/model.h"
#include "tap.h"

static apr_pool_t *pool;

static const char *code_of(const sr_language_t *language)
{
    return language ? language->code : NULL;
}

static void test_tags(void)
{
    static const struct {
        const char *tag, *code;
    } cases[] = {
        {"de", "de"},
        {"DE", "de"},
        {"de-AT", "de"},
        {"de-Latn-AT-1996-x-y", "de"},
        {"en-u-co-phonebk", "en"},
        {"fr-x-a", "fr"},
        {"es-419", "es"},
        {"", NULL},
        {"-", NULL},
        {"*", NULL},
        {"d", NULL},
        {"den", NULL},
        {"x-de", NULL},
        {"tlh", NULL},
        {"zh-TW", NULL},
        {"zh-Hant-TW", NULL},
        {"zh-HK", NULL},
        {"zh", "zh-Hans"},
        {"zh-CN", "zh-Hans"},
        {"zh-Hans-SG", "zh-Hans"},
        {"no", "nb"},
        {"nn-NO", "nb"},
        {"iw", "he"},
        {"mo", "ro"},
        {"pt-PT", "pt"},
        {"PT-br", "pt-BR"},
        {"pt-AO", "pt"},
        {"ar-EG", "ar"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(code_of(sr_language_of(cases[i].tag)), cases[i].code, "the tag '%s'", cases[i].tag);
}

static void test_headers(void)
{
    static const struct {
        const char *header, *code;
    } cases[] = {
        {NULL, "en"},
        {"", "en"},
        {"*", "en"},
        {"tlh", "en"},
        {"de", "de"},
        {"tlh, fr;q=0.5", "fr"},
        {"fr;q=0.8,de;q=0.9", "de"},
        {"fr;q=0.9, de;q=0.9", "fr"},
        {"de;q=0.1,es-MX;q=0.11", "es"},
        {"de-AT, en;q=0.5", "de"},
        {"de;q=0, fr;q=0.001", "fr"},
        {"de;q=0", "en"},
        {"de ; q=0.2 , fr ; Q=0.3", "fr"},
        {"de;q=7,fr;q=x,es;q=0.2", "es"},
        {",,;q=1,-,de", "de"},
        {"zh-TW,zh;q=0.1,de;q=0.2", "de"},
        {"zh-TW,zh;q=0.1,de;q=0.05", "zh-Hans"},
        {"zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"},
        {"pt-BR,pt;q=0.9", "pt-BR"},
        {"pt-AO,en;q=0.9", "pt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_str(code_of(sr_language_accepted(cases[i].header, pool)), cases[i].code, "Accept-Language: %s",
               cases[i].header ? cases[i].header : "(none)");
}

#define FORTY "abcdefgh-abcdefgh-abcdefgh-abcdefgh-abcd"

static void test_form(void)
{
    static const char *const good[] = {"de",
                                       "gsw",
                                       "DE-at",
                                       "zh-Hans",
                                       "zh-Hant-TW",
                                       "zh-cmn-Hans-CN",
                                       "sl-rozaj-biske",
                                       "de-CH-1996",
                                       "es-419",
                                       "en-US-u-islamcal",
                                       "de-a-foo-b-bar-x-private",
                                       "en-x-a",
                                       "abcdefgh"};
    static const char *const bad[] = {"", "d", "-", "de-", "-de", "de--AT", "de_AT", "deutsch-", "abcdefghi",
                                      "de-AT-AT", "de-u", "de-u-a", "de-x", "x-de", "i-klingon", "de AT", "d\xc3\xa9",
                                      "1a", "de-1", "de-a-b", "de-123456789", "*", "de-*", "a-DE",
                                      // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one tag
                                      "de-x-" FORTY "-" FORTY};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(sr_locale_is_valid(good[i]), "'%s' is a well-formed tag", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(!sr_locale_is_valid(bad[i]), "'%s' is not a well-formed tag", bad[i]);
}

static void test_languages(void)
{
    const sr_language_t *english = sr_language_of("en");
    for (int i = 0; i < sr_language_count(); i++) {
        const sr_language_t *language = sr_language(i);
        const char *plurals = sr_language_plurals(language);
        json_t *texts = NULL;
        ok(sr_language_of(language->code) == language && sr_language_of(language->tag) == language,
           "%s is found by its code and its tag", language->code);
        ok(sr_locale_is_valid(language->code) && sr_locale_is_valid(language->tag),
           "its code and its tag are well-formed");
        ok(!sr_language_texts(&texts, language, pool) && json_is_object(json_object_get(texts, "page")),
           "the language has a catalogue");
        ok(plurals && strlen(plurals) == 200 && !plurals[strspn(plurals, "zotfmx")], "the language has plurals");
        ok(sr_consent_of_language(language->code) != sr_consent_of_language("en") || language == english,
           "the language has a text of consent");
    }
    is_int(sr_language_plurals(english)[1], 'o', "in English 1 has the plural category one");
    is_int(sr_language_plurals(english)[2], 'x', "in English 2 has the category other");
    is_int(sr_language_plurals(sr_language_of("fr"))[0], 'o', "in French 0 has the category one");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_tags();
    test_headers();
    test_form();
    test_languages();
    apr_pool_destroy(pool);
    return done();
}
