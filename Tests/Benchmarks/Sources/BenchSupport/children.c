// Child processes: start, end, memory, processor and deadline.
#define _GNU_SOURCE
#include "bench_support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { maximumChildren = 16 };
static volatile pid_t running[maximumChildren];

static void kill_running(void) {
    for (int i = 0; i < maximumChildren; i++)
        if (running[i] > 0) kill(running[i], SIGKILL);
}

void bench_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    kill_running();
    exit(1);
}

static void out_of_time(int signal) {
    (void)signal;
    static const char sentence[] = "A server gave no answer in time.\n";
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0) _exit(4);
    kill_running();
    _exit(3);
}

void bench_deadline(unsigned seconds) {
    signal(SIGALRM, out_of_time);
    alarm(seconds);
}

BenchChild bench_start(char *const argv[], const char *log) {
    int input[2], output[2];
    if (pipe2(input, O_CLOEXEC) || pipe2(output, O_CLOEXEC)) bench_fail("Cannot make a pipe: %s.", strerror(errno));

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(
        &actions, STDERR_FILENO, log ? log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0600);
    BenchChild child = {.input = input[1], .output = output[0]};
    int error = posix_spawnp(&child.pid, argv[0], &actions, NULL, argv, environ);
    if (error) bench_fail("Cannot start %s: %s.", argv[0], strerror(error));
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    for (int i = 0; i < maximumChildren; i++) {
        if (running[i] > 0) continue;
        running[i] = child.pid;
        return child;
    }
    kill(child.pid, SIGKILL);
    bench_fail("More than %d children at once.", maximumChildren);
}

static int64_t nanoseconds(struct timeval time) { return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL; }

int bench_finish(BenchChild *child) {
    close(child->input);
    int status = 0;
    struct rusage used = {0};
    while (wait4(child->pid, &status, 0, &used) < 0 && errno == EINTR) continue;
    close(child->output);
    child->cpu = nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
    child->peak = used.ru_maxrss;
    for (int i = 0; i < maximumChildren; i++)
        if (running[i] == child->pid) running[i] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

long bench_status_kib(pid_t pid, const char *field) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    long kib = -1;
    while (kib < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0) kib = strtol(line + strlen(field), NULL, 10);
    fclose(file);
    return kib;
}

int64_t bench_cpu(pid_t pid) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time)) return -1;
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

void bench_pin(void) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
    CPU_ZERO(&one);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}
