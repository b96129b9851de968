/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c: sigreqctl doctor: what httpd -t says, and what the service needs besides: one line each, with what to do.
 * It changes nothing. The options --mail, --webhook and --ask-timestamp send something. */
#include "ctl/ctl.h"
#include "jobs/jobs.h"
#include "cms/cms.h"
#include "store/schema.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>

#define SEAL_DAYS 30 /* before the end of the seal's certificate */
#define CLOCKS_DIFFER apr_time_from_sec(5)
#define LITTLE_SPACE ((apr_int64_t)1 << 30)

static const char ok[] = "ok", warn[] = "warn", bad[] = "fail";

typedef struct doctor_t {
    ctl_t *ctl;
    json_t *rows;
} doctor_t;

static void doctor_note(doctor_t *doctor, const char *check, const char *state, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void doctor_note(doctor_t *doctor, const char *check, const char *state, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *detail = apr_pvsprintf(doctor->ctl->pool, format, arguments);
    va_end(arguments);
    for (char *c = detail + strlen(detail); c > detail && c[-1] == '\n';) *--c = '\0';
    for (char *c = detail; *c; c++)
        if (*c == '\n') *c = ' ';
    json_array_append_new(doctor->rows, json_pack("{s:s,s:s,s:s}", "check", check, "state", state, "detail",
                                                  sr_text_printable(detail, doctor->ctl->pool)));
    if (state == bad) doctor->ctl->status = CTL_FAILED;
}

/* Returns true, with a line, if there is an error. */
static bool is_wrong(doctor_t *doctor, const char *check, const sr_error_t *error)
{
    if (error && error->cause) doctor_note(doctor, check, bad, "%s (%s)", error->message, error->cause);
    else if (error) doctor_note(doctor, check, bad, "%s", error->message);
    return error != NULL;
}

/* --- httpd */

/* The messages about what cannot be used name the status of the requests that suffer. */
static void take_message(doctor_t *doctor, const char *line)
{
    const char *tag = strstr(line, "SR0");
    const size_t length = tag ? strspn(tag, "SR0123456789") : 0;
    if (length != 6 || tag[6] != ':') return;
    doctor_note(doctor, apr_pstrmemdup(doctor->ctl->pool, tag, length), strstr(tag, "503") ? bad : warn, "%s",
                tag + length + strspn(tag + length, ": "));
}

/* Returns false if there is no valid configuration, without which nothing else can be checked. */
static bool check_httpd(doctor_t *doctor)
{
    apr_pool_t *pool = doctor->ctl->pool;
    const char *said;
    bool valid;
    if (!ctl_configtest(doctor->ctl, &valid, &said)) {
        doctor_note(doctor, "configtest", warn, "there is no httpd here: run this command on the host of the service");
        return true;
    }
    if (!valid) {
        doctor_note(doctor, "configtest", bad, "httpd would not start: %s", said);
        return false;
    }
    doctor_note(doctor, "configtest", ok, "httpd accepts its configuration");
    char *last, *lines = apr_pstrdup(pool, said);
    for (const char *line = apr_strtok(lines, "\n", &last); line; line = apr_strtok(NULL, "\n", &last))
        take_message(doctor, line);
    return true;
}

static void check_version(doctor_t *doctor)
{
    apr_pool_t *pool = doctor->ctl->pool;
    const char *text, *module;
    if (ctl_config_text(doctor->ctl, &text) || !text || !(module = ctl_httpd_version(text, pool))) return;
    if (!strcmp(module, SR_VERSION)) doctor_note(doctor, "version", ok, "%s", SR_VERSION);
    else
        doctor_note(doctor, "version", warn, "the module is %s, and sigreqctl is %s: install the same version of both",
                    module, SR_VERSION);
}

/* --- database */

static void check_clock(doctor_t *doctor, apr_time_t clock)
{
    const apr_interval_time_t behind = clock ? sr_time_now() - clock : 0;
    const int seconds = (int)apr_time_sec(behind < 0 ? -behind : behind);
    doctor_note(doctor, "clock", seconds > apr_time_sec(CLOCKS_DIFFER) ? warn : ok,
                "the clocks of this host and of the database differ by %d s%s", seconds,
                seconds > apr_time_sec(CLOCKS_DIFFER) ? ": synchronize both (NTP)" : "");
}

/* Returns true if the database can be used. */
static bool doctor_check_database(doctor_t *doctor)
{
    ctl_t *ctl = doctor->ctl;
    const sr_installation_row_t *row;
    const char *risk;
    sr_schema_t schema;
    if (is_wrong(doctor, "database", ctl_connect(ctl, false))) return false;
    if (is_wrong(doctor, "database", sr_schema_read(&schema, ctl->driver, ctl->handle, ctl->pool))) return false;
    if (schema.problem) {
        doctor_note(doctor, "database", bad, "%s", schema.problem);
        return false;
    }
    if (is_wrong(doctor, "database", ctl_use_store(ctl))) return false;
    if (is_wrong(doctor, "database", ctl_database_risk(ctl, &row, &risk))) return false;
    doctor_note(doctor, "database", ok, "%s answers, its tables have version %d", apr_dbd_name(ctl->driver),
                schema.version);
    if (risk) doctor_note(doctor, "durability", warn, "%s", risk);
    else doctor_note(doctor, "durability", ok, "what was committed is durable, and httpd has enough connections");
    check_clock(doctor, row->clock);
    return true;
}

/* --- documents */

static void doctor_check_documents(doctor_t *doctor)
{
    ctl_t *ctl = doctor->ctl;
    struct statvfs room;
    sr_blobs_t *documents;
    const char *folder;
    if (is_wrong(doctor, "documents", ctl_open_places(ctl, &documents))) return;
    if (is_wrong(doctor, "documents", ctl_same_database(ctl, &folder, documents, ctl->values[OPTION_DOCUMENTS])))
        return;
    if (is_wrong(doctor, "documents", sr_blobs_probe(documents, ctl->pool))) return;
    doctor_note(doctor, "documents", ok, "the owner of %s can write to it", ctl->values[OPTION_DOCUMENTS]);
    if (statvfs(ctl->storage.main.root, &room) != 0) {
        doctor_note(doctor, "space", bad, "%s: %s", ctl->storage.main.root, strerror(errno));
        return;
    }
    const apr_int64_t left = (apr_int64_t)(room.f_bavail * room.f_frsize);
    doctor_note(doctor, "space", left < LITTLE_SPACE ? warn : ok, "%s has %" APR_INT64_T_FMT " MB of free space%s",
                ctl->storage.main.root, left / 1000000, left < LITTLE_SPACE ? ": make room" : "");
}

/* --- seal */

static void check_seal(doctor_t *doctor)
{
    static const ctl_option_id_t wanted[] = {OPTION_CERTIFICATE, OPTION_KEY, OPTION_COUNT};
    ctl_t *ctl = doctor->ctl;
    const char *certificate, *key;
    const sr_cms_identity_t *identity;
    const sr_cms_certificate_t *about;
    if (is_wrong(doctor, "seal", ctl_read_config(ctl, wanted, 2, false))) return;
    if (!ctl->given[OPTION_CERTIFICATE] || !ctl->given[OPTION_KEY]) {
        doctor_note(doctor, "seal", warn, "there is none: only test documents are sealed. Run: sigreqctl seal create");
        return;
    }
    certificate = ctl->values[OPTION_CERTIFICATE];
    key = ctl->values[OPTION_KEY];
    if (!sr_text_is_token(key)
        && is_wrong(doctor, "seal", sr_cms_identity_load(&identity, certificate, key, ctl->pool)))
        return;
    if (is_wrong(doctor, "seal", sr_cms_certificate_read(&about, certificate, ctl->pool))) return;
    const int days = (int)((about->until - sr_time_now()) / CTL_DAY);
    if (days < 0) doctor_note(doctor, "seal", bad, "its certificate has expired: run: sigreqctl seal request");
    else
        doctor_note(doctor, "seal", days < SEAL_DAYS ? warn : ok, "%s, %d days left%s", about->name, days,
                    days < SEAL_DAYS ? ": run: sigreqctl seal request" : "");
}

/* --- what is called */

/* Makes a call, and waits for its end. */
static void doctor_perform(doctor_t *doctor, const char *check, sr_call_t *call, CURL *easy, const char *where)
{
    sr_call_result_t result = {0};
    sr_call_end(call, &result, curl_easy_perform(easy));
    if (result.success) doctor_note(doctor, check, ok, "%s has accepted it", where);
    else doctor_note(doctor, check, bad, "%s: %s", where, result.detail ? result.detail : result.error);
}

static sr_error_t *make_call(sr_call_t **call, sr_jobs_options_t *options, ctl_t *ctl)
{
    *options = (sr_jobs_options_t){.agent = "mod_sigreq"};
    if (curl_global_init(CURL_GLOBAL_DEFAULT)) return sr_error(ctl->pool, SR_EINTERNAL, "libcurl cannot be used");
    sr_address_refresh();
    return sr_call_create(call, options, ctl->pool);
}

static void send_mail(doctor_t *doctor, sr_mail_t *mail, const char *link, const char *where)
{
    ctl_t *ctl = doctor->ctl;
    const char *fault = NULL, *to = ctl->values[OPTION_MAIL];
    json_t *letter = sr_json_own(json_pack("{s:s,s:s}", "email", to, "link", link), ctl->pool);
    sr_jobs_options_t options;
    sr_call_t *call;
    mail->templates.of[SR_MAIL_INVITATION] = (sr_mail_template_t){
        "Subject: Test mail of sigreqctl doctor\n\nThis is a test of sigreqctl doctor. Nobody asks you to sign.\n",
        "<p>This is a test of sigreqctl doctor. Nobody asks you to sign.</p>\n"};
    if (is_wrong(doctor, "mail", make_call(&call, &options, ctl))) return;
    if (mail->folder) {
        sr_call_result_t result = {0};
        sr_mail_keep(call, mail, letter, &result, ctl->pool);
        doctor_note(doctor, "mail", result.success ? ok : bad, "%s: %s", where,
                    result.success ? "written" : result.error);
        return;
    }
    CURL *easy = sr_mail_begin(call, mail, letter, &fault, ctl->pool);
    if (easy) doctor_perform(doctor, "mail", call, easy, where);
    else doctor_note(doctor, "mail", bad, "%s", fault);
}

/* Returns the URL with which links begin, or NULL. */
static const char *check_links(doctor_t *doctor)
{
    const char *link = ctl_directive(doctor->ctl, "SigreqBaseURL");
    if (link) doctor_note(doctor, "links", ok, "begin with %s", link);
    else
        doctor_note(
            doctor, "links", warn,
            "have the host of the request: set SigreqBaseURL, without which no mail is sent, and which a proxy needs");
    return link;
}

static void check_mail(doctor_t *doctor, const char *link)
{
    ctl_t *ctl = doctor->ctl;
    const char *smtp = ctl_directive(ctl, "SigreqSMTP"), *from = ctl_directive(ctl, "SigreqMailFrom");
    sr_mail_t mail = {0};
    if (!smtp || !from) {
        doctor_note(doctor, "mail", ctl->given[OPTION_MAIL] ? bad : ok,
                    "no mail is sent: SigreqSMTP and SigreqMailFrom are not set");
        return;
    }
    if (!sr_mail_read(&mail, smtp, from, ctl->pool)) {
        doctor_note(doctor, "mail", bad, "SigreqSMTP is not a URL");
        return;
    }
    const char *where = mail.folder ? mail.folder : mail.url; /* without the password */
    if (ctl->given[OPTION_MAIL]) send_mail(doctor, &mail, link ? link : "https://localhost", where);
    else doctor_note(doctor, "mail", ok, "%s (--mail ADDRESS sends a test mail)", where);
}

/* The addresses that may be called although they are not public. */
static apr_array_header_t *doctor_allowed(ctl_t *ctl)
{
    const char *text = ctl_directive(ctl, "SigreqWebhookAllow");
    apr_array_header_t *ranges = apr_array_make(ctl->pool, 2, sizeof(apr_ipsubnet_t *));
    char *last, *words = apr_pstrdup(ctl->pool, text ? text : "");
    for (char *word = apr_strtok(words, " ", &last); word; word = apr_strtok(NULL, " ", &last)) {
        char *bits = strchr(word, '/');
        apr_ipsubnet_t *range;
        if (bits) *bits++ = '\0';
        if (!apr_ipsubnet_create(&range, word, bits, ctl->pool)) APR_ARRAY_PUSH(ranges, apr_ipsubnet_t *) = range;
    }
    return ranges;
}

static void check_webhook(doctor_t *doctor)
{
    ctl_t *ctl = doctor->ctl;
    const char *url = ctl->values[OPTION_WEBHOOK];
    sr_jobs_options_t options;
    sr_call_t *call;
    if (!url || is_wrong(doctor, "webhook", make_call(&call, &options, ctl))) return;
    options.allowed = doctor_allowed(ctl);
    json_t *body = sr_json_own(sr_webhook_test(SR_TEST, sr_uuid_make(ctl->pool), sr_time_now()), ctl->pool);
    doctor_perform(doctor, "webhook", call, sr_call_begin(call, url, sr_json_text(body, ctl->pool)), url);
}

static void check_timestamp(doctor_t *doctor)
{
    const char *urls = ctl_directive(doctor->ctl, "SigreqTimestamp");
    const char *authority;
    if (!urls)
        doctor_note(doctor, "timestamp", doctor->ctl->given[OPTION_ASK_TIMESTAMP] ? bad : ok,
                    "signatures have no timestamps: SigreqTimestamp is not set");
    else if (!doctor->ctl->given[OPTION_ASK_TIMESTAMP])
        doctor_note(doctor, "timestamp", ok, "%s (--ask-timestamp gets one)", urls);
    else if (!is_wrong(doctor, "timestamp", ctl_try_timestamp(doctor->ctl, &authority)))
        doctor_note(doctor, "timestamp", ok, "%s has made one", authority);
}

sr_error_t *ctl_doctor(ctl_t *ctl)
{
    static const char *const columns[] = {"check", "state", "detail", NULL};
    doctor_t doctor = {ctl, sr_json_own(json_array(), ctl->pool)};
    ctl_rights_t owner;
    if (check_httpd(&doctor)) {
        check_version(&doctor);
        if (doctor_check_database(&doctor)) doctor_check_documents(&doctor);
        SR_TRY(ctl_be_caller(ctl, &owner)); /* who may read the key of the seal */
        check_seal(&doctor);
        check_mail(&doctor, check_links(&doctor));
        check_timestamp(&doctor);
        check_webhook(&doctor);
    }
    ctl_print(ctl, json_incref(doctor.rows), columns);
    return NULL;
}
