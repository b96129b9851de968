/* SPDX-License-Identifier: Apache-2.0 */
/* upload.c: POST /signatures and POST /signatures/preview. They read the multipart body as it arrives, write documents
 * to spools that hash them, keep the texts in memory, and give everything to the use case. Faults in the content of
 * parts are not reported here: the use case checks them in the contract's order after the whole body was read. */
#include "api/api.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#define EXTRA_PARTS 64 /* parts besides the files: the known ones, and others that a client adds */
#define TEXT_MAX ((apr_size_t)64 * 1024)
#define SIGNERS_MAX ((apr_size_t)4 * 1024 * 1024)
#define KEY_MAX 255
#define PREVIEW_WIDTH 1200 /* pixels */
#define GRID_MIN 10        /* points or percent */
#define GRID_MAX 500

enum {
    NAME,
    TEMPLATE,
    SIGNERS,
    SKIP_INTRO,
    SEND_EMAIL,
    LOCALE,
    CAPTION,
    EXPIRES_AT,
    EXTERNAL_ID,
    METADATA,
    REDIRECT_URL,
    REMINDERS,
    MESSAGE,
    REPLY_TO,
    SIGNATURE_TYPES,
    REFUSAL,
    COPIES,
    VIEWERS,
    DRAFT,
    TEXT_COUNT
};
static const struct {
    const char *name;
    apr_size_t max;
} texts[TEXT_COUNT] = {
    [NAME] = {"name", TEXT_MAX},
    [TEMPLATE] = {"template", TEXT_MAX},
    [SIGNERS] = {"signers", SIGNERS_MAX},
    [SKIP_INTRO] = {"skipIntro", TEXT_MAX},
    [SEND_EMAIL] = {"sendEmail", TEXT_MAX},
    [LOCALE] = {"locale", TEXT_MAX},
    [CAPTION] = {"caption", TEXT_MAX},
    [EXPIRES_AT] = {"expiresAt", TEXT_MAX},
    [EXTERNAL_ID] = {"externalId", TEXT_MAX},
    [METADATA] = {"metadata", TEXT_MAX},
    [REDIRECT_URL] = {"redirectUrl", TEXT_MAX},
    [REMINDERS] = {"reminders", TEXT_MAX},
    [MESSAGE] = {"message", TEXT_MAX},
    [REPLY_TO] = {"replyTo", TEXT_MAX},
    [SIGNATURE_TYPES] = {"signatureTypes", TEXT_MAX},
    [REFUSAL] = {"refusal", TEXT_MAX},
    [COPIES] = {"copies", TEXT_MAX},
    [VIEWERS] = {"viewers", TEXT_MAX},
    [DRAFT] = {"draft", TEXT_MAX},
};

/* The forms of a preview, by sr_preview_view_t */
static const char *const preview_types[] = {
    [SR_VIEW_JSON] = "application/json", [SR_VIEW_PDF] = "application/pdf", [SR_VIEW_PNG] = "image/png", NULL};

typedef struct receiver_t {
    sr_http_t *http;
    sr_uploads_t *uploads;
    sr_sent_t text[TEXT_COUNT]; /* NULL: the part has not arrived */
    sr_remarks_t *remarks;
    int current; /* the text whose part is being read */
} receiver_t;

static sr_error_t *upload_begin_file(void *baton, const sr_part_t *part)
{
    return sr_service_receive_begin(((receiver_t *)baton)->uploads, part->filename, part->raw_filename,
                                    !part->type || !*part->type || !strcmp(part->type, "application/pdf"));
}

static sr_error_t *upload_file_data(void *baton, const char *data, apr_size_t length)
{
    return sr_service_receive_data(((receiver_t *)baton)->uploads, data, length);
}

static sr_error_t *upload_end_file(void *baton)
{
    return sr_service_receive_end(((receiver_t *)baton)->uploads);
}

/* Adds a remark for a part that is ignored. A part with an empty file name is a file field of a form that was left
 * empty. */
