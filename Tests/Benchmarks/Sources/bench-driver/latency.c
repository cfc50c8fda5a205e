// One request at a time: running servers, fresh servers, and starting them.
#include "driver.h"

#include <stdlib.h>

static json_t *result_of(const Side *side, json_t *rounds) {
    return json_pack("{s:s, s:o}", "name", side->name, "rounds", rounds);
}

/// All sides run at once and take turns; a round is the median (or `percentile`) of `count` round trips, in
/// nanoseconds. Requests are sent in turn, on and on from round to round.
json_t *measure_round_trips(const Plan *plan) {
    Server servers[maximumSides];
    json_t *rounds[maximumSides], *results = json_array();
    int64_t *samples = calloc(plan->count, sizeof *samples);
    for (size_t i = 0; i < plan->side_count; i++) {
        const Side *side = &plan->sides[i];
        rounds[i] = json_array();
        servers[i] = open_server(side);
        for (size_t n = 0; n < plan->warmup; n++) round_trip(&servers[i], &side->requests, servers[i].next++ % side->requests.count);
    }
    for (size_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < plan->side_count; i++) {
            const Frames *requests = &plan->sides[i].requests;
            for (size_t n = 0; n < plan->count; n++) samples[n] = round_trip(&servers[i], requests, servers[i].next++ % requests->count);
            json_array_append_new(rounds[i], json_integer(bench_percentile(samples, plan->count, plan->percentile)));
        }
    for (size_t i = 0; i < plan->side_count; i++) {
        json_t *result = result_of(&plan->sides[i], rounds[i]);
        json_object_set_new(result, "reply", last_reply(&servers[i]));
        close_server(&plan->sides[i], &servers[i]);
        json_array_append_new(results, result);
    }
    free(samples);
    return results;
}

/// Each round starts each server anew, sends its setup, then every request once; a round is their median, in nanoseconds.
json_t *measure_fresh_round_trips(const Plan *plan) {
    json_t *results = json_array();
    for (size_t i = 0; i < plan->side_count; i++)
        json_array_append_new(results, result_of(&plan->sides[i], json_array()));
    for (size_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < plan->side_count; i++) {
            const Side *side = &plan->sides[i];
            int64_t *samples = calloc(side->requests.count, sizeof *samples);
            Server server = open_server(side);
            for (size_t n = 0; n < side->requests.count; n++) samples[n] = round_trip(&server, &side->requests, n);
            json_t *result = json_array_get(results, i);
            json_array_append_new(
                json_object_get(result, "rounds"), json_integer(bench_median(samples, side->requests.count)));
            json_object_set_new(result, "reply", last_reply(&server));
            close_server(side, &server);
            free(samples);
        }
    return results;
}

static int64_t time_one_start(const Side *side) {
    if (side->is_server) {
        bench_deadline(120);
        int64_t begin = bench_now();
        Server server = {.child = bench_start(side->argv, side->log), .reader = {.framing = side->framing}};
        round_trip(&server, &side->requests, 0);
        int64_t taken = bench_now() - begin;
        close_server(side, &server);
        free(server.reader.bytes.data);
        free(server.last.data);
        return taken;
    }
    bench_deadline(120);
    int64_t begin = bench_now();
    BenchChild child = bench_start(side->argv, side->log);
    if (bench_finish(&child) != 0) bench_fail("%s failed.", side->name);
    return bench_now() - begin;
}

/// A round is the median of `count` starts, in nanoseconds: to the first answer of a server, to the end of a command.
json_t *measure_starts(const Plan *plan) {
    json_t *results = json_array();
    int64_t *samples = calloc(plan->count, sizeof *samples);
    for (size_t i = 0; i < plan->side_count; i++) {
        json_array_append_new(results, result_of(&plan->sides[i], json_array()));
        time_one_start(&plan->sides[i]);
    }
    for (size_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < plan->side_count; i++) {
            for (size_t n = 0; n < plan->count; n++) samples[n] = time_one_start(&plan->sides[i]);
            json_array_append_new(json_object_get(json_array_get(results, i), "rounds"),
                json_integer(bench_median(samples, plan->count)));
        }
    free(samples);
    return results;
}
