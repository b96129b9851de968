/* SPDX-License-Identifier: Apache-2.0 */
/* pin.c: the PIN of the tokens, and the record of the attempts to log in with it. */
#include "signer/main/module.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PIN 255
#define MAX_TOKENS 8

static unsigned char pin[MAX_PIN + 3]; /* with \r\n and one byte that would be too much */
static CK_ULONG pin_length;
static bool is_command; /* sigreqctl has started this process, and not httpd */

typedef enum state_t { UNTRIED, TRYING, GOOD, WRONG } state_t;

/* Which file a PIN is from. If the file is replaced or written, it may be another PIN. */
typedef struct origin_t {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec written;
} origin_t;
static origin_t origin;

typedef struct attempt_t {
    unsigned char label[32], serial[16]; /* of the token, as in CK_TOKEN_INFO */
    state_t state;
    origin_t origin;
} attempt_t;

static sr_error_t *cannot_read(const char *path, const char *why, apr_pool_t *pool)
{
    return sr_error(pool, SR_EINTERNAL, "SigreqSealPIN file:%s: %s", path, why);
}

sr_error_t *sr_signd_pin_read(const char *path, apr_pool_t *pool)
{
    struct stat info;
    ssize_t got = -1;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file >= 0 && fstat(file, &info) == 0) do
            got = read(file, pin, sizeof pin);
        while (got < 0 && errno == EINTR);
    const int failed = errno;
    if (file >= 0) close(file);
    if (got < 0) return cannot_read(path, strerror(failed), pool);
    if (got && pin[got - 1] == '\n') got--;
    if (got && pin[got - 1] == '\r') got--;
    if (!got) return cannot_read(path, "it is empty", pool);
    if (got > MAX_PIN || memchr(pin, '\n', (size_t)got))
        return cannot_read(path, "it must have one line: the PIN", pool);
    pin_length = (CK_ULONG)got;
    memset(&origin, 0, sizeof origin);
    origin = (origin_t){info.st_dev, info.st_ino, info.st_size, info.st_mtim};
    return NULL;
}

void sr_signd_pin_for_command(void)
{
    is_command = true;
}

sr_signd_pin_t sr_signd_pin(void)
{
    return (sr_signd_pin_t){pin, pin_length};
}

/* ------------------------------------------------------------------------------------------------ the record */

/* Finds the record of a token, or a free place for it. Returns false if there is none. */
static bool pin_find(attempt_t *attempt, off_t *at, const CK_TOKEN_INFO *token)
{
    for (int i = 0; i < MAX_TOKENS; i++) {
        *at = (off_t)(sizeof *attempt * (size_t)i);
        if (pread(SR_SIGND_TRIES, attempt, sizeof *attempt, *at) != (ssize_t)sizeof *attempt) {
            memset(attempt, 0, sizeof *attempt);
            memcpy(attempt->label, token->label, sizeof attempt->label);
            memcpy(attempt->serial, token->serialNumber, sizeof attempt->serial);
            return true;
        }
        if (!memcmp(attempt->label, token->label, sizeof attempt->label)
            && !memcmp(attempt->serial, token->serialNumber, sizeof attempt->serial))
            return true;
    }
    return false;
}

static bool pin_note(attempt_t *attempt, off_t at, state_t state)
{
    attempt->state = state;
    attempt->origin = origin;
    return pwrite(SR_SIGND_TRIES, attempt, sizeof *attempt, at) == (ssize_t)sizeof *attempt;
}

static bool is_same_file(const origin_t *other)
{
    return other->device == origin.device && other->inode == origin.inode && other->size == origin.size
           && other->written.tv_sec == origin.written.tv_sec && other->written.tv_nsec == origin.written.tv_nsec;
}

const char *sr_signd_pin_refused(void)
{
    return is_command
               ? "the token refuses the PIN. It was tried once: correct it before you repeat the command, because "
                 "a token locks itself after a few wrong PINs"
               : "the token refuses the PIN of SigreqSealPIN. It was tried once, and is not tried again before "
                 "httpd is restarted";
}

const char *sr_signd_pin_try(const CK_TOKEN_INFO *token)
{
    attempt_t attempt;
    off_t at;
    if (!pin_length) return "the token needs a PIN, and there is no SigreqSealPIN";
    if (token->flags & CKF_USER_PIN_LOCKED) return "the PIN of the token is locked";
    if (token->flags & CKF_USER_PIN_FINAL_TRY)
        return "one more wrong PIN would lock the token, so SigreqSealPIN is not tried: log in by hand first";
    if (!pin_find(&attempt, &at, token)) return "there are too many tokens";
    if (attempt.state == WRONG) return "the PIN was wrong, and is not tried again before httpd is restarted";
    if (attempt.state == TRYING)
        return "the process ended while it tried the PIN, which is not tried again before httpd is restarted";
    if (attempt.state == GOOD && is_same_file(&attempt.origin)) return NULL;
    return pin_note(&attempt, at, TRYING) ? NULL : "the attempt to log in cannot be recorded";
}

void sr_signd_pin_tried(const CK_TOKEN_INFO *token, sr_signd_pin_result_t result)
{
    attempt_t attempt;
    off_t at;
    if (!pin_find(&attempt, &at, token)) return;
    if (result == SR_SIGND_PIN_GOOD) pin_note(&attempt, at, GOOD);
    if (result == SR_SIGND_PIN_WRONG) pin_note(&attempt, at, WRONG);
    if (result == SR_SIGND_PIN_UNKNOWN && attempt.state == TRYING) pin_note(&attempt, at, UNTRIED);
}
