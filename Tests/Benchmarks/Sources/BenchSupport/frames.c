// Both framings of the protocol, in and out.
#define _GNU_SOURCE
#include "bench_support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bench_append_frame(BenchBytes *out, BenchFraming framing, const char *body, size_t size) {
    if (framing == BENCH_LENGTH) {
        char header[48];
        int length = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", size);
        bench_append(out, header, (size_t)length);
    }
    bench_append(out, body, size);
    if (framing != BENCH_LENGTH) bench_append(out, "\n", 1);
}

static bool next_line(BenchReader *reader, const char **body, size_t *size) {
    const char *begin = reader->bytes.data + reader->start;
    const char *end = memchr(begin, '\n', reader->bytes.size - reader->start);
    if (!end) return false;
    *body = begin;
    *size = (size_t)(end - begin);
    reader->start += *size + 1;
    return true;
}

static bool next_with_length(BenchReader *reader, const char **body, size_t *size) {
    static const char field[] = "Content-Length: ";
    const char *begin = reader->bytes.data + reader->start;
    size_t held = reader->bytes.size - reader->start;
    const char *blank = memmem(begin, held, "\r\n\r\n", 4);
    if (!blank) return false;
    if (strncmp(begin, field, sizeof field - 1) != 0) bench_fail("A frame does not begin with Content-Length.");
    size_t length = strtoull(begin + sizeof field - 1, NULL, 10), head = (size_t)(blank - begin) + 4;
    if (held < head + length) return false;
    *body = begin + head;
    *size = length;
    reader->start += head + length;
    return true;
}

bool bench_next_frame(BenchReader *reader, const char **body, size_t *size) {
    if (reader->start == reader->bytes.size) return false;
    if (reader->framing == BENCH_DETECT) {
        char first = reader->bytes.data[reader->start];
        reader->framing = first == '{' || first == '[' ? BENCH_LINES : BENCH_LENGTH;
    }
    return reader->framing == BENCH_LINES ? next_line(reader, body, size) : next_with_length(reader, body, size);
}

bool bench_fill(BenchReader *reader, int descriptor) {
    BenchBytes *bytes = &reader->bytes;
    if (reader->start == bytes->size) {
        reader->start = bytes->size = 0;
    } else if (reader->start > 0) {
        memmove(bytes->data, bytes->data + reader->start, bytes->size - reader->start);
        bytes->size -= reader->start;
        reader->start = 0;
    }
    // One byte more than is read, so that strtoull never runs off the end.
    char *room = bench_reserve(bytes, 65537);
    ssize_t got;
    do got = read(descriptor, room, 65536);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    bytes->size += (size_t)got;
    room[got] = 0;
    return true;
}
