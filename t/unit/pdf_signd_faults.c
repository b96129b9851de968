/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_signd_faults.c: sigreq-signd with a seal whose files cannot be used: it goes on with the others, unless children
 * need this one. */
#include "cms_make.h"
#include "signd_start.h"

static apr_pool_t *root;

/* Starts a process whose production key is no key. `more` is added to the setup. */
static void start_faulty(signd_run_t *other, const made_t *made, const char *more)
{
    signd_door(other);
    signd_start(other,
                apr_psprintf(root, "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"%s\"}]%s}", made->certificate_path,
                             made->certificate_path, more),
                root);
}

static const char *fault_of_seal(const signd_run_t *other, size_t seal)
{
    return json_string_value(json_array_get(json_object_get(other->answer, SR_SIGND_FAULTS), seal));
}

/* The process has the other seal, and goes on without the faulty one. */
static void goes_on(signd_run_t *other, const char *what)
{
    apr_pool_t *pool;
    const char *pem, *fault = fault_of_seal(other, 1);
    ok(fault && strstr(fault, "it holds no private key"), "%s: the answer has it: %s", what, fault ? fault : "none");
    ok(!sr_json_string(other->answer, SR_SIGND_FAULT), "the fault is not one of the process");
    ok(!signd_pem(other, 1), "the seal with a fault has no certificate");
    ok(signd_pem(other, 0) && !fault_of_seal(other, 0), "the other seal has a certificate");
    apr_pool_create(&pool, root);
    sr_signd_t *client = sr_signd_create(other->door, 1, apr_time_from_sec(60), pool);
    ok(!sr_signd_certificates(&pem, client, 1, NULL, root) && !*pem, "the process serves in spite of the fault");
    apr_pool_destroy(pool);
    close(other->door);
    close(other->inside);
    is_int(WEXITSTATUS(signd_wait(other)), 0, "the process runs until nobody needs it");
}

static void ends(signd_run_t *other, const char *what)
{
    const char *fault = sr_json_string(other->answer, SR_SIGND_FAULT);
    ok(fault && strstr(fault, "it holds no private key"), "%s: it is one of the process: %s", what,
       fault ? fault : "none");
    is_int(json_integer_value(json_object_get(other->answer, "seal")), 1,
           "the fault of the process has the number of the seal");
    is_int(WEXITSTATUS(signd_wait(other)), 1, "the process with a fault ends");
    close(other->door);
    close(other->inside);
}

static void faults(const made_t *made)
{
    signd_run_t other;
    start_faulty(&other, made, "");
    goes_on(&other, "a fault of a file");
    start_faulty(&other, made, ",\"check\":true");
    ends(&other, "for httpd -t");
    start_faulty(&other, made, ",\"again\":true");
    ends(&other, "if the process is started again");
    start_faulty(&other, made, ",\"again\":true,\"" SR_SIGND_FAULTS "\":[\"unusable\",null]");
    ends(&other, "if the process is started again after a fault of another seal");
    start_faulty(&other, made, ",\"again\":true,\"" SR_SIGND_FAULTS "\":[null,\"unusable\"]");
    goes_on(&other, "if children do not have the seal either");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    made_t *made = make_certificate(&(make_t){.name = "seal"}, root);
    faults(made);
    make_free(made);
    make_end();
    apr_pool_destroy(root);
    return done();
}
