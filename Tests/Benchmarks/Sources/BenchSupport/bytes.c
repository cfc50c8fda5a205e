// Time, failure and byte buffers.
#include "bench_support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int64_t bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int by_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

int64_t bench_percentile(int64_t *samples, size_t count, double percentile) {
    if (count == 0) bench_fail("There are no samples to take a percentile of.");
    qsort(samples, count, sizeof *samples, by_value);
    size_t rank = (size_t)(percentile / 100 * (double)count + 0.999999);
    return samples[rank == 0 ? 0 : rank > count ? count - 1 : rank - 1];
}

int64_t bench_median(int64_t *samples, size_t count) {
    return bench_percentile(samples, count, 50);
}

char *bench_reserve(BenchBytes *bytes, size_t extra) {
    if (bytes->size + extra > bytes->capacity) {
        size_t wanted = bytes->capacity ? bytes->capacity : 65536;
        while (wanted < bytes->size + extra) wanted *= 2;
        bytes->data = realloc(bytes->data, wanted);
        if (!bytes->data) bench_fail("There is no memory for %zu bytes.", wanted);
        bytes->capacity = wanted;
    }
    return bytes->data + bytes->size;
}

void bench_append(BenchBytes *bytes, const void *data, size_t size) {
    memcpy(bench_reserve(bytes, size), data, size);
    bytes->size += size;
}

BenchBytes bench_read_file(const char *path) {
    BenchBytes bytes = {0};
    FILE *file = fopen(path, "rb");
    if (!file) bench_fail("Cannot open %s: %s.", path, strerror(errno));
    size_t got;
    while ((got = fread(bench_reserve(&bytes, 65536), 1, 65536, file)) > 0) bytes.size += got;
    fclose(file);
    return bytes;
}

bool bench_write_all(int descriptor, const void *data, size_t size) {
    const char *next = data;
    while (size > 0) {
        ssize_t wrote = write(descriptor, next, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        next += wrote;
        size -= (size_t)wrote;
    }
    return true;
}
