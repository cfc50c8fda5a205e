#define _GNU_SOURCE
#include "CVips.h"
#include "OpenedFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

void hv_drop_privileges(void) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (geteuid() == 0) {
        // The user and the group `nobody`, who own no file.
        enum { nobody = 65534 };
        for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
            prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
        // In a user namespace without that user, rights are still dropped below.
        if (setgroups(0, NULL) == 0 && setresgid(nobody, nobody, nobody) == 0) (void)!setresuid(nobody, nobody, nobody);
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    syscall(SYS_capset, &header, none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

// Landlock by its numbers, because the headers of many systems are older than their kernels.
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

/// Forbids everything that the kernel's Landlock can forbid, and allows nothing.
static void restrict_by_landlock(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, 1U);
    if (version < 1) return;
    // Rights to files: 13 in the first version, then one more in the versions 2, 3 and 5. To the network: 2 in version 4.
    // Sockets and signals of others: 2 in version 6. A kernel refuses rights that it does not know.
    struct {
        uint64_t files, network, scopes;
    } rights = {.files = (1U << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1,
        .network = version >= 4 ? 3 : 0,
        .scopes = version >= 6 ? 3 : 0};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &rights, size, 0U);
    if (rules < 0) return;
    syscall(SYS_landlock_restrict_self, rules, 0U);
    close(rules);
}

#ifdef OUR_ARCHITECTURE

/// The calls that decoders and encoders make, found by tracing them on x86-64, and on aarch64 under an emulator; the most
/// frequent first.
static const int allowed[] = {SYS_futex, SYS_read, SYS_write, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_mremap,
    SYS_brk, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn, SYS_sigaltstack, SYS_close, SYS_fstat, SYS_lseek,
    SYS_pread64, SYS_recvmsg, SYS_setitimer, SYS_getrusage, SYS_getrandom, SYS_clock_gettime, SYS_clock_nanosleep,
    SYS_nanosleep, SYS_gettimeofday, SYS_restart_syscall, SYS_sched_yield, SYS_sched_getaffinity, SYS_sysinfo, SYS_uname,
    SYS_getpid, SYS_gettid, SYS_set_robust_list, SYS_rseq, SYS_exit, SYS_exit_group};

/// The calls that `hv_answer_refused` answers: files are only those that were opened before, by their paths.
static const int answered[] = {SYS_openat, SYS_newfstatat, SYS_faccessat,
#ifdef SYS_open
    SYS_open, SYS_access,
#endif
};

/// A program of the kernel's packet filter that is being written.
typedef struct {
    struct sock_filter lines[256];
    unsigned short count;
} Program;

static void add(Program *program, unsigned short code, unsigned value, unsigned char if_true, unsigned char if_false) {
    program->lines[program->count++] = (struct sock_filter){code, if_true, if_false, value};
}

/// The call with that number gets that answer.
static void answer(Program *program, int call, unsigned action) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1);
    add(program, BPF_RET | BPF_K, action, 0, 0);
}

/// The call is allowed when the lower half of an argument has one of the values, which is all that the kernel looks at for
/// the types of these arguments.
static void allow_values(Program *program, int call, int argument, const unsigned *values, unsigned char count) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, (unsigned char)(count + 3));
    // The lower half comes first: both architectures are little-endian.
    add(program, BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, args) + 8U * (unsigned)argument, 0, 0);
    for (unsigned char i = 0; i < count; i++)
        add(program, BPF_JMP | BPF_JEQ | BPF_K, values[i], (unsigned char)(count - i), 0);
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static void allow_value(Program *program, int call, int argument, unsigned value) {
    allow_values(program, call, argument, &value, 1);
}

/// Refuses every system call but those that are listed.
static void restrict_calls(void) {
    Program program = {.count = 0};
    add(&program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    // Calls by the numbers of another architecture end the process; those of x32 are in no list.
    add(&program, BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 1, 0);
    add(&program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    add(&program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) answer(&program, allowed[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) answer(&program, answered[i], SECCOMP_RET_TRAP);
    // A thread, exactly as the C library starts one. The flags of clone3 are in memory, where a filter cannot see them;
    // the C library then takes clone.
    allow_value(&program, SYS_clone, 0,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS
            | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID);
#ifdef SYS_clone3
    answer(&program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
#endif
    // Its own limits and, for abort(), its own threads; the names of threads.
    allow_value(&program, SYS_prlimit64, 0, 0);
    allow_value(&program, SYS_tgkill, 0, (unsigned)getpid());
    allow_value(&program, SYS_prctl, 0, PR_SET_NAME);
    // Not F_SETOWN, which sends signals.
    static const unsigned commands[] = {F_GETFD, F_GETFL, F_SETFD, F_DUPFD_CLOEXEC};
    allow_values(&program, SYS_fcntl, 1, commands, sizeof commands / sizeof *commands);
    add(&program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    struct sock_fprog whole = {program.count, program.lines};
    // For all threads: libraries may have started some.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole) != 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0);
}

#endif

void hv_confine(void) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    restrict_by_landlock();
#ifdef OUR_ARCHITECTURE
    hv_answer_refused();
    restrict_calls();
#endif
}
