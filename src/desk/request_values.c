/* SPDX-License-Identifier: Apache-2.0 */
/* request_values.c: texts, words and times among the values of the page of one request. */
#include "desk/request_page.h"

void sr_desk_request_set(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, sr_json_string_or_null(text));
}

const char *sr_desk_request_word(const sr_desk_request_t *request, const char *group, const char *name)
{
    static const char *const before[] = {"", "new."}, *const others[] = {"signer.", "state."};
    const char *word = "";
    for (int i = 0; i < 2 && !*word; i++)
        word = sr_desk_word(request->desk, apr_pstrcat(request->pool, before[i], group, ".", name, NULL));
    for (int i = 0; i < 2 && !*word; i++)
        word = sr_desk_word(request->desk, apr_pstrcat(request->pool, others[i], name, NULL));
    return *word ? word : NULL;
}

void sr_desk_request_set_time(const sr_desk_request_t *request, json_t *object, const char *key, apr_time_t when)
{
    char clock[SR_TIME_PRINTED];
    json_object_set_new(object, key, json_null());
    if (!when) return;
    const int offset = sr_zone_of_server(when, request->pool).offset;
    const char *date = sr_date_text(sr_web_language(request->desk->http), when, offset, request->pool);
    sr_time_print(clock, "%H:%M", when + apr_time_from_sec((apr_time_t)offset * 60));
    json_object_set_new(object, key,
                        json_pack("{s:o,s:s}", "at", sr_time_json(when), "moment",
                                  apr_pstrcat(request->pool, date, ", ", clock, NULL)));
}
