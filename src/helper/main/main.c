/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: sigreq-pdfd, which reads PDF documents for mod_sigreq. A worker receives requests on descriptor 3 until its
 * client closes the connection. It is a separate process because small files can make the libraries hang, use gigabytes
 * or crash. This may cost one request, but never httpd. src/helper/client/worker.c starts the template, and
 * fork_server.c forks the workers. */
#include "helper/main/process/process.h"
#include "helper/main/draw/drawing.h"

#include <apr_general.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define IDLE_US (60 * (int64_t)1000000)
#define WARM_UP_ROOM ((apr_size_t)1 << 18)
#define DAY_US ((int64_t)24 * 3600 * 1000000) /* how long a pre-forked worker waits for its first request */

#define MEMORY_BYTES ((apr_size_t)512 << 20)
#define SHOW_BYTES ((apr_size_t)768 << 20) /* a raster of 60 million pixels is 240 MB */

typedef struct op_t {
    const char *name;
    sr_pdfd_op_t *response;
    bool takes_document, has_result, needs_files;
    apr_size_t memory;
    bool tidy; /* qpdf reads the document, to append to it or to judge it as it is */
} op_t;

static bool has_files; /* files below the folders of folders.c can be opened */

/* A page without the fonts that it names would show something else, so it is not shown at all. */
static json_t *answer_unavailable(void)
{
    json_t *response = json_object();
    json_object_set_new(response, "unavailable", json_string("the kernel has no landlock, which fonts are read under"));
    return response;
}

static json_t *answer_ping(const sr_pdfd_request_t *request, apr_pool_t *pool)
{
    return json_object();
}

static const op_t OPS[] = {
    {SR_PDF_OP_PING, answer_ping, false, false, false, MEMORY_BYTES, false},
    {SR_PDF_OP_PROBE, sr_pdfd_probe, true, false, false, MEMORY_BYTES, true},
    {SR_PDF_OP_INSPECT, sr_pdfd_inspect, true, true, false, MEMORY_BYTES, true},
    {SR_PDF_OP_RENDER, sr_pdfd_render, true, true, true, SHOW_BYTES, false},
    {SR_PDF_OP_TEXT, sr_pdfd_text, true, true, true, SHOW_BYTES, false},
    {SR_PDF_OP_FIND, sr_pdfd_find, true, true, true, SHOW_BYTES, false},
    {SR_PDF_OP_NORMALISE, sr_pdfd_rewrite, true, true, false, SHOW_BYTES, false},
    {SR_PDF_OP_PREPARE, sr_pdfd_prepare, true, true, false, MEMORY_BYTES, true},
    {SR_PDF_OP_CONFIRM, sr_pdfd_confirm, true, false, false, MEMORY_BYTES, true},
    {SR_PDF_OP_FILL, sr_pdfd_fill, true, true, false, MEMORY_BYTES, true},
    {SR_PDF_OP_ARCHIVE, sr_pdfd_stamp, true, true, false, MEMORY_BYTES, true},
    {SR_PDF_OP_PREVIEW, sr_pdfd_preview, false, true, false, MEMORY_BYTES, false},
    {SR_PDF_OP_VALUES, sr_pdfd_values, false, true, false, MEMORY_BYTES, false},
    {SR_PDF_OP_COMPOSE, sr_pdfd_compose, false, true, false, MEMORY_BYTES, false},
    {SR_PDF_OP_OVERLAY, sr_pdfd_overlay, true, true, false, SHOW_BYTES, false},
    {SR_PDF_OP_SIGNATURES, sr_pdfd_signatures, true, false, false, SHOW_BYTES, true},
    {SR_PDF_OP_CHECK, sr_pdfd_check, false, false, false, MEMORY_BYTES, false},
};

static const op_t *find_op(const json_t *request)
{
    const char *name = sr_json_string(request, "op");
    for (size_t i = 0; name && i < sizeof OPS / sizeof *OPS; i++)
        if (!strcmp(OPS[i].name, name)) return &OPS[i];
    return NULL;
}

/* A document with one page. It makes the libraries load what they load lazily, before the sandbox is entered. */
static const char SAMPLE[] = "%PDF-1.4\n"
                             "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
                             "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
                             "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]"
                             "/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
                             "4 0 obj<</Length 37>>stream\nBT /F 24 Tf 72 700 Td (Sample) Tj ET \nendstream endobj\n"
                             "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
                             "xref\n0 6\n"
                             "0000000000 65535 f \n0000000009 00000 n \n0000000052 00000 n \n"
                             "0000000101 00000 n \n0000000210 00000 n \n0000000293 00000 n \n"
                             "trailer<</Size 6/Root 1 0 R>>\nstartxref\n354\n%%EOF\n";

