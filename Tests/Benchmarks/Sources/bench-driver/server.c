// One server: start, ask, flood, stop.
#define _GNU_SOURCE
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { patience = 120 };

const char *frame_at(const Frames *frames, size_t index, size_t *size) {
    size_t begin = index == 0 ? 0 : frames->ends[index - 1];
    *size = frames->ends[index] - begin;
    return frames->bytes.data + begin;
}

Server open_server(const Side *side) {
    Server server = {.child = bench_start(side->argv, side->log), .reader = {.framing = side->framing}};
    // Only our end: a program in the pipe's other end never sees O_NONBLOCK.
    fcntl(server.child.input, F_SETFL, fcntl(server.child.input, F_GETFL) | O_NONBLOCK);
    for (size_t i = 0; i < side->setup.count; i++) round_trip(&server, &side->setup, i);
    return server;
}

void close_server(const Side *side, Server *server) {
    bench_deadline(patience);
    int status = bench_finish(&server->child);
    if (status != 0) bench_fail("%s ended with status %d.", side->name, status);
    if (server->errors > 0)
        bench_fail("%s answered %zu requests with an error; the last: %.*s", side->name, server->errors,
            (int)(server->last.size > 500 ? 500 : server->last.size), server->last.data);
    bench_deadline(0);
}

static void keep(Server *server, const char *body, size_t size) {
    bool failed = memmem(body, size, "\"error\":", 8) != NULL;
    if (!failed && server->errors > 0) return; // keep showing the last error
    server->errors += failed;
    server->last.size = 0;
    bench_append(&server->last, body, size > 65536 ? 65536 : size);
}

static void send_all(Server *server, const char *data, size_t size) {
    while (size > 0) {
        ssize_t wrote = write(server->child.input, data, size);
        if (wrote < 0 && (errno == EAGAIN || errno == EINTR)) {
            poll(&(struct pollfd){.fd = server->child.input, .events = POLLOUT}, 1, -1);
            continue;
        }
        if (wrote < 0) bench_fail("The server closed its input: %s.", strerror(errno));
        data += wrote;
        size -= (size_t)wrote;
    }
}

int64_t round_trip(Server *server, const Frames *frames, size_t index) {
    size_t size;
    const char *frame = frame_at(frames, index, &size);
    const char *body;
    size_t length;
    static int64_t renewed;
    int64_t begin = bench_now();
    if (begin - renewed > 1000000000) {
        bench_deadline(patience);
        renewed = begin;
        begin = bench_now();
    }
    send_all(server, frame, size);
    while (!bench_next_frame(&server->reader, &body, &length))
        if (!bench_fill(&server->reader, server->child.output)) bench_fail("The server ended without an answer.");
    int64_t taken = bench_now() - begin;
    keep(server, body, length);
    return taken;
}

/// The id of a reply, which is a number; 0 when there is none.
static size_t id_of(const char *body, size_t size) {
    const char *name = memmem(body, size, "\"id\":", 5);
    return name ? strtoull(name + 5, NULL, 10) : 0;
}

int64_t flood(Server *server, const Frames *frames, size_t total, size_t window, int64_t *samples) {
    bench_deadline(patience);
    BenchBytes out = {0};
    size_t out_start = 0, queued = 0, done = 0, allowed = window < total ? window : total;
    int64_t *sent = samples ? calloc(frames->count, sizeof *sent) : NULL;
    int64_t begin = bench_now();
    while (done < total) {
        for (; queued < allowed; queued++) {
            size_t size, place = server->next++ % frames->count;
            const char *frame = frame_at(frames, place, &size);
            if (sent) sent[place] = bench_now();
            bench_append(&out, frame, size);
        }
        if (out_start < out.size) {
            ssize_t wrote = write(server->child.input, out.data + out_start, out.size - out_start);
            if (wrote < 0 && errno != EAGAIN && errno != EINTR)
                bench_fail("The server closed its input: %s.", strerror(errno));
            if (wrote > 0) out_start += (size_t)wrote;
            if (out_start == out.size) out_start = out.size = 0;
        }
        if (out_start < out.size) {
            struct pollfd both[2] = {{.fd = server->child.output, .events = POLLIN},
                {.fd = server->child.input, .events = POLLOUT}};
            poll(both, 2, -1);
            if (!(both[0].revents & (POLLIN | POLLHUP))) continue;
        }
        if (!bench_fill(&server->reader, server->child.output)) bench_fail("The server ended with requests unanswered.");
        const char *body;
        size_t length, before = done;
        while (bench_next_frame(&server->reader, &body, &length)) {
            keep(server, body, length);
            if (sent) {
                size_t id = id_of(body, length);
                if (id == 0 || id > frames->count || sent[id - 1] == 0) bench_fail("A reply has an id nobody sent.");
                samples[done] = bench_now() - sent[id - 1];
            }
            done++;
        }
        allowed += done - before;
        if (allowed > total) allowed = total;
    }
    int64_t taken = bench_now() - begin;
    free(out.data);
    free(sent);
    bench_deadline(0);
    return taken;
}

json_t *last_reply(const Server *server) {
    json_t *text = json_stringn(server->last.data, server->last.size);
    return text ? text : json_null();
}
