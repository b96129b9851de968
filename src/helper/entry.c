/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c: the text of the form fields that signers fill in, and how requests contain them. A worker writes this text,
 * and httpd compares it. */
#include "helper/entry.h"

#include <apr_encode.h>
#include <apr_strings.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Flags of fields (12.7.4.1, 12.7.5.3 and 12.7.5.4) */
#define READ_ONLY 1
#define MULTILINE (1 << 12)
#define COMBO (1 << 17)
#define MAX_STATE 400 /* bytes of a name, of which a PDF writes some as three */

static const char *const KINDS[] = {"text", "checkbox", "choice", "radio"};
#define KIND_COUNT (sizeof KINDS / sizeof *KINDS)

/* ----------------------------------------------------------------------------------------------------------- sizes */

static double entry_side(double from, double to)
{
    const double scale = 10000; /* a PDF has four decimals of each */
    return (double)(llround(to * scale) - llround(from * scale)) / scale;
}

void sr_pdf_entry_size(double *width, double *height, const double rect[4], int rotate)
{
    const double wide = entry_side(rect[0], rect[2]), high = entry_side(rect[1], rect[3]);
    *width = rotate % 180 ? high : wide;
    *height = rotate % 180 ? wide : high;
}

void sr_pdf_upright(double matrix[6], double width, double height, int rotate)
{
    const double matrices[4][6] = {
        {1, 0, 0, 1, 0, 0}, {0, 1, -1, 0, height, 0}, {-1, 0, 0, -1, width, height}, {0, -1, 1, 0, 0, width}};
    const int quarter = rotate % 90 ? 0 : rotate / 90 % 4;
    memcpy(matrix, matrices[quarter < 0 ? 0 : quarter], sizeof matrices[0]);
}

/* ----------------------------------------------------------------------------------------------------------- texts */

const char *sr_pdf_string(const char *text, apr_pool_t *pool)
{
    char *out = apr_palloc(pool, 6 * strlen(text) + 16), *at = out;
    const char *c = text;
    while (*c >= ' ' && *c <= '~') c++;
    if (!*c) {
        *at++ = '(';
        for (; *text; *at++ = *text++)
            if (strchr("()\\", *text)) *at++ = '\\';
        strcpy(at, ")");
        return out;
    }
    at += sprintf(at, "<FEFF");
    for (apr_uint32_t unit; (unit = sr_text_next(&text)) != 0;) {
        if (unit > 0xffff) at += sprintf(at, "%04X%04X", 0xd800 | ((unit - 0x10000) >> 10), 0xdc00 | (unit & 0x3ff));
        else at += sprintf(at, "%04X", unit);
    }
    strcpy(at, ">");
    return out;
}

const char *sr_pdf_entry_name(const sr_pdf_entry_t *entry, apr_pool_t *pool)
{
    char *name = apr_pstrdup(pool, entry->name);
    for (char *at = name; (at = strchr(at, '.'));) *at = '_';
    return name;
}

static const char *entry_options(const sr_pdf_entry_t *entry, apr_pool_t *pool)
{
    apr_array_header_t *texts = apr_array_make(pool, entry->options ? entry->options->nelts : 0, sizeof(char *));
    for (int i = 0; entry->options && i < entry->options->nelts; i++)
        APR_ARRAY_PUSH(texts, const char *) = sr_pdf_string(APR_ARRAY_IDX(entry->options, i, const char *), pool);
    return apr_pstrcat(pool, "/Opt[", apr_array_pstrcat(pool, texts, 0), "]", NULL);
}

const char *sr_pdf_entry_type(const sr_pdf_entry_t *entry, apr_pool_t *pool)
{
    static const char font[] = "/DA(/Helv 0 Tf 0 g)";
    const int flags = READ_ONLY | (entry->multiline ? MULTILINE : 0);
    const char *most = entry->max_length ? apr_psprintf(pool, "/MaxLen %d", entry->max_length) : "";
    switch (entry->kind) {
    case SR_PDF_ENTRY_CHECKBOX: return apr_psprintf(pool, "/FT/Btn/Ff %d", READ_ONLY);
    case SR_PDF_ENTRY_CHOICE:
        return apr_psprintf(pool, "/FT/Ch/Ff %d%s%s", READ_ONLY | COMBO, entry_options(entry, pool), font);
    case SR_PDF_ENTRY_RADIO: /* which no document gets */
    case SR_PDF_ENTRY_TEXT: break;
    }
    return apr_psprintf(pool, "/FT/Tx/Ff %d%s%s", flags, most, font);
}

