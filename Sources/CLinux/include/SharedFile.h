/// Files of which parts are mapped and shared with other processes, any of which may make them shorter.
///
/// Access to a page that a file no longer has raises SIGBUS, which ends a process. Here the file gets its length back
/// instead, with zeros, and its generation changes, so that every process that shares it learns that it lost something.
#ifndef HALCYON_SHAREDFILE_H
#define HALCYON_SHAREDFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The beginning of a mapping with numbers that several threads and processes read and change atomically.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    uint32_t *numbers;
} hl_shared_memory;

/// A file of which parts are mapped.
typedef struct {
    const char *path;
    /// The mapping of its first page; NULL when that cannot be written.
    void *first;
    /// The offset of its generation: a number of 4 bytes, by which processes know it for the one that they opened.
    size_t generation;
    /// The offset and size of bytes that become zero with each loss; of none when the size is 0.
    size_t seal, seal_size;
} hl_shared_file;

/// Begins to guard a part of a file that has been mapped at `base`. Each part is guarded as often as it is ended.
///
/// Returns 1 on success; 0 when there is no memory for it, or when the part is not that of the file any more, because the
/// file could not get its length back.
int hl_guard(const hl_shared_file *file, void *base, size_t size, off_t offset);
/// Ends the guarding of the part at `base`, before it is unmapped.
void hl_guard_end(void *base);
/// Changes the generation of a file that lost a part, and clears its seal.
void hl_note_loss(const hl_shared_file *file);
/// Gives the file of the part at `base` the length back that the part needs, with zeros, and notes the loss, if somebody has
/// cut it and nobody has noticed yet.
void hl_restore(const void *base);
/// A number that stays as long as a file and this process's view of it have lost nothing: of the generation at
/// `generation`, and of all parts in this process that are not those of their files any more.
uint64_t hl_generation(const uint32_t *generation);

/// Maps and guards `size` bytes of a file that every process may write, with its generation at the given offset. The
/// file must be as long. The memory begins with NULL on failure.
hl_shared_memory hl_share(int descriptor, const char *path, size_t size, size_t generation);
/// Maps `size` bytes of this process's own, with zeros. The memory begins with NULL on failure.
hl_shared_memory hl_own_memory(size_t size);
/// Unmaps what `hl_share` or `hl_own_memory` mapped.
void hl_unmap(hl_shared_memory memory, size_t size);
/// The number at an offset in bytes, which must be a multiple of 4.
static inline uint32_t *hl_number(hl_shared_memory memory, size_t offset) { return memory.numbers + offset / 4; }

/// Atomically adds one to the number at `place`, which other processes may change. Earlier writes of this thread are
/// visible to readers of the new value.
void hl_increment(uint32_t *place);
/// Atomically reads the number at `place`. Writes before the store of that number are visible to later reads of this
/// thread.
uint32_t hl_load(const uint32_t *place);
/// Atomically stores a number at `place`.
void hl_store(uint32_t *place, uint32_t value);
/// Atomically raises the number at `place` to `value` unless it is as high already; a number above `most` is
/// overwritten. Returns the number before.
uint32_t hl_raise(uint32_t *place, uint32_t value, uint32_t most);

/// Stores a count of bytes in two, rounded up by a thousandth at most.
void hl_store_size(uint16_t *place, uint64_t size);
/// The count that is stored so.
uint64_t hl_load_size(const uint16_t *place);
/// The sum of the sizes in `sizes` whose ends in `ends` come after `now`, and not after `most`; of `count` each. Takes
/// some microseconds for ten thousands.
uint64_t hl_sum_sizes(const uint32_t *ends, const uint16_t *sizes, size_t count, uint32_t now, uint32_t most);
/// Atomically adds to, reads and stores a number of 8 bytes, which other processes may change.
void hl_add_wide(uint64_t *place, uint64_t value);
uint64_t hl_load_wide(const uint64_t *place);
void hl_store_wide(uint64_t *place, uint64_t value);

#endif
