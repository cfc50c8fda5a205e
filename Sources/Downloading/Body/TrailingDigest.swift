internal import Glibc
internal import Platform
internal import Synchronization

/// Sees the bytes of a body as they come, in order.
package protocol ByteObserver: Sendable {
    /// Takes note of the next bytes.
    mutating func add(_ piece: UnsafeRawBufferPointer)
}

/// The SHA-256 of a file of ours that is still being written, calculated behind its writer.
///
/// What has come is hashed by another thread while the rest comes, out of the page cache, where it still is: a large body
/// need not be read once more when it is whole. It is the digest of what the file holds, and counts only for the file as
/// its writer left it: whoever stores it compares the stamps, and reads it again if it has changed (D-04).
package final class TrailingDigest: Sendable {
    /// How many bytes behind are worth a thread's turn.
    static let stride = 256 << 10
    /// A body that is shorter is hashed by who stores it.
    static let least = 2 * stride
    private static let windowSize = 64 << 10
    /// One keeps up with more than a gigabyte a second, and what it leaves is hashed by who stores it. A second one would
    /// take the processor from who receives.
    private static let pool = BlockingPool(threads: 1)

    private struct Progress {
        let digest = RunningDigest()
        var observer: (any ByteObserver)?
        var count = 0
        /// Whether it could not be read.
        var isBroken = false
        var result: Digest?

        /// Reads and hashes the next bytes.
        ///
        /// - Returns: Whether there may be more before `limit`.
        mutating func advance(_ descriptor: Int32, limit: Int) -> Bool {
            guard !isBroken, count < limit else { return false }
            return withUnsafeTemporaryAllocation(byteCount: windowSize, alignment: 64) { buffer in
                let got = pread(descriptor, buffer.baseAddress, min(windowSize, limit - count), off_t(count))
                if got < 0, errno == EINTR { return true }
                guard got > 0 else {
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

        /// The digest of a file of so many bytes, if that is what was read.
        mutating func finish(at size: Int) -> Digest? {
            if result == nil, !isBroken, count == size { result = digest.finish() }
            return count == size ? result : nil
        }
    }

    private let descriptor: Int32
    private let progress: Mutex<Progress>
    /// What the file was when its writer had ended.
    private let sealed = Mutex<FileStamp?>(nil)
    /// How far the writer has come, and how far the digest.
    private let written = Atomic(0)
    private let hashed = Atomic(0)
    private let isAtWork = Atomic(false)

    /// The digest of a file from its first byte on; nil if it cannot be read.
    ///
    /// It is opened anew, for a lock on a descriptor of the writer's must end with that.
    ///
    /// - Parameter observer: Sees the same bytes.
    init?(of path: String, observer: (any ByteObserver)? = nil) {
        progress = Mutex(Progress(observer: observer))
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The writer has come so far. Takes no time.
    func wrote(_ count: Int) {
        written.store(count, ordering: .releasing)
        hasten()
    }

    /// The writer has ended. Waits for nobody.
    func seal() {
        let stamp = FileStamp(descriptor: descriptor)
        sealed.withLock { $0 = stamp }
    }

    /// The digest of the file, if it is the one with that stamp and as its writer left it. Hashes what is left, and may wait
    /// for the disk.
    func digest(of stamp: FileStamp?) -> Digest? {
        guard let seal = sealed.withLock(\.self), let stamp, stamp.matches(seal) else { return nil }
        while advance(to: seal.size) {}
        let result = progress.withLock { $0.finish(at: seal.size) }
        return FileStamp(descriptor: descriptor)?.matches(seal) == true ? result : nil
    }

    /// The observer after it has seen all that was written so far. May wait for the disk.
    var observer: (any ByteObserver)? {
        let limit = written.load(ordering: .acquiring)
        while advance(to: limit) {}
        return progress.withLock { $0.observer }
    }

    private func advance(to limit: Int) -> Bool {
        progress.withLock { progress in
            defer { hashed.store(progress.count, ordering: .relaxed) }
            return progress.advance(descriptor, limit: limit)
        }
    }

    /// Has the thread hash a stride if it is worth that, and it has not been asked to. The files take turns. One that
    /// nobody holds any more is let go before its turn, or with it.
    private func hasten() {
        let end = hashed.load(ordering: .relaxed) + Self.stride
        guard written.load(ordering: .acquiring) >= end, !isAtWork.exchange(true, ordering: .acquiring) else { return }
        Self.pool.submit { [weak self] in self?.work(to: end) }
    }

    private func work(to end: Int) {
        while advance(to: end) {}
        // A broken one stays at work for ever.
        if progress.withLock({ $0.isBroken }) { return }
        isAtWork.store(false, ordering: .releasing)
        hasten()
    }
}
