#include "CSQLite.h"

#include "SharedFile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The beginning of the index of a write-ahead log ("-shm"), by https://sqlite.org/walformat.html: two copies of a header
// that readers compare, what checkpoints and readers note, and 8 bytes that are locked but never read or written.
enum {
    is_set = 12,
    page_size = 14,
    frame_count = 16,
    first_salt = 32,
    second_header = 48,
    header_size = 48,
    frames_copied = 96,
    reserved = 120,
    frames_begun = 128,
    /// The frames in the first part of the index, and in each of the others.
    first_frames = 4062,
    more_frames = 4096,
    /// Where the numbers of pages begin in the first part (in the others at once), and in each part the table by which a
    /// frame is found from its page, with so many places.
    first_pages = 136,
    table = 16384,
    places = 8192,
    part_size = 32768,
    /// The locks of one who writes, and of those who read the file alone; the locks of other readers come after it.
    write_lock = 0,
    first_mark = 3,
    /// What the log has before its first frame, and each frame before its page.
    log_header = 32,
    frame_header = 24,
};

/// What is kept of a database file, behind what the system's own access keeps.
struct extra {
    /// Those of the system, some of them replaced.
    sqlite3_io_methods methods;
    const sqlite3_io_methods *system;
    /// The path of the index of the log.
    char *shared_path;
    /// The parts of the index that are mapped.
    void **parts;
    int part_count;
    /// 1 when these can be written.
    int is_writable;
    /// 1 while the lock for writing is held.
    int is_writing;
    /// The generation of the index when it was first mapped.
    uint64_t opened;
};

static sqlite3_vfs *system_files;
static sqlite3_vfs files;
/// 1 while the last connection to a file ends without having copied all of the log to it.
static _Thread_local int keeps_log;

static struct extra *extra(sqlite3_file *file) { return (struct extra *)((char *)file + system_files->szOsFile); }

static int is_ours(sqlite3_file *file) { return file->pMethods && file->pMethods == &extra(file)->methods; }

/// The first part of the index, if it is mapped.
static char *first(const struct extra *extra) { return extra->part_count > 0 ? extra->parts[0] : NULL; }

static uint64_t generation(const struct extra *extra) { return hl_generation((uint32_t *)(first(extra) + reserved)); }

/// The length of the index's file; where it is not known, more than any.
static sqlite3_int64 length(const struct extra *own) {
    struct stat status;
    return stat(own->shared_path, &status) == 0 ? status.st_size : INT64_MAX;
}

/// 0 when the index is shorter than the parts that are mapped: somebody cut it. What is gone of its last page reads as
/// zeros, and the rest raises no signal until it is touched.
static int has_size(const struct extra *own) { return length(own) >= (sqlite3_int64)own->part_count * part_size; }

/// Touches the last page of each part, which notes a loss if it is gone.
static void touch(const struct extra *own) {
    for (int part = 0; part < own->part_count; part++) {
        if (own->parts[part]) (void)*((volatile char *)own->parts[part] + part_size - 1);
    }
}

/// 0 when a loss has been noted since the connection first mapped the index.
static int is_current(const struct extra *own) { return !first(own) || generation(own) == own->opened; }

static int is_whole(const struct extra *own) {
    touch(own);
    return is_current(own);
}

/// The same, and sees what a lookup does not pay for.
static int is_sound(const struct extra *own) { return is_whole(own) && has_size(own); }

static int is_sound_enough(sqlite3 *connection, int (*judge)(const struct extra *)) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return code != SQLITE_OK || !file || !is_ours(file) || judge(extra(file));
}

int hl_sqlite_is_whole(sqlite3 *connection) { return is_sound_enough(connection, is_whole); }

int hl_sqlite_is_sound(sqlite3 *connection) { return is_sound_enough(connection, is_sound); }

static hl_shared_file shared_file(const struct extra *extra, void *first) {
    // Only the second header is cleared: one who writes compares the first with his own, and would go on as another.
    return (hl_shared_file){extra->shared_path, first, reserved, second_header, header_size};
}

/// The size that the index has by its header; 0 when the header is not valid.
static sqlite3_int64 promised_size(const char *first) {
    uint32_t frames;
    if (!first || !first[is_set] || !first[second_header + is_set]) return 0;
    memcpy(&frames, first + frame_count, sizeof frames);
    return ((sqlite3_int64)frames + more_frames - first_frames + more_frames - 1) / more_frames * part_size;
}

