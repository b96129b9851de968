/* SPDX-License-Identifier: Apache-2.0 */
/* elements.c: checks what a prepared update adds to the structure of a tagged document: an element for each added
 * field, and its key in the number tree. */
#include "helper/check/prepared.h"

#include <string.h>

static const char NO_ELEMENT[] = "an element of the structure is not that of a field";

/* Returns true if the dictionary has this entry ("/Key value"). */
static bool has_key(const check_t *check, const sr_pdf_object_t *object, const char *entry)
{
    sr_pdf_span_t value;
    const char *space = strchr(entry, ' ');
    return sr_pdf_find_entry(&value, &object->body, apr_pstrmemdup(check->pool, entry, (apr_size_t)(space - entry)))
           && sr_pdf_span_is(&value, space + 1);
}

static bool is_element(const check_t *check, const sr_pdf_object_t *object, int index, sr_pdf_span_t *parent)
{
    const sr_pdf_field_t *field = &APR_ARRAY_IDX(check->fields, index, sr_pdf_field_t);
    const sr_pdf_span_t *page = apr_hash_get(check->pages, &field->page, sizeof field->page);
    const char *end =
        apr_psprintf(check->pool, "/K<</Type/OBJR/Obj %" APR_INT64_T_FMT " 0 R>>>>", check->first + 1 + index);
    sr_pdf_span_t left = object->body, own;
    if (object->is_stream || !sr_pdf_take_text(&left, "<</Type/StructElem/S/Form/P ")) return false;
    if (!sr_pdf_take_value(&left, parent) || !sr_pdf_span_ends(parent, " R")) return false;
    if (!sr_pdf_take_text(&left, "/Pg ") || !sr_pdf_take_value(&left, &own) || !sr_pdf_span_same(page, &own))
        return false;
    return sr_pdf_span_is(&left, end);
}

static const char *references_from(const check_t *check, apr_int64_t first, bool with_keys)
{
    text_t text = {0};
    for (int i = 0; i < check->fields->nelts; i++) {
        if (with_keys)
            prepared_add_text(&text, apr_psprintf(check->pool, "%" APR_INT64_T_FMT " ", check->key + i), check->pool);
        prepared_add_reference(&text, first + i, check->pool);
    }
    return text.at;
}

/* Checks the new leaf of the number tree, which follows the elements if the tree has leaves. */
static const char *check_leaf(check_t *check)
{
    const sr_pdf_object_t *object = object_at(check, check->fixed);
    if (!check->tagged || !is_new(check, object, check->fixed)) return NULL;
    const char *leaf =
        apr_psprintf(check->pool, "<</Limits[%" APR_INT64_T_FMT " %" APR_INT64_T_FMT "]/Nums[%s]>>", check->key,
                     check->key + check->fields->nelts - 1, references_from(check, check->elements, true));
    if (object->is_stream || !sr_pdf_span_is(&object->body, leaf)) return NO_ELEMENT;
    check->leaf = object->number;
    check->fixed++;
    return NULL;
}

const char *sr_pdf_elements_check(check_t *check)
{
    check->fixed = (int)(check->elements - check->first);
    for (int i = 0; check->tagged && i < check->fields->nelts; i++, check->fixed++) {
        const sr_pdf_object_t *object = object_at(check, check->fixed);
        sr_pdf_span_t parent;
        if (!is_new(check, object, check->fixed) || !is_element(check, object, i, &parent)) return NO_ELEMENT;
        if (!i) check->parent = parent;
        if (!sr_pdf_span_same(&check->parent, &parent)) return NO_ELEMENT;
    }
    return check_leaf(check);
}

const char *sr_pdf_elements_check_old(const check_t *check, int *index)
{
    const char *kids = references_from(check, check->elements, false);
    const char *numbers = check->leaf ? apr_psprintf(check->pool, "%" APR_INT64_T_FMT " 0 R ", check->leaf)
                                      : references_from(check, check->elements, true);
    const char *next =
        apr_psprintf(check->pool, "/ParentTreeNextKey %" APR_INT64_T_FMT, check->key + check->fields->nelts);
    const sr_pdf_object_t *object = object_at(check, (*index)++);
    sr_pdf_span_t parent = check->parent;
    apr_int64_t number;
    if (!is_old(check, object) || !sr_pdf_take_number(&parent, &number) || number != object->number) return NO_ELEMENT;
    if (!sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, kids, "]>>", NULL))) return OLD_OBJECT;
    if (!has_key(check, object, next)) { /* the parent is not the root */
        object = object_at(check, (*index)++);
        if (!is_old(check, object)) return NO_ELEMENT;
        if (!sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, next, ">>", NULL))) return OLD_OBJECT;
    }
    object = object_at(check, (*index)++);
    if (!is_old(check, object)) return NO_ELEMENT;
    return sr_pdf_span_ends(&object->body, apr_pstrcat(check->pool, numbers, "]>>", NULL)) ? NULL : OLD_OBJECT;
}
