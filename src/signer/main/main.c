/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: sigreq-signd, which holds the keys that seal documents. httpd's parent starts it with each configuration, and
 * again when it dies (httpd/signd.c). It reads the keys, gives up all rights, and serves the children of this
 * configuration until the last of them has ended. So a graceful restart changes nothing for old children.
 *
 *    started -> reads the setup -> reads the keys -> gives up its rights -> answers the setup -> serves
 *
 * Keys in tokens (pkcs11.c) are opened after it has given up its rights, because the module of a token is code of
 * others. For `httpd -t` the process ends after the answer. sigreqctl starts it to make a request for a certificate of
 * such a key, with the rights of the caller. */
#include "signer/main/seals.h"
#include "signer/main/pkcs11.h"

#include <apr_general.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SETUP ((apr_size_t)64 << 10)
#define LEAST_THREADS 2
#define MOST_THREADS 8

static bool is_socket(int descriptor)
{
    struct stat info;
    return fstat(descriptor, &info) == 0 && S_ISSOCK(info.st_mode);
}

static bool is_file(int descriptor)
{
    struct stat info;
    return fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
}

static const char *read_setup(apr_size_t *length, apr_pool_t *pool)
{
    char *text = apr_palloc(pool, MAX_SETUP);
    *length = 0;
    for (;;) {
        const ssize_t got = read(SR_SIGND_SETUP, text + *length, MAX_SETUP - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got == 0 ? text : NULL;
        *length += (apr_size_t)got;
    }
}

static void main_say(const char *text)
{
    for (apr_size_t left = strlen(text); left;) {
        const ssize_t sent = send(SR_SIGND_SETUP, text, left, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) break; /* nobody waits for it */
        text += sent;
        left -= (apr_size_t)sent;
    }
    close(SR_SIGND_SETUP);
}

/* The parent logs a fault of the first start. Nobody reads the answer of a later one. */
static int main_fail(const json_t *setup, int seal, const char *message, apr_pool_t *pool)
{
    json_t *answer = sr_json_own(json_object(), pool);
    json_object_set_new(answer, SR_SIGND_FAULT, json_string(message));
    json_object_set_new(answer, "seal", json_integer(seal));
    if (json_is_true(json_object_get(setup, "again"))) fprintf(stderr, "sigreq-signd: %s\n", message);
    main_say(sr_json_text(answer, pool));
    return 1;
}

/* A token takes its time, and not that of the processor. */
static int threads(void)
{
    if (sr_signd_token_is_used()) return MOST_THREADS;
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < LEAST_THREADS) return LEAST_THREADS;
    return count > MOST_THREADS ? MOST_THREADS : (int)count;
}

/* Opens the keys in tokens, or only checks them. */
static sr_error_t *open_tokens(int *seal, sr_signd_keys_t *keys, const json_t *setup, bool check, apr_pool_t *pool)
{
    sr_signd_token_fault_t faults[SR_SIGND_SEALS] = {{0}};
    *seal = -1;
    if (!sr_signd_sandbox(true))
        return sr_error(pool, SR_EINTERNAL, "the signer process has no sandbox on this system");
    if (check) return sr_signd_token_check(seal, pool);
    SR_TRY(sr_signd_token_start(faults, json_is_true(json_object_get(setup, "again")), pool));
    for (int i = 0; i < SR_SIGND_SEALS; i++) {
        if (!faults[i].text) continue;
        if (!sr_signd_tolerates(setup, i)) return *seal = i, sr_error(pool, SR_EINTERNAL, "%s", faults[i].text);
        sr_signd_keys_fault(keys, i, faults[i].text, !faults[i].heals);
    }
    return NULL;
}

/* For sigreqctl: makes a request for a certificate, and ends. */
static int main_make_request(const json_t *setup, apr_pool_t *pool)
{
    const json_t *wanted = json_object_get(setup, SR_SIGND_REQUEST);
    const char *uri = sr_json_string(wanted, "key"), *name = sr_json_string(wanted, "name"), *request;
    json_t *answer = sr_json_own(json_object(), pool);
    if (!uri || !name) return 1;
    sr_signd_token_setup(setup, pool);
    if (!sr_signd_sandbox(true)) return main_fail(setup, -1, "the signer process has no sandbox on this system", pool);
    sr_error_t *error = sr_signd_token_request(&request, uri, name, pool);
    if (error) return main_fail(setup, -1, error->message, pool);
    json_object_set_new(answer, SR_SIGND_REQUEST, json_string(request));
    main_say(sr_json_text(answer, pool));
    return 0;
}

static int main_start(const json_t *setup, apr_pool_t *pool)
{
    sr_signd_keys_t *keys;
    const bool check = json_is_true(json_object_get(setup, "check"));
    int seal = -1;
    sr_signd_token_setup(setup, pool);
    sr_error_t *error = sr_signd_keys_load(&keys, &seal, setup, pool);
    if (error) return main_fail(setup, seal, error->message, pool);
    const uid_t user = (uid_t)json_integer_value(json_object_get(setup, "user"));
    const gid_t group = (gid_t)json_integer_value(json_object_get(setup, "group"));
    if (!sr_signd_become(user, group))
        return main_fail(setup, -1, "the signer process cannot become httpd's user", pool);
    const bool token = sr_signd_token_is_used();
    if (token && (error = open_tokens(&seal, keys, setup, check, pool)))
        return main_fail(setup, seal, error->message, pool);
    const char *answer = sr_signd_keys_answer(keys, pool);
    if (check) return main_say(answer), 0;
    if (!sr_signd_threads_start(keys, threads()))
        return main_fail(setup, -1, "the signer process has no threads", pool);
    if (!token && !sr_signd_sandbox(false))
        return main_fail(setup, -1, "the signer process has no sandbox on this system", pool);
    main_say(answer);
    sr_signd_serve(pool);
    return 0;
}

int main(void)
{
    apr_pool_t *pool;
    apr_size_t length;
    json_t *setup;
    if (!is_socket(SR_SIGND_DOOR) || !is_socket(SR_SIGND_SETUP) || !is_file(SR_SIGND_TRIES)) {
        fprintf(stderr, "sigreq-signd is started by mod_sigreq (SigreqSealProgram), not by hand.\n");
        return 2;
    }
    if (apr_initialize() || apr_pool_create(&pool, NULL)) return 1;
    sr_json_watch_memory();
    sr_signd_limits();
    const char *text = read_setup(&length, pool);
    if (!text || sr_json_parse(&setup, text, length, pool)) return 1;
    const json_int_t wait = json_integer_value(json_object_get(setup, "wait"));
    if (wait) sleep((unsigned)wait);
    const int status =
        json_object_get(setup, SR_SIGND_REQUEST) ? main_make_request(setup, pool) : main_start(setup, pool);
    apr_pool_destroy(pool);
    return status;
}
