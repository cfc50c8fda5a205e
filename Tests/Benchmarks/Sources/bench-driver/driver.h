// The load driver: it starts servers, speaks to them through pipes, and measures.
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include "bench_support.h"

#include <jansson.h>

enum { maximumSides = 8 };

/// Messages framed once, before anything is measured.
typedef struct {
    BenchBytes bytes;
    size_t *ends, count;
} Frames;

/// One of the programs compared.
typedef struct {
    const char *name, *log;
    char **argv;
    BenchFraming framing;
    bool is_server; // false: a command that is only started and waited for
    Frames setup, requests;
} Side;

/// What to measure, on which programs.
typedef struct {
    size_t rounds, count, window, warmup;
    double percentile; // of the samples of a round: 50 for the median
    size_t side_count;
    Side sides[maximumSides];
} Plan;

/// Where one frame begins and how long it is.
const char *frame_at(const Frames *frames, size_t index, size_t *size);

/// A server with pipes on it, already answering when it comes from `open_server`.
typedef struct {
    BenchChild child;
    BenchReader reader;
    size_t errors;
    size_t next; // the request whose turn it is, counted on from round to round
    BenchBytes last;
} Server;

Server open_server(const Side *side);
void close_server(const Side *side, Server *server);

/// Sends one frame and waits for one reply; returns the nanoseconds between.
int64_t round_trip(Server *server, const Frames *frames, size_t index);

/// Keeps `window` requests in flight, taking `frames` in turn, until `total` are answered; returns the nanoseconds it took.
/// With `samples` (room for `total`), each gets the nanoseconds from writing a request to reading its reply; the request
/// in place n of `frames` must then have the id n + 1, and `total` be at most their count.
int64_t flood(Server *server, const Frames *frames, size_t total, size_t window, int64_t *samples);

/// The last reply of a server as a JSON string (at most 64 KiB of it), for the caller to look at.
json_t *last_reply(const Server *server);

// One function per mode. Each returns an array with one object per side, in the order of the plan.
json_t *measure_round_trips(const Plan *plan);
json_t *measure_fresh_round_trips(const Plan *plan);
json_t *measure_floods(const Plan *plan);
json_t *measure_responses(const Plan *plan);
json_t *measure_batches(const Plan *plan);
json_t *measure_starts(const Plan *plan);

#endif
