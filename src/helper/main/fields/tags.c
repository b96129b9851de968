/* SPDX-License-Identifier: Apache-2.0 */
/* tags.c: adds the new fields to the logical structure of a tagged document (ISO 32000-2, 14.7), because PDF/UA and the
 * accessible levels of PDF/A require each widget to be in a Form element (ISO 14289-1, 7.18.4). The new elements become
 * the last children of the element that contains the whole document, or of the root. If the structure does not conform
 * to the standard, it remains unchanged. */
#include "helper/main/pdfd.h"

#include <string.h>

#define MAX_DEPTH 32
#define MAX_KEYS 200000
#define MAX_KEY 1000000000

/* Elements that may contain a form and other content (14.8.4.3). */
static const char *const GROUPS[] = {"/Document", "/Part", "/Art", "/Sect", "/Div"};

typedef struct walk_t {
    qpdf_data q;
    int64_t highest;
    int budget;
} walk_t;

static bool is_reference_to_dictionary(qpdf_data q, qpdf_oh value)
{
    return qpdf_oh_is_dictionary(q, value) && qpdf_oh_is_indirect(q, value);
}

static int count_of(qpdf_data q, qpdf_oh array)
{
    return qpdf_oh_is_array(q, array) ? qpdf_oh_get_array_n_items(q, array) : -1;
}

