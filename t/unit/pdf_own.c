/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_own.c: the folder of own seals of organisations, and sigreq-signd with it. */
#include "cms_make.h"
#include "signd_start.h"

#include <sys/stat.h>
#include <unistd.h>

#define ACME "0a000000-0000-4000-8000-00000000000a"
#define BETA "0b000000-0000-4000-8000-00000000000b"
#define GAMMA "0c000000-0000-4000-8000-00000000000c"
#define OTHER "0d000000-0000-4000-8000-00000000000d"

static apr_pool_t *root;
static char folder[300];

static const char *in(const char *organization, const char *name)
{
    return apr_pstrcat(root, folder, "/", organization, *name ? "/" : "", name, NULL);
}

static void put(const made_t *made, const char *organization, const char *name)
{
    mkdir(in(organization, ""), 0755);
    if (make_run("cp %s %s.crt && cp %s %s.key", made->certificate_path, in(organization, name), made->key_path,
                 in(organization, name)))
        abort();
}

static const char *listed(int strangers)
{
    apr_array_header_t *lists[2];
    sr_error_t *error = sr_cms_own_list(&lists[0], &lists[1], folder, root);
    return error ? error->message : apr_array_pstrcat(root, lists[strangers], ' ');
}

static void the_folder(const made_t *acme, const made_t *next)
{
    is_str(listed(0), "", "an empty folder");
    put(acme, BETA, "seal");
    put(acme, ACME, "seal");
    put(next, ACME, "next");
    is_str(listed(0), ACME " " BETA, "organisations with a seal, in their order");
    mkdir(in(GAMMA, ""), 0755);
    is_str(listed(0), ACME " " BETA, "an empty folder is no seal");
    make_run("touch %s", in(GAMMA, "seal.csr"));
    make_run("touch %s", in(GAMMA, "seal.key"));
    is_str(listed(0), ACME " " BETA, "nor is a key that waits for its certificate");
    unlink(in(GAMMA, "seal.csr"));
    is_str(listed(0), ACME " " BETA " " GAMMA, "a key without certificate and request: it has lost its certificate");
    unlink(in(GAMMA, "seal.key"));
    mkdir(in(GAMMA, "former"), 0755);
    is_str(listed(0), ACME " " BETA " " GAMMA, "former certificates alone: the same");
    if (symlink("/nonexistent/folder", in(OTHER, ""))) abort();
    ok(strstr(listed(0), OTHER) != NULL, "a link that leads nowhere is a seal that cannot be used");
    unlink(in(OTHER, ""));
    make_run("touch %s", in(OTHER, ""));
    ok(strstr(listed(0), OTHER) != NULL, "so is a file");
    unlink(in(OTHER, ""));
    mkdir(in(OTHER, ""), geteuid() ? 0 : 0755); /* root may look into it */
    ok(geteuid() ? strstr(listed(0), OTHER) != NULL : !strstr(listed(0), OTHER), "and a folder without rights");
    rmdir(in(OTHER, ""));
    mkdir(in(OTHER ".removed-20261124T000000Z", ""), 0755);
    mkdir(in(OTHER ".partial", ""), 0755);
    mkdir(in(".hidden", ""), 0755);
    is_str(listed(1), "", "what was removed, or is not complete, is ignored");
    mkdir(in("Acme", ""), 0755);
    mkdir(in("0A000000-0000-4000-8000-00000000000A", ""), 0755);
    ok(strstr(listed(1), "Acme") && strstr(listed(1), "0A00"), "strangers: %s", listed(1));
    apr_array_header_t *one, *other;
    sr_error_t *error = sr_cms_own_list(&one, &other, "/nonexistent/folder", root);
    ok(error && error->code == SR_ENOTFOUND, "a missing folder: %s", error ? error->message : "no error");
}

