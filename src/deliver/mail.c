/* mail.c: the invitation, by SMTP. Whatever people are called, they cannot add a line or a header: names go into
 * headers as encoded words (RFC 2047), without control characters; an address is used only when it cannot be misread.
 */
#include "deliver/call.h"

#include <apr_encode.h>
#include <string.h>

#include "embed/invitation.html.h"
#include "embed/invitation.txt.h"

#define CONNECT_LIMIT_MS 5000L
#define MAIL_LIMIT_MS 20000L
#define SUBJECT "Subject:"

/* --- the texts */

const sr_mail_templates_t sr_mail_builtin = {embedded_invitation_txt, embedded_invitation_html};

static const char *escaped(const char *text, apr_pool_t *pool)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    char *out = apr_palloc(pool, strlen(text) * 6 + 1), *end = out;

    for (; *text; text++) {
        size_t i = 0;
        while (i < 5 && entities[i].character != *text) i++;
        end = i < 5 ? apr_cpystrn(end, entities[i].entity, 7) : (*end = *text, end + 1);
    }
    *end = '\0';
    return out;
}

/* A template with each {{name}} replaced by that member of the invitation; what is none stays. */
static const char *fill(const char *template, const json_t *invitation, bool html, apr_pool_t *pool)
{
    apr_array_header_t *parts = apr_array_make(pool, 16, sizeof(const char *));
    const char *open, *close;

    while ((open = strstr(template, "{{")) != NULL && (close = strstr(open, "}}")) != NULL) {
        const char *value = sr_json_string(invitation, apr_pstrmemdup(pool, open + 2, (apr_size_t)(close - open - 2)));
        const char *before = value ? open : open + 2;
        APR_ARRAY_PUSH(parts, const char *) = apr_pstrmemdup(pool, template, (apr_size_t)(before - template));
        if (value) value = sr_text_undirected(sr_text_printable(value, pool), pool);
        if (value) APR_ARRAY_PUSH(parts, const char *) = html ? escaped(value, pool) : value;
        template = value ? close + 2 : before;
    }
    APR_ARRAY_PUSH(parts, const char *) = template;
    return apr_array_pstrcat(pool, parts, 0);
}

/* "=?UTF-8?B?…?=", in words of 75 characters at most, cut between characters; plain text stays as it is. */
static const char *encoded(const char *text, apr_pool_t *pool)
{
    const char *words = "", *next;

    text = sr_text_undirected(sr_text_printable(text, pool), pool);
    for (next = text; *next >= 0x20 && *next < 0x7f && !strchr("\"<>@,;:\\()[]=?_", *next); next++) continue;
    if (!*next && strlen(text) < 60) return text;
    while (*text) {
        const char *end = text;
        for (next = text; *next && (sr_text_next(&next), next - text <= 42);) end = next;
        const char *word = apr_pencode_base64(pool, text, end - text, 0, NULL);
        words = apr_pstrcat(pool, words, *words ? "\r\n " : "", "=?UTF-8?B?", word, "?=", NULL);
        text = end;
    }
    return words;
}

/* True when an address has only what needs no quoting (RFC 5322, dot-atom), UTF-8 in the domain allowed. */
static bool is_plain_address(const char *address)
{
    const char *at = strrchr(address, '@');

    if (!at || at == address || !at[1] || strlen(address) > 254) return false;
    for (const char *c = address; *c; c++) {
        const bool letter = ((*c | 32) >= 'a' && (*c | 32) <= 'z') || (*c >= '0' && *c <= '9') || *c == '.';
        if (letter || c == at || (c < at && strchr("!#$%&'*+-/=?^_`{|}~", *c))) continue;
        if (c > at && (*c == '-' || (unsigned char)*c >= 0x80)) continue;
        return false;
    }
    return true;
}

static const char *mailbox(const char *name, const char *address, apr_pool_t *pool)
{
    return name && *name ? apr_pstrcat(pool, encoded(name, pool), " <", address, ">", NULL) : address;
}

/* --- the message */

static bool add_header(sr_call_t *call, const char *name, const char *value, apr_pool_t *pool)
{
    struct curl_slist *list = curl_slist_append(call->mail_headers, apr_pstrcat(pool, name, ": ", value, NULL));

    if (list) call->mail_headers = list;
    return list != NULL;
}

static bool add_part(curl_mime *mime, const char *text, const char *type)
{
    curl_mimepart *part = curl_mime_addpart(mime);

    return part && !curl_mime_data(part, text, CURL_ZERO_TERMINATED) && !curl_mime_type(part, type)
           && !curl_mime_encoder(part, "base64");
}

