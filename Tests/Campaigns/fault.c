// Makes the system calls of a server on its cache folder fail, fall short or be its last, at a chosen one of them.
//
// Loaded with LD_PRELOAD. FAULT_ROOT is the folder whose calls count; FAULT_CONTROL a file of one `struct control` that
// the campaign maps too: it arms the shim between two requests, and reads how many calls there were and which one hit.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FAIL = 0, SHORT = 1, KILL = 2, TORN = 3 };

struct control {
    int32_t armed;      // Whether calls are counted.
    int32_t mode;       // What happens at the call.
    int32_t error;      // The errno of FAIL.
    int32_t persistent; // Whether it happens from the call on.
    int32_t at;         // Which call, from 1.
    int32_t mask;       // Which kinds of calls count.
    int32_t count;      // How many there were.
    int32_t hits;       // How often it happened.
    char name[64];      // Which call it happened to first,
    char path[448];     // and on what.
};

enum { OPEN = 1, WRITE = 2, NAME = 4, SYNC = 8, CUT = 16, MODE = 32, READ = 64, LOCK = 128, MAKE = 256, OPEN_TO_WRITE = 512 };

static struct control *control;
static const char *root;
static size_t root_count;

__attribute__((constructor)) static void begin(void) {
    root = getenv("FAULT_ROOT");
    const char *path = getenv("FAULT_CONTROL");
    if (!root || !path) return;
    root_count = strlen(root);
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void *base = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (base != MAP_FAILED) control = base;
    close(descriptor);
}

static int is_ours(const char *path) { return path && strncmp(path, root, root_count) == 0; }

static const char *path_of(int descriptor, char *buffer, size_t count) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t got = readlink(link, buffer, count - 1);
    buffer[got < 0 ? 0 : got] = 0;
    return buffer;
}

// What is to happen to this call: −1 for nothing.
static int verdict(int kind, const char *name, const char *path) {
    if (!control || !__atomic_load_n(&control->armed, __ATOMIC_ACQUIRE) || !(control->mask & kind)) return -1;
    if (!is_ours(path)) return -1;
    int number = __atomic_add_fetch(&control->count, 1, __ATOMIC_ACQ_REL);
    if (number != control->at && !(control->persistent && number > control->at)) return -1;
    if (__atomic_fetch_add(&control->hits, 1, __ATOMIC_ACQ_REL) == 0) {
        snprintf(control->name, sizeof control->name, "%s", name);
        snprintf(control->path, sizeof control->path, "%s", path);
    }
    if (control->mode == KILL) kill(getpid(), SIGKILL);
    if (control->mode == FAIL) errno = control->error;
    return control->mode;
}

// An open also counts as one that makes a file, or as one that is to write, if it is.
static int opening(const char *path, int flags) {
    int kind = OPEN;
    if ((flags & O_CREAT) && control && control->armed && is_ours(path) && access(path, F_OK) != 0) kind |= MAKE;
    if (flags & (O_WRONLY | O_RDWR)) kind |= OPEN_TO_WRITE;
    return kind;
}

#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) next = (__typeof__(next))dlsym(RTLD_NEXT, #name)

