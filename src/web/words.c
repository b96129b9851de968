/* SPDX-License-Identifier: Apache-2.0 */
/* words.c: the sender's words on the signing page, and what the sender lets signers do (model/options.h). */
#include <string.h>

#include "web/web.h"

#define FOLDED 600 /* bytes of a message that are always shown, unless it is hardly longer */

/* Divides a message so that the page can show its beginning: at a line break, else at a space. Each part is made of
 * whole words. */
static void words_fold(json_t *message, apr_pool_t *pool)
{
    const char *text = sr_json_string(message, "text");
    if (!text) return;
    char *begin = apr_pstrndup(pool, text, FOLDED);
    char *line = strrchr(begin, '\n'), *space = strrchr(begin, ' ');
    char *end = line && line > begin + FOLDED / 2 ? line : space;
    if (strlen(text) <= FOLDED * 3 / 2 || !end) {
        json_object_set_new(message, "begin", json_string(text));
        return;
    }
    *end = '\0';
    json_object_set_new(message, "begin", json_string(begin));
    json_object_set_new(message, "rest", json_string(text + (end - begin) + 1));
}

/* Adds "types": the ways to sign that the page offers. `limited` is true if not all of them are, `one` if one is. */
static void words_add_types(json_t *view)
{
    static const char *const all[] = {"typed", "drawn", "uploaded"};
    const json_t *listed = json_object_get(view, "signatureTypes");
    json_t *types = json_object(), *one;
    size_t i;
    for (i = 0; !listed && i < sizeof all / sizeof *all; i++) json_object_set_new(types, all[i], json_true());
    json_array_foreach (listed, i, one) json_object_set_new(types, json_string_value(one), json_true());
    const size_t count = json_object_size(types);
    json_object_set_new(types, "one", json_boolean(count == 1));
    json_object_set_new(types, "limited", json_boolean(count < sizeof all / sizeof *all));
    json_object_set_new(view, "types", types);
}

void sr_web_add_words(json_t *view, const sr_web_entered_t *entered, const json_t *texts, apr_pool_t *pool)
{
    const json_t *refusal = json_object_get(view, "refusal"), *script = json_object_get(texts, "script");
    const bool reasoned = json_object_get(refusal, "reason") != NULL;
    words_fold(json_object_get(view, "message"), pool);
    words_add_types(view);
    json_object_set_new(view, "declines", json_boolean(!refusal || reasoned));
    json_object_set_new(view, "reasoned", json_boolean(reasoned));
    if (entered && entered->refuses) json_object_set(view, "unreasoned", json_object_get(script, "refuse.missing"));
}
