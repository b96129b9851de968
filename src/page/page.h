/* page.h: <location>/sign: what signers see and do. routes.c is the table; link.c the page itself, document.c what is
 * downloaded from it, pages.c what is seen on it, html.c its text. Whoever knows the uuid in the path is the signer:
 * there is no token here. */
#ifndef SR_PAGE_H
#define SR_PAGE_H

#include "http/http.h"
#include "service/service.h"

extern const sr_route_t sr_page_routes[];

/* The handlers. */
sr_error_t *sr_page_get(sr_http_t *http);
sr_error_t *sr_page_post(sr_http_t *http);
sr_error_t *sr_page_document(sr_http_t *http);
sr_error_t *sr_page_certificate(sr_http_t *http);
sr_error_t *sr_page_image(sr_http_t *http);
sr_error_t *sr_page_text(sr_http_t *http);

/* Headers of every answer below /sign: nobody is told the link, nothing is kept, nothing of others is loaded. */
void sr_page_headers(sr_http_t *http);
/* The body of an error as a page, for who does not want JSON (sr_http_t.show_error). */
sr_error_t *sr_page_error(sr_http_t *http, int status, const char *message);
/* A path parameter that must be a uuid; what is none is no link. */
sr_error_t *sr_page_uuid(const char **uuid, sr_http_t *http, int param);
/* The absolute URL of a link. */
const char *sr_page_link(sr_http_t *http, const char *signer);

/* html.c: the page of a state (sr_signing_view), and that of an error. */
const char *sr_page_html(const json_t *view, const char *link, apr_pool_t *pool);
const char *sr_page_error_html(int status, const char *message, apr_pool_t *pool);

#endif