/* Renders the sample and extracts its text. It uses a font of the system. */
static bool warm_up_page(sr_pdfd_request_t request, apr_pool_t *pool)
{
    request.room = 1 << 16;
    request.result = apr_palloc(pool, request.room);
    request.text = sr_json_own(json_pack("{s:i,s:i}", "page", 0, "width", SR_PDF_MIN_WIDTH), pool);
    const json_t *image = sr_json_own(sr_pdfd_render(&request, pool), pool);
    const json_t *text = sr_json_own(sr_pdfd_text(&request, pool), pool);
    return json_object_get(image, "length") && json_object_get(text, "length");
}

/* Adds a field to the sample and fills it. Fills that fail on this system, such as typed text without fonts, are
 * ignored. */
static bool warm_up_signing(apr_pool_t *pool)
{
    static const char field[] = "{\"fields\":[{\"signer\":\"a\",\"page\":0,\"rect\":[10,10,110,60]}]}";
    static const char *const fills[] = {"\"text\":\"Ann Lee\"",
                                        "\"ink\":{\"width\":1,\"height\":0.5,\"strokes\":[[0.1,0.1,0.5,0.5,0.4,0.5]]}"};
    const apr_size_t size = sizeof SAMPLE - 1;
    unsigned char *document = apr_palloc(pool, size + WARM_UP_ROOM);
    sr_pdfd_request_t request = {.bytes = {document, size}, .result = document + size, .room = WARM_UP_ROOM};
    json_t *text;
    memcpy(document, SAMPLE, size);
    if (sr_json_parse(&text, field, sizeof field - 1, pool)) return false;
    request.text = text;
    const json_t *response = sr_json_own(sr_pdfd_prepare(&request, pool), pool);
    request.bytes.size += (apr_size_t)json_integer_value(json_object_get(response, "length"));
    request.result = apr_palloc(pool, request.room);
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        const char *said = apr_psprintf(
            pool, "{\"signer\":\"a\",\"name\":\"A\",\"time\":\"D:19700101000000Z\",\"test\":true,%s}", fills[i]);
        if (sr_json_parse(&text, said, strlen(said), pool)) return false;
        request.text = text;
        json_decref(sr_pdfd_fill(&request, pool));
    }
    return request.bytes.size > size;
}

static bool warm_up(apr_pool_t *pool)
{
    static const char damaged[] = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 9 0 R>>endobj\n";
    const sr_pdfd_request_t sample = {.bytes = {(const unsigned char *)SAMPLE, sizeof SAMPLE - 1}};
    const sr_pdfd_request_t broken = {.bytes = {(const unsigned char *)damaged, sizeof damaged - 1}};
    if (!sr_pdfd_poppler_warm_up(&sample.bytes)) return false;
    json_decref(sr_pdfd_probe(&broken, pool)); /* also loads the code for errors and exceptions */
    const char *verdict = sr_json_string(sr_json_own(sr_pdfd_probe(&sample, pool), pool), "verdict");
    return verdict && !strcmp(verdict, "accepted") && warm_up_page(sample, pool);
}

/* Reads and prepares what some documents need. A worker that has to do this takes ten milliseconds longer. A template
 * that did it before its first order would take 20 ms longer to start, and many templates get few orders. */
static void prepare_more(void)
{
    sr_pdfd_poppler_read_tables();
    sr_pdfd_embed_prepare();
    sr_pdfd_heap_settle();
}

static bool main_measure(apr_size_t *size, int descriptor)
{
    struct stat info;
    if (fstat(descriptor, &info) || !S_ISREG(info.st_mode)) return false;
    *size = (apr_size_t)info.st_size;
    return true;
}

static bool main_map(unsigned char **data, apr_size_t size, int protection, int flags, int descriptor)
{
    if (!size) return true;
    void *mapped = mmap(NULL, size, protection, flags, descriptor, 0);
    *data = mapped;
    return mapped != MAP_FAILED;
}

/* Receives the document and the result of a request. If it fails, the worker ends, so nothing is unmapped. */
static bool main_take(sr_pdfd_request_t *request, const op_t *op, const int *descriptors)
{
    unsigned char *document = NULL;
    int count = 0, result = op->takes_document ? 1 : 0;
    while (count < SR_PDF_DESCRIPTORS && descriptors[count] >= 0) count++;
    if (count != op->takes_document + op->has_result) return false;
    if (op->takes_document && !main_measure(&request->bytes.size, descriptors[0])) return false;
    if (op->has_result && !main_measure(&request->room, descriptors[result])) return false;
    sr_pdfd_limits_request(op->memory + request->room + sr_pdfd_fonts_mapped(), request->bytes.size);
    const int write = PROT_READ | PROT_WRITE;
    if (!main_map(&document, request->bytes.size, op->tidy ? write : PROT_READ, MAP_PRIVATE, descriptors[0]))
        return false;
    if (op->tidy) sr_pdfd_tidy(document, request->bytes.size);
    request->bytes.data = document;
    return main_map(&request->result, request->room, write, MAP_SHARED, descriptors[result]);
}

