/* SPDX-License-Identifier: Apache-2.0 */
/* update.c: requests whose results are documents and updates, and what all updates with room for a CMS have in
 * common. Nobody can change what a worker has written after it is sealed (output.c), and the digest to be signed is
 * computed here from exactly these bytes. */
#include "helper/client/update.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((apr_size_t)256 << 10) /* a document is hashed in pieces that fit into the processor's cache */

static const char NONSENSE[] = "it made the PDF helper send an invalid answer";

static bool update_read_size(apr_size_t *size, const json_t *response, const char *key, apr_size_t limit)
{
    const json_t *value = json_object_get(response, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > limit) return false;
    *size = (apr_size_t)number;
    return true;
}

static bool update_read_answer(void *result, const json_t *json, apr_pool_t *pool)
{
    static const struct {
        const char *name;
        sr_pdf_fault_t fault;
    } faults[] = {{SR_PDF_FAULT_DOCUMENT, SR_PDF_DOCUMENT_AT_FAULT},
                  {SR_PDF_FAULT_DAMAGED, SR_PDF_DOCUMENT_DAMAGED},
                  {SR_PDF_FAULT_SIGNATURE, SR_PDF_SIGNATURE_AT_FAULT}};
    sr_pdf_response_t *response = result;
    const char *name = sr_json_string(json, "fault"), *reason = sr_json_string(json, "reason");
    for (size_t i = 0; name && i < sizeof faults / sizeof *faults; i++) {
        if (strcmp(faults[i].name, name) != 0 || !sr_pdf_is_plain(reason)) continue;
        response->fault = faults[i].fault;
        response->reason = apr_pstrdup(pool, reason);
        return true;
    }
    if (name || !update_read_size(&response->length, json, "length", response->room) || !response->length) return false;
    const json_t *cipher = json_object_get(json, "cipher");
    if (cipher && !sr_cipher_read(&response->cipher, json_string_value(cipher), sr_json_string(json, "key")))
        return false;
    return !response->has_contents || update_read_size(&response->contents, json, "contents", response->length);
}

sr_error_t *sr_pdf_ask(sr_pdf_response_t *response, sr_pdf_output_t *output, sr_pdf_pool_t *workers, const char *op,
                       const char *text, int descriptor, apr_pool_t *pool)
{
    bool failed = false;
    sr_pdf_request_t request = {.op = op, .text = text, .descriptor = descriptor, .output = output};
    request.room = response->room;
    request.goes_on = response->goes_on;
    request.length = response->asked;
    request.read = update_read_answer;
    request.result = response;
    *output = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (!failed) return NULL;
    response->fault = SR_PDF_DOCUMENT_AT_FAULT;
    response->reason = SR_PDF_LIMITS_REASON;
    return NULL;
}

sr_error_t *sr_pdf_ask_for_bytes(sr_pdf_response_t *response, unsigned char **bytes, sr_pdf_pool_t *workers,
                                 const char *op, const char *text, int descriptor, apr_pool_t *pool)
{
    sr_pdf_output_t *output = apr_palloc(pool, sizeof *output);
    *bytes = NULL;
    SR_TRY(sr_pdf_ask(response, output, workers, op, text, descriptor, pool));
    if (response->fault) return NULL;
    *bytes = apr_palloc(pool, response->length);
    return sr_pdf_read(*bytes, output->descriptor, 0, response->length, pool);
}

static apr_status_t free_digest(void *data)
{
    EVP_MD_CTX_free(data);
    return APR_SUCCESS;
}

/* Begins a digest by another hash function than SHA-256. Returns NULL for SHA-256. */
static EVP_MD_CTX *begin_other(const char *name, apr_pool_t *pool)
{
    if (!name || !strcmp(name, "SHA256")) return NULL;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    if (!digest || !EVP_DigestInit_ex(digest, EVP_get_digestbyname(name), NULL)) abort();
    apr_pool_cleanup_register(pool, digest, free_digest, apr_pool_cleanup_null);
    return digest;
}

/* Finishes a copy of `digest` after it has read some more bytes. */
static void digest_with(unsigned char *hash, const sr_sha256_t *digest, const void *more, apr_size_t length,
                        apr_pool_t *pool)
{
    sr_sha256_t *copy = sr_sha256_copy(digest, pool);
    sr_sha256_update(copy, more, length);
    sr_sha256_end(hash, copy);
}

