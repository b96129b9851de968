/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: sends or receives one message of protocol.h over a Unix socket before a deadline. Both sides use it, and no
 * other file reads or writes these sockets. All calls are non-blocking (MSG_DONTWAIT), with poll() between them. So
 * neither side can block the other, and no write raises SIGPIPE. */
#include "helper/protocol.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static sr_pdf_wire_t wire_wait_for(int socket, short events, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - sr_time_steady();
        if (left <= 0) return SR_PDF_WIRE_LATE;
        if (left > 3600 * (int64_t)1000000) left = 3600 * (int64_t)1000000;
        struct pollfd wanted = {.fd = socket, .events = events};
        int ready = poll(&wanted, 1, (int)((left + 999) / 1000));
        if (ready > 0) return SR_PDF_WIRE_OK;
        if (ready < 0 && errno != EINTR) return SR_PDF_WIRE_FAILED;
    }
}

sr_pdf_wire_t sr_pdf_wait(int socket, int64_t deadline)
{
    return wire_wait_for(socket, POLLIN, deadline);
}

/* Handles an errno of sendmsg or recvmsg. SR_PDF_WIRE_OK means that the call should be repeated. */
static sr_pdf_wire_t after_error(int socket, short events, int64_t deadline)
{
    if (errno == EINTR) return SR_PDF_WIRE_OK;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return wire_wait_for(socket, events, deadline);
    return errno == EPIPE || errno == ECONNRESET ? SR_PDF_WIRE_CLOSED : SR_PDF_WIRE_FAILED;
}

#define DESCRIPTORS_SIZE (SR_PDF_DESCRIPTORS * sizeof(int))

typedef union descriptors_t {
    char bytes[CMSG_SPACE(DESCRIPTORS_SIZE)];
    struct cmsghdr align;
} descriptors_t;

static void attach(struct msghdr *message, descriptors_t *control, const int *descriptors)
{
    apr_size_t count = 0;
    while (count < SR_PDF_DESCRIPTORS && descriptors[count] >= 0) count++;
    if (!count) return;
    memset(control, 0, sizeof *control);
    message->msg_control = control->bytes;
    message->msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(part), descriptors, count * sizeof(int));
}

sr_pdf_wire_t sr_pdf_send(int socket, uint32_t id, uint32_t flags, const char *text, apr_size_t length,
                          const int *descriptors, int64_t deadline)
{
    sr_pdf_header_t header = {.magic = SR_PDF_MAGIC, .id = id, .flags = flags, .length = (uint32_t)length};
    apr_size_t sent = 0, total = sizeof header + header.length;
    descriptors_t control;
    while (sent < total) {
        struct iovec parts[2];
        struct msghdr message = {.msg_iov = parts};
        if (sent < sizeof header)
            parts[message.msg_iovlen++] = (struct iovec){(char *)&header + sent, sizeof header - sent};
        apr_size_t of_text = sent < sizeof header ? 0 : sent - sizeof header;
        parts[message.msg_iovlen++] = (struct iovec){(char *)text + of_text, header.length - of_text};
        if (sent == 0 && descriptors) attach(&message, &control, descriptors);

        ssize_t count = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count >= 0) {
            sent += (apr_size_t)count;
            continue;
        }
        sr_pdf_wire_t state = after_error(socket, POLLOUT, deadline);
        if (state != SR_PDF_WIRE_OK) return state;
    }
    return SR_PDF_WIRE_OK;
}

static void close_all(int *descriptors)
{
    for (int i = 0; descriptors && i < SR_PDF_DESCRIPTORS; i++) {
        if (descriptors[i] >= 0) close(descriptors[i]);
        descriptors[i] = -1;
    }
}

/* Takes the descriptors out of a received message. The kernel drops descriptors for which the control buffer has no
 * room. */
static void detach(struct msghdr *message, int *descriptors)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        apr_size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        close_all(descriptors);
        memcpy(descriptors, CMSG_DATA(part), count * sizeof(int));
    }
}

static sr_pdf_wire_t receive_bytes(void *buffer, apr_size_t wanted, int *descriptors, int socket, int64_t deadline)
{
    apr_size_t got = 0;
    while (got < wanted) {
        struct iovec part = {(char *)buffer + got, wanted - got};
        descriptors_t control;
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (descriptors) {
            message.msg_control = control.bytes;
            message.msg_controllen =
                CMSG_LEN(DESCRIPTORS_SIZE); /* without the padding, which would have room for one more */
        }
        ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (count == 0) return SR_PDF_WIRE_CLOSED;
        if (count > 0) {
            if (descriptors) detach(&message, descriptors);
            got += (apr_size_t)count;
            continue;
        }
        sr_pdf_wire_t state = after_error(socket, POLLIN, deadline);
        if (state != SR_PDF_WIRE_OK) return state;
    }
    return SR_PDF_WIRE_OK;
}

sr_pdf_wire_t sr_pdf_receive(sr_pdf_header_t *header, const char **text, int *descriptors, int socket, apr_size_t limit,
                             int64_t deadline, apr_pool_t *pool)
{
    for (int i = 0; descriptors && i < SR_PDF_DESCRIPTORS; i++) descriptors[i] = -1;
    sr_pdf_wire_t state = receive_bytes(header, sizeof *header, descriptors, socket, deadline);
    if (state == SR_PDF_WIRE_OK && (header->magic != SR_PDF_MAGIC || header->length > limit))
        state = SR_PDF_WIRE_GARBAGE;
    if (state == SR_PDF_WIRE_OK) {
        char *buffer = apr_palloc(pool, (apr_size_t)header->length + 1);
        state = receive_bytes(buffer, header->length, NULL, socket, deadline);
        buffer[header->length] = '\0';
        *text = buffer;
    }
    if (state != SR_PDF_WIRE_OK) close_all(descriptors);
    return state;
}
