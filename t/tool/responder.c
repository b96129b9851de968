/* SPDX-License-Identifier: Apache-2.0 */
/* responder.c: an OCSP responder and a server of CRLs for tests, which can lie. t/lib/Sigreq/Responder.pm starts it.
 *
 *   responder FOLDER [PORT]
 *
 * It prints its port on the loopback. FOLDER is that of Sigreq::PKI, whose files are read for each request.
 *   POST /ocsp, GET /ocsp/…   an OCSP response about the certificate, signed by ocsp.crt
 *   GET /NAME.crl             a CRL of the certificate authority NAME
 *   GET /set/NAME/VALUE       sets how it behaves; the names are those of `settings`
 *   GET /count                what was asked since the last count, as JSON
 * A request is answered after the one before it. */
#include "../unit/proofs_make.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <signal.h>

#define BODY_MOST 65536

static const char *folder;
static int asked_ocsp, asked_crl;

/* How it behaves. */
static struct {
    const char *name;
    char value[64];
} settings[] = {
    {"ocsp", "ok"},        /* ok, none (the connection is closed), unknown, stale, endless, foreign, serial */
    {"crl", "ok"},         /* ok, none, delta, scope, stale, foreign, large */
    {"revoked", ""},       /* the name of a certificate */
    {"ocsp-life", "3600"}, /* seconds until nextUpdate */
    {"crl-life", "7200"},  {"age", "60"}, /* seconds since thisUpdate */
};

static const char *setting(const char *name)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (!strcmp(settings[i].name, name)) return settings[i].value;
    return "";
}

static bool is(const char *name, const char *value)
{
    return !strcmp(setting(name), value);
}

static long age(void)
{
    return atol(setting("age"));
}

/* --- certificates */

