/* SPDX-License-Identifier: Apache-2.0 */
/* jobs_address.c: tests of src/jobs/address.c: which addresses may be called. First examples of every special range,
 * in all notations. Then real calls, which must not reach a listener on the loopback by any of its names, also if
 * the resolver returns another address the next time. */
#include "jobs/jobs.h"
#include "tap.h"

#include <apr_general.h>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static apr_pool_t *pool;

static const char *judge(const char *text, const apr_array_header_t *allowed)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) return sr_address_forbidden((struct sockaddr *)&v4, allowed);
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) return sr_address_forbidden((struct sockaddr *)&v6, allowed);
    return "no address";
}

/* Addresses that are forbidden, and neighbours that are allowed. */
static void vectors(void)
{
    static const struct {
        const char *kind;
        const char *addresses[16];
    } rows[] = {
        {NULL,
         {"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
          "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
          "192.169.0.0", "223.255.255.255"}},
        {NULL, {"198.17.255.255", "198.20.0.0", "192.0.1.0", "192.0.3.0", "198.51.99.255", "203.0.114.0"}},
        {NULL, {"2001:200::1", "2606:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "2003::1", "3ffe::1"}},
        {NULL, {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:0808:0808::1", "::ffff:0:8.8.8.8"}},
        {"unspecified", {"0.0.0.0", "0.1.2.3", "0.255.255.255", "::", "::ffff:0.0.0.0", "64:ff9b::0.0.0.1"}},
        {"loopback",
         {"127.0.0.1", "127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1",
          "2002:7f00:1::", "2002:7f01:203::5", "::ffff:0:127.0.0.1", "2a00::5efe:127.0.0.1", "2a00::200:5efe:7f00:1"}},
        {"private",
         {"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255", "fc00::",
          "fdff:ffff::1", "fec0::1", "::ffff:10.0.0.1", "::ffff:192.168.1.1", "64:ff9b::10.0.0.1", "2002:0a00:0001::"}},
        {"shared (carrier-grade NAT)", {"100.64.0.0", "100.127.255.255", "::ffff:100.64.0.1"}},
        {"link-local", {"169.254.0.0", "169.254.169.254", "fe80::1", "febf::1", "::ffff:169.254.169.254"}},
        {"multicast", {"224.0.0.1", "239.255.255.255", "ff02::1", "::ffff:224.0.0.1"}},
        {"reserved",
         {"240.0.0.1", "255.255.255.255", "192.0.0.1", "192.88.99.1", "::2", "::127.0.0.1", "::8.8.8.8",
          "64:ff9b:1::127.0.0.1", "100::1", "2001::1", "2001:2::1", "4000::1", "5f00::1", "1::1"}},
        {"for documentation", {"192.0.2.1", "198.51.100.1", "203.0.113.255", "2001:db8::1", "3fff::1"}},
        {"for benchmarks", {"198.18.0.0", "198.19.255.255"}},
    };
    const struct sockaddr local = {.sa_family = AF_UNIX};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t j = 0; j < 16 && rows[i].addresses[j]; j++)
            is_str(judge(rows[i].addresses[j], NULL), rows[i].kind, "%s", rows[i].addresses[j]);
    is_str(sr_address_forbidden(&local, NULL), "not of the internet", "a local socket");
}

static apr_array_header_t *allow(const char *const *texts)
{
    apr_array_header_t *allowed = apr_array_make(pool, 2, sizeof(apr_ipsubnet_t *));
    for (; *texts; texts++) {
        char *address = apr_pstrdup(pool, *texts), *bits = strchr(address, '/');
        if (bits) *bits++ = '\0';
        if (apr_ipsubnet_create(apr_array_push(allowed), address, bits, pool)) ok(false, "a range: %s", *texts);
    }
    return allowed;
}

static void exceptions(void)
{
    const apr_array_header_t *few = allow((const char *const[]){"127.0.0.0/8", "10.1.0.0/16", "fd00:1::/32", NULL});
    static const char *const in[] = {"127.0.0.1", "127.9.9.9", "::ffff:127.0.0.1", "10.1.255.255", "fd00:1::5"};
    static const char *const out[] = {"128.0.0.1", "10.2.0.0",           "::1",
                                      "fd00:2::1", "64:ff9b::127.0.0.1", "2002:7f00:1::"};
    for (size_t i = 0; i < 5; i++) ok(!judge(in[i], few), "%s is allowed", in[i]);
    for (size_t i = 1; i < 6; i++) ok(judge(out[i], few) != NULL, "%s is not allowed", out[i]);
    ok(!judge("8.8.8.8", few), "public addresses are still allowed");
}

/* --- calls */

/* The resolver. It replaces that of libc, also for libcurl. */
#define EXPORTED __attribute__((visibility("default")))
EXPORTED int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result);
EXPORTED void freeaddrinfo(struct addrinfo *info);

static volatile int asked, rebound;

static struct addrinfo *answer(const char *text, const char *service, struct addrinfo *next)
{
    struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
    struct sockaddr_in *address = (struct sockaddr_in *)(info + 1);
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)atoi(service));
    inet_pton(AF_INET, text, &address->sin_addr);
    info->ai_family = AF_INET;
    info->ai_socktype = SOCK_STREAM;
    info->ai_addrlen = sizeof *address;
    info->ai_addr = (struct sockaddr *)address;
    info->ai_next = next;
    return info;
}