/* Reads a document into both digests. Each of them may be NULL. */
static sr_error_t *digest_document(sr_sha256_t *digest, EVP_MD_CTX *other, int descriptor, apr_off_t size,
                                   apr_pool_t *pool)
{
    unsigned char *piece = digest || other ? apr_palloc(pool, PIECE) : NULL;
    for (apr_off_t at = 0; piece && at < size;) {
        apr_size_t length = size - at < (apr_off_t)PIECE ? (apr_size_t)(size - at) : PIECE;
        SR_TRY(sr_pdf_read(piece, descriptor, at, length, pool));
        if (digest) sr_sha256_update(digest, piece, length);
        if (other) EVP_DigestUpdate(other, piece, length);
        at += (apr_off_t)length;
    }
    return NULL;
}

/* Returns true if the bytes around the digits of the CMS state exactly the byte ranges that will be signed. */
static bool is_sound(const sr_pdf_revision_t *revision, apr_off_t size)
{
    static const char before[] = "/ByteRange", between[] = "/Contents<";
    char range[SR_PDF_RANGE_WIDTH + 64], want[sizeof range + 64];
    const apr_size_t digits = 2 * revision->room, to = revision->contents + digits + 2;
    if (revision->length < digits || to > revision->length) return false;
    snprintf(range, sizeof range, SR_PDF_RANGE_FORMAT, (unsigned long long)size + revision->contents,
             (unsigned long long)size + to, (unsigned long long)(revision->length - to));
    int length = snprintf(want, sizeof want, "%s%-*s%s", before, SR_PDF_RANGE_WIDTH, range, between);
    const unsigned char *at = revision->bytes + revision->contents + 1;
    if (revision->contents + 1 < (apr_size_t)length || memcmp(at - length, want, (size_t)length) != 0) return false;
    for (apr_size_t i = 0; i < digits; i++)
        if (at[i] != '0') return false;
    return at[digits] == '>';
}

sr_error_t *sr_pdf_revision_ask(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, const sr_pdf_asked_t *asked,
                                apr_pool_t *pool)
{
    sr_pdf_response_t response = {.room = SR_PDF_MAX_REVISION, .has_contents = true, .asked = asked->length};
    SR_TRY(sr_pdf_ask_for_bytes(&response, &revision->bytes, workers, asked->op, asked->text, asked->descriptor, pool));
    revision->fault = response.fault;
    revision->reason = response.reason;
    if (response.fault) return NULL;
    revision->length = response.length;
    revision->contents = response.contents;
    revision->room = asked->room;
    revision->cipher = response.cipher;
    if (is_sound(revision, asked->size)) return NULL;
    revision->fault = SR_PDF_DOCUMENT_AT_FAULT;
    revision->reason = NONSENSE;
    return NULL;
}

sr_error_t *sr_pdf_revision_confirm(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, const sr_pdf_asked_t *asked,
                                    apr_pool_t *pool)
{
    sr_pdf_response_t response = {
        .room = SR_PDF_MAX_REVISION, .has_contents = true, .goes_on = true, .asked = asked->length};
    unsigned char *bytes;
    apr_pool_t *scratch;
    apr_pool_create(&scratch, pool);
    sr_pdf_pool_t *others = sr_pdf_pool_for_request(workers, NULL, 0, scratch);
    SR_TRY(sr_pdf_ask_for_bytes(&response, &bytes, others, asked->op, asked->text, asked->descriptor, scratch));
    if (response.fault || response.length != revision->length || memcmp(bytes, revision->bytes, response.length) != 0)
        sr_pdf_refuse(&revision->fault, &revision->reason, workers, asked->op, "another worker makes another update",
                      scratch);
    apr_pool_destroy(scratch);
    return NULL;
}

sr_error_t *sr_pdf_revision_digest(sr_pdf_revision_t *revision, const sr_pdf_asked_t *asked, const char *hash,
                                   const sr_sha256_t *known, apr_pool_t *pool)
{
    unsigned char before[32];
    const apr_size_t after = revision->contents + 2 * revision->room + 2;
    EVP_MD_CTX *other = begin_other(hash, pool);
    sr_sha256_t *digest = known ? sr_sha256_copy(known, pool) : sr_sha256_begin(pool);
    SR_TRY(digest_document(known ? NULL : digest, other, asked->descriptor, asked->size, pool));
    digest_with(before, digest, NULL, 0, pool);
    revision->document_sha256 = sr_text_hex(before, sizeof before, pool);
    sr_sha256_update(digest, revision->bytes, revision->contents);
    revision->until_contents = digest;
    if (!other) {
        digest_with(revision->digest, digest, revision->bytes + after, revision->length - after, pool);
        return NULL;
    }
    EVP_DigestUpdate(other, revision->bytes, revision->contents);
    EVP_DigestUpdate(other, revision->bytes + after, revision->length - after);
    EVP_DigestFinal_ex(other, revision->digest, NULL);
    return NULL;
}
