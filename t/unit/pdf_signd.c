/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_signd.c: sigreq-signd, asked by the client of src/signer, and by a child of httpd that was taken over and sends
 * what it likes. */
#include "cms_make.h"
#include "signd_start.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>

#define FIXED (SR_SIGND_HEADER + SR_SIGND_FINGERPRINT)

static apr_pool_t *root;
static signd_run_t run;
static const char *setup;
static unsigned char fingerprints[SR_SIGND_SEALS][SR_SIGND_FINGERPRINT];

/* ---------------------------------------------------------------------------------------------- by hand */

static int knock(void)
{
    int pair[2];
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    char one = 'c';
    struct iovec part = {&one, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) abort();
    control.header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &pair[1], sizeof(int));
    if (sendmsg(run.door, &message, MSG_NOSIGNAL) != 1) abort();
    close(pair[1]);
    return pair[0];
}

/* Returns the length of the response, or 0 if the connection was closed. */
static ssize_t say(unsigned char *response, int socket, const void *request, size_t length)
{
    ssize_t got;
    if (send(socket, request, length, MSG_NOSIGNAL) != (ssize_t)length) return 0;
    while ((got = recv(socket, response, SR_SIGND_MAX_RESPONSE, 0)) < 0 && errno == EINTR) continue;
    return got < 0 ? 0 : got;
}

static size_t request_of(unsigned char *request, int seal, int hash, size_t digest)
{
    memset(request, 0, SR_SIGND_MAX_REQUEST);
    memcpy(request, SR_SIGND_MAGIC, 4);
    request[4] = SR_SIGND_SIGN;
    request[5] = (unsigned char)seal;
    request[6] = (unsigned char)hash;
    memcpy(request + SR_SIGND_HEADER, fingerprints[seal % SR_SIGND_SEALS], SR_SIGND_FINGERPRINT);
    memset(request + FIXED, 'd', digest);
    return FIXED + digest;
}

/* What is changed of a request that is right: one byte, or its length. */
typedef struct wrong_t {
    const char *what;
    int at, value;
    int longer; /* by so many bytes */
    sr_signd_status_t status;
} wrong_t;

static void refuses(void)
{
    static const wrong_t wrongs[] = {
        {"nothing", 0, 'S', 0, SR_SIGND_DONE},
        {"another version", 3, '2', 0, SR_SIGND_INVALID},
        {"no operation", 4, 0, 0, SR_SIGND_INVALID},
        {"an operation that is not there", 4, 3, 0, SR_SIGND_INVALID},
        {"a seal that is not there", 5, SR_SIGND_OWN + 1, 0, SR_SIGND_INVALID},
        {"a seal of a negative number", 5, 255, 0, SR_SIGND_INVALID},
        {"another hash function", 6, 2, 0, SR_SIGND_INVALID},
        {"no hash function", 6, 0, 0, SR_SIGND_INVALID},
        {"a byte that is reserved", 7, 1, 0, SR_SIGND_INVALID},
        {"another certificate", SR_SIGND_HEADER, -1, 0, SR_SIGND_OTHER},
        {"a digest that is too short", 0, 'S', -1, SR_SIGND_INVALID},
        {"a digest that is too long", 0, 'S', 1, SR_SIGND_INVALID},
        {"a digest of another hash function", 0, 'S', 16, SR_SIGND_INVALID},
        {"no digest", 0, 'S', -32, SR_SIGND_INVALID},
        {"a certificate that is cut", 0, 'S', -33, SR_SIGND_INVALID},
        {"a header alone", 0, 'S', -64, SR_SIGND_INVALID},
        {"a byte", 0, 'S', 1 - (int)FIXED - 32, SR_SIGND_INVALID},
        {"the certificates with a digest", 4, SR_SIGND_CERTIFICATES, 0, SR_SIGND_INVALID},
    };
    static unsigned char request[4096], response[SR_SIGND_MAX_RESPONSE];
    const int socket = knock();
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const wrong_t *wrong = &wrongs[i];
        const size_t length = request_of(request, 0, 1, 32) + (size_t)wrong->longer;
        request[wrong->at] = (unsigned char)(wrong->value < 0 ? request[wrong->at] ^ 1 : wrong->value);
        const ssize_t got = say(response, socket, request, length);
        ok(got >= SR_SIGND_RESPONSE && response[4] == wrong->status, "%s: status %d", wrong->what, wrong->status);
        if (wrong->status) is_int(got, SR_SIGND_RESPONSE, "%s: there is nothing else", wrong->what);
    }
    is_int(say(response, socket, request, sizeof request), SR_SIGND_RESPONSE, "a request of 4 kB is answered");
    is_int(response[4], SR_SIGND_INVALID, "a request of 4 kB is not valid");
    close(socket);
}

