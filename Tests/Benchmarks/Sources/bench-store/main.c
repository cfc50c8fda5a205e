// The yardstick of `store`: for each entry one file written beside and renamed, and one SQLite upsert, nothing else.
//
//   bench-store FOLDER PICTURE COUNT process|disk
//
// `disk` adds one fdatasync before each rename. Prints {"seconds": …} for all COUNT entries.
#define _GNU_SOURCE
#include "bench_support.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void make_folder(const char *path) {
    if (mkdir(path, 0700) && errno != EEXIST) bench_fail("Cannot make the folder %s: %s.", path, strerror(errno));
}

static sqlite3 *open_index(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/index.sqlite", folder);
    sqlite3 *database;
    const char *schema = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                         "CREATE TABLE entries (hash TEXT PRIMARY KEY, key TEXT NOT NULL, size INTEGER NOT NULL,"
                         " stored INTEGER NOT NULL, used INTEGER NOT NULL, expires INTEGER) WITHOUT ROWID;";
    if (sqlite3_open(path, &database) != SQLITE_OK || sqlite3_exec(database, schema, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail("Cannot make the index %s: %s.", path, sqlite3_errmsg(database));
    return database;
}

static sqlite3_stmt *prepare_upsert(sqlite3 *database) {
    sqlite3_stmt *upsert;
    const char *text = "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?4, ?5) ON CONFLICT (hash) DO UPDATE SET"
                       " size = excluded.size, stored = excluded.stored, used = excluded.used, expires = excluded.expires";
    if (sqlite3_prepare_v2(database, text, -1, &upsert, NULL) != SQLITE_OK)
        bench_fail("Cannot prepare the upsert: %s.", sqlite3_errmsg(database));
    return upsert;
}

/// 64 hexadecimal digits that differ for every number, as spread out as a hash.
static void name_entry(uint64_t number, char name[65]) {
    for (int part = 0; part < 4; part++) {
        uint64_t mixed = number * 4 + (uint64_t)part + 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        snprintf(name + 16 * part, 17, "%016llx", (unsigned long long)(mixed ^ (mixed >> 31)));
    }
}

static void write_beside_and_rename(const char *folder, const char *name, BenchBytes picture, bool synced) {
    char beside[4096], final[4096];
    snprintf(beside, sizeof beside, "%s/partial/%s", folder, name);
    snprintf(final, sizeof final, "%s/blobs/%.2s/%s.jpg", folder, name, name);
    int file = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 || !bench_write_all(file, picture.data, picture.size) || (synced && fdatasync(file)) || close(file) ||
        rename(beside, final))
        bench_fail("Cannot write %s: %s.", final, strerror(errno));
}

static void upsert_row(sqlite3_stmt *upsert, const char *name, uint64_t number, size_t size) {
    char key[96];
    snprintf(key, sizeof key, "http://127.0.0.1/pictures/%06llu.jpg", (unsigned long long)number);
    int64_t now = (int64_t)time(NULL);
    sqlite3_bind_text(upsert, 1, name, 64, SQLITE_STATIC);
    sqlite3_bind_text(upsert, 2, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(upsert, 3, (sqlite3_int64)size);
    sqlite3_bind_int64(upsert, 4, now);
    sqlite3_bind_int64(upsert, 5, now + 604800);
    if (sqlite3_step(upsert) != SQLITE_DONE) bench_fail("The upsert of %s failed.", key);
    sqlite3_reset(upsert);
}

int main(int count, char **arguments) {
    if (count != 5) bench_fail("Usage: bench-store FOLDER PICTURE COUNT process|disk");
    const char *folder = arguments[1];
    BenchBytes picture = bench_read_file(arguments[2]);
    uint64_t entries = strtoull(arguments[3], NULL, 10);
    bool synced = strcmp(arguments[4], "disk") == 0;

    char path[4096];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/partial", folder);
    make_folder(path);
    snprintf(path, sizeof path, "%s/blobs", folder);
    make_folder(path);
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof path, "%s/blobs/%02x", folder, i);
        make_folder(path);
    }
    sqlite3 *database = open_index(folder);
    sqlite3_stmt *upsert = prepare_upsert(database);

    int64_t begin = bench_now();
    for (uint64_t i = 0; i < entries; i++) {
        char name[65];
        name_entry(i, name);
        write_beside_and_rename(folder, name, picture, synced);
        upsert_row(upsert, name, i, picture.size);
    }
    printf("{\"seconds\": %.9f}\n", (double)(bench_now() - begin) / 1e9);
    sqlite3_finalize(upsert);
    sqlite3_close(database);
    return 0;
}
