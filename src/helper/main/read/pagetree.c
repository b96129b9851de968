/* SPDX-License-Identifier: Apache-2.0 */
/* pagetree.c: handles page trees that readers understand in different ways. Readers show a group of pages that occurs
 * more than once each time, but qpdf considers this a loop. So each further place gets a copy of the group before
 * anything else reads the pages. A single page that occurs twice is copied by qpdf itself. At the end of a group, other
 * readers ignore what is no page: a group that contains this one, or a missing object. They also ignore the /Kids of a
 * page. A page inherits its size and rotation from the group that lists it, or, in other readers, from its /Parent. So
 * both must be the same. */
#include "helper/main/pdfd.h"

#include <apr_hash.h>

#define MAX_DEPTH 64
#define MAX_NODES 100000 /* whose parents are compared */
#define MAX_GROUPS 20000 /* that are visited; a page needs at most one group of its own */

typedef struct walk_t {
    qpdf_data q;
    apr_hash_t *seen; /* object number of a group (int) → itself */
    int path[MAX_DEPTH], budget;
    apr_pool_t *pool;
} walk_t;

static qpdf_oh copy(qpdf_data q, qpdf_oh group, apr_pool_t *pool)
{
    apr_array_header_t *keys = apr_array_make(pool, 8, sizeof(const char *));
    qpdf_oh made = qpdf_oh_new_dictionary(q), kids = qpdf_oh_get_key(q, group, "/Kids"), list = qpdf_oh_new_array(q);
    for (qpdf_oh_begin_dict_key_iter(q, group); qpdf_oh_dict_more_keys(q);)
        APR_ARRAY_PUSH(keys, const char *) = apr_pstrdup(pool, qpdf_oh_dict_next_key(q));
    for (int i = 0; i < keys->nelts; i++) {
        const char *key = APR_ARRAY_IDX(keys, i, const char *);
        qpdf_oh_replace_key(q, made, key, qpdf_oh_get_key(q, group, key));
    }
    for (int i = 0; i < qpdf_oh_get_array_n_items(q, kids); i++)
        qpdf_oh_append_item(q, list, qpdf_oh_get_array_item(q, kids, i));
    qpdf_oh_replace_key(q, made, "/Kids", list);
    return qpdf_make_indirect_object(q, made);
}

static bool is_above(const walk_t *walk, int depth, int number)
{
    for (int i = 0; i < depth; i++)
        if (walk->path[i] == number) return true;
    return false;
}

/* Removes from the end of a group what is no page, and is not counted as one. Before a page it stays, because some
 * readers lose this page. */
static void pagetree_trim(const walk_t *walk, qpdf_oh group, qpdf_oh kids, int depth)
{
    qpdf_data q = walk->q;
    int count = 0;
    qpdf_oh_get_value_as_int(q, qpdf_oh_get_key(q, group, "/Count"), &count);
    for (int i = qpdf_oh_get_array_n_items(q, kids) - 1; i > 0; i--) {
        qpdf_oh kid = qpdf_oh_get_array_item(q, kids, i);
        if (qpdf_oh_is_dictionary(q, kid) ? !is_above(walk, depth, qpdf_oh_get_object_id(q, kid)) : i < count) return;
        qpdf_oh_erase_item(q, kids, i);
    }
}

// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static void visit(walk_t *walk, qpdf_oh group, int depth)
{
    qpdf_data q = walk->q;
    qpdf_oh kids = qpdf_oh_get_key(q, group, "/Kids");
    if (depth == MAX_DEPTH || !qpdf_oh_is_array(q, kids)) return;
    walk->path[depth] = qpdf_oh_get_object_id(q, group);
    pagetree_trim(walk, group, kids, depth + 1);
    for (int i = 0; i < qpdf_oh_get_array_n_items(q, kids) && walk->budget > 0; i++) {
        qpdf_oh kid = qpdf_oh_get_array_item(q, kids, i);
        if (qpdf_oh_is_stream(q, kid)) { /* only some readers show it, so the repair is refused if it shows something */
            kid = qpdf_make_indirect_object(q, qpdf_oh_get_dict(q, kid));
            qpdf_oh_set_array_item(q, kids, i, kid);
        }
        const int number = qpdf_oh_get_object_id(q, kid);
        if (!number || !qpdf_oh_is_dictionary(q, kid)) continue;
        if (qpdf_oh_is_name_and_equals(q, qpdf_oh_get_key(q, kid, "/Type"), "/Page"))
            qpdf_oh_remove_key(q, kid, "/Kids");
        if (!qpdf_oh_is_array(q, qpdf_oh_get_key(q, kid, "/Kids"))) continue;
        walk->budget--;
        if (is_above(walk, depth + 1, number)) continue; /* a real loop */
        if (apr_hash_get(walk->seen, &number, sizeof number)) {
            kid = copy(q, kid, walk->pool);
            qpdf_oh_set_array_item(q, kids, i, kid);
        } else {
            const int *own = apr_pmemdup(walk->pool, &number, sizeof number);
            apr_hash_set(walk->seen, own, sizeof *own, own);
        }
        visit(walk, kid, depth + 1);
    }
}

void sr_pdfd_pages_unshare(qpdf_data q, apr_pool_t *pool)
{
    walk_t walk = {.q = q, .seen = apr_hash_make(pool), .budget = MAX_GROUPS, .pool = pool};
    qpdf_oh root = qpdf_get_root(q), top = qpdf_oh_get_key(q, root, "/Pages");
    if (!qpdf_oh_is_dictionary(q, top)) return;
    if (!qpdf_oh_is_indirect(q, top)) { /* poppler shows no page then, so the repair is refused */
        top = qpdf_make_indirect_object(q, top);
        qpdf_oh_replace_key(q, root, "/Pages", top);
    }
    visit(&walk, top, 0);
}

/* Returns the number of nodes below the group whose /Parent is another group. With `mends`, they get the right one. */
// NOLINTNEXTLINE(misc-no-recursion): MAX_DEPTH
static int count_strays(qpdf_data q, qpdf_oh group, bool mends, int depth, int *budget)
{
    qpdf_oh kids = qpdf_oh_get_key(q, group, "/Kids");
    int strays = 0;
    for (int i = 0; depth < MAX_DEPTH && i < sr_pdfd_items(q, kids) && (*budget)-- > 0; i++) {
        qpdf_oh kid = qpdf_oh_get_array_item(q, kids, i);
        if (qpdf_oh_is_dictionary(q, kid)) {
            qpdf_oh parent = qpdf_oh_get_key(q, kid, "/Parent");
            const bool strays_here =
                qpdf_oh_is_dictionary(q, parent) && qpdf_oh_get_object_id(q, parent) != qpdf_oh_get_object_id(q, group);
            if (strays_here && mends) qpdf_oh_replace_key(q, kid, "/Parent", group);
            strays += strays_here + count_strays(q, kid, mends, depth + 1, budget);
            qpdf_oh_release(q, parent);
        }
        qpdf_oh_release(q, kid);
    }
    qpdf_oh_release(q, kids);
    return strays;
}

bool sr_pdfd_pages_stray(qpdf_data q, bool mends)
{
    int budget = MAX_NODES;
    qpdf_oh top = qpdf_oh_get_key(q, qpdf_get_root(q), "/Pages");
    return qpdf_oh_is_dictionary(q, top) && count_strays(q, top, mends, 0, &budget) > 0;
}
