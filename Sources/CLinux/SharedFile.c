#define _GNU_SOURCE
#include "SharedFile.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/// A part of a file that is guarded, in a list that only grows: the signal handler reads it without a lock. The thread
/// that it interrupts uses the part in question, which therefore stays as it is meanwhile; parts that are not in use have
/// the address 0.
struct part {
    uintptr_t base;
    size_t size;
    off_t offset;
    hl_shared_file file;
    dev_t device;
    ino_t inode;
    size_t users;
    int is_detached;
    struct part *next;
};

static struct part *parts;
static uint32_t detachments;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous;
static size_t page_size;

static struct part *find(uintptr_t address) {
    for (struct part *part = __atomic_load_n(&parts, __ATOMIC_ACQUIRE); part; part = part->next) {
        uintptr_t base = __atomic_load_n(&part->base, __ATOMIC_ACQUIRE);
        if (base && address >= base && address - base < __atomic_load_n(&part->size, __ATOMIC_RELAXED)) return part;
    }
    return NULL;
}

void hl_note_loss(const hl_shared_file *file) {
    if (!file->first) return;
    uint32_t *place = (uint32_t *)((char *)file->first + file->generation);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint32_t value = ((uint32_t)now.tv_sec * 1000000007u ^ (uint32_t)now.tv_nsec) | 1;
    if (value == hl_load(place)) value += 2;
    hl_store(place, value);
    memset((char *)file->first + file->seal, 0, file->seal_size);
}

/// Gives the file of a part its length back, with zeros. Returns 0 when it could not.
///
/// Touching the first page may raise the signal again, which is handled within.
static int lengthen(const struct part *part, const struct stat *status) {
    // Told before there are zeros to be read, unless the first page is gone too: nobody takes them for the content. And
    // afterwards, for it may have been cut, and mended by another process, once more in between. Should it have become longer
    // than this part, this cuts it, which is mended like each other cut.
    if (status->st_size > 0) hl_note_loss(&part->file);
    if (truncate(part->file.path, part->offset + (off_t)part->size) != 0) return 0;
    hl_note_loss(&part->file);
    return 1;
}

/// Looks at the file of a part. Returns 0 when it is another one by now.
static int look(const struct part *part, struct stat *status) {
    return stat(part->file.path, status) == 0 && status->st_dev == part->device && status->st_ino == part->inode;
}

void hl_restore(const void *base) {
    struct part *part = find((uintptr_t)base);
    struct stat status;
    if (part && look(part, &status) && status.st_size < part->offset + (off_t)part->size) lengthen(part, &status);
}

/// 0 when this thread touched the same address again and again, in vain.
static int may_try_again(uintptr_t address) {
    static _Thread_local uintptr_t latest;
    static _Thread_local int count;
    count = address == latest ? count + 1 : 0;
    latest = address;
    return count < 100;
}

