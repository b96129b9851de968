/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c: the requests whose responses are documents. Nobody can change what a worker has written after it is sealed
 * (output.c), and the digest to be signed is computed here from exactly these bytes. This file has no access to the
 * key: the caller makes the CMS and passes it in. */
#include "pdf/appended.h"
#include "pdf/preview.h"
#include "pdf/worker.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE ((apr_size_t)256 << 10) /* a document is hashed in pieces that fit into the processor's cache */

typedef struct response_t {
    sr_pdf_fault_t fault;
    const char *reason;
    apr_size_t length, contents, room;
    bool has_contents;
    sr_cipher_t cipher;
} response_t;

static bool read_size(apr_size_t *size, const json_t *response, const char *key, apr_size_t limit)
{
    const json_t *value = json_object_get(response, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > limit) return false;
    *size = (apr_size_t)number;
    return true;
}

static bool read_answer(void *result, const json_t *json, apr_pool_t *pool)
{
    static const struct {
        const char *name;
        sr_pdf_fault_t fault;
    } faults[] = {{SR_PDF_FAULT_DOCUMENT, SR_PDF_DOCUMENT_AT_FAULT},
                  {SR_PDF_FAULT_DAMAGED, SR_PDF_DOCUMENT_DAMAGED},
                  {SR_PDF_FAULT_SIGNATURE, SR_PDF_SIGNATURE_AT_FAULT}};
    response_t *response = result;
    const char *name = sr_json_string(json, "fault"), *reason = sr_json_string(json, "reason");
    for (size_t i = 0; name && i < sizeof faults / sizeof *faults; i++) {
        if (strcmp(faults[i].name, name) != 0 || !sr_pdf_is_plain(reason)) continue;
        response->fault = faults[i].fault;
        response->reason = apr_pstrdup(pool, reason);
        return true;
    }
    if (name || !read_size(&response->length, json, "length", response->room) || !response->length) return false;
    const json_t *cipher = json_object_get(json, "cipher");
    if (cipher && !sr_cipher_read(&response->cipher, json_string_value(cipher), sr_json_string(json, "key")))
        return false;
    return !response->has_contents || read_size(&response->contents, json, "contents", response->length);
}

/* Sends a request. If no worker could answer it, the fault is that of the document. */
static sr_error_t *ask(response_t *response, sr_pdf_output_t *output, sr_pdf_pool_t *workers, const char *op,
                       const char *text, int descriptor, apr_pool_t *pool)
{
    bool failed = false;
    sr_pdf_request_t request = {.op = op, .text = text, .descriptor = descriptor, .output = output};
    request.room = response->room;
    request.read = read_answer;
    request.result = response;
    *output = (sr_pdf_output_t){.descriptor = -1};
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (!failed) return NULL;
    response->fault = SR_PDF_DOCUMENT_AT_FAULT;
    response->reason = SR_PDF_LIMITS_REASON;
    return NULL;
}

/* Does the same, and reads the result, which is small enough for memory. */
static sr_error_t *ask_for_bytes(response_t *response, unsigned char **bytes, sr_pdf_pool_t *workers, const char *op,
                                 const char *text, int descriptor, apr_pool_t *pool)
{
    sr_pdf_output_t *output = apr_palloc(pool, sizeof *output);
    *bytes = NULL;
    SR_TRY(ask(response, output, workers, op, text, descriptor, pool));
    if (response->fault) return NULL;
    *bytes = apr_palloc(pool, response->length);
    return sr_pdf_read(*bytes, output->descriptor, 0, response->length, pool);
}

sr_error_t *sr_pdf_rewrite(sr_pdf_rewritten_t *rewritten, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           apr_pool_t *pool)
{
    response_t response = {.room = SR_PDF_MAX_NORMALISED(size)};
    SR_TRY(ask(&response, &rewritten->document, workers, SR_PDF_OP_NORMALISE, NULL, descriptor, pool));
    rewritten->fault = response.fault;
    rewritten->reason = response.reason;
    return NULL;
}

/* -------------------------------------------------------------------------------------------------------- prepare */

sr_error_t *sr_pdf_prepare(sr_pdf_update_t *update, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                           const apr_array_header_t *fields, apr_pool_t *pool)
{
    const char *request = sr_json_text(sr_pdf_fields_json(SR_PDF_OP_PREPARE, fields, pool), pool);
    response_t response = {.room = SR_PDF_MAX_REVISION};
    unsigned char *bytes;
    SR_TRY(ask_for_bytes(&response, &bytes, workers, SR_PDF_OP_PREPARE, request, descriptor, pool));
    *update = (sr_pdf_update_t){response.fault, response.reason, bytes, response.length, response.cipher};
    if (!update->fault) sr_pdf_check_prepared(update, workers, size, fields, pool);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- fill */

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
    apr_size_t to = revision->contents + SR_PDF_CONTENTS_DIGITS + 2;
    if (revision->length < SR_PDF_CONTENTS_DIGITS || to > revision->length) return false;
    snprintf(range, sizeof range, SR_PDF_RANGE_FORMAT, (unsigned long long)size + revision->contents,
             (unsigned long long)size + to, (unsigned long long)(revision->length - to));
    int length = snprintf(want, sizeof want, "%s%-*s%s", before, SR_PDF_RANGE_WIDTH, range, between);
    const unsigned char *at = revision->bytes + revision->contents + 1;
    if (revision->contents + 1 < (apr_size_t)length || memcmp(at - length, want, (size_t)length) != 0) return false;
    for (apr_size_t i = 0; i < SR_PDF_CONTENTS_DIGITS; i++)
        if (at[i] != '0') return false;
    return at[SR_PDF_CONTENTS_DIGITS] == '>';
}

