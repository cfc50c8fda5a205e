// Tries to leave the confinement of the codec worker: a program that is linked with the real one. Each attempt runs in a
// process of its own, which ends with 0 when it was refused, 1 when it was not, or by SIGSYS. See escape.py.
#define _GNU_SOURCE
#include "CVips.h"
#include "OpenedFiles.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/// What was opened or found before the confinement.
static pid_t victim;
static void *victims_memory;
static int folder, victims_pidfd, line, source, output;
static char unconfined;

static long call(long number, long a, long b, long c, long d, long e, long f) { return syscall(number, a, b, c, d, e, f); }

/// 1 when a call did what it was asked to.
static int did(long result) { return result >= 0; }

static int open_old(void) {
#ifdef SYS_open
    return did(call(SYS_open, (long)"/etc/passwd", O_RDONLY, 0, 0, 0, 0));
#else
    return did(open("/etc/passwd", O_RDONLY));
#endif
}
static int open_a_file(void) { return did(open("/etc/passwd", O_RDONLY)); }
static int open_a_folder(void) { return did(open("/", O_RDONLY | O_DIRECTORY)); }
static int open_in_a_folder(void) { return did(openat(folder, "victim", O_RDWR)); }
static int open_by_the_second_call(void) {
    struct open_how how = {.flags = O_RDONLY};
    return did(call(SYS_openat2, AT_FDCWD, (long)"/etc/passwd", (long)&how, sizeof how, 0, 0));
}
static int open_a_descriptor_again(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", source);
    return did(open(path, O_RDWR));
}
static int open_a_font_to_write(void) { return did(open("font", O_RDWR)); }
static int create_a_file(void) { return did(openat(folder, "made", O_WRONLY | O_CREAT, 0600)); }
static int create_an_unnamed_file(void) { return did(openat(folder, ".", O_TMPFILE | O_RDWR, 0600)); }
static int create_a_memory_file(void) { return did(memfd_create("x", 0)); }
static int write_to_the_source(void) { return did(write(source, "x", 1)); }
static int remove_a_file(void) { return did(unlinkat(folder, "victim", 0)); }
static int rename_a_file(void) { return did(renameat(folder, "victim", folder, "renamed")); }
static int link_a_file(void) { return did(linkat(folder, "victim", folder, "linked", 0)); }
static int make_a_symlink(void) { return did(symlinkat("/", folder, "symlink")); }
static int make_a_folder(void) { return did(mkdirat(folder, "folder", 0700)); }
static int make_a_pipe_file(void) { return did(mknodat(folder, "fifo", S_IFIFO | 0600, 0)); }
static int change_a_mode(void) { return did(fchmodat(folder, "victim", 0777, 0)); }
static int change_the_mode_of_a_descriptor(void) { return did(fchmod(output, 0777)); }
static int change_a_time(void) { return did(utimensat(folder, "victim", NULL, 0)); }
static int look_at_a_path(void) {
    struct stat facts;
    return did(stat("/etc/passwd", &facts));
}
static int look_at_a_path_newly(void) {
    struct statx facts;
    return did(statx(AT_FDCWD, "/etc/passwd", 0, STATX_ALL, &facts));
}
static int ask_for_access(void) { return did(access("/etc/passwd", R_OK)); }
static int read_a_link(void) {
    char text[256];
    return did(readlink("/proc/self/exe", text, sizeof text));
}
static int list_a_folder(void) {
    char entries[4096];
    return did(call(SYS_getdents64, folder, (long)entries, sizeof entries, 0, 0, 0));
}
static int change_folder(void) { return did(chdir("/")); }

