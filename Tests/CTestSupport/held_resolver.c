#define _GNU_SOURCE
#include "held_resolver.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_held, waiting;

void hl_hold_resolver(void) {
    pthread_mutex_lock(&mutex);
    is_held++;
    pthread_mutex_unlock(&mutex);
}

void hl_release_resolver(void) {
    pthread_mutex_lock(&mutex);
    if (--is_held == 0) pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

int hl_held_resolutions(void) {
    pthread_mutex_lock(&mutex);
    int count = waiting;
    pthread_mutex_unlock(&mutex);
    return count;
}

// Stands before the function of the C library for everything in this process, libcurl included.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    int is_counted = name && strcmp(name, "silent.test") == 0;
    if (is_counted || (name && strcmp(name, "mute.test") == 0)) {
        pthread_mutex_lock(&mutex);
        waiting += is_counted;
        while (is_held) pthread_cond_wait(&changed, &mutex);
        waiting -= is_counted;
        pthread_mutex_unlock(&mutex);
        return EAI_AGAIN;
    }
    typedef int (*function)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    function next = (function)dlsym(RTLD_NEXT, "getaddrinfo");
    return next ? next(name, service, hints, result) : EAI_FAIL;
}
