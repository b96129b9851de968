/* SPDX-License-Identifier: Apache-2.0 */
/* signd.c: the process sigreq-signd of a configuration, which has the keys of the seals. The parent starts it, and
 * starts it again when it dies. An attempt that fails is repeated after a pause that grows. Neither the parent nor a
 * child has a key in its memory.
 *
 * A graceful restart starts a new process for new children. The old one goes on for old children, and ends when the
 * last of them has closed its end of the door. The parent notes its process id for that time (`retired`). */
#include <httpd.h>
#include <ap_mpm.h>
#include <apr_thread_proc.h>
#include <errno.h>
#include <fcntl.h>
#include <http_log.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unixd.h>

#include "metrics/metrics.h"
#include "mod_sigreq.h"
#include "signer/protocol.h"
#include "httpd/adapters.h"

APLOG_USE_MODULE(sigreq);

#define PATIENCE apr_time_from_sec(30)   /* for the first start */
#define QUICK apr_time_from_sec(1)       /* a process that dies so early is started again a second later */
#define FIRST_PAUSE apr_time_from_sec(1) /* before an attempt to start a process is repeated; doubled each time */
#define LONGEST_PAUSE apr_time_from_sec(60)
#define MAX_ANSWER ((apr_size_t)64 << 20) /* with the chains of 10,000 own seals */
#define MAX_RETIRED 64

/* The process of the present configuration. */
typedef struct signd_t {
    server_rec *server;
    const char *program;
    json_t *setup;
    int outside, inside; /* the ends of the door: of the children, of the process */
    int tries;           /* a file in memory, in which the process records that it has tried a PIN */
    apr_proc_t process;
    apr_time_t started;
    char death[128];               /* the end of the last process, for the log */
    apr_interval_time_t pause;     /* after `started`, when the attempt failed; 0: there is a process */
    bool unusable[SR_SIGND_SEALS]; /* by environment: the seal could not be used before the process died */
} signd_t;
static signd_t *present;

/* Processes of older configurations. They are in the process pool, because the module is loaded again. */
typedef struct retired_t {
    apr_proc_t processes[MAX_RETIRED];
    int count;
} retired_t;

/* ------------------------------------------------------------------------------------------------- starting */

/* Starts the process, and sends the setup. *answer is where it answers. Returns an errno, or 0. */
static int spawn(int *answer, signd_t *signd, apr_pool_t *pool)
{
    int pair[2];
    const char *text = sr_json_text(signd->setup, pool);
    signd->process.pid = 0;
    signd->started = sr_time_steady();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return errno;
    pair[1] = sr_descriptor_raise(pair[1]);
    const int descriptors[] = {signd->inside, pair[1], signd->tries};
    const sr_spawn_t what = {
        .program = signd->program,
        .title = apr_psprintf(pool, "sigreq-signd: holds the keys of the seals for httpd %d", (int)getpid()),
        .descriptors = descriptors,
        .count = 3,
        .environment = environ};
    pid_t pid;
    int failed = sr_process_spawn(&pid, &what);
    if (!failed) signd->process.pid = pid;
    close(pair[1]);
    /* The setup fits into the buffer of the socket. A program that has already ended does not answer. */
    if (!failed && send(pair[0], text, strlen(text), MSG_NOSIGNAL) != (ssize_t)strlen(text) && errno != EPIPE)
        failed = EIO;
    shutdown(pair[0], SHUT_WR);
    *answer = pair[0];
    return failed;
}

/* Ends a process that does not serve: it has ended, or it does not answer. */
static void end_process(signd_t *signd)
{
    if (signd->process.pid <= 0) return;
    kill(signd->process.pid, SIGKILL);
    while (waitpid(signd->process.pid, NULL, 0) < 0 && errno == EINTR) continue;
    signd->process.pid = 0;
}

/* Reads until the process closes the connection or the time is over. Returns NULL if there is no complete answer. */
static const json_t *signd_read_answer(int descriptor, apr_pool_t *pool)
{
    const char *text;
    apr_size_t length;
    json_t *answer;
    if (!sr_descriptor_receive(&text, &length, descriptor, MAX_ANSWER, sr_time_steady() + PATIENCE, pool)) return NULL;
    return sr_json_parse(&answer, text, length, pool) ? NULL : answer;
}

/* -------------------------------------------------------------------------------------------------- watching */

static void signd_watch(apr_pool_t *pconf);

static bool signd_is_stopping(void)
{
    int state;
    return ap_mpm_query(AP_MPMQ_MPM_STATE, &state) == APR_SUCCESS && state == AP_MPMQ_STOPPING;
}

