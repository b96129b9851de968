/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c: what the event feed tells of the events of a submission. */
#include "model/model.h"
#include "model/names.h"

#include <string.h>

typedef struct feed_type_t {
    const char *type, *kind, *members;
} feed_type_t;

static const feed_type_t types[] = {
#define SR_FEED_TYPE(type, kind, members) {type, kind, members},
#include "model/feed_types.def"
#undef SR_FEED_TYPE
};

const char *const sr_feed_types[] = {
#define SR_FEED_TYPE(type, kind, members) type,
#include "model/feed_types.def"
#undef SR_FEED_TYPE
    NULL};

/* Returns those members of a detail that the feed shows, or NULL if it has none. */
static json_t *feed_detail(const json_t *detail, const char *members, apr_pool_t *pool)
{
    json_t *shown = NULL;
    char *at, *name = apr_strtok(apr_pstrdup(pool, members), " ", &at);
    for (; name; name = apr_strtok(NULL, " ", &at)) {
        json_t *value = json_object_get(detail, name);
        if (!value) continue;
        if (!shown) shown = sr_json_own(json_object(), pool);
        json_object_set(shown, name, value);
    }
    return shown;
}

/* Returns the signer of whom an event tells. That of "replaced" is the new one, whom its detail names. */
static const char *feed_signer(const sr_event_t *event)
{
    return event->signer ? event->signer : sr_json_string(event->detail, "signer");
}

void sr_feed_tell(apr_array_header_t *told, const sr_event_t *event, const char *hash, apr_pool_t *pool)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const feed_type_t *type = &types[i];
        const bool of_signer = !strncmp(type->type, "signer.", sizeof "signer." - 1);
        if (!type->kind || strcmp(type->kind, event->kind) != 0) continue;
        APR_ARRAY_PUSH(told, sr_told_t) = (sr_told_t){.type = type->type,
                                                      .signer = of_signer ? feed_signer(event) : NULL,
                                                      .detail = feed_detail(event->detail, type->members, pool),
                                                      .mark = apr_pstrndup(pool, hash, SR_FEED_MARK)};
    }
}

const char *sr_feed_id(apr_int64_t position, const char *mark, apr_pool_t *pool)
{
    return position ? apr_psprintf(pool, "%" APR_INT64_T_FMT "-%s", position, mark) : "0";
}

bool sr_feed_id_read(apr_int64_t *position, const char **mark, const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    *position = 0;
    *mark = "";
    if (!strcmp(text, "0")) return true;
    if (*text == '0' || !digits || digits > 18 || text[digits] != '-') return false;
    *position = apr_atoi64(text);
    *mark = text + digits + 1;
    return sr_text_is_hex(*mark, SR_FEED_MARK);
}

sr_error_t *sr_feed_types_check(const char *text, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, text), *comma;
    for (; (comma = strchr(copy, ',')) != NULL; copy = comma + 1) {
        *comma = '\0';
        SR_TRY(sr_name_expect(sr_feed_types, copy, "type", pool));
    }
    return sr_name_expect(sr_feed_types, copy, "type", pool);
}
