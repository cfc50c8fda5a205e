internal import Glibc

/// Bytes that can be read at any place; outside they read as zeros, and never trap.
protocol ByteSource {
    var count: Int { get }
    /// The size of the whole, of which these bytes may be only the start.
    var total: Int { get }
    /// `true` when reading has been given up, because the places that were asked for led to and fro without end.
    var isExhausted: Bool { get }
    /// The error number of the system by which reading failed; `nil` when it has not.
    var failure: Int32? { get }
    /// The byte at `place`, or 0 outside.
    mutating func byte(at place: Int) -> UInt8
    /// The place of the first `value` at or after `place`, or nil.
    ///
    /// - Parameter isInScan: `true` when only markers of a JPEG are looked for, so that stretches without any may be skipped.
    mutating func firstPlace(of value: UInt8, from place: Int, isInScan: Bool) -> Int?
}

extension ByteSource {
    var total: Int { count }
    var isExhausted: Bool { false }
    var failure: Int32? { nil }

    /// `true` when no byte before `end` is missing here that the whole has.
    func isHere(upTo end: Int) -> Bool { min(end, total) <= count }

    mutating func firstPlace(of value: UInt8, from place: Int) -> Int? {
        firstPlace(of: value, from: place, isInScan: false)
    }

    mutating func matches(_ pattern: StaticString, at place: Int) -> Bool {
        let length = pattern.utf8CodeUnitCount
        for index in 0..<length where byte(at: place + index) != pattern.utf8Start[index] { return false }
        return place + length <= count
    }

    mutating func name(at place: Int) -> FourCC { FourCC(value: big32(at: place)) }
    mutating func big16(at place: Int) -> Int { Int(byte(at: place)) << 8 | Int(byte(at: place + 1)) }
    mutating func big32(at place: Int) -> Int { big16(at: place) << 16 | big16(at: place + 2) }
    mutating func little16(at place: Int) -> Int { Int(byte(at: place)) | Int(byte(at: place + 1)) << 8 }
    mutating func little24(at place: Int) -> Int { little16(at: place) | Int(byte(at: place + 2)) << 16 }
    mutating func little32(at place: Int) -> Int { little16(at: place) | little16(at: place + 2) << 16 }
}

/// The name of a chunk or a box: four characters of ASCII.
struct FourCC: Equatable, ExpressibleByStringLiteral {
    let value: Int

    init(value: Int) { self.value = value }

    init(stringLiteral text: StaticString) {
        let bytes = text.utf8Start
        value = Int(bytes[0]) << 24 | Int(bytes[1]) << 16 | Int(bytes[2]) << 8 | Int(bytes[3])
    }
}

/// Bytes in memory, borrowed for the time of a call.
struct MemoryBytes: ByteSource {
    private let buffer: UnsafeRawBufferPointer
    let total: Int

    /// - Parameter total: The size of the whole that the bytes are the start of; nil when they are all of it.
    init(_ buffer: UnsafeRawBufferPointer, of total: Int? = nil) {
        self.buffer = buffer
        self.total = max(total ?? 0, buffer.count)
    }

    var count: Int { buffer.count }

    func byte(at place: Int) -> UInt8 {
        place >= 0 && place < buffer.count ? buffer[place] : 0
    }

    func firstPlace(of value: UInt8, from place: Int, isInScan: Bool) -> Int? {
        guard place >= 0, place < buffer.count, let base = buffer.baseAddress else { return nil }
        return memchr(base + place, Int32(value), buffer.count - place).map { UnsafeRawPointer($0) - base }
    }
}

/// Bytes of an open file, read through a window of 64 KiB, so that memory stays flat for files of any size.
///
/// The file is not mapped: a process that shortened a mapped file would end this one by a signal. A hostile file may lead
/// to and fro; so there are only so many reads as a walk through it takes twice, and some thousands.
struct FileBytes: ByteSource {
    private static let windowSize = 1 << 16

    private let descriptor: Int32
    /// Less than announced once the file turns out to be shorter: it may be cut off while it is read.
    private(set) var count: Int
    private let map: ScanMap?
    private var window: [UInt8] = []
    private var windowStart = 0
    private(set) var reads = 0
    private let mostReads: Int
    private(set) var isExhausted = false
    private(set) var failure: Int32?

    /// - Parameter map: The stretches of a JPEG that need not be searched for markers.
    init(descriptor: Int32, count: Int, map: ScanMap? = nil) {
        self.descriptor = descriptor
        self.count = count
        self.map = map
        mostReads = 4096 + 2 * (count / Self.windowSize)
    }

    mutating func byte(at place: Int) -> UInt8 {
        let index = place - windowStart
        if index >= 0, index < window.count { return window[index] }
        return moveWindow(to: place) ? window[0] : 0
    }

    mutating func firstPlace(of value: UInt8, from place: Int, isInScan: Bool) -> Int? {
        var place = place
        while true {
            if isInScan, let map { place = map.nextPlace(from: place) }
            let isInside = place >= windowStart && place < windowStart + window.count
            guard isInside || moveWindow(to: place) else { return nil }
            let found = window.withUnsafeBytes {
                MemoryBytes($0).firstPlace(of: value, from: place - windowStart, isInScan: isInScan)
            }
            if let found { return windowStart + found }
            place = windowStart + window.count
        }
    }

    /// Reads the bytes from a place on into the window; `false` where there are none.
    private mutating func moveWindow(to place: Int) -> Bool {
        guard place >= 0, place < count else { return false }
        guard reads < mostReads else {
            isExhausted = true
            return false
        }
        reads += 1
        let size = min(Self.windowSize, count - place)
        windowStart = place
        window = [UInt8](unsafeUninitializedCapacity: size) { bytes, got in
            repeat { got = pread(descriptor, bytes.baseAddress, size, off_t(place)) } while got < 0 && errno == EINTR
            if got < 0 { (failure, got) = (errno, 0) }
        }
        if window.count < size { count = place + window.count }
        return !window.isEmpty
    }
}