static int remember(struct extra *extra, int part, void *base) {
    if (part >= extra->part_count) {
        void **parts = realloc(extra->parts, ((size_t)part + 1) * sizeof *parts);
        if (!parts) return 0;
        memset(parts + extra->part_count, 0, ((size_t)part + 1 - (size_t)extra->part_count) * sizeof *parts);
        extra->parts = parts;
        extra->part_count = part + 1;
    }
    extra->parts[part] = base;
    return 1;
}

/// Notes a loss that nobody has noticed yet.
static void restore(const struct extra *own) {
    if (first(own) && own->is_writable) hl_restore(own->parts[own->part_count - 1]);
}

/// 0 when the disk has no place for all of a part that can be written. Otherwise that would show itself by a signal when it is
/// written, as if somebody had cut the file: SQLite writes into every page of the part, but a block may be smaller.
static int has_place(const struct extra *own, void *mapped, int part, int size) {
    struct stat status;
    if (stat(own->shared_path, &status) != 0 || status.st_blocks * 512 >= status.st_size) return 1;
    if (status.st_size < ((sqlite3_int64)part + 1) * size) return 1;
    // Systems that do not know it yet have to go on.
    return madvise(mapped, (size_t)size, MADV_POPULATE_WRITE) == 0 || errno != EFAULT;
}

static int map(sqlite3_file *file, int part, int size, int extends, void volatile **base) {
    struct extra *own = extra(file);
    // Without making the file longer, at first: what it lacks then, it lost if it had promised it.
    int code = own->system->xShmMap(file, part, size, 0, base);
    int is_short = code == SQLITE_OK && !*base;
    // Nor what other parts have lost.
    if (is_short && extends) restore(own);
    if (is_short && extends) code = own->system->xShmMap(file, part, size, extends, base);
    void *mapped = (void *)*base;
    if (mapped && code == SQLITE_OK && !has_place(own, mapped, part, size)) {
        *base = NULL;
        return SQLITE_FULL;
    }
    int is_first = mapped && part == 0 && !first(own);
    if (is_first) own->is_writable = code == SQLITE_OK;
    if (mapped && (part >= own->part_count || !own->parts[part])) {
        void *start = part == 0 ? mapped : first(own);
        hl_shared_file shared = shared_file(own, own->is_writable ? start : NULL);
        int is_guarded = hl_guard(&shared, mapped, (size_t)size, (off_t)part * size);
        if (is_guarded && !remember(own, part, mapped)) {
            hl_guard_end(mapped);
            is_guarded = 0;
        }
        if (!is_guarded) {
            *base = NULL;
            return SQLITE_IOERR_SHMMAP;
        }
    }
    char *start = first(own);
    if (start && own->is_writable) {
        hl_shared_file shared = shared_file(own, start);
        int is_cut = promised_size(start) > (is_short ? (sqlite3_int64)part * size : length(own));
        if (!is_cut) shared.seal_size = 0;
        if (is_cut || hl_load((uint32_t *)(start + reserved)) == 0) hl_note_loss(&shared);
    }
    if (is_first) own->opened = generation(own);
    return code;
}

/// Ends the use of the index. The last connection removes it together with the log, which it has copied to the file by way
/// of the index; not when the index has lost something meanwhile. It holds no lock of the index then.
static int unmap(sqlite3_file *file, int removes) {
    struct extra *own = extra(file);
    keeps_log = removes && !is_sound(own);
    if (keeps_log) removes = 0;
    for (int part = 0; part < own->part_count; part++) {
        if (own->parts[part]) hl_guard_end(own->parts[part]);
    }
    free(own->parts);
    own->parts = NULL;
    own->part_count = 0;
    return own->system->xShmUnmap(file, removes);
}

/// What is entered in an index that has lost a part leaves it without that part: it is made again.
static void distrust_loss(const struct extra *own) {
    if (own->is_writing && own->is_writable && !is_current(own)) memset(first(own) + second_header, 0, header_size);
}

/// Unlocks parts of the index. SQLite does not look at the result: what stays locked by an error of the system keeps all
/// processes out, this one too, until its connections are closed. So it is tried again, for some milliseconds.
static int unlock(sqlite3_file *file, int from, int count, int flags) {
    const sqlite3_io_methods *system = extra(file)->system;
    int code = system->xShmLock(file, from, count, flags);
    for (int tries = 0; code != SQLITE_OK && tries < 20; tries++) {
        usleep(500);
        code = system->xShmLock(file, from, count, flags);
    }
    return code;
}

