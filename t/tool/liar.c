/* SPDX-License-Identifier: Apache-2.0 */
/* liar.c: a PDF helper that lies, for tests of a whole httpd: liar HELPER FILE. It hands on requests and answers of the
 * true helper, and changes those that FILE names. FILE is read at each request and has a line for each part of a lie:
 * the operation, where ("object", "add", "trailer" or "end"; t/unit/lies.h), the object's number, what to find and what
 * to put. If the file is empty or missing, nothing is changed. If there is a FILE.asked, it gets a line for each
 * request: this process and the operation. */
#include "../unit/lies.h"

#include <apr_general.h>
#include <fcntl.h>
#include <unistd.h>

static const char *file;

static where_t where_of(const char *name)
{
    static const struct {
        const char *name;
        where_t where;
    } places[] = {{"object", OBJECT}, {"add", ADD}, {"trailer", TRAILER}, {"end", END}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].name, name)) return places[i].where;
    fprintf(stderr, "liar: no lie can be told at \"%s\"\n", name);
    exit(1);
}

static bool read_line(const char **line, FILE *in)
{
    char text[1000];
    if (!fgets(text, sizeof text, in)) return false;
    text[strcspn(text, "\n")] = '\0';
    *line = apr_pstrdup(lies_pool, text);
    return true;
}

static void note(const char *request)
{
    const char *op = strstr(request, "\"op\":\"");
    int out = open(apr_pstrcat(lies_pool, file, ".asked", NULL), O_WRONLY | O_APPEND);
    if (out < 0) return;
    dprintf(out, "%d %.*s\n", (int)getpid(), op ? (int)strcspn(op + 6, "\"") : 0, op ? op + 6 : "");
    close(out);
}

static const lie_t *choose(const char *request)
{
    note(request);
    static lie_t lie;
    const char *where, *number;
    FILE *in = fopen(file, "r");
    lie = (lie_t){.name = file};
    const bool there = in && read_line(&lie.op, in) && read_line(&where, in) && read_line(&number, in)
                       && read_line(&lie.find, in) && read_line(&lie.put, in);
    if (in) fclose(in);
    if (!there || !lies_asks(request, lie.op)) return NULL;
    lie.where = where_of(where);
    lie.number = atoi(number);
    return &lie;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    apr_initialize();
    apr_pool_create(&lies_pool, NULL);
    file = argv[2];
    return lies_act(choose, argv[1]);
}
