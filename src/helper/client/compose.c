/* SPDX-License-Identifier: Apache-2.0 */
/* compose.c: has a worker make a new document from texts. */
#include "helper/client/worker.h"

#include <math.h>
#include <string.h>

/* Reads the field. It must be an area on an existing page. */
static bool compose_read_field(sr_pdf_composed_t *composed, const json_t *field)
{
    const json_t *page = json_object_get(field, "page"), *rect = json_object_get(field, "rect");
    json_int_t number = json_integer_value(page);
    double *values = composed->field.rect;
    if (!json_is_integer(page) || number < 0 || number >= composed->pages || json_array_size(rect) != 4) return false;
    composed->field.page = (int)number;
    for (size_t i = 0; i < 4; i++) {
        if (!json_is_number(json_array_get(rect, i))) return false;
        values[i] = json_number_value(json_array_get(rect, i));
    }
    return values[0] >= 0 && values[1] >= 0 && values[0] < values[2] && values[1] < values[3] && values[2] < 14400
           && values[3] < 14400;
}

typedef struct response_t {
    sr_pdf_composed_t *composed;
    sr_pdf_output_t *output;
    const char *unavailable;
} response_t;

static bool compose_read_answer(void *result, const json_t *json, apr_pool_t *pool)
{
    static const char start[] = "%PDF-";
    response_t *response = result;
    const char *refused = sr_json_string(json, "refused"), *unavailable = sr_json_string(json, "unavailable");
    *response->composed = (sr_pdf_composed_t){0};
    if (json_object_get(json, "length")) {
        char bytes[sizeof start] = "";
        json_int_t pages = json_integer_value(json_object_get(json, "pages"));
        if (sr_descriptor_read(response->output->descriptor, bytes, sizeof start - 1, 0) != sizeof start - 1)
            return false;
        if (strcmp(bytes, start) != 0 || pages < 1 || pages > INT16_MAX) return false;
        response->composed->document = response->output;
        response->composed->pages = (int)pages;
        return compose_read_field(response->composed, json_object_get(json, "field"));
    }
    if (!sr_pdf_is_plain(refused ? refused : unavailable)) return false;
    if (refused) response->composed->reason = apr_pstrdup(pool, refused);
    else response->unavailable = apr_pstrdup(pool, unavailable);
    return true;
}

sr_error_t *sr_pdf_compose(sr_pdf_composed_t *composed, sr_pdf_pool_t *workers, const json_t *what, apr_pool_t *pool)
{
    bool failed = false;
    response_t response = {.composed = composed, .output = apr_palloc(pool, sizeof *response.output)};
    json_t *asked = sr_json_own(json_object(), pool);
    json_object_set_new(asked, "op", json_string(SR_PDF_OP_COMPOSE));
    json_object_update_missing(asked, (json_t *)what); /* does not change `what` except its reference counts */
    sr_pdf_request_t request = {.op = SR_PDF_OP_COMPOSE, .text = sr_json_text(asked, pool), .descriptor = -1};
    if (strlen(request.text) > SR_PDF_MAX_COMPOSE_TEXT) {
        *composed = (sr_pdf_composed_t){.reason = "its texts are too long"};
        return NULL;
    }
    *response.output = (sr_pdf_output_t){.descriptor = -1};
    request.output = response.output;
    request.room = SR_PDF_MAX_COMPOSED;
    request.timeout = workers->shared->options.show_timeout; /* for all pages of the document */
    request.read = compose_read_answer;
    request.result = &response;
    SR_TRY(sr_pdf_put(&failed, workers, &request, pool));
    if (response.unavailable && !failed) return sr_pdf_unavailable(pool, response.unavailable);
    if (failed) *composed = (sr_pdf_composed_t){.reason = SR_PDF_LIMITS_REASON};
    return NULL;
}
