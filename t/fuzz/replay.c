/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c: the main of a fuzz target without a fuzzer: each file of its corpus once, so that what was found once is
 * tested for ever. One test per target; a target without a corpus fails. */
#include "fuzz.h"
#include "../unit/tap.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#define SECONDS_EACH 20

static char path[4096]; /* of the input that runs */

/* Says which input it was, and lets the signal end the process. */
static void tell(int number)
{
    static const char words[] = "the input: ";
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0 || write(STDERR_FILENO, path, strlen(path)) < 0
        || write(STDERR_FILENO, "\n", 1) < 0)
        _exit(2);
    signal(number, SIG_DFL);
    raise(number);
}

static void run_file(void)
{
    static uint8_t room[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(room, 1, sizeof room, file) : 0;
    if (!file || size == sizeof room || ferror(file)) {
        printf("Bail out! %s cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    uint8_t *data = malloc(size ? size : 1); /* as large as it is, for sanitizers */
    if (!data) abort();
    memcpy(data, room, size);
    alarm(SECONDS_EACH);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
    free(data);
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '/');
    char folder[2048];
    int count = 0;
    name = name ? name + 1 : argv[0];
    if (!strncmp(name, "fuzz_", 5)) name += 5;
    snprintf(folder, sizeof folder, "t/fuzz/corpus/%s", name);
    for (size_t i = 0; i < 5; i++) signal((const int[]){SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM}[i], tell);
    DIR *all = opendir(argc > 1 ? argv[1] : folder);
    for (struct dirent *entry; all && (entry = readdir(all));) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argc > 1 ? argv[1] : folder, entry->d_name);
        run_file();
        count++;
    }
    if (all) closedir(all);
    ok(count > 0, "%s: %d inputs ran", name, count);
    return done();
}
