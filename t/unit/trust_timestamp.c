/* SPDX-License-Identifier: Apache-2.0 */
/* trust_timestamp.c: tests of src/authorities/timestamp.c and rfc3161.c, and of src/cms/stamped.c, with the timestamp
 * authority t/tool/tsa: which authority is asked, what becomes of several digests, the chain of a token, and how much
 * room a signature has. t/api/timestamp.t has what an authority can do wrong. */
#include "cms_make.h"
#include "authorities/timestamp.h"

#include <apr_general.h>
#include <curl/curl.h>
#include <pthread.h>

#define COUNT 5
#define AT_ONCE 6

static apr_pool_t *pool;
static const char *folder;
static char breakers[1024];

typedef struct tsa_t {
    FILE *out;
    int port, control;
} tsa_t;

static const char *read_pem(const char *name)
{
    char *text = apr_pcalloc(pool, 65536);
    FILE *file = fopen(apr_psprintf(pool, "%s/%s", folder, name), "r");
    if (!file || !fread(text, 1, 65535, file)) exit(1);
    fclose(file);
    return text;
}

/* The program ends with its parent, which is this one because of `exec`. */
static tsa_t start(const char *name)
{
    const char *build = getenv("O") ? getenv("O") : "build";
    tsa_t tsa = {0};
    tsa.out = // NOLINTNEXTLINE(cert-env33-c): the command is the test's own
        popen(apr_psprintf(pool, "exec %s/t/tool/tsa %s/%s.crt %s/%s.key", build, folder, name, folder, name), "r");
    if (!tsa.out || fscanf(tsa.out, "%d %d", &tsa.port, &tsa.control) != 2) exit(1);
    return tsa;
}

static const char *ask(const tsa_t *tsa, const char *what)
{
    char *said = apr_pcalloc(pool, 1024);
    // NOLINTNEXTLINE(cert-env33-c): the command is the test's own
    FILE *pipe = popen(apr_psprintf(pool, "curl -s --noproxy '*' http://127.0.0.1:%d/%s", tsa->control, what), "r");
    if (!pipe || !fread(said, 1, 1023, pipe)) exit(1);
    pclose(pipe);
    return said;
}

static int count_of(const tsa_t *tsa, const char *name)
{
    const char *said = ask(tsa, "counts/1"), *at = strstr(said, name);
    return at ? atoi(strchr(at, ':') + 1) : -1;
}

static sr_timestamps_t *timestamps_of(const tsa_t *const *list, int count)
{
    const sr_fetch_options_t fetching = {.agent = "test"};
    apr_array_header_t *urls = apr_array_make(pool, 2, sizeof(const char *));
    sr_timestamp_options_t options = {.urls = urls,
                                      .authorities = read_pem("authorities.crt"),
                                      .each = apr_time_from_sec(60),
                                      .all = apr_time_from_sec(120),
                                      .breakers = breakers};
    sr_timestamps_t *timestamps;
    for (int i = 0; i < count; i++)
        *(const char **)apr_array_push(urls) = apr_psprintf(pool, "http://127.0.0.1:%d/secret", list[i]->port);
    memset(breakers, 0, sizeof breakers);
    if (sr_fetcher_create(&options.fetcher, &fetching, pool) || sr_timestamps_create(&timestamps, &options, pool))
        exit(1);
    return timestamps;
}

static void fill(sr_stamp_t *stamps, int count)
{
    memset(stamps, 0, sizeof *stamps * (size_t)count);
    for (int i = 0; i < count; i++) memset(stamps[i].digest, i + 1, sizeof stamps[i].digest);
}

