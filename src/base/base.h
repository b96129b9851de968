/* SPDX-License-Identifier: Apache-2.0 */
/* base.h: what every layer may use. No httpd.h, no database, no PDF.
 *
 * Sections: error.c · json.c · id.c · secret.c · digest.c · time.c · text.c · template.c · rate.c · accept.c ·
 * descriptor.c · process.c · caption.c
 *
 * Pools: out-parameters come first, pools last. `result_pool` holds what is returned, `scratch_pool` may be
 * cleared as soon as the call is over; a function with one `pool` uses it for both.
 */
#ifndef SR_BASE_H
#define SR_BASE_H

#include <apr_pools.h>
#include <apr_strings.h>
#include <apr_tables.h>
#include <apr_time.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------ error.c
 * A function that can fail returns `sr_error_t *`: NULL is success. `message` may be shown to a client;
 * `cause` is for the log alone (it may name paths, SQL, hosts; never a secret). One table in src/http/ turns
 * the code into a status, a body and a log level; sigreqctl turns it into an exit code.
 */
typedef enum sr_code_t {
    SR_EBADREQUEST = 1, /* what was sent is wrong; 0 is no code */
    SR_EUNAUTHORIZED,   /* it is not known who asks: always the same message */
    SR_EFORBIDDEN,      /* they may not */
    SR_ENOTFOUND,       /* always the same message, whether it does not exist or is somebody else's */
    SR_EMETHOD,         /* this cannot be done to it */
    SR_ETIMEOUT,        /* the client stopped sending */
    SR_ECONFLICT,       /* its state does not allow this */
    SR_ETOOLARGE,       /* more was sent than is allowed; the message has the limit */
    SR_EMEDIATYPE,      /* another type is expected */
    SR_ECONTENT,        /* it exists and cannot be shown */
    SR_ETOOMANY,        /* the same is allowed later */
    SR_EINTERNAL,       /* a defect of ours */
    SR_EUNAVAILABLE,    /* database, disk or helper are away */
    SR_CODE_COUNT
} sr_code_t;

typedef struct sr_error_t {
    sr_code_t code;
    const char *message; /* UTF-8, safe for clients */
    const char *cause;   /* for the log, or NULL */
    const char *file;    /* where it was made */
    int line;
    int retry_after;                /* seconds, for SR_ETOOMANY and SR_EUNAVAILABLE; 0: http's default */
    const struct sr_error_t *child; /* the error that this one comes from, or NULL */
} sr_error_t;

