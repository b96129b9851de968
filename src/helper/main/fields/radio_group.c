/* SPDX-License-Identifier: Apache-2.0 */
/* radio_group.c: a group of radio buttons that the document has (ISO 32000-2, 12.7.5.2.4), of which a signer chooses
 * one. The buttons keep the appearances that the document gives them, and only the state that each shows changes. */
#include "helper/main/pdfd.h"

#include <math.h>
#include <string.h>

#define READ_ONLY 1
#define MOST_DIGITS 6 /* of an index */
#define CLOSE 0.001   /* the greatest difference between numbers, because they are rounded */

/* Returns the key under which the appearance of a button has the state in which it is on, or NULL. */
static const char *radio_key(qpdf_data q, qpdf_oh button, apr_pool_t *pool)
{
    qpdf_oh looks = qpdf_oh_get_key(q, qpdf_oh_get_key(q, button, "/AP"), "/N");
    const char *found = NULL;
    int count = 0;
    if (!qpdf_oh_is_dictionary(q, looks)) return NULL;
    for (qpdf_oh_begin_dict_key_iter(q, looks); qpdf_oh_dict_more_keys(q);) {
        const char *key = qpdf_oh_dict_next_key(q);
        if (!strcmp(key, "/Off") || ++count > 1) continue;
        found = apr_pstrdup(pool, key);
    }
    return count == 1 ? found : NULL;
}

/* Returns a name as a PDF has it, without the "/". */
static const char *radio_written(qpdf_data q, const char *key, apr_pool_t *pool)
{
    return apr_pstrdup(pool, qpdf_oh_unparse(q, qpdf_oh_new_name(q, key)) + 1);
}

/* Sets *button to the button of the group that has this state. */
static bool radio_find(qpdf_oh *button, qpdf_data q, qpdf_oh group, const char *state, apr_pool_t *pool)
{
    qpdf_oh kids = qpdf_oh_get_key(q, group, "/Kids");
    for (int i = 0; i < sr_pdfd_items(q, kids); i++) {
        *button = qpdf_oh_get_array_item(q, kids, i);
        const char *key = radio_key(q, *button, pool);
        if (key && !strcmp(radio_written(q, key, pool), state)) return true;
    }
    return false;
}

/* Returns the value of a state. If the group has /Opt, states are indexes of it. */
static const char *radio_option(qpdf_data q, qpdf_oh group, const char *key, apr_pool_t *pool)
{
    const char *state = key + 1;
    qpdf_oh values = qpdf_oh_get_key(q, group, "/Opt");
    int index;
    for (int i = 0; i < SR_PDFD_FORM_DEPTH && !qpdf_oh_is_array(q, values); i++) {
        group = qpdf_oh_get_key(q, group, "/Parent");
        if (!qpdf_oh_is_dictionary(q, group)) break;
        values = qpdf_oh_get_key(q, group, "/Opt");
    }
    if (qpdf_oh_is_array(q, values) && strlen(state) <= MOST_DIGITS && sr_text_number(&index, state)
        && index < sr_pdfd_items(q, values)) {
        qpdf_oh value = qpdf_oh_get_array_item(q, values, index);
        if (qpdf_oh_is_string(q, value)) return apr_pstrdup(pool, qpdf_oh_get_utf8_value(q, value));
    }
    if (sr_text_is_utf8(state, strlen(state))) return state;
    return apr_pstrdup(pool, qpdf_oh_get_utf8_value(q, qpdf_oh_new_string(q, state)));
}

static bool radio_is_there(qpdf_data q, qpdf_oh button, const double wanted[4])
{
    qpdf_oh rect = qpdf_oh_get_key(q, button, "/Rect");
    double side[4];
    if (sr_pdfd_items(q, rect) != 4) return false;
    for (int i = 0; i < 4; i++)
        if (!qpdf_oh_get_value_as_number(q, qpdf_oh_get_array_item(q, rect, i), &side[i])) return false;
    for (int i = 0; i < 2; i++) {
        if (!(fabs(fmin(side[i], side[i + 2]) - wanted[i]) <= CLOSE)) return false;
        if (!(fabs(fmax(side[i], side[i + 2]) - wanted[i + 2]) <= CLOSE)) return false;
    }
    return true;
}

