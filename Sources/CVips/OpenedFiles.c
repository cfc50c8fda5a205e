#define _GNU_SOURCE
#include "OpenedFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

typedef struct {
    char *path;
    int descriptor;
} Kept;

/// The most files that are kept. Text in other fonts is not drawn.
enum { most_files = 4096 };
static Kept *kept;
static int kept_count;

void hv_keep_file(const char *path) {
    if (kept_count == most_files) return;
    if (!kept && !(kept = calloc(most_files, sizeof *kept))) return;
    for (int i = 0; i < kept_count; i++)
        if (!strcmp(kept[i].path, path)) return;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) return;
    // Numbers below stay free for what comes and goes.
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 64);
    close(descriptor);
    struct stat facts;
    char *copy = high < 0 || fstat(high, &facts) || !S_ISREG(facts.st_mode) ? NULL : strdup(path);
    if (copy) {
        kept[kept_count++] = (Kept){copy, high};
    } else if (high >= 0) {
        close(high);
    }
}

int hv_kept_files(void) { return kept_count; }

/// The descriptor of a kept file; −1 when there is none.
static int descriptor_of(const char *path) {
    for (int i = 0; i < kept_count; i++)
        if (!strcmp(kept[i].path, path)) return kept[i].descriptor;
    return -1;
}

/// The result of an `open`: a descriptor, or a negative error number. The duplicate shares its offset with the others, so
/// files are to be mapped, or read by one at a time.
static long opened(const char *path, unsigned long flags) {
    int original = descriptor_of(path);
    if (original < 0 || (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC | O_DIRECTORY)) return -EPERM;
    int descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    lseek(descriptor, 0, SEEK_SET);
    return descriptor;
}

/// The result of an `access`.
static long may_access(const char *path, unsigned long mode) {
    return descriptor_of(path) >= 0 && !(mode & ~(unsigned long)R_OK) ? 0 : -EPERM;
}

/// The result of an `fstatat`: only for a descriptor, which some versions of the C library call it for.
static long looked_at(int descriptor, const char *path, void *facts) {
    if (path && *path) return -EPERM;
    return syscall(SYS_fstat, descriptor, facts) ? -errno : 0;
}

static void on_refused(int signal, siginfo_t *information, void *context) {
    (void)signal;
    int saved = errno;
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    unsigned long first = (unsigned long)machine->gregs[REG_RDI], second = (unsigned long)machine->gregs[REG_RSI],
                  third = (unsigned long)machine->gregs[REG_RDX];
#elif defined(__aarch64__)
    unsigned long first = machine->regs[0], second = machine->regs[1], third = machine->regs[2];
#endif
    long result = -EPERM;
    switch (information->si_syscall) {
#ifdef SYS_open
    case SYS_open: result = opened((const char *)first, second); break;
    case SYS_access: result = may_access((const char *)first, second); break;
#endif
    case SYS_openat: result = opened((const char *)second, third); break;
    case SYS_faccessat: result = may_access((const char *)second, third); break;
    case SYS_newfstatat: result = looked_at((int)first, (const char *)second, (void *)third); break;
    }
#if defined(__x86_64__)
    machine->gregs[REG_RAX] = result;
#elif defined(__aarch64__)
    machine->regs[0] = (unsigned long)result;
#endif
    errno = saved;
}

void hv_answer_refused(void) {
    struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    sigaction(SIGSYS, &action, NULL);
    // The parent process may have blocked the signal.
    sigset_t refused_only;
    sigemptyset(&refused_only);
    sigaddset(&refused_only, SIGSYS);
    sigprocmask(SIG_UNBLOCK, &refused_only, NULL);
}
