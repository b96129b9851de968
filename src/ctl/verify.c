/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c: sigreqctl verify: checks the signatures of a PDF and prints the result as text, or as JSON for scripts. */
#include "ctl/ctl.h"
#include "verify/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TIMEOUT apr_time_from_sec(30)

static void print_json(ctl_t *ctl, const sr_pdf_verification_t *found)
{
    json_t *answer = json_object(), *more = sr_pdf_verification_json(found);
    json_object_set_new(answer, "file", json_string(sr_text_printable(ctl->values[OPTION_FILE], ctl->pool)));
    json_object_update(answer, more);
    json_decref(more);
    ctl_print(ctl, answer, NULL);
}

static void print_line(const char *name, const char *value)
{
    if (value) printf("    %-13s%s\n", name, value);
}

/* Prints a time that somebody else has confirmed. */
static void print_stamp(ctl_t *ctl, const sr_cms_stamp_t *stamp)
{
    const char *by = stamp->authority ? apr_pstrcat(ctl->pool, " by ", stamp->authority, NULL) : "";
    if (stamp->state == SR_CMS_STAMP_VALID)
        print_line("timestamp", apr_pstrcat(ctl->pool, sr_time_format(stamp->time, ctl->pool), by, NULL));
    else if (stamp->state != SR_CMS_STAMP_NONE)
        print_line("timestamp", apr_psprintf(ctl->pool, "%s: %s%s%s%s", sr_cms_stamp_name(stamp->state), stamp->fault,
                                             stamp->time ? "; it says " : "",
                                             stamp->time ? sr_time_format(stamp->time, ctl->pool) : "", by));
}

static void print_trust(ctl_t *ctl, const sr_cms_result_t *signer)
{
    print_line("level", sr_cms_level_name(signer->level));
    print_stamp(ctl, &signer->stamp);
    if (signer->trust == SR_CMS_TRUSTED) print_line("trust", "its chain leads to a given certificate");
    if (signer->trust == SR_CMS_UNTRUSTED)
        print_line("trust", apr_pstrcat(ctl->pool, "none: ", signer->distrust, NULL));
    if (signer->trust == SR_CMS_REVOKED)
        print_line("trust", apr_pstrcat(ctl->pool, "revoked: ", signer->distrust, NULL));
    if (signer->proven_until) print_line("proven until", sr_time_format(signer->proven_until, ctl->pool));
}

static void print_signature(ctl_t *ctl, const sr_pdf_found_t *one)
{
    const sr_cms_certificate_t *signer = one->signer.signer;
    const char *updates = one->later == 1 ? "1 update" : apr_psprintf(ctl->pool, "%d updates", one->later);
    printf("\n  %s:%s %s%s%s%s\n", one->field, one->timestamp ? " document timestamp," : "",
           sr_cms_state_name(one->state), one->fault ? ": " : "", one->fault ? one->fault : "",
           one->signer.ours ? ", by this service" : "");
    if (one->whole) print_line("covers", "the whole document");
    else if (one->covers && one->later >= 0)
        print_line("covers",
                   apr_psprintf(ctl->pool, "its first %" APR_OFF_T_FMT " bytes; %s came later", one->covers, updates));
    for (const char *const *change = one->changes; change && *change; change++) print_line("changed", *change);
    for (const char *const *field = one->filled; field && *field; field++) print_line("filled in", *field);
    if (!one->changes) print_line("changed", "it cannot be determined what came later");
    if (signer)
        print_line("certificate",
                   apr_psprintf(ctl->pool, "%s%s", signer->subject, one->signer.expired ? " (expired by now)" : ""));
    if (signer) print_line("issued by", signer->issuer);
    if (signer) print_line("sha256", signer->sha256);
    print_line("algorithm", one->signer.algorithm);
    print_trust(ctl, &one->signer);
    print_line("says name", one->name);
    print_line("says reason", one->reason);
    print_line("says contact", one->contact);
    if (one->claimed) print_line("says time", sr_time_format(one->claimed, ctl->pool));
}

static void print_text(ctl_t *ctl, const sr_pdf_verification_t *found)
{
    printf("%s: %s: %s\n", sr_text_printable(ctl->values[OPTION_FILE], ctl->pool),
           sr_pdf_conclusion_name(found->conclusion), sr_pdf_verification_reason(found));
    for (int i = 0; i < found->count; i++) print_signature(ctl, &found->signatures[i]);
}

/* --------------------------------------------------------------------------------------------------- work */

