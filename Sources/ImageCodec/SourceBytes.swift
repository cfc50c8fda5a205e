internal import CVips
internal import Glibc
internal import ImageRecipes

/// The state of a source file, which another process may write to at any time.
struct SourceStamp: Equatable {
    let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// The state of a regular file.
    init(descriptor: Int32) throws(RenderFailure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw RenderFailure(.sourceFailed, "The source is not a regular file.")
        }
        size = Int(facts.st_size)
        (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
    }

    /// Throws `sourceFailed` when the file has been written to since.
    func check(descriptor: Int32) throws(RenderFailure) {
        guard try SourceStamp(descriptor: descriptor) == self, hv_source_was_cut() == 0 else {
            throw RenderFailure(.sourceFailed, "The source was written to while it was read.")
        }
    }
}

/// The bytes of a source file, mapped into memory, or of a part of it.
final class SourceBytes {
    let bytes: UnsafeRawBufferPointer
    private let isMapped: Bool

    /// Maps a complete file.
    init(descriptor: Int32, count: Int) throws(RenderFailure) {
        guard count > 0 else { throw RenderFailure(.badData, "The source is empty.") }
        guard let base = hv_map_source(descriptor, count) else {
            throw RenderFailure(.outOfMemory, "The source cannot be mapped: \(String(cString: strerror(errno))).")
        }
        bytes = UnsafeRawBufferPointer(start: base, count: count)
        isMapped = true
    }

    /// A copy of the given bytes.
    init(copying array: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, array.count), alignment: 16)
        copy.copyBytes(from: array)
        bytes = UnsafeRawBufferPointer(rebasing: copy[..<array.count])
        isMapped = false
    }

    deinit {
        if isMapped {
            hv_unmap_source(bytes.baseAddress, bytes.count)
        } else {
            bytes.deallocate()
        }
    }

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
