/* SPDX-License-Identifier: Apache-2.0 */
/* base.h: functions that every layer may use. They include no httpd.h and use neither the database nor a PDF library.
 *
 * Sections: assert.c · error.c · json.c · id.c · hide_links.c · digest.c · slow_hash.c · cipher.c · time.c · duration.c
 * · text.c · template.c · rate.c · accept.c · descriptor.c · root_pool.c · process.c · spawn.c · caption_area.c
 *
 * Pools: out-parameters come first, pools last. What a function returns is allocated in `result_pool`. `scratch_pool`
 * may be cleared as soon as the function has returned. A function with one `pool` uses it for both. */
#ifndef SR_BASE_BASE_H
#define SR_BASE_BASE_H

#include <apr_pools.h>
#include <apr_strings.h>
#include <apr_tables.h>
#include <apr_time.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ----------------------------------------------------------------------------------------------- assert.c */
/* States an invariant: something that only a defect of this program can make false, never a request, a file, a row, a
 * peer or a lack of memory. If it is false, the process writes the condition and its place to stderr, which is httpd's
 * error log, and aborts. A build with -DNDEBUG leaves assertions out, so the condition must have no side effects. */
#ifdef NDEBUG
#define sr_assert(condition) ((void)sizeof(!(condition)))
#else
#define sr_assert(condition) ((condition) ? (void)0 : sr_assert_failed(#condition, __FILE__, __LINE__))
#endif
_Noreturn void sr_assert_failed(const char *condition, const char *file, int line);

/* ------------------------------------------------------------------------------------------------ error.c
 * A function that can fail returns `sr_error_t *`, and NULL for success. `message` may be shown to a client. `cause`
 * is for the log only: it may name paths, SQL and hosts, but never a secret. A table in src/http/reply.c turns the
 * code into a status, a body and a log level. sigreqctl turns it into an exit code.
 */
typedef enum sr_code_t {
    SR_EBADREQUEST = 1, /* the request is invalid; 0 is not a code */
    SR_EUNAUTHORIZED,   /* the caller is not authenticated; the message is always the same */
    SR_EFORBIDDEN,      /* the caller has no permission */
    SR_ENOTFOUND,       /* it does not exist or belongs to another tenant; the message is the same for both */
    SR_EMETHOD,         /* the resource does not have this method */
    SR_ETIMEOUT,        /* the client stopped sending */
    SR_ECONFLICT,       /* the state of the resource does not allow the action */
    SR_ETOOLARGE,       /* the request is too large; the message has the limit */
    SR_EMEDIATYPE,      /* the media type or content coding is not supported */
    SR_ECONTENT,        /* the content exists but cannot be processed or shown */
    SR_ETOOMANY,        /* too many requests; the same request is allowed later */
    SR_EINTERNAL,       /* a defect of this program or of its data */
    SR_EUNAVAILABLE,    /* the database, the disk, memory or the helper is not available */
    SR_EGONE,           /* it was here, and is here no more */
    SR_EUNCHECKED,      /* the identity of the signer must be checked first */
    SR_EPRECONDITION,   /* it was changed since the client has read it */
    SR_EUNCONDITIONAL,  /* the request must say which version it changes */
    SR_CODE_COUNT
} sr_code_t;

typedef struct sr_error_t {
    sr_code_t code;
    const char *message; /* UTF-8, safe for clients */
    const char *cause;   /* for the log, or NULL */
    const char *hint;    /* UTF-8, for the client and not for the log: what may be wrong, or NULL */
    json_t *fields;      /* [{"number","code","message"}]: the fields at fault, for the client; or NULL */
    const char *file;    /* the source file and line that made the error */
    int line;
    int retry_after;                /* seconds, for SR_ETOOMANY and SR_EUNAVAILABLE; 0: the default of http */
    const struct sr_error_t *child; /* the error that caused this one, or NULL */
} sr_error_t;

/* Makes an error. All of it is allocated in `pool`, which must live as long as the error is used (in a request:
 * r->pool). */
