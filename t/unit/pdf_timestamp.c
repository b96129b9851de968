/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_timestamp.c: document timestamps (RFC 3161) in the place of a signature: the token names the digest of the
 * document, and is signed by the authority. */
#include "cms_make.h"
#include "stamp_make.h"

static apr_pool_t *root;
static const unsigned char digest[32] = "the digest of a document, so so.";

static void is_checked(const unsigned char *der, int size, const unsigned char *of, const char *want, const char *name)
{
    sr_cms_result_t result;
    cms_check(&result, der, (apr_size_t)size, of, 32, &(sr_cms_context_t){0}, root);
    ok(result.timestamp, "%s: a timestamp", name);
    const char *said = apr_pstrcat(root, sr_cms_state_name(result.state), result.fault ? ": " : "",
                                   result.fault ? result.fault : "", NULL);
    is_str(said, want, "%s", name);
}

int main(void)
{
    unsigned char *der;
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    made_t *authority = make_certificate(&(make_t){.name = "authority"}, root);
    int size = stamp_make(&der, authority->certificate, authority->key, digest);
    is_checked(der, size, digest, "intact", "of this document");
    is_checked(der, size, (const unsigned char *)"the digest of another document!!",
               "broken: the document is not the one that was signed", "of another");
    unsigned char *imprint = memmem(der, (size_t)size, digest, sizeof digest);
    if (!imprint) abort();
    unsigned char *other = apr_pmemdup(root, der, (apr_size_t)size);
    other[imprint - der] ^= 1;
    is_checked(other, size, other + (imprint - der), "broken: the document is not the one that was signed",
               "with another digest put into the token");
    OPENSSL_free(der);
    make_free(authority);
    make_end();
    apr_pool_destroy(root);
    return done();
}