/* Returns the state of the chosen button. */
static const char *entry_state(const sr_pdf_entry_t *entry)
{
    for (int i = 0; i < entry->buttons->nelts; i++) {
        const sr_pdf_button_t *button = &APR_ARRAY_IDX(entry->buttons, i, sr_pdf_button_t);
        if (!strcmp(button->option, entry->text)) return button->state;
    }
    return "Off";
}

const char *sr_pdf_button_state(const sr_pdf_entry_t *entry, const sr_pdf_button_t *button, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "/AS/", strcmp(button->option, entry->text) != 0 ? "Off" : button->state, NULL);
}

bool sr_pdf_is_state(const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~' || strchr("()<>[]{}/%", *at)) return false;
    return *text && strlen(text) <= MAX_STATE && strcmp(text, "Off") != 0;
}

const char *sr_pdf_entry_value(const sr_pdf_entry_t *entry, apr_pool_t *pool)
{
    if (entry->kind == SR_PDF_ENTRY_CHECKBOX) return entry->ticked ? "/V/On/AS/On" : "/V/Off/AS/Off";
    if (entry->kind == SR_PDF_ENTRY_RADIO) return apr_pstrcat(pool, "/V/", entry_state(entry), NULL);
    return apr_pstrcat(pool, "/V", sr_pdf_string(entry->text, pool), NULL);
}

/* The states of a check box are in a direct dictionary, because poppler shows none of an indirect one. */
const char *sr_pdf_entry_appearance(const sr_pdf_entry_t *entry, apr_int64_t number, apr_int64_t off, apr_pool_t *pool)
{
    if (entry->kind != SR_PDF_ENTRY_CHECKBOX) return apr_psprintf(pool, "/AP<</N %" APR_INT64_T_FMT " 0 R>>", number);
    return apr_psprintf(pool, "/AP<</N<</On %" APR_INT64_T_FMT " 0 R/Off %" APR_INT64_T_FMT " 0 R>>>>", number, off);
}

/* -------------------------------------------------------------------------------------------------------- requests */

const char *sr_pdf_content_text(const sr_pdf_content_t *content, apr_pool_t *pool)
{
    const char *data = apr_pencode_base64_binary(pool, content->data, (apr_ssize_t)content->size, 0, NULL);
    return apr_pstrcat(pool, content->packed ? "z" : "r", data, NULL);
}

bool sr_pdf_content_read(sr_pdf_content_t *content, const char *text, apr_pool_t *pool)
{
    *content = (sr_pdf_content_t){.packed = text && *text == 'z'};
    if (!content->packed && (!text || *text != 'r')) return false;
    content->data =
        apr_pdecode_base64_binary(pool, text + 1, (apr_ssize_t)strlen(text + 1), APR_ENCODE_NONE, &content->size);
    return content->data != NULL;
}

static json_t *entry_buttons_json(const sr_pdf_entry_t *entry)
{
    json_t *list = entry->kind == SR_PDF_ENTRY_RADIO ? json_array() : NULL;
    for (int i = 0; list && i < entry->buttons->nelts; i++) {
        const sr_pdf_button_t *button = &APR_ARRAY_IDX(entry->buttons, i, sr_pdf_button_t);
        const double *rect = button->rect;
        json_array_append_new(list,
                              json_pack("{s:i,s:[f,f,f,f],s:s,s:s}", "page", button->page, "rect", rect[0], rect[1],
                                        rect[2], rect[3], "option", button->option, "state", button->state));
    }
    return list;
}

json_t *sr_pdf_entry_json(const sr_pdf_entry_t *entry, apr_array_header_t *contents)
{
    json_t *options = entry->options ? json_array() : NULL;
    for (int i = 0; entry->options && i < entry->options->nelts; i++)
        json_array_append_new(options, json_string(APR_ARRAY_IDX(entry->options, i, const char *)));
    json_t *json = json_pack("{s:s,s:s,s:s,s:o*,s:o*}", "kind", KINDS[entry->kind], "name", entry->name, "label",
                             entry->label, "options", options, "buttons", entry_buttons_json(entry));
    if (entry->multiline) json_object_set_new(json, "multiline", json_true());
    if (entry->max_length) json_object_set_new(json, "maxLength", json_integer(entry->max_length));
    if (entry->rotate) json_object_set_new(json, "rotate", json_integer(entry->rotate));
    if (entry->ticked) json_object_set_new(json, "ticked", json_true());
    if (entry->kind != SR_PDF_ENTRY_CHECKBOX) json_object_set_new(json, "text", json_string(entry->text));
    if (entry->kind != SR_PDF_ENTRY_RADIO)
        APR_ARRAY_PUSH(contents, const char *) = entry->content ? entry->content : ""; /* which is refused */
    return json;
}