sr_error_t *sr_error_make(apr_pool_t *pool, const char *file, int line, sr_code_t code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Sets the cause, which only the log shows, and returns the error. */
sr_error_t *sr_error_because(sr_error_t *error, apr_pool_t *pool, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a hint for the client, which may have texts of the request, and returns the error. */
sr_error_t *sr_error_hint(sr_error_t *error, apr_pool_t *pool, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the error that caused this one, and returns this one. `child` must be in a pool that lives as long. The log
 * shows both. */
sr_error_t *sr_error_from(sr_error_t *error, const sr_error_t *child);
/* Copies an error and the errors that caused it into `pool`, so that the pool of the original can be cleared. Returns
 * NULL for NULL. */
sr_error_t *sr_error_copy(const sr_error_t *error, apr_pool_t *pool);
/* Returns the text for the log: "message (cause)" of this error and of each error that caused it. If `places` is
 * true, the text also has the source file and line of each. Never send this text to a client. */
const char *sr_error_text(const sr_error_t *error, bool places, apr_pool_t *pool);

/* Sets the time after which the client may try again, rounded up to seconds, and returns the error. */
sr_error_t *sr_error_retry(sr_error_t *error, apr_interval_time_t wait);

#define sr_error(pool, code, ...) sr_error_make((pool), __FILE__, __LINE__, (code), __VA_ARGS__)

/* Evaluates `expr` and returns its error from the calling function if it has one. */
#define SR_TRY(expr)                                                                                                   \
    do {                                                                                                               \
        sr_error_t *sr_try_ = (expr);                                                                                  \
        if (sr_try_) return sr_try_;                                                                                   \
    } while (0)

/* ------------------------------------------------------------------------------------------------- json.c
 * JSON by jansson with stricter rules (docs/api.md, Errors): duplicate keys, a depth over 64, NUL, invalid UTF-8 and
 * numbers out of range are refused. A json_t made by these functions is released with its pool.
 */
#define SR_JSON_MAX_DEPTH 64

/* Makes jansson's allocations report a lack of memory. Call it once in a process, before threads start. httpd's
 * parent must not call it, because the parent unloads this code while jansson stays loaded. */
void sr_json_watch_memory(void);

/* Parses any JSON value. Errors: SR_EBADREQUEST, whose message is only the reason, such as "unexpected token near 'x'
 * at line 1 column 4"; SR_EUNAVAILABLE if there is no memory. */
sr_error_t *sr_json_parse(json_t **value, const char *text, apr_size_t length, apr_pool_t *pool);
/* Like sr_json_parse, for text from clients: a text with more than `max_values` values is refused before memory is
 * allocated for them. Each comma and each opening bracket counts as one value. */
sr_error_t *sr_json_parse_bounded(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                  apr_pool_t *pool);
/* Like sr_json_parse, for text that this program wrote, such as a row of the database. Errors in it are SR_EINTERNAL.
 */
sr_error_t *sr_json_read(json_t **value, const char *text, apr_pool_t *pool);
/* Like sr_json_parse_bounded, but an integer out of range becomes the nearest integer that jansson can hold, and a
 * number that a double cannot hold becomes null. The check of that member then refuses it with its own message. */
sr_error_t *sr_json_parse_tolerant(json_t **value, const char *text, apr_size_t length, apr_size_t max_values,
                                   apr_pool_t *pool);
/* Registers a json_t to be released with the pool, and returns it. Takes over the caller's reference. */
json_t *sr_json_own(json_t *value, apr_pool_t *pool);
/* Returns the compact JSON text of a value, in `pool`. */
const char *sr_json_text(const json_t *value, apr_pool_t *pool);
/* The same of an array, or NULL if it is empty. Takes over the caller's reference. */
const char *sr_json_list_text(json_t *list, apr_pool_t *pool);
/* Returns the value at `key`, or NULL if it is absent or null. It belongs to the object. */
const json_t *sr_json_given(const json_t *object, const char *key);
/* Returns the string at `key`, or NULL if it is absent, null or not a string. The text belongs to the object. */
const char *sr_json_string(const json_t *object, const char *key);
/* Returns a JSON string, or JSON null if `text` is NULL. New reference. */
json_t *sr_json_string_or_null(const char *text);

/* --------------------------------------------------------------------------------------------------- id.c
 * Identifiers and secrets, all from the kernel's CSPRNG (getrandom).
 */
#define SR_UUID_LENGTH 36
/* Fills `data` with random bytes. It aborts the process if getrandom fails. */
void sr_random_fill(void *data, apr_size_t length);
/* Returns a new random UUID (RFC 9562, version 4) in lower case. It aborts the process if getrandom fails. */
const char *sr_uuid_make(apr_pool_t *pool);
/* The same for ids that are no secrets. It takes random bytes from a stock of this thread, so that not each id costs a
 * system call. */
const char *sr_uuid_make_public(apr_pool_t *pool);
/* Returns true for the form 8-4-4-4-12 in hexadecimal digits of either case. */
bool sr_uuid_valid(const char *text);

/* ----------------------------------------------------------------------------------------------- hide_links.c
 * Removes signing links from text for logs. The first 8 characters of a uuid are kept; any other secret is removed
 * completely. A text of at most 8 characters is not a link and is kept. If nothing has to be removed, the functions
 * return `text` itself.
 */
/* Removes each occurrence of `secret`. */
const char *sr_secret_hide(const char *text, const char *secret, apr_pool_t *pool);
/* Removes the text between each `prefix` and the next slash, question mark or space. */
const char *sr_secret_hide_after(const char *text, const char *prefix, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- digest.c */
#define SR_SHA256_HEX_LENGTH 64
/* Makes libcrypto look for SHA-256 once, and not for each digest. Call it once in a process, before threads start.
 * httpd's parent must not call it, because the parent unloads this code while libcrypto stays loaded. */
void sr_sha256_prepare(void);
/* Returns the SHA-256 of some bytes as lower-case hexadecimal digits. */
const char *sr_sha256_hex(const void *data, apr_size_t length, apr_pool_t *pool);

typedef struct sr_sha256_t sr_sha256_t;
/* Begins an incremental SHA-256. The state is released with the pool. */
sr_sha256_t *sr_sha256_begin(apr_pool_t *pool);
/* Returns a copy of the state, which has hashed the same bytes so far. */
sr_sha256_t *sr_sha256_copy(const sr_sha256_t *state, apr_pool_t *pool);
void sr_sha256_update(sr_sha256_t *state, const void *data, apr_size_t length);
/* Writes 32 bytes to `digest`. Nothing can be added to the state afterwards. */
void sr_sha256_end(unsigned char *digest, sr_sha256_t *state);
const char *sr_sha256_end_hex(sr_sha256_t *state, apr_pool_t *pool);
/* Writes the HMAC with SHA-256 (32 bytes) to `digest`, which may be the key. */
void sr_hmac_sha256(unsigned char *digest, const void *key, apr_size_t key_length, const void *data, apr_size_t length);

/* --------------------------------------------------------------------------------------------- slow_hash.c */
/* Returns a hash of a short secret with a random salt. It takes about 40 ms of processor time. */
const char *sr_slow_hash(const char *text, apr_pool_t *pool);
/* Compares a text with such a hash. NULL is the hash of no text, and takes as long. */
bool sr_slow_hash_matches(const char *hash, const char *text, apr_pool_t *pool);
/* Returns a hash, in hexadecimal, that is the same for the same text and salt. */
const char *sr_slow_derive(const char *text, const char *salt, apr_pool_t *pool);

/* ----------------------------------------------------------------------------------------------- cipher.c */
typedef enum sr_cipher_method_t {
    SR_CIPHER_NONE,
    SR_CIPHER_RC4,
    SR_CIPHER_AES128,
    SR_CIPHER_AES256
} sr_cipher_method_t;
/* How the strings and streams of a PDF are encrypted (ISO 32000-2, 7.6). */
typedef struct sr_cipher_t {
    sr_cipher_method_t method;
    unsigned char key[32]; /* the file encryption key; `length` is its length in bytes */
    apr_size_t length;
} sr_cipher_t;

#define SR_CIPHER_MORE 32 /* bytes that encryption adds, at most */
const char *sr_cipher_name(const sr_cipher_t *cipher);
/* Makes a cipher from a method's name and a key in lower-case hexadecimal digits. Returns false if they are not valid
 * together. */
bool sr_cipher_read(sr_cipher_t *cipher, const char *name, const char *key);
/* Decodes `count` lower-case hexadecimal digits into count / 2 bytes. Returns false if the text has other characters.
 */
bool sr_cipher_unhex(unsigned char *bytes, const char *digits, apr_size_t count);
/* Encrypts the data of the object `number` `generation`. The same data and key always give the same result. `out`
 * must have room for `length` + SR_CIPHER_MORE bytes. */
void sr_cipher_encrypt(unsigned char *out, apr_size_t *size, const sr_cipher_t *cipher, apr_int64_t number,
                       int generation, const void *data, apr_size_t length);
/* Decrypts the data of an object. Returns false if the data was not encrypted with this method and key. `out` must
 * have room for `length` bytes. */
bool sr_cipher_decrypt(unsigned char *out, apr_size_t *size, const sr_cipher_t *cipher, apr_int64_t number,
                       int generation, const void *data, apr_size_t length);

/* ------------------------------------------------------------------------------------------------- time.c
 * Times are apr_time_t (microseconds since 1970, UTC) in memory and in the database, ISO 8601 in JSON. All code gets
 * the time from the two functions sr_time_now (dates) and sr_time_steady (durations). A test can set both.
 */
/* Returns the current time, in whole milliseconds. A stored time is then exactly the time in JSON, so that the two
 * can be compared. */
apr_time_t sr_time_now(void);
/* Returns the time of a clock that nobody sets (CLOCK_MONOTONIC), for durations and deadlines. It begins when the host
 * boots, and is the same in all processes of the host. Never store it. */
apr_time_t sr_time_steady(void);
/* For tests: sr_time_now returns this time from now on, in all threads. 0: it uses the host's clock again. */
void sr_time_stop(apr_time_t at);
/* For tests: puts both clocks forward by this interval (back, if it is negative), in all threads. */
void sr_time_forward(apr_interval_time_t interval);
/* Returns a text of the form "2026-11-20T18:09:23.123Z". */
const char *sr_time_format(apr_time_t when, apr_pool_t *pool);
/* Returns the same as a JSON string, or JSON null for 0. New reference. */
json_t *sr_time_json(apr_time_t when);
#define SR_TIME_PRINTED 40
/* Formats a time in UTC with a format of strftime(3). The text is "" if it does not fit. */
void sr_time_print(char text[SR_TIME_PRINTED], const char *format, apr_time_t when)
    __attribute__((format(strftime, 2, 0)));
/* Reads an ISO 8601 date ("2026-11-20", which is midnight UTC) or a date-time with Z or an offset. Returns false for
 * other text. */
bool sr_time_parse(apr_time_t *when, const char *text);

/* --------------------------------------------------------------------------------------------- duration.c */
/* Reads a duration of ISO 8601 with an exact length: "P2W", or days, hours, minutes and seconds such as "P1DT12H".
 * *duration is in microseconds. Returns false, and sets it to 0, for other text: years and months have no exact length.
 */
bool sr_duration_parse(apr_interval_time_t *duration, const char *text);

/* ------------------------------------------------------------------------------------------------- text.c */
/* Returns true for well-formed UTF-8 without NUL, surrogates or overlong forms. */
bool sr_text_is_utf8(const char *text, apr_size_t length);
/* Returns true if the text has only white space (Unicode White_Space) and characters without width. */
bool sr_text_is_blank(const char *text);
/* Returns the next code point of a NUL-terminated text and advances *text; 0 at the end. A malformed byte gives
 * U+FFFD. */
uint32_t sr_text_next(const char **text);
/* Returns the text with control characters, line separators and malformed bytes replaced by U+FFFD, for messages and
 * for the log. Returns `text` itself if nothing is replaced, so a caller can compare the pointers. */
const char *sr_text_printable(const char *text, apr_pool_t *pool);
/* Returns a copy without the characters that change the direction of text (U+202E and others). */
const char *sr_text_undirected(const char *text, apr_pool_t *pool);
/* Returns the text in the normal form NFC, in which "e" with an accent is one character, or `text` if it is not UTF-8.
 */
const char *sr_text_composed(const char *text, apr_pool_t *pool);
/* Returns a copy without spaces at its ends. */
const char *sr_text_trimmed(const char *text, apr_pool_t *pool);
/* Returns the text in lower case, for searches (simple case mapping of all scripts). */
const char *sr_text_fold(const char *text, apr_pool_t *pool);
/* Reads a decimal number of one to nine digits. For any other text it returns false and sets the number to 0. */
bool sr_text_number(int *number, const char *text);
/* Returns true for a decimal number from 1 to 65535. apr_uri_parse accepts any number and keeps its last 16 bits. */
bool sr_text_is_port(const char *text);
/* Returns true if a text that names a private key is a URI of PKCS#11 (RFC 7512), and not a path. */
bool sr_text_is_token(const char *text);
/* Returns the fault of a name, such as "must have at most 500 characters", or NULL if it has none. Names are shown in
 * messages, headers and mail, so they must be UTF-8 without control characters. The function does not check whether a
 * name is blank. */
const char *sr_text_fault(const char *text, apr_size_t longest, apr_pool_t *pool);
/* Returns true if the text matches the pattern of email addresses in the contract: ^[^\s@]+@[^\s@]+\.[^\s@]+$ */
bool sr_text_is_email(const char *text);
/* Returns the number of code points of valid UTF-8. */
apr_size_t sr_text_length(const char *text);
/* Returns the first characters of a text, followed by an ellipsis if the text is longer. */
const char *sr_text_cut(const char *text, apr_size_t characters, apr_pool_t *pool);
/* Returns bytes as lower-case hexadecimal digits. */
const char *sr_text_hex(const void *data, apr_size_t length, apr_pool_t *pool);
/* Returns true if the text is exactly `length` lower-case hexadecimal digits. */
bool sr_text_is_hex(const char *text, apr_size_t length);
/* Decodes percent-encoded bytes (RFC 3986, 2.1) in place. If `only` is not NULL, only the bytes in `only` are
 * decoded. Returns false if a % is not followed by two hexadecimal digits, or if they stand for NUL; such a sequence
 * is left as it is. */
bool sr_text_decode_percent(char *text, const char *only);
/* Stands for the base URL in stored JSON text (the representations of src/model). JSON text cannot contain this byte
 * itself. src/http replaces it by the URL. */
#define SR_BASE_URL_PLACEHOLDER '\x01'
/* Returns the text with each base URL placeholder replaced by `base_url`. */
const char *sr_text_with_base(const char *view, const char *base_url, apr_pool_t *pool);

/* --------------------------------------------------------------------------------------------- template.c
 * Text or HTML with placeholders. template.c describes their syntax.
 */
typedef struct sr_template_t {
    const json_t *texts; /* the texts for {{:key}}, or NULL */
    const char *plurals; /* the plural categories of the texts' language (sr_language_plurals); NULL: always "other" */
    const char *(*piece)(const char *name, apr_pool_t *pool); /* returns the template of {{>name}}, or NULL; or NULL */
    bool plain;                                               /* the template is plain text: values are not escaped */
    bool together;     /* values in a text are not isolated from its direction (Unicode, UAX 9) */
    bool keep_unknown; /* a placeholder without a value is kept, instead of being replaced by nothing */
} sr_template_t;
const char *sr_template_fill(const char *text, const json_t *values, const sr_template_t *template, apr_pool_t *pool);

/* A file that is embedded at build time (tools/embed). A table of them ends with a row without a file. */
typedef struct sr_embedded_t {
    const char *name, *file; /* `file` is `name` with a hash of the content in it */
    struct {
        const char *bytes;
        apr_size_t length;
    } forms[3]; /* uncompressed, gzip, brotli; bytes is NULL if the form does not exist */
} sr_embedded_t;

/* ------------------------------------------------------------------------------------------------- rate.c
 * Rate limits, counted over all processes that share one table. Until sr_rate_use is called, the table belongs to
 * this process alone. All functions are safe in threads and take some nanoseconds.
 */
typedef struct sr_rate_t {
    apr_uint32_t times; /* 0: no limit */
    apr_interval_time_t period;
} sr_rate_t;

typedef struct sr_rate_state_t {
    apr_uint32_t left;         /* how many more are allowed now */
    apr_interval_time_t whole; /* the time until the whole limit is available again */
    apr_interval_time_t wait;  /* the time until one more is allowed; 0: it is allowed now */
} sr_rate_state_t;

/* Makes the key of what is counted: data of a kind ("token") under one limit (NULL if the key has no limit). The key
 * depends on a secret of the table, so nobody outside the processes that share it can compute a key. */
apr_uint64_t sr_rate_key(const char *kind, const void *data, apr_size_t length, const sr_rate_t *rate);
/* Counts one event and returns true if the limit allows it. *state (may be NULL) is not set if there is no limit. */
bool sr_rate_take(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_time_t now);
/* Counts `count` events and returns true if the limit allows all of them; otherwise it counts none. state->wait is
 * the time until all are allowed. A `count` above rate->times is never allowed. */
bool sr_rate_take_some(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_uint32_t count,
                       apr_time_t now);
/* Subtracts `count` events that were counted but did not happen. */
void sr_rate_give_back(apr_uint64_t key, const sr_rate_t *rate, apr_uint32_t count, apr_time_t now);
/* Returns true if the limit allows one more event, without counting it. *state is set only if the key was counted
 * before. */
bool sr_rate_has(sr_rate_state_t *state, apr_uint64_t key, const sr_rate_t *rate, apr_time_t now);
/* Remembers a key for a period. It may be forgotten earlier if another key needs its entry. */
void sr_rate_remember(apr_uint64_t key, apr_interval_time_t period, apr_time_t now);
bool sr_rate_remembers(apr_uint64_t key, apr_interval_time_t period, apr_time_t now);
void sr_rate_forget(apr_uint64_t key);

/* Reads a limit such as "100/s", "60/min", "1000/h" or "1/d". Returns false for any other text. */
bool sr_rate_parse(sr_rate_t *rate, const char *text);
/* Returns a text such as "100 per second". */
const char *sr_rate_text(const sr_rate_t *rate, apr_pool_t *pool);

/* Makes a block of sr_rate_size() bytes, filled with zeros at first, the table from now on. */
apr_size_t sr_rate_size(void);
void sr_rate_use(void *block);

/* The limits of requests in one location. */
typedef enum sr_rate_of_t {
    SR_RATE_TOKEN,    /* requests with one bearer token */
    SR_RATE_LINK,     /* requests to one signing link */
    SR_RATE_ADDRESS,  /* requests from one client address */
    SR_RATE_FAILURES, /* wrong tokens and links from one client address */
    SR_RATE_VERIFY,   /* checks on the public verification page from one client address */
    SR_RATE_PREVIEW,  /* previews of creations with one bearer token */
    SR_RATE_COUNT
} sr_rate_of_t;
/* The limits of mail and of codes in one location, stored in the same structure. */
typedef enum sr_mail_rate_of_t {
    SR_MAIL_RATE_ORGANIZATION,      /* mails of one organisation */
    SR_MAIL_RATE_RECIPIENT,         /* mails of one organisation to one email address */
    SR_MAIL_RATE_TEST_ORGANIZATION, /* the same two limits for the test environment */
    SR_MAIL_RATE_TEST_RECIPIENT,
    SR_MAIL_RATE_HOOK,           /* codes of one organisation that SigreqCodeHook delivers */
    SR_MAIL_RATE_HOOK_RECIPIENT, /* the same, to one number or other address */
    SR_MAIL_RATE_HOOK_PREFIX,    /* the same of all organisations, to numbers with the same first digits */
    SR_MAIL_RATE_COUNT
} sr_mail_rate_of_t;
#define SR_RATES_MOST 7 /* of either kind */
_Static_assert((int)SR_RATE_COUNT <= SR_RATES_MOST && (int)SR_MAIL_RATE_COUNT <= SR_RATES_MOST, "sr_rates_t has room");
typedef struct sr_rates_t {
    sr_rate_t of[SR_RATES_MOST];
    unsigned given; /* a set of bits: the limits that were configured */
} sr_rates_t;

/* ------------------------------------------------------------------------------------------------ accept.c
 * Content negotiation (RFC 9110, 12.5): headers such as "text/html, application/json;q=0.5".
 */
typedef struct sr_accept_t {
    const char *name; /* without parameters */
    int weight;       /* q in thousandths; 0: not acceptable, or q is malformed */
} sr_accept_t;
/* Reads the next element of a header. *rest is at first a copy of the header's value, which is changed, or NULL.
 * Returns false at the end. */
bool sr_accept_next(sr_accept_t *element, char **rest);

/* -------------------------------------------------------------------------------------------- descriptor.c */
/* Reads `length` bytes at an offset, with as many system calls as needed. Returns the number of bytes read, which is
 * smaller at the end of the file, or -1 with errno set. */
apr_ssize_t sr_descriptor_read(int descriptor, void *bytes, apr_size_t length, apr_off_t offset);
/* Writes all bytes, with as many system calls as needed. Returns false with errno set if that fails. */
bool sr_descriptor_write(int descriptor, const void *bytes, apr_size_t length);
/* Reads a pipe or a socket until the other end closes it. Returns false if that has not happened before the deadline
 * (sr_time_steady; 0: none), or if there are more than about `most` bytes. *text is what was read, ended by NUL. */
bool sr_descriptor_receive(const char **text, apr_size_t *length, int descriptor, apr_size_t most, apr_time_t deadline,
                           apr_pool_t *pool);
/* Moves a descriptor above those that sr_process_spawn gives to a program. Returns -1 if that fails. */
int sr_descriptor_raise(int descriptor);
/* Closes the descriptor when the pool is destroyed. */
void sr_descriptor_own(int descriptor, apr_pool_t *pool);

/* ------------------------------------------------------------------------------------------------- root_pool.c */
/* Returns a pool without a parent and with an allocator of its own, so that one thread may use and destroy it while
 * others use theirs. Returns NULL if there is no memory. */
apr_pool_t *sr_pool_alone(void);

/* ----------------------------------------------------------------------------------------------- process.c */
/* Returns a new unique name for this process, without a '.'. */
const char *sr_process_name(apr_pool_t *pool);
/* Returns true if the process with this name is certainly dead: it ran on this machine and does not exist any more.
 * `own` is a name of the calling process. */
bool sr_process_is_dead(const char *own, const char *name);
/* Returns true if the process runs, or waits for a processor or a disk. Returns false if it waits for something else,
 * is stopped or dead, or if /proc cannot be read. */
bool sr_process_is_runnable(pid_t pid);

/* ------------------------------------------------------------------------------------------------- spawn.c */
/* Starts a program beside httpd, with `title` as its name in ps and these descriptors as 3, 4 and so on, and no others
 * but standard error. The descriptors must be above those numbers. Returns 0 or an errno. */
typedef struct sr_spawn_t {
    const char *program, *title;
    const int *descriptors;
    int count;
    char *const *environment;
} sr_spawn_t;
int sr_process_spawn(pid_t *pid, const sr_spawn_t *what);

/* ----------------------------------------------------------------------------------------------- caption_area.c */
/* Returns the height in points of the caption's line in a field of this height, or 0 if such a field has no caption.
 * The signature is shown above that line. */
double sr_caption_line(double height);

#endif
