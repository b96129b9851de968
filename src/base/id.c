/* id.c: UUIDs and API tokens. Both are secrets or grant access (a signer's UUID is the signing link), so all
 * randomness comes from the kernel. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ENTROPY_LENGTH 30
#define CHECKSUM_LENGTH 6 /* 62^6 > 2^32 */

static const char base62[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static const char *const token_prefixes[] = {"sigreq_test_", "sigreq_live_"}; /* equally long */

/* There is no safe way to go on without randomness, and on Linux getrandom fails only where a seccomp filter or
 * an ancient kernel denies it. */
static void fill_random(unsigned char *bytes, apr_size_t length)
{
    while (length > 0) {
        const ssize_t got = getrandom(bytes, length, 0);

        if (got < 0) {
            if (errno != EINTR) abort();
            continue;
        }
        bytes += got;
        length -= (apr_size_t)got;
    }
}

const char *sr_uuid_make(apr_pool_t *pool)
{
    unsigned char b[16];

    fill_random(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0F) | 0x40); /* version 4 */
    b[8] = (unsigned char)((b[8] & 0x3F) | 0x80); /* variant 10 */
    return apr_psprintf(pool, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
                        b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

bool sr_uuid_valid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    int i;

    for (i = 0; form[i]; i++) {
        const char *const allowed = form[i] == 'x' ? "0123456789abcdefABCDEF" : "-";
        if (!text[i] || !strchr(allowed, text[i])) return false;
    }
    return text[i] == '\0';
}

/* CRC-32 (IEEE 802.3), bit by bit: 42 bytes once per request are not worth a table. */
static uint32_t crc32_of(const char *data, apr_size_t length)
{
    uint32_t crc = 0xFFFFFFFFu;
    apr_size_t i;
    int bit;

    for (i = 0; i < length; i++) {
        crc ^= (unsigned char)data[i];
        for (bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static void write_checksum(char *out, const char *data, apr_size_t length)
{
    uint32_t crc = crc32_of(data, length);
    int i;

    for (i = CHECKSUM_LENGTH - 1; i >= 0; i--) {
        out[i] = base62[crc % 62];
        crc /= 62;
    }
}

const char *sr_token_make(bool production, apr_pool_t *pool)
{
    const char *const prefix = token_prefixes[production ? 1 : 0];
    const apr_size_t start = strlen(prefix);
    char *token = apr_psprintf(pool, "%s%0*d", prefix, ENTROPY_LENGTH + CHECKSUM_LENGTH, 0);
    apr_size_t filled = 0;

    while (filled < ENTROPY_LENGTH) {
        unsigned char byte;

        fill_random(&byte, 1);
        if (byte >= 4 * 62) continue; /* the rest of 256 would favour some letters */
        token[start + filled++] = base62[byte % 62];
    }
    write_checksum(token + start + ENTROPY_LENGTH, token, start + ENTROPY_LENGTH);
    return token;
}

bool sr_token_well_formed(const char *token)
{
    const apr_size_t start = strlen(token_prefixes[0]);
    const apr_size_t body = start + ENTROPY_LENGTH;
    char checksum[CHECKSUM_LENGTH];

    if (strlen(token) != body + CHECKSUM_LENGTH) return false;
    if (strncmp(token, token_prefixes[0], start) != 0 && strncmp(token, token_prefixes[1], start) != 0) return false;
    if (strspn(token + start, base62) != ENTROPY_LENGTH + CHECKSUM_LENGTH) return false;
    write_checksum(checksum, token, body);
    return memcmp(checksum, token + body, CHECKSUM_LENGTH) == 0;
}
