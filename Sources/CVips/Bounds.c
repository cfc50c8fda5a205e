#define _GNU_SOURCE
#include "CVips.h"
#include "OpenedFiles.h"
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// The most free memory that is kept between two pictures, in bytes; a worker without work ends soon, and gives back all.
enum { most_kept = 64 << 20 };

void hv_tune_memory(void) {
    mallopt(M_ARENA_MAX, 1);
    // What one picture has used is there for the next one: to get it from the system anew, page by page, took two fifths of the
    // time of an AVIF. Blocks larger than the largest threshold of glibc are mapped, and returned when freed.
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, most_kept);
}

void hv_trim_memory(void) {
    if (mallinfo2().fordblks > most_kept) malloc_trim(0);
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

void hv_limit_resources(uint64_t memory, uint64_t file_size) {
    // After the change of the user, which resets it.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_AS, memory);
    lower(RLIMIT_FSIZE, file_size);
    // All that there may be, for the files that are kept.
    lower(RLIMIT_NOFILE, UINT32_MAX);
    // A file above the limit and a closed socket become errors of write.
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

void hv_limit_files(uint64_t files) { lower(RLIMIT_NOFILE, files + (uint64_t)hv_kept_files()); }

void hv_limit_processor_time(double seconds) {
    struct rusage usage;
    struct rlimit limit;
    if (getrusage(RUSAGE_SELF, &usage) || getrlimit(RLIMIT_CPU, &limit)) return;
    rlim_t until = (rlim_t)((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + seconds) + 2;
    limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || until < limit.rlim_max ? until : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

ssize_t hv_receive(int socket, void *bytes, size_t size, int *descriptors, size_t most, size_t *count) {
    union {
        char space[CMSG_SPACE(256 * sizeof(int))];
        struct cmsghdr alignment;
    } control;
    struct iovec part = {bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *count = 0;
    ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
        size_t there = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < there; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(head) + i * sizeof descriptor, sizeof descriptor);
            if (*count < most) {
                descriptors[(*count)++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
    return got;
}
