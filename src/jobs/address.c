/* SPDX-License-Identifier: Apache-2.0 */
/* address.c: decides which addresses may be called. Everybody who registers a URL chooses its name and, by DNS, its
 * address. So the address of the socket is checked immediately before it connects. The tables are IANA's
 * special-purpose address registries (RFC 6890 and its updates). */
#include "jobs/jobs.h"

#include <pthread.h>
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

typedef struct range_t {
    unsigned char prefix[16];
    int bits;
    const char *kind;
} range_t;

static const range_t ranges_v4[] = {
    {{0}, 8, "unspecified"},
    {{10}, 8, "private"},
    {{100, 64}, 10, "shared (carrier-grade NAT)"},
    {{127}, 8, "loopback"},
    {{169, 254}, 16, "link-local"},
    {{172, 16}, 12, "private"},
    {{192, 0, 0}, 24, "reserved"},
    {{192, 0, 2}, 24, "for documentation"},
    {{192, 88, 99}, 24, "reserved"},
    {{192, 168}, 16, "private"},
    {{198, 18}, 15, "for benchmarks"},
    {{198, 51, 100}, 24, "for documentation"},
    {{203, 0, 113}, 24, "for documentation"},
    {{224}, 4, "multicast"},
    {{240}, 4, "reserved"},
};

/* These ranges are checked before "everything outside of 2000::/3", so that the log can name their kind. */
static const range_t ranges_v6[] = {
    {{0}, 128, "unspecified"},
    {{[15] = 1}, 128, "loopback"},
    {{0xfc}, 7, "private"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "private"},
    {{0xff}, 8, "multicast"},
    {{0x20, 0x01}, 23, "reserved"}, /* Teredo, benchmarks, ORCHID */
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "for documentation"},
    {{0x3f, 0xff}, 20, "for documentation"},
};
static const range_t public_v6 = {{0x20}, 3, NULL};

/* IPv6 addresses that contain, or lead to, an IPv4 address. */
static const struct {
    range_t range;
    int at; /* the byte at which the IPv4 address begins */
} embedded[] = {
    {{{[10] = 0xff, [11] = 0xff}, 96, NULL}, 12}, /* mapped */
    {{{[8] = 0xff, [9] = 0xff}, 96, NULL}, 12},   /* translated (RFC 2765) */
    {{{0x00, 0x64, 0xff, 0x9b}, 96, NULL}, 12},   /* NAT64 */
    {{{0x20, 0x02}, 16, NULL}, 2},                /* 6to4 */
};

static bool is_in(const unsigned char *address, const range_t *range)
{
    const int bytes = range->bits / 8, rest = range->bits % 8;
    if (memcmp(address, range->prefix, (size_t)bytes) != 0) return false;
    return !rest || (address[bytes] ^ range->prefix[bytes]) >> (8 - rest) == 0;
}

static const char *address_kind_of(const unsigned char *address, const range_t *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_in(address, &ranges[i])) return ranges[i].kind;
    return NULL;
}

/* --- this host's own addresses, the public ones too */

enum { OWN_MAX = 256 };
static struct {
    unsigned char bytes[16];
    int length;
} own[OWN_MAX];
static int own_count;
static pthread_mutex_t own_mutex = PTHREAD_MUTEX_INITIALIZER;

static void address_add_own(const void *bytes, int length)
{
    if (own_count == OWN_MAX) return;
    own[own_count].length = length;
    memcpy(own[own_count++].bytes, bytes, (size_t)length);
}

/* If the addresses cannot be read, those that were read before stay valid. */
void sr_address_refresh(void)
{
    struct ifaddrs *all, *one;
    if (getifaddrs(&all)) return;
    pthread_mutex_lock(&own_mutex);
    own_count = 0;
    for (one = all; one; one = one->ifa_next) {
        const struct sockaddr *address = one->ifa_addr;
        if (!address) continue;
        if (address->sa_family == AF_INET)
            address_add_own(&((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        if (address->sa_family == AF_INET6)
            address_add_own(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    }
    pthread_mutex_unlock(&own_mutex);
    freeifaddrs(all);
}

static const char *kind_of_own(const unsigned char *address, int length)
{
    bool found = false;
    pthread_mutex_lock(&own_mutex);
    for (int i = 0; i < own_count && !found; i++)
        found = own[i].length == length && !memcmp(own[i].bytes, address, (size_t)length);
    pthread_mutex_unlock(&own_mutex);
    return found ? "this host's own" : NULL;
}

static const char *kind_of_v4(const unsigned char *address)
{
    const char *kind = address_kind_of(address, ranges_v4, sizeof ranges_v4 / sizeof *ranges_v4);
    return kind ? kind : kind_of_own(address, 4);
}

static const char *kind_of_v6(const unsigned char *address)
{
    static const unsigned char isatap[] = {0x00, 0x00, 0x5e, 0xfe};
    const char *kind = address_kind_of(address, ranges_v6, sizeof ranges_v6 / sizeof *ranges_v6);
    if (kind) return kind;
    for (size_t i = 0; i < sizeof embedded / sizeof *embedded; i++)
        if (is_in(address, &embedded[i].range)) return kind_of_v4(address + embedded[i].at);
    if (!is_in(address, &public_v6)) return "reserved";
    if ((kind = kind_of_own(address, 16)) != NULL) return kind;
    /* ISATAP: the universal/local bit may be set or not */
    if (!((address[8] ^ isatap[0]) & ~2) && !memcmp(address + 9, isatap + 1, 3)) return kind_of_v4(address + 12);
    return NULL;
}

/* Exceptions apply to the address as it is called. A mapped IPv4 address is the same as the IPv4 address. */
static bool address_is_allowed(const struct sockaddr *address, const apr_array_header_t *allowed)
{
    apr_sockaddr_t wrapped = {.family = address->sa_family};
    if (address->sa_family == AF_INET) {
        memcpy(&wrapped.sa.sin, address, sizeof wrapped.sa.sin);
        wrapped.ipaddr_ptr = &wrapped.sa.sin.sin_addr;
    } else {
        memcpy(&wrapped.sa.sin6, address, sizeof wrapped.sa.sin6);
        wrapped.ipaddr_ptr = &wrapped.sa.sin6.sin6_addr;
    }
    for (int i = 0; allowed && i < allowed->nelts; i++)
        if (apr_ipsubnet_test(APR_ARRAY_IDX(allowed, i, apr_ipsubnet_t *), &wrapped)) return true;
    return false;
}

const char *sr_address_forbidden(const struct sockaddr *address, const apr_array_header_t *allowed)
{
    const char *kind;
    if (address->sa_family == AF_INET)
        kind = kind_of_v4((const unsigned char *)&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    else if (address->sa_family == AF_INET6)
        kind = kind_of_v6((const unsigned char *)&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    else return "not of the internet";
    return kind && !address_is_allowed(address, allowed) ? kind : NULL;
}