/* rebind.*: another address each time. mixed.*: several addresses. Other names: a forbidden address. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    static const char *const answers[] = {"10.0.0.1", "127.0.0.1", "169.254.169.254", "100.64.0.1"};
    if (!strncmp(node, "slow", 4)) pause(); /* never returns; no thread may wait for it */
    if (!strncmp(node, "none", 4)) return EAI_NONAME;
    if (!strncmp(node, "rebind", 6)) *result = answer(rebound++ % 2 ? "127.0.0.2" : "127.0.0.1", service, NULL);
    else if (!strncmp(node, "mixed", 5))
        *result = answer("127.0.0.2", service, answer("127.0.0.1", service, answer("127.0.0.3", service, NULL)));
    else *result = answer(answers[asked++ % 4], service, NULL);
    return 0;
}

void freeaddrinfo(struct addrinfo *info)
{
    for (struct addrinfo *next; info; info = next) {
        next = info->ai_next;
        free(info);
    }
}

/* The addresses of the interfaces of this host, as two words. "" means that there are none. */
static const char *interfaces[2] = {"", ""};

int getifaddrs(struct ifaddrs **all)
{
    static struct ifaddrs found[3];
    static struct sockaddr_in v4;
    static struct sockaddr_in6 v6;
    if (!interfaces[0]) return -1;
    v4 = (struct sockaddr_in){.sin_family = AF_INET};
    v6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
    found[0] = (struct ifaddrs){.ifa_next = &found[1]}; /* an interface without an address */
    found[1] = (struct ifaddrs){.ifa_next = &found[2], .ifa_addr = (struct sockaddr *)&v4};
    found[2] = (struct ifaddrs){.ifa_addr = (struct sockaddr *)&v6};
    inet_pton(AF_INET, interfaces[0], &v4.sin_addr);
    inet_pton(AF_INET6, interfaces[1], &v6.sin6_addr);
    *all = found;
    return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
    (void)all;
}

static void own_addresses(void)
{
    static const char *const ours[] = {"8.8.4.4", "::ffff:8.8.4.4", "64:ff9b::8.8.4.4", "2002:0808:0404::1",
                                       "2001:4860:4860::8844"};
    const char *const one[] = {"8.8.4.4", NULL};
    for (int i = 0; i < 5; i++) is_str(judge(ours[i], NULL), NULL, "%s is public", ours[i]);
    interfaces[0] = "8.8.4.4";
    interfaces[1] = "2001:4860:4860::8844";
    sr_address_refresh();
    for (int i = 0; i < 5; i++) is_str(judge(ours[i], NULL), "this host's own", "%s is this host's own", ours[i]);
    is_str(judge("8.8.4.5", NULL), NULL, "a neighbour of the own address is allowed");
    is_str(judge("8.8.4.4", allow(one)), NULL, "the own address can be allowed");
    interfaces[0] = NULL;
    sr_address_refresh();
    is_str(judge("8.8.4.4", NULL), "this host's own",
           "the own address stays forbidden if the interfaces cannot be read");
    interfaces[0] = interfaces[1] = "";
    sr_address_refresh();
    is_str(judge("8.8.4.4", NULL), NULL, "a former own address is allowed when the host has another one");
}

#define NOWHERE "the host of the URL has no address that may be called"

static int listener, port;

static void listen_somewhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 50)
        || getsockname(listener, (struct sockaddr *)&address, &length)) {
        printf("Bail out! no listener\n");
        exit(2);
    }
    port = ntohs(address.sin_port);
}

static int strays; /* the number of connections to other addresses than 127.0.0.1 */

