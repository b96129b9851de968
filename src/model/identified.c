/* SPDX-License-Identifier: Apache-2.0 */
/* identified.c: how a signer was identified, beside their link, before they signed. It is read from the events alone.
 * Events of a signer who was replaced have another uuid, so they do not count for the new signer. */
#include "model/model.h"

#include <string.h>

/* Returns the last event by which the signer was identified before they signed, or NULL. A check that was changed later
 * does not count. */
static const json_t *identifying_event(const json_t *events, const char *signer)
{
    const json_t *found = NULL;
    for (size_t i = 0; signer && i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *kind = sr_json_string(event, "event"), *whose = sr_json_string(event, "signer");
        if (!kind || !whose || strcmp(whose, signer) != 0) continue;
        if (!strcmp(kind, "signed")) break;
        if (!strcmp(kind, "authenticated")) found = event;
        if (!strcmp(kind, "authenticationChanged")) found = NULL;
    }
    return found;
}

static apr_time_t identified_time(const json_t *object, const char *key)
{
    const char *text = sr_json_string(object, key);
    apr_time_t when;
    return text && sr_time_parse(&when, text) ? when : 0;
}

/* Returns the key of the text of a method: codes are sent by two of them. */
static const char *text_of_method(const char *method)
{
    static const char *const texts[][2] = {{"code", "check.code"},
                                           {"email", "check.sent"},
                                           {"hook", "check.sent"},
                                           {"caller", "check.caller"},
                                           {"httpd", "check.login"}};
    for (size_t i = 0; method && i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(texts[i][0], method)) return texts[i][1];
    return NULL;
}

sr_identified_t sr_identified_read(const json_t *events, const sr_signer_t *signer, apr_pool_t *pool)
{
    const json_t *event = identifying_event(events, signer->uuid), *said = json_object_get(event, "detail");
    const char *method = sr_json_string(said, "method"), *to = sr_json_string(said, "to");
    const char *user = sr_json_string(said, "user"), *by = sr_json_string(said, "by");
    if (!text_of_method(method)) return (sr_identified_t){0};
    return (sr_identified_t){.text = text_of_method(method),
                             .to = !to && !strcmp(method, "email") ? signer->email : to,
                             .user = user && by ? apr_pstrcat(pool, user, " (", by, ")", NULL) : user,
                             .how = sr_json_string(said, "how"),
                             .reference = sr_json_string(said, "reference"),
                             .said_at = identified_time(said, "at"),
                             .at = identified_time(event, "at")};
}
