/* SPDX-License-Identifier: Apache-2.0 */
/* radio.c: checks the parts of an update that belong to a group of radio buttons: the field, whose value is the state
 * of the chosen button, and after it all its buttons, each with the state that it shows
 * (src/helper/main/fields/radio_group.c). */
#include "helper/check/appended.h"

#include <string.h>

static const sr_pdf_button_t *radio_button(const sr_pdf_entry_t *entry, int index)
{
    return &APR_ARRAY_IDX(entry->buttons, index, sr_pdf_button_t);
}

static bool radio_has(const sr_pdf_object_t *object, const char *const *keys)
{
    sr_pdf_span_t value;
    for (; *keys; keys++)
        if (sr_pdf_find_entry(&value, &object->body, *keys)) return true;
    return false;
}

/* Takes "[12 0 R 13 0 R ]": each of the buttons once, in any order. */
static bool radio_take_kids(sr_pdf_span_t *left, const sr_pdf_object_t *buttons, int count, apr_pool_t *pool)
{
    bool *seen = apr_pcalloc(pool, (apr_size_t)count * sizeof *seen);
    if (!sr_pdf_take_text(left, "[")) return false;
    for (int i = 0; i < count; i++) {
        apr_int64_t number, generation;
        int k = 0;
        if (!sr_pdf_take_number(left, &number) || !sr_pdf_take_text(left, " ")) return false;
        if (!sr_pdf_take_number(left, &generation) || !sr_pdf_take_text(left, " R ")) return false;
        while (k < count && (seen[k] || buttons[k].number != number || buttons[k].generation != generation)) k++;
        if (k == count) return false;
        seen[k] = true;
    }
    return sr_pdf_take_text(left, "]");
}

static bool radio_is_group(const sr_pdf_entry_t *entry, const sr_pdf_object_t *object, apr_pool_t *pool)
{
    static const char *const keys[] = {"/Rect", "/AP", "/AS", NULL};
    sr_pdf_span_t left, value;
    apr_int64_t flags;
    if (object->is_stream || radio_has(object, keys)) return false;
    if (!sr_pdf_find_entry(&left, &object->body, "/Kids")) return false;
    if (sr_pdf_find_entry(&value, &object->body, "/Ff") && value.at < left.at) return false;
    if (sr_pdf_find_entry(&value, &object->body, "/V") && value.at < left.at) return false;
    left.end = object->body.end;
    if (!radio_take_kids(&left, object + 1, entry->buttons->nelts, pool)) return false;
    if (!sr_pdf_take_text(&left, "/Ff ") || !sr_pdf_take_number(&left, &flags)) return false;
    return (flags & SR_PDF_RADIO_FLAGS) == SR_PDF_RADIO_SET
           && sr_pdf_span_is(&left, apr_pstrcat(pool, sr_pdf_entry_value(entry, pool), ">>", NULL));
}

static bool radio_take_reference(sr_pdf_span_t *left)
{
    apr_int64_t number, generation;
    return sr_pdf_take_number(left, &number) && sr_pdf_take_text(left, " ") && sr_pdf_take_number(left, &generation)
           && sr_pdf_take_text(left, " R");
}

static bool radio_is_button(const sr_pdf_entry_t *entry, const sr_pdf_button_t *button, const sr_pdf_object_t *object,
                            apr_pool_t *pool)
{
    static const char *const none[] = {"/Kids", "/T", "/FT", "/Ff", "/V", NULL}, *const own[] = {"/AS", "/AP"};
    sr_pdf_span_t left, value;
    if (object->is_stream || radio_has(object, none)) return false;
    if (!sr_pdf_find_entry(&left, &object->body, "/Rect")) return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!sr_pdf_find_entry(&value, &object->body, own[i]) || value.at < left.at) return false;
    left.end = object->body.end;
    if (!sr_pdf_take_text(&left, "[")) return false;
    for (int i = 0; i < 4; i++)
        if (!sr_pdf_take_decimal(&left, button->rect[i])) return false;
    const char *state = sr_pdf_button_state(entry, button, pool);
    if (!sr_pdf_take_text(&left, "]") || !sr_pdf_take_text(&left, state)) return false;
    if (!sr_pdf_take_text(&left, apr_pstrcat(pool, "/AP<</N<</", button->state, " ", NULL))) return false;
    return radio_take_reference(&left) && sr_pdf_take_text(&left, "/Off ") && radio_take_reference(&left)
           && sr_pdf_span_is(&left, ">>>>>>");
}

bool sr_pdf_radio_is_set(const sr_pdf_entry_t *entry, const sr_pdf_object_t *objects, apr_pool_t *pool)
{
    if (!radio_is_group(entry, objects, pool)) return false;
    for (int i = 0; i < entry->buttons->nelts; i++)
        if (!radio_is_button(entry, radio_button(entry, i), objects + 1 + i, pool)) return false;
    return true;
}

/* Returns true if the objects are the same except for the value of this key. */
static bool radio_is_changed(const sr_pdf_object_t *object, const sr_pdf_object_t *before, const char *key,
                             const char *state, apr_pool_t *pool)
{
    sr_pdf_span_t left = object->body, was;
    if (object->is_stream || object->generation != before->generation) return false;
    if (!sr_pdf_find_entry(&was, &before->body, key)) return false;
    const apr_size_t head = (apr_size_t)(was.at - before->body.at), tail = (apr_size_t)(before->body.end - was.end);
    return sr_pdf_take_text(&left, apr_pstrmemdup(pool, before->body.at, head)) && sr_pdf_take_text(&left, state)
           && sr_pdf_span_is(&left, apr_pstrmemdup(pool, was.end, tail));
}

bool sr_pdf_radio_is_filled(const sr_pdf_own_entry_t *entry, int index, const sr_pdf_object_t *object, apr_pool_t *pool)
{
    const sr_pdf_entry_t *wanted = entry->field->entry;
    const char *value =
        index ? sr_pdf_button_state(wanted, radio_button(wanted, index - 1), pool) : sr_pdf_entry_value(wanted, pool);
    const char *key = index ? "/AS" : "/V";
    return radio_is_changed(object, entry->before + index, key, value + strlen(key), pool);
}