/* After an attempt to start the process. Without one no seal can be used. */
static void set_pause(signd_t *signd, bool failed)
{
    const bool changes = failed == !signd->pause;
    const apr_interval_time_t longer = signd->pause ? 2 * signd->pause : FIRST_PAUSE;
    signd->pause = !failed ? 0 : longer < LONGEST_PAUSE ? longer : LONGEST_PAUSE;
    for (int i = SR_TEST; changes && i <= SR_PRODUCTION; i++) {
        if (failed) signd->unusable[i] = sr_metrics_value(SR_METRIC_SEAL_UNUSABLE, i, 0) != 0;
        sr_metrics_set(SR_METRIC_SEAL_UNUSABLE, i, 0, failed || signd->unusable[i]);
    }
}

static void start_again(signd_t *signd)
{
    const bool quick = sr_time_steady() - signd->started < QUICK;
    apr_pool_t *pool;
    int answer = -1;
    apr_pool_create(&pool, signd->server->process->pconf);
    json_object_set_new(signd->setup, "again", json_true()); /* SR_SIGND_FAULTS: sr_run_signd_start */
    json_object_set_new(signd->setup, "wait", json_integer(quick));
    const int failed = spawn(&answer, signd, pool);
    if (answer >= 0) close(answer);
    if (failed) end_process(signd);
    set_pause(signd, failed);
    if (failed)
        ap_log_error(APLOG_MARK, APLOG_CRIT, failed, signd->server,
                     "SR0405: %s, and %s cannot be restarted: nothing can be sealed until a later attempt succeeds",
                     signd->death, signd->program);
    else
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, signd->server, "SR0404: %s: process %d replaces it", signd->death,
                     (int)signd->process.pid);
    apr_pool_destroy(pool);
    if (failed) return;
    sr_metrics_count(SR_METRIC_SIGNER_RESTARTS, 0, 0, 1);
    signd_watch(signd->server->process->pconf);
}

static void note_death(signd_t *signd, int status)
{
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal)
        apr_snprintf(signd->death, sizeof signd->death, "the signer process %d died (signal %d, %s)",
                     (int)signd->process.pid, signal, sigdescr_np(signal));
    else
        apr_snprintf(signd->death, sizeof signd->death, "the signer process %d died (exit status %d)",
                     (int)signd->process.pid, WEXITSTATUS(status));
}

/* Called by the parent (apr_proc_other_child_register), also when httpd stops. */
static void maintain(int reason, void *data, apr_wait_t status)
{
    signd_t *signd = data;
    if (reason == APR_OC_REASON_UNREGISTER) return;
    apr_proc_other_child_unregister(data);
    if ((reason != APR_OC_REASON_DEATH && reason != APR_OC_REASON_LOST) || signd != present || signd_is_stopping())
        return;
    note_death(signd, status);
    start_again(signd);
}

void sr_run_signd_monitor(void)
{
    if (!present || !present->pause || signd_is_stopping()) return;
    if (sr_time_steady() - present->started >= present->pause) start_again(present);
}

static void signd_watch(apr_pool_t *pconf)
{
    apr_proc_other_child_register(&present->process, maintain, present, NULL, pconf);
}

/* Without this, httpd would log a warning about a child that it does not know. */
static void maintain_retired(int reason, void *data, apr_wait_t status)
{
    apr_proc_t *process = data;
    if (reason == APR_OC_REASON_UNREGISTER) return;
    if (reason == APR_OC_REASON_DEATH || reason == APR_OC_REASON_LOST) process->pid = 0;
    apr_proc_other_child_unregister(data);
}

static retired_t *retired_of(server_rec *main_server)
{
    void *found;
    apr_pool_t *pool = main_server->process->pool;
    apr_pool_userdata_get(&found, "sigreq-signd-retired", pool);
    if (!found) apr_pool_userdata_set(found = apr_pcalloc(pool, sizeof(retired_t)), "sigreq-signd-retired", NULL, pool);
    return found;
}

static void watch_retired(apr_pool_t *pconf, server_rec *main_server)
{
    retired_t *retired = retired_of(main_server);
    int count = 0;
    for (int i = 0; i < retired->count; i++)
        if (retired->processes[i].pid && !kill(retired->processes[i].pid, 0))
            retired->processes[count++] = retired->processes[i];
    retired->count = count;
    for (int i = 0; i < count; i++)
        apr_proc_other_child_register(&retired->processes[i], maintain_retired, &retired->processes[i], NULL, pconf);
}

