internal import Glibc
internal import Platform

/// The space on the disk that the index can count on: a file of zeros that is given up when the disk is full. Images could not
/// be removed without it, for each removal is first written into the index's log.
struct IndexReserve {
    let folder: StorageFolder

    private var path: String { folder.path + "/index.reserve" }

    /// Room for a few transactions and the memory that processes share: 128 KiB, less on a small disk.
    private static func size(_ total: Int) -> Int { min(128 << 10, max(48 << 10, total / 32)) }

    /// Makes the reserve unless it is there, or the disk has no room for it beside an image or two.
    func keep() {
        guard (try? Files.kind(path)) == nil, (try? folder.claim()) != nil, let space = folder.freeSpace else { return }
        let size = Self.size(space.total)
        guard space.available > 4 * size, let file = try? folder.create(path) else { return }
        if posix_fallocate(file.number, 0, off_t(size)) != 0 { unlink(path) }
    }

    /// Gives the space up; `false` when there was none.
    func release() -> Bool { unlink(path) == 0 }

    /// The most pages of 4 KiB that the index's log may take before they are copied into the index: 2,000, less on a small or
    /// nearly full disk.
    var logPages: Int {
        guard let space = folder.freeSpace else { return 2000 }
        return max(16, min(2000, min(space.total / 64, space.available / 4) >> 12))
    }
}
