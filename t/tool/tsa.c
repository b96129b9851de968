/* SPDX-License-Identifier: Apache-2.0 */
/* tsa.c: a timestamp authority (RFC 3161) for tests, which can lie. t/lib/Sigreq/TSA.pm starts it.
 *
 *   tsa CERTIFICATE KEY [CHAIN] [LOGIN]
 *
 * It prints two ports of the loopback: that of the authority and that of its control. CHAIN has certificates that are
 * added to tokens. LOGIN is "user:password" in base64, and whoever does not send it gets 401. The control takes
 * requests "GET /NAME/VALUE" and replies with what it has counted since "/counts/0", as JSON:
 *   /mode/ok       tokens as they should be
 *   /mode/refuse   nobody listens on the port, and connections that are open are closed
 *   /mode/…        the lies: a row of `lies`, or a mode that `answer` knows
 *   /delay/MS      responses take this long
 *   /gather/N      queries are answered when N of them are waiting */
#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/pem.h>
#include <openssl/ts.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 1024

static X509 *certificate;
static EVP_PKEY *key;
static STACK_OF(X509) * chain;
static const char *login;

/* What tests set, and what is counted. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    char mode[32];
    int delay, gather, waiting;
    int connections, queries, tokens, most, now;
    int clients[CLIENTS]; /* descriptor + 1 */
    int listener, port;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .mode = "ok", .listener = -1};

/* --- tokens */

static ASN1_INTEGER *make_serial(TS_RESP_CTX *context, void *data)
{
    ASN1_INTEGER *serial = ASN1_INTEGER_new();
    BIGNUM *number = BN_new();
    BN_rand(number, 63, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY);
    BN_to_ASN1_INTEGER(number, serial);
    BN_free(number);
    return serial;
}

static int make_time(TS_RESP_CTX *context, void *skew, long *seconds, long *microseconds)
{
    *seconds = (long)time(NULL) + (skew ? 600 : 0);
    *microseconds = 0;
    return 1;
}

static void lie_nonce(TS_REQ *query)
{
    ASN1_INTEGER *nonce = ASN1_INTEGER_new();
    ASN1_INTEGER_set_int64(nonce, 4711);
    TS_REQ_set_nonce(query, nonce);
    ASN1_INTEGER_free(nonce);
}

static void lie_imprint(TS_REQ *query)
{
    ASN1_OCTET_STRING *digest = TS_MSG_IMPRINT_get_msg(TS_REQ_get_msg_imprint(query));
    ((unsigned char *)(uintptr_t)ASN1_STRING_get0_data(digest))[0] ^= 1;
}

static const struct {
    const char *mode;
    void (*change)(TS_REQ *query);
} lies[] = {{"nonce", lie_nonce}, {"imprint", lie_imprint}};

/* Returns the query without its nonce. */
static TS_REQ *nonceless(TS_REQ *query)
{
    TS_REQ *other = TS_REQ_new();
    TS_REQ_set_version(other, 1);
    TS_REQ_set_msg_imprint(other, TS_REQ_get_msg_imprint(query));
    TS_REQ_set_cert_req(other, 1);
    TS_REQ_free(query);
    return other;
}

static TS_RESP *reject(void)
{
    TS_RESP *response = TS_RESP_new();
    TS_STATUS_INFO *info = TS_STATUS_INFO_new();
    TS_STATUS_INFO_set_status(info, TS_STATUS_REJECTION);
    TS_RESP_set_status_info(response, info);
    TS_STATUS_INFO_free(info);
    return response;
}

/* The authority signs with the hash with which its certificate was signed. */
static const EVP_MD *own_hash(void)
{
    int hash = NID_undef;
    X509_get_signature_info(certificate, &hash, NULL, NULL, NULL);
    return EVP_get_digestbynid(hash);
}

static TS_RESP *respond(TS_REQ *query, const char *mode)
{
    TS_RESP_CTX *context = TS_RESP_CTX_new();
    ASN1_OBJECT *policy = OBJ_txt2obj("1.2.3.4.1", 1);
    BIO *in = BIO_new(BIO_s_mem());
    i2d_TS_REQ_bio(in, query);
    TS_RESP_CTX_set_signer_cert(context, certificate);
    TS_RESP_CTX_set_signer_key(context, key);
    TS_RESP_CTX_set_signer_digest(context, own_hash());
    TS_RESP_CTX_set_ess_cert_id_digest(context, own_hash());
    TS_RESP_CTX_set_certs(context, chain);
    TS_RESP_CTX_set_def_policy(context, policy);
    TS_RESP_CTX_add_md(context, EVP_sha256());
    TS_RESP_CTX_add_md(context, EVP_sha512());
    TS_RESP_CTX_set_accuracy(context, 1, 0, 0);
    TS_RESP_CTX_set_serial_cb(context, make_serial, NULL);
    TS_RESP_CTX_set_time_cb(context, make_time, strcmp(mode, "skew") ? NULL : &state);
    TS_RESP *response = TS_RESP_create_response(context, in);
    TS_RESP_CTX_free(context);
    ASN1_OBJECT_free(policy);
    BIO_free(in);
    return response;
}

