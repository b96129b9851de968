/* SPDX-License-Identifier: Apache-2.0 */
/* mail.c: the mail settings of the configuration, in the form of the job thread. */
#include <httpd.h>
#include <http_log.h>
#include <apr_file_io.h>

#include "mod_sigreq.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define TEMPLATE_MAX ((apr_off_t)1024 * 1024)

/* Returns a template file of the folder, or `otherwise` if it cannot be used. A template for one language may be
 * missing. */
static const char *template_of(const char *folder, const char *name, bool may_miss, const char *otherwise,
                               server_rec *server, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, folder, "/", name, NULL);
    apr_file_t *file;
    apr_finfo_t info;
    apr_size_t length;
    if (!*folder) return otherwise;
    apr_status_t status = apr_file_open(&file, path, APR_FOPEN_READ, APR_OS_DEFAULT, pool);
    if (may_miss && APR_STATUS_IS_ENOENT(status)) return otherwise;
    if (!status) status = apr_file_info_get(&info, APR_FINFO_SIZE, file);
    if (!status && info.size > TEMPLATE_MAX) status = APR_EGENERAL;
    char *text = status ? NULL : apr_pcalloc(pool, (apr_size_t)info.size + 1);
    if (text) status = apr_file_read_full(file, text, length = (apr_size_t)info.size, NULL);
    /* some editors begin a file of UTF-8 with a byte order mark */
    if (text && !status && sr_text_is_utf8(text, length)) return strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3;
    ap_log_error(APLOG_MARK, APLOG_WARNING, status, server, "SR0602: %s cannot be used: mail is sent without it", path);
    return otherwise;
}

/* Reads one kind of mail: invitation.de.txt for German if it exists, else invitation.txt, and so on. A folder may
 * have invitations alone: the other kinds are the built-in ones then. */
static void read_templates_of(sr_mail_t *mail, sr_mail_templates_t *list, sr_mail_of_t of, const char *folder,
                              server_rec *server, apr_pool_t *pool)
{
    static const char *const names[SR_MAIL_COUNT] = {[SR_MAIL_INVITATION] = "invitation",
                                                     [SR_MAIL_REMINDER] = "reminder",
                                                     [SR_MAIL_CODE] = "code",
                                                     [SR_MAIL_COPY] = "copy",
                                                     [SR_MAIL_VIEW] = "view"};
    const sr_mail_template_t *builtin = &sr_mail_builtin.of[of];
    const bool may_miss = of != SR_MAIL_INVITATION;
    const char *text = apr_pstrcat(pool, names[of], ".txt", NULL), *html = apr_pstrcat(pool, names[of], ".html", NULL);
    const sr_mail_template_t own = {template_of(folder, text, may_miss, builtin->text, server, pool),
                                    template_of(folder, html, may_miss, builtin->html, server, pool)};
    for (int i = 0; i < sr_language_count(); i++) {
        const char *name = apr_pstrcat(pool, names[of], ".", sr_language(i)->code, NULL);
        list[i].of[of].text = template_of(folder, apr_pstrcat(pool, name, ".txt", NULL), true, own.text, server, pool);
        list[i].of[of].html = template_of(folder, apr_pstrcat(pool, name, ".html", NULL), true, own.html, server, pool);
    }
    mail->templates.of[of] = own;
}

static void read_templates(sr_mail_t *mail, const char *folder, server_rec *server, apr_pool_t *pool)
{
    sr_mail_templates_t *list = apr_palloc(pool, sizeof *list * (apr_size_t)sr_language_count());
    for (int of = 0; of < SR_MAIL_COUNT; of++) read_templates_of(mail, list, (sr_mail_of_t)of, folder, server, pool);
    mail->translated = list;
}

const sr_mail_t *sr_run_mail(server_rec *main_server, const sr_process_settings_t *conf, apr_pool_t *pool)
{
    sr_mail_t *mail = apr_pcalloc(pool, sizeof *mail);
    const char *nobody;
    if (!sr_mail_read(mail, conf->smtp, conf->mail_from, pool)) return NULL;
    mail->names_requester = conf->mail_requester;
    if (*conf->mail_test_to) sr_mail_read_box(&nobody, &mail->test_to, conf->mail_test_to, pool);
    read_templates(mail, conf->mail_templates, main_server, pool);
    return mail;
}
