/* SPDX-License-Identifier: Apache-2.0 */
/* mail.c: sends a mail (letter.c) by SMTP. Names cannot add a line or a header: in headers they are encoded
 * words (RFC 2047) without control characters. src/model/email.c says to which addresses mail can be sent. */
#include "jobs/call.h"

#include <apr_encode.h>
#include <apr_uri.h>
#include <string.h>

#include "jobs/attached.h"
#include "jobs/letter.h"

#define CONNECT_LIMIT_MS 5000L
#define MAIL_LIMIT_MS 20000L
#define BYTES_IN_MS 128 /* the slowest connection for a mail with files */

#define MAILDIR "maildir:"

/* --- the configuration */

static char *unescaped(const char *text, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, text);
    if (copy) (void)sr_text_decode_percent(copy, NULL);
    return copy;
}

void sr_mail_read_box(const char **name, const char **address, const char *text, apr_pool_t *pool)
{
    const char *open = strchr(text, '<');
    apr_size_t length = open ? (apr_size_t)(open - text) : 0;
    while (length && text[length - 1] == ' ') length--;
    *name = length ? apr_pstrmemdup(pool, text, length) : NULL;
    *address = open ? apr_pstrmemdup(pool, open + 1, strlen(open) - 2) : text;
}

bool sr_mail_read(sr_mail_t *mail, const char *smtp, const char *from, apr_pool_t *pool)
{
    apr_uri_t uri;
    sr_mail_read_box(&mail->from_name, &mail->from_address, from, pool);
    if (!strncmp(smtp, MAILDIR, sizeof MAILDIR - 1)) {
        mail->folder = smtp + sizeof MAILDIR - 1;
        return true;
    }
    if (!*smtp || apr_uri_parse(pool, smtp, &uri) || !uri.hostname) return false;
    mail->user = unescaped(uri.user, pool);
    mail->password = unescaped(uri.password, pool);
    mail->url = apr_pstrcat(pool, uri.scheme, "://", uri.hostname, uri.port_str ? ":" : "",
                            uri.port_str ? uri.port_str : "", NULL);
    return true;
}

/* --- headers */

static const char *mailbox(const char *name, const char *address, apr_pool_t *pool)
{
    return name && *name ? apr_pstrcat(pool, sr_mail_encoded(name, pool), " <", address, ">", NULL) : address;
}

/* --- the message */

static bool mail_add_header(sr_call_t *call, const char *name, const char *value, apr_pool_t *pool)
{
    struct curl_slist *list = curl_slist_append(call->mail_headers, apr_pstrcat(pool, name, ": ", value, NULL));
    if (list) call->mail_headers = list;
    return list != NULL;
}

/* Returns one part of the message. */
static const char *mail_part_of(const char *text, const char *type, const char *boundary, apr_pool_t *pool)
{
    const size_t length = strlen(text);
    char *code = apr_palloc(pool, SR_MAIL_BASE64(length));
    *sr_mail_base64(code, (const unsigned char *)text, length) = '\0';
    return apr_pstrcat(pool, "--", boundary, "\r\nContent-Type: ", type,
                       "; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n", code, NULL);
}

/* Adds the files to the parts. `boundary` is between the files, and not between the texts. */
static void mail_add_files(apr_array_header_t *parts, const apr_array_header_t *files, const char *boundary,
                           apr_pool_t *pool)
{
    for (int i = 0; i < files->nelts; i++) {
        APR_ARRAY_PUSH(parts, const char *) = apr_pstrcat(pool, "--", boundary, "\r\n", NULL);
        APR_ARRAY_PUSH(parts, const char *) = APR_ARRAY_IDX(files, i, const char *);
    }
    APR_ARRAY_PUSH(parts, const char *) = apr_pstrcat(pool, "--", boundary, "--\r\n", NULL);
}

/* Returns the type of the texts, in the headers of the message or of its first part. */
static const char *alternative(const char *boundary, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "multipart/alternative; boundary=\"", boundary, "\"", NULL);
}

/* Returns the message: the headers, the plain text, and the HTML last, because multipart/alternative prefers the last
 * part. Files follow. */
static const char *message_of(const sr_call_t *call, const char *boundary, const sr_letter_t *letter,
                              const apr_array_header_t *files, apr_pool_t *pool)
{
    const char *inner = files ? sr_uuid_make(pool) : boundary;
    apr_array_header_t *parts = apr_array_make(pool, 32, sizeof(const char *));
    for (const struct curl_slist *header = call->mail_headers; header; header = header->next) {
        APR_ARRAY_PUSH(parts, const char *) = header->data;
        APR_ARRAY_PUSH(parts, const char *) = "\r\n";
    }
    APR_ARRAY_PUSH(parts, const char *) = "\r\n";
    if (files)
        APR_ARRAY_PUSH(parts, const char *) =
            apr_pstrcat(pool, "--", boundary, "\r\nContent-Type: ", alternative(inner, pool), "\r\n\r\n", NULL);
    APR_ARRAY_PUSH(parts, const char *) = mail_part_of(letter->text, "text/plain", inner, pool);
    APR_ARRAY_PUSH(parts, const char *) = mail_part_of(letter->html, "text/html", inner, pool);
    APR_ARRAY_PUSH(parts, const char *) = apr_pstrcat(pool, "--", inner, "--\r\n", NULL);
    if (files) mail_add_files(parts, files, boundary, pool);
    return apr_array_pstrcat(pool, parts, 0);
}

/* Returns the address for replies: the one that the request gives (replyTo), else that of the requester; NULL: none.
 * *box is the mailbox for Reply-To. */
