/* SPDX-License-Identifier: Apache-2.0 */
/* room.c: the end of a signature dictionary: its byte ranges, and room for the CMS or the timestamp, which the client
 * inserts. */
#include "helper/main/pdfd.h"

#include <stdio.h>
#include <string.h>

void sr_pdfd_room_put(sr_pdfd_room_t *room, sr_pdfd_update_t *update)
{
    static const char end[] = ">>>";
    sr_pdfd_buffer_t *out = update->out;
    sr_pdfd_print(out, "/ByteRange%*s/Contents<", SR_PDF_RANGE_WIDTH, "");
    memset(sr_pdfd_grow(out, 2 * room->bytes), '0', 2 * room->bytes);
    sr_pdfd_put_text(out, end);
    sr_pdfd_object_end(update);
    /* counted from the end, because the text before may have been encrypted */
    room->contents = out->size - strlen(SR_PDFD_OBJECT_END) - strlen(end) - 2 * room->bytes - 1;
    room->range = room->contents - strlen("/Contents") - SR_PDF_RANGE_WIDTH;
}

void sr_pdfd_room_end(const sr_pdfd_room_t *room, sr_pdfd_update_t *update)
{
    const unsigned long long size = update->document->bytes.size;
    const apr_size_t to = room->contents + 2 * room->bytes + 2;
    char range[SR_PDF_RANGE_WIDTH + 32];
    const int length = snprintf(range, sizeof range, SR_PDF_RANGE_FORMAT, size + room->contents, size + to,
                                (unsigned long long)(update->out->size - to));
    memcpy(update->out->data + room->range, range, (size_t)length);
}
