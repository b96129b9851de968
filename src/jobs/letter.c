/* SPDX-License-Identifier: Apache-2.0 */
/* letter.c: makes the texts of a mail: fills a template (base/template.c) with the members of the
 * invitation, the texts of the signer's language, and the theme of the location where it was created. */
#include "jobs/letter.h"
#include "jobs/attached.h"

#include <ctype.h>
#include <string.h>

#include "embed/code.html.h"
#include "embed/code.txt.h"
#include "embed/copy.html.h"
#include "embed/copy.txt.h"
#include "embed/invitation.html.h"
#include "embed/invitation.txt.h"
#include "embed/reminder.html.h"
#include "embed/reminder.txt.h"
#include "embed/view.html.h"
#include "embed/view.txt.h"

#define SUBJECT "Subject:"
#define ACCENT "#1f3a8a" /* the default of page.css */
#define ON_ACCENT "#ffffff"

const sr_mail_templates_t sr_mail_builtin = {
    {[SR_MAIL_INVITATION] = {embedded_invitation_txt, embedded_invitation_html},
     [SR_MAIL_REMINDER] = {embedded_reminder_txt, embedded_reminder_html},
     [SR_MAIL_CODE] = {embedded_code_txt, embedded_code_html},
     [SR_MAIL_COPY] = {embedded_copy_txt, embedded_copy_html},
     [SR_MAIL_VIEW] = {embedded_view_txt, embedded_view_html}}};

bool sr_letter_is_test(const json_t *invitation)
{
    const char *environment = sr_json_string(invitation, "environment");
    return environment && !strcmp(environment, "test");
}

/* --- values */

static const sr_language_t *letter_language_of(const json_t *invitation)
{
    const char *locale = sr_json_string(invitation, "locale");
    const sr_language_t *language = locale ? sr_language_of(locale) : NULL;
    return language ? language : sr_language_of("en");
}

/* Copies a value without control characters and characters that change the direction of text. New reference. */
// NOLINTNEXTLINE(misc-no-recursion): SR_JSON_MAX_DEPTH
static json_t *clean(const json_t *value, apr_pool_t *pool)
{
    const char *key;
    size_t index;
    json_t *each;
    if (json_is_string(value))
        return json_string(sr_text_undirected(sr_text_printable(json_string_value(value), pool), pool));
    if (json_is_object(value)) {
        json_t *copy = json_object();
        json_object_foreach ((json_t *)value, key, each) json_object_set_new(copy, key, clean(each, pool));
        return copy;
    }
    if (json_is_array(value)) {
        json_t *copy = json_array();
        json_array_foreach (value, index, each) json_array_append_new(copy, clean(each, pool));
        return copy;
    }
    return json_incref((json_t *)value);
}

static bool is_colour(const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    if ((length != 4 && length != 7) || *text != '#') return false;
    for (text++; *text; text++)
        if (!isxdigit((unsigned char)*text)) return false;
    return true;
}

static void add_colour(json_t *values, const char *key, const json_t *theme, const char *otherwise)
{
    const char *colour = sr_json_string(theme, key);
    json_object_set_new(values, key, json_string(is_colour(colour) ? colour : otherwise));
}

static sr_mail_of_t letter_kind(const json_t *invitation)
{
    if (sr_json_string(invitation, "code")) return SR_MAIL_CODE;
    if (sr_json_string(invitation, "shows"))
        return json_is_true(json_object_get(invitation, "copies")) ? SR_MAIL_COPY : SR_MAIL_VIEW;
    return sr_json_string(invitation, "reminds") ? SR_MAIL_REMINDER : SR_MAIL_INVITATION;
}

/* Adds the deadline in the time zone of this server: the signer's is not known before they open the page. */
static void letter_add_deadline(json_t *values, const json_t *invitation, const sr_language_t *language,
                                apr_pool_t *pool)
{
    const char *text = sr_json_string(invitation, "expiresAt");
    apr_time_t when;
    if (text && sr_time_parse(&when, text))
        json_object_set_new(values, "deadline", json_string(sr_moment_text(language, when, pool)));
}

