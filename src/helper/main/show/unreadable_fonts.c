/* SPDX-License-Identifier: Apache-2.0 */
/* unreadable_fonts.c: finds fonts whose text cannot be read, to explain why a text was not found. The codes of such a
 * font are numbers of its glyphs, and it has no table that leads to letters (ISO 32000-2, 9.10.2). */
#include "helper/main/read/page.h"

#define MAX_DEPTH 64

static bool unreadable_is_name(qpdf_data q, qpdf_oh dictionary, const char *key, const char *name)
{
    return qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, dictionary, key), name);
}

/* Returns true if the character collection of a composite font has no table of letters. */
static bool is_own_collection(qpdf_data q, qpdf_oh font)
{
    qpdf_oh descendants = qpdf_oh_get_key(q, font, "/DescendantFonts");
    if (sr_pdfd_items(q, descendants) < 1) return true;
    qpdf_oh descendant = qpdf_oh_get_array_item(q, descendants, 0);
    if (!qpdf_oh_is_dictionary(q, descendant)) return true;
    qpdf_oh system = qpdf_oh_get_key(q, descendant, "/CIDSystemInfo");
    if (!qpdf_oh_is_dictionary(q, system)) return true;
    qpdf_oh ordering = qpdf_oh_get_key(q, system, "/Ordering");
    return !qpdf_oh_is_string(q, ordering) || !strcmp(qpdf_oh_get_utf8_value(q, ordering), "Identity");
}

static bool unreadable_font(qpdf_data q, qpdf_oh font)
{
    if (!qpdf_oh_is_dictionary(q, font) || qpdf_oh_has_key(q, font, "/ToUnicode")) return false;
    if (unreadable_is_name(q, font, "/Subtype", "/Type3")) return true;
    return unreadable_is_name(q, font, "/Subtype", "/Type0") && is_own_collection(q, font);
}

static bool unreadable_page(qpdf_data q, qpdf_oh node)
{
    for (int depth = 0; depth < MAX_DEPTH && qpdf_oh_is_dictionary(q, node); depth++) {
        qpdf_oh resources = qpdf_oh_get_key(q, node, "/Resources");
        qpdf_oh fonts = qpdf_oh_is_dictionary(q, resources) ? qpdf_oh_get_key(q, resources, "/Font") : resources;
        if (qpdf_oh_is_dictionary(q, fonts)) {
            qpdf_oh_begin_dict_key_iter(q, fonts);
            while (qpdf_oh_dict_more_keys(q))
                if (unreadable_font(q, qpdf_oh_get_key(q, fonts, qpdf_oh_dict_next_key(q)))) return true;
            return false;
        }
        node = qpdf_oh_get_key(q, node, "/Parent");
    }
    return false;
}

bool sr_pdfd_fonts_unreadable(const sr_pdfd_bytes_t *bytes, apr_pool_t *pool)
{
    const sr_pdfd_bytes_t trimmed = sr_pdfd_trimmed(bytes);
    qpdf_data q = sr_pdfd_qpdf(pool);
    if (qpdf_read_memory(q, "document", (const char *)trimmed.data, trimmed.size, NULL) & QPDF_ERRORS) return false;
    const int pages = qpdf_get_num_pages(q);
    for (int i = 0; i < pages; i++) {
        if (unreadable_page(q, qpdf_get_page_n(q, (size_t)i))) return true;
        qpdf_oh_release_all(q);
    }
    return false;
}
