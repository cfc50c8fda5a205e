// A picture on its way from the web server into the folder.
#ifndef BENCH_FETCH_H
#define BENCH_FETCH_H

#include "bench_support.h"

typedef struct Picture {
    struct Picture *next;
    char url[256];
    BenchBytes body;
    /// The SHA-256 of the URL, as 64 digits: its name.
    unsigned char name[32], sum[32];
    char hex[65];
    char draft[4096];
} Picture;

/// Starts the thread that stores pictures in `folder`, which is made.
void keep_start(const char *folder);

/// Gives a picture to that thread, which frees it.
void keep(Picture *picture);

/// Waits until all are stored.
void keep_finish(void);

/// What the index says of the name of `url`, on a connection of the calling thread's own: whether it is there.
bool keep_has(const char *url);

/// The SHA-256 of some bytes.
void digest(const void *data, size_t size, unsigned char sum[32]);

#endif