/* Returns a line of the sender's words in which mail programs find no address that they make a link: a zero-width space
 * (U+200B) follows each dot, at sign and colon that has text on both sides. */
static const char *letter_unlinked(const char *line, apr_pool_t *pool)
{
    static const char joints[] = ".@:", mark[] = "\xe2\x80\x8b";
    char *copy = apr_palloc(pool, strlen(line) * sizeof mark + 1), *out = copy;
    for (const char *at = line; *at; at++) {
        *out++ = *at;
        if (at > line && at[-1] != ' ' && at[1] && at[1] != ' ' && strchr(joints, *at))
            out = apr_cpystrn(out, mark, sizeof mark);
    }
    *out = '\0';
    return copy;
}

/* Adds the sender's words as "words": {"lines"}, and their subject as "own". The words have no "message" then, in which
 * `clean` has replaced the ends of lines. */
static void letter_add_message(json_t *values, const json_t *invitation, apr_pool_t *pool)
{
    const json_t *message = json_object_get(invitation, "message");
    const char *text = sr_json_string(message, "text");
    json_t *own = json_object_get(json_object_get(values, "message"), "subject"), *lines = json_array();
    if (own) json_object_set(values, "own", own);
    json_object_del(values, "message");
    for (; text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
        const char *line = apr_pstrmemdup(pool, text, strcspn(text, "\n"));
        line = letter_unlinked(sr_text_undirected(sr_text_printable(line, pool), pool), pool);
        json_array_append_new(lines, json_string(line));
    }
    if (json_array_size(lines)) json_object_set_new(values, "words", json_pack("{s:O}", "lines", lines));
    json_decref(lines);
}

/* Replaces texts that say that one can decline. */
static void letter_set_choice(json_t *words, const json_t *invitation)
{
    static const char *const texts[][2] = {{"deadline", "deadline.sign"}, {"here", "here.sign"}, {"what", "what.sign"}};
    if (!json_is_true(json_object_get(invitation, "signOnly"))) return;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_object_set(words, texts[i][0], json_object_get(words, texts[i][1]));
}

/* Adds what a copy says of its files, and of its link, which is valid for some days unless it is a signer's. */
static void letter_add_files(json_t *values, const sr_mail_files_t *files)
{
    json_object_set_new(values, "attached", json_boolean(files && files->parts));
    json_object_set_new(values, "large", json_boolean(files && !files->parts));
    json_object_set_new(values, "days",
                        json_boolean(json_object_get(values, "copies") && json_object_get(values, "viewer")));
}

/* Returns the values of the template: the invitation's members, and those of its theme and language. */
static json_t *values_of(const json_t *invitation, const sr_language_t *language, const json_t *texts, apr_pool_t *pool)
{
    json_t *values = sr_json_own(clean(invitation, pool), pool);
    letter_add_message(values, invitation, pool);
    const json_t *theme = json_object_get(values, "theme");
    const char *brand = sr_json_string(theme, "name"), *organization = sr_json_string(values, "organization");
    json_object_set_new(values, "brand", sr_json_string_or_null(brand ? brand : organization));
    json_object_set_new(values, "logo", sr_json_string_or_null(sr_json_string(theme, "logo")));
    add_colour(values, "accent", theme, ACCENT);
    add_colour(values, "onAccent", theme, ON_ACCENT);
    json_object_set_new(values, "language", json_string(language->tag));
    json_object_set_new(values, "dir", sr_json_string_or_null(sr_json_string(texts, "dir")));
    const size_t documents = json_array_size(json_object_get(values, "documents"));
    json_object_set_new(values, "count", json_integer((json_int_t)documents));
    letter_add_deadline(values, invitation, language, pool);
    return values;
}

/* --- an invitation of the test environment */