static void remark_part(receiver_t *receiver, const sr_part_t *part)
{
    const char *name = sr_remark_name(part->name, receiver->http->pool);
    bool known = false;
    for (int i = 0; i < TEXT_COUNT; i++) known = known || !strcmp(part->name, texts[i].name);
    if (!strcmp(part->name, "file")) {
        if (!part->filename) sr_remark(receiver->remarks, "form part file has no file name: it was passed over");
    } else if (known) {
        sr_remark(receiver->remarks, "form part %s is a file: it was passed over", name);
    } else {
        sr_remark(receiver->remarks, "unknown form part %s", name);
    }
}

static sr_error_t *upload_begin_text(void *baton, apr_size_t *max, const sr_part_t *part)
{
    receiver_t *receiver = baton;
    int which = 0;
    while (which < TEXT_COUNT && (strcmp(part->name, texts[which].name) != 0 || (part->filename && which != SIGNERS)))
        which++;
    if (which == TEXT_COUNT) {
        remark_part(receiver, part);
        return NULL;
    }
    if (receiver->text[which].text)
        return sr_error(receiver->http->pool, SR_EBADREQUEST, "%s is provided more than once", texts[which].name);
    receiver->current = which;
    *max = texts[which].max;
    return NULL;
}

static sr_error_t *upload_text(void *baton, const char *text, apr_size_t length)
{
    receiver_t *receiver = baton;
    receiver->text[receiver->current] = (sr_sent_t){text, length};
    /* only the JSON may contain any byte; its parser reports NUL with line and column */
    if (receiver->current == SIGNERS || strlen(text) == length) return NULL;
    return sr_error(receiver->http->pool, SR_EBADREQUEST, "%s must not contain NUL", texts[receiver->current].name);
}