/// Locks and unlocks parts of the index. Nobody gets one for himself who has seen an index that lost something, be it to
/// write, to make the index again, to copy pages to the file, or to begin the log anew. What was lost while they were copied
/// is noted before anybody can take the log for copied.
static int lock(sqlite3_file *file, int from, int count, int flags) {
    struct extra *own = extra(file);
    // The marks of readers say nothing of what is in the index.
    int is_mark = from > first_mark && count == 1;
    if (!(flags & SQLITE_SHM_EXCLUSIVE) || is_mark) {
        return flags & SQLITE_SHM_UNLOCK ? unlock(file, from, count, flags)
                                         : own->system->xShmLock(file, from, count, flags);
    }
    if (flags & SQLITE_SHM_UNLOCK) {
        if (from != write_lock) {
            restore(own);
        } else {
            distrust_loss(own);
            own->is_writing = 0;
        }
        return unlock(file, from, count, flags);
    }
    int code = own->system->xShmLock(file, from, count, flags);
    if (code != SQLITE_OK) return code;
    restore(own);
    if (!is_whole(own)) {
        unlock(file, from, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
        return SQLITE_IOERR_SHMLOCK;
    }
    // Before the index is mapped, where there was none or a short one: that is made longer under the lock.
    if (from == write_lock) own->is_writing = 1;
    return SQLITE_OK;
}

/// Comes between the two copies of a header that is written, the second first: the one of an index that has lost a part is
/// not valid at any moment. Nobody notes a loss before its generation has changed, nor clears the header until then.
static void barrier(sqlite3_file *file) {
    extra(file)->system->xShmBarrier(file);
    distrust_loss(extra(file));
}

/// Writes to the database file: while there is a log, only what a checkpoint has found in it by way of the index.
static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct extra *own = extra(file);
    return is_sound(own) ? own->system->xWrite(file, bytes, count, offset) : SQLITE_IOERR_WRITE;
}

/// Ends a checkpoint, which then counts.
static int sync_file(sqlite3_file *file, int flags) {
    struct extra *own = extra(file);
    return is_sound(own) ? own->system->xSync(file, flags) : SQLITE_IOERR_FSYNC;
}

/// Cuts the database file to its size; a checkpoint does at its end.
static int cut_file(sqlite3_file *file, sqlite3_int64 size) {
    struct extra *own = extra(file);
    return is_sound(own) ? own->system->xTruncate(file, size) : SQLITE_IOERR_TRUNCATE;
}

/// Removes a file beside the database: the log, right after `unmap`.
static int remove_file(sqlite3_vfs *vfs, const char *name, int syncs) {
    (void)vfs;
    if (!keeps_log) return system_files->xDelete(system_files, name, syncs);
    keeps_log = 0;
    return SQLITE_IOERR_DELETE;
}

static int close_file(sqlite3_file *file) {
    struct extra *own = extra(file);
    char *path = own->shared_path;
    int code = own->system->xClose(file);
    sqlite3_free(path);
    return code;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *found) {
    (void)vfs;
    struct extra *own = extra(file);
    memset(own, 0, sizeof *own);
    int code = system_files->xOpen(system_files, name, file, flags, found);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB) || !name) return code;
    const sqlite3_io_methods *system = file->pMethods;
    if (!system || system->iVersion < 2 || !system->xShmMap) return code;
    own->shared_path = sqlite3_mprintf("%s-shm", name);
    if (!own->shared_path) {
        system->xClose(file);
        file->pMethods = NULL;
        return SQLITE_NOMEM;
    }
    own->system = system;
    own->methods = *system;
    own->methods.xShmMap = map;
    own->methods.xShmUnmap = unmap;
    own->methods.xShmLock = lock;
    own->methods.xShmBarrier = barrier;
    own->methods.xWrite = write_file;
    own->methods.xSync = sync_file;
    own->methods.xTruncate = cut_file;
    own->methods.xClose = close_file;
    file->pMethods = &own->methods;
    return code;
}

/// Sleeps not at all: SQLite would try again for ten seconds what another process, or a file system without locks, keeps it
/// from. Whoever wants to wait calls again.
static int stay_awake(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    (void)microseconds;
    return 0;
}

/// 1 when a part of the index names the page of a frame, and finds the frame by it. Frames count from 1 in each part.
static int finds(const char *part, int is_first, uint32_t frame, uint32_t page) {
    const uint32_t *pages = (const uint32_t *)(part + (is_first ? first_pages : 0));
    const uint16_t *frames = (const uint16_t *)(part + table);
    if (pages[frame - 1] != page) return 0;
    uint32_t place = page * 383 % places;
    for (int tries = 0; tries < places && frames[place] && frames[place] != frame; tries++) place = (place + 1) % places;
    return frames[place] == frame;
}

