/* SPDX-License-Identifier: Apache-2.0 */
/* pdf_pool.c: the pool of helper processes against the real sigreq-pdfd: a worker for each document, forked from a
 * template, replaced when it dies, killed when it hangs, and nothing of any of them left behind. */
#include "helper/client/worker.h"
#include "pdf_help.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static apr_pool_t *root;
static pdf_t sample;

static const char *ask(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    sr_pdf_probe_t probe;
    return help_say(help_probe(&probe, workers, sample.data, sample.size, pool), &probe, pool);
}

#define ACCEPTED                                                                                                       \
    "accepted {\"version\":5,\"pages\":3,\"runs\":[[3,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}"

/* Template and spares are processes of this one as workers are. The template is the first. */
static pid_t template_of(const help_children_t *children)
{
    for (int i = 0; i < children->alive; i++)
        if (getpgid(children->pid[i]) == children->pid[i]) return children->pid[i];
    return 0;
}

/* Waits until the template has forked what it was asked to. */
static help_children_t settled(int wanted)
{
    help_children_t now = help_children();
    for (int i = 0; i < 500 && (now.alive != wanted || now.zombies); i++) {
        help_sleep(10);
        now = help_children();
    }
    return now;
}

/* The spare that is taken next. */
static pid_t next_spare(void)
{
    help_children_t now = settled(1 + SR_PDF_SPARES);
    pid_t template = template_of(&now);
    for (int i = 0; i < now.alive; i++)
        if (now.pid[i] != template) return now.pid[i]; /* in the order of their numbers, as forked */
    abort();
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) && errno == ESRCH;
}

static void test_questions(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    int before = help_descriptors();
    sr_pdf_pool_t *workers = help_pool(help_program(), 3, 2500, pool);
    is_int(help_children().alive, 0, "no process before the first question");
    ok(!sr_pdf_ping(workers, pool), "a ping is answered");
    is_int(settled(1 + SR_PDF_SPARES).alive, 1 + SR_PDF_SPARES, "there are a template and the workers forked ahead");
    is_str(ask(workers, pool), ACCEPTED, "a document of three pages is accepted");

    int fd = help_descriptor(sample.data, sample.size);
    sr_pdf_probe_t probe;
    lseek(fd, 7, SEEK_SET);
    ok(!sr_pdf_probe(&probe, workers, fd, (apr_off_t)sample.size, pool) && probe.verdict == SR_PDF_ACCEPTED,
       "a descriptor is read from its beginning");
    is_int(lseek(fd, 0, SEEK_CUR), 7, "and stays where it was");
    close(fd);
    is_int(probe.pages->count, 3, "the pages are parsed");
    is_int(help_notices, 0, "no notice in all this");
    is_int(settled(1 + SR_PDF_SPARES).alive, 1 + SR_PDF_SPARES, "no worker outlives its question");
    apr_pool_destroy(pool);
    help_children_t after = help_children();
    is_int(after.alive + after.zombies, 0, "the pool's end leaves no process");
    is_int(help_descriptors(), before, "and no descriptor");
}

/* Asks about a document and says by which process the request was answered. */
static pid_t answered_by(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    sr_pdf_worker_t worker;
    if (sr_pdf_pool_lend(&worker, workers, false, sr_time_steady() + 5000 * HELP_MS, pool)) abort();
    pid_t pid = worker.pid;
    sr_pdf_pool_return(workers, &worker, pool);
    return strcmp(ask(workers, pool), ACCEPTED) ? 0 : pid;
}