/* The configuration ends, in the parent: from here on only old children hold the outer end of the door. */
static apr_status_t retire(void *data)
{
    signd_t *signd = data;
    retired_t *retired = retired_of(signd->server);
    if (signd->process.pid && retired->count < MAX_RETIRED) retired->processes[retired->count++] = signd->process;
    close(signd->outside);
    close(signd->inside);
    close(signd->tries);
    present = NULL;
    return APR_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------- interface */

static const char *open_door(signd_t *signd)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return strerror(errno);
    signd->outside = sr_descriptor_raise(pair[0]);
    signd->inside = sr_descriptor_raise(pair[1]);
    signd->tries = sr_descriptor_raise(memfd_create("sigreq-signd", MFD_CLOEXEC));
    return signd->outside >= 0 && signd->inside >= 0 && signd->tries >= 0 ? NULL : strerror(errno);
}

/* Ends a process that does not serve. `descriptor` is where it answers. */
static void signd_finish(signd_t *signd, int descriptor)
{
    const int descriptors[] = {descriptor, signd->outside, signd->inside, signd->tries};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    end_process(signd);
}

static signd_t *signd_make(apr_pool_t *pool, server_rec *main_server, json_t *setup)
{
    signd_t *signd = apr_pcalloc(pool, sizeof *signd);
    json_object_set_new(setup, "user", json_integer(ap_unixd_config.user_id));
    json_object_set_new(setup, "group", json_integer(ap_unixd_config.group_id));
    *signd = (signd_t){.server = main_server, .setup = setup, .outside = -1, .inside = -1, .tries = -1};
    signd->program = sr_conf_of_process(main_server)->seal_program;
    return signd;
}

void sr_run_signd_token(json_t *setup, server_rec *main_server)
{
    const sr_process_settings_t *conf = sr_conf_of_process(main_server);
    if (!sr_text_is_token(conf->seal_key) && !sr_text_is_token(conf->test_seal_key)) return;
    if (*conf->pkcs11_module) json_object_set_new(setup, "module", json_string(conf->pkcs11_module));
    if (*conf->seal_pin) json_object_set_new(setup, "pin", json_string(conf->seal_pin));
}

const char *sr_run_signd_check(int seal, apr_pool_t *ptemp, server_rec *main_server, json_t *setup)
{
    signd_t *signd = signd_make(ptemp, main_server, setup);
    int descriptor = -1;
    json_t *list = json_object_get(setup, "seals");
    for (size_t i = 0; i < json_array_size(list); i++) /* only this one */
        if ((int)i != seal) json_array_set_new(list, i, json_object());
    json_object_set_new(setup, "check", json_true());
    const char *fault = open_door(signd);
    const int failed = fault ? 0 : spawn(&descriptor, signd, ptemp);
    const json_t *answer = fault || failed ? NULL : signd_read_answer(descriptor, ptemp);
    signd_finish(signd, descriptor);
    if (fault) return fault;
    if (failed) return apr_psprintf(ptemp, "%s cannot be started: %s", signd->program, strerror(failed));
    if (!answer)
        return apr_psprintf(ptemp, "%s does not answer, or has ended: its module may have crashed", signd->program);
    return sr_json_string(answer, SR_SIGND_FAULT);
}

/* The seals without a certificate. A process that is started again need not have them either. */
static json_t *unusable_of(const json_t *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < SR_SIGND_SEALS; i++) {
        const bool has = json_is_string(json_array_get(json_object_get(answer, SR_SIGND_PEM), i));
        json_array_append_new(list, has ? json_null() : json_string("unusable"));
    }
    return list;
}

const char *sr_run_signd_start(const json_t **answer, apr_pool_t *pconf, server_rec *main_server, json_t *setup)
{
    int descriptor = -1;
    watch_retired(pconf, main_server);
    signd_t *signd = signd_make(pconf, main_server, setup);
    const char *fault = open_door(signd);
    const int failed = fault ? 0 : spawn(&descriptor, signd, pconf);
    *answer = fault || failed ? NULL : signd_read_answer(descriptor, pconf);
    if (failed) fault = apr_psprintf(pconf, "%s cannot be started: %s", signd->program, strerror(failed));
    else if (!fault && !*answer) fault = apr_psprintf(pconf, "%s does not answer", signd->program);
    else if (!fault) fault = sr_json_string(*answer, SR_SIGND_FAULT);
    if (fault) {
        signd_finish(signd, descriptor);
        return fault;
    }
    close(descriptor);
    json_object_set_new(signd->setup, SR_SIGND_FAULTS, unusable_of(*answer));
    present = signd;
    apr_pool_cleanup_register(pconf, signd, retire, apr_pool_cleanup_null);
    signd_watch(pconf);
    return NULL;
}

int sr_run_signd_child_init(void)
{
    if (!present) return -1;
    close(present->inside);
    close(present->tries);
    return present->outside;
}
