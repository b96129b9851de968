/* SPDX-License-Identifier: Apache-2.0 */
/* ink.c: drawn signatures. Whatever a client's JSON is, what is accepted of it is within its unit and can be drawn; and
 * the drawing of any other JSON, as a client that is not ours might send it to a worker, ends in a drawing or a reason.
 */
#include "model/model.h"
#include "pdfd.h"

/* Draws in an update of a document of nothing but its first line. What is wrong, or NULL. */
static const char *draw(const json_t *ink, apr_pool_t *pool)
{
    static const unsigned char line[] = "%PDF-1.7\n";
    const sr_pdfd_document_t document = {.bytes = {line, sizeof line - 1}, .xref = {.start = 9, .highest = 9}};
    json_t *parameters = sr_json_own(json_object(), pool);
    sr_pdfd_update_t update;
    sr_pdfd_mark_t mark;
    json_object_set(parameters, "ink", (json_t *)ink);
    sr_pdfd_update_begin(&update, &document, pool);
    const char *reason = sr_pdfd_mark(&mark, &update, parameters);
    if (!reason) {
        fuzz_must(mark.width > 0 && mark.width <= 1000 && mark.height > 0 && mark.height <= 1000 && mark.object == 10);
        fuzz_must(update.entries->nelts == 1 && update.next == 11 && update.out->size > 0);
        fuzz_must(memmem(update.out->data, update.out->size, "endstream\nendobj\n", 17));
    }
    return reason;
}

/* What is in the normalised form: lines within the drawing, with the padding around them. */
static void check(const json_t *ink, int points)
{
    const json_t *strokes = json_object_get(ink, "strokes");
    double limit[3] = {json_number_value(json_object_get(ink, "width")),
                       json_number_value(json_object_get(ink, "height")), 1};
    fuzz_must(limit[0] > 0 && limit[0] <= 1 && limit[1] > 0 && limit[1] <= 1 && (limit[0] == 1 || limit[1] == 1));
    int found = 0;
    for (size_t i = 0; i < json_array_size(strokes); i++) {
        const json_t *stroke = json_array_get(strokes, i);
        fuzz_must(json_array_size(stroke) > 0 && json_array_size(stroke) % 3 == 0);
        for (size_t j = 0; j < json_array_size(stroke); j++) {
            double value = json_number_value(json_array_get(stroke, j));
            fuzz_must(value > 0 && value < limit[j % 3]);
        }
        found += (int)json_array_size(stroke) / 3;
    }
    fuzz_must(found == points && points > 0 && points <= SR_INK_MAX_POINTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    apr_pool_t *pool = fuzz_pool();
    json_t *sent, *drawn;
    sr_ink_t *ink;
    if (!sr_json_parse(&sent, (const char *)data, size, pool)) {
        draw(sent, pool);
        if (!sr_ink_parse(&ink, sent, pool)) {
            fuzz_must(!sr_json_parse(&drawn, ink->text, strlen(ink->text), pool));
            check(drawn, ink->points);
            fuzz_must(!draw(drawn, pool));
        }
    }
    apr_pool_destroy(pool);
    return 0;
}