/* Returns the response to a query as DER. *length is 0 if there is none. */
static unsigned char *make_response(int *length, const unsigned char *body, long size, const char *mode)
{
    TS_REQ *query = d2i_TS_REQ(NULL, &body, size);
    unsigned char *der = NULL;
    *length = 0;
    if (!query) return NULL;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        if (!strcmp(mode, lies[i].mode)) lies[i].change(query);
    if (!strcmp(mode, "nonceless")) query = nonceless(query);
    TS_RESP *response = strcmp(mode, "status2") ? respond(query, mode) : reject();
    if (response) *length = i2d_TS_RESP(response, &der);
    TS_RESP_free(response);
    TS_REQ_free(query);
    return der;
}

/* --- HTTP */

static bool send_all(int fd, const void *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const ssize_t sent = write(fd, (const char *)bytes + at, size - at);
        if (sent <= 0) return false;
        at += (size_t)sent;
    }
    return true;
}

static bool send_response(int fd, const char *status, const char *type, const void *body, size_t size)
{
    char *all = malloc(256 + size);
    const int head =
        snprintf(all, 256, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n", status, type, size);
    if (size) memcpy(all + head, body, size);
    const bool sent = send_all(fd, all, (size_t)head + size);
    free(all);
    return sent;
}

/* Waits as long as the mode, the delay and the number of gathered queries say. Copies the mode. */
static void wait_for_turn(char mode[32])
{
    pthread_mutex_lock(&state.mutex);
    state.queries++;
    if (++state.now > state.most) state.most = state.now;
    state.waiting++;
    pthread_cond_broadcast(&state.changed);
    while (state.gather && state.waiting % state.gather) pthread_cond_wait(&state.changed, &state.mutex);
    memcpy(mode, state.mode, sizeof state.mode);
    const int delay = state.delay;
    pthread_mutex_unlock(&state.mutex);
    if (delay) usleep((useconds_t)delay * 1000);
    pthread_mutex_lock(&state.mutex);
    while (!strcmp(mode, "slow") && !strcmp(state.mode, mode)) pthread_cond_wait(&state.changed, &state.mutex);
    state.now--;
    pthread_mutex_unlock(&state.mutex);
}

static bool send_token(int fd, const char *mode, const unsigned char *body, long size)
{
    static const char type[] = "application/timestamp-reply";
    int length;
    unsigned char *der = make_response(&length, body, size, mode);
    if (!strcmp(mode, "tail") && length > 0) {
        der = OPENSSL_realloc(der, (size_t)length + 1);
        der[length++] = 0;
    }
    pthread_mutex_lock(&state.mutex);
    state.tokens += length > 0;
    pthread_mutex_unlock(&state.mutex);
    const bool sent = send_response(fd, "200 OK", strcmp(mode, "type") ? type : "text/plain", der, (size_t)length);
    OPENSSL_free(der);
    return sent;
}

/* Returns false if the connection should be closed. */
static bool answer(int fd, const unsigned char *body, long size, bool allowed)
{
    static char large[1 << 20];
    char mode[32];
    wait_for_turn(mode);
    if (!strcmp(mode, "close") || !strcmp(mode, "refuse")) return false;
    if (!allowed || !strcmp(mode, "401")) return send_response(fd, "401 Unauthorized", "text/plain", "?", 1);
    if (!strcmp(mode, "500")) return send_response(fd, "500 Internal Server Error", "text/plain", "?", 1);
    if (!strcmp(mode, "html")) return send_response(fd, "200 OK", "text/html", "<p>Hello", 8);
    if (!strcmp(mode, "big")) return send_response(fd, "200 OK", "application/timestamp-reply", large, sizeof large);
    return send_token(fd, mode, body, size);
}

static bool serve_one(FILE *in, int fd)
{
    char line[2048];
    unsigned char body[4096];
    unsigned long length = 0;
    bool allowed = !login;
    if (!fgets(line, sizeof line, in)) return false;
    while (fgets(line, sizeof line, in) && *line != '\r') {
        if (!strncasecmp(line, "Content-Length:", 15)) length = strtoul(line + 15, NULL, 10);
        if (!strncasecmp(line, "Authorization: Basic ", 21)) {
            line[strcspn(line, "\r\n")] = '\0';
            allowed = allowed || !strcmp(line + 21, login);
        }
    }
    if (!length || length > sizeof body || fread(body, 1, length, in) != length) return false;
    return answer(fd, body, (long)length, allowed);
}

static void *serve(void *data)
{
    const int index = (int)(intptr_t)data, fd = state.clients[index] - 1, one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    FILE *in = fdopen(dup(fd), "r");
    while (in && serve_one(in, fd)) {
    }
    pthread_mutex_lock(&state.mutex);
    state.clients[index] = 0;
    shutdown(fd, SHUT_RDWR);
    if (in) fclose(in);
    close(fd);
    pthread_mutex_unlock(&state.mutex);
    return NULL;
}

/* --- listening and control */

/* Port 0: any. Returns -1 if the port cannot be used. */
static int listen_on(int *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 512)) return close(fd), -1;
    getsockname(fd, (struct sockaddr *)&address, &length);
    *port = ntohs(address.sin_port);
    return fd;
}

