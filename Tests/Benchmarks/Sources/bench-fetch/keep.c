// What must be done with every picture: its digest, a file written beside and linked to its name, and a row of the index.
#define _GNU_SOURCE
#include "fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// As many as the server enters in one transaction.
enum { GROUP = 32 };

static const char *root;
static pthread_t thread;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;
static Picture *first, **last = &first;
static bool is_over;

void digest(const void *data, size_t size, unsigned char sum[32]) {
    if (EVP_Digest(data, size, sum, NULL, EVP_sha256(), NULL) != 1) bench_fail("Cannot make a SHA-256.");
}

static void make_folder(const char *path) {
    if (mkdir(path, 0700) && errno != EEXIST) bench_fail("Cannot make the folder %s: %s.", path, strerror(errno));
}

static sqlite3 *open_index(void) {
    char path[4096];
    snprintf(path, sizeof path, "%s/index.sqlite", root);
    sqlite3 *index;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    // As many indexes and sums as the server's.
    const char *schema =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000;"
        "CREATE TABLE IF NOT EXISTS entries(id INTEGER PRIMARY KEY, name BLOB NOT NULL, key TEXT NOT NULL, format TEXT,"
        " width INTEGER, height INTEGER, bytes INTEGER, checksum BLOB, url TEXT, etag TEXT, last_modified TEXT,"
        " stored INTEGER, expires INTEGER, used INTEGER, content INTEGER, host TEXT, http TEXT);"
        "CREATE INDEX IF NOT EXISTS by_use ON entries(used); CREATE INDEX IF NOT EXISTS by_content ON entries(content);"
        "CREATE INDEX IF NOT EXISTS by_expiry ON entries(expires);"
        "CREATE TABLE IF NOT EXISTS totals(id INTEGER PRIMARY KEY, count INTEGER, bytes INTEGER);"
        "INSERT OR IGNORE INTO totals VALUES(1, 0, 0);";
    if (sqlite3_open_v2(path, &index, flags, NULL) != SQLITE_OK || sqlite3_busy_timeout(index, 10000) != SQLITE_OK ||
        sqlite3_exec(index, schema, NULL, NULL, NULL) != SQLITE_OK)
        bench_fail("Cannot make the index %s: %s.", path, sqlite3_errmsg(index));
    return index;
}

static sqlite3_stmt *prepare(sqlite3 *index, const char *text) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(index, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        bench_fail("Cannot prepare \"%s\": %s.", text, sqlite3_errmsg(index));
    return statement;
}

static bool step(sqlite3_stmt *statement) {
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) bench_fail("The index failed with code %d.", code);
    sqlite3_reset(statement);
    return code == SQLITE_ROW;
}

static int64_t number(const unsigned char sum[32]) {
    int64_t number;
    memcpy(&number, sum, sizeof number);
    return number & INT64_MAX;
}

bool keep_has(const char *url) {
    static sqlite3_stmt *find;
    if (!find) find = prepare(open_index(), "SELECT * FROM entries WHERE id = ?1");
    unsigned char name[32];
    digest(url, strlen(url), name);
    sqlite3_bind_int64(find, 1, number(name));
    return step(find);
}

static void write_draft(Picture *picture) {
    static unsigned serial;
    digest(picture->body.data, picture->body.size, picture->sum);
    digest(picture->url, strlen(picture->url), picture->name);
    for (int i = 0; i < 32; i++) snprintf(picture->hex + 2 * i, 3, "%02x", picture->name[i]);
    snprintf(picture->draft, sizeof picture->draft, "%s/partial/%s~%u", root, picture->hex, ++serial);
    int file = open(picture->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat status;
    if (file < 0 || !bench_write_all(file, picture->body.data, picture->body.size) ||
        sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE) || fstat(file, &status) || close(file))
        bench_fail("Cannot write %s: %s.", picture->draft, strerror(errno));
}

static void enter(Picture *picture, sqlite3_stmt *twin, sqlite3_stmt *insert, sqlite3_stmt *sum) {
    char path[4096];
    snprintf(path, sizeof path, "%s/blobs/%.2s/%s.jpg", root, picture->hex, picture->hex);
    sqlite3_bind_int64(twin, 1, number(picture->sum));
    step(twin);
    if (link(picture->draft, path)) bench_fail("Cannot name %s: %s.", path, strerror(errno));
    sqlite3_bind_int64(insert, 1, number(picture->name));
    sqlite3_bind_blob(insert, 2, picture->name, 32, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, picture->url, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 4, (sqlite3_int64)picture->body.size);
    sqlite3_bind_blob(insert, 5, picture->sum, 32, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 6, number(picture->sum));
    step(insert);
    sqlite3_bind_int64(sum, 1, (sqlite3_int64)picture->body.size);
    step(sum);
}

/// All that have come, or NULL when there will be none.
static Picture *take_all(void) {
    pthread_mutex_lock(&lock);
    while (!first && !is_over) pthread_cond_wait(&come, &lock);
    Picture *all = first;
    first = NULL;
    last = &first;
    pthread_mutex_unlock(&lock);
    return all;
}

static void *run(void *unused) {
    (void)unused;
    sqlite3 *index = open_index();
    sqlite3_stmt *begin = prepare(index, "BEGIN IMMEDIATE"), *commit = prepare(index, "COMMIT");
    sqlite3_stmt *twin = prepare(index, "SELECT id FROM entries WHERE content = ?1");
    sqlite3_stmt *sum = prepare(index, "UPDATE totals SET count = count + 1, bytes = bytes + ?1");
    sqlite3_stmt *insert = prepare(
        index, "INSERT INTO entries VALUES(?1, ?2, ?3, 'jpeg', 100, 100, ?4, ?5, ?3, '\"0123456789abcdef\"',"
               " 'Sat, 21 Nov 2026 07:42:00 GMT', 1, 604801, (SELECT coalesce(max(used), 0) + 1 FROM entries), ?6,"
               " '127.0.0.1', 'r1' || char(10) || 'a0' || char(10) || 'd1')");
    for (Picture *all; (all = take_all());) {
        while (all) {
            Picture *rest = all;
            for (int count = 0; rest && count < GROUP; rest = rest->next, count++) write_draft(rest);
            step(begin);
            for (Picture *picture = all; picture != rest; picture = picture->next) enter(picture, twin, insert, sum);
            step(commit);
            while (all != rest) {
                Picture *done = all;
                all = done->next;
                unlink(done->draft);
                free(done->body.data);
                free(done);
            }
        }
    }
    return NULL;
}

void keep_start(const char *folder) {
    root = folder;
    // As the server has it.
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    char path[4096];
    make_folder(root);
    const char *folders[] = {"partial", "blobs"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        make_folder(path);
    }
    for (int i = 0; i < 256; i++) {
        snprintf(path, sizeof path, "%s/blobs/%02x", root, i);
        make_folder(path);
    }
    sqlite3_close(open_index());
    if (pthread_create(&thread, NULL, run, NULL)) bench_fail("Cannot start a thread.");
}

void keep(Picture *picture) {
    picture->next = NULL;
    pthread_mutex_lock(&lock);
    *last = picture;
    last = &picture->next;
    pthread_cond_signal(&come);
    pthread_mutex_unlock(&lock);
}

void keep_finish(void) {
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_signal(&come);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}
