/* pdf_pool.c: the pool of helper processes against the real sigreq-pdfd: started when needed, used again, replaced
 * when they die, killed when they hang, and nothing of them left behind. */
#include "pdf_help.h"

#include <fcntl.h>
#include <sys/stat.h>

static apr_pool_t *root;
static pdf_t sample;

static const char *ask(sr_pdf_pool_t *workers, apr_pool_t *pool)
{
    sr_pdf_probe_t probe;
    return help_say(help_probe(&probe, workers, sample.data, sample.size, pool), &probe, pool);
}

#define ACCEPTED                                                                                                       \
    "accepted {\"version\":3,\"pages\":3,\"runs\":[[3,0,0,612,792,0]],\"signatures\":0,\"normalise\":false}"
#define LIMITS "refused: it could not be read within the limits"

static void test_reuse(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    int before = help_descriptors();
    sr_pdf_pool_t *workers = help_pool(help_program(), 3, 2500, pool);
    is_int(help_children().alive, 0, "no worker before the first question");
    ok(!sr_pdf_ping(workers, pool), "a ping is answered");
    help_children_t first = help_children();
    is_int(first.alive, 1, "by one worker");
    is_str(ask(workers, pool), ACCEPTED, "a document of three pages is accepted");
    help_children_t second = help_children();
    ok(second.alive == 1 && second.pid[0] == first.pid[0], "by the same worker");

    int fd = help_descriptor(sample.data, sample.size);
    sr_pdf_probe_t probe;
    lseek(fd, 7, SEEK_SET);
    ok(!sr_pdf_probe(&probe, workers, fd, (apr_off_t)sample.size, pool) && probe.verdict == SR_PDF_ACCEPTED,
       "a descriptor is read from its beginning");
    is_int(lseek(fd, 0, SEEK_CUR), 7, "and stays where it was");
    close(fd);
    is_int(probe.pages->count, 3, "the pages are parsed");
    is_int(help_notices, 0, "no notice in all this");
    apr_pool_destroy(pool);
    help_children_t after = help_children();
    is_int(after.alive + after.zombies, 0, "the pool's end leaves no process");
    is_int(help_descriptors(), before, "and no descriptor");
}

static void test_idle_death(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    pid_t killed = help_children().pid[0];
    kill(killed, SIGKILL);
    help_sleep(20);
    is_str(ask(workers, pool), ACCEPTED, "a worker killed while idle is replaced");
    is_int(help_notices, 0, "without a word");
    help_children_t now = help_children();
    ok(now.alive == 1 && now.zombies == 0 && now.pid[0] != killed, "and reaped");
    apr_pool_destroy(pool);
}

typedef struct asker_t {
    sr_pdf_pool_t *workers;
    pthread_t thread;
    int times, ms, accepted;
    char said[200];
} asker_t;

static void *ask_often(void *data)
{
    asker_t *asker = data;
    apr_pool_t *pool;
    apr_pool_create_unmanaged_ex(&pool, NULL, NULL);
    int64_t begun = help_now();
    for (int i = 0; i < asker->times; i++) {
        snprintf(asker->said, sizeof asker->said, "%s", ask(asker->workers, pool));
        if (!strcmp(asker->said, ACCEPTED)) asker->accepted++;
        apr_pool_clear(pool);
    }
    asker->ms = (int)(help_now() - begun);
    apr_pool_destroy(pool);
    return NULL;
}

static void start(asker_t *asker, sr_pdf_pool_t *workers, int times)
{
    *asker = (asker_t){.workers = workers, .times = times};
    pthread_create(&asker->thread, NULL, ask_often, asker);
}