static void test_documents(void)
{
    apr_pool_t *pool, *first, *second;
    apr_pool_create(&pool, root);
    apr_pool_create(&first, pool);
    apr_pool_create(&second, pool);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    pid_t one = answered_by(workers, pool), two = answered_by(workers, pool);
    ok(one && two && one != two, "two questions have two processes");
    ok(is_gone(one) && is_gone(two), "which have ended");

    sr_pdf_pool_t *a = sr_pdf_pool_for_request(workers, NULL, 0, first);
    sr_pdf_pool_t *b = sr_pdf_pool_for_request(workers, NULL, 0, second);
    pid_t of_a = answered_by(a, pool), of_b = answered_by(b, pool);
    ok(of_a && of_b && of_a != of_b, "two documents have two processes");
    ok(answered_by(a, pool) == of_a && answered_by(b, pool) == of_b, "and each keeps its own for the next question");
    ok(sr_pdf_pool_used(a) > 0 && sr_pdf_pool_used(a) < 2000 * HELP_MS, "the processor time is known: %d µs",
       (int)sr_pdf_pool_used(a));

    struct rlimit memory, time;
    if (!skip_if_sanitized())
        ok(!prlimit(of_a, RLIMIT_AS, NULL, &memory) && memory.rlim_max >= (rlim_t)1536 << 20
               && memory.rlim_max < (rlim_t)1600 << 20,
           "a worker that has a document can never have more than 1.5 GiB and its document");
    ok(!prlimit(of_a, RLIMIT_CPU, NULL, &time) && time.rlim_max <= 60, "and not for ever: %d s", (int)time.rlim_max);

    kill(of_a, SIGKILL);
    waitid(P_PID, (id_t)of_a, &(siginfo_t){0}, WEXITED | WNOWAIT); /* the pool collects it */
    is_str(ask(a, pool), ACCEPTED, "a worker that died between two questions is replaced");
    apr_pool_destroy(first);
    ok(is_gone(of_a) && !is_gone(of_b), "a worker ends with what it was for");
    sr_pdf_pool_t *third = sr_pdf_pool_for_request(workers, NULL, 0, pool), *more[12];
    for (int i = 0; i < 12; i++) answered_by(more[i] = sr_pdf_pool_for_request(workers, NULL, 0, pool), pool);
    ok(answered_by(third, pool) > 0 && settled(1 + SR_PDF_SPARES + 8).alive == 1 + SR_PDF_SPARES + 8,
       "no more are kept than four times as many as may work at once");
    is_int(help_notices, 0, "no notice: %s", help_last_notice);
    apr_pool_destroy(pool);
    is_int(help_children().alive + help_children().zombies, 0, "nothing is left");
}

static char state_of(pid_t pid) /* as ps shows it; Z: it has ended, too */
{
    char path[64], line[200], *end = NULL;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *stat = fopen(path, "r");
    if (stat && fgets(line, sizeof line, stat)) end = strrchr(line, ')');
    if (stat) fclose(stat);
    return (char)(end ? end[2] : 'Z');
}

static bool becomes(char state, pid_t pid)
{
    for (int i = 0; i < 500 && state_of(pid) != state; i++) help_sleep(10);
    return state_of(pid) == state;
}

static void test_idle_death(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    pid_t spare = next_spare();
    kill(spare, SIGKILL);
    becomes('Z', spare);
    is_str(ask(workers, pool), ACCEPTED, "a worker that died before it was asked is replaced");
    help_children_t now = settled(1 + SR_PDF_SPARES);
    pid_t template = template_of(&now);
    kill(template, SIGKILL);
    becomes('Z', template);
    for (int i = 0; i < 2 * SR_PDF_SPARES; i++) is_str(ask(workers, pool), ACCEPTED, "the template has died: %d", i);
    now = settled(1 + SR_PDF_SPARES);
    ok(template_of(&now) != template && is_gone(template), "there is another one");
    for (int i = 0; i < now.alive; i++) kill(now.pid[i], SIGKILL);
    for (int i = 0; i < now.alive; i++) becomes('Z', now.pid[i]);
    is_str(ask(workers, pool), ACCEPTED, "all have died, and the next question is answered");
    is_int(help_notices, 0, "without a word");
    is_int(settled(1 + SR_PDF_SPARES).zombies, 0, "and all are reaped");
    apr_pool_destroy(pool);
}

typedef struct asker_t {
    sr_pdf_pool_t *workers;
    pthread_t thread;
    int times, accepted;
    char said[200];
} asker_t;

static void *ask_often(void *data)
{
    asker_t *asker = data;
    apr_pool_t *pool;
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    for (int i = 0; i < asker->times; i++) {
        snprintf(asker->said, sizeof asker->said, "%s", ask(asker->workers, pool));
        if (!strcmp(asker->said, ACCEPTED)) asker->accepted++;
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
    return NULL;
}

static void start(asker_t *asker, sr_pdf_pool_t *workers, int times)
{
    *asker = (asker_t){.workers = workers, .times = times};
    pthread_create(&asker->thread, NULL, ask_often, asker);
}

/* Stops a worker forked ahead and asks a request that this worker gets. Another try is made if the worker was ended
 * meanwhile, as the one of the request before, or another one got the request. */
static pid_t ask_a_stopped_one(asker_t *asker, sr_pdf_pool_t *workers)
{
    for (;;) {
        pid_t pid = next_spare();
        bool over = false;
        kill(pid, SIGSTOP);
        start(asker, workers, 1);
        while (!over && !is_gone(pid)) {
            if (getpgid(pid) == pid) return pid;
            over = !pthread_tryjoin_np(asker->thread, NULL);
            help_sleep(1);
        }
        kill(pid, SIGCONT);
        if (!over) pthread_join(asker->thread, NULL);
    }
}

static void test_killed_while_answering(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    asker_t asker;
    pid_t pid = ask_a_stopped_one(&asker, workers);
    help_sleep(50);
    kill(pid, SIGKILL);
    pthread_join(asker.thread, NULL);
    is_str(asker.said, ACCEPTED, "a worker killed while answering: the question is asked again");
    is_int(help_notices, 1, "with one notice");
    ok(strstr(help_last_notice, "signal 9"), "that names the signal: %s", help_last_notice);
    is_int(settled(1 + SR_PDF_SPARES).zombies, 0, "and no zombie");
    apr_pool_destroy(pool);
}

/* A stopped worker uses no processor time, as one that a busy machine does not run. */
static void test_hanging(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 1000, pool);
    sr_pdf_ping(workers, pool);
    asker_t stuck, other;
    pid_t pid = ask_a_stopped_one(&stuck, workers);
    start(&other, workers, 10);
    pthread_join(other.thread, NULL);
    bool hangs = !is_gone(pid);
    pthread_join(stuck.thread, NULL);
    ok(hangs && other.accepted == 10, "while one worker hangs, another answers");
    is_str(stuck.said, "error 13: the machine was too busy for a worker to answer in time",
           "a document whose worker had no processor time is not to blame");
    is_int(help_notices, 1, "and one notice");
    ok(is_gone(pid), "it is killed and reaped");
    is_str(ask(workers, pool), ACCEPTED, "the next question is answered");
    apr_pool_destroy(pool);
}

