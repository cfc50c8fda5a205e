internal import Glibc
internal import Platform

/// Bytes that can be read at any place; reads outside give zeros, never a trap.
package protocol ByteSource {
    /// How many bytes there are.
    var count: Int { get }
    /// The byte at `place`, or 0 outside.
    mutating func byte(at place: Int) -> UInt8
    /// The place of the first `value` at or after `place`, or nil.
    mutating func firstPlace(of value: UInt8, from place: Int) -> Int?
    /// The place of the first 0xFF at or after `place` with which a marker may begin, or nil; others may be left out.
    mutating func firstMark(from place: Int) -> Int?
}

extension ByteSource {
    package mutating func firstMark(from place: Int) -> Int? { firstPlace(of: 0xFF, from: place) }

    package mutating func matches(_ pattern: [UInt8], at place: Int) -> Bool {
        for (index, value) in pattern.enumerated() where byte(at: place + index) != value { return false }
        return place + pattern.count <= count
    }

    package mutating func matches(_ pattern: StaticString, at place: Int) -> Bool {
        let length = pattern.utf8CodeUnitCount
        for index in 0..<length where byte(at: place + index) != pattern.utf8Start[index] { return false }
        return place + length <= count
    }

    mutating func big16(at place: Int) -> Int { Int(byte(at: place)) << 8 | Int(byte(at: place + 1)) }
    mutating func big32(at place: Int) -> Int { big16(at: place) << 16 | big16(at: place + 2) }
    mutating func little16(at place: Int) -> Int { Int(byte(at: place)) | Int(byte(at: place + 1)) << 8 }
    mutating func little24(at place: Int) -> Int { little16(at: place) | Int(byte(at: place + 2)) << 16 }
    mutating func little32(at place: Int) -> Int { little16(at: place) | little16(at: place + 2) << 16 }
}

/// Bytes in memory, borrowed for the time of a call.
package struct MemoryBytes: ByteSource {
    package let buffer: UnsafeRawBufferPointer

    /// The bytes of a buffer.
    package init(buffer: UnsafeRawBufferPointer) {
        self.buffer = buffer
    }

    package var count: Int { buffer.count }

    package func byte(at place: Int) -> UInt8 {
        place >= 0 && place < buffer.count ? buffer[place] : 0
    }

    package func firstPlace(of value: UInt8, from place: Int) -> Int? {
        guard place >= 0, place < buffer.count, let base = buffer.baseAddress else { return nil }
        guard let found = memchr(base + place, Int32(value), buffer.count - place) else { return nil }
        return UnsafeRawPointer(found) - base
    }
}

/// Bytes of an open file, read through a window of 64 KiB: memory stays flat whatever the size.
///
/// The file is never mapped: another process that shortened it would kill us.
package struct FileBytes: ByteSource {
    private static let windowSize = 1 << 16

    package let descriptor: Int32
    /// Less than was announced once the file turns out to be shorter: it may be cut off while it is read.
    package private(set) var count: Int
    /// Where it need not be searched for markers.
    private let map: ScanMap?
    private var window: [UInt8] = []
    private var windowStart = 0

    /// - Parameters:
    ///   - count: The size of the file, in bytes.
    ///   - map: What is known of a JPEG.
    package init(descriptor: Int32, count: Int, map: ScanMap? = nil) {
        self.descriptor = descriptor
        self.count = count
        self.map = map
    }

    package mutating func byte(at place: Int) -> UInt8 {
        guard place >= 0, place < count else { return 0 }
        if place < windowStart || place >= windowStart + window.count { load(from: place) }
        let index = place - windowStart
        return index < window.count ? window[index] : 0
    }

    package mutating func firstPlace(of value: UInt8, from place: Int) -> Int? {
        firstPlace(of: value, from: place, nil)
    }

    package mutating func firstMark(from place: Int) -> Int? { firstPlace(of: 0xFF, from: place, map) }

    private mutating func firstPlace(of value: UInt8, from place: Int, _ map: ScanMap?) -> Int? {
        var place = place
        while place >= 0, place < count {
            if let map {
                place = map.nextPlace(from: place)
                guard place < count else { return nil }
            }
            if place < windowStart || place >= windowStart + window.count { load(from: place) }
            let index = place - windowStart
            guard index < window.count else { return nil }
            let found = window.withUnsafeBytes { bytes in
                MemoryBytes(buffer: bytes).firstPlace(of: value, from: index)
            }
            if let found { return windowStart + found }
            place = windowStart + window.count
        }
        return nil
    }

    private mutating func load(from place: Int) {
        if window.count < Self.windowSize { window = [UInt8](repeating: 0, count: Self.windowSize) }
        windowStart = place
        let size = min(Self.windowSize, count - place)
        let got = window.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, size, off_t(place)) }
        if got < size {
            window.removeSubrange(max(got, 0)...)
            count = place + max(got, 0)
        }
    }
}