static const char *date_of(const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    char date[SR_TIME_PRINTED];
    sr_time_print(date, "D:%Y%m%d%H%M%SZ", signature->time);
    return apr_pstrdup(pool, date);
}

/* Makes an array with the name of the existing field, or null, for each place of the signer. Returns NULL if the signer
 * has no existing field. */
static json_t *existing_json(const sr_pdf_signature_t *signature)
{
    json_t *names = json_array();
    bool any = false;
    for (int i = 0; signature->fields && i < signature->fields->nelts; i++) {
        const sr_pdf_field_t *field = &APR_ARRAY_IDX(signature->fields, i, sr_pdf_field_t);
        if (strcmp(field->signer, signature->signer) != 0) continue;
        json_array_append_new(names, sr_json_string_or_null(field->existing));
        any |= field->existing != NULL;
    }
    if (!any) json_decref(names);
    return any ? names : NULL;
}

static const char *signature_json(const sr_pdf_signature_t *signature, const char *time, apr_pool_t *pool)
{
    json_t *request = sr_json_own(json_object(), pool);
    json_object_set_new(request, "op", json_string(SR_PDF_OP_FILL));
    json_object_set_new(request, "signer", json_string(signature->signer));
    json_object_set_new(request, "existing", existing_json(signature));
    json_object_set_new(request, "name", json_string(signature->name));
    json_object_set_new(request, "reason", sr_json_string_or_null(signature->reason));
    json_object_set_new(request, "contact", sr_json_string_or_null(signature->contact));
    json_object_set_new(request, "time", json_string(time));
    json_object_set_new(request, "test", json_boolean(signature->test));
    sr_pdf_signature_ask(request, signature, pool);
    return sr_json_text(request, pool);
}

/* Computes the digest of the revision, and the SHA-256 of the document, which identifies it whatever hash function is
 * signed. The document is only read if one of these digests is not known yet. */
static sr_error_t *digest_revision(sr_pdf_revision_t *revision, int descriptor, apr_off_t size,
                                   const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    unsigned char hash[32];
    const apr_size_t after = revision->contents + SR_PDF_CONTENTS_DIGITS + 2;
    EVP_MD_CTX *other = begin_other(signature->hash, pool);
    sr_sha256_t *digest = signature->digest ? sr_sha256_copy(signature->digest, pool) : sr_sha256_begin(pool);
    SR_TRY(digest_document(signature->digest ? NULL : digest, other, descriptor, size, pool));
    digest_with(hash, digest, NULL, 0, pool);
    revision->document_sha256 = sr_text_hex(hash, sizeof hash, pool);
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

sr_error_t *sr_pdf_fill(sr_pdf_revision_t *revision, sr_pdf_pool_t *workers, int descriptor, apr_off_t size,
                        const sr_pdf_signature_t *signature, apr_pool_t *pool)
{
    *revision = (sr_pdf_revision_t){.fault = SR_PDF_DONE};
    revision->reason = sr_pdf_signature_fault(signature);
    if (revision->reason) {
        revision->fault = SR_PDF_SIGNATURE_AT_FAULT;
        return NULL;
    }
    response_t response = {.room = SR_PDF_MAX_REVISION, .has_contents = true};
    const char *time = date_of(signature, pool);
    SR_TRY(ask_for_bytes(&response, &revision->bytes, workers, SR_PDF_OP_FILL, signature_json(signature, time, pool),
                         descriptor, pool));
    revision->fault = response.fault;
    revision->reason = response.reason;
    if (response.fault) return NULL;
    revision->length = response.length;
    revision->contents = response.contents;
    revision->cipher = response.cipher;
    if (!is_sound(revision, size)) {
        revision->fault = SR_PDF_DOCUMENT_AT_FAULT;
        revision->reason = "it made the PDF helper answer nonsense";
        return NULL;
    }
    SR_TRY(sr_pdf_check_filled(revision, workers, descriptor, size, signature, time, pool));
    return revision->fault ? NULL : digest_revision(revision, descriptor, size, signature, pool);
}

sr_error_t *sr_pdf_seal(sr_pdf_revision_t *revision, const void *cms, apr_size_t length, apr_pool_t *pool)
{
    unsigned char hash[32], *from = revision->bytes + revision->contents;
    if (length > SR_PDF_CONTENTS_BYTES)
        return sr_error(pool, SR_EINTERNAL, "The signature of the seal is longer than there is room for");
    const char *digits = sr_text_hex(cms, length, pool);
    memcpy(from + 1, digits, 2 * length);
    memset(from + 1 + 2 * length, '0', SR_PDF_CONTENTS_DIGITS - 2 * length);
    digest_with(hash, revision->until_contents, from, revision->length - revision->contents, pool);
    revision->sha256 = sr_text_hex(hash, sizeof hash, pool);
    return NULL;
}
