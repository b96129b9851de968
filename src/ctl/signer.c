/* SPDX-License-Identifier: Apache-2.0 */
/* signer.c: has sigreq-signd make a request for a certificate of a key in a token. sigreqctl itself opens no PKCS#11
 * module. The PIN is read by that process from a file, so it is on no command line and in no environment. */
#include "ctl/ctl.h"
#include "signer/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ANSWER ((apr_size_t)64 << 10)
#define PATIENCE apr_time_from_sec(60) /* a token takes its time */

/* Returns NULL if the process has not answered with JSON. */
static json_t *signer_read_answer(int descriptor, apr_pool_t *pool)
{
    const char *text;
    apr_size_t length;
    json_t *answer;
    (void)sr_descriptor_receive(&text, &length, descriptor, MAX_ANSWER, sr_time_steady() + PATIENCE, pool);
    return sr_json_parse(&answer, text, length, pool) ? NULL : answer;
}

/* Starts the program with this setup, and waits until it has ended. Returns its answer, or NULL. */
static json_t *signer_ask(int *failed, const char *program, const char *setup, apr_pool_t *pool)
{
    int door[2], talk[2], status;
    pid_t pid;
    json_t *answer = NULL;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, door)
        || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk)) {
        *failed = errno;
        return NULL;
    }
    const int descriptors[] = {sr_descriptor_raise(door[1]), sr_descriptor_raise(talk[1]),
                               sr_descriptor_raise(memfd_create("tries", MFD_CLOEXEC))};
    const sr_spawn_t what = {.program = program,
                             .title = "sigreq-signd: makes a request for a certificate",
                             .descriptors = descriptors,
                             .count = 3,
                             .environment = environ};
    *failed = sr_process_spawn(&pid, &what);
    for (int i = 0; i < 3; i++) close(descriptors[i]);
    if (!*failed && send(talk[0], setup, strlen(setup), MSG_NOSIGNAL) == (ssize_t)strlen(setup)) {
        shutdown(talk[0], SHUT_WR);
        answer = signer_read_answer(talk[0], pool);
    }
    close(talk[0]);
    close(door[0]);
    if (!*failed && !answer) kill(pid, SIGKILL);
    while (!*failed && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return answer;
}

static sr_error_t *make_setup(ctl_t *ctl, const char **setup)
{
    static const ctl_option_id_t wanted[] = {OPTION_MODULE, OPTION_PIN, OPTION_SIGNER, OPTION_COUNT};
    json_t *all = sr_json_own(json_object(), ctl->pool);
    const char *pin = NULL;
    SR_TRY(ctl_read_config(ctl, wanted, 2, true));
    if (ctl->given[OPTION_PIN]) pin = ctl->values[OPTION_PIN];
    if (pin && strncmp(pin, "file:", 5) != 0)
        return sr_error(ctl->pool, SR_EBADREQUEST, "--pin names a file, file:PATH: others would see the PIN itself");
    if (!ctl->given[OPTION_MODULE])
        return sr_error(ctl->pool, SR_EBADREQUEST,
                        "no PKCS#11 module is named: give --module, or --config with SigreqPKCS11Module");
    json_object_set_new(all, "module", json_string(ctl->values[OPTION_MODULE]));
    if (pin) json_object_set_new(all, "pin", json_string(pin + 5));
    json_object_set_new(all, SR_SIGND_REQUEST,
                        json_pack("{s:s,s:s}", "key", ctl->values[OPTION_KEY], "name", ctl->values[OPTION_NAME]));
    *setup = sr_json_text(all, ctl->pool);
    return NULL;
}

sr_error_t *ctl_signer_request(ctl_t *ctl, const char **request)
{
    const char *setup = NULL, *fault;
    int failed;
    SR_TRY(make_setup(ctl, &setup));
    const char *program = ctl->given[OPTION_SIGNER] ? ctl->values[OPTION_SIGNER] : SR_DEFAULT_SIGND;
    json_t *answer = signer_ask(&failed, program, setup, ctl->pool);
    if (failed)
        return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s cannot be started: %s: give --signer", program,
                        strerror(failed));
    fault = answer ? sr_json_string(answer, SR_SIGND_FAULT) : NULL;
    *request = answer ? sr_json_string(answer, SR_SIGND_REQUEST) : NULL;
    if (*request) return NULL;
    if (fault) return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s", fault);
    return sr_error(ctl->pool, SR_EUNAVAILABLE, "%s does not answer: the module hangs, or has crashed", program);
}