static void finding(const made_t *acme)
{
    apr_array_header_t *all;
    ok(!sr_cms_own_read(&all, folder, root) && all->nelts == 3, "the certificates are read without keys");
    sr_cms_own_t *found = sr_cms_own_find(all, ACME);
    ok(found && found->identity && !found->fault, "the certificate of one");
    found = sr_cms_own_find(all, GAMMA);
    ok(found && !found->identity && found->fault, "one without certificate has a fault: %s",
       found ? found->fault : "not found");
    ok(!sr_cms_own_find(all, OTHER) && !sr_cms_own_find(all, "") && !sr_cms_own_find(NULL, ACME)
           && !sr_cms_own_find(all, NULL),
       "others have no own seal");
    const sr_cms_identity_t *seals[2] = {NULL, make_identity(&(make_t){.name = "service"}, root)};
    const sr_cms_certificate_t *const *ours = sr_cms_own_ours(seals, 2, all, NULL, root);
    int count = 0;
    while (ours[count]) count++;
    is_int(count, 3, "the certificates of the service: its own, and two of organisations");
    is_str(ours[0]->sha256, sr_cms_identity_certificate(seals[1])->sha256,
           "the certificate of the service is the first one");
}

/* ------------------------------------------------------------------------------------------------ sigreq-signd */

static signd_run_t run;
static made_t *service;

static void start(bool again)
{
    const char *text = apr_psprintf(
        root,
        "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"%s\"}],\"own\":\"%s\",\"again\":%s,\"user\":%d,"
        "\"group\":%d}",
        service->certificate_path, service->key_path, folder, again ? "true" : "false", (int)getuid(), (int)getgid());
    signd_door(&run);
    signd_start(&run, text, root);
}

static void stop(void)
{
    close(run.door);
    close(run.inside);
    is_int(signd_wait(&run), 0, "the process ends");
}

static int changed_number;
static const sr_cms_identity_t *changed_identity;
static void changed(void *baton, int number, const sr_cms_identity_t *identity)
{
    changed_number = number;
    changed_identity = identity;
}

static const sr_cms_identity_t *identity_of(const char *path, int number, sr_signd_t *client)
{
    sr_signd_seal_t *seal = apr_pcalloc(root, sizeof *seal);
    const sr_cms_identity_t *identity;
    const char *pem;
    *seal = (sr_signd_seal_t){client, number, changed, NULL};
    if (sr_cms_certificates_text(&pem, path, root)
        || sr_cms_identity_without_key(&identity, pem, path, sr_signd_sign, seal, root))
        abort();
    return identity;
}

static bool signs(const char *path, int number, sr_signd_t *client)
{
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {7};
    apr_size_t length;
    sr_cms_result_t result;
    const sr_cms_identity_t *identity = identity_of(path, number, client);
    changed_number = -1;
    if (sr_cms_sign(&der, &length, identity, digest, root)) return false;
    sr_cms_check(&result, der, length, &(sr_cms_context_t){0}, root);
    return result.state == SR_CMS_INTACT
           && !strcmp(result.signer->sha256, sr_cms_identity_certificate(identity)->sha256)
           && result.digest.length == 32 && !memcmp(result.digest.data, digest, 32);
}

static const json_t *answered(size_t i)
{
    return json_array_get(json_object_get(run.answer, SR_SIGND_OWN_SEALS), i);
}