/* The attributes are those of a signature, and only the digest is the child's. */
static void makes_attributes(void)
{
    unsigned char request[SR_SIGND_MAX_REQUEST], response[SR_SIGND_MAX_RESPONSE];
    static const unsigned char data[] = {0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01};
    const int socket = knock();
    const ssize_t got = say(response, socket, request, request_of(request, 0, 1, 32));
    const size_t length = (size_t)response[6] << 8 | response[7], rest = (size_t)response[8] << 8 | response[9];
    const unsigned char *attributes = response + SR_SIGND_RESPONSE;
    is_int((long long)(SR_SIGND_RESPONSE + length + rest), got, "the lengths are those of the response");
    ok(attributes[0] == 0x31, "a SET");
    ok(memmem(attributes, length, request + FIXED, 32) != NULL, "it contains the digest");
    ok(memmem(attributes, length, data, sizeof data) != NULL, "it contains the content type: data");
    ok(memmem(attributes, length, fingerprints[0], SR_SIGND_FINGERPRINT) != NULL, "it names the certificate");
    close(socket);
}

static unsigned chance(void)
{
    static uint32_t state = 14; /* the same in each run */
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* Bytes by chance, some of them with the beginning of a request, and messages at the door without a socket. */
static void survives_noise(void)
{
    unsigned char request[300], response[SR_SIGND_MAX_RESPONSE];
    int socket = knock(), answered = 0, signatures = 0;
    for (int i = 0; i < 20000; i++) {
        size_t length = 1 + chance() % sizeof request;
        for (size_t j = 0; j < length; j++) request[j] = (unsigned char)chance();
        if (i % 2) {
            enum { LONGEST = 100 }; /* also digests that are too long */
            unsigned char right[SR_SIGND_MAX_REQUEST + LONGEST];
            const size_t size = request_of(right, i % 4 / 2, i % 3, (size_t)(i % LONGEST));
            memcpy(request, right, size < length ? size : length);
            if (length > FIXED && i % 8 == 1) request[chance() % FIXED] ^= 1;
        }
        const ssize_t got = say(response, socket, request, length);
        answered += got >= SR_SIGND_RESPONSE;
        signatures += got > SR_SIGND_RESPONSE && response[4] == SR_SIGND_DONE;
        if (i % 1000 == 0 && send(run.door, request, length, MSG_NOSIGNAL) < 0) abort();
        if (i % 1000 == 1 && send(run.door, "", 0, MSG_NOSIGNAL) < 0) abort();
    }
    is_int(answered, 20000, "each of 20,000 messages of noise is answered");
    ok(signatures < 500, "nearly none is a request: %d", signatures);
    send(socket, "", 0, MSG_NOSIGNAL);
    ok(recv(socket, response, sizeof response, 0) <= 0, "an empty message ends a connection");
    close(socket);
    socket = knock();
    ok(say(response, socket, request, request_of(request, 0, 1, 32)) > SR_SIGND_RESPONSE, "the next one is served");
    close(socket);
    is_int(kill(run.pid, 0), 0, "the process lives");
}

/* A child with too many connections, and one that does not read its responses. */
static void limits_a_child(void)
{
    enum { MANY = 80 };
    unsigned char request[SR_SIGND_MAX_REQUEST], response[SR_SIGND_MAX_RESPONSE];
    const size_t length = request_of(request, 0, 1, 32);
    int sockets[MANY], served = 0, closed = 0;
    for (int i = 0; i < MANY; i++) {
        sockets[i] = knock();
        if (say(response, sockets[i], request, length) > SR_SIGND_RESPONSE) served++;
        else closed++;
    }
    is_int(served, 64, "a process has 64 connections");
    is_int(closed, MANY - 64, "further ones are closed");
    for (int i = 0; i < MANY; i++) close(sockets[i]);
    int socket;
    ssize_t got = 0;
    do { /* the process notices the end of a connection a moment later */
        socket = knock();
        got = say(response, socket, request, length);
        if (!got) close(socket);
    } while (!got);
    while (send(socket, request, length, MSG_NOSIGNAL) > 0) continue;
    ok(errno == EPIPE || errno == ECONNRESET, "a client that does not read loses its connection");
    close(socket);
}

/* ---------------------------------------------------------------------------------------- by the client */

static const sr_cms_identity_t *identity_of(int number, sr_signd_t *client, sr_signd_seal_t *seal)
{
    const sr_cms_identity_t *identity = NULL;
    *seal = (sr_signd_seal_t){client, number, seal->changed, seal->changed_baton};
    if (sr_cms_identity_without_key(&identity, signd_pem(&run, (size_t)number), "x", sr_signd_sign, seal, root))
        abort();
    return identity;
}

static bool signs(const sr_cms_identity_t *identity, unsigned char first, apr_pool_t *pool)
{
    const unsigned char *der;
    unsigned char digest[SR_CMS_MAX_DIGEST] = {first};
    const char *hash = sr_cms_identity_hash(identity);
    const apr_size_t size = !strcmp(hash, "SHA256") ? 32 : !strcmp(hash, "SHA384") ? 48 : 64;
    apr_size_t length;
    const sr_cms_certificate_t *const ours[] = {sr_cms_identity_certificate(identity), NULL};
    sr_cms_result_t result;
    sr_error_t *error = sr_cms_sign(&der, &length, identity, digest, pool);
    if (error) {
        printf("# %s (%s)\n", error->message, error->cause);
        return false;
    }
    cms_check(&result, der, length, digest, size, &(sr_cms_context_t){.ours = ours}, pool);
    return result.state == SR_CMS_INTACT && result.ours && result.bound;
}

static int failures, each_signs;
static void *sign_many(void *identity)
{
    apr_pool_t *pool;
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    for (int i = 0; i < each_signs; i++, apr_pool_clear(pool))
        if (!signs(identity, (unsigned char)i, pool)) __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    apr_pool_destroy(pool);
    return NULL;
}

static void in_threads(const sr_cms_identity_t *identity, int count, int each, bool kills)
{
    pthread_t threads[64];
    failures = 0;
    each_signs = each;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, sign_many, (void *)identity)) abort();
    for (int i = 0; kills && i < 3; i++) {
        apr_sleep(20000);
        kill(run.pid, SIGKILL);
        signd_wait(&run);
        signd_start(&run, setup, root);
    }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    is_int(failures, 0, "%d threads, %d signatures each%s: all are intact", count, each,
           kills ? ", while the process is killed three times" : "");
}

