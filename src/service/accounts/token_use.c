/* SPDX-License-Identifier: Apache-2.0 */
/* token_use.c: records on which day a token was used last. A request only notes the token, once a day in each process,
 * and the job thread writes what was noted. So a request never waits for this, also if the database cannot be written.
 * What a process has noted in the seconds before its end may be lost. */
#include "service/submissions/submission_lock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DAY apr_time_from_sec(86400)
#define ROWS 1024 /* a token has one row, which others may share: a row is the last token that was noted */

typedef struct use_t {
    char token_hash[SR_SHA256_HEX_LENGTH + 1];
    apr_int64_t day; /* since 1970 */
    int database;    /* the number of its source */
    bool waiting;    /* it is not written yet */
} use_t;

static struct {
    pthread_mutex_t mutex;
    int waiting; /* the number of rows that wait */
    use_t uses[ROWS];
} noted = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static use_t *token_use_use_of(const char *token_hash)
{
    return &noted.uses[strtol((char[]){token_hash[0], token_hash[1], token_hash[2], '\0'}, NULL, 16) % ROWS];
}

void sr_service_token_used(const sr_service_t *service, const char *token_hash)
{
    const apr_int64_t day = sr_time_now() / DAY;
    use_t *use = token_use_use_of(token_hash);
    pthread_mutex_lock(&noted.mutex);
    if (!use->waiting && (use->day != day || strcmp(use->token_hash, token_hash) != 0)) {
        *use = (use_t){.day = day, .database = service->database->number, .waiting = true};
        apr_cpystrn(use->token_hash, token_hash, sizeof use->token_hash);
        noted.waiting++;
    }
    pthread_mutex_unlock(&noted.mutex);
}

/* Returns a JSON array of the tokens of this database that wait. It belongs to the pool. */
static json_t *uses_take(int database, apr_pool_t *pool)
{
    json_t *taken = sr_json_own(json_array(), pool);
    pthread_mutex_lock(&noted.mutex);
    for (int i = 0; noted.waiting && i < ROWS; i++) {
        use_t *use = &noted.uses[i];
        if (!use->waiting || use->database != database) continue;
        json_array_append_new(taken, json_string(use->token_hash));
        use->waiting = false;
        noted.waiting--;
    }
    pthread_mutex_unlock(&noted.mutex);
    return taken;
}

/* After an error the next request of each token notes it again. */
static void uses_forget(const json_t *hashes)
{
    const json_t *hash;
    size_t i;
    pthread_mutex_lock(&noted.mutex);
    json_array_foreach (hashes, i, hash) token_use_use_of(json_string_value(hash))->day = 0;
    pthread_mutex_unlock(&noted.mutex);
}

static void uses_write(sr_store_source_t *database, apr_pool_t *pool)
{
    const json_t *hashes = uses_take(database->number, pool);
    const apr_time_t now = sr_time_now();
    sr_outcome_t outcome;
    if (!json_array_size(hashes)) return;
    if (sr_store_token_used(database, &outcome, sr_json_text(hashes, pool), now, now / DAY * DAY, pool))
        uses_forget(hashes);
}

void sr_service_answered(sr_store_source_t *database, apr_pool_t *pool)
{
    sr_submission_lock_repeat(database, pool);
    uses_write(database, pool);
}
