/* SPDX-License-Identifier: Apache-2.0 */
/* s3_sigv4.c: tests of src/blobs/s3/sigv4.c, with the four examples of Amazon's documentation ("Signature Calculations
 * for the Authorization Header: Transferring Payload in a Single Chunk") and some forms that they do not have.
 * t/ctl/sigv4.t compares thousands of requests with botocore. */
#include "blobs/s3/s3.h"
#include "tap.h"

#define HOST "examplebucket.s3.amazonaws.com"

static apr_pool_t *pool;
static const sr_s3_credentials_t example = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL};

static sr_s3_request_t request_of(const char *method, const char *path)
{
    sr_s3_request_t request = {.method = method,
                               .scheme = "https",
                               .authority = HOST,
                               .path = path,
                               .payload = SR_S3_EMPTY,
                               .region = "us-east-1",
                               .credentials = &example};
    if (!sr_time_parse(&request.now, "2013-05-24T00:00:00Z")) abort();
    return request;
}

static const char *header_of(const sr_s3_signed_t *result, const char *name)
{
    for (int i = 0; i < result->headers->nelts; i++) {
        const char *header = APR_ARRAY_IDX(result->headers, i, const char *);
        if (strncmp(header, name, strlen(name)) == 0) return header;
    }
    return NULL;
}

static void test_examples(void)
{
    const sr_s3_pair_t range = {"Range", "bytes=0-9"}, lifecycle = {"lifecycle", NULL};
    const sr_s3_pair_t list[] = {{"prefix", "J"}, {"max-keys", "2"}};
    const sr_s3_pair_t put[] = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
    sr_s3_signed_t result;
    sr_s3_request_t request = request_of("GET", "/test.txt");
    request.headers = &range;
    request.header_count = 1;
    sr_s3_sign(&result, &request, pool);
    is_str(result.signature, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", "GET of an object");
    is_str(header_of(&result, "authorization"),
           "authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
           "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
           "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
           "the header of it");
    is_str(result.url, "https://" HOST "/test.txt", "the URL of it");

    request = request_of("PUT", "/test$file.text");
    request.headers = put;
    request.header_count = 2;
    request.payload = sr_sha256_hex("Welcome to Amazon S3.", 21, pool);
    sr_s3_sign(&result, &request, pool);
    is_str(result.signature, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd", "PUT of an object");
    is_str(result.url, "https://" HOST "/test%24file.text", "its URL is encoded");

    request = request_of("GET", "/");
    request.query = &lifecycle;
    request.query_count = 1;
    sr_s3_sign(&result, &request, pool);
    is_str(result.signature, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
           "a parameter without a value");

    request = request_of("GET", "/");
    request.query = list;
    request.query_count = 2;
    sr_s3_sign(&result, &request, pool);
    is_str(result.signature, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7", "a list");
    is_str(result.url, "https://" HOST "/?max-keys=2&prefix=J", "its parameters are sorted");
}

static void test_forms(void)
{
    const sr_s3_credentials_t temporary = {"A", "B", "token/+="};
    const sr_s3_pair_t query[] = {{"a~b", "x"}, {"a b", "2"}, {"a b", "1"}, {"a", "é+/%"}};
    const sr_s3_pair_t headers[] = {
        {"X-Amz-Meta-Twice", "b"}, {"X-AMZ-Meta-Empty", " "}, {"x-amz-meta-twice", " a \t b "}};
    sr_s3_request_t request = request_of("GET", "/b//a/../x y+~é");
    sr_s3_signed_t result;
    request.authority = HOST ":443";
    request.credentials = &temporary;
    request.query = query;
    request.query_count = 4;
    request.headers = headers;
    request.header_count = 3;
    sr_s3_sign(&result, &request, pool);
    is_str(result.canonical,
           "GET\n/b//a/../x%20y%2B~%C3%A9\na=%C3%A9%2B%2F%25&a%20b=1&a%20b=2&a~b=x\nhost:" HOST "\n"
           "x-amz-content-sha256:" SR_S3_EMPTY "\nx-amz-date:20130524T000000Z\nx-amz-meta-empty:\n"
           "x-amz-meta-twice:b,a b\nx-amz-security-token:token/+=\n\n"
           "host;x-amz-content-sha256;x-amz-date;x-amz-meta-empty;x-amz-meta-twice;x-amz-security-token\n" SR_S3_EMPTY,
           "encoded, sorted and not normalised");
    is_str(header_of(&result, "x-amz-meta-empty"), "x-amz-meta-empty;", "an empty header, as libcurl takes it");
    is_str(header_of(&result, "host"), "host: " HOST, "Host has no default port");
    request.scheme = "http";
    sr_s3_sign(&result, &request, pool);
    is_str(header_of(&result, "host"), "host: " HOST ":443", "that of another scheme stays");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    test_examples();
    test_forms();
    apr_pool_destroy(pool);
    apr_terminate();
    return done();
}
