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
    /// The bytes of what is lent, by the places of the leases.
    private static let sizes = stores + storePlaces * MemoryLayout<UInt32>.size
    private static let marks = sizes + places * MemoryLayout<UInt16>.size
    /// Fewer, for only files whose images had another one that is lent are marked. Each set has the mark of the last file and
    /// that of the one before it.
    private static let markSets = 1 << 11
    private static let size = marks + markSets * 2 * MemoryLayout<UInt64>.size
    private static let generationPlace = 16
    private static let departurePlace = 64
    private static let countedPlace = 68
    private static let sumPlace = 72
    private static let leftPlace = 80
    private static let leftEndPlace = 88
    /// "HLCL", and the version of the layout.
    private static let magic: UInt32 = 0x484C_4C01

    private let memory: hl_shared_memory
    /// See `hl_generation`.
    private let generation: UInt64
    /// The inode of the file, which shows when the folder was replaced; `nil` for a table of our own.
    let inode: UInt64?

    /// The table in the file at `path`, made if need be; one of our own where there cannot be a file.
    ///
    /// - Parameter bootNumber: The number of this start of the machine.
    init?(path: String, bootNumber: Int) {
        var (shared, inode): (hl_shared_memory?, UInt64?) = (nil, nil)
        if let file = Self.open(path, bootNumber: bootNumber) {
            (shared, inode) = (hl_share(file.number, path, Self.size, Self.generationPlace), file.stamp?.inode)
            file.unlock()
        }
        if shared?.numbers == nil { (shared, inode) = (hl_own_memory(Self.size), nil) }
        guard let shared, shared.numbers != nil else { return nil }
        (memory, self.inode) = (shared, inode)
        generation = hl_generation(hl_number(shared, Self.generationPlace))
    }

    deinit { hl_unmap(memory, Self.size) }

    /// `true` as long as nothing of the file was lost: others may cut it short. Then it is opened anew, and what is known by
    /// its counts does not hold.
    var isWhole: Bool { inode == nil || hl_generation(number(at: Self.generationPlace)) == generation }

    private func number(at offset: Int) -> UnsafeMutablePointer<UInt32> { hl_number(memory, offset) }

    private static func place(_ number: Int64) -> Int { Int(UInt64(bitPattern: number) % UInt64(places)) }

    private func lease(_ number: Int64) -> UnsafeMutablePointer<UInt32> {
        self.number(at: Self.header + Self.place(number) * MemoryLayout<UInt32>.size)
    }

    private var allSizes: UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(number(at: Self.sizes)).assumingMemoryBound(to: UInt16.self)
    }

    private func wide(at offset: Int) -> UnsafeMutablePointer<UInt64> {
        UnsafeMutableRawPointer(number(at: offset)).assumingMemoryBound(to: UInt64.self)
    }

    private var sum: UnsafeMutablePointer<UInt64> { wide(at: Self.sumPlace) }

    /// Lends the entry `number`.
    ///
    /// - Parameters:
    ///   - bytes: The size of its file.
    ///   - times: The present, and the latest end of a lease: a time after it is no lease, but damage, and is written over.
    func lend(_ number: Int64, until moment: Int, bytes: Int, _ times: Range<Int>) {
        let latest = UInt32(clamping: times.upperBound)
        let before = hl_raise(lease(number), UInt32(clamping: moment), latest)
        let size = allSizes + Self.place(number)
        let counted = before <= times.lowerBound || before > latest ? 0 : hl_load_size(size)
        hl_store_size(size, UInt64(bytes))
        hl_add_wide(sum, UInt64(bytes) &- counted)
    }

    /// The bytes of the files that stay only for their leases, as the index has them; 0 when the last of these has ended.
    func leftBytes(at moment: Int) -> Int {
        Int(hl_load(number(at: Self.leftEndPlace))) > moment ? Int(clamping: hl_load_wide(wide(at: Self.leftPlace))) : 0
    }

    /// Sets the bytes of these files.
    func setLeft(bytes: Int) {
        let (place, bytes) = (wide(at: Self.leftPlace), UInt64(clamping: bytes))
        if hl_load_wide(place) != bytes { hl_store_wide(place, bytes) }
    }

    /// Notes that one of these files stays until `moment`.
    func setLeft(until moment: Int, _ times: Range<Int>) {
        hl_raise(number(at: Self.leftEndPlace), UInt32(clamping: moment), UInt32(clamping: times.upperBound))
    }

    /// The bytes of the entries that are lent; summed up once a second, by one of the processes, so that what a
    /// lease costs does not depend on how many there are.
    func lentBytes(_ times: Range<Int>) -> Int {
        let now = UInt32(clamping: times.lowerBound)
        if hl_load(number(at: Self.countedPlace)) != now {
            hl_store(number(at: Self.countedPlace), now)
            let count = hl_sum_sizes(
                number(at: Self.header), allSizes, Self.places, now, UInt32(clamping: times.upperBound))
            hl_store_wide(sum, count)
        }
        // Others may add and subtract while it is summed up.
        return max(0, Int(truncatingIfNeeded: hl_load_wide(sum)))
    }

    /// Counts no bytes for the entry `number` any more, as its file has gone or counts elsewhere.
    func forgetBytes(of number: Int64) {
        let size = allSizes + Self.place(number)
        hl_add_wide(sum, 0 &- hl_load_size(size))
        hl_store_size(size, 0)
    }

    /// The marks of files that are not lent although their images' leases run: they are those of earlier files.
    ///
    /// A mark tells the file and the end of the lease, so it means nothing for other files, and nothing any more when the lease
    /// is prolonged.
    private func marks(_ number: Int64) -> UnsafeMutablePointer<UInt64> {
        wide(at: Self.marks) + Int(UInt64(bitPattern: number) % UInt64(Self.markSets)) * 2
    }

    private func mark(_ number: Int64, _ modified: Int) -> UInt64 {
        let file = (UInt64(bitPattern: number) ^ UInt64(bitPattern: Int64(modified))) &* 0x9E37_79B9_7F4A_7C15
        return (file >> 32) << 32 | UInt64(hl_load(lease(number)))
    }

    /// Marks a file of the image `number`, by the time of its change, as not lent although a lease runs; `other` is the file
    /// that it replaces, whose mark stays.
    func markUnlent(_ number: Int64, _ modified: Int, replacing other: Int?) {
        let marks = marks(number)
        let isFirstTaken = other.map { hl_load_wide(marks) == mark(number, $0) } ?? false
        hl_store_wide(marks + (isFirstTaken ? 1 : 0), mark(number, modified))
    }

    /// `true` when the file is marked so.
    func isUnlent(_ number: Int64, _ modified: Int) -> Bool {
        let (marks, mark) = (marks(number), mark(number, modified))
        return hl_load_wide(marks) == mark || hl_load_wide(marks + 1) == mark
    }

    /// Takes the mark of a file away, before it is lent.
    func unmark(_ number: Int64, _ modified: Int) {
        let (marks, mark) = (marks(number), mark(number, modified))
        for place in 0..<2 where hl_load_wide(marks + place) == mark { hl_store_wide(marks + place, 0) }
    }

    /// The end of the lease of the entry `number`; 0 if it never was lent.
    func end(of number: Int64) -> Int { Int(hl_load(lease(number))) }

    /// `true` when anything may be lent at `moment`.
    func hasLeases(at moment: Int) -> Bool { (0..<Int64(Self.places)).contains { end(of: $0) > moment } }

    /// Takes over the leases of another table.
    func take(from other: LeaseTable) {
        for number in 0..<Int64(Self.places) where other.end(of: number) > 0 {
            hl_raise(lease(number), UInt32(clamping: other.end(of: number)), .max)
            allSizes[Self.place(number)] = other.allSizes[Self.place(number)]
        }
    }

    /// The number of times, in all processes, that a file has stayed only for its lease, its entry gone or with another file;
    /// from any number on.
    var departures: UInt32 { hl_load(number(at: Self.departurePlace)) }

    /// Counts one more departure.
    func noteDeparture() { hl_increment(number(at: Self.departurePlace)) }

    private func storeCount(_ number: Int64) -> UnsafeMutablePointer<UInt32> {
        let place = Int(UInt64(bitPattern: number) % UInt64(Self.storePlaces))
        return self.number(at: Self.stores + place * MemoryLayout<UInt32>.size)
    }

    /// The number of images, in all processes, that were entered with a number that shares the place of `number`; `nil` in a
    /// table of our own, which does not show what others enter.
    func storeMark(at number: Int64) -> StoreMark? {
        inode.map { StoreMark(table: $0, generation: generation, count: hl_load(storeCount(number))) }
    }

    /// Counts one more image that has been entered.
    func noteStore(_ number: Int64) { hl_increment(storeCount(number)) }

    /// The beginning of the file.
    private struct Header: Equatable {
        var magic: UInt64 = 0
        var bootNumber: UInt64 = 0
        /// Changes when the file has lost a part. 0 in a file of an older version.
        var generation: UInt32 = 0
    }

    /// Opens and locks a file of the right size and for this start of the machine; `nil` if there can be none.
    private static func open(_ path: String, bootNumber: Int) -> Descriptor? {
        // One process at a time: two must not both find it unfit and one wipe the other's first lease. That takes
        // microseconds; who holds the lock longer is a stranger, and this process goes on by itself.
        guard let file = try? Descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW) else { return nil }
        let isLocked = file.lock(waiting: 0.5)
        let isHeld = !isLocked && errno == EWOULDBLOCK
        var found = Header()
        let count = withUnsafeMutableBytes(of: &found) { pread(file.number, $0.baseAddress, $0.count, 0) }
        guard count >= 0, let length = file.stamp?.size else { return nil }
        var wanted = Header(magic: UInt64(magic), bootNumber: UInt64(truncatingIfNeeded: bootNumber))
        wanted.generation = found.generation
        if found == wanted, found.generation != 0, length >= size { return consume file }
        if isHeld { return nil }
        // Every page is there before it is written to by way of memory. And the file is never made shorter: others may have
        // it mapped.
        guard posix_fallocate(file.number, 0, off_t(size)) == 0 else { return nil }
        if found.magic != wanted.magic || found.bootNumber != wanted.bootNumber {
            // Those who have mapped a file that was cut to nothing go on lending in it.
            let isCut = found.magic == 0 && found.bootNumber == 0
            guard isCut || write([UInt8](repeating: 0, count: size), to: file) else { return nil }
            // Not a number that somebody may remember from before it was lost.
            let departures = found.generation == 0 ? 0 : UInt32.random(in: .min ... .max)
            guard write([departures], to: file, at: departurePlace) else { return nil }
        }
        // An older version's, which is shorter, or one that was cut, goes on; what is new in it is zero.
        wanted.generation = .random(in: 1 ... .max)
        guard write([wanted], to: file) else { return nil }
        return file
    }

    private static func write<Value>(_ values: [Value], to file: borrowing Descriptor, at place: Int = 0) -> Bool {
        values.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, off_t(place)) == $0.count }
    }
}
