// What the load driver and the yardsticks share: time, byte buffers, frames and child processes.
#ifndef BENCH_SUPPORT_H
#define BENCH_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Nanoseconds of the monotonic clock.
int64_t bench_now(void);

/// Prints one sentence on stderr, kills every child that is still running, and exits with code 1.
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The middle value of `count` samples, which are sorted in place; the lower one of the two when `count` is even.
int64_t bench_median(int64_t *samples, size_t count);

/// The sample that `percentile` per cent of the samples do not exceed; they are sorted in place.
int64_t bench_percentile(int64_t *samples, size_t count, double percentile);

/// A growing run of bytes.
typedef struct {
    char *data;
    size_t size, capacity;
} BenchBytes;

/// Makes room for `extra` bytes after `size` and returns where they begin.
char *bench_reserve(BenchBytes *bytes, size_t extra);

/// Appends `size` bytes.
void bench_append(BenchBytes *bytes, const void *data, size_t size);

/// Reads a whole file; fails with a sentence when it cannot.
BenchBytes bench_read_file(const char *path);

/// Writes every byte to a blocking descriptor. False when the reader is gone.
bool bench_write_all(int descriptor, const void *data, size_t size);

/// How one message is told from the next. `BENCH_DETECT` decides by the first byte read.
typedef enum { BENCH_LINES, BENCH_LENGTH, BENCH_DETECT } BenchFraming;

/// Appends `body` as one frame: the body and a newline, or a Content-Length header and the body.
void bench_append_frame(BenchBytes *out, BenchFraming framing, const char *body, size_t size);

/// Cuts a stream of bytes into message bodies.
typedef struct {
    BenchFraming framing;
    BenchBytes bytes;
    size_t start;
} BenchReader;

/// The next whole body already read, or false when more bytes are needed. The body is valid until the next fill.
bool bench_next_frame(BenchReader *reader, const char **body, size_t *size);

/// Reads once from `descriptor`. False at the end of the stream.
bool bench_fill(BenchReader *reader, int descriptor);

/// A running program with pipes on its standard input and output.
typedef struct {
    pid_t pid;
    int input, output;
    /// Known when it has ended: nanoseconds of processor time, and the most memory it had, in KiB.
    int64_t cpu;
    long peak;
} BenchChild;

/// Starts `argv` (found through PATH). Its stderr goes to the file `log`, or to /dev/null when `log` is NULL.
BenchChild bench_start(char *const argv[], const char *log);

/// Closes the child's input, waits for its end and returns its exit status (128 + signal when it was killed).
int bench_finish(BenchChild *child);

/// One field of /proc/PID/status in KiB, for instance "VmRSS:"; −1 when the process is gone.
long bench_status_kib(pid_t pid, const char *field);

/// The processor time a running program has used, in nanoseconds; −1 when the process is gone.
int64_t bench_cpu(pid_t pid);

/// Confines this process, and the children it starts later, to one of the processors it may use (the last one).
void bench_pin(void);

/// Gives up after `seconds` without another call, so that a hung server ends the benchmark with a sentence.
void bench_deadline(unsigned seconds);

#endif