static bool read_made(made_t *made, const char *name)
{
    char path[1000];
    memset(made, 0, sizeof *made);
    snprintf(path, sizeof path, "%s/%s.crt", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    made->certificate = PEM_read_X509(file, NULL, NULL, NULL);
    fclose(file);
    snprintf(path, sizeof path, "%s/%s.key", folder, name);
    file = fopen(path, "r");
    if (!file) return false;
    made->key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    fclose(file);
    return made->certificate && made->key;
}

/* Finds the certificate with a serial number. Returns its name. */
static bool find_serial(made_t *made, char *name, size_t size, const ASN1_INTEGER *serial)
{
    bool found = false;
    DIR *all = opendir(folder);
    for (struct dirent *one; !found && (one = readdir(all)) != NULL;) {
        const char *end = strrchr(one->d_name, '.');
        if (!end || strcmp(end, ".crt") != 0) continue;
        snprintf(name, size, "%.*s", (int)(end - one->d_name), one->d_name);
        if (!read_made(made, name)) continue;
        found = !ASN1_INTEGER_cmp(X509_get0_serialNumber(made->certificate), serial);
    }
    closedir(all);
    return found;
}

/* --- proofs */

static proof_der_t make_ocsp(const unsigned char *request, long length)
{
    made_t about, ca, ocsp, other;
    char name[300];
    ASN1_INTEGER *serial = NULL;
    proof_der_t none = {NULL, 0};
    OCSP_REQUEST *asked = d2i_OCSP_REQUEST(NULL, &request, length);
    if (!asked || OCSP_request_onereq_count(asked) != 1) return none;
    OCSP_id_get0_info(NULL, NULL, NULL, &serial, OCSP_onereq_get0_id(OCSP_request_onereq_get0(asked, 0)));
    if (!find_serial(&about, name, sizeof name, serial) || !read_made(&ca, "ca")) return none;
    if (!read_made(&ocsp, is("ocsp", "foreign") ? "tsa2" : "ocsp")) return none;
    const long life = atol(setting("ocsp-life"));
    proof_ocsp_t what = {.certificate = &about, .issuer = &ca, .signer = &ocsp, .from = -age(), .until = life};
    if (is("ocsp", "serial") && read_made(&other, "ocsp")) what.certificate = &other;
    if (is("ocsp", "unknown")) what.status = V_OCSP_CERTSTATUS_UNKNOWN;
    if (is("ocsp", "stale")) what.from = -7200, what.until = -60;
    what.endless = is("ocsp", "endless");
    if (is("revoked", name)) what.status = V_OCSP_CERTSTATUS_REVOKED, what.reason = OCSP_REVOKED_STATUS_KEYCOMPROMISE;
    return proof_ocsp(&what);
}

static proof_der_t make_crl(const char *name)
{
    made_t ca, revoked, other;
    proof_der_t none = {NULL, 0};
    if (!read_made(&ca, name)) return none;
    proof_crl_t what = {.issuer = &ca, .from = -age(), .until = atol(setting("crl-life"))};
    if (!strcmp(name, "ca") && read_made(&revoked, setting("revoked"))) what.revoked = &revoked;
    if (strcmp(name, "ca") != 0) return proof_crl(&what); /* only its CRLs lie */
    what.delta = is("crl", "delta");
    if (is("crl", "scope")) what.scope = "critical,onlyCA:TRUE";
    if (is("crl", "stale")) what.from = -7200, what.until = -60;
    if (is("crl", "foreign") && read_made(&other, "tsaroot2")) what.signer = &other;
    if (is("crl", "large")) what.padding = 21 << 20;
    return proof_crl(&what);
}

/* --- HTTP */

static void send_all(int fd, const void *data, size_t length)
{
    for (const char *at = data; length;) {
        ssize_t sent = write(fd, at, length);
        if (sent <= 0) return;
        at += sent;
        length -= (size_t)sent;
    }
}

static void reply(int fd, const char *type, const void *data, size_t length)
{
    dprintf(fd, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", type,
            length);
    send_all(fd, data, length);
}

static void reply_proof(int fd, const char *type, proof_der_t der)
{
    if (der.data) reply(fd, type, der.data, der.length);
    else dprintf(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    OPENSSL_free(der.data);
}

/* Decodes the request of a GET: base64, in which +, / and = are percent-encoded. */
static long decode(unsigned char *der, const char *text)
{
    char plain[1000];
    size_t length = 0;
    for (; *text && length + 1 < sizeof plain; text++) {
        static const struct {
            const char *code;
            char character;
        } codes[] = {{"%2B", '+'}, {"%2F", '/'}, {"%3D", '='}};
        plain[length] = *text;
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
            if (!strncmp(text, codes[i].code, 3)) plain[length] = codes[i].character;
        if (*text == '%') text += 2;
        length++;
    }
    plain[length] = '\0';
    long size = EVP_DecodeBlock(der, (const unsigned char *)plain, (int)length);
    while (size > 0 && length && plain[length - 1] == '=') size--, length--;
    return size;
}

static void handle_set(int fd, char *path)
{
    char *value = strchr(path, '/');
    if (value) *value++ = '\0';
    for (size_t i = 0; value && i < sizeof settings / sizeof *settings; i++)
        if (!strcmp(settings[i].name, path)) snprintf(settings[i].value, sizeof settings[i].value, "%s", value);
    reply(fd, "text/plain", "ok", 2);
}

static void handle_count(int fd)
{
    char text[200];
    const int length = snprintf(text, sizeof text, "{\"ocsp\":%d,\"crl\":%d}", asked_ocsp, asked_crl);
    asked_ocsp = asked_crl = 0;
    reply(fd, "application/json", text, (size_t)length);
}

static void handle(int fd, char *path, unsigned char *body, long length)
{
    unsigned char der[2000];
    char *dot = strrchr(path, '.');
    if (!strncmp(path, "/set/", 5)) handle_set(fd, path + 5);
    else if (!strcmp(path, "/count")) handle_count(fd);
    else if (!strncmp(path, "/ocsp", 5)) {
        asked_ocsp++;
        if (is("ocsp", "none")) return;
        if (!length && path[5] == '/') length = decode(der, path + 6), body = der;
        reply_proof(fd, "application/ocsp-response", make_ocsp(body, length));
    } else if (dot && !strcmp(dot, ".crl")) {
        asked_crl++;
        *dot = '\0';
        if (!is("crl", "none")) reply_proof(fd, "application/pkix-crl", make_crl(path + 1));
    } else reply_proof(fd, "", (proof_der_t){NULL, 0});
}

static void serve(int fd)
{
    static char request[BODY_MOST];
    char path[2000] = "";
    size_t length = 0;
    char *end = NULL;
    for (ssize_t got; !end && (got = read(fd, request + length, sizeof request - 1 - length)) > 0;) {
        length += (size_t)got;
        request[length] = '\0';
        end = strstr(request, "\r\n\r\n");
    }
    if (!end || sscanf(request, "%*s %1999s", path) != 1) return;
    const char *header = strcasestr(request, "\r\nContent-Length:");
    const size_t wanted = header && header < end ? strtoul(header + 17, NULL, 10) : 0;
    const size_t from = (size_t)(end + 4 - request);
    for (ssize_t got; length < from + wanted && (got = read(fd, request + length, sizeof request - length)) > 0;)
        length += (size_t)got;
    handle(fd, path, (unsigned char *)request + from, (long)wanted);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (argc == 3) address.sin_port = htons((unsigned short)atoi(argv[2]));
    (void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (argc < 2 || argc > 3 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 100)
        || getsockname(listener, (struct sockaddr *)&address, &size))
        return 1;
    folder = argv[1];
    signal(SIGPIPE, SIG_IGN);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        serve(fd);
        shutdown(fd, SHUT_WR);
        close(fd);
    }
    return 0;
}