static void test_hanging_template(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    help_children_t now = settled(1 + SR_PDF_SPARES);
    pid_t template = template_of(&now);
    kill(template, SIGSTOP);
    for (int i = 0; i < SR_PDF_SPARES + 2; i++) is_str(ask(workers, pool), ACCEPTED, "the template hangs: %d", i);
    ok(is_gone(template), "it is replaced");
    now = settled(1 + SR_PDF_SPARES);
    is_int(now.zombies, 0, "with all that it has forked");
    apr_pool_destroy(pool);
}

static void *show_page(void *data)
{
    asker_t *asker = data;
    apr_pool_t *pool;
    sr_pdf_image_t image;
    int fd = help_descriptor(sample.data, sample.size);
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    sr_error_t *error = sr_pdf_render(&image, asker->workers, fd, 0, 200, false, pool);
    snprintf(asker->said, sizeof asker->said, "%s", error ? error->cause : image.reason ? image.reason : "shown");
    close(fd);
    apr_pool_destroy(pool);
    return NULL;
}

/* Pages that take their time hold none of the places of other requests; nor do requests of anybody, which hold none
 * of the places of pages either. */
static void test_classes(bool is_public)
{
    apr_pool_t *pool;
    asker_t pages[4], other;
    apr_pool_create(&pool, root);
    const sr_pdf_options_t options = {.program = help_program(),
                                      .workers = 1,
                                      .show_workers = is_public ? 2 * SR_PDF_SPARES : SR_PDF_SPARES,
                                      .timeout = 2500 * HELP_MS,
                                      .show_timeout = 15000 * HELP_MS, /* longer than they hang on a busy machine */
                                      .notice = help_notice};
    sr_pdf_pool_t *workers;
    pid_t spares[SR_PDF_SPARES];
    if (sr_pdf_pool_create(&workers, &options, pool)) abort();
    sr_pdf_ping(workers, pool);
    help_children_t now = settled(1 + SR_PDF_SPARES);
    for (int i = 0, j = 0; i < now.alive; i++) {
        if (now.pid[i] == template_of(&now)) continue;
        becomes('S', now.pid[i]); /* it has greeted */
        kill(spares[j++] = now.pid[i], SIGSTOP);
    }
    for (int i = 0; i < 4; i++) {
        pages[i] = (asker_t){.workers = is_public ? sr_pdf_pool_for_public(workers, pool) : workers};
        pthread_create(&pages[i].thread, NULL, show_page, &pages[i]);
    }
    for (int i = 0; i < SR_PDF_SPARES; i++)
        while (!is_gone(spares[i]) && getpgid(spares[i]) != spares[i]) help_sleep(1);
    for (int i = 0; i < 5; i++)
        is_str(ask(workers, pool), ACCEPTED, "all places for pages are taken: a question %d", i);
    other = (asker_t){.workers = workers};
    if (is_public) show_page(&other);
    if (is_public) is_str(other.said, "shown", "a page");
    help_sleep(600); /* so that the ping is not answered by the one before */
    ok(!sr_pdf_ping(workers, pool), "and a ping");
    ok(!is_gone(spares[0]), "are answered while pages hang");
    const int own = getpriority(PRIO_PROCESS, 0); /* 19 if somebody runs the tests so */
    is_int(getpriority(PRIO_PROCESS, (id_t)spares[0]), own > 10 ? own : 10, "a worker that shows pages stands back");
    for (int i = 0; i < SR_PDF_SPARES; i++) kill(spares[i], SIGCONT);
    for (int i = 0; i < 4; i++) {
        pthread_join(pages[i].thread, NULL);
        is_str(pages[i].said, "shown", "page %d is shown when its turn comes", i);
    }
    apr_pool_destroy(pool);
}

