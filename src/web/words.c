/* SPDX-License-Identifier: Apache-2.0 */
/* words.c: the sender's words on the signing page, and what the sender lets signers do (model/options.h). */
#include <string.h>

#include "web/web.h"

/* Of a message, so many bytes and lines are always shown, and all of a message that is hardly longer. */
#define FOLDED 600
#define FOLDED_LINES 10

/* Returns the end of line number `count` of a text, or NULL. */
static char *words_line_end(const char *text, int count)
{
    char *end = strchr(text, '\n');
    while (end && --count > 0) end = strchr(end + 1, '\n');
    return end;
}

/* Returns where the beginning of a message ends: at a line break, else at a space, so that it has whole words. NULL: it
 * cannot be divided. */
static char *words_fold_at(char *begin)
{
    char *lines = words_line_end(begin, FOLDED_LINES), *line = strrchr(begin, '\n');
    if (lines) return lines;
    return line && line > begin + FOLDED / 2 ? line : strrchr(begin, ' ');
}

/* Divides a message into "begin", which the page shows, and "rest", which it shows on request. */
static void words_fold(json_t *message, apr_pool_t *pool)
{
    const char *text = sr_json_string(message, "text");
    if (!text) return;
    char *begin = apr_pstrndup(pool, text, FOLDED), *end = words_fold_at(begin);
    if (!end || (strlen(text) <= FOLDED * 3 / 2 && !words_line_end(text, FOLDED_LINES * 3 / 2))) {
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