#define BY_PATH(kind, name, path, call) \
    do { \
        NEXT(name); \
        if (verdict(kind, #name, path) == FAIL) return -1; \
        return call; \
    } while (0)

#define BY_DESCRIPTOR(kind, name, descriptor, call) \
    do { \
        NEXT(name); \
        char buffer[4096]; \
        if (control && control->armed && verdict(kind, #name, path_of(descriptor, buffer, sizeof buffer)) == FAIL) \
            return -1; \
        return call; \
    } while (0)

// A write is also cut short, or torn: half of it, and then the end.
#define WRITING(name, descriptor, count, call) \
    do { \
        NEXT(name); \
        char buffer[4096]; \
        int what = -1; \
        if (control && control->armed) what = verdict(WRITE, #name, path_of(descriptor, buffer, sizeof buffer)); \
        if (what == FAIL) return -1; \
        if ((what == SHORT || what == TORN) && count > 1) count = count / 2; \
        ssize_t result = call; \
        if (what == TORN) kill(getpid(), SIGKILL); \
        return result; \
    } while (0)

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) { MODE_OF(flags) BY_PATH(opening(path, flags), open, path, next(path, flags, mode)); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) BY_PATH(opening(path, flags), open64, path, next(path, flags, mode)); }
int openat(int at, const char *path, int flags, ...) {
    MODE_OF(flags) BY_PATH(opening(path, flags), openat, path, next(at, path, flags, mode));
}
int openat64(int at, const char *path, int flags, ...) {
    MODE_OF(flags) BY_PATH(opening(path, flags), openat64, path, next(at, path, flags, mode));
}

ssize_t write(int fd, const void *bytes, size_t count) { WRITING(write, fd, count, next(fd, bytes, count)); }
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    WRITING(pwrite, fd, count, next(fd, bytes, count, at));
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    WRITING(pwrite64, fd, count, next(fd, bytes, count, at));
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t count, unsigned flags) {
    WRITING(copy_file_range, out, count, next(in, from, out, to, count, flags));
}
ssize_t read(int fd, void *bytes, size_t count) { BY_DESCRIPTOR(READ, read, fd, next(fd, bytes, count)); }
ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) {
    BY_DESCRIPTOR(READ, pread64, fd, next(fd, bytes, count, at));
}

int rename(const char *from, const char *to) { BY_PATH(NAME, rename, to, next(from, to)); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    BY_PATH(NAME, renameat2, to, next(a, from, b, to, flags));
}
int link(const char *from, const char *to) { BY_PATH(NAME, link, to, next(from, to)); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    BY_PATH(NAME, linkat, to, next(a, from, b, to, flags));
}
int unlink(const char *path) { BY_PATH(NAME, unlink, path, next(path)); }
int unlinkat(int at, const char *path, int flags) { BY_PATH(NAME, unlinkat, path, next(at, path, flags)); }
int mkdir(const char *path, mode_t mode) { BY_PATH(NAME, mkdir, path, next(path, mode)); }
int rmdir(const char *path) { BY_PATH(NAME, rmdir, path, next(path)); }

int fsync(int fd) { BY_DESCRIPTOR(SYNC, fsync, fd, next(fd)); }
int fdatasync(int fd) { BY_DESCRIPTOR(SYNC, fdatasync, fd, next(fd)); }
int sync_file_range(int fd, off64_t from, off64_t count, unsigned flags) {
    BY_DESCRIPTOR(SYNC, sync_file_range, fd, next(fd, from, count, flags));
}
int ftruncate(int fd, off_t count) { BY_DESCRIPTOR(CUT, ftruncate, fd, next(fd, count)); }
int ftruncate64(int fd, off64_t count) { BY_DESCRIPTOR(CUT, ftruncate64, fd, next(fd, count)); }
// These two answer with the number itself.
int posix_fallocate(int fd, off_t from, off_t count) {
    NEXT(posix_fallocate);
    char buffer[4096];
    if (control && control->armed && verdict(CUT, "posix_fallocate", path_of(fd, buffer, sizeof buffer)) == FAIL)
        return control->error;
    return next(fd, from, count);
}
int posix_fallocate64(int fd, off64_t from, off64_t count) {
    NEXT(posix_fallocate64);
    char buffer[4096];
    if (control && control->armed && verdict(CUT, "posix_fallocate64", path_of(fd, buffer, sizeof buffer)) == FAIL)
        return control->error;
    return next(fd, from, count);
}

int fchmod(int fd, mode_t mode) { BY_DESCRIPTOR(MODE, fchmod, fd, next(fd, mode)); }
int chmod(const char *path, mode_t mode) { BY_PATH(MODE, chmod, path, next(path, mode)); }

// Taking a lock can fail; giving it back cannot.
int flock(int fd, int operation) { BY_DESCRIPTOR(operation & LOCK_UN ? 0 : LOCK, flock, fd, next(fd, operation)); }
#define CONTROLLING(function)                                                                                      \
    NEXT(function);                                                                                                \
    va_list list;                                                                                                  \
    va_start(list, command);                                                                                       \
    void *argument = va_arg(list, void *);                                                                         \
    va_end(list);                                                                                                  \
    char buffer[4096];                                                                                             \
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK;                               \
    if (locks && ((struct flock *)argument)->l_type != F_UNLCK && control && control->armed &&                     \
        verdict(LOCK, "fcntl", path_of(fd, buffer, sizeof buffer)) == FAIL)                                        \
        return -1;                                                                                                 \
    return next(fd, command, argument)
int fcntl(int fd, int command, ...) { CONTROLLING(fcntl); }
int fcntl64(int fd, int command, ...) { CONTROLLING(fcntl64); }