static void test_threads(void)
{
    apr_pool_t *pool;
    asker_t askers[8];
    int accepted = 0;
    apr_pool_create(&pool, root);
    int before = help_descriptors();
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 5000, pool);
    for (int i = 0; i < 8; i++) start(&askers[i], workers, 50);
    int most = 0;
    for (int i = 0; i < 20; i++) {
        help_children_t now = help_children();
        if (now.alive > most) most = now.alive;
        help_sleep(5);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(askers[i].thread, NULL);
        accepted += askers[i].accepted;
    }
    is_int(accepted, 400, "8 threads, 50 questions each, 2 workers: all answered");
    ok(most <= 1 + 2 + SR_PDF_SPARES, "never more than the template, 2 workers and the spares (%d)", most);
    is_int(help_notices, 0, "no notice: %s", help_last_notice);
    help_children_t now = settled(1 + SR_PDF_SPARES);
    is_int(now.zombies, 0, "no zombie");
    is_int(help_descriptors() - before, now.alive, "one descriptor for each process");
    apr_pool_destroy(pool);
    is_int(help_descriptors(), before, "and none after the pool's end");
}

static void test_end(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    settled(1 + SR_PDF_SPARES);

    pid_t fork_pid = fork();
    if (!fork_pid) {
        apr_pool_destroy(pool);
        _exit(0);
    }
    waitpid(fork_pid, NULL, 0);
    is_int(settled(1 + SR_PDF_SPARES).alive, 1 + SR_PDF_SPARES, "a fork that clears its pools ends no process");

    help_children_t now = help_children();
    for (int i = 0; i < now.alive; i++) kill(now.pid[i], SIGSTOP);
    apr_pool_destroy(pool);
    now = help_children();
    is_int(now.alive + now.zombies, 0, "stopped ones are ended with their pool");

    /* A process that is killed cleans nothing up. */
    int pair[2];
    help_children_t orphans = {0};
    if (pipe(pair)) abort();
    fork_pid = fork();
    if (!fork_pid) {
        workers = help_pool(help_program(), 1, 2500, root);
        ask(sr_pdf_pool_for_request(workers, NULL, 0, root), root);
        orphans = settled(1 + SR_PDF_SPARES + 1);
        if (write(pair[1], &orphans, sizeof orphans) < 0) abort();
        pause();
    }
    ok(read(pair[0], &orphans, sizeof orphans) == sizeof orphans && orphans.alive == 1 + SR_PDF_SPARES + 1,
       "another process has a template, spares and a worker");
    kill(fork_pid, SIGKILL);
    waitpid(fork_pid, NULL, 0);
    for (int i = 0; i < orphans.alive; i++)
        ok(becomes('Z', orphans.pid[i]), "which end when their client is killed: %d", i);
    close(pair[0]);
    close(pair[1]);
}

/* Nothing of httpd's may reach the worker. Listing its descriptors takes root, since workers are not dumpable. */
static void test_confinement(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    int leak = dup(0); /* not close-on-exec, as a careless module would leave it */
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2500, pool);
    sr_pdf_pool_t *own = sr_pdf_pool_for_request(workers, NULL, 0, pool);
    const pid_t pid = answered_by(own, pool);
    char path[64], line[200];
    int privileges = -1, filter = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "NoNewPrivs: %d", &privileges);
        sscanf(line, "Seccomp: %d", &filter);
    }
    if (status) fclose(status);
    if (!skip_if_sanitized()) ok(privileges == 1 && filter == 2, "a worker is in its sandbox");

    int sockets = 0, kept = 0;
    for (int fd = 3; fd < 100; fd++) {
        struct stat info;
        if (fstat(fd, &info) || !S_ISSOCK(info.st_mode)) continue;
        sockets++;
        if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC)) kept++;
    }
    ok(sockets > 0 && kept == 0, "their sockets are not passed on to other programs that httpd starts");

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *all = opendir(path);
    if (all) {
        int most = -1;
        for (struct dirent *entry; (entry = readdir(all));)
            if (atoi(entry->d_name) > most) most = atoi(entry->d_name);
        closedir(all);
        is_int(most, 3, "a worker has no descriptor above 3");
    } else {
        skip("the descriptors of a worker can be listed by root alone");
    }
    close(leak);
    apr_pool_destroy(pool);
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&root, NULL);
    sample = pdf_document(&(pdf_parts_t){.pages = 3});
    test_questions();
    test_documents();
    test_idle_death();
    test_killed_while_answering();
    test_hanging();
    test_hanging_template();
    test_classes(false);
    test_classes(true);
    test_threads();
    test_confinement();
    test_end();
    free(sample.data);
    apr_pool_destroy(root);
    return done();
}
