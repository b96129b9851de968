/* SPDX-License-Identifier: Apache-2.0 */
/* language.c: the languages of signers: the table of languages.def, the language of a tag (BCP 47) or of an
 * Accept-Language header, and the catalogues of texts. */
#include "model/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "embed/page_texts.h"

static const sr_language_t rows[] = {
#define SR_LANGUAGE(code, tag, name) {code, tag, name},
#include "model/languages.def"
#undef SR_LANGUAGE
};
#define COUNT ((int)(sizeof rows / sizeof *rows))

int sr_language_count(void)
{
    return COUNT;
}

const sr_language_t *sr_language(int number)
{
    return &rows[number];
}

static const sr_language_t *language_named(const char *code, size_t length)
{
    for (int i = 0; i < COUNT; i++)
        if (!strncasecmp(rows[i].code, code, length) && !rows[i].code[length]) return &rows[i];
    return NULL;
}

/* --- what a tag means */

/* Tags of languages that another catalogue serves. NULL: the tag has no catalogue, although a prefix of it has one. */
static const struct {
    const char *tag, *code;
} others[] = {{"no", "nb"},      {"nn", "nb"},    {"iw", "he"},    {"mo", "ro"},   {"zh", "zh-Hans"},
              {"zh-Hant", NULL}, {"zh-TW", NULL}, {"zh-HK", NULL}, {"zh-MO", NULL}};

/* RFC 4647, 3.4: looks up the tag, then the tag without its last subtag, and so on. A subtag of one letter is removed
 * together with the one after it. */
const sr_language_t *sr_language_of(const char *tag)
{
    for (size_t length = strlen(tag); length;) {
        const sr_language_t *found = language_named(tag, length);
        if (found) return found;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (!strncasecmp(others[i].tag, tag, length) && !others[i].tag[length])
                return others[i].code ? language_named(others[i].code, strlen(others[i].code)) : NULL;
        while (--length && tag[length] != '-') continue;
        if (length > 1 && tag[length - 2] == '-') length -= 2;
    }
    return NULL;
}

const sr_language_t *sr_language_accepted(const char *header, apr_pool_t *pool)
{
    const sr_language_t *best = NULL;
    char *rest = apr_pstrdup(pool, header);
    sr_accept_t range;
    int most = 0;
    while (sr_accept_next(&range, &rest)) {
        if (range.weight <= most) continue;
        const sr_language_t *found = sr_language_of(range.name);
        if (!found) continue;
        best = found;
        most = range.weight;
    }
    return best ? best : sr_language_of("en");
}

/* --- whether a tag is one (RFC 5646, 2.1; without those that were registered whole, such as i-klingon) */

typedef struct subtag_t {
    const char *text;
    size_t length;
} subtag_t;

static bool is_all(const subtag_t *subtag, int (*is)(int))
{
    for (size_t i = 0; i < subtag->length; i++)
        if (!isascii((unsigned char)subtag->text[i]) || !is((unsigned char)subtag->text[i])) return false;
    return true;
}

/* Moves to the next subtag. Returns false at the end. */
static bool language_next(subtag_t *subtag)
{
    subtag->text += subtag->length;
    if (*subtag->text == '-') subtag->text++;
    else subtag->length = 0;
    subtag->length = *subtag->text ? strcspn(subtag->text, "-") : 0;
    return subtag->length > 0;
}

static bool language_take(subtag_t *subtag, size_t least, size_t most, int (*is)(int))
{
    if (subtag->length < least || subtag->length > most || !is_all(subtag, is)) return false;
    language_next(subtag);
    return true;
}

static bool take_variant(subtag_t *subtag)
{
    const bool digit = subtag->length == 4 && isdigit((unsigned char)*subtag->text);
    return language_take(subtag, digit ? 4 : 5, digit ? 4 : 8, isalnum);
}

/* Reads an extension such as "u-co-phonebk" or "x-anything". */
static bool take_extension(subtag_t *subtag)
{
    const size_t least = subtag->length == 1 && (*subtag->text | 32) == 'x' ? 1 : 2;
    if (!language_take(subtag, 1, 1, isalnum) || !language_take(subtag, least, 8, isalnum)) return false;
    while (language_take(subtag, least, 8, isalnum)) continue;
    return true;
}

bool sr_locale_is_valid(const char *text)
{
    const size_t length = strlen(text);
    subtag_t subtag = {text, strcspn(text, "-")};
    if (!length || length > SR_LOCALE_MAX || text[length - 1] == '-' || strstr(text, "--")) return false;
    const bool is_short = subtag.length <= 3;
    if (!language_take(&subtag, 2, 8, isalpha)) return false;
    for (int i = 0; is_short && i < 3 && language_take(&subtag, 3, 3, isalpha); i++) continue;
    language_take(&subtag, 4, 4, isalpha);
    if (!language_take(&subtag, 2, 2, isalpha)) language_take(&subtag, 3, 3, isdigit);
    while (take_variant(&subtag)) continue;
    while (subtag.length == 1)
        if (!take_extension(&subtag)) return false;
    return !subtag.length;
}

/* --- texts */

sr_error_t *sr_language_texts(json_t **texts, const sr_language_t *language, apr_pool_t *pool)
{
    const char *file = apr_pstrcat(pool, language->code, ".json", NULL);
    for (const sr_embedded_t *row = embedded_texts; row->file; row++)
        if (!strcmp(row->file, file)) return sr_json_read(texts, row->forms[0].bytes, pool);
    return sr_error(pool, SR_EINTERNAL, "There are no texts of language %s", language->code);
}

static const struct {
    const char *tag, *categories;
} plurals[] = {
#include "model/plurals.def"
};

const char *sr_language_plurals(const sr_language_t *language)
{
    for (size_t i = 0; i < sizeof plurals / sizeof *plurals; i++)
        if (!strcmp(plurals[i].tag, language->tag)) return plurals[i].categories;
    return NULL;
}