bool sr_pdfd_radio_is(qpdf_data q, const sr_pdfd_empty_t *group, const sr_pdf_entry_t *entry, apr_pool_t *pool)
{
    const int count = entry->buttons->nelts;
    if (!group->buttons || group->buttons->nelts != count) return false;
    for (int i = 0; i < count; i++) {
        const sr_pdf_button_t *wanted = &APR_ARRAY_IDX(entry->buttons, i, sr_pdf_button_t);
        qpdf_oh object;
        bool found = false;
        if (!radio_find(&object, q, group->object, wanted->state, pool)) return false;
        for (int k = 0; k < count; k++) {
            const sr_pdfd_button_t *button = &APR_ARRAY_IDX(group->buttons, k, sr_pdfd_button_t);
            found |= qpdf_oh_get_object_id(q, object) == button->number && button->page == wanted->page;
        }
        if (!found || !radio_is_there(q, object, wanted->rect)
            || strcmp(radio_option(q, group->object, radio_key(q, object, pool), pool), wanted->option) != 0)
            return false;
    }
    return true;
}

static void radio_put_group(sr_pdfd_update_t *update, const sr_pdf_entry_t *entry, qpdf_oh group, int flags)
{
    qpdf_data q = update->document->q;
    qpdf_oh kids = qpdf_oh_get_key(q, group, "/Kids");
    sr_pdfd_buffer_t *more = sr_pdfd_buffer(update->pool);
    sr_pdfd_put_text(more, "/Kids[");
    for (int i = 0; i < sr_pdfd_items(q, kids); i++) {
        qpdf_oh kid = qpdf_oh_get_array_item(q, kids, i);
        sr_pdfd_print(more, "%d %d R ", qpdf_oh_get_object_id(q, kid), qpdf_oh_get_generation(q, kid));
    }
    sr_pdfd_print(more, "]/Ff %d%s", flags | READ_ONLY, sr_pdf_entry_value(entry, update->pool));
    qpdf_oh_remove_key(q, group, "/Kids");
    qpdf_oh_remove_key(q, group, "/Ff");
    qpdf_oh_remove_key(q, group, "/V");
    sr_pdfd_object_again(update, group, sr_pdfd_spliced(q, group, (const char *)more->data, update->pool));
}

static void radio_put_button(sr_pdfd_update_t *update, const sr_pdf_entry_t *entry, const sr_pdf_button_t *button,
                             qpdf_oh object, int64_t off)
{
    static const char *const keys[] = {"/Rect", "/AS", "/AP", "/FT", "/Ff", "/V"};
    qpdf_data q = update->document->q;
    qpdf_oh looks = qpdf_oh_get_key(q, qpdf_oh_get_key(q, object, "/AP"), "/N"),
            none = qpdf_oh_get_key(q, looks, "/Off");
    qpdf_oh shown = qpdf_oh_get_key(q, looks, radio_key(q, object, update->pool));
    sr_pdfd_buffer_t *more = sr_pdfd_buffer(update->pool);
    const bool has_off = qpdf_oh_is_stream(q, none);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) qpdf_oh_remove_key(q, object, keys[i]);
    sr_pdfd_put_text(more, "/Rect[");
    sr_pdfd_put_numbers(more, button->rect, 4);
    sr_pdfd_print(more, "]%s/AP<</N<</%s %d %d R/Off %lld %d R>>>>", sr_pdf_button_state(entry, button, update->pool),
                  button->state, qpdf_oh_get_object_id(q, shown), qpdf_oh_get_generation(q, shown),
                  has_off ? (long long)qpdf_oh_get_object_id(q, none) : (long long)off,
                  has_off ? qpdf_oh_get_generation(q, none) : 0);
    sr_pdfd_object_again(update, object, sr_pdfd_spliced(q, object, (const char *)more->data, update->pool));
}

void sr_pdfd_radio_again(sr_pdfd_update_t *update, const sr_pdf_entry_t *entry, qpdf_oh group, int flags, int64_t off)
{
    qpdf_data q = update->document->q;
    apr_array_header_t *objects = apr_array_make(update->pool, entry->buttons->nelts, sizeof(qpdf_oh));
    for (int i = 0; i < entry->buttons->nelts; i++) {
        const sr_pdf_button_t *button = &APR_ARRAY_IDX(entry->buttons, i, sr_pdf_button_t);
        radio_find(apr_array_push(objects), q, group, button->state, update->pool);
    }
    radio_put_group(update, entry, group, flags);
    for (int i = 0; i < objects->nelts; i++)
        radio_put_button(update, entry, &APR_ARRAY_IDX(entry->buttons, i, sr_pdf_button_t),
                         APR_ARRAY_IDX(objects, i, qpdf_oh), off);
}