static int child(long result) {
    if (result == 0) _exit(0);
    return result > 0;
}
static int start_a_process(void) { return child(call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0)); }
static int start_a_process_newly(void) {
    struct {
        uint64_t fields[11];
    } how = {{0}};
    how.fields[4] = SIGCHLD;
    return child(call(SYS_clone3, (long)&how, sizeof how, 0, 0, 0, 0));
}
static int start_a_process_as_ever(void) {
#ifdef SYS_fork
    return child(call(SYS_fork, 0, 0, 0, 0, 0, 0));
#else
    return start_a_process();
#endif
}
static int share_memory_with_a_process(void) {
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return did(clone((int (*)(void *))(void *)getpid, stack + 65536, CLONE_VM | SIGCHLD, NULL));
}
static int enter_a_namespace(void) { return child(call(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0, 0)); }
static int run_a_program(void) {
    char *arguments[] = {"false", NULL};
    execv("/bin/false", arguments);
    // That program ends with 1.
    return 0;
}
static int run_an_open_program(void) {
    char *arguments[] = {"true", NULL}, *variables[] = {NULL};
    return did(call(SYS_execveat, source, (long)"", (long)arguments, (long)variables, AT_EMPTY_PATH, 0)) || errno == ENOEXEC
        || errno == EACCES;
}

static int make_a_socket(void) { return did(socket(AF_INET, SOCK_STREAM, 0)); }
static int make_a_local_socket(void) { return did(socket(AF_UNIX, SOCK_STREAM, 0)); }
static int make_a_socket_pair(void) {
    int ends[2];
    return did(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}
static int pass_a_descriptor(void) {
    char space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    *CMSG_FIRSTHDR(&message) = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &source, sizeof source);
    return did(sendmsg(line, &message, 0));
}
static int make_a_ring(void) {
    char parameters[512] = {0};
    return did(call(SYS_io_uring_setup, 4, (long)parameters, 0, 0, 0, 0));
}

static int signal_the_parent(void) { return did(kill(getppid(), SIGUSR2)); }
static int signal_another(void) { return did(kill(victim, SIGUSR2)); }
static int signal_everybody(void) { return did(kill(-getpgrp(), 0)); }
static int signal_a_thread_of_another(void) { return did(call(SYS_tgkill, victim, victim, SIGUSR2, 0, 0, 0)); }
static int signal_any_thread(void) { return did(call(SYS_tkill, victim, SIGUSR2, 0, 0, 0, 0)); }
static int queue_a_signal(void) {
    siginfo_t information = {.si_signo = SIGUSR2, .si_code = SI_QUEUE};
    return did(call(SYS_rt_sigqueueinfo, victim, SIGUSR2, (long)&information, 0, 0, 0));
}
static int queue_a_signal_for_a_thread(void) {
    siginfo_t information = {.si_signo = SIGUSR2, .si_code = SI_QUEUE};
    return did(call(SYS_rt_tgsigqueueinfo, victim, victim, SIGUSR2, (long)&information, 0, 0));
}
static int signal_by_descriptor(void) {
    return did(call(SYS_pidfd_send_signal, victims_pidfd, SIGUSR2, 0, 0, 0, 0));
}
static int own_a_signal(void) { return did(fcntl(line, F_SETOWN, victim)); }
static int open_a_process(void) { return did(call(SYS_pidfd_open, victim, 0, 0, 0, 0, 0)); }
static int take_a_descriptor(void) { return did(call(SYS_pidfd_getfd, victims_pidfd, 1, 0, 0, 0, 0)); }

static int read_the_memory_of_another(void) {
    char byte;
    struct iovec here = {&byte, 1}, there = {victims_memory, 1};
    return did(process_vm_readv(victim, &here, 1, &there, 1, 0));
}
static int write_the_memory_of_another(void) {
    char byte = 'x';
    struct iovec here = {&byte, 1}, there = {victims_memory, 1};
    return did(process_vm_writev(victim, &here, 1, &there, 1, 0));
}
static int write_the_memory_file_of_another(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", victim);
    int memory = open(path, O_RDWR);
    return did(memory) && pwrite(memory, "x", 1, (off_t)(uintptr_t)victims_memory) == 1;
}
static int attach_to_another(void) {
    enum { seize = 0x4206 };
    return did(call(SYS_ptrace, seize, victim, 0, 0, 0, 0));
}
static int limit_another(void) {
    struct rlimit limit;
    return did(prlimit(victim, RLIMIT_NOFILE, NULL, &limit));
}
static int renice_another(void) { return did(setpriority(PRIO_PROCESS, (id_t)victim, 5)); }
static int pin_another(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    return did(sched_setaffinity(victim, sizeof set, &set));
}
static int share_memory(void) { return did(call(SYS_shmget, 0, 4096, 01600, 0, 0, 0)); }

