internal import CLinux
internal import Glibc
internal import Platform

/// Which paths are lent out, and until when: a table in a file that all processes on a cache folder have in memory.
///
/// A lease is one store into memory, so that a hit needs no system call; and it outlives a killed process, as its
/// reader may. Entries share the 65,536 places by number, so now and then an image is spared for another's lease.
///
/// Times are seconds since the machine's start: no clock that is set makes a lease longer or shorter, and a start of
/// the machine ends them all.
final class LeaseTable: Sendable {
    private static let places = 1 << 16
    private static let header = 4096
    private static let storeMark = header + places * MemoryLayout<UInt32>.size
    /// Fewer, for only those that come within the time of a download are told apart.
    private static let landingPlaces = 1 << 13
    private static let size = storeMark + landingPlaces * MemoryLayout<UInt32>.size
    /// "HLCL", and the version of the layout.
    private static let magic: UInt32 = 0x484C_4C01

    /// The address of the mapping.
    private let base: UInt
    /// The file, to notice that the folder was replaced; nil for a table of our own.
    let inode: UInt64?

    /// The table in the file at `path`, made if need be; one of our own where there cannot be a file.
    ///
    /// - Parameter bootNumber: Which start of the machine this is.
    init?(path: String, bootNumber: Int) {
        let descriptor = Self.open(path, bootNumber: bootNumber)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard let mapped = hl_map(descriptor, Self.size) ?? hl_map(-1, Self.size) else { return nil }
        base = UInt(bitPattern: mapped)
        inode = FileStamp(descriptor: descriptor)?.inode
    }

    deinit { hl_unmap(UnsafeMutableRawPointer(bitPattern: base), Self.size) }

    private func place(_ number: Int64) -> UnsafeMutablePointer<UInt32>? {
        let index = Int(truncatingIfNeeded: UInt64(bitPattern: number) % UInt64(Self.places))
        return UnsafeMutablePointer(bitPattern: base + UInt(Self.header + index * MemoryLayout<UInt32>.size))
    }

    /// Lends the entry `number` out until `moment`.
    ///
    /// - Parameter latest: What is later than this is no lease, but damage, and is written over.
    func lend(_ number: Int64, until moment: Int, latest: Int) {
        guard let place = place(number) else { return }
        hl_raise(place, UInt32(clamping: moment), UInt32(clamping: latest))
    }

    /// Takes over the leases of another table.
    func take(from other: LeaseTable) {
        for number in 0..<Int64(Self.places) where other.end(of: number) > 0 {
            lend(number, until: other.end(of: number), latest: .max)
        }
    }

    /// How often, in any process, a file has stayed only for its lease, when its entry was gone or had another file.
    var departures: UInt32 { counter.map { hl_load($0) } ?? 0 }

    /// Counts one more departure.
    func noteDeparture() { if let counter { hl_increment(counter) } }

    /// How often, in any process, an image has been entered whose number shares the place of `number`; nil in a table of our
    /// own, for what others enter is not seen there.
    func storeMark(at number: Int64) -> UInt32? {
        inode == nil ? nil : landingPlace(number).map { hl_load($0) }
    }

    /// Counts one more image that has been entered.
    func noteStore(_ number: Int64) { if let place = landingPlace(number) { hl_increment(place) } }

    private func landingPlace(_ number: Int64) -> UnsafeMutablePointer<UInt32>? {
        let index = Int(truncatingIfNeeded: UInt64(bitPattern: number) % UInt64(Self.landingPlaces))
        return UnsafeMutablePointer(bitPattern: base + UInt(Self.storeMark + index * MemoryLayout<UInt32>.size))
    }

    /// Behind the magic number and the number of the start.
    private var counter: UnsafeMutablePointer<UInt32>? { UnsafeMutablePointer(bitPattern: base + 64) }

    /// Until when the entry `number` is lent out; 0 if it never was.
    func end(of number: Int64) -> Int {
        place(number).map { Int(hl_load($0)) } ?? 0
    }

    /// Whether anything may be lent out at `moment`.
    func hasLeases(at moment: Int) -> Bool {
        (0..<Int64(Self.places)).contains { end(of: $0) > moment }
    }

    /// An open file of the right size and for this start of the machine; −1 if there can be none.
    private static func open(_ path: String, bootNumber: Int) -> Int32 {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return -1 }
        // One process at a time: two must not both find it unfit and one wipe the other's first lease.
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        defer { flock(descriptor, LOCK_UN) }
        var found = [UInt64](repeating: 0, count: 2)
        let wanted = [UInt64(magic), UInt64(truncatingIfNeeded: bootNumber)]
        let count = found.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        if count == 16, found == wanted, let stamp = FileStamp(descriptor: descriptor) {
            // An older version's, which is shorter, goes on; what is new in it is zero.
            if stamp.size >= size || posix_fallocate(descriptor, 0, off_t(size)) == 0 { return descriptor }
        }
        // Every page is there before it is written to by way of memory: a full disk would kill the process then. And
        // the file is never made shorter: others may have it mapped.
        let zeros = [UInt8](repeating: 0, count: size)
        let isMade =
            FileStamp(descriptor: descriptor) != nil && posix_fallocate(descriptor, 0, size) == 0
            && zeros.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == size
            && wanted.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == 16
        if isMade { return descriptor }
        close(descriptor)
        return -1
    }
}
