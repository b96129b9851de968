/* SPDX-License-Identifier: Apache-2.0 */
/* caption_text.c: the caption, a small line under a signature: the words that it can consist of, and their text for a
 * signer. The date has the form of CLDR for the signer's language (dates.def). */
#include "model/model.h"

#include <string.h>
#include <time.h>

#define NAME_MAX_CHARACTERS 100 /* the helper draws at most 200 characters in all */
#define ID_LENGTH 8

/* Bidirectional control characters: a mark for the direction of the line, and isolates around each part, so that a
 * part does not change the direction of others. */
#define LEFT_TO_RIGHT "\xe2\x80\x8e"
#define RIGHT_TO_LEFT "\xe2\x80\x8f"
#define ISOLATE "\xe2\x81\xa8"
#define END_ISOLATE "\xe2\x81\xa9"
#define BETWEEN " \xc2\xb7 "

/* --- which words there are */

typedef const char *part_t(const sr_captions_t *captions, apr_pool_t *pool);
static part_t caption_text_name_text, id_text;

static const struct {
    const char *word;
    part_t *text;
} parts[] = {{"name", caption_text_name_text}, {"date", sr_captions_date}, {"id", id_text}};
#define PART_COUNT (sizeof parts / sizeof *parts)

/* Returns the index of a word, or -1. */
static int caption_text_part_of(const char *word)
{
    for (int i = 0; i < (int)PART_COUNT; i++)
        if (!strcmp(parts[i].word, word)) return i;
    return -1;
}

bool sr_caption_read(const char **caption, const char *text, apr_pool_t *pool)
{
    unsigned int seen = 0;
    *caption = "";
    if (sr_text_is_blank(text)) return true;
    for (const char *at = text, *comma; at; at = comma ? comma + 1 : NULL) {
        comma = strchr(at, ',');
        at += strspn(at, " ");
        apr_size_t length = strcspn(at, ",");
        while (length && at[length - 1] == ' ') length--;
        const char *word = apr_pstrmemdup(pool, at, length);
        const int part = caption_text_part_of(word);
        if (part < 0 || seen & 1u << part) return false;
        seen |= 1u << part;
        *caption = **caption ? apr_pstrcat(pool, *caption, ",", word, NULL) : word;
    }
    return true;
}

/* --- what they are */

static const char *caption_text_name_text(const sr_captions_t *captions, apr_pool_t *pool)
{
    return sr_text_cut(sr_person_name(captions->signer->firstname, captions->signer->lastname, pool),
                       NAME_MAX_CHARACTERS, pool);
}

static const char *id_text(const sr_captions_t *captions, apr_pool_t *pool)
{
    return apr_pstrmemdup(pool, sr_signer_alias(captions->signer, pool), ID_LENGTH);
}

typedef struct dates_t {
    const char *tag;
    bool rtl;
    const char *months[12];
} dates_t;
static const dates_t all_dates[] = {
#include "model/dates.def"
};

/* languages.def and dates.def have the same languages (t/guard/texts.t). */
static const dates_t *dates_in(const sr_language_t *language)
{
    const dates_t *row = all_dates;
    while (strcmp(row->tag, language->tag) != 0) row++;
    return row;
}

/* The language of the signer's locale if there are texts in it, else the language in which they read the page. */
static const sr_language_t *caption_text_language_of(const sr_captions_t *captions)
{
    const char *locale = captions->signer->locale;
    const sr_language_t *language = locale ? sr_language_of(locale) : NULL;
    return language ? language : captions->language;
}

const char *sr_date_text(const sr_language_t *language, apr_time_t when, int offset, apr_pool_t *pool)
{
    const time_t seconds = (time_t)apr_time_sec(when) + (time_t)offset * 60;
    const dates_t *dates = dates_in(language);
    struct tm local;
    gmtime_r(&seconds, &local);
    const char *text = "";
    for (const char *at = dates->months[local.tm_mon]; *at; at++) {
        const bool day = !strncmp(at, "{d}", 3), year = !strncmp(at, "{y}", 3);
        const int number = day ? local.tm_mday : local.tm_year + 1900;
        text = day || year ? apr_psprintf(pool, "%s%d", text, number) : apr_psprintf(pool, "%s%c", text, *at);
        if (day || year) at += 2;
    }
    return text;
}

