/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_said.h: what the tests of signed documents share: a document in memory is verified, and the answer is one line.
 */
#ifndef SR_TEST_PDF_SAID_H
#define SR_TEST_PDF_SAID_H

#include "pdf_help.h"
#include "pdf_sign.h"

static apr_pool_t *root;
static sr_pdf_pool_t *workers;
static const sr_cms_identity_t *ec, *rsa;
static const sr_cms_certificate_t *ours[2];
static sr_cms_context_t context = {.ours = ours};

static inline sr_error_t *verify(sr_pdf_verification_t *verification, const pdf_t *pdf, apr_pool_t *pool)
{
    int fd = help_descriptor(pdf->data, pdf->size);
    sr_error_t *error = sr_pdf_verify(verification, workers, fd, (apr_off_t)pdf->size, &context, pool);
    close(fd);
    return error;
}

/* The answer in one line: "signed: intact whole ours later=0; …". */
static inline const char *say(sr_error_t *error, const sr_pdf_verification_t *verification, apr_pool_t *pool)
{
    static const char *const states[] = {"intact", "broken", "unchecked"};
    if (error) return apr_psprintf(pool, "error: %s", error->message);
    const char *text = sr_pdf_conclusion_name(verification->conclusion);
    if (verification->reason) text = apr_pstrcat(pool, text, " (", verification->reason, ")", NULL);
    for (int i = 0; i < verification->count; i++) {
        const sr_pdf_found_t *one = &verification->signatures[i];
        text = apr_psprintf(pool, "%s; %s%s%s later=%d%s%s", text, states[one->state], one->whole ? " whole" : "",
                            one->signer.ours ? " ours" : "", one->later, one->fault ? ": " : "",
                            one->fault ? one->fault : "");
    }
    return text;
}

static inline void is_said(const pdf_t *pdf, const char *want, const char *name)
{
    apr_pool_t *pool;
    sr_pdf_verification_t verification;
    apr_pool_create(&pool, root);
    sr_error_t *error = verify(&verification, pdf, pool);
    is_str(say(error, &verification, pool), want, "%s", name);
    apr_pool_destroy(pool);
}

static inline pdf_t unsigned_pdf(void)
{
    return pdf_document(&(pdf_parts_t){.pages = 1});
}

/* A document with one signature of ours. */
static inline pdf_t signed_pdf(signed_t *at)
{
    pdf_t pdf = unsigned_pdf();
    *at = sign_pdf(&pdf, &(sign_t){.identity = ec}, root);
    return pdf;
}

static inline pdf_t copy(const pdf_t *pdf)
{
    pdf_t made = *pdf;
    made.data = NULL;
    made.size = made.room = 0;
    pdf_add(&made, pdf->data, pdf->size);
    return made;
}

/* Two signers, of whom the first is "us", and a worker. */
static inline void said_begin(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    workers = help_pool(help_program(), 1, 10000, root);
    ec = make_identity(&(make_t){.name = "seal"}, root);
    rsa = make_identity(&(make_t){.name = "other", .rsa = 2048}, root);
    ours[0] = sr_cms_identity_certificate(ec);
}

static inline int said_end(void)
{
    is_int(help_notices, 0, "no worker died of any of these: %s", help_last_notice);
    make_end();
    apr_pool_destroy(root);
    return done();
}

#endif