/// 1 when the index of the log agrees with the log. Called under the lock for writing.
static int is_true(const struct extra *own) {
    uint32_t count;
    uint16_t stored_size;
    const char *start = first(own);
    memcpy(&count, start + frame_count, sizeof count);
    memcpy(&stored_size, start + page_size, sizeof stored_size);
    off_t step = (stored_size == 1 ? 65536 : stored_size) + frame_header;
    char *path = sqlite3_mprintf("%.*s-wal", (int)strlen(own->shared_path) - 4, own->shared_path);
    int log = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    sqlite3_free(path);
    // Without frames nothing is asked of it, and what cannot be read is found by others.
    int agrees = 1;
    for (uint32_t frame = 1; log >= 0 && agrees && frame <= count; frame++) {
        uint32_t later = frame - first_frames - 1;
        int part = frame <= first_frames ? 0 : 1 + (int)(later / more_frames);
        if (part >= own->part_count || !own->parts[part]) break;
        unsigned char page[4];
        agrees = pread(log, page, sizeof page, log_header + (off_t)(frame - 1) * step) == sizeof page
            && finds(own->parts[part], part == 0, part == 0 ? frame : later % more_frames + 1,
                     (uint32_t)page[0] << 24 | (uint32_t)page[1] << 16 | (uint32_t)page[2] << 8 | page[3]);
    }
    if (log >= 0) close(log);
    return agrees;
}

/// Makes a commit a rollback when 1: what it would write may come of old pages.
static int forbids_commit(void *connection) { return !hl_sqlite_is_sound(connection); }

void hl_sqlite_guard(sqlite3 *connection) { sqlite3_commit_hook(connection, forbids_commit, connection); }

/// What is kept beside the file of a connection; NULL when that is not ours.
static struct extra *own_file(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return code == SQLITE_OK && file && is_ours(file) ? extra(file) : NULL;
}

int hl_sqlite_check_log_index(sqlite3 *connection) {
    struct extra *own = own_file(connection);
    if (!own || !first(own) || !own->is_writable || is_true(own)) return 1;
    hl_shared_file shared = shared_file(own, first(own));
    hl_note_loss(&shared);
    return 0;
}

int hl_sqlite_log_position(sqlite3 *connection, uint32_t *log, uint32_t *frames) {
    struct extra *own = own_file(connection);
    const char *start = own ? first(own) : NULL;
    if (!start) return 0;
    unsigned char header[header_size], second[header_size];
    memcpy(header, start, sizeof header);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(second, start + second_header, sizeof second);
    // Another process is just writing it: the second copy first.
    if (memcmp(header, second, sizeof header)) return 0;
    const unsigned char *salt = header + first_salt;
    memcpy(frames, header + frame_count, sizeof *frames);
    *log = (uint32_t)salt[0] << 24 | (uint32_t)salt[1] << 16 | (uint32_t)salt[2] << 8 | salt[3];
    return 1;
}

int hl_sqlite_log_copying(sqlite3 *connection, uint32_t *begun, uint32_t *copied) {
    struct extra *own = own_file(connection);
    const char *start = own ? first(own) : NULL;
    if (!start) return 0;
    memcpy(begun, start + frames_begun, sizeof *begun);
    memcpy(copied, start + frames_copied, sizeof *copied);
    return 1;
}

sqlite3 *hl_sqlite_alone(const char *path) {
    sqlite3 *connection = NULL;
    sqlite3_file *file = NULL;
    // Opens nothing but the file itself, as long as nothing is read.
    int code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    // Whoever has a database with a write-ahead log open holds the first of these locks.
    for (int level = SQLITE_LOCK_SHARED; code == SQLITE_OK && level <= SQLITE_LOCK_EXCLUSIVE; level++) {
        int is_state = level == SQLITE_LOCK_PENDING;
        if (!is_state) code = file && file->pMethods ? file->pMethods->xLock(file, level) : SQLITE_ERROR;
    }
    if (code == SQLITE_OK) return connection;
    if (file && file->pMethods) file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    sqlite3_close_v2(connection);
    return NULL;
}

int hl_sqlite_prepare(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    system_files = sqlite3_vfs_find(NULL);
    files = *system_files;
    files.zName = HL_SQLITE_FILES;
    files.pNext = NULL;
    files.szOsFile += (int)sizeof(struct extra);
    files.xOpen = open_file;
    files.xDelete = remove_file;
    files.xSleep = stay_awake;
    return sqlite3_vfs_register(&files, 0);
}