static void the_process(const made_t *acme, const made_t *next, const made_t *beta)
{
    apr_pool_t *pool;
    const char *pem;
    apr_pool_create(&pool, root);
    put(beta, BETA, "seal");
    start(false);
    is_str(sr_json_string(answered(0), "organization"), ACME, "the answer names the organisations");
    ok(sr_json_string(answered(0), SR_SIGND_PEM) && !sr_json_string(answered(0), SR_SIGND_FAULT),
       "the answer has the certificates of the organisations");
    ok(!sr_json_string(answered(2), SR_SIGND_PEM) && sr_json_string(answered(2), SR_SIGND_FAULT),
       "the answer says what is wrong with a seal: %s", sr_json_string(answered(2), SR_SIGND_FAULT));
    sr_signd_t *client = sr_signd_create(run.door, 2, apr_time_from_sec(60), pool);
    ok(signs(acme->certificate_path, SR_SIGND_OWN, client), "an own seal signs");
    ok(!signs(next->certificate_path, SR_SIGND_OWN, client), "its next certificate does not");
    ok(signs(beta->certificate_path, SR_SIGND_OWN, client), "and that of another organisation");
    ok(signs(service->certificate_path, SR_SIGND_PRODUCTION, client), "and the seal of the service");
    ok(!signs(acme->certificate_path, SR_SIGND_PRODUCTION, client), "an own seal is not that of the service");
    ok(!signs(service->certificate_path, SR_SIGND_OWN, client), "nor the other way round");
    is_int(changed_number, SR_SIGND_OWN, "the owner of the identity is told of the change");
    ok(changed_identity != NULL, "the owner is told which identity has changed");
    ok(!sr_signd_certificates(&pem, client, SR_SIGND_OWN, ACME, root)
           && !strcmp(pem, sr_json_string(answered(0), SR_SIGND_PEM)),
       "a child can ask for the certificate of an organisation");
    ok(!sr_signd_certificates(&pem, client, SR_SIGND_OWN, OTHER, root) && !*pem,
       "an organisation without a seal has no certificate");
    apr_pool_destroy(pool);
    stop();
}

static void faults(const made_t *acme, const made_t *next)
{
    apr_pool_t *pool;
    unlink(in(ACME, "seal.key"));
    make_run("cp %s %s", next->key_path, in(ACME, "seal.key"));
    apr_pool_create(&pool, root);
    start(false);
    const char *fault = sr_json_string(answered(0), SR_SIGND_FAULT);
    ok(fault && strstr(fault, "it is not the certificate of the key"), "the key of another certificate: %s",
       fault ? fault : "no fault");
    ok(sr_json_string(answered(1), SR_SIGND_PEM) != NULL, "the seals of other organisations are not affected");
    sr_signd_t *client = sr_signd_create(run.door, 2, apr_time_from_sec(60), pool);
    ok(!signs(acme->certificate_path, SR_SIGND_OWN, client),
       "a seal whose key belongs to another certificate does not sign");
    apr_pool_destroy(pool);
    stop();
    make_run("mv %s %s.away", folder, folder);
    start(false);
    fault = sr_json_string(run.answer, SR_SIGND_FAULT);
    ok(fault && strstr(fault, "No such file"), "the folder is missing: the process does not start: %s",
       fault ? fault : "no fault");
    is_int(WEXITSTATUS(signd_wait(&run)), 1, "the process ends if the folder is missing");
    apr_pool_create(&pool, root);
    start(true);
    ok(signd_pem(&run, SR_SIGND_PRODUCTION) != NULL, "a process that is started again has the seal of the service");
    client = sr_signd_create(run.door, 2, apr_time_from_sec(60), pool);
    ok(signs(service->certificate_path, SR_SIGND_PRODUCTION, client), "the seal of the service signs");
    ok(!signs(acme->certificate_path, SR_SIGND_OWN, client), "no seal of an organisation signs");
    apr_pool_destroy(pool);
    stop();
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    snprintf(folder, sizeof folder, "%s/seals", make_folder);
    mkdir(folder, 0755);
    service = make_certificate(&(make_t){.name = "service"}, root);
    made_t *acme = make_certificate(&(make_t){.name = "acme"}, root);
    made_t *next = make_certificate(&(make_t){.name = "acme2"}, root);
    made_t *beta = make_certificate(&(make_t){.name = "beta"}, root);
    the_folder(acme, next);
    finding(acme);
    the_process(acme, next, beta);
    faults(acme, next);
    make_free(service);
    make_free(acme);
    make_free(next);
    make_free(beta);
    make_end();
    apr_pool_destroy(root);
    return done();
}