/* All of the error lives in `pool`, which must outlive its reader (in a request: r->pool). */
sr_error_t *sr_error_make(apr_pool_t *pool, const char *file, int line, sr_code_t code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Sets the private cause of an error and returns it. */
sr_error_t *sr_error_because(sr_error_t *error, apr_pool_t *pool, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the error that this one comes from, in a pool that lives as long, and returns it. The log shows both. */
sr_error_t *sr_error_from(sr_error_t *error, const sr_error_t *child);
/* A copy in another pool, with all that it comes from: for who clears the pool of the first. NULL of NULL. */
sr_error_t *sr_error_copy(const sr_error_t *error, apr_pool_t *pool);
/* For the log: "message (cause)", and the same of each error that it comes from, with the places where they were made
 * if wanted. Never for clients. */
const char *sr_error_text(const sr_error_t *error, bool places, apr_pool_t *pool);

/* Sets after how many seconds the client may try again, and returns the error. */
sr_error_t *sr_error_retry(sr_error_t *error, apr_interval_time_t wait);

#define sr_error(pool, code, ...) sr_error_make((pool), __FILE__, __LINE__, (code), __VA_ARGS__)

/* Returns from the caller with the error of `expr`, if it has one. */
#define SR_TRY(expr)                                                                                                   \
    do {                                                                                                               \
        sr_error_t *sr_try_ = (expr);                                                                                  \
        if (sr_try_) return sr_try_;                                                                                   \
    } while (0)

/* ------------------------------------------------------------------------------------------------- json.c
 * jansson with our strictness (docs/api.md, Errors): duplicate keys, depth over 64, NUL, invalid UTF-8 and numbers
 * out of range are refused. Every json_t made here is released when its pool is.
 */
#define SR_JSON_MAX_DEPTH 64

/* Once in a process, before it has threads: from now on a lack of memory is noticed. Not in httpd's parent, which
 * unloads this code while jansson stays. */
void sr_json_watch_memory(void);

/* Parses any JSON value. On failure the error is SR_EBADREQUEST and its message is the reason alone, such as
 * "unexpected token near 'x' at line 1 column 4"; or SR_EUNAVAILABLE when there is no memory. */
sr_error_t *sr_json_parse(json_t **value, const char *text, apr_size_t length, apr_pool_t *pool);
/* The same, but a text of more than `max_values` values is refused before it takes memory for them: for what clients
 * send. Each comma and each opening bracket counts as one. */
sr_error_t *sr_json_parse_bounded(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                  apr_pool_t *pool);
/* The same of what we have written ourselves, such as a row of the database: what is wrong with it is SR_EINTERNAL. */
sr_error_t *sr_json_read(json_t **value, const char *text, apr_pool_t *pool);
/* The same, but a number out of range is read as null: so that the check of the value it stands for refuses it, with
 * that value's own message. */
sr_error_t *sr_json_parse_tolerant(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                   apr_pool_t *pool);
/* Ties a json_t (whose reference is taken over) to a pool, and returns it. */
json_t *sr_json_own(json_t *value, apr_pool_t *pool);
/* Compact text of a value, in `pool`. */
const char *sr_json_text(const json_t *value, apr_pool_t *pool);
/* The string at `key`, or NULL when absent, null or no string. It belongs to the object. */
const char *sr_json_string(const json_t *object, const char *key);
/* A JSON string, or JSON null for NULL: for json_pack-free building of objects. New reference. */
json_t *sr_json_string_or_null(const char *text);

/* --------------------------------------------------------------------------------------------------- id.c
 * Identifiers and secrets, all from the kernel's CSPRNG (getrandom).
 */
#define SR_UUID_LENGTH 36
/* Fills in random bytes. Never fails: it aborts where getrandom does. */
void sr_random_fill(void *data, apr_size_t length);
/* A new random UUID (RFC 9562 version 4), lower case. Never fails: it aborts where getrandom does. */
const char *sr_uuid_make(apr_pool_t *pool);
/* True for the 8-4-4-4-12 form in hexadecimal, either case. */
bool sr_uuid_valid(const char *text);

/* ----------------------------------------------------------------------------------------------- secret.c
 * The text without signing links, for logs. Of a uuid the first 8 characters stay; anything else is hidden wholly. What
 * has at most 8 characters is no link and stays. Returns the very same pointer if there is nothing to hide.
 */
/* Hides each occurrence of `secret`. */
const char *sr_secret_hide(const char *text, const char *secret, apr_pool_t *pool);
/* Hides what follows each `prefix`, up to the next slash, question mark or space. */
const char *sr_secret_hide_after(const char *text, const char *prefix, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- digest.c */
#define SR_SHA256_HEX_LENGTH 64
/* SHA-256 of some bytes as lower-case hexadecimal. */
const char *sr_sha256_hex(const void *data, apr_size_t length, apr_pool_t *pool);

typedef struct sr_sha256_t sr_sha256_t;
/* Incremental form; released with the pool. */
sr_sha256_t *sr_sha256_begin(apr_pool_t *pool);
/* Another one that has got the same bytes so far. */
sr_sha256_t *sr_sha256_copy(const sr_sha256_t *state, apr_pool_t *pool);
void sr_sha256_update(sr_sha256_t *state, const void *data, apr_size_t length);
/* `digest` has room for 32 bytes. After the end nothing can be added. */
void sr_sha256_end(unsigned char *digest, sr_sha256_t *state);
const char *sr_sha256_end_hex(sr_sha256_t *state, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- cipher.c */
typedef enum sr_cipher_method_t {
    SR_CIPHER_NONE,
    SR_CIPHER_RC4,
    SR_CIPHER_AES128,
    SR_CIPHER_AES256
} sr_cipher_method_t;
/* How the strings and streams of a PDF are encrypted. */
typedef struct sr_cipher_t {
    sr_cipher_method_t method;
    unsigned char key[32]; /* of the file */
    apr_size_t length;
} sr_cipher_t;

#define SR_CIPHER_MORE 32 /* bytes that encrypting adds, at most */
const char *sr_cipher_name(const sr_cipher_t *cipher);
/* From the name and lower-case hexadecimal. False when they do not go together. */
bool sr_cipher_read(sr_cipher_t *cipher, const char *name, const char *key);
/* Lower-case hexadecimal: half as many bytes. False when it is not. */
bool sr_cipher_unhex(unsigned char *bytes, const char *digits, apr_size_t count);
/* What is in an object; the same gives the same. There is room for SR_CIPHER_MORE more bytes. */
void sr_cipher_encrypt(unsigned char *out, apr_size_t *size, const sr_cipher_t *cipher, apr_int64_t number,
                       int generation, const void *data, apr_size_t length);
/* False when it was not encrypted so. There is room for as much as is read. */
bool sr_cipher_decrypt(unsigned char *out, apr_size_t *size, const sr_cipher_t *cipher, apr_int64_t number,
                       int generation, const void *data, apr_size_t length);

/* ------------------------------------------------------------------------------------------------- time.c
 * Times are apr_time_t (microseconds since 1970, UTC) in memory and in the database, ISO 8601 in JSON.
 */
/* Now, in whole milliseconds: what is stored is then exactly what JSON shows, so that it can be compared with. */
apr_time_t sr_time_now(void);
/* For tests: sr_time_now returns this time from now on, in all threads. 0: the host's clock again. */
void sr_time_stop(apr_time_t at);
/* "2026-11-20T18:09:23.123Z" */
const char *sr_time_format(apr_time_t when, apr_pool_t *pool);
/* As a JSON string, or JSON null for 0. New reference. */
json_t *sr_time_json(apr_time_t when);
#define SR_TIME_PRINTED 40
/* A time in UTC as the format of strftime(3) says; "" if it has no place. */
void sr_time_print(char text[SR_TIME_PRINTED], const char *format, apr_time_t when)
    __attribute__((format(strftime, 2, 0)));
/* Reads an ISO 8601 date ("2026-11-20", midnight UTC) or date-time with Z or an offset. False when it is none. */
bool sr_time_parse(apr_time_t *when, const char *text);

/* ------------------------------------------------------------------------------------------------- text.c */
/* True for well-formed UTF-8 without NUL, surrogates or overlong forms. */
bool sr_text_is_utf8(const char *text, apr_size_t length);
/* True when the text has no character but white space (Unicode White_Space, and no-width characters). */
bool sr_text_is_blank(const char *text);
/* The next code point of a NUL-terminated text, which moves on; 0 at the end. A malformed byte is U+FFFD. */
uint32_t sr_text_next(const char **text);
/* The text with control characters, line separators and malformed bytes replaced by U+FFFD: for messages and for
 * the log. The very same pointer when there is none, so it also tells whether a text has any. */
const char *sr_text_printable(const char *text, apr_pool_t *pool);
/* A copy without the characters that change the direction of text (U+202E and the like). */
const char *sr_text_undirected(const char *text, apr_pool_t *pool);
/* The text in lower case, for searching (simple mapping, all scripts). */
const char *sr_text_fold(const char *text, apr_pool_t *pool);
/* Reads a decimal number of at most nine digits and nothing else. False, and the number is 0, for any other text. */
bool sr_text_number(int *number, const char *text);
/* True for a decimal number from 1 to 65535: apr_uri_parse takes any number and keeps its last 16 bits. */
bool sr_text_is_port(const char *text);
/* What is wrong with a name, such as "must have at most 500 characters"; NULL: nothing. Whether it may be blank is the
 * caller's. The text is one that is shown in messages, headers and mail: UTF-8 without control characters. */
const char *sr_text_fault(const char *text, apr_size_t longest, apr_pool_t *pool);
/* The form of an email address in the contract: ^[^\s@]+@[^\s@]+\.[^\s@]+$ */
bool sr_text_is_email(const char *text);
/* Number of characters (code points) of valid UTF-8. */
apr_size_t sr_text_length(const char *text);
/* The first characters of a text, with an ellipsis if it has more. */
const char *sr_text_cut(const char *text, apr_size_t characters, apr_pool_t *pool);
/* Bytes as lower-case hexadecimal. */
const char *sr_text_hex(const void *data, apr_size_t length, apr_pool_t *pool);
/* True for exactly so many lower-case hexadecimal digits. */
bool sr_text_is_hex(const char *text, apr_size_t length);
/* Decodes %41 and the like (RFC 3986, 2.1) where they stand; only the bytes of `only`, unless it is NULL. Returns false
 * if a % is followed by something else than two digits, or by those of NUL: it is left as it is. */
bool sr_text_decode_percent(char *text, const char *only);
/* Stands for the base URL in stored JSON text (model's views), where no control character can stand for itself;
 * http puts the URL in. */
#define SR_BASE_URL_PLACEHOLDER '\x01'
/* A view with the base URL in the place of each mark. */
const char *sr_text_with_base(const char *view, const char *base_url, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- template.c
 * Text or HTML with places to be filled; template.c says which.
 */
typedef struct sr_template_t {
    const json_t *texts; /* what {{:key}} is; or NULL */
    const char *plurals; /* the plural categories of their language (sr_language_plurals), or NULL: always "other" */
    const char *(*piece)(const char *name, apr_pool_t *pool); /* what {{>name}} is, or NULL; it may give NULL */
    bool plain;                                               /* the template is no HTML: nothing is escaped */
    bool together;     /* what is filled into a text is not isolated from it (Unicode, UAX 9) */
    bool keep_unknown; /* a place whose value is not there stays as it is, instead of being empty */
} sr_template_t;
const char *sr_template_fill(const char *text, const json_t *values, const sr_template_t *template, apr_pool_t *pool);

/* Files that are embedded at build time (tools/embed): a table of them ends with a row without a file. */
typedef struct sr_embedded_t {
    const char *name, *file; /* the same but for the hash in the second */
    struct {
        const char *bytes;
        apr_size_t length;
    } forms[3]; /* as it is, gzip, brotli; bytes NULL: not there */
} sr_embedded_t;

/* ------------------------------------------------------------------------------------------------- rate.c
 * How often something may happen, counted over all processes that share the table. Until sr_rate_use the table is this
 * process's own. All functions are safe in threads and take some nanoseconds.
 */
typedef struct sr_rate_t {
    apr_uint32_t times; /* 0: no limit */
    apr_interval_time_t period;
} sr_rate_t;

typedef struct sr_rate_state_t {
    apr_uint32_t left;         /* how many more are allowed now */
    apr_interval_time_t whole; /* until as many are allowed as ever */
    apr_interval_time_t wait;  /* until one more is allowed; 0: now */
} sr_rate_state_t;

/* What is counted: data of a kind ("token") under one limit; NULL where it is no limit. Nobody outside of the processes
 * that share the table can work the key out. */
apr_uint64_t sr_rate_key(const char *kind, const void *data, apr_size_t length, const sr_rate_t *rate);
/* Counts one, if it is allowed. *state (may be NULL) is not set if there is no limit. */
bool sr_rate_take(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_time_t now);
/* Counts `count` at once if all are allowed, or none; state->wait is the time until all are. More than rate->times are
 * never allowed. */
bool sr_rate_take_some(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_uint32_t count,
                       apr_time_t now);
/* Counts `count` less: what was taken was not needed. */
void sr_rate_give_back(apr_uint64_t key, const sr_rate_t *rate, apr_uint32_t count, apr_time_t now);
/* Whether one more is allowed, without counting it. *state is set only if the key was counted before. */
bool sr_rate_has(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_time_t now);
/* Remembers a key for a period, or until its place is needed. */
void sr_rate_remember(apr_uint64_t key, apr_interval_time_t period, apr_time_t now);
bool sr_rate_remembers(apr_uint64_t key, apr_interval_time_t period, apr_time_t now);
void sr_rate_forget(apr_uint64_t key);

/* "100/s", "60/min", "1000/h", "1/d"; false for anything else. */
bool sr_rate_parse(sr_rate_t *rate, const char *text);
/* "100 per second" */
const char *sr_rate_text(const sr_rate_t *rate, apr_pool_t *pool);

/* From now on this block of so many bytes, of zeros at first, is the table. */
apr_size_t sr_rate_size(void);
void sr_rate_use(void *block);

/* The limits of requests at one place. */
typedef enum sr_rate_of_t {
    SR_RATE_TOKEN,    /* of one bearer token */
    SR_RATE_LINK,     /* of one signing link */
    SR_RATE_ADDRESS,  /* of one address of a client */
    SR_RATE_FAILURES, /* of one address: wrong tokens and links */
    SR_RATE_VERIFY,   /* of one address: documents that it has checked on the public page */
    SR_RATE_COUNT
} sr_rate_of_t;
/* The limits of invitations at one place, in the same structure. */
typedef enum sr_mail_rate_of_t {
    SR_MAIL_RATE_ORGANIZATION,      /* of one organisation */
    SR_MAIL_RATE_RECIPIENT,         /* of one organisation to one address */
    SR_MAIL_RATE_TEST_ORGANIZATION, /* the same of the test environment */
    SR_MAIL_RATE_TEST_RECIPIENT,
    SR_MAIL_RATE_COUNT
} sr_mail_rate_of_t;
_Static_assert((int)SR_MAIL_RATE_COUNT <= (int)SR_RATE_COUNT, "both kinds are in sr_rates_t");
typedef struct sr_rates_t {
    sr_rate_t of[SR_RATE_COUNT];
    unsigned given; /* a bit for each that was configured */
} sr_rates_t;

/* ------------------------------------------------------------------------------------------------ accept.c
 * What a client accepts (RFC 9110, 12.5): headers such as "text/html, application/json;q=0.5".
 */
typedef struct sr_accept_t {
    const char *name; /* without parameters */
    int weight;       /* q in thousandths; 0: refused, or q is malformed */
} sr_accept_t;
/* Reads the next element of a header, which is changed. *rest begins as a copy of it, or NULL. False at the end. */
bool sr_accept_next(sr_accept_t *element, char **rest);

/* -------------------------------------------------------------------------------------------- descriptor.c */
/* Reads so many bytes from an offset, in as many calls as it takes. Returns how many there are, which are fewer at the
 * end of the file, or -1 with errno. */
apr_ssize_t sr_descriptor_read(int descriptor, void *bytes, apr_size_t length, apr_off_t offset);
/* The descriptor is closed with the pool. */
void sr_descriptor_own(int descriptor, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- process.c */
/* A name of this process, without a '.'. Each call makes another one. */
const char *sr_process_name(apr_pool_t *pool);
/* True if the process of this name is certainly dead: it was one of this machine and does not exist any more. `own` is
 * a name of this process. */
bool sr_process_is_dead(const char *own, const char *name);

/* ----------------------------------------------------------------------------------------------- caption.c */
/* The height of a caption's line in a field that is so many points high, as displayed; 0: it has no caption. The
 * signature has the rest of the field, above the line. */
double sr_caption_line(double height);

#endif