/* Returns the text of the response, or NULL if the request is not valid. */
static const char *response(const char *text, apr_size_t length, const int *descriptors, apr_pool_t *pool)
{
    sr_pdfd_request_t request = {0};
    json_t *parsed;
    const apr_size_t size = strlen(text); /* of the JSON text */
    if (sr_json_parse(&parsed, text, size, pool)) return NULL;
    request.text = parsed;
    if (size < length) request.contents = (sr_pdf_contents_t){text + size + 1, text + length};
    const op_t *op = find_op(parsed);
    if (!op || !main_take(&request, op, descriptors)) return NULL;
    apr_pool_t *scratch; /* cleared before the next request */
    apr_pool_create(&scratch, pool);
    json_t *object = op->needs_files && !has_files ? answer_unavailable() : op->response(&request, scratch);
    text = object ? sr_json_text(sr_json_own(object, scratch), pool) : NULL;
    apr_pool_destroy(scratch);
    if (request.bytes.size) munmap((void *)request.bytes.data, request.bytes.size);
    if (request.room) munmap(request.result, request.room);
    return text;
}

static bool main_send(uint32_t id, uint32_t flags, const char *text)
{
    const int64_t deadline = sr_time_steady() + IDLE_US;
    return sr_pdf_send(SR_PDF_SOCKET, id, flags, text, strlen(text), NULL, deadline) == SR_PDF_WIRE_OK;
}

/* Serves one request. Returns false if the connection is to be closed. */
static bool main_serve(int64_t wait, apr_pool_t *pool)
{
    sr_pdf_header_t header;
    const char *text;
    int descriptors[SR_PDF_DESCRIPTORS];
    sr_pdf_wire_t state =
        sr_pdf_receive(&header, &text, descriptors, SR_PDF_SOCKET, SR_PDF_MAX_REQUEST, sr_time_steady() + wait, pool);
    if (state != SR_PDF_WIRE_OK) return false;
    text = response(text, header.length, descriptors, pool);
    for (int i = 0; i < SR_PDF_DESCRIPTORS; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    sr_pdfd_note_counters();
    return text && main_send(header.id, 0, text);
}

static bool main_greet(uint32_t flags, apr_pool_t *pool)
{
    const char *text = apr_psprintf(pool, "{\"pid\":%d}", (int)getpid());
    return main_send(0, flags, text);
}

static void main_work(apr_pool_t *pool)
{
    if (!main_greet(0, pool)) return;
    for (int64_t wait = DAY_US; main_serve(wait, pool); wait = IDLE_US) apr_pool_clear(pool);
}

int main(void)
{
    struct stat info;
    if (fstat(SR_PDF_SOCKET, &info) || !S_ISSOCK(info.st_mode)) {
        fprintf(stderr, "sigreq-pdfd is started by mod_sigreq (SigreqHelper), not by hand.\n");
        return 2;
    }
    apr_pool_t *pool;
    if (apr_initialize() || apr_pool_create(&pool, NULL)) return 1;
    sr_json_watch_memory();
    sr_pdfd_limits_begin();
    if (!warm_up(pool)) {
        fprintf(stderr, "sigreq-pdfd: the PDF libraries do not read the sample document\n");
        return 1;
    }
    sr_pdfd_fonts_load();
    if (!warm_up_signing(pool)) {
        fprintf(stderr, "sigreq-pdfd: the sample document cannot be signed\n");
        return 1;
    }
    if (!sr_pdfd_compose_warm_up(pool)) {
        fprintf(stderr, "sigreq-pdfd: pango and HarfBuzz do not write the sample document\n");
        return 1;
    }
    if (!sr_pdfd_check_warm_up(pool)) {
        fprintf(stderr, "sigreq-pdfd: OpenSSL does not check the sample signature\n");
        return 1;
    }
    bool forks = sr_pdfd_template_possible();
    if (!sr_pdfd_sandbox_enter(&has_files, sr_pdfd_folders_find(pool))) return 1;
    if (forks) {
        apr_pool_clear(pool);
        sr_pdfd_heap_settle();
    }
    if (!forks || (main_greet(SR_PDF_TEMPLATE, pool) && sr_pdfd_template_serve(prepare_more, pool))) main_work(pool);
    sr_pdfd_end(pool);
}
