/* SPDX-License-Identifier: Apache-2.0 */
/* xref.c: the walk along the cross-reference sections of any bytes: what it says is in them, and all three ways to ask
 * say the same. */
#include "fuzz.h"
#include "helper/main/pdfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sr_pdfd_chain_t chain;
    sr_pdfd_xref_t xref;
    int64_t start = 0;
    bool walks = sr_pdfd_xref_walk(&chain, data, size), started = sr_pdfd_xref_start(&start, data, size);
    fuzz_must(sr_pdfd_xref_check(&xref, data, size) == walks);
    fuzz_must(chain.count >= 0 && chain.count <= SR_PDFD_MAX_SECTIONS && chain.highest >= 0);
    for (int i = 0; i < chain.count; i++) {
        fuzz_must(chain.sections[i] > 0 && chain.sections[i] < (int64_t)size);
        for (int j = 0; j < i; j++) fuzz_must(chain.sections[i] != chain.sections[j]);
    }
    if (!walks) return 0;
    fuzz_must(started && chain.count > 0 && chain.sections[0] == start);
    fuzz_must(xref.start == start && xref.stream == chain.stream && xref.highest == chain.highest);
    fuzz_must(xref.highest <= SR_PDFD_MAX_OBJECT); /* the writer can number on */
    return 0;
}
