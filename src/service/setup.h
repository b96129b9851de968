/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h: what the service is made of: for the adapter that makes it, and for the use cases. */
#ifndef SR_SERVICE_SETUP_H
#define SR_SERVICE_SETUP_H

#include "blobs/blobs.h"
#include "pdf/pdf.h"
#include "service/service.h"
#include "store/store.h"

/* A table of what a process has found out (recent.c). */
typedef struct sr_recent_t sr_recent_t;

/* What a process remembers of who may see what (access_cache.c). */
typedef sr_recent_t sr_access_cache_t;

/* What a process knows of the current versions of documents (standing.c). */
typedef sr_recent_t sr_standing_t;

/* What a process remembers of its folders of documents (folder.c). */
typedef struct sr_folders_t sr_folders_t;

/* What a child of httpd makes once, for all its requests. */
typedef struct sr_child_t {
    sr_pdf_pool_t *helpers;
    sr_folders_t *folders;            /* or NULL: nothing is remembered */
    sr_access_cache_t *access;        /* or NULL */
    sr_standing_t *standing;          /* or NULL */
    const sr_cms_identity_t *seal[2]; /* by sr_environment_t */
} sr_child_t;

/* What a use case works with: made by the adapter above for each request, because httpd merges the configuration of a
 * location for each request, too (ap_location_walk): nothing of a location lives as long as a child. */
struct sr_service_t {
    const sr_child_t *child;
    sr_store_source_t *database;
    const char *base_url;     /* of this location, without a slash at the end: what links to it begin with */
    const char *verify_url;   /* of the page where anybody checks documents; NULL: it is Off, or not known */
    const char *set_base_url; /* the same, where it was configured and is not what a client says. Or NULL */
    /* Called after a commit that may have left deliveries, so that nobody waits for the next look. Or NULL. */
    void (*wake)(void *baton);
    void *wake_baton;
    const char *documents_root, *cache_root;
    apr_off_t cache_size;                              /* bytes, at most */
    sr_pdf_pool_t *pdf;                                /* the child's, or one for the documents of one owner */
    const void *database_key;                          /* tells the databases of a process apart */
    int max_files, max_signers, max_fields, max_pages; /* of one submission */
    sr_origin_t area_origin;
    apr_interval_time_t max_token_age; /* of tokens that tokens make; 0: no limit */
    bool sends_mail;                   /* or else sendEmail is refused */
    const char *theme;                 /* a folder (page/theme.c), "" or NULL */
    const sr_rates_t *mail_rates;      /* by sr_mail_rate_of_t */
    bool refuse_active;                /* documents with active content (sr_warning_row_t) */
};

/* What a child makes for all its requests. Each is NULL when there is no memory. */
sr_access_cache_t *sr_access_cache_create(apr_pool_t *pool);
sr_standing_t *sr_standing_create(apr_pool_t *pool);
sr_folders_t *sr_folders_create(apr_pool_t *pool);
/* Memory of so many bytes, zeros at first, that all processes share (standing.c). */
apr_size_t sr_standing_size(void);
void sr_standing_use(void *block);

#endif
