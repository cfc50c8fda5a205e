/// Linux calls that Swift's C library module does not export.
#ifndef HALCYON_CLINUX_H
#define HALCYON_CLINUX_H

#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "SharedFile.h"

/// Closes every descriptor from `from` on in the spawned process.
int hl_spawn_closing(posix_spawn_file_actions_t *actions, int from);
/// An argument of this process as the kernel passed it, 0 for the program's name; null after the last. Swift reads them from
/// `/proc` instead.
const char *hl_argument(int place);
/// Sets the C library's allocator to request memory by the half megabyte and to retain freed memory. By default each
/// thread's heap grows by a page or two, with a system call and a lock on all memory of the process. Untouched memory
/// costs nothing.
void hl_tune_allocator(void);

/// Returns all free heap memory to the kernel. Takes milliseconds after heavy use.
void hl_trim_allocator(void);
/// Creates an event descriptor for signalling and polling; close-on-exec, non-blocking. Returns −1 on failure.
int hl_eventfd(void);
/// The number of processors that this process may run on; at least 1.
int hl_processors(void);
/// A thread-local variable for one pointer, initially null.
void **hl_thread_slot(void);
/// A second thread-local variable, for the pool that this thread works in.
void **hl_pool_slot(void);
/// A counting semaphore; its functions may be called from all threads.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    uint32_t *number;
} hl_semaphore;
/// Makes a semaphore at zero. Ends the process when there is no memory.
hl_semaphore hl_semaphore_make(void);
/// Frees a semaphore that nobody waits for any more.
void hl_semaphore_free(hl_semaphore semaphore);
/// Adds one, and wakes a thread that waits.
void hl_post(hl_semaphore semaphore);
/// Waits until there is one, and takes it.
void hl_await(hl_semaphore semaphore);
/// Creates a descriptor that becomes readable when one of `signals` is pending. Returns −1 on failure.
int hl_signalfd(const sigset_t *signals);
/// The number of the next signal pending on a descriptor of `hl_signalfd`, or 0.
int hl_signal_read(int descriptor);
/// Opens a descriptor that becomes readable when the process ends; returns −1 when there is no such process.
int hl_pidfd_open(pid_t process);
/// Enlarges a pipe to hold that many bytes before its writer blocks; does nothing for other descriptors, for a larger
/// pipe, or when the system refuses.
void hl_widen_pipe(int descriptor, int bytes);
/// The capacity of a pipe in bytes; −1 when the descriptor is not a pipe.
int hl_pipe_capacity(int descriptor);
/// Starts writing the file's dirty pages to disk without waiting for them.
int hl_start_writeback(int descriptor);
/// Exchanges two names atomically (RENAME_EXCHANGE). Returns 0 on success, −1 when the file system does not support it
/// or a name is missing.
int hl_exchange(const char *one, const char *other);
/// Creates an unnamed file in a folder, for reading and writing; returns −1 when the file system does not support it.
int hl_unnamed_file(const char *folder);

/// Creates a file without a name in `folder` that may be given one, by its path in /proc. -1 where there is no /proc, or the file
/// system has no such files.
int hl_nameable_file(const char *folder);
/// Creates an unnamed file in memory, for reading and writing; returns −1 on failure.
int hl_memory_file(void);
/// 1 when the file of a descriptor that is open for reading is open for writing too, by whatever process; 0 when it is
/// not, or that cannot be told.
int hl_has_writer(int descriptor);
/// Sets an extended attribute of that name on a file. Returns 0 on success, −1 when the file system does not support
/// it.
int hl_mark(const char *path, const char *name);
/// 1 when an open file has an extended attribute of that name; otherwise 0.
int hl_is_marked(int descriptor, const char *name);
/// Sets an extended attribute of an open file. Returns 0 on success, −1 when the file system does not support it.
int hl_set_attribute(int descriptor, const char *name, const void *value, size_t count);
/// Reads an extended attribute of an open file; returns the number of its bytes, or −1 when there is none of that size.
int hl_attribute(int descriptor, const char *name, void *value, size_t count);
/// Locks the byte at `offset` for this open file, without waiting. Returns 0 on success, 1 when another open file holds
/// the lock, −1 on failure. The lock belongs to the open file (F_OFD_SETLK) and ends with it, and so with the process.
int hl_lock_byte(int descriptor, off_t offset);
/// Unlocks the byte at `offset`.
int hl_unlock_byte(int descriptor, off_t offset);

/// Sends bytes over a socket, without waiting, and descriptors along with the first of them. Returns the number of bytes
/// sent, −1 on failure.
ssize_t hl_send(int socket, const void *bytes, size_t size, const int *descriptors, size_t count);
/// Keeps other processes of the same user from reading the memory of this one, and from attaching to it.
void hl_hide_memory(void);
/// 1 when that child process has been stopped by a signal; otherwise 0.
int hl_is_stopped(pid_t child);

/// 1 when an interface other than the loopback is up with an address that is not link-local; otherwise 0.
int hl_has_network(void);

#endif