static int changed_seal = -1;
static void changed(void *baton, int number, const sr_cms_identity_t *identity)
{
    changed_seal = number;
}

static void the_client(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_signd_t *client = sr_signd_create(run.door, 8, apr_time_from_sec(60), pool);
    sr_signd_seal_t test = {.changed = changed}, production = {0};
    const sr_cms_identity_t *generated = identity_of(0, client, &test), *of_file = identity_of(1, client, &production);
    const char *pem;
    is_str(sr_cms_identity_hash(of_file), "SHA384", "the seal of the file has an RSA key of 4096 bits");
    ok(signs(generated, 1, root), "a signature by the generated key");
    ok(signs(of_file, 1, root), "a signature by the key of the file");
    ok(!sr_signd_certificates(&pem, client, 1, NULL, root) && !strcmp(pem, signd_pem(&run, 1)), "the certificates");
    in_threads(generated, 64, 15, false);
    in_threads(of_file, 4, 50, true);
    ok(!signs(generated, 2, root), "the process has made another key: no signature");
    is_int(changed_seal, 0, "the owner of the identity is told of the new key");
    ok(signs(identity_of(0, client, &test), 3, root), "the new certificate signs");
    apr_pool_destroy(pool); /* closes the connections */
}

/* A process that is stopped answers nobody. */
static void a_process_that_hangs(void)
{
    sr_signd_seal_t seal = {0};
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {0};
    apr_size_t length;
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    const sr_cms_identity_t *identity =
        identity_of(1, sr_signd_create(run.door, 1, apr_time_from_msec(200), pool), &seal);
    ok(signs(identity, 1, root), "a client with little time");
    kill(run.pid, SIGSTOP);
    while (waitpid(run.pid, NULL, WUNTRACED) < 0) continue;
    sr_error_t *error = sr_cms_sign(&der, &length, identity, digest, root);
    ok(error && error->code == SR_EUNAVAILABLE, "the process hangs: unavailable");
    is_str(error ? error->cause : NULL, "the signer process: it did not answer in time",
           "the log says that the process did not answer in time");
    kill(run.pid, SIGCONT);
    bool served = false;
    for (int i = 0; !served && i < 1000; i++) served = signs(identity, 2, root);
    ok(served, "it goes on: so do signatures");
    apr_pool_destroy(pool);
}

