/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c: the language of a response, and the texts of the pages in it: one catalogue per language
 * (model/language.c). The theme may replace texts. */
#include "web/web.h"

#include <string.h>

/* The language of the request (sr_http_t.state): the one in use, and the one that the query asked for. NULL: unknown.
 */
typedef struct state_t {
    const sr_language_t *language, *asked;
} state_t;

#define TAG_MAX 64 /* characters */

/* Reads the first `lang` from the query. */
void sr_web_ask_language(sr_http_t *http)
{
    const char *args = http->r->args ? http->r->args : "";
    state_t *state = http->state = apr_pcalloc(http->pool, sizeof *state);
    for (; args; args = strchr(args, '&')) {
        args += *args == '&';
        if (strncmp(args, "lang=", 5) != 0) continue;
        const apr_size_t length = strcspn(args + 5, "&");
        const char *tag = apr_pstrmemdup(http->pool, args + 5, length < TAG_MAX ? length : TAG_MAX);
        state->language = state->asked = sr_language_of(tag);
        return;
    }
}

void sr_web_use_locale(sr_http_t *http, const sr_signing_t *signing)
{
    const char *locale = signing->signer->locale;
    state_t *state = http->state;
    if (!state->language && locale) state->language = sr_language_of(locale);
}

const sr_language_t *sr_web_language(sr_http_t *http)
{
    const state_t *state = http->state;
    if (state->language) return state->language;
    return sr_language_accepted(apr_table_get(http->r->headers_in, "Accept-Language"), http->pool);
}

const char *sr_web_language_query(sr_http_t *http)
{
    const state_t *state = http->state;
    return state->asked ? apr_pstrcat(http->pool, "?lang=", state->asked->code, NULL) : "";
}

sr_error_t *sr_web_texts(json_t **texts, sr_http_t *http, const sr_web_theme_t *theme)
{
    const sr_language_t *language = sr_web_language(http);
    SR_TRY(sr_language_texts(texts, language, http->pool));
    const json_t *own = json_object_get(json_object_get(theme->settings, "texts"), language->code);
    if (own) json_object_update_recursive(*texts, (json_t *)own);
    if (http->placing) {
        const json_t *place = json_object_get(*texts, "place");
        json_object_update(json_object_get(*texts, "page"), (json_t *)place);
        json_object_update(json_object_get(*texts, "script"), (json_t *)place);
    }
    return NULL;
}

const char *sr_web_word(const json_t *texts, const char *key)
{
    const char *text = sr_json_string(json_object_get(texts, "page"), key);
    return text ? text : "";
}
