/* texts.c: what the page says: one catalogue per language, of which the client's headers choose; the theme may put
 * other words in their place. */
#include "page/page.h"

#include <string.h>

static const char *const languages[] = {"en", "fr", "de", "es", NULL};

const char *sr_page_language(sr_http_t *http)
{
    return languages[sr_http_language(http, languages)];
}

sr_error_t *sr_page_texts(json_t **texts, sr_http_t *http, const sr_page_theme_t *theme)
{
    const char *language = sr_page_language(http), *catalogue = sr_page_catalogue(language, http->pool);
    SR_TRY(sr_json_read(texts, catalogue, http->pool));
    const json_t *own = json_object_get(json_object_get(theme->settings, "texts"), language);
    if (own) json_object_update_recursive(*texts, (json_t *)own);
    return NULL;
}

const char *sr_page_word(const json_t *texts, const char *key)
{
    const char *text = sr_json_string(json_object_get(texts, "page"), key);
    return text ? text : "";
}
