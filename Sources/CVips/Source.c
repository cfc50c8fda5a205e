#define _GNU_SOURCE
#include "CVips.h"
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/// The source that is mapped now.
static char *mapped;
static size_t mapped_count;
static volatile sig_atomic_t was_cut;

/// A place behind the end of a file that has been cut short: from its page on there are zeros.
static void on_missing_page(int number, siginfo_t *information, void *context) {
    (void)context;
    char *place = information->si_addr;
    if (mapped && place >= mapped && place < mapped + mapped_count) {
        size_t before = (size_t)(place - mapped) & ~((size_t)sysconf(_SC_PAGESIZE) - 1);
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
        if (mmap(mapped + before, mapped_count - before, PROT_READ, flags, -1, 0) != MAP_FAILED) {
            was_cut = 1;
            return;
        }
    }
    signal(number, SIG_DFL);
}

const void *hv_map_source(int descriptor, size_t count) {
    struct sigaction action = {.sa_sigaction = on_missing_page, .sa_flags = SA_SIGINFO};
    sigaction(SIGBUS, &action, NULL);
    void *base = mmap(NULL, count, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (base == MAP_FAILED) return NULL;
    mapped = base;
    mapped_count = count;
    was_cut = 0;
    return base;
}

void hv_unmap_source(const void *base, size_t count) {
    if (base == mapped) mapped = NULL;
    munmap((void *)base, count);
}

int hv_source_was_cut(void) { return was_cut; }