static void ends(void)
{
    const int socket = knock();
    unsigned char request[SR_SIGND_MAX_REQUEST], response[SR_SIGND_MAX_RESPONSE];
    sr_signd_seal_t seal = {0};
    close(run.inside);
    close(run.door);
    const size_t length = request_of(request, 1, 2, 48);
    for (int i = 0; i < 20; i++)
        if (say(response, socket, request, length) <= SR_SIGND_RESPONSE) break;
    is_int(response[4], SR_SIGND_DONE, "nobody has the door: a connection is served until it is closed");
    close(socket);
    is_int(signd_wait(&run), 0, "the process ends after its last connection");
    signd_run_t gone;
    signd_door(&gone);
    close(gone.inside);
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {0};
    apr_size_t size;
    const sr_cms_identity_t *identity =
        identity_of(1, sr_signd_create(gone.door, 1, apr_time_from_sec(60), root), &seal);
    sr_error_t *error = sr_cms_sign(&der, &size, identity, digest, root);
    is_str(error ? error->cause : NULL, "the signer process: it is gone, or cannot be reached",
           "without a process an error comes at once");
}

/* A seal whose certificate has expired. */
static void expired(void)
{
    enum { HOUR = 3600 };
    made_t *ended = make_certificate(&(make_t){.name = "ended", .from = -2 * HOUR, .until = -HOUR}, root);
    const char *text =
        apr_psprintf(root, "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"%s\"}],\"user\":%d,\"group\":%d",
                     ended->certificate_path, ended->key_path, (int)getuid(), (int)getgid());
    const unsigned char *der, digest[SR_CMS_MAX_DIGEST] = {0};
    apr_size_t length;
    apr_pool_t *pool;
    signd_run_t other;
    apr_pool_create(&pool, root);
    signd_door(&other);
    signd_start(&other, apr_pstrcat(root, text, "}", NULL), root);
    sr_signd_seal_t seal = {sr_signd_create(other.door, 1, apr_time_from_sec(60), pool), SR_SIGND_PRODUCTION, NULL,
                            NULL};
    const sr_cms_identity_t *identity;
    ok(signd_pem(&other, 1) != NULL, "an expired certificate is loaded");
    if (sr_cms_identity_without_key(&identity, signd_pem(&other, 1), "x", sr_signd_sign, &seal, root)) abort();
    sr_error_t *error = sr_cms_sign(&der, &length, identity, digest, root);
    ok(error && error->cause && strstr(error->cause, "expired at "),
       "a process with an expired certificate serves, but signs nothing");
    apr_pool_destroy(pool);
    close(other.door);
    close(other.inside);
    is_int(signd_wait(&other), 0, "the process with an expired certificate ends");

    signd_door(&other);
    signd_start(&other, apr_pstrcat(root, text, ",\"check\":true}", NULL), root);
    const char *fault = sr_json_string(other.answer, SR_SIGND_FAULT);
    ok(fault && strstr(fault, "it expired at "), "a check rejects it: %s", fault ? fault : "no fault");
    close(other.door);
    close(other.inside);
    is_int(WEXITSTATUS(signd_wait(&other)), 1, "a process that checks an expired certificate ends");
    make_free(ended);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    make_begin();
    made_t *made = make_certificate(&(make_t){.name = "seal", .rsa = 4096}, root);
    setup = apr_psprintf(root, "{\"seals\":[{},{\"certificate\":\"%s\",\"key\":\"%s\"}],\"user\":%d,\"group\":%d}",
                         made->certificate_path, made->key_path, (int)getuid(), (int)getgid());
    expired();
    signd_door(&run);
    signd_start(&run, setup, root);
    for (int i = 0; i < SR_SIGND_SEALS; i++) {
        const sr_cms_identity_t *identity;
        if (!signd_pem(&run, (size_t)i)
            || sr_cms_identity_without_key(&identity, signd_pem(&run, (size_t)i), "x", NULL, NULL, root))
            return 1;
        sr_cipher_unhex(fingerprints[i], sr_cms_identity_certificate(identity)->sha256, 64);
    }
    refuses();
    makes_attributes();
    survives_noise();
    limits_a_child();
    the_client();
    a_process_that_hangs();
    ends();
    make_free(made);
    make_end();
    apr_pool_destroy(root);
    return done();
}