static void gives_tokens(const tsa_t *one, const tsa_t *two)
{
    const tsa_t *const both[] = {one, two};
    sr_timestamps_t *timestamps = timestamps_of(both, 2);
    sr_stamp_t stamps[COUNT];
    apr_array_header_t *chain;
    const apr_time_t before = sr_time_now() - APR_USEC_PER_SEC;
    fill(stamps, COUNT);
    ok(!sr_timestamps_make(timestamps, stamps, COUNT, pool), "%d digests get tokens", COUNT);
    for (int i = 0; i < COUNT; i++) {
        ok(stamps[i].token && stamps[i].length, "a token");
        ok(stamps[i].time >= before && stamps[i].time <= sr_time_now(), "its time");
        is_str(stamps[i].authority, "CN=Test tsa1,O=Test", "its authority");
    }
    is_int(count_of(one, "queries"), COUNT, "the first authority was asked");
    is_int(count_of(two, "queries"), 0, "the second one was not");
    ok(!sr_timestamps_chain(&chain, timestamps, stamps[0].token, stamps[0].length, pool), "a token has a chain");
    is_int(chain->nelts, 2, "of two certificates");
    const sr_trust_der_t *leaf = &APR_ARRAY_IDX(chain, 0, sr_trust_der_t);
    const unsigned char *at = leaf->data;
    X509 *certificate = d2i_X509(NULL, &at, (long)leaf->length);
    ok(certificate && X509_check_purpose(certificate, X509_PURPOSE_TIMESTAMP_SIGN, 0) == 1, "the authority is first");
    X509_free(certificate);
    ok(sr_timestamps_chain(&chain, timestamps, "nonsense", 8, pool) != NULL, "nonsense has no chain");
    stamps[0].digest[0] ^= 1;
    ask(one, "mode/status2");
    ok(!sr_timestamps_make(timestamps, stamps, COUNT, pool), "the second authority gives what the first one refuses");
    is_str(stamps[0].authority, "CN=Test tsa2,O=Test", "its name");
    ask(one, "mode/ok");
}

static void says_why(const tsa_t *one)
{
    sr_timestamps_t *timestamps = timestamps_of(&one, 1);
    sr_stamp_t stamps[2];
    fill(stamps, 2);
    ask(one, "mode/imprint");
    sr_error_t *error = sr_timestamps_make(timestamps, stamps, 2, pool);
    ok(error && error->code == SR_EUNAVAILABLE && error->retry_after > 0, "without tokens: try again later");
    ok(error && error->cause && strstr(error->cause, "message imprint mismatch"), "the log has the reason");
    ok(error && error->cause && !strstr(error->cause, "secret"), "and no path of a URL");
    ok(!stamps[0].token && !stamps[0].time && stamps[0].fault == SR_STAMP_IMPRINT, "there is no time");
    ask(one, "mode/ok");
}

static void *stamp_once(void *data)
{
    sr_stamp_t stamp;
    apr_pool_t *own;
    apr_pool_create_unmanaged_ex(&own, NULL, NULL);
    fill(&stamp, 1);
    (void)sr_timestamps_make(data, &stamp, 1, own);
    apr_pool_destroy(own);
    return NULL;
}