static int become_dumpable(void) { return did(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }
static int outlive_the_parent(void) { return did(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)); }
static int become_root(void) { return did(call(SYS_setresuid, 0, 0, 0, 0, 0, 0)); }
static int become_another_group(void) { return did(call(SYS_setresgid, 0, 0, 0, 0, 0, 0)); }
static int unshare_a_namespace(void) { return did(unshare(CLONE_NEWUSER)); }
static int change_root(void) { return did(chroot("/")); }
static int call_as_x32(void) {
#ifdef __x86_64__
    // Without x32 the kernel does not know it; it is refused before that.
    return did(call(0x40000000L | SYS_getpid, 0, 0, 0, 0, 0, 0)) || errno == ENOSYS;
#else
    return unconfined;
#endif
}
static int call_as_i386(void) {
#ifdef __x86_64__
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
    return did(result) || unconfined;
#else
    return unconfined;
#endif
}

/// Calls with arguments that the kernel refuses by themselves, but not with EPERM.
#define WRONG(name) \
    static int wrong_##name(void) { return call(SYS_##name, -1, -1, -1, -1, -1, -1) >= 0 || (errno != EPERM && errno != ENOSYS); }
#define WRONG_CALLS(X)                                                                                                   \
    X(open_by_handle_at) X(truncate) X(setxattr) X(fsetxattr) X(ftruncate) X(fallocate) X(mount) X(umount2) X(setns)         \
    X(pivot_root) X(fsopen) X(open_tree) X(bpf) X(perf_event_open) X(add_key) X(keyctl) X(userfaultfd) X(connect) X(bind)    \
    X(listen) X(accept4) X(sendto) X(sendmmsg) X(ioctl) X(io_uring_enter) X(io_uring_register) X(process_madvise)            \
    X(kcmp) X(landlock_create_ruleset) X(seccomp) X(quotactl) X(inotify_add_watch) X(fanotify_mark) X(epoll_ctl)             \
    X(splice) X(sendfile) X(copy_file_range) X(timer_create) X(msgget) X(semget) X(shmat) X(mq_open) X(init_module)          \
    X(delete_module) X(swapon) X(personality) X(capset) X(setgroups) X(io_setup) X(dup3)
WRONG_CALLS(WRONG)

// What it must be able to do.
static void *answer(void *given) { return given; }
static int may_start_a_thread(void) {
    pthread_t thread;
    void *result = NULL;
    return pthread_create(&thread, NULL, answer, &folder) || pthread_join(thread, &result) || result != &folder;
}
static int may_read_and_write(void) {
    char byte;
    struct stat facts;
    return pread(source, &byte, 1, 0) != 1 || write(output, "x", 1) != 1 || fstat(source, &facts) != 0;
}
static int may_allocate(void) {
    char *block = malloc(64 << 20);
    if (!block) return 1;
    memset(block, 1, 64 << 20);
    free(block);
    return 0;
}
static int may_open_a_font(void) { return access("font", R_OK) != 0 || open("font", O_RDONLY) < 0; }
static int may_abort(void) {
    signal(SIGABRT, _exit);
    abort();
}

