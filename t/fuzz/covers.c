/* SPDX-License-Identifier: Apache-2.0 */
/* covers.c: what a ByteRange covers, judged on bytes. The input is a file; the gap of its signature (object 4) is the
 * hexadecimal string behind the first "/Contents" that is directly followed by one. A signature that is said to cover
 * itself has its Contents there, and everything that is shown of it stands in what it covers. */
#include "fuzz.h"
#include "helper/main/pdfd.h"

#include <ctype.h>

static int digit(int c)
{
    return isdigit(c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* Sets the range around the gap, and *contents (free it); false when there is none. */
static bool find_gap(sr_pdfd_signed_t *signature, char **contents, const uint8_t *data, size_t size)
{
    static const char key[] = "/Contents<";
    const uint8_t *at = size ? memmem(data, size, key, sizeof key - 1) : NULL, *end;
    if (!at) return false;
    at += sizeof key - 2;
    for (end = at + 1; end < data + size && isxdigit(*end); end++) continue;
    if (end == data + size || *end != '>' || (end - at) % 2 == 0) return false;
    signature->range[1] = at - data;
    signature->range[2] = end + 1 - data;
    signature->range[3] = data + size - (end + 1);
    signature->contents_size = (size_t)(end - at - 1) / 2;
    *contents = malloc(signature->contents_size + 1);
    if (!*contents) abort();
    for (size_t i = 0; i < signature->contents_size; i++)
        (*contents)[i] = (char)(digit(at[1 + 2 * i]) << 4 | digit(at[2 + 2 * i]));
    signature->contents = *contents;
    return true;
}

static bool is_covered(const sr_pdfd_bytes_t *value, const sr_pdfd_signed_t *signature, const uint8_t *data)
{
    int64_t from = value->data - data, to = from + (int64_t)value->size;
    return from >= 0 && value->size > 0
           && (to <= signature->range[1]
               || (from >= signature->range[2] && to <= signature->range[2] + signature->range[3]));
}

static void judge(sr_pdfd_signed_t *signature, const uint8_t *data, size_t size)
{
    const sr_pdfd_bytes_t bytes = {data, size};
    if (sr_pdfd_covers_itself(signature, &bytes)) return;
    const sr_pdfd_bytes_t *contents = &signature->values[SR_PDFD_KEY_CONTENTS];
    fuzz_must(contents->data == data + signature->range[1]
              && (int64_t)contents->size == signature->range[2] - signature->range[1]);
    for (int i = 0; i < SR_PDFD_KEY_COUNT; i++)
        if (i != SR_PDFD_KEY_CONTENTS && signature->values[i].data)
            fuzz_must(is_covered(&signature->values[i], signature, data));
    fuzz_must(signature->values[SR_PDFD_KEY_RANGE].data);
}

static void judge_revision(int64_t end, const uint8_t *data, size_t size)
{
    const sr_pdfd_bytes_t bytes = {data, size};
    sr_pdfd_chain_t chain;
    int later;
    bool walks = sr_pdfd_covers_chain(&chain, &bytes);
    const char *fault = sr_pdfd_covers_revision(&later, end, walks ? &chain : NULL, &bytes);
    fuzz_must(later >= -1 && later <= SR_PDFD_MAX_SECTIONS && (later >= 0) == !fault);
    if (end == (int64_t)size) fuzz_must(later == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sr_pdfd_signed_t signature = {.object = 4};
    char *contents = NULL;
    if (!find_gap(&signature, &contents, data, size)) return 0;
    judge(&signature, data, size);
    for (int64_t end = (int64_t)size; end > 0 && end > (int64_t)size - 64; end--) judge_revision(end, data, size);
    if (size > 5) signature.range[3] -= data[0] % 8; /* one that ends early, or before it begins */
    judge(&signature, data, size);
    free(contents);
    return 0;
}
