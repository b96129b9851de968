/* SPDX-License-Identifier: Apache-2.0 */
/* changes.h: the changes between the revisions of a signed document. changes.cc is C++, and listing.c, which uses
 * it, is C. */
#ifndef SR_HELPER_MAIN_COMPARE_CHANGES_H
#define SR_HELPER_MAIN_COMPARE_CHANGES_H

#include "helper/main/read/sections.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The greatest number of changes that are listed for one signature. One more text then says that there are more. */
#define SR_PDFD_MAX_CHANGES 20

typedef struct sr_pdfd_revision_t {
    size_t end; /* the revision is the first `end` bytes of the file, and a signature covers it */
    /* array of texts: what later revisions changed without an explanation. NULL if that is unknown */
    json_t *changes;
    /* array of names: other form fields that were filled in later. NULL if `changes` is NULL */
    json_t *filled;
    /* array of {"field","signature","page","text","area":[x,y,w,h]}: what the next revision draws in another way. The
     * page counts from 0, and the area is in parts of the page as displayed. NULL if `changes` is NULL, and for the
     * last revision */
    json_t *widgets;
    int validation; /* true: only data for the validation of signatures was added */
    int locked;     /* of the last revision: a field was changed after it that a signature locks */
    int stamp;      /* set by the caller: only document timestamps cover this revision, and no signature of a person */
} sr_pdfd_revision_t;

/* Compares each revision with the next one, object by object, and the last one with the whole file. `revisions` has
 * `count` members, the shortest revision first. The last revision is the last one that a person has signed. Its result
 * is what happened after it, and so are the results of the document timestamps after it. The results of the others are
 * what happened until the last revision. A revision that cannot be read with certainty is a change. The comparison
 * stops after `seconds` of processor time, and what is missing then remains NULL. The caller owns the arrays that are
 * set. */
void sr_pdfd_changes_find(sr_pdfd_revision_t *revisions, int count, const unsigned char *data, size_t size,
                          double seconds);

/* Returns the index of the last revision that a person has signed. If there are only timestamps, it is the last one. */
int sr_pdfd_changes_last(const sr_pdfd_revision_t *revisions, int count);

/* Reads the document security store (proofs.cc). */
typedef struct sr_pdfd_proofs_t {
    const char *const *keys; /* of the lists, ended by NULL */
    size_t room;             /* the number of bytes that may still be read */
    int count;               /* the number of proofs that may still be read */
    /* Takes a proof of the list `kind`, whose stream is the object at this offset. */
    void (*add)(struct sr_pdfd_proofs_t *proofs, int kind, int64_t at, const unsigned char *data, size_t size);
    void *baton;
} sr_pdfd_proofs_t;
void sr_pdfd_proofs_read(sr_pdfd_proofs_t *proofs, const unsigned char *data, size_t size);

/* Returns 1 if every entry of every cross-reference section leads to the object with its number (entries.cc). */
int sr_pdfd_entries_are_right(const unsigned char *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