/* Two workers idle, and the one that nobody asks any more ends. */
static void test_unasked_death(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    pid_t first = help_children().pid[0];
    asker_t asker;
    kill(first, SIGSTOP);
    start(&asker, workers, 1);
    help_sleep(300); /* the asker has the stopped one by now */
    sr_pdf_ping(workers, pool);
    help_children_t both = help_children();
    is_int(both.alive, 2, "a second worker is started while the first one is busy");
    kill(first, SIGCONT);
    pthread_join(asker.thread, NULL);
    kill(both.pid[both.pid[0] == first], SIGKILL);
    help_sleep(100);
    sr_pdf_ping(workers, pool);
    help_children_t now = help_children();
    ok(now.alive == 1 && now.pid[0] == first, "the last one used is asked first");
    is_int(now.zombies, 0, "and the other one is reaped when it has ended");
    is_int(help_notices, 0, "no notice");
    apr_pool_destroy(pool);
}

static void test_killed_while_answering(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    pid_t pid = help_children().pid[0];
    asker_t asker;
    kill(pid, SIGSTOP);
    start(&asker, workers, 1);
    help_sleep(100);
    kill(pid, SIGKILL);
    pthread_join(asker.thread, NULL);
    is_str(asker.said, ACCEPTED, "a worker killed while answering: the question is asked again");
    is_int(help_notices, 1, "with one notice");
    ok(strstr(help_last_notice, "signal 9"), "that names the signal: %s", help_last_notice);
    is_int(help_children().zombies, 0, "and no zombie");
    apr_pool_destroy(pool);
}

static void test_hanging(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2000, pool);
    sr_pdf_ping(workers, pool);
    pid_t pid = help_children().pid[0];
    asker_t stuck, other;
    kill(pid, SIGSTOP);
    start(&stuck, workers, 1);
    help_sleep(300);
    start(&other, workers, 10);
    pthread_join(other.thread, NULL);
    pthread_join(stuck.thread, NULL);
    is_int(other.accepted, 10, "while one worker hangs, another answers");
    ok(other.ms < 1500, "at once (%d ms)", other.ms);
    is_str(stuck.said, LIMITS, "the hanging one costs its own question");
    ok(stuck.ms >= 1990 && stuck.ms < 4000, "after the timeout (%d ms)", stuck.ms);
    is_int(help_notices, 1, "and one notice");
    help_children_t now = help_children();
    ok(now.zombies == 0 && now.alive == 1 && now.pid[0] != pid, "it is killed and reaped");
    is_str(ask(workers, pool), ACCEPTED, "the next question is answered");
    apr_pool_destroy(pool);
}

/* The waiting one is not to blame for the time that the other took. */
static void test_no_fair_share(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2000, pool);
    sr_pdf_ping(workers, pool);
    asker_t stuck, waiting;
    pid_t pid = help_children().pid[0];
    kill(pid, SIGSTOP);
    start(&stuck, workers, 1);
    help_sleep(300);
    start(&waiting, workers, 1);
    help_sleep(1000);
    kill(pid, SIGCONT);
    pthread_join(stuck.thread, NULL);
    pthread_join(waiting.thread, NULL);
    is_str(stuck.said, ACCEPTED, "a worker that goes on in time still answers");
    is_str(waiting.said, ACCEPTED, "and then the question that waited for it");

    kill(pid, SIGSTOP);
    start(&stuck, workers, 1);
    help_sleep(300);
    start(&waiting, workers, 1);
    pthread_join(stuck.thread, NULL);
    pthread_join(waiting.thread, NULL);
    is_str(stuck.said, LIMITS, "a document that had all the time is to blame");
    ok(!strncmp(waiting.said, "error 12", 8) || !strcmp(waiting.said, ACCEPTED), "one that waited is not: %s",
       waiting.said);
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
        help_sleep(1);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(askers[i].thread, NULL);
        accepted += askers[i].accepted;
    }
    is_int(accepted, 400, "8 threads, 50 questions each, 2 workers: all answered");
    ok(most <= 2, "never more than 2 workers (%d)", most);
    is_int(help_notices, 0, "no notice");
    is_int(help_children().zombies, 0, "no zombie");
    is_int(help_descriptors() - before, help_children().alive, "one descriptor for each worker");
    apr_pool_destroy(pool);
    is_int(help_descriptors(), before, "and none after the pool's end");
}

