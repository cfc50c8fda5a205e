internal import CLinux
internal import Glibc
internal import Platform

/// The leases of paths: a table in a file that all processes on a cache folder have in memory.
///
/// A lease is one store into memory, so that a hit needs no system call; and it outlives a killed process, as its reader
/// may. Entries share the 65,536 places by number, so now and then an image is spared for another's lease.
///
/// Times are seconds since the machine's start: no clock that is set makes a lease longer or shorter, and a start of the
/// machine ends them all.
final class LeaseTable: Sendable {
    private static let places = 1 << 16
    private static let header = 4096
    private static let stores = header + places * MemoryLayout<UInt32>.size
    /// Fewer, for only stores within the time of a download are told apart.
    private static let storePlaces = 1 << 13
    private static let size = stores + storePlaces * MemoryLayout<UInt32>.size
    /// "HLCL", and the version of the layout.
    private static let magic: UInt32 = 0x484C_4C01

    /// The address of the mapping.
    private let base: UInt
    /// The inode of the file, which shows when the folder was replaced; `nil` for a table of our own.
    let inode: UInt64?

    /// The table in the file at `path`, made if need be; one of our own where there cannot be a file.
    ///
    /// - Parameter bootNumber: The number of this start of the machine.
    init?(path: String, bootNumber: Int) {
        var (mapped, inode): (UnsafeMutableRawPointer?, UInt64?) = (nil, nil)
        if let file = Self.open(path, bootNumber: bootNumber) {
            (mapped, inode) = (hl_map(file.number, Self.size), file.stamp?.inode)
            file.unlock()
        }
        guard let mapped = mapped ?? hl_map(-1, Self.size) else { return nil }
        (base, self.inode) = (UInt(bitPattern: mapped), inode)
    }

    deinit { hl_unmap(UnsafeMutableRawPointer(bitPattern: base), Self.size) }

    private func number(at offset: Int) -> UnsafeMutablePointer<UInt32>? {
        UnsafeMutablePointer(bitPattern: base + UInt(offset))
    }

    private func lease(_ number: Int64) -> UnsafeMutablePointer<UInt32>? {
        let place = Int(UInt64(bitPattern: number) % UInt64(Self.places))
        return self.number(at: Self.header + place * MemoryLayout<UInt32>.size)
    }

    /// Lends the entry `number` until `moment`.
    ///
    /// - Parameter latest: A time after this is no lease, but damage, and is written over.
    func lend(_ number: Int64, until moment: Int, latest: Int) {
        if let place = lease(number) { hl_raise(place, UInt32(clamping: moment), UInt32(clamping: latest)) }
    }

    /// The end of the lease of the entry `number`; 0 if it never was lent.
    func end(of number: Int64) -> Int { lease(number).map { Int(hl_load($0)) } ?? 0 }

    /// `true` when anything may be lent at `moment`.
    func hasLeases(at moment: Int) -> Bool { (0..<Int64(Self.places)).contains { end(of: $0) > moment } }

    /// Takes over the leases of another table.
    func take(from other: LeaseTable) {
        for number in 0..<Int64(Self.places) where other.end(of: number) > 0 {
            lend(number, until: other.end(of: number), latest: .max)
        }
    }

    /// Behind the magic number and the number of the start.
    private var departureCount: UnsafeMutablePointer<UInt32>? { number(at: 64) }

    /// The number of times, in all processes, that a file has stayed only for its lease, its entry gone or with another file.
    var departures: UInt32 { departureCount.map { hl_load($0) } ?? 0 }

    /// Counts one more departure.
    func noteDeparture() { if let departureCount { hl_increment(departureCount) } }

    private func storeCount(_ number: Int64) -> UnsafeMutablePointer<UInt32>? {
        let place = Int(UInt64(bitPattern: number) % UInt64(Self.storePlaces))
        return self.number(at: Self.stores + place * MemoryLayout<UInt32>.size)
    }

    /// The number of images, in all processes, that were entered with a number that shares the place of `number`; `nil` in a
    /// table of our own, which does not show what others enter.
    func storeMark(at number: Int64) -> UInt32? { inode == nil ? nil : storeCount(number).map { hl_load($0) } }

    /// Counts one more image that has been entered.
    func noteStore(_ number: Int64) { if let place = storeCount(number) { hl_increment(place) } }

    /// Opens and locks a file of the right size and for this start of the machine; `nil` if there can be none.
    private static func open(_ path: String, bootNumber: Int) -> Descriptor? {
        // One process at a time: two must not both find it unfit and one wipe the other's first lease.
        guard let file = try? Descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW) else { return nil }
        file.lock(waits: true)
        var found = [UInt64](repeating: 0, count: 2)
        let wanted = [UInt64(magic), UInt64(truncatingIfNeeded: bootNumber)]
        let count = found.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, $0.count, 0) }
        if count == 16, found == wanted, let stamp = file.stamp {
            // An older version's, which is shorter, goes on; what is new in it is zero.
            if stamp.size >= size || posix_fallocate(file.number, 0, off_t(size)) == 0 { return consume file }
        }
        // Every page is there before it is written to by way of memory: a full disk would kill the process then. And the
        // file is never made shorter: others may have it mapped.
        let zeros = [UInt8](repeating: 0, count: size)
        let isMade =
            file.stamp != nil && posix_fallocate(file.number, 0, off_t(size)) == 0
            && zeros.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) } == size
            && wanted.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) } == 16
        guard isMade else { return nil }
        return file
    }
}
