/* SPDX-License-Identifier: Apache-2.0 */
/* curl.c: the certificate authorities of libcurl's handles. */
#include "base/curl.h"

#include <string.h>

CURLcode sr_curl_authorities(CURL *easy, const char *pem)
{
    struct curl_blob blob = {(void *)pem, pem ? strlen(pem) : 0, CURL_BLOB_NOCOPY};
    if (!pem) return CURLE_OK;
    curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    return curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
}
