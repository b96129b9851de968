/* SPDX-License-Identifier: Apache-2.0 */
/* file_name.c: names of files that were made from names that people chose. */
#include "model/file_name.h"

#include <string.h>
#include <strings.h>
#include <unigbrk.h>

#define NAMELESS "document"
#define NUMBER_MAX 12 /* bytes of " (1000)" */

static bool is_forbidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFFFD
           || (c < 0x80 && strchr("<>:\"/\\|?*", (int)c));
}

/* Returns the text with "_" in the place of characters that a system does not permit. */
static const char *file_name_permitted(const char *text, apr_pool_t *pool)
{
    char *copy = apr_palloc(pool, strlen(text) + 1), *out = copy;
    while (*text) {
        const char *start = text;
        const uint32_t c = sr_text_next(&text);
        if (is_forbidden(c)) *out++ = '_';
        else
            while (start < text) *out++ = *start++;
    }
    *out = '\0';
    return copy;
}

/* Windows drops spaces and dots at the end. */
static const char *file_name_ended(const char *stem, apr_size_t length, apr_pool_t *pool)
{
    while (length && strchr(" .", stem[length - 1])) length--;
    return apr_pstrmemdup(pool, stem, length);
}

/* Returns true if Windows takes the name for a device, whatever follows a dot in it. */
static bool is_device(const char *stem, apr_pool_t *pool)
{
    static const char *const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"};
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"};
    const char *word = file_name_ended(stem, strcspn(stem, "."), pool);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (!strcasecmp(word, devices[i])) return true;
    if (strncasecmp(word, "com", 3) != 0 && strncasecmp(word, "lpt", 3) != 0) return false;
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
        if (!strcmp(word + 3, digits[i])) return true;
    return false;
}

/* Cuts a text to this number of bytes. Letters keep their accents. */
static const char *file_name_cut(const char *stem, apr_size_t most, apr_pool_t *pool)
{
    const uint8_t *start = (const uint8_t *)stem, *end = start + strlen(stem), *at = start, *next;
    while ((next = u8_grapheme_next(at, end)) && next <= start + most) at = next;
    return file_name_ended(stem, (apr_size_t)(at - start), pool);
}

/* Returns the stem with "_" before it if it would be hidden or the name of a device. */
static const char *file_name_plain(const char *stem, apr_pool_t *pool)
{
    return *stem == '.' || is_device(stem, pool) ? apr_pstrcat(pool, "_", stem, NULL) : stem;
}

static bool is_taken(apr_hash_t *taken, const char *name, apr_pool_t *pool)
{
    const char *key = sr_text_fold(name, pool);
    if (!taken) return false;
    if (apr_hash_get(taken, key, APR_HASH_KEY_STRING)) return true;
    apr_hash_set(taken, apr_pstrdup(apr_hash_pool_get(taken), key), APR_HASH_KEY_STRING, "");
    return false;
}

const char *sr_file_name(const char *name, const char *ending, apr_hash_t *taken, apr_pool_t *pool)
{
    const char *text = sr_text_composed(file_name_permitted(sr_text_undirected(name, pool), pool), pool);
    text = file_name_ended(text, strlen(text), pool);
    const apr_size_t tail = strlen(ending), length = strlen(text), most = SR_FILE_NAME_MAX - NUMBER_MAX - tail;
    const bool has_ending = length >= tail && !strcasecmp(text + length - tail, ending);
    const char *stem = file_name_ended(text, has_ending ? length - tail : length, pool);
    stem = file_name_cut(file_name_plain(stem + strspn(stem, " "), pool), most, pool);
    if (!*stem) stem = NAMELESS;
    name = apr_pstrcat(pool, stem, ending, NULL);
    for (int i = 2; is_taken(taken, name, pool); i++) name = apr_psprintf(pool, "%s (%d)%s", stem, i, ending);
    return name;
}