typedef struct {
    const char *name;
    int (*attempt)(void);
} Attempt;
#define NAMED(name) {#name, name},
#define NAMED_WRONG(name) {"wrong_" #name, wrong_##name},
static const Attempt attempts[] = {NAMED(open_old) NAMED(open_a_file) NAMED(open_a_folder) NAMED(open_in_a_folder)
    NAMED(open_by_the_second_call) NAMED(open_a_descriptor_again) NAMED(open_a_font_to_write) NAMED(create_a_file)
    NAMED(create_an_unnamed_file) NAMED(create_a_memory_file) NAMED(write_to_the_source) NAMED(remove_a_file)
    NAMED(rename_a_file) NAMED(link_a_file) NAMED(make_a_symlink) NAMED(make_a_folder) NAMED(make_a_pipe_file)
    NAMED(change_a_mode) NAMED(change_the_mode_of_a_descriptor) NAMED(change_a_time) NAMED(look_at_a_path)
    NAMED(look_at_a_path_newly) NAMED(ask_for_access) NAMED(read_a_link) NAMED(list_a_folder) NAMED(change_folder)
    NAMED(start_a_process) NAMED(start_a_process_newly) NAMED(start_a_process_as_ever) NAMED(share_memory_with_a_process)
    NAMED(enter_a_namespace) NAMED(run_a_program) NAMED(run_an_open_program) NAMED(make_a_socket)
    NAMED(make_a_local_socket) NAMED(make_a_socket_pair) NAMED(pass_a_descriptor) NAMED(make_a_ring)
    NAMED(signal_the_parent) NAMED(signal_another) NAMED(signal_everybody) NAMED(signal_a_thread_of_another)
    NAMED(signal_any_thread) NAMED(queue_a_signal) NAMED(queue_a_signal_for_a_thread) NAMED(signal_by_descriptor)
    NAMED(own_a_signal) NAMED(open_a_process) NAMED(take_a_descriptor) NAMED(read_the_memory_of_another)
    NAMED(write_the_memory_of_another) NAMED(write_the_memory_file_of_another) NAMED(attach_to_another)
    NAMED(limit_another) NAMED(renice_another) NAMED(pin_another) NAMED(share_memory) NAMED(become_dumpable)
    NAMED(outlive_the_parent) NAMED(become_root) NAMED(become_another_group) NAMED(unshare_a_namespace)
    NAMED(change_root) NAMED(call_as_x32) NAMED(call_as_i386) WRONG_CALLS(NAMED_WRONG) NAMED(may_start_a_thread)
    NAMED(may_read_and_write) NAMED(may_allocate) NAMED(may_open_a_font) NAMED(may_abort)};

/// escape list; escape victim; escape confined|unconfined ATTEMPT VICTIM ADDRESS, in a folder with the files `victim`,
/// `source`, `output` and `font`.
int main(int count, char **words) {
    size_t all = sizeof attempts / sizeof *attempts;
    if (count == 2 && !strcmp(words[1], "list")) {
        for (size_t i = 0; i < all; i++) puts(attempts[i].name);
        return 0;
    }
    if (count == 2 && !strcmp(words[1], "victim")) {
        signal(SIGUSR2, SIG_IGN);
        printf("%p\n", (void *)&unconfined);
        fflush(stdout);
        return getchar() != EOF;
    }
    if (count != 5) return 64;
    unconfined = strcmp(words[1], "confined") != 0;
    victim = atoi(words[3]);
    victims_memory = (void *)(uintptr_t)strtoull(words[4], NULL, 0);
    victims_pidfd = (int)syscall(SYS_pidfd_open, victim, 0);
    folder = open(".", O_RDONLY | O_DIRECTORY);
    source = open("source", O_RDONLY);
    output = open("output", O_WRONLY);
    int ends[2];
    if (folder < 0 || source < 0 || output < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 66;
    line = ends[0];
    if (!unconfined) {
        hv_drop_privileges();
        hv_keep_file("font");
        hv_confine();
    }
    for (size_t i = 0; i < all; i++)
        if (!strcmp(attempts[i].name, words[2])) _exit(attempts[i].attempt());
    return 64;
}
