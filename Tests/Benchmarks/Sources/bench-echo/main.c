// The yardstick: what a server costs that only parses the request with jansson and writes a reply with jansson.
//
//   bench-echo [--reply-bytes N] [--lookup index.sqlite]
//
// `ping` gets null. Any other method gets an object with the request's `url` (or `key`), filled up so that the whole reply
// has N bytes. With --lookup each of them also costs one SQLite lookup by key and one stat of the path found there.
// Both framings, one write per burst, blocking reads; arguments it does not know are ignored.
#include "bench_support.h"

#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    size_t reply_bytes;
    json_t *fill;
    sqlite3_stmt *lookup;
} Echo;

static sqlite3_stmt *open_lookup(const char *path) {
    sqlite3 *database;
    sqlite3_stmt *statement;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        bench_fail("Cannot open %s: %s.", path, sqlite3_errmsg(database));
    const char *text = "SELECT path, size FROM entries WHERE key = ?1";
    if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK)
        bench_fail("Cannot prepare the lookup: %s.", sqlite3_errmsg(database));
    return statement;
}

/// Looks the key up and asks the file system for the file, as a first hit must.
static json_t *looked_up_path(sqlite3_stmt *lookup, const char *key, size_t length) {
    sqlite3_bind_text(lookup, 1, key, (int)length, SQLITE_STATIC);
    json_t *path = NULL;
    if (sqlite3_step(lookup) == SQLITE_ROW) {
        struct stat found;
        const char *text = (const char *)sqlite3_column_text(lookup, 0);
        if (stat(text, &found) == 0 && found.st_size == sqlite3_column_int64(lookup, 1)) path = json_string(text);
    }
    sqlite3_reset(lookup);
    if (!path) bench_fail("The index or the folder lacks %s.", key);
    return path;
}

static json_t *hit(Echo *echo, json_t *params, json_t *reply) {
    json_t *url = json_object_get(params, "url");
    if (!url) url = json_object_get(params, "key");
    json_t *result = json_object();
    if (url) json_object_set(result, "url", url);
    if (url && echo->lookup)
        json_object_set_new(
            result, "path", looked_up_path(echo->lookup, json_string_value(url), json_string_length(url)));
    if (!echo->fill) {
        json_object_set_new(result, "fill", json_string(""));
        json_object_set(reply, "result", result);
        size_t bare = json_dumpb(reply, NULL, 0, JSON_COMPACT);
        size_t missing = echo->reply_bytes > bare ? echo->reply_bytes - bare : 0;
        char *text = malloc(missing + 1);
        memset(text, 'x', missing);
        echo->fill = json_stringn(text, missing);
        free(text);
    }
    json_object_set(result, "fill", echo->fill);
    return result;
}

static void answer(Echo *echo, const char *body, size_t size, BenchFraming framing, BenchBytes *out) {
    json_t *request = json_loadb(body, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (!request) bench_fail("The echo was sent something that is not JSON.");
    json_t *id = json_object_get(request, "id");
    const char *method = json_string_value(json_object_get(request, "method"));
    if (id && method) {
        json_t *reply = json_object();
        json_object_set_new(reply, "jsonrpc", json_string("2.0"));
        json_object_set(reply, "id", id);
        json_t *result = strcmp(method, "ping") == 0 ? json_null() : hit(echo, json_object_get(request, "params"), reply);
        json_object_set_new(reply, "result", result);
        static char text[1 << 16];
        size_t length = json_dumpb(reply, text, sizeof text, JSON_COMPACT);
        if (length > sizeof text) bench_fail("A reply of %zu bytes is too long for the echo.", length);
        bench_append_frame(out, framing, text, length);
        json_decref(reply);
    }
    json_decref(request);
}

int main(int count, char **arguments) {
    Echo echo = {0};
    for (int i = 1; i + 1 < count; i++) {
        if (strcmp(arguments[i], "--reply-bytes") == 0) echo.reply_bytes = strtoull(arguments[i + 1], NULL, 10);
        if (strcmp(arguments[i], "--lookup") == 0) echo.lookup = open_lookup(arguments[i + 1]);
    }
    signal(SIGPIPE, SIG_IGN);
    BenchReader reader = {.framing = BENCH_DETECT};
    BenchBytes out = {0};
    while (bench_fill(&reader, STDIN_FILENO)) {
        const char *body;
        size_t size;
        while (bench_next_frame(&reader, &body, &size)) answer(&echo, body, size, reader.framing, &out);
        if (out.size > 0 && !bench_write_all(STDOUT_FILENO, out.data, out.size)) return 0;
        out.size = 0;
    }
    return 0;
}
