/// Linux calls for the tests that the C library module of Swift does not show.
#ifndef HALCYON_CTESTSUPPORT_H
#define HALCYON_CTESTSUPPORT_H

#include <spawn.h>

#include "held_resolver.h"
#include "jansson_blocks.h"
#include "samples.h"

/// A pipe whose ends no other child inherits: 0 reads, 1 writes.
int hl_pipe(int ends[2]);
/// The next connection, which no child inherits.
int hl_accept(int listener);
int hl_spawn_in_directory(posix_spawn_file_actions_t *actions, const char *directory);

#endif
