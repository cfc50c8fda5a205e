#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/futex.h>
#include <malloc.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <sys/resource.h>
#include <unistd.h>

static int argument_count;
static const char *const *arguments;

/// Notes the arguments before `main` runs: glibc passes them to every constructor.
__attribute__((constructor)) static void note_arguments(int count, const char *const *values) {
    argument_count = count;
    arguments = values;
}

const char *hl_argument(int place) { return place < argument_count ? arguments[place] : NULL; }

int hl_spawn_closing(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

int hl_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void hl_tune_allocator(void) {
    mallopt(M_TOP_PAD, 512 << 10);
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
    // Setting the other options disables the automatic adjustment of this one.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    // The heap of a thread reserves 64 MiB of the address space, and takes 128 MiB for a moment. Where that is limited, threads
    // share heaps: otherwise these would use it up, and no thread could be started any more.
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur >> 29 < 512) {
        mallopt(M_ARENA_MAX, space.rlim_cur >> 29 > 1 ? (int)(space.rlim_cur >> 29) : 1);
    }
}

void hl_trim_allocator(void) { malloc_trim(0); }

int hl_processors(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? count : 1;
}

void **hl_thread_slot(void) {
    static _Thread_local void *slot;
    return &slot;
}

void **hl_pool_slot(void) {
    static _Thread_local void *slot;
    return &slot;
}

void hl_widen_pipe(int descriptor, int bytes) {
    int held = hl_pipe_capacity(descriptor);
    if (held >= 0 && held < bytes) fcntl(descriptor, F_SETPIPE_SZ, bytes);
}

int hl_pipe_capacity(int descriptor) { return fcntl(descriptor, F_GETPIPE_SZ); }

hl_semaphore hl_semaphore_make(void) {
    hl_semaphore semaphore = {calloc(1, sizeof *semaphore.number)};
    if (!semaphore.number) abort();
    return semaphore;
}

void hl_semaphore_free(hl_semaphore semaphore) { free(semaphore.number); }

void hl_post(hl_semaphore semaphore) {
    __atomic_fetch_add(semaphore.number, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, semaphore.number, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void hl_await(hl_semaphore semaphore) {
    for (;;) {
        uint32_t count = __atomic_load_n(semaphore.number, __ATOMIC_RELAXED);
        if (count == 0)
            syscall(SYS_futex, semaphore.number, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
        else if (__atomic_compare_exchange_n(semaphore.number, &count, count - 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
    }
}

int hl_signalfd(const sigset_t *signals) { return signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK); }

int hl_signal_read(int descriptor) {
    struct signalfd_siginfo information;
    if (read(descriptor, &information, sizeof information) != sizeof information) return 0;
    return (int)information.ssi_signo;
}

int hl_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int hl_start_writeback(int descriptor) { return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); }

int hl_exchange(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int hl_unnamed_file(const char *folder) {
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0) return descriptor;
    // Not every file system supports unnamed files: creates a named one and unlinks it.
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/halcyon-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) return -1;
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0) unlink(path);
    return descriptor;
}

int hl_nameable_file(const char *folder) {
    if (access("/proc/self/fd", F_OK) != 0) return -1;
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

int hl_memory_file(void) { return memfd_create("halcyon", MFD_CLOEXEC); }

int hl_has_writer(int descriptor) {
    // A lease for reading is refused as long as a writer has the file open. Who opens it meanwhile waits for its end, of
    // which a signal tells that does nothing.
    fcntl(descriptor, F_SETSIG, SIGURG);
    if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
    fcntl(descriptor, F_SETLEASE, F_UNLCK);
    return 0;
}

int hl_mark(const char *path, const char *name) { return lsetxattr(path, name, "1", 1, 0); }

int hl_set_attribute(int descriptor, const char *name, const void *value, size_t count) {
    return fsetxattr(descriptor, name, value, count, 0);
}

int hl_attribute(int descriptor, const char *name, void *value, size_t count) {
    return (int)fgetxattr(descriptor, name, value, count);
}

int hl_is_marked(int descriptor, const char *name) { return fgetxattr(descriptor, name, NULL, 0) >= 0; }

static int lock_byte(int descriptor, off_t offset, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = 1};
    if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0) return 0;
    return errno == EAGAIN || errno == EACCES ? 1 : -1;
}

int hl_lock_byte(int descriptor, off_t offset) { return lock_byte(descriptor, offset, F_WRLCK); }

int hl_unlock_byte(int descriptor, off_t offset) { return lock_byte(descriptor, offset, F_UNLCK); }

ssize_t hl_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count) {
    // As many as the kernel takes at once.
    enum { most = 253 };
    union {
        char space[CMSG_SPACE(most * sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > most) {
        errno = E2BIG;
        return -1;
    }
    if (count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(head), descriptors, count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void hl_hide_memory(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int hl_is_stopped(pid_t child) {
    siginfo_t information = {0};
    return !waitid(P_PID, (id_t)child, &information, WSTOPPED | WNOHANG | WNOWAIT) && information.si_pid == child;
}

static int leads_further(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        uint32_t number = ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
        return number >> 16 != 0xA9FE;  // 169.254.0.0/16
    }
    if (address->sa_family == AF_INET6)
        return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return 0;
}

int hl_has_network(void) {
    struct ifaddrs *list, *one;
    // An unknown state counts as connected, so that nothing waits for it.
    if (getifaddrs(&list)) return 1;
    int found = 0;
    for (one = list; one && !found; one = one->ifa_next) {
        unsigned int up = IFF_UP | IFF_RUNNING;
        found = one->ifa_addr && (one->ifa_flags & up) == up && !(one->ifa_flags & IFF_LOOPBACK) && leads_further(one->ifa_addr);
    }
    freeifaddrs(list);
    return found;
}