static void begin_client(int fd)
{
    pthread_t thread;
    int index = 0;
    pthread_mutex_lock(&state.mutex);
    while (index < CLIENTS && state.clients[index]) index++;
    const bool room = index < CLIENTS;
    if (room) state.clients[index] = fd + 1;
    state.connections++;
    pthread_mutex_unlock(&state.mutex);
    if (!room) close(fd);
    else if (!pthread_create(&thread, NULL, serve, (void *)(intptr_t)index)) pthread_detach(thread);
}

static void *accept_all(void *data)
{
    const int listener = (int)(intptr_t)data;
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) begin_client(fd);
    close(listener);
    return NULL;
}

/* Begins to listen, unless it does. */
static void open_port(void)
{
    pthread_t thread;
    for (int i = 0; state.listener < 0 && i < 100; i++) {
        state.listener = listen_on(&state.port);
        if (state.listener < 0) usleep(50000); /* the old socket is still being closed */
    }
    if (state.listener < 0) exit(1);
    pthread_create(&thread, NULL, accept_all, (void *)(intptr_t)state.listener);
    pthread_detach(thread);
}

static void close_port(void)
{
    if (state.listener >= 0) shutdown(state.listener, SHUT_RDWR); /* accept() returns, and its thread closes it */
    state.listener = -1;
    for (int i = 0; i < CLIENTS; i++)
        if (state.clients[i]) shutdown(state.clients[i] - 1, SHUT_RDWR);
}

static void set_mode(const char *mode)
{
    snprintf(state.mode, sizeof state.mode, "%s", mode);
    if (!strcmp(mode, "refuse")) close_port();
    else if (state.listener < 0) open_port();
}

static void control(int fd)
{
    char name[16] = "", value[32] = "", text[256], request[2048];
    const ssize_t length = read(fd, request, sizeof request - 1);
    if (length > 0) request[length] = '\0';
    if (length <= 0 || sscanf(request, "GET /%15[a-z]/%31[a-z0-9]", name, value) != 2) return;
    pthread_mutex_lock(&state.mutex);
    const int size = snprintf(text, sizeof text, "{\"connections\":%d,\"queries\":%d,\"tokens\":%d,\"most\":%d}",
                              state.connections, state.queries, state.tokens, state.most);
    if (!strcmp(name, "mode")) set_mode(value);
    if (!strcmp(name, "delay")) state.delay = (int)strtol(value, NULL, 10);
    if (!strcmp(name, "gather")) state.gather = (int)strtol(value, NULL, 10);
    if (!strcmp(name, "counts") && !strcmp(value, "0"))
        state.connections = state.queries = state.tokens = state.most = 0;
    if (!strcmp(name, "gather")) state.waiting = 0;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.mutex);
    send_response(fd, "200 OK", "application/json", text, (size_t)size);
}

/* OpenSSL makes no tokens with a certificate whose extended key usage is not critical. It is made critical in memory,
 * but tokens have the certificate as it was read. */
static void deceive_openssl(void)
{
    const int at = X509_get_ext_by_NID(certificate, NID_ext_key_usage, -1);
    if (at >= 0) X509_EXTENSION_set_critical(X509_get_ext(certificate, at), 1);
}

static bool read_files(int argc, char **argv)
{
    BIO *file = BIO_new_file(argv[1], "r"), *key_file = BIO_new_file(argv[2], "r");
    if (!file || !key_file) return false;
    certificate = PEM_read_bio_X509(file, NULL, NULL, NULL);
    key = PEM_read_bio_PrivateKey(key_file, NULL, NULL, NULL);
    chain = sk_X509_new_null();
    BIO_free(file);
    BIO_free(key_file);
    file = argc > 3 && *argv[3] ? BIO_new_file(argv[3], "r") : NULL;
    for (X509 *one; file && (one = PEM_read_bio_X509(file, NULL, NULL, NULL));) sk_X509_push(chain, one);
    BIO_free(file);
    if (certificate) deceive_openssl();
    return certificate && key;
}

int main(int argc, char **argv)
{
    int control_port = 0;
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with the test that has started it */
    if (argc < 3 || !read_files(argc, argv)) return fprintf(stderr, "usage: tsa CERTIFICATE KEY [CHAIN] [LOGIN]\n"), 2;
    if (argc > 4) login = argv[4];
    open_port();
    const int listener = listen_on(&control_port);
    printf("%d %d\n", state.port, control_port);
    fflush(stdout);
    for (;;) {
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) continue;
        control(fd);
        close(fd);
    }
}
