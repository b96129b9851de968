/* SPDX-License-Identifier: Apache-2.0 */
/* field_names.c: different names for the fields of a document. pyHanko takes the lock of a field for that of all fields
 * whose names begin with its name, so the name of an entry is not the beginning of another name. */
#include "helper/main/pdfd.h"

#include <apr_hash.h>
#include <string.h>

struct sr_pdfd_names_t {
    apr_hash_t *beginnings; /* of all names → how many names have it (int) */
    apr_hash_t *given;      /* the names that entries got */
    apr_hash_t *numbers;    /* of wanted names → the last number that was given (int) */
    apr_pool_t *pool;
};

/* What numbered names begin with, after the wanted name. */
#define NUMBERED "_00000"

sr_pdfd_names_t *sr_pdfd_names_make(apr_pool_t *pool)
{
    sr_pdfd_names_t *names = apr_palloc(pool, sizeof *names);
    *names = (sr_pdfd_names_t){apr_hash_make(pool), apr_hash_make(pool), apr_hash_make(pool), pool};
    return names;
}

/* Returns a number that belongs to a text, at first 0. */
static int *field_names_number(const sr_pdfd_names_t *names, apr_hash_t *hash, const char *text, apr_ssize_t length)
{
    int *number = apr_hash_get(hash, text, length);
    if (number) return number;
    number = apr_pcalloc(names->pool, sizeof *number);
    apr_hash_set(hash, apr_pstrmemdup(names->pool, text, (apr_size_t)length), length, number);
    return number;
}

void sr_pdfd_names_add(sr_pdfd_names_t *names, const char *name)
{
    const apr_ssize_t length = (apr_ssize_t)strlen(name);
    for (apr_ssize_t i = 1; i <= length; i++) ++*field_names_number(names, names->beginnings, name, i);
}

void sr_pdfd_names_want(sr_pdfd_names_t *names, const char *name)
{
    sr_pdfd_names_add(names, apr_pstrcat(names->pool, name, NUMBERED, NULL));
}

/* Returns true if more than `others` names begin with the name, or it begins with the name of an entry. */
static bool field_names_collide(const sr_pdfd_names_t *names, const char *name, int others)
{
    const apr_ssize_t length = (apr_ssize_t)strlen(name);
    const int *count = apr_hash_get(names->beginnings, name, length);
    bool collides = count && *count > others;
    for (apr_ssize_t i = 1; !collides && i <= length; i++) collides = apr_hash_get(names->given, name, i) != NULL;
    return collides;
}

/* Returns the wanted name with the next number: _1 to _9, _010 to _099, _00100 to _00999 and so on. The zeros before a
 * number are as many as its other digits, so that no number is the beginning of another. */
static const char *field_names_next(const sr_pdfd_names_t *names, const char *wanted)
{
    int *last = field_names_number(names, names->numbers, wanted, (apr_ssize_t)strlen(wanted)), digits = 1;
    for (int rest = ++*last; rest >= 10; rest /= 10) digits++;
    return apr_psprintf(names->pool, "%s_%0*d", wanted, 2 * digits - 1, *last);
}

const char *sr_pdfd_names_give(sr_pdfd_names_t *names, const char *wanted)
{
    const char *name = wanted;
    int others = 1; /* the wanted name itself */
    for (; field_names_collide(names, name, others); others = 0) name = field_names_next(names, wanted);
    if (name != wanted) sr_pdfd_names_add(names, name);
    apr_hash_set(names->given, name, APR_HASH_KEY_STRING, name);
    return name;
}
