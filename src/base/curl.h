/* SPDX-License-Identifier: Apache-2.0 */
/* curl.h: what the clients that use libcurl have in common. */
#ifndef SR_BASE_CURL_H
#define SR_BASE_CURL_H

#include <curl/curl.h>

/* Sets the certificate authorities (PEM) of https servers; NULL: libcurl's own. The text must live as long as the
 * handle uses it. libcurl's own are removed first, so that a failure leaves none. */
CURLcode sr_curl_authorities(CURL *easy, const char *pem);

#endif
