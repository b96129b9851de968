/* SPDX-License-Identifier: Apache-2.0 */
/* warnings.c: the table of warnings.def, and sets of its rows as names and sentences. */
#include "report/warnings.h"

#include <ctype.h>
#include <string.h>

static const sr_warning_row_t rows[SR_WARNING_COUNT] = {
#define SR_WARNING(id, name, active, sentence) [SR_WARNING_##id] = {name, active, sentence},
#include "report/warnings.def"
#undef SR_WARNING
};

const sr_warning_row_t *sr_warning(sr_warning_t warning)
{
    return &rows[warning];
}

json_t *sr_warnings_names(unsigned int set)
{
    json_t *list = json_array();
    int i;
    for (i = 0; i < SR_WARNING_COUNT; i++)
        if (set & SR_WARNING_BIT(i)) json_array_append_new(list, json_string(rows[i].name));
    return list;
}

json_t *sr_warnings_sentences(unsigned int set)
{
    json_t *list = json_array();
    int i;
    for (i = 0; i < SR_WARNING_COUNT; i++)
        if (set & SR_WARNING_BIT(i)) json_array_append_new(list, json_string(rows[i].sentence));
    return list;
}

bool sr_warnings_parse(unsigned int *set, const json_t *names)
{
    size_t i;
    int row;
    *set = 0;
    if (!names) return true;
    if (!json_is_array(names) || json_array_size(names) > SR_WARNING_COUNT) return false;
    for (i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        for (row = 0; name && row < SR_WARNING_COUNT && strcmp(rows[row].name, name) != 0;) row++;
        if (!name || row == SR_WARNING_COUNT) return false;
        *set |= SR_WARNING_BIT(row);
    }
    return true;
}

const char *sr_warning_named(const char *sentence)
{
    int i;
    for (i = 0; i < SR_WARNING_COUNT; i++)
        if (strcmp(rows[i].sentence, sentence) == 0) return rows[i].name;
    return NULL;
}

const char *sr_warnings_refusal(unsigned int set, apr_pool_t *pool)
{
    char *reason;
    int i;
    for (i = 0; i < SR_WARNING_COUNT; i++) {
        if (!(set & SR_WARNING_BIT(i)) || !rows[i].active) continue;
        reason = apr_pstrdup(pool, rows[i].sentence);
        *reason = (char)tolower((unsigned char)*reason);
        return reason;
    }
    return NULL;
}
