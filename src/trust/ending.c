/* SPDX-License-Identifier: Apache-2.0 */
/* ending.c: when the certificate that made a timestamp ends. Before that, another timestamp must prove that it was
 * valid. */
#include "trust/timestamp.h"

#include <openssl/x509.h>
#include <time.h>

sr_error_t *sr_timestamps_end(apr_time_t *end, const sr_timestamps_t *timestamps, const void *token, apr_size_t length,
                              apr_pool_t *pool)
{
    apr_array_header_t *chain;
    SR_TRY(sr_timestamps_chain(&chain, timestamps, token, length, pool));
    const sr_trust_der_t *first = &APR_ARRAY_IDX(chain, 0, sr_trust_der_t);
    const unsigned char *der = first->data;
    X509 *certificate = d2i_X509(NULL, &der, (long)first->length);
    struct tm until;
    const bool read = certificate && ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &until);
    X509_free(certificate);
    if (!read) return sr_error(pool, SR_EINTERNAL, "the timestamp's certificate cannot be read");
    *end = apr_time_from_sec((apr_time_t)timegm(&until));
    return NULL;
}