static void test_old_age(void)
{
    apr_pool_t *pool, *each;
    apr_pool_create(&pool, root);
    apr_pool_create(&each, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 1, 2500, pool);
    sr_pdf_ping(workers, pool);
    pid_t first = help_children().pid[0];
    int failed = 0;
    for (int i = 0; i < 1100; i++) {
        if (sr_pdf_ping(workers, each)) failed++;
        apr_pool_clear(each);
    }
    is_int(failed, 0, "1,100 questions in a row are answered");
    help_children_t now = help_children();
    ok(now.alive == 1 && now.pid[0] != first && !now.zombies, "by more than one worker: they end after 1,000");
    is_int(help_notices, 0, "which is no news");
    apr_pool_destroy(each);
    apr_pool_destroy(pool);
}

static void test_end(void)
{
    apr_pool_t *pool;
    apr_pool_create(&pool, root);
    sr_pdf_pool_t *workers = help_pool(help_program(), 2, 2500, pool);
    sr_pdf_ping(workers, pool);
    pid_t pid = help_children().pid[0];

    pid_t fork_pid = fork();
    if (!fork_pid) {
        apr_pool_destroy(pool);
        _exit(0);
    }
    waitpid(fork_pid, NULL, 0);
    ok(!sr_pdf_ping(workers, pool) && help_children().pid[0] == pid, "a fork that clears its pools ends no worker");

    kill(pid, SIGSTOP);
    int64_t begun = help_now();
    apr_pool_destroy(pool);
    help_children_t now = help_children();
    ok(now.alive + now.zombies == 0 && help_now() - begun < 600, "a stopped worker is ended with its pool");

    /* A process that is killed cleans nothing up. */
    int pair[2];
    pid_t orphan = 0;
    if (pipe(pair)) abort();
    fork_pid = fork();
    if (!fork_pid) {
        workers = help_pool(help_program(), 1, 2500, root);
        sr_pdf_ping(workers, root);
        orphan = help_children().pid[0];
        if (write(pair[1], &orphan, sizeof orphan) < 0) abort();
        pause();
    }
    ok(read(pair[0], &orphan, sizeof orphan) == sizeof orphan && orphan > 0, "another process has a worker");
    kill(fork_pid, SIGKILL);
    waitpid(fork_pid, NULL, 0);
    char path[64], line[200] = "gone";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)orphan);
    for (int i = 0; i < 100; i++) {
        FILE *stat = fopen(path, "r");
        if (!stat || !fgets(line, sizeof line, stat) || strstr(line, ") Z")) snprintf(line, sizeof line, "gone");
        if (stat) fclose(stat);
        if (!strcmp(line, "gone")) break;
        help_sleep(10);
    }
    is_str(line, "gone", "a worker ends when its client is killed");
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
    sr_pdf_ping(workers, pool);
    char path[64], line[200];
    int privileges = -1, filter = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)help_children().pid[0]);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "NoNewPrivs: %d", &privileges);
        sscanf(line, "Seccomp: %d", &filter);
    }
    if (status) fclose(status);
    ok(privileges == 1 && filter == 2, "a worker that has greeted is in its sandbox");

    int sockets = 0, kept = 0;
    for (int fd = 3; fd < 100; fd++) {
        struct stat info;
        if (fstat(fd, &info) || !S_ISSOCK(info.st_mode)) continue;
        sockets++;
        if (!(fcntl(fd, F_GETFD) & FD_CLOEXEC)) kept++;
    }
    ok(sockets > 0 && kept == 0, "its socket is not passed on to other programs that httpd starts");

    snprintf(path, sizeof path, "/proc/%d/fd", (int)help_children().pid[0]);
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
    test_reuse();
    test_idle_death();
    test_unasked_death();
    test_killed_while_answering();
    test_hanging();
    test_no_fair_share();
    test_threads();
    test_old_age();
    test_confinement();
    test_end();
    free(sample.data);
    apr_pool_destroy(root);
    return done();
}
