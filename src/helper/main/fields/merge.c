/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c: merges fields with their only widget, while an unsigned document is rewritten. A field may be apart from its
 * widget (ISO 32000-2, 12.7.4), but common programs do not find a signature there. */
#include "helper/main/pdfd.h"

bool sr_pdfd_widget_apart(qpdf_oh *widget, qpdf_data q, qpdf_oh kids)
{
    if (sr_pdfd_items(q, kids) != 1 || qpdf_is_encrypted(q)) return false;
    *widget = qpdf_oh_get_array_item(q, kids, 0);
    return qpdf_oh_is_indirect(q, *widget) && qpdf_oh_is_dictionary(q, *widget) && !qpdf_oh_has_key(q, *widget, "/T");
}

/* Gives the widget what the field has. */
static void move_keys(qpdf_data q, qpdf_oh field, qpdf_oh widget, apr_pool_t *pool)
{
    apr_array_header_t *keys = apr_array_make(pool, 8, sizeof(const char *));
    qpdf_oh_remove_key(q, field, "/Kids");
    qpdf_oh_remove_key(q, widget, "/Parent");
    for (qpdf_oh_begin_dict_key_iter(q, field); qpdf_oh_dict_more_keys(q);)
        APR_ARRAY_PUSH(keys, const char *) = apr_pstrdup(pool, qpdf_oh_dict_next_key(q));
    for (int i = 0; i < keys->nelts; i++) {
        const char *key = APR_ARRAY_IDX(keys, i, const char *);
        if (!qpdf_oh_has_key(q, widget, key)) qpdf_oh_replace_key(q, widget, key, qpdf_oh_get_key(q, field, key));
    }
}

// NOLINTNEXTLINE(misc-no-recursion): SR_PDFD_FORM_DEPTH
static void merge_fields(qpdf_data q, qpdf_oh fields, bool is_signature, int depth, apr_pool_t *pool)
{
    for (int i = 0; depth < SR_PDFD_FORM_DEPTH && i < sr_pdfd_items(q, fields); i++) {
        qpdf_oh field = qpdf_oh_get_array_item(q, fields, i), widget;
        if (!qpdf_oh_is_dictionary(q, field)) continue;
        qpdf_oh type = qpdf_oh_get_key(q, field, "/FT"), kids = qpdf_oh_get_key(q, field, "/Kids");
        const bool own = qpdf_oh_is_name(q, type) ? qpdf_oh_is_name_and_equals(q, type, "/Sig") : is_signature;
        if (!(own && qpdf_oh_has_key(q, field, "/V")) && sr_pdfd_widget_apart(&widget, q, kids)) {
            move_keys(q, field, widget, pool);
            qpdf_oh_set_array_item(q, fields, i, widget);
        } else merge_fields(q, kids, own, depth + 1, pool);
    }
}

void sr_pdfd_fields_merge(qpdf_data q, apr_pool_t *pool)
{
    qpdf_oh form = qpdf_oh_get_key(q, qpdf_get_root(q), "/AcroForm");
    if (qpdf_oh_is_dictionary(q, form)) merge_fields(q, qpdf_oh_get_key(q, form, "/Fields"), false, 0, pool);
}