/* Returns the number of connections since the last call. Each gets the response 200. */
static int connected(void)
{
    static const char good[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    int count = 0;
    for (int one; (one = accept(listener, NULL, NULL)) >= 0; count++) {
        struct sockaddr_in own;
        socklen_t size = sizeof own;
        if (getsockname(one, (struct sockaddr *)&own, &size) || own.sin_addr.s_addr != htonl(INADDR_LOOPBACK)) strays++;
        if (write(one, good, sizeof good - 1) < 0) continue;
        shutdown(one, SHUT_WR);
    }
    return count;
}

typedef struct made_t {
    sr_call_result_t result;
    sr_call_t *call;
    int number; /* the position in the order in which calls ended */
    bool over;
} made_t;

/* Makes calls at the same time, until all are over. Returns the number of connections. */
static int make_calls(made_t *made, const char *const *hosts, int count, const apr_array_header_t *allowed)
{
    const sr_jobs_options_t options = {.agent = "test", .allowed = allowed};
    CURLM *multi = curl_multi_init();
    int running, left, connections = 0, ended = 0;
    CURLMsg *message;
    for (int i = 0; i < count; i++) {
        made[i] = (made_t){.over = false};
        if (sr_call_create(&made[i].call, &options, pool)) exit(2);
        const char *url = apr_psprintf(pool, "http://%s:%d/x", hosts[i], port);
        curl_multi_add_handle(multi, sr_call_begin(made[i].call, url, "{}"));
    }
    do {
        curl_multi_perform(multi, &running);
        connections += connected();
        while ((message = curl_multi_info_read(multi, &left)) != NULL) {
            sr_call_t *call;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
            for (int i = 0; i < count; i++) {
                if (made[i].call != call) continue;
                sr_call_end(call, &made[i].result, message->data.result);
                made[i].number = ++ended;
            }
            curl_multi_remove_handle(multi, message->easy_handle);
        }
        if (running) curl_multi_poll(multi, NULL, 0, 20, NULL);
    } while (running);
    curl_multi_cleanup(multi);
    return connections;
}

static void names(void)
{
    static const char *const hosts[] = {
        "127.0.0.1",       "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1",           "017700000001",
        "127.1",           "127.0.1",    "localhost",  "[::1]",      "[::ffff:127.0.0.1]",   "[::127.0.0.1]",
        "[::ffff:7f00:1]", "0",          "0.0.0.0",    "127.0.0.1.", "%31%32%37.0.0.1",      "LOCALHOST",
        "a.test",          "b.test",     "c.test",     "d.test",     "[64:ff9b::127.0.0.1]", "[fe80::1%251]"};
    static const char *const none[] = {"none.test"};
    enum { COUNT = sizeof hosts / sizeof *hosts };
    made_t made[COUNT];

    is_int(make_calls(made, hosts, COUNT, NULL), 0, "no call connects to the loopback");
    for (int i = 0; i < COUNT; i++) {
        ok(!made[i].result.success && !made[i].result.status && made[i].result.error, "%s: %s", hosts[i],
           made[i].result.error);
        if (strchr(hosts[i], '%')) continue;
        is_str(made[i].result.error, NOWHERE, "the error is the same for all addresses");
        if (hosts[i][strlen(hosts[i]) - 1] != '.')
            ok(!strncmp(made[i].result.detail, "the address is ", 15), "the log has the reason: %s",
               made[i].result.detail);
    }
    is_int(make_calls(made, none, 1, NULL), 0, "a name that does not exist is not called");
    is_str(made[0].result.error, NOWHERE, "the error is the same for a name that does not exist");
    ok(strstr(made[0].result.detail, "resolve") != NULL, "the log says why the name does not exist: %s",
       made[0].result.detail);
    is_int(make_calls(made, hosts, 8, allow((const char *const[]){"127.0.0.1", NULL})), 8,
           "calls connect if the loopback is allowed");
    for (int i = 0; i < 8; i++) ok(made[i].result.success, "%s: allowed", hosts[i]);
    is_str(made[0].result.error, NULL, "a call that succeeded has no error");
}

/* A name whose address changes between calls, and one that has several addresses. Here 127.0.0.1 counts as public,
 * and 127.0.0.2 as private. */
static void rebinding(void)
{
    static const char *const rebind[] = {"rebind.test"}, *const mixed[] = {"mixed.test"};
    const apr_array_header_t *public = allow((const char *const[]){"127.0.0.1", NULL});
    made_t made[1];
    strays = 0;
    for (int i = 0; i < 4; i += 2) {
        is_int(make_calls(made, rebind, 1, public), 1, "a name with a public address is called");
        ok(made[0].result.success, "this call succeeds");
        is_int(make_calls(made, rebind, 1, public), 0, "when the name has a private address, no call connects");
        is_str(made[0].result.detail, "the address is loopback", "the detail for the log has the reason");
    }
    is_int(rebound, 4, "the name was looked up each time");
    is_int(make_calls(made, mixed, 1, public), 1, "a name with a public address among private ones is called");
    ok(made[0].result.success, "this call succeeds");
    is_int(make_calls(made, mixed, 1, allow((const char *const[]){"127.0.0.9", NULL})), 0,
           "a name without a public address is not called");
    is_str(made[0].result.detail, "the address is loopback", "the detail for the log has the reason");
    is_int(strays, 0, "no call connected to a private address");
}

/* A look-up that never ends does not delay other calls, and its call ends with an error. */
static void slow_names(void)
{
    static const char *const hosts[] = {"slow.test", "127.0.0.1"};
    made_t made[2];
    make_calls(made, hosts, 2, allow((const char *const[]){"127.0.0.1", NULL}));
    ok(made[1].result.success && made[1].number == 1, "the other call is not delayed");
    is_str(made[0].result.error, "no connection within 5 s", "the call whose look-up never ends has this error");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    /* with a proxy only the proxy's address would be checked. This proxy does not exist, and calls must not use it */
    setenv("http_proxy", "http://127.0.0.9:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.9:1", 1);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    vectors();
    exceptions();
    own_addresses();
    listen_somewhere();
    names();
    rebinding();
    slow_names();
    const int status = done();
    fflush(stdout);
    _exit(status); /* exit() would wait for the resolver */
}