static sr_error_t *upload_read_key(const char **key, sr_http_t *http)
{
    *key = apr_table_get(http->r->headers_in, "Idempotency-Key");
    for (const char *p = *key ? *key : "x"; *p; p++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
            return sr_error(http->pool, SR_EBADREQUEST, "Idempotency-Key must be printable ASCII");
    if (*key && (!**key || strlen(*key) > KEY_MAX))
        return sr_error(http->pool, SR_EBADREQUEST, "Idempotency-Key must have 1 to %d characters", KEY_MAX);
    return NULL;
}

static void upload_set_texts(sr_create_t *request, const receiver_t *receiver)
{
    const sr_sent_t *text = receiver->text;
    request->name = text[NAME].text;
    request->template = text[TEMPLATE].length ? text[TEMPLATE].text : NULL;
    request->signers = text[SIGNERS].text;
    request->signers_length = text[SIGNERS].length;
    request->skip_intro = text[SKIP_INTRO].text;
    request->send_email = text[SEND_EMAIL].text;
    request->draft = text[DRAFT].text;
    request->locale = text[LOCALE].text;
    request->caption = text[CAPTION].text;
    request->expires_at = text[EXPIRES_AT].text;
    request->external_id = text[EXTERNAL_ID].text;
    request->metadata = text[METADATA].text;
    request->metadata_length = text[METADATA].length;
    request->redirect_url = text[REDIRECT_URL].text;
    request->reminders = text[REMINDERS].text;
    request->reminders_length = text[REMINDERS].length;
    request->options = (sr_options_form_t){.message = text[MESSAGE],
                                           .refusal = text[REFUSAL],
                                           .copies = text[COPIES],
                                           .viewers = text[VIEWERS],
                                           .reply_to = text[REPLY_TO].text,
                                           .signature_types = text[SIGNATURE_TYPES].text};
}

/* Reads the whole form. The caller was authenticated before. `has_key`: the request may have an Idempotency-Key. */
static sr_error_t *upload_read_form(sr_create_t *request, receiver_t *receiver, bool has_key)
{
    sr_http_t *http = receiver->http;
    const sr_http_parts_t form = {EXTRA_PARTS,      upload_begin_text, upload_text, upload_begin_file,
                                  upload_file_data, upload_end_file,   receiver,    NULL};
    SR_TRY(sr_http_expect_type(http, "multipart/form-data", NULL));
    if (has_key) SR_TRY(upload_read_key(&request->idempotency_key, http));
    receiver->remarks = request->remarks = sr_remarks_make(http->pool);
    SR_TRY(sr_service_receive(http->service, &receiver->uploads, http->pool));
    SR_TRY(sr_http_read_parts(http, &form));
    request->client = (sr_client_t){.ip = http->r->useragent_ip, .user_agent = sr_http_user_agent(http)};
    request->uploads = receiver->uploads;
    upload_set_texts(request, receiver);
    return NULL;
}

static sr_error_t *upload_authenticate(sr_create_t *request, sr_http_t *http)
{
    sr_token_t *caller;
    SR_TRY(sr_api_token(&request->token_hash, http));
    SR_TRY(sr_service_authenticate(http->service, &caller, request->token_hash, http->pool));
    request->caller = caller;
    return NULL;
}

sr_error_t *sr_api_signatures_create(sr_http_t *http)
{
    receiver_t receiver = {.http = http};
    const char *uuid, *view;
    sr_create_t request = {0};
    SR_TRY(upload_authenticate(&request, http));
    SR_TRY(upload_read_form(&request, &receiver, true));
    sr_error_t *error = sr_service_create(http->service, &uuid, &view, &request, http->pool);
    sr_service_receive_drop(receiver.uploads);
    SR_TRY(sr_remarks_hint(error, receiver.remarks));
    apr_table_setn(http->r->headers_out, "Location",
                   apr_pstrcat(http->pool, http->base_url, "/api/v3/signatures/", uuid, NULL));
    return sr_http_view(http, HTTP_CREATED, view);
}

static sr_error_t *preview_read_number(int *number, sr_http_t *http, const char *name, const char *text, int least,
                                       int most)
{
    if (!text || (sr_text_number(number, text) && *number >= least && *number <= most)) return NULL;
    if (most == INT_MAX) return sr_error(http->pool, SR_EBADREQUEST, "%s must be a number from %d", name, least);
    return sr_error(http->pool, SR_EBADREQUEST, "%s must be %d to %d", name, least, most);
}

/* Reads what is asked for from the Accept header and the query. */
static sr_error_t *preview_read_view(sr_preview_view_t *view, sr_http_t *http)
{
    const char *document = NULL, *page = NULL, *width = NULL, *grid = NULL;
    const sr_query_param_t params[] = {
        {"document", &document}, {"page", &page}, {"width", &width}, {"grid", &grid}, {NULL, NULL}};
    *view = (sr_preview_view_t){.form = sr_http_preferred(http, preview_types), .width = PREVIEW_WIDTH};
    SR_TRY(sr_http_query(http, params));
    SR_TRY(preview_read_number(&view->document, http, "document", document, 0, INT_MAX));
    SR_TRY(preview_read_number(&view->page, http, "page", page, 0, INT_MAX));
    SR_TRY(preview_read_number(&view->width, http, "width", width, SR_SHOW_MIN_WIDTH, SR_SHOW_MAX_WIDTH));
    return preview_read_number(&view->grid, http, "grid", grid, GRID_MIN, GRID_MAX);
}

static sr_error_t *preview_reply(sr_http_t *http, const sr_previewed_t *previewed, const sr_preview_view_t *view)
{
    apr_table_setn(http->r->headers_out, "Vary", "Accept");
    if (!previewed->file) return sr_http_view(http, HTTP_OK, previewed->representation);
    apr_table_setn(
        http->r->headers_out, "Content-Disposition",
        apr_pstrcat(http->pool, "inline; filename=\"preview.", view->form == SR_VIEW_PDF ? "pdf\"" : "png\"", NULL));
    return sr_http_file(http, preview_types[view->form], previewed->file, previewed->size);
}

sr_error_t *sr_api_signatures_preview(sr_http_t *http)
{
    receiver_t receiver = {.http = http};
    sr_preview_view_t view;
    sr_previewed_t previewed;
    sr_create_t request = {0};
    SR_TRY(upload_authenticate(&request, http));
    SR_TRY(sr_http_rate_preview(http));
    SR_TRY(preview_read_view(&view, http));
    SR_TRY(upload_read_form(&request, &receiver, false));
    sr_error_t *error = sr_service_create_preview(http->service, &previewed, &request, &view, http->pool);
    sr_service_receive_drop(receiver.uploads);
    SR_TRY(sr_remarks_hint(error, receiver.remarks));
    return preview_reply(http, &previewed, &view);
}
