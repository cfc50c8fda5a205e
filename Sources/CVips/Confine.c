#define _GNU_SOURCE
#include "CVips.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

void hv_confine(void) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#ifdef OUR_ARCHITECTURE
    // Refused with EPERM, so that a library that tries them continues without: sockets (also local ones), programs,
    // other processes, and changes of the process's own rights. A thread is a clone with a shared address space.
    static const int refused[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
        SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2,
        SYS_unshare, SYS_setns, SYS_pivot_root, SYS_chroot, SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_add_key,
        SYS_request_key, SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_userfaultfd,
#ifdef SYS_fork
        SYS_fork, SYS_vfork,
#endif
    };
    enum { count = sizeof refused / sizeof *refused };
    struct sock_filter filter[count + 5];
    int place = 0;
    filter[place++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    // Calls with the numbers of another architecture kill the process.
    filter[place++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCHITECTURE, 0, count + 1);
    filter[place++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < count; i++)
        filter[place++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)refused[i], count - i, 0);
    filter[place++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[place++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog program = {(unsigned short)place, filter};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
#endif
}

void hv_tune_memory(void) {
    mallopt(M_ARENA_MAX, 1);
    // Large blocks are mapped, and so returned to the system when freed.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

void hv_trim_memory(void) {
    // Small images leave little free memory behind, and trimming costs as much as decoding them.
    if (mallinfo2().fordblks > 4 << 20) malloc_trim(0);
}

void hv_zero_memory(int is_blank) {
    // The fill byte is the complement of the option.
    mallopt(M_PERTURB, is_blank ? 255 : 0);
}

static int alarm_descriptor;
static const void *alarm_bytes;
static size_t alarm_count;

static void on_alarm(int signal) {
    (void)signal;
    const char *bytes = alarm_bytes;
    size_t left = alarm_count;
    while (left > 0) {
        ssize_t count = write(alarm_descriptor, bytes, left);
        if (count <= 0) break;
        bytes += count;
        left -= (size_t)count;
    }
    _exit(75);
}

void hv_set_alarm(int descriptor, const void *bytes, size_t count, double seconds) {
    void *copy = malloc(count);
    if (!copy) return;
    memcpy(copy, bytes, count);
    free((void *)alarm_bytes);
    alarm_bytes = copy;
    alarm_count = count;
    alarm_descriptor = descriptor;
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    // The parent process may have blocked the signal.
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    struct itimerval when = {.it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    setitimer(ITIMER_REAL, &when, NULL);
}

void hv_cancel_alarm(void) {
    struct itimerval never = {0};
    setitimer(ITIMER_REAL, &never, NULL);
}

static void lower(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit(resource, &limit)) return;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > value) limit.rlim_max = value;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
}

void hv_limit_resources(uint64_t memory, uint64_t file_size, uint64_t files) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_AS, memory);
    lower(RLIMIT_FSIZE, file_size);
    lower(RLIMIT_NOFILE, files);
    // A file above the limit and a closed socket become errors of write.
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

void hv_limit_processor_time(double seconds) {
    struct rusage usage;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &usage) || getrlimit(RLIMIT_CPU, &limit)) return;
    rlim_t until = (rlim_t)((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + seconds) + 2;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || until < limit.rlim_max ? until : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}