/* multipart/alternative, the better one last. */
static bool add_texts(sr_call_t *call, const char *text, const char *html)
{
    curl_mime *both = curl_mime_init(call->easy);
    curl_mimepart *part;

    call->mime = curl_mime_init(call->easy);
    part = call->mime ? curl_mime_addpart(call->mime) : NULL;
    if (!part || !both || !add_part(both, text, "text/plain; charset=utf-8")
        || !add_part(both, html, "text/html; charset=utf-8") || curl_mime_subparts(part, both)) {
        curl_mime_free(both);
        return false;
    }
    struct curl_slist *inlined = curl_slist_append(NULL, "Content-Disposition: inline");
    return !curl_mime_type(part, "multipart/alternative") && inlined && !curl_mime_headers(part, inlined, 1);
}

static bool add_headers(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, const char *subject,
                        apr_pool_t *pool)
{
    const char *domain = strrchr(mail->from_address, '@') + 1;
    char date[APR_RFC822_DATE_LEN];

    apr_rfc822_date(date, apr_time_now());
    date[strlen(date) - strlen("GMT")] = '\0'; /* which is obsolete in mail */
    return add_header(call, "Date", apr_pstrcat(pool, date, "+0000", NULL), pool)
           && add_header(call, "From", mailbox(mail->from_name, mail->from_address, pool), pool)
           && add_header(call, "To",
                         mailbox(sr_json_string(invitation, "signer"), sr_json_string(invitation, "email"), pool), pool)
           && add_header(call, "Subject", encoded(subject, pool), pool)
           && add_header(call, "Message-ID", apr_pstrcat(pool, "<", sr_uuid_make(pool), "@", domain, ">", NULL), pool)
           && add_header(call, "Auto-Submitted", "auto-generated", pool);
}

/* The server's reason, where it refuses: its last line that tells of an error. */
static size_t take_reply(char *line, size_t size, size_t count, void *baton)
{
    sr_call_t *call = baton;
    char *c = call->said;

    if (!count || *line < '4') return size * count;
    for (size_t i = 0; i < size * count && c < call->said + sizeof call->said - 1; i++)
        if (line[i] >= ' ') *c++ = line[i] < 0x7f ? line[i] : '?';
    *c = '\0';
    return size * count;
}

static void set_options(sr_call_t *call, const sr_mail_t *mail, const char *address)
{
    CURL *easy = sr_call_reset(call, CONNECT_LIMIT_MS, MAIL_LIMIT_MS);

    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(easy, CURLOPT_URL, mail->url);
    /* Without a password TLS is used where it is offered, whoever that is; a password goes to who proves himself. */
    curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)(mail->user ? CURLUSESSL_ALL : CURLUSESSL_TRY));
    if (!mail->user && strncmp(mail->url, "smtps", 5)) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (mail->user) curl_easy_setopt(easy, CURLOPT_USERNAME, mail->user);
    if (mail->user) curl_easy_setopt(easy, CURLOPT_PASSWORD, mail->password ? mail->password : "");
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_reply);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
    call->recipients = curl_slist_append(NULL, address);
    curl_easy_setopt(easy, CURLOPT_MAIL_FROM, mail->from_address);
    curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, call->recipients);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
}

void sr_mail_release(sr_call_t *call)
{
    curl_mime_free(call->mime);
    curl_slist_free_all(call->mail_headers);
    curl_slist_free_all(call->recipients);
    call->mime = NULL;
    call->mail_headers = call->recipients = NULL;
}

CURL *sr_mail_begin(sr_call_t *call, const sr_mail_t *mail, const char *body, const char **fault, apr_pool_t *pool)
{
    json_t *invitation;
    sr_error_t *error = sr_json_parse(&invitation, body, strlen(body), pool);
    const char *address = error ? NULL : sr_json_string(invitation, "email");

    *fault = NULL;
    if (!mail || !mail->url) *fault = "this server sends no mail (SigreqSMTP)";
    else if (!address || !is_plain_address(address)) *fault = "mail cannot be sent to this address";
    else if (!sr_json_string(invitation, "link")) *fault = "no mail without a link (SigreqBaseURL)";
    if (*fault) return NULL;
    const char *text = fill(mail->templates.text, invitation, false, pool), *subject = "";
    if (!strncasecmp(text, SUBJECT, sizeof SUBJECT - 1)) {
        const size_t length = strcspn(text, "\r\n");
        subject = apr_pstrmemdup(pool, text + sizeof SUBJECT - 1, length - (sizeof SUBJECT - 1));
        subject += strspn(subject, " \t");
        text += length;
        text += strspn(text, "\r\n");
    }
    set_options(call, mail, address);
    call->is_mail = true;
    if (!call->recipients || !add_headers(call, mail, invitation, subject, pool)
        || !add_texts(call, text, fill(mail->templates.html, invitation, true, pool))) {
        sr_mail_release(call);
        *fault = "no memory";
        return NULL;
    }
    curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->mail_headers);
    curl_easy_setopt(call->easy, CURLOPT_MIMEPOST, call->mime);
    return call->easy;
}