static void all_at_once(sr_timestamps_t *timestamps)
{
    pthread_t threads[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) pthread_create(&threads[i], NULL, stamp_once, timestamps);
    for (int i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
}

static void skips_authorities(const tsa_t *one)
{
    sr_timestamps_t *timestamps = timestamps_of(&one, 1);
    ask(one, "counts/0");
    ask(one, "mode/500");
    const apr_time_t begun = sr_time_steady();
    for (int i = 0; i < 4; i++) all_at_once(timestamps);
    const int pauses = (int)apr_time_sec(sr_time_steady() - begun); /* the first takes a second */
    ok(count_of(one, "queries") >= 3 && count_of(one, "queries") <= 3 + AT_ONCE - 1 + pauses,
       "%d callers at a time: only those that had begun before the third failure ask: %d", AT_ONCE,
       count_of(one, "queries"));
}

static void asks_after_pauses(const tsa_t *one)
{
    sr_timestamps_t *timestamps = timestamps_of(&one, 1);
    ask(one, "mode/500");
    for (int i = 0; i < 3; i++) stamp_once(timestamps);
    for (int pause = 1; pause <= 32; pause *= 2) {
        ask(one, "counts/0");
        sr_time_forward(apr_time_from_sec(pause < 30 ? pause : 30));
        stamp_once(timestamps);
        is_int(count_of(one, "queries"), 1, "a caller asks after %d s", pause);
    }
    sr_time_forward(apr_time_from_sec(20));
    all_at_once(timestamps);
    is_int(count_of(one, "queries"), 1, "the pauses grow to half a minute, in which nobody asks");
    sr_time_forward(apr_time_from_sec(11));
    ask(one, "mode/ok");
    all_at_once(timestamps);
    ok(count_of(one, "queries") >= 2, "and again after the next one");
    all_at_once(timestamps);
    ok(count_of(one, "queries") >= 2 + AT_ONCE, "and by all, because it has answered");
}

static void has_room(const tsa_t *one)
{
    const sr_cms_identity_t *identity = make_identity(&(make_t){.name = "seal"}, pool);
    const unsigned char digest[SR_CMS_MAX_DIGEST] = {1}, *cms, *stamped;
    const tsa_t *const list[] = {one};
    sr_stamp_t stamp;
    apr_size_t length, stamped_length;
    if (sr_cms_sign(&cms, &length, identity, digest, pool)) exit(1);
    ok(!sr_cms_stamped_digest(stamp.digest, cms, length, pool), "the signature has a digest");
    if (sr_timestamps_make(timestamps_of(list, 1), &stamp, 1, pool)) exit(1);
    ok(!sr_cms_stamp(&stamped, &stamped_length, cms, length, stamp.token, stamp.length, pool), "a token is added");
    ok(stamped_length > length + stamp.length && stamped_length < length + stamp.length + 64, "both are there");
    const apr_size_t size = SR_CMS_MAX_BYTES;
    unsigned char *large = apr_pcalloc(pool, size);
    memcpy(large, "\x30\x82\x3f\x7c\x04\x82\x3f\x78", 8); /* a sequence of 16,252 bytes */
    sr_error_t *error = sr_cms_stamp(&stamped, &stamped_length, cms, length, large, 0x3f80, pool);
    ok(error && error->code == SR_EUNAVAILABLE, "a token that does not fit");
    ok(error && error->cause && strstr(error->cause, "there is room for 16384"), "the log has the sizes: %s",
       error && error->cause ? error->cause : "?");
    ok(sr_cms_stamp(&stamped, &stamped_length, "nonsense", 8, stamp.token, stamp.length, pool) != NULL,
       "what is no signature gets no token");
}

static apr_time_t end_of(const char *name)
{
    const tsa_t tsa = start(name), *one = &tsa;
    sr_timestamps_t *timestamps = timestamps_of(&one, 1);
    sr_stamp_t stamp;
    apr_time_t end = 0;
    fill(&stamp, 1);
    ok(!sr_timestamps_make(timestamps, &stamp, 1, pool), "a token of %s", name);
    ok(!sr_timestamps_end(&end, timestamps, stamp.token, stamp.length, pool), "the token has an end");
    ok(sr_timestamps_end(&(apr_time_t){0}, timestamps, "nonsense", 8, pool) != NULL, "nonsense has no end");
    return end;
}

static void ends(void)
{
    const apr_time_t day = apr_time_from_sec(86400), end = sr_time_now() + 5000 * day;
    const apr_time_t strong = end_of("strong"), weak = end_of("weak");
    ok(strong > end - day && strong < end + day, "the end of its certificate");
    is_str(sr_time_format(weak, pool), "2031-01-01T00:00:00.000Z", "a weak key ends before its certificate");
}

int main(void)
{
    apr_initialize();
    apr_pool_create(&pool, NULL);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    make_begin();
    folder = apr_psprintf(pool, "%s/pki", make_folder);
    make_run("perl -It/lib -MSigreq::PKI -e '$p = Sigreq::PKI->new(shift);"
             " $p->issue($$_[0], \"tsaroot2\", \"tsa\", days => 5000, key => $$_[1])"
             " for [strong => [ec => \"P-256\"]], [weak => [rsa => 2048]]' %s",
             folder);
    const tsa_t one = start("tsa1"), two = start("tsa2");
    gives_tokens(&one, &two);
    says_why(&one);
    skips_authorities(&one);
    asks_after_pauses(&one);
    has_room(&two);
    ends();
    make_end();
    apr_pool_destroy(pool);
    return done();
}