/* Returns false if these are not the entries of a number tree (7.9.7). */
static bool read_numbers(walk_t *walk, qpdf_oh numbers)
{
    qpdf_data q = walk->q;
    const int count = count_of(q, numbers);
    if (count < 0 || count % 2) return false;
    for (int i = 0; i < count; i += 2) {
        qpdf_oh item = qpdf_oh_get_array_item(q, numbers, i);
        if (!walk->budget-- || !qpdf_oh_is_integer(q, item)) return false;
        const int64_t key = qpdf_oh_get_int_value(q, item);
        if (key > walk->highest) walk->highest = key;
        qpdf_oh_release(q, item);
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static bool read_tree(walk_t *walk, qpdf_oh node, int depth)
{
    qpdf_data q = walk->q;
    if (depth == MAX_DEPTH || !walk->budget-- || !qpdf_oh_is_dictionary(q, node)) return false;
    qpdf_oh numbers = qpdf_oh_get_key(q, node, "/Nums"), kids = qpdf_oh_get_key(q, node, "/Kids");
    if (!qpdf_oh_is_null(q, numbers)) return qpdf_oh_is_null(q, kids) && read_numbers(walk, numbers);
    for (int i = 0; i < count_of(q, kids); i++)
        if (!read_tree(walk, qpdf_oh_get_array_item(q, kids, i), depth + 1)) return false;
    return count_of(q, kids) >= 0;
}

static bool is_group(qpdf_data q, qpdf_oh root, qpdf_oh element)
{
    qpdf_oh type = qpdf_oh_get_key(q, element, "/S"), roles = qpdf_oh_get_key(q, root, "/RoleMap");
    if (qpdf_oh_is_name(q, type) && qpdf_oh_is_dictionary(q, roles)) {
        qpdf_oh role = qpdf_oh_get_key(q, roles, qpdf_oh_get_name(q, type));
        if (qpdf_oh_is_name(q, role)) type = role;
    }
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++)
        if (qpdf_oh_is_name_and_equals(q, type, GROUPS[i])) return true;
    return false;
}

/* Returns the only child of the root if it contains the whole document, otherwise the root. */
static qpdf_oh find_parent(qpdf_data q, qpdf_oh root)
{
    qpdf_oh kids = qpdf_oh_get_key(q, root, "/K");
    if (count_of(q, kids) == 1) kids = qpdf_oh_get_array_item(q, kids, 0);
    return is_reference_to_dictionary(q, kids) && is_group(q, root, kids) ? kids : root;
}

void sr_pdfd_tags_read(sr_pdfd_tags_t *tags, qpdf_data q)
{
    walk_t walk = {.q = q, .highest = -1, .budget = MAX_KEYS};
    *tags = (sr_pdfd_tags_t){.tagged = false};
    tags->root = qpdf_oh_get_key(q, qpdf_get_root(q), "/StructTreeRoot");
    if (!is_reference_to_dictionary(q, tags->root)) return;
    tags->tree = qpdf_oh_get_key(q, tags->root, "/ParentTree");
    if (!is_reference_to_dictionary(q, tags->tree) || !read_tree(&walk, tags->tree, 0)) return;
    qpdf_oh next = qpdf_oh_get_key(q, tags->root, "/ParentTreeNextKey");
    if (qpdf_oh_is_integer(q, next) && qpdf_oh_get_int_value(q, next) > walk.highest)
        walk.highest = qpdf_oh_get_int_value(q, next) - 1;
    if (walk.highest > MAX_KEY) return;
    tags->next = walk.highest + 1;
    tags->parent = find_parent(q, tags->root);
    tags->is_leaf = qpdf_oh_is_null(q, qpdf_oh_get_key(q, tags->tree, "/Nums"));
    tags->tagged = true;
}

/* -------------------------------------------------------------------------------------------------------- writing */

static bool tags_is_same(qpdf_data q, qpdf_oh a, qpdf_oh b)
{
    return qpdf_oh_get_object_id(q, a) == qpdf_oh_get_object_id(q, b);
}

int64_t sr_pdfd_tags_put_element(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, qpdf_oh page, int64_t widget)
{
    qpdf_data q = update->document->q;
    const int64_t number = sr_pdfd_object_number(update);
    sr_pdfd_object_begin(update, number, 0);
    sr_pdfd_print(update->out, "<</Type/StructElem/S/Form/P %d %d R/Pg %d %d R/K<</Type/OBJR/Obj %lld 0 R>>>>",
                  qpdf_oh_get_object_id(q, tags->parent), qpdf_oh_get_generation(q, tags->parent),
                  qpdf_oh_get_object_id(q, page), qpdf_oh_get_generation(q, page), (long long)widget);
    sr_pdfd_object_end(update);
    return number;
}

int64_t sr_pdfd_tags_put_leaf(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, const char *numbers, int count)
{
    if (!tags->is_leaf) return 0;
    const int64_t number = sr_pdfd_object_number(update);
    sr_pdfd_object_begin(update, number, 0);
    sr_pdfd_print(update->out, "<</Limits[%lld %lld]/Nums[%s]>>", (long long)tags->next,
                  (long long)tags->next + count - 1, numbers);
    sr_pdfd_object_end(update);
    return number;
}

/* Makes "/K[", the existing children, the new ones and "]". A single child need not be in an array. */
static const char *more_kids(qpdf_data q, qpdf_oh element, const char *elements, apr_pool_t *pool)
{
    qpdf_oh kids = qpdf_oh_get_key(q, element, "/K");
    const char *before = "";
    if (qpdf_oh_is_array(q, kids)) return apr_pstrcat(pool, "/K", sr_pdfd_spliced(q, kids, elements, pool), NULL);
    if (!qpdf_oh_is_null(q, kids)) before = apr_pstrcat(pool, qpdf_oh_unparse(q, kids), " ", NULL);
    return apr_pstrcat(pool, "/K[", before, elements, "]", NULL);
}

static void put_again(sr_pdfd_update_t *update, qpdf_oh object, const char *more)
{
    sr_pdfd_object_again(update, object, sr_pdfd_spliced(update->document->q, object, more, update->pool));
}

void sr_pdfd_tags_refer(sr_pdfd_update_t *update, const sr_pdfd_tags_t *tags, const char *elements, const char *numbers,
                        int count, int64_t leaf)
{
    qpdf_data q = update->document->q;
    apr_pool_t *pool = update->pool;
    const char *key = tags->is_leaf ? "/Kids" : "/Nums", *kids = more_kids(q, tags->parent, elements, pool);
    const char *next = apr_psprintf(pool, "/ParentTreeNextKey %" APR_INT64_T_FMT, tags->next + count);
    const bool apart = !tags_is_same(q, tags->root, tags->parent);
    if (tags->is_leaf) numbers = apr_psprintf(pool, "%" APR_INT64_T_FMT " 0 R ", leaf);
    qpdf_oh_remove_key(q, tags->parent, "/K");
    if (apart) put_again(update, tags->parent, kids);
    qpdf_oh_remove_key(q, tags->root, "/ParentTreeNextKey");
    put_again(update, tags->root, apart ? next : apr_pstrcat(pool, next, kids, NULL));
    const char *tree = sr_pdfd_spliced(q, qpdf_oh_get_key(q, tags->tree, key), numbers, pool);
    qpdf_oh_remove_key(q, tags->tree, key);
    put_again(update, tags->tree, apr_pstrcat(pool, key, tree, NULL));
}