/// Makes the page at an address in a part readable and writable again. Calls only what a signal handler may call.
static int mend(struct part *part, uintptr_t address) {
    struct stat status;
    if (look(part, &status)) {
        int is_long = status.st_size >= part->offset + (off_t)part->size;
        // Another process was faster, or the disk is full.
        if (is_long ? may_try_again(address) : lengthen(part, &status)) return 1;
    }
    // The file has been replaced, must not be written, or the disk is full: what this process sees here is its own.
    void *page = (void *)(address & ~(uintptr_t)(page_size - 1));
    int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
    if (mmap(page, page_size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) return 0;
    __atomic_store_n(&part->is_detached, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&detachments, 1, __ATOMIC_SEQ_CST);
    return 1;
}

static void handle(int signal, siginfo_t *information, void *context) {
    (void)context;
    int known = errno;
    // Not one that another process has sent.
    struct part *part = information->si_code > 0 ? find((uintptr_t)information->si_addr) : NULL;
    if (!part || !mend(part, (uintptr_t)information->si_addr)) {
        sigaction(signal, &previous, NULL);
        if (information->si_code <= 0) raise(signal);
    }
    errno = known;
}

static void install(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    // Not deferred, for the handler touches what may be cut meanwhile.
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

/// The part at an address; with the address 0, one that is not in use. Under the lock.
static struct part *part_at(uintptr_t base) {
    struct part *part = parts;
    while (part && part->base != base) part = part->next;
    return part;
}

static struct part *new_part(void) {
    struct part *part = part_at(0);
    if (part) return part;
    part = calloc(1, sizeof *part);
    if (!part) return NULL;
    part->next = parts;
    __atomic_store_n(&parts, part, __ATOMIC_RELEASE);
    return part;
}

static int guard(const hl_shared_file *file, uintptr_t base, size_t size, off_t offset) {
    struct part *part = part_at(base);
    if (part) {
        if (__atomic_load_n(&part->is_detached, __ATOMIC_RELAXED)) return 0;
        part->users += 1;
        return 1;
    }
    struct stat status = {0};
    char *path = strdup(file->path);
    if (!path || !(part = new_part())) {
        free(path);
        return 0;
    }
    // A file that is not at its place cannot get its length back there.
    if (stat(path, &status) != 0) status.st_ino = 0;
    part->offset = offset;
    part->file = *file;
    part->file.path = path;
    part->device = status.st_dev;
    part->inode = status.st_ino;
    part->users = 1;
    part->is_detached = 0;
    __atomic_store_n(&part->size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&part->base, base, __ATOMIC_RELEASE);
    return 1;
}

int hl_guard(const hl_shared_file *file, void *base, size_t size, off_t offset) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    int is_guarded = guard(file, (uintptr_t)base, size, offset);
    pthread_mutex_unlock(&lock);
    return is_guarded;
}

void hl_guard_end(void *base) {
    pthread_mutex_lock(&lock);
    struct part *part = part_at((uintptr_t)base);
    if (part && --part->users == 0) {
        __atomic_store_n(&part->base, 0, __ATOMIC_RELEASE);
        free((void *)part->file.path);
        part->file.path = NULL;
    }
    pthread_mutex_unlock(&lock);
}

uint64_t hl_generation(const uint32_t *generation) {
    return (uint64_t)__atomic_load_n(&detachments, __ATOMIC_RELAXED) << 32 | hl_load(generation);
}

hl_shared_memory hl_own_memory(size_t size) {
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (hl_shared_memory){base == MAP_FAILED ? NULL : base};
}

hl_shared_memory hl_share(int descriptor, const char *path, size_t size, size_t generation) {
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED) return (hl_shared_memory){NULL};
    hl_shared_file file = {.path = path, .first = base, .generation = generation};
    if (hl_guard(&file, base, size, 0)) return (hl_shared_memory){base};
    munmap(base, size);
    return (hl_shared_memory){NULL};
}

void hl_unmap(hl_shared_memory memory, size_t size) {
    hl_guard_end(memory.numbers);
    munmap(memory.numbers, size);
}

uint32_t hl_load(const uint32_t *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }

void hl_store(uint32_t *place, uint32_t value) { __atomic_store_n(place, value, __ATOMIC_RELEASE); }

uint32_t hl_raise(uint32_t *place, uint32_t value, uint32_t most) {
    uint32_t seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while ((seen < value || seen > most) &&
           !__atomic_compare_exchange_n(place, &seen, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return seen;
}

// The exponent is in the upper 5 bits, the rest of the number in the lower 11.
void hl_store_size(uint16_t *place, uint64_t size) {
    unsigned exponent = 0;
    uint64_t part = size;
    while (part > 0x7FF && exponent < 31) {
        exponent += 1;
        part = (size >> exponent) + ((size & ((1ull << exponent) - 1)) != 0);
    }
    uint16_t value = part > 0x7FF ? 0xFFFF : (uint16_t)(exponent << 11 | part);
    __atomic_store_n(place, value, __ATOMIC_RELAXED);
}

uint64_t hl_load_size(const uint16_t *place) {
    uint16_t size = __atomic_load_n(place, __ATOMIC_RELAXED);
    return (uint64_t)(size & 0x7FF) << (size >> 11);
}

uint64_t hl_sum_sizes(const uint32_t *ends, const uint16_t *sizes, size_t count, uint32_t now, uint32_t most) {
    uint64_t sum = 0;
    for (size_t place = 0; place < count; place++) {
        uint32_t end = __atomic_load_n(ends + place, __ATOMIC_RELAXED);
        if (end <= now || end > most) continue;
        sum += hl_load_size(sizes + place);
    }
    return sum;
}

void hl_add_wide(uint64_t *place, uint64_t value) { __atomic_fetch_add(place, value, __ATOMIC_RELAXED); }

uint64_t hl_load_wide(const uint64_t *place) { return __atomic_load_n(place, __ATOMIC_RELAXED); }

void hl_store_wide(uint64_t *place, uint64_t value) { __atomic_store_n(place, value, __ATOMIC_RELAXED); }

void hl_increment(uint32_t *place) { __atomic_fetch_add(place, 1, __ATOMIC_SEQ_CST); }