/* A fault is only a warning. */
static const apr_array_header_t *verify_read_former(ctl_t *ctl)
{
    static const struct {
        ctl_option_id_t option;
        apr_array_header_t *(*read)(const char **fault, const char *path, apr_pool_t *pool);
    } sources[] = {{OPTION_CERTIFICATE, sr_cms_former_read}, {OPTION_SEALS, sr_cms_former_of_own}};
    apr_array_header_t *former = apr_array_make(ctl->pool, 4, sizeof(const sr_cms_certificate_t *));
    for (int i = 0; i < 2; i++) {
        const char *fault = NULL;
        if (!ctl->given[sources[i].option]) continue;
        apr_array_cat(former, sources[i].read(&fault, ctl->values[sources[i].option], ctl->pool));
        if (fault) fprintf(stderr, "sigreqctl: a former certificate of the seal: %s\n", fault);
    }
    return former;
}

static sr_error_t *read_context(ctl_t *ctl, sr_cms_context_t *context)
{
    static const ctl_option_id_t files[] = {OPTION_CERTIFICATE, OPTION_TEST_CERTIFICATE};
    const sr_cms_identity_t *seals[2] = {NULL, NULL};
    apr_array_header_t *own = NULL;
    sr_cms_anchors_t *anchors;
    *context = (sr_cms_context_t){.ours = NULL};
    if (ctl->given[OPTION_TRUST]) {
        SR_TRY(sr_cms_anchors_read(&anchors, ctl->values[OPTION_TRUST], ctl->pool));
        context->anchors = anchors;
    }
    for (int i = 0; i < 2; i++) {
        const char *path = ctl->values[files[i]], *pem;
        if (!ctl->given[files[i]]) continue;
        SR_TRY(sr_cms_certificates_text(&pem, path, ctl->pool));
        SR_TRY(sr_cms_identity_without_key(&seals[i], pem, path, NULL, NULL, ctl->pool));
    }
    if (ctl->given[OPTION_SEALS]) SR_TRY(sr_cms_own_read(&own, ctl->values[OPTION_SEALS], ctl->pool));
    context->ours = sr_cms_own_ours(seals, 2, own, verify_read_former(ctl), ctl->pool);
    return NULL;
}

static sr_error_t *verify_file(ctl_t *ctl, sr_pdf_verification_t *found, const sr_cms_context_t *context)
{
    const char *path = ctl->values[OPTION_FILE];
    const char *helper = ctl->given[OPTION_HELPER] ? ctl->values[OPTION_HELPER] : SR_DEFAULT_HELPER;
    char *absolute = realpath(helper, NULL);
    sr_pdf_options_t options = {
        .program = apr_pstrdup(ctl->pool, absolute ? absolute : helper), .workers = 1, .timeout = TIMEOUT};
    sr_pdf_pool_t *workers;
    struct stat info;
    sr_error_t *error;
    int fd;
    if (!absolute) return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s: %s: give --helper", helper, strerror(errno));
    free(absolute);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return sr_error(ctl->pool, errno == ENOENT ? SR_ENOTFOUND : SR_EINTERNAL, "%s: %s", path, strerror(errno));
    error = fstat(fd, &info) || !S_ISREG(info.st_mode) ? sr_error(ctl->pool, SR_EINTERNAL, "%s is not a file", path)
                                                       : sr_pdf_pool_create(&workers, &options, ctl->pool);
    if (!error) error = sr_pdf_verify(found, workers, fd, info.st_size, context, ctl->pool);
    close(fd);
    return error;
}

sr_error_t *ctl_verify(ctl_t *ctl)
{
    static const ctl_option_id_t wanted[] = {OPTION_HELPER, OPTION_CERTIFICATE, OPTION_TEST_CERTIFICATE,
                                             OPTION_TRUST,  OPTION_SEALS,       OPTION_COUNT};
    sr_pdf_verification_t found;
    sr_cms_context_t context;
    bool good;
    SR_TRY(ctl_read_config(ctl, wanted, 2, true));
    SR_TRY(read_context(ctl, &context));
    SR_TRY(verify_file(ctl, &found, &context));
    good = found.conclusion == SR_PDF_SIGNED;
    for (int i = 0; i < found.count; i++) {
        const sr_cms_trust_t trust = found.signatures[i].signer.trust;
        good = good && trust != SR_CMS_UNTRUSTED && trust != SR_CMS_REVOKED;
    }
    if (!good) ctl->status = CTL_FAILED;
    if (ctl->given[OPTION_JSON]) print_json(ctl, &found);
    else print_text(ctl, &found);
    return NULL;
}
