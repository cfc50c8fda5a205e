#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

int hl_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
int hl_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC); }
int hl_spawn_in_directory(posix_spawn_file_actions_t *actions, const char *directory) {
    return posix_spawn_file_actions_addchdir_np(actions, directory);
}
