internal import Glibc
internal import ImageRecipes

/// The bytes of a source file, read into memory, or of a part of it.
///
/// The file is not mapped: another process that shortened it would end this one by a signal.
final class SourceBytes {
    let bytes: UnsafeRawBufferPointer

    /// Reads a complete file.
    ///
    /// - Throws: `sourceChanged` when the file is written to meanwhile.
    init(descriptor: Int32) throws(RenderFailure) {
        var (before, after) = (stat(), stat())
        guard fstat(descriptor, &before) == 0, before.st_mode & S_IFMT == S_IFREG else {
            throw RenderFailure(.fileFailed, "The source is no regular file.")
        }
        guard before.st_size > 0 else { throw RenderFailure(.badData, "The source is empty.") }
        let count = Int(before.st_size)
        guard let base = malloc(count) else {
            throw RenderFailure(.outOfMemory, "There is not enough memory for the \(count) bytes of the source.")
        }
        bytes = UnsafeRawBufferPointer(start: base, count: count)
        var read = 0
        while read < count {
            let got = pread(descriptor, base + read, count - read, off_t(read))
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else {
                throw RenderFailure(.fileFailed, "The source cannot be read: \(String(cString: strerror(errno))).")
            }
            if got == 0 { break }
            read += got
        }
        guard read == count, fstat(descriptor, &after) == 0, after.st_size == before.st_size,
            after.st_mtim.tv_sec == before.st_mtim.tv_sec, after.st_mtim.tv_nsec == before.st_mtim.tv_nsec
        else {
            throw RenderFailure(
                .sourceChanged, "The source was written to while it was read.")
        }
    }

    /// A copy of the given bytes.
    init(copying array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, array.count), alignment: 16)
        copy.copyBytes(from: array)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<array.count])
    }

    deinit { free(UnsafeMutableRawPointer(mutating: bytes.baseAddress)) }

    var count: Int { bytes.count }

    /// The byte at an offset; nil beyond the end.
    func byte(_ place: Int) -> Int? { place >= 0 && place < bytes.count ? Int(bytes[place]) : nil }

    func little16(_ place: Int) -> Int? { number(place, 2, bigEndian: false) }
    func little32(_ place: Int) -> Int? { number(place, 4, bigEndian: false) }
    func big16(_ place: Int) -> Int? { number(place, 2, bigEndian: true) }
    func big32(_ place: Int) -> Int? { number(place, 4, bigEndian: true) }

    private func number(_ place: Int, _ count: Int, bigEndian: Bool) -> Int? {
        guard place >= 0, place <= bytes.count - count else { return nil }
        var value = 0
        for index in 0..<count {
            value |= Int(bytes[place + index]) << (8 * (bigEndian ? count - 1 - index : index))
        }
        return value
    }

    func matches(_ text: StaticString, at place: Int) -> Bool {
        guard place >= 0, place <= bytes.count - text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[place + $0] == text.utf8Start[$0] }
    }
}
