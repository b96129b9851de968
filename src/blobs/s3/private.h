/* SPDX-License-Identifier: Apache-2.0 */
/* private.h: shared by the files of src/blobs/s3/. */
#ifndef SR_BLOBS_S3_PRIVATE_H
#define SR_BLOBS_S3_PRIVATE_H

#include "blobs/s3/s3.h"

#include <apr_thread_mutex.h>
#include <apr_xml.h>

typedef struct sr_s3_handle_t sr_s3_handle_t;

struct sr_s3_t {
    sr_s3_options_t options;
    apr_thread_mutex_t *mutex; /* of all members below */
    sr_s3_handle_t *idle;      /* handles of libcurl that are not in use, the one that was used last first */
    int count;
    apr_interval_time_t clock; /* what must be added to the time of this host, to get that of the server */
    int failures;              /* operations that have failed one after the other */
    apr_time_t closed;         /* until then (sr_time_steady) operations are refused */
};

/* What is asked for. */
typedef struct sr_s3_call_t {
    const char *method, *key; /* key NULL: the bucket */
    const sr_s3_pair_t *query, *headers;
    int query_count, header_count;
    int source;           /* a descriptor of the body, or -1 */
    apr_off_t size;       /* of the body */
    const char *payload;  /* the SHA-256 of the body */
    int sink;             /* a descriptor for the body of a good response, or -1: it is in the answer */
    apr_off_t most;       /* bytes that the sink takes; 0: as many as an object can have */
    const char *expected; /* the SHA-256 that this must have, or NULL */
    bool expects_object;  /* a missing object is an old state of the server, which may pass */
} sr_s3_call_t;

/* What became of it. */
typedef struct sr_s3_answer_t {
    int status;        /* 0: no response came */
    const char *fault; /* why the response is not complete, or its content wrong; NULL if it is whole */
    bool final;        /* the fault will not pass */
    bool own;          /* it is a fault of a file of this host */
    const char *code, *request_id, *date, *region, *sha256; /* "" if the response does not have it */
    apr_off_t length;                                       /* Content-Length, or -1 */
    apr_off_t received;                                     /* bytes of the body */
    apr_xml_doc *body; /* of a response that is XML and was not written to a file; or NULL */
} sr_s3_answer_t;

/* ------------------------------------------------------------------------------------------------- transfer.c */
/* Makes one request. `until` (sr_time_steady) ends it. */
void sr_s3_transfer(sr_s3_answer_t *answer, sr_s3_t *s3, const sr_s3_call_t *call, apr_time_t until, apr_pool_t *pool);
void sr_s3_handles_end(sr_s3_t *s3);

/* ------------------------------------------------------------------------------------------------- repeat.c */
/* Makes a request, and repeats it if its failure may pass. A response with the status 404 is no error if the call does
 * not expect an object. */
sr_error_t *sr_s3_call(sr_s3_answer_t *answer, sr_s3_t *s3, const sr_s3_call_t *call, apr_pool_t *pool);
/* Makes an error. `what` is the cause. */
sr_error_t *sr_s3_trouble(const sr_s3_t *s3, const sr_s3_call_t *call, const char *what, apr_pool_t *pool);

/* ---------------------------------------------------------------------------------------------------- xml.c */
/* Parses a body. Returns NULL if it is not XML. */
apr_xml_doc *sr_s3_xml_parse(const char *text, apr_size_t length, apr_pool_t *pool);
/* Returns the child of an element, or the next one of the same name after `after`; NULL if there is none. */
const apr_xml_elem *sr_s3_xml_child(const apr_xml_elem *parent, const apr_xml_elem *after, const char *name);
/* Returns the text of the child `name`, or "". */
const char *sr_s3_xml_text(const apr_xml_elem *parent, const char *name, apr_pool_t *pool);

#endif
