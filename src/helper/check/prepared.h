/* SPDX-License-Identifier: Apache-2.0 */
/* prepared.h: what the checks of a prepared update share. Private to prepared.c and elements.c. */
#ifndef SR_HELPER_CHECK_PREPARED_H
#define SR_HELPER_CHECK_PREPARED_H

#include <apr_hash.h>
#include <string.h>

#include "helper/check/appended.h"

#define OLD_OBJECT "an object of the document ends otherwise than with the new fields"

typedef struct text_t {
    char *at;
    apr_size_t length, room;
} text_t;

/* A signer with added fields or entries. */
typedef struct owner_t {
    int places;       /* number of signature fields that were found */
    apr_int64_t lock; /* the object that locks the signer's entries, or 0 */
    text_t names;     /* of the entries, as they were found */
    bool signs, has_entries;
} owner_t;

typedef struct check_t {
    const sr_pdf_appended_t *appended;
    const apr_array_header_t *given;  /* all fields (sr_pdf_field_t) */
    const apr_array_header_t *fields; /* the fields that are added (sr_pdf_field_t) */
    apr_array_header_t *entries;      /* the added entries, then the existing ones (const sr_pdf_field_t *) */
    int added;                        /* number of added entries */
    apr_int64_t first;                /* the lowest new object number */
    apr_int64_t looks, elements;      /* the first numbers of the entries' appearances, and of the structure elements */
    apr_hash_t *owners;               /* signer → owner_t */
    apr_array_header_t *signers;      /* owner_t *, in the order of their first fields */
    apr_hash_t *names;                /* the names of all fields, as they were found */
    apr_hash_t *pages;                /* page index (int) → reference to the page (sr_pdf_span_t) */
    apr_hash_t *references;           /* page index (int) → references to its fields (text_t) */
    const char *all;                  /* references to all fields */
    bool tagged;
    apr_int64_t key;      /* in a tagged document: the key of the first field in the number tree */
    sr_pdf_span_t parent; /* the reference to the parent of the new elements */
    apr_int64_t leaf;     /* the number of a new leaf of the tree, or 0 */
    int fixed;            /* number of new objects before the rewritten ones */
    apr_pool_t *pool;
} check_t;

static inline const sr_pdf_object_t *object_at(const check_t *check, int index)
{
    return index < check->appended->objects->nelts ? &APR_ARRAY_IDX(check->appended->objects, index, sr_pdf_object_t)
                                                   : NULL;
}

static inline bool is_new(const check_t *check, const sr_pdf_object_t *object, int ordinal)
{
    return object && object->number == check->first + ordinal && !object->generation;
}

static inline bool is_old(const check_t *check, const sr_pdf_object_t *object)
{
    return object && !object->is_stream && object->number < check->first;
}

static inline void prepared_add_text(text_t *text, const char *more, apr_pool_t *pool)
{
    const apr_size_t length = strlen(more);
    if (text->length + length + 1 > text->room) {
        char *larger = apr_palloc(pool, text->room = 2 * (text->room + length + 32));
        if (text->length) memcpy(larger, text->at, text->length);
        text->at = larger;
    }
    memcpy(text->at + text->length, more, length + 1);
    text->length += length;
}

/* Adds a reference to an object, with a space after it. */
static inline void prepared_add_reference(text_t *text, apr_int64_t number, apr_pool_t *pool)
{
    char reference[32];
    apr_snprintf(reference, sizeof reference, "%" APR_INT64_T_FMT " 0 R ", number);
    prepared_add_text(text, reference, pool);
}

/* ---------------------------------------------------------------------------------------------- elements.c
 * The structure of a tagged document. These functions return NULL, or the reason why the update is refused. */
/* Checks the element of each field, and the new leaf of the number tree. */
const char *sr_pdf_elements_check(check_t *check);
/* Checks the rewritten objects of the structure from *index on: the parent of the new elements, then the structure root
 * unless it is the parent, then the number tree. */
const char *sr_pdf_elements_check_old(const check_t *check, int *index);

#endif
