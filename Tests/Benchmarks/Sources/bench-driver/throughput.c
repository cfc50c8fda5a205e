// Many requests in flight, and what they leave in memory.
#include "driver.h"

#include <stdlib.h>

static json_t *memory_of(const Server *server) {
    return json_pack("{s:I, s:I}", "rss", (json_int_t)bench_status_kib(server->child.pid, "VmRSS:"), "peak",
        (json_int_t)bench_status_kib(server->child.pid, "VmHWM:"));
}

/// All sides run at once and take turns; a round is the nanoseconds that `count` requests take with `window` in flight.
json_t *measure_floods(const Plan *plan) {
    Server servers[maximumSides];
    json_t *rounds[maximumSides], *results = json_array();
    for (size_t i = 0; i < plan->side_count; i++) {
        rounds[i] = json_array();
        servers[i] = open_server(&plan->sides[i]);
        if (plan->warmup > 0) flood(&servers[i], &plan->sides[i].requests, plan->warmup, plan->window, NULL);
    }
    for (size_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < plan->side_count; i++)
            json_array_append_new(rounds[i],
                json_integer(flood(&servers[i], &plan->sides[i].requests, plan->count, plan->window, NULL)));
    for (size_t i = 0; i < plan->side_count; i++) {
        const Side *side = &plan->sides[i];
        json_array_append_new(results,
            json_pack("{s:s, s:o, s:o}", "name", side->name, "rounds", rounds[i], "reply", last_reply(&servers[i])));
        close_server(side, &servers[i]);
    }
    return results;
}

/// All sides run at once and take turns; a round is the median (or `percentile`) of the nanoseconds from writing a request
/// to reading its reply, of `count` requests with `window` in flight.
json_t *measure_responses(const Plan *plan) {
    Server servers[maximumSides];
    json_t *rounds[maximumSides], *results = json_array();
    int64_t *samples = calloc(plan->count, sizeof *samples);
    for (size_t i = 0; i < plan->side_count; i++) {
        const Side *side = &plan->sides[i];
        if (plan->count > side->requests.count) bench_fail("%s has fewer requests than a round sends.", side->name);
        rounds[i] = json_array();
        servers[i] = open_server(side);
        if (plan->warmup > 0) flood(&servers[i], &side->requests, plan->warmup, plan->window, NULL);
    }
    for (size_t round = 0; round < plan->rounds; round++)
        for (size_t i = 0; i < plan->side_count; i++) {
            flood(&servers[i], &plan->sides[i].requests, plan->count, plan->window, samples);
            json_array_append_new(rounds[i], json_integer(bench_percentile(samples, plan->count, plan->percentile)));
        }
    for (size_t i = 0; i < plan->side_count; i++) {
        json_array_append_new(results, json_pack("{s:s, s:o, s:o}", "name", plan->sides[i].name, "rounds", rounds[i],
            "reply", last_reply(&servers[i])));
        close_server(&plan->sides[i], &servers[i]);
    }
    free(samples);
    return results;
}

/// A command from its start to its end, and what it printed.
static json_t *measure_command(const Side *side) {
    bench_deadline(300);
    int64_t begin = bench_now();
    BenchChild child = bench_start(side->argv, side->log);
    BenchReader reader = {0};
    while (bench_fill(&reader, child.output)) continue;
    int status = bench_finish(&child);
    int64_t taken = bench_now() - begin;
    if (status != 0) bench_fail("%s ended with status %d.", side->name, status);
    bench_deadline(0);
    json_t *result = json_pack("{s:s, s:I, s:I, s:{s:I}, s:s#}", "name", side->name, "sinceStart", (json_int_t)taken, "cpu",
        (json_int_t)child.cpu, "after", "peak", (json_int_t)child.peak, "reply", reader.bytes.data ? reader.bytes.data : "",
        (int)reader.bytes.size);
    free(reader.bytes.data);
    return result;
}

/// Each server is started once and sent its setup, then its requests once (or `count` of them, in turn) with `window` in
/// flight: nanoseconds from the first request and from the start, of processor time, and its memory after the setup and at
/// the end, in KiB. A command without requests is run once.
json_t *measure_batches(const Plan *plan) {
    json_t *results = json_array();
    for (size_t i = 0; i < plan->side_count; i++) {
        const Side *side = &plan->sides[i];
        if (!side->is_server) {
            json_array_append_new(results, measure_command(side));
            continue;
        }
        size_t total = plan->count > 0 ? plan->count : side->requests.count;
        int64_t begin = bench_now();
        Server server = open_server(side);
        json_t *before = memory_of(&server);
        int64_t taken = flood(&server, &side->requests, total, plan->window, NULL);
        int64_t since_start = bench_now() - begin;
        json_array_append_new(results,
            json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "name", side->name, "taken", (json_int_t)taken, "sinceStart",
                (json_int_t)since_start, "cpu", (json_int_t)bench_cpu(server.child.pid), "before", before, "after",
                memory_of(&server), "reply", last_reply(&server)));
        close_server(side, &server);
    }
    return results;
}