const char *sr_pdf_entry_request(apr_size_t *length, const json_t *request, const apr_array_header_t *contents,
                                 apr_pool_t *pool)
{
    const char *json = sr_json_text(request, pool);
    *length = strlen(json) + 1;
    for (int i = 0; i < contents->nelts; i++) *length += strlen(APR_ARRAY_IDX(contents, i, const char *)) + 1;
    char *text = apr_palloc(pool, *length), *at = text + strlen(json) + 1;
    strcpy(text, json);
    for (int i = 0; i < contents->nelts; i++) at = stpcpy(at, APR_ARRAY_IDX(contents, i, const char *)) + 1;
    return text;
}

static bool entry_read_options(sr_pdf_entry_t *entry, const json_t *options, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, (int)json_array_size(options), sizeof(char *));
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *option = json_string_value(json_array_get(options, i));
        if (!option) return false;
        APR_ARRAY_PUSH(list, const char *) = option;
    }
    entry->options = list;
    return true;
}

/* Returns false if two buttons have one option or state, or something is missing. */
static bool entry_read_buttons(sr_pdf_entry_t *entry, const json_t *buttons, apr_pool_t *pool)
{
    apr_array_header_t *list = apr_array_make(pool, (int)json_array_size(buttons), sizeof(sr_pdf_button_t));
    for (size_t i = 0; i < json_array_size(buttons); i++) {
        const json_t *json = json_array_get(buttons, i), *rect = json_object_get(json, "rect");
        sr_pdf_button_t *button = apr_array_push(list);
        *button = (sr_pdf_button_t){.page = (int)json_integer_value(json_object_get(json, "page")),
                                    .option = sr_json_string(json, "option"),
                                    .state = sr_json_string(json, "state")};
        if (json_array_size(rect) != 4 || !button->option || !button->state || !sr_pdf_is_state(button->state))
            return false;
        for (size_t k = 0; k < 4; k++) button->rect[k] = json_number_value(json_array_get(rect, k));
        for (const sr_pdf_button_t *other = (sr_pdf_button_t *)list->elts; other < button; other++)
            if (!strcmp(other->option, button->option) || !strcmp(other->state, button->state)) return false;
    }
    entry->buttons = list;
    return list->nelts > 0 && entry->text;
}

bool sr_pdf_entry_read(sr_pdf_entry_t *entry, sr_pdf_content_t *content, sr_pdf_contents_t *left, const json_t *json,
                       apr_pool_t *pool)
{
    const char *kind = sr_json_string(json, "kind"), *data = left->at;
    size_t index = 0;
    *entry = (sr_pdf_entry_t){.name = sr_json_string(json, "name"),
                              .label = sr_json_string(json, "label"),
                              .multiline = json_is_true(json_object_get(json, "multiline")),
                              .max_length = (int)json_integer_value(json_object_get(json, "maxLength")),
                              .text = sr_json_string(json, "text"),
                              .ticked = json_is_true(json_object_get(json, "ticked")),
                              .rotate = (int)json_integer_value(json_object_get(json, "rotate"))};
    while (kind && index < KIND_COUNT && strcmp(kind, KINDS[index]) != 0) index++;
    if (!kind || index == KIND_COUNT || !entry->name || !*entry->name || !entry->label) return false;
    entry->kind = (sr_pdf_entry_kind_t)index;
    *content = (sr_pdf_content_t){0};
    if (entry->kind == SR_PDF_ENTRY_RADIO) return entry_read_buttons(entry, json_object_get(json, "buttons"), pool);
    if (left->at >= left->end) return false;
    left->at += strlen(data) + 1;
    return sr_pdf_content_read(content, data, pool) && (entry->text || entry->kind == SR_PDF_ENTRY_CHECKBOX)
           && entry_read_options(entry, json_object_get(json, "options"), pool);
}
