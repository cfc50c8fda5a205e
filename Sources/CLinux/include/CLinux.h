/// Linux calls that the C library module of Swift does not show.
#ifndef HALCYON_CLINUX_H
#define HALCYON_CLINUX_H

#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Has a process that is spawned close every descriptor from that one on.
int hl_spawn_closing(posix_spawn_file_actions_t *actions, int from);
/// Lets the C library's allocator take memory from the system by the half megabyte, and keep what is freed: each thread's heap
/// grows by a page or two otherwise, with a system call and a lock on all of the process's memory. What is not touched
/// takes no memory.
void hl_tune_allocator(void);

/// Gives the kernel back what is free on the heap, wherever it lies. Takes milliseconds after much was in use.
void hl_trim_allocator(void);
/// A descriptor that can be signalled and polled; close-on-exec, never blocking. −1 on failure.
int hl_eventfd(void);
/// How many processors this process may run on; at least 1.
int hl_processors(void);
/// A place of this thread's own for one pointer, which is null at first.
void **hl_thread_slot(void);
/// Another one: for the pool that this thread works in.
void **hl_pool_slot(void);
/// A counting semaphore at zero: reading 8 bytes takes one and waits for it, writing the number 1 adds one.
int hl_semaphore(void);
/// Puts `value`, which is not 0, at `place` and wakes the thread that waits there.
void hl_post(uint32_t *place, uint32_t value);
/// Waits until there is another value than 0 at `place`, and returns it.
uint32_t hl_await(const uint32_t *place);
/// A descriptor that becomes readable when one of `signals` is pending. −1 on failure.
int hl_signalfd(const sigset_t *signals);
/// The number of the next signal pending on a descriptor of `hl_signalfd`, or 0.
int hl_signal_read(int descriptor);
/// A descriptor that becomes readable when the process ends, or −1 when there is no such process.
int hl_pidfd_open(pid_t process);
/// Lets a pipe hold that many bytes before its writer must wait; does nothing with what is no pipe, holds more already or may
/// not grow.
void hl_widen_pipe(int descriptor, int bytes);
/// How many bytes a pipe holds; −1 when it is no pipe.
int hl_pipe_capacity(int descriptor);
/// Starts writing the file's dirty pages to disk without waiting for them.
int hl_start_writeback(int descriptor);
/// Swaps two names atomically (RENAME_EXCHANGE); 0 on success, −1 where the file system cannot or one is missing.
int hl_exchange(const char *one, const char *other);
/// A new file without a name in a folder, for reading and writing; −1 where the file system cannot.
int hl_unnamed_file(const char *folder);
/// A new file without a name in memory, for reading and writing; −1 on failure.
int hl_memory_file(void);
/// Gives a file an extended attribute of that name; 0 on success, −1 where the file system cannot.
int hl_mark(const char *path, const char *name);
/// Whether an open file has an extended attribute of that name: 1 or 0.
int hl_is_marked(int descriptor, const char *name);
/// Locks the byte at `offset` for this open file, without waiting: 0 when it is ours, 1 when another has it, −1 on failure.
/// The lock goes with the open file (F_OFD_SETLK), and so with the process.
int hl_lock_byte(int descriptor, off_t offset);
/// Gives the byte at `offset` back.
int hl_unlock_byte(int descriptor, off_t offset);

/// Whether an interface other than the loopback is up with an address that leads further than its link: 1 or 0.
int hl_has_network(void);

/// Maps `count` bytes of a file, shared with all processes; NULL on failure. A descriptor of −1 maps memory of our own.
void *hl_map(int descriptor, size_t count);
/// Ends a mapping.
void hl_unmap(void *base, size_t count);
/// Adds one to the number at `place`, which other processes may be changing; what was done before is seen by those that see it.
void hl_increment(uint32_t *place);
/// The number at `place`; what is done afterwards is seen as it was then, or later.
uint32_t hl_load(const uint32_t *place);
/// Raises the number at `place` to `value` unless it is as high already; one above `most` is written over.
void hl_raise(uint32_t *place, uint32_t value, uint32_t most);

#endif