const char *sr_moment_text(const sr_language_t *language, apr_time_t when, apr_pool_t *pool)
{
    const sr_zone_t zone = sr_zone_of_server(when, pool);
    char clock[SR_TIME_PRINTED], offset[SR_TIME_PRINTED] = "";
    sr_time_print(clock, "%H:%M", when + apr_time_from_sec((apr_time_t)zone.offset * 60));
    if (zone.offset)
        apr_snprintf(offset, sizeof offset, ", UTC%c%02d:%02d", zone.offset < 0 ? '-' : '+', abs(zone.offset) / 60,
                     abs(zone.offset) % 60);
    return apr_psprintf(pool, "%s, %s (%s%s)", sr_date_text(language, when, zone.offset, pool), clock, zone.name,
                        offset);
}

/* Uses the time zone of the signer's browser if it is known, else that of this server. */
static int caption_text_offset_of(const sr_captions_t *captions, apr_pool_t *pool)
{
    const sr_client_t *client = captions->client;
    return client->time_zone ? client->utc_offset : sr_zone_of_server(captions->when, pool).offset;
}

const char *sr_captions_date(const sr_captions_t *captions, apr_pool_t *pool)
{
    return sr_date_text(caption_text_language_of(captions), captions->when, caption_text_offset_of(captions, pool),
                        pool);
}

const char *sr_captions_day(const sr_captions_t *captions, apr_pool_t *pool)
{
    char day[SR_TIME_PRINTED];
    sr_time_print(day, "%Y-%m-%d",
                  captions->when + apr_time_from_sec((apr_time_t)caption_text_offset_of(captions, pool) * 60));
    return apr_pstrdup(pool, day);
}

static const char *caption_text_text_of(const sr_captions_t *captions, const char *caption, apr_pool_t *pool)
{
    const char *text = dates_in(caption_text_language_of(captions))->rtl ? RIGHT_TO_LEFT : LEFT_TO_RIGHT, *between = "";
    char *state = NULL, *word = apr_strtok(apr_pstrdup(pool, caption), ",", &state);
    for (; word; word = apr_strtok(NULL, ",", &state), between = BETWEEN) {
        const int part = caption_text_part_of(word);
        if (part < 0) continue; /* written by a later version */
        // NOLINTNEXTLINE(misc-misleading-bidirectional): it ends in the same text
        text = apr_pstrcat(pool, text, between, ISOLATE, parts[part].text(captions, pool), END_ISOLATE, NULL);
    }
    return text;
}

/* --- of all fields of a signer */

static const char *caption_of(const sr_field_t *field)
{
    return field->caption && *field->caption ? field->caption : NULL;
}

static int index_of(const apr_array_header_t *list, const char *caption)
{
    for (int i = 0; i < list->nelts; i++)
        if (!strcmp(APR_ARRAY_IDX(list, i, const char *), caption)) return i;
    return -1;
}

static apr_array_header_t *distinct(const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, 4, sizeof(const char *));
    for (int i = 0; i < fields->nelts; i++) {
        const char *caption = caption_of(&APR_ARRAY_IDX(fields, i, sr_field_t));
        if (caption && index_of(list, caption) < 0) APR_ARRAY_PUSH(list, const char *) = caption;
    }
    return list;
}

int sr_caption_number(const sr_signer_t *signer, const sr_field_t *field, apr_pool_t *pool)
{
    const char *caption = caption_of(field);
    return caption ? index_of(distinct(signer->fields, pool), caption) : -1;
}

const json_t *sr_captions_json(const sr_captions_t *captions, const char *document, apr_pool_t *pool)
{
    const apr_array_header_t *fields = captions->signer->fields, *list = distinct(fields, pool);
    if (!list->nelts) return NULL;
    json_t *json = sr_json_own(json_object(), pool), *texts = json_array(), *numbers = json_array();
    json_object_set_new(json, "texts", texts);
    json_object_set_new(json, "fields", numbers);
    for (int i = 0; i < list->nelts; i++)
        json_array_append_new(texts,
                              json_string(caption_text_text_of(captions, APR_ARRAY_IDX(list, i, const char *), pool)));
    for (int i = 0; document && i < fields->nelts; i++) {
        const sr_field_t *field = &APR_ARRAY_IDX(fields, i, sr_field_t);
        const char *caption = caption_of(field);
        if (!field->entry && !strcmp(field->document, document))
            json_array_append_new(numbers, json_integer(caption ? index_of(list, caption) : -1));
    }
    return json;
}