static const char *with_test_html(const char *html, const char *note, apr_pool_t *pool)
{
    const char *body = strstr(html, "<body"), *end = body ? strchr(body, '>') : NULL;
    const char *rest = end ? end + 1 : html;
    const sr_template_t template = {.plain = false};
    json_t *values = sr_json_own(json_pack("{s:s}", "note", note), pool);
    return apr_pstrcat(pool, apr_pstrmemdup(pool, html, (apr_size_t)(rest - html)),
                       sr_template_fill("\n<p><strong>TEST: {{note}}</strong></p>", values, &template, pool), rest,
                       NULL);
}

/* --- the letter */

/* Replaces the subject of the template by the sender's. */
static void letter_set_own_subject(sr_letter_t *letter, sr_mail_of_t of, const json_t *values,
                                   const sr_template_t *template, apr_pool_t *pool)
{
    if (!sr_json_string(values, "own")) return;
    if (of == SR_MAIL_INVITATION) letter->subject = sr_template_fill("{{own}}", values, template, pool);
    if (of == SR_MAIL_REMINDER) letter->subject = sr_template_fill("{{:reminder.own}}", values, template, pool);
}

/* Takes the subject from the first line of the text, if that is "Subject: …". */
static void take_subject(sr_letter_t *letter, apr_pool_t *pool)
{
    letter->subject = "";
    if (strncasecmp(letter->text, SUBJECT, sizeof SUBJECT - 1) != 0) return;
    const size_t length = strcspn(letter->text, "\r\n");
    letter->subject = apr_pstrmemdup(pool, letter->text + sizeof SUBJECT - 1, length - (sizeof SUBJECT - 1));
    letter->subject += strspn(letter->subject, " \t");
    letter->text += length;
    letter->text += strspn(letter->text, "\r\n");
}

/* Returns "Ann Lee via Our Company", in the signer's language. A service without a name is named by its domain. */
static const char *from_of(const sr_mail_t *mail, json_t *values, const sr_template_t *template, apr_pool_t *pool)
{
    const char *sender = sr_json_string(values, "sender");
    if (!mail->names_requester || !sender || !*sender) return mail->from_name;
    const char *service = mail->from_name ? mail->from_name : strrchr(mail->from_address, '@') + 1;
    json_object_set_new(values, "service", json_string(service));
    return sr_template_fill("{{:from}}", values, template, pool);
}

sr_error_t *sr_letter_write(sr_letter_t *letter, const sr_mail_t *mail, const json_t *invitation, const char *reply_to,
                            apr_pool_t *pool)
{
    const sr_language_t *language = letter_language_of(invitation);
    const sr_mail_of_t of = letter_kind(invitation);
    const sr_mail_template_t *templates =
        mail->translated ? &mail->translated[language - sr_language(0)].of[of] : &mail->templates.of[of];
    json_t *texts;
    SR_TRY(sr_language_texts(&texts, language, pool));
    json_t *words = json_object_get(texts, "mail");
    const json_t *page = json_object_get(texts, "page");
    json_object_set(words, "pages", json_object_get(page, "pages"));
    json_object_set(words, "request", json_object_get(page, "fact.request"));
    letter_set_choice(words, invitation);
    json_t *values = values_of(invitation, language, texts, pool);
    json_object_set_new(values, "reply", sr_json_string_or_null(reply_to));
    letter_add_files(values, mail->files);
    const char *dir = sr_json_string(texts, "dir");
    sr_template_t template = {.texts = words,
                              .plurals = sr_language_plurals(language),
                              .together = !dir || strcmp(dir, "rtl") != 0,
                              .keep_unknown = true};
    letter->html = sr_template_fill(templates->html, values, &template, pool);
    template.plain = true;
    letter->from = from_of(mail, values, &template, pool);
    letter->text = sr_template_fill(templates->text, values, &template, pool);
    take_subject(letter, pool);
    letter_set_own_subject(letter, of, values, &template, pool);
    if (!sr_letter_is_test(invitation)) return NULL;
    const char *note = sr_json_string(words, "test");
    letter->subject = apr_pstrcat(pool, "TEST: ", letter->subject, NULL);
    letter->text = apr_pstrcat(pool, "TEST: ", note, "\n\n", letter->text, NULL);
    letter->html = with_test_html(letter->html, note, pool);
    return NULL;
}
