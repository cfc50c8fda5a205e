// bench-driver: reads a plan as one JSON object on standard input, measures, prints the results as one JSON array.
//
//   {"mode": "roundTrips" | "freshRoundTrips" | "floods" | "responses" | "batches" | "starts",
//    "rounds": 7, "count": 5000, "window": 64, "warmup": 500, "pin": true, "percentile": 50,
//    "sides": [{"name": "ours", "argv": ["halcyon", "serve"], "log": "FILE or null", "framing": "lines" | "content-length",
//               "setup": "FILE or null", "requests": "FILE or null"}]}
//
// Files hold one message body a line; the driver frames them. A side without requests is a command, timed to its end.
#include "driver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Frames load_frames(json_t *path, BenchFraming framing) {
    Frames frames = {0};
    if (!json_is_string(path)) return frames;
    BenchBytes file = bench_read_file(json_string_value(path));
    size_t lines = 0;
    for (size_t i = 0; i < file.size; i++) lines += file.data[i] == '\n';
    frames.ends = calloc(lines + 1, sizeof *frames.ends);
    for (size_t begin = 0; begin < file.size;) {
        char *newline = memchr(file.data + begin, '\n', file.size - begin);
        size_t end = newline ? (size_t)(newline - file.data) : file.size;
        bench_append_frame(&frames.bytes, framing, file.data + begin, end - begin);
        frames.ends[frames.count++] = frames.bytes.size;
        begin = end + 1;
    }
    free(file.data);
    return frames;
}

static Side load_side(json_t *value) {
    const char *framing = json_string_value(json_object_get(value, "framing"));
    Side side = {
        .name = json_string_value(json_object_get(value, "name")),
        .log = json_string_value(json_object_get(value, "log")),
        .framing = framing && strcmp(framing, "content-length") == 0 ? BENCH_LENGTH : BENCH_LINES,
        .is_server = json_is_string(json_object_get(value, "requests")),
    };
    json_t *argv = json_object_get(value, "argv");
    if (!side.name || json_array_size(argv) == 0) bench_fail("Each side of the plan needs a name and an argv.");
    side.argv = calloc(json_array_size(argv) + 1, sizeof *side.argv);
    for (size_t i = 0; i < json_array_size(argv); i++) side.argv[i] = strdup(json_string_value(json_array_get(argv, i)));
    side.setup = load_frames(json_object_get(value, "setup"), side.framing);
    side.requests = load_frames(json_object_get(value, "requests"), side.framing);
    return side;
}

static size_t number(json_t *plan, const char *name) {
    return (size_t)json_integer_value(json_object_get(plan, name));
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    json_error_t error;
    json_t *document = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
    if (!document) bench_fail("The plan is not JSON: %s.", error.text);
    Plan plan = {
        .rounds = number(document, "rounds"),
        .count = number(document, "count"),
        .window = number(document, "window"),
        .warmup = number(document, "warmup"),
        .percentile = 50,
    };
    json_t *percentile = json_object_get(document, "percentile");
    if (json_is_number(percentile)) plan.percentile = json_number_value(percentile);
    json_t *sides = json_object_get(document, "sides");
    plan.side_count = json_array_size(sides);
    if (plan.side_count == 0 || plan.side_count > maximumSides) bench_fail("A plan has 1 to %d sides.", maximumSides);
    for (size_t i = 0; i < plan.side_count; i++) plan.sides[i] = load_side(json_array_get(sides, i));
    if (json_is_true(json_object_get(document, "pin"))) bench_pin();

    const char *mode = json_string_value(json_object_get(document, "mode"));
    json_t *results = NULL;
    if (!mode) bench_fail("The plan has no mode.");
    if (strcmp(mode, "roundTrips") == 0) results = measure_round_trips(&plan);
    if (strcmp(mode, "freshRoundTrips") == 0) results = measure_fresh_round_trips(&plan);
    if (strcmp(mode, "floods") == 0) results = measure_floods(&plan);
    if (strcmp(mode, "responses") == 0) results = measure_responses(&plan);
    if (strcmp(mode, "batches") == 0) results = measure_batches(&plan);
    if (strcmp(mode, "starts") == 0) results = measure_starts(&plan);
    if (!results) bench_fail("The mode %s is unknown.", mode);
    json_dumpf(results, stdout, JSON_COMPACT);
    return 0;
}