static const char *reply_address(const char **box, const sr_mail_t *mail, const json_t *invitation, apr_pool_t *pool)
{
    const char *own = sr_json_string(invitation, "replyTo");
    const char *text = own ? own : mail->names_requester ? sr_json_string(invitation, "address") : NULL;
    const char *address = text ? sr_address_of(text, pool) : NULL;
    *box = address ? mailbox(own ? NULL : sr_json_string(invitation, "sender"), address, pool) : NULL;
    return address;
}

static bool add_headers(sr_call_t *call, const sr_mail_t *mail, const char *to, const char *reply_to,
                        const sr_letter_t *letter, const char *type, apr_pool_t *pool)
{
    const char *domain = strrchr(mail->from_address, '@') + 1;
    char date[APR_RFC822_DATE_LEN];
    apr_rfc822_date(date, sr_time_now());
    date[strlen(date) - strlen("GMT")] = '\0'; /* "GMT" is obsolete in mail */
    return mail_add_header(call, "Date", apr_pstrcat(pool, date, "+0000", NULL), pool)
           && mail_add_header(call, "From", mailbox(letter->from, mail->from_address, pool), pool)
           && (!reply_to || mail_add_header(call, "Reply-To", reply_to, pool)) && mail_add_header(call, "To", to, pool)
           && mail_add_header(call, "Subject", sr_mail_encoded(letter->subject, pool), pool)
           && mail_add_header(call, "Message-ID", apr_pstrcat(pool, "<", sr_uuid_make(pool), "@", domain, ">", NULL),
                              pool)
           && mail_add_header(call, "Auto-Submitted", "auto-generated", pool)
           && mail_add_header(call, "MIME-Version", "1.0", pool) && mail_add_header(call, "Content-Type", type, pool);
}

/* Remembers the server's last error reply. */
static size_t take_reply(char *line, size_t size, size_t count, void *baton)
{
    sr_call_t *call = baton;
    char *c = call->said;
    if (!count || *line < '4') return size * count;
    for (size_t i = 0; i < size * count && c < call->said + sizeof call->said - 1; i++)
        if (line[i] >= ' ') *c++ = (char)(line[i] < 0x7f ? line[i] : '?');
    *c = '\0';
    return size * count;
}

static void mail_set_options(sr_call_t *call, const sr_mail_t *mail, const char *address)
{
    CURL *easy = sr_call_reset(call, CONNECT_LIMIT_MS, MAIL_LIMIT_MS);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    if (mail->url) curl_easy_setopt(easy, CURLOPT_URL, mail->url);
    /* Without a password, TLS is used if the server offers it, with any certificate. A password is sent only to a
     * server whose certificate is valid. */
    curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)(mail->user ? CURLUSESSL_ALL : CURLUSESSL_TRY));
    if (!mail->user && mail->url && strncmp(mail->url, "smtps", 5) != 0) {
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

/* --- one mail */

/* Sets *address to the signer's. */
static const char *fault_of(const sr_mail_t *mail, const char **address, const json_t *invitation, apr_pool_t *pool)
{
    const char *email = invitation ? sr_json_string(invitation, "email") : NULL;
    if (!mail || (!mail->url && !mail->folder)) return "this server sends no mail (SigreqSMTP)";
    *address = email ? sr_address_of(email, pool) : NULL;
    if (!*address) return "mail cannot be sent to this address";
    if (!sr_json_string(invitation, "link") && !sr_json_string(invitation, "code"))
        return "no mail without a link (SigreqBaseURL)";
    return NULL;
}

/* Makes the message, which becomes the body of the call. The headers stay in the call. Returns false if there is no
 * memory. */
static bool mail_compose(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, const char *address,
                         apr_pool_t *pool)
{
    const char *boundary = sr_uuid_make(pool), *to = mailbox(sr_json_string(invitation, "signer"), address, pool);
    const char *reply_to, *reply = reply_address(&reply_to, mail, invitation, pool);
    const apr_array_header_t *files = mail->files ? mail->files->parts : NULL;
    const char *type =
        files ? apr_pstrcat(pool, "multipart/mixed; boundary=\"", boundary, "\"", NULL) : alternative(boundary, pool);
    sr_letter_t letter;
    if (sr_letter_write(&letter, mail, invitation, reply, pool)) return false;
    if (!add_headers(call, mail, to, reply_to, &letter, type, pool)) return false;
    call->body = message_of(call, boundary, &letter, files, pool);
    call->length = strlen(call->body);
    return true;
}

CURL *sr_mail_begin(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, const char **fault,
                    apr_pool_t *pool)
{
    const char *address;
    *fault = fault_of(mail, &address, invitation, pool);
    if (*fault) return NULL;
    if (sr_letter_is_test(invitation) && mail->test_to) address = mail->test_to;
    mail_set_options(call, mail, address);
    call->is_mail = true;
    if (!call->recipients || !mail_compose(call, mail, invitation, address, pool)) {
        sr_call_drop_mail(call);
        *fault = "no memory";
        return NULL;
    }
    curl_easy_setopt(call->easy, CURLOPT_READFUNCTION, sr_call_send);
    curl_easy_setopt(call->easy, CURLOPT_READDATA, call);
    curl_easy_setopt(call->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->length);
    curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, MAIL_LIMIT_MS + (long)(call->length / BYTES_IN_MS));
    return call->easy;
}

void sr_mail_keep(sr_call_t *call, const sr_mail_t *mail, const json_t *invitation, sr_call_result_t *result,
                  apr_pool_t *pool)
{
    *result = (sr_call_result_t){.status = 0};
    if (!sr_mail_begin(call, mail, invitation, &result->error, pool)) return;
    result->detail = sr_maildir_write(mail->folder, call->body, pool);
    result->success = !result->detail;
    if (result->detail) result->error = "the mail could not be kept in the server's folder";
    sr_call_drop_mail(call);
}
