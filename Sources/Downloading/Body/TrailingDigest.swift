internal import Platform
internal import Synchronization

/// Receives the bytes of a body in order while it is downloaded.
package protocol ByteObserver: Sendable {
    mutating func add(_ piece: UnsafeRawBufferPointer)
}

/// The SHA-256 of a file that is still being written, computed behind the writer.
///
/// Another thread hashes the received bytes while more arrive, from the page cache, so that a large body need not be
/// read again when it is complete. The digest is valid only for the file as its writer left it: whoever stores it
/// compares the file stamps, and reads the file again if it has changed.
package final class TrailingDigest: Sendable {
    /// The number of bytes that are hashed in one turn of the thread.
    static let stride = 256 << 10
    /// The size in bytes from which a body is hashed here. A shorter one is hashed when it is stored.
    static let least = 2 * stride
    private static let windowSize = 64 << 10
    /// One thread hashes more than a gigabyte per second, and what is left over is hashed on storing. A second one
    /// would compete with the receiving thread for the processor.
    private static let pool = BlockingPool(threads: 1)

    private struct Progress {
        let digest = RunningDigest()
        var observer: (any ByteObserver)?
        var count = 0
        var isBroken = false
        var result: Digest?

        /// Reads and hashes the next bytes. Returns `true` when there may be more before `limit`.
        mutating func advance(_ file: borrowing Descriptor, limit: Int) -> Bool {
            guard !isBroken, count < limit else { return false }
            return withUnsafeTemporaryAllocation(byteCount: min(windowSize, limit - count), alignment: 64) { buffer in
                guard let got = try? file.read(into: buffer, at: count), got > 0 else {
                    isBroken = true
                    return false
                }
                let piece = UnsafeRawBufferPointer(rebasing: buffer[..<got])
                digest.update(piece)
                observer?.add(piece)
                count += got
                return count < limit
            }
        }

        /// The digest of a file of `size` bytes, if exactly those were read.
        mutating func finish(at size: Int) -> Digest? {
            if result == nil, !isBroken, count == size { result = digest.finish() }
            return count == size ? result : nil
        }
    }

    private let file: Descriptor
    private let progress: Mutex<Progress>
    /// The stamp of the file at the end of writing.
    private let sealed = Mutex<FileStamp?>(nil)
    private let written = Atomic(0)
    private let hashed = Atomic(0)
    private let isAtWork = Atomic(false)

    /// Creates the digest of a file from its first byte. `nil`: it cannot be read.
    ///
    /// Opens the file again, because the lock on the writer's descriptor must end with that descriptor.
    ///
    /// - Parameter observer: Receives the same bytes.
    init?(of path: String, observer: (any ByteObserver)? = nil) {
        guard let file = try? Descriptor(reading: path) else { return nil }
        self.file = file
        progress = Mutex(Progress(observer: observer))
    }

    /// Records the number of bytes written. Does not block.
    func wrote(_ count: Int) {
        written.store(count, ordering: .releasing)
        scheduleTurn()
    }

    /// Records the end of writing. Does not block.
    func seal() {
        let stamp = file.stamp
        sealed.withLock { $0 = stamp }
    }

    /// The digest of the file, if it has that stamp and is unchanged since the end of writing. Hashes the rest, and may
    /// wait for the disk.
    func digest(of stamp: FileStamp?) -> Digest? {
        guard let seal = sealed.withLock(\.self), let stamp, stamp.matches(seal) else { return nil }
        while advance(to: seal.size) {}
        let result = progress.withLock { $0.finish(at: seal.size) }
        return file.stamp?.matches(seal) == true ? result : nil
    }

    /// The observer after it has received everything written so far. May wait for the disk.
    var observer: (any ByteObserver)? {
        let limit = written.load(ordering: .acquiring)
        while advance(to: limit) {}
        return progress.withLock { $0.observer }
    }

    private func advance(to limit: Int) -> Bool {
        progress.withLock { progress in
            defer { hashed.store(progress.count, ordering: .relaxed) }
            return progress.advance(file, limit: limit)
        }
    }

    /// Schedules the next turn of the thread, if there is enough to hash and none is scheduled. The files take turns.
    /// One that is no longer referenced is released before or during its turn.
    private func scheduleTurn() {
        let end = hashed.load(ordering: .relaxed) + Self.stride
        guard written.load(ordering: .acquiring) >= end, !isAtWork.exchange(true, ordering: .acquiring) else { return }
        Self.pool.submit { [weak self] in self?.work(to: end) }
    }

    private func work(to end: Int) {
        while advance(to: end) {}
        // A broken one stays marked as scheduled.
        if progress.withLock({ $0.isBroken }) { return }
        isAtWork.store(false, ordering: .releasing)
        scheduleTurn()
    }
}
