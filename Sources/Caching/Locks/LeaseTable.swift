internal import CLinux
internal import Glibc
internal import Platform

/// The leases of paths: a table in a file that all processes on a cache folder have in memory.
///
/// A lease is one store into memory, so that a hit needs no system call; and it outlives a killed process, as its reader
/// may. Files share the 65,536 places by number, so now and then one is spared for another's lease.
///
/// Times are seconds since the machine's start: no clock that is set makes a lease longer or shorter. A start of the machine
/// ends them all, where the system tells one from another; elsewhere they last until their seconds have come again.
final class LeaseTable: Sendable {
    private static let places = 1 << 16
    private static let header = 4096
    private static let changes = header + places * MemoryLayout<UInt32>.size
    /// Fewer: images that share a place are asked for once more than need be.
    private static let changePlaces = 1 << 13
    /// The bytes of what is lent, by the places of the leases.
    private static let sizes = changes + changePlaces * MemoryLayout<UInt32>.size
    private static let size = sizes + places * MemoryLayout<UInt16>.size
    private static let bootNumberPlace = 8
    private static let generationPlace = 16
    /// What transactions of all versions have noted: older ones count no images that they remove, and ask for all they know when
    /// this count changes.
    private static let notePlace = 64
    private static let countedPlace = 68
    private static let sumPlace = 72
    /// The part of these notes that was counted for single images too.
    private static let countedNotePlace = 80
    /// "HLCL", and the version of the layout.
    private static let magic: UInt32 = 0x484C_4C01

    private let memory: hl_shared_memory
    /// See `hl_generation`.
    private let generation: UInt64
    /// The inode of the file, which shows when the folder was replaced; `nil` for a table that this process alone has.
    let inode: UInt64?

    /// The table in the file at `path`, made if need be. While that cannot be opened, one that this process alone has, which
    /// neither shows the leases of others nor outlives the process.
    ///
    /// - Parameters:
    ///   - bootNumber: The number of this start of the machine; 0 when it is not known.
    ///   - patience: The longest wait for another process that holds the file, in seconds.
    init?(path: String, bootNumber: Int, patience: Double) {
        var (shared, inode): (hl_shared_memory?, UInt64?) = (nil, nil)
        if let file = Self.open(path, bootNumber: bootNumber, patience: patience) {
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

    private func lease(at place: Int) -> UnsafeMutablePointer<UInt32> {
        number(at: Self.header + place * MemoryLayout<UInt32>.size)
    }

    private var allSizes: UnsafeMutablePointer<UInt16> {
        UnsafeMutableRawPointer(number(at: Self.sizes)).assumingMemoryBound(to: UInt16.self)
    }

    private var sum: UnsafeMutablePointer<UInt64> {
        UnsafeMutableRawPointer(number(at: Self.sumPlace)).assumingMemoryBound(to: UInt64.self)
    }

    /// Lends a file.
    ///
    /// - Parameters:
    ///   - bytes: The size of its file.
    ///   - times: The present, and the latest end of a lease: a time after it is no lease, but damage, and is written over.
    func lend(_ file: LeaseNumber, until moment: Int, bytes: Int, _ times: Range<Int>) {
        let (place, latest) = (Self.place(file.value), UInt32(clamping: times.upperBound))
        let before = hl_raise(lease(at: place), UInt32(clamping: moment), latest)
        let counted = before <= times.lowerBound || before > latest ? 0 : hl_load_size(allSizes + place)
        hl_store_size(allSizes + place, UInt64(bytes))
        hl_add_wide(sum, UInt64(bytes) &- counted)
    }

    /// The bytes that are counted for a file, while its lease lasts.
    func bytes(of file: LeaseNumber) -> Int { Int(hl_load_size(allSizes + Self.place(file.value))) }

    /// Counts no bytes for a file any more, for it is gone; its place may be another's too, so the lease stays.
    func forgetBytes(of file: LeaseNumber) {
        let size = allSizes + Self.place(file.value)
        hl_add_wide(sum, 0 &- hl_load_size(size))
        hl_store_size(size, 0)
    }

    /// Counts no bytes for any file.
    func forgetBytes() {
        for place in 0..<Self.places { hl_store_size(allSizes + place, 0) }
        hl_store_wide(sum, 0)
    }

    /// The bytes of all that is lent, in the cache or not; summed up once a second, by one of the processes, so that what a
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

    /// The end of the lease of a file; 0 if it never was lent.
    func end(of file: LeaseNumber) -> Int { end(at: Self.place(file.value)) }

    private func end(at place: Int) -> Int { Int(hl_load(lease(at: place))) }

    /// `true` when anything may be lent at `moment`.
    func hasLeases(at moment: Int) -> Bool { (0..<Self.places).contains { end(at: $0) > moment } }

    /// Takes over what was lent in another table. Others do not see the changes that were noted there, so all marks change.
    func take(from other: LeaseTable) {
        noteChanges(of: nil)
        for place in 0..<Self.places where other.end(at: place) > 0 {
            hl_raise(lease(at: place), UInt32(clamping: other.end(at: place)), .max)
            allSizes[place] = other.allSizes[place]
        }
    }

    private func changeCount(at place: Int) -> UnsafeMutablePointer<UInt32> {
        number(at: Self.changes + place * MemoryLayout<UInt32>.size)
    }

    private static func changePlace(_ number: Int64) -> Int { Int(UInt64(bitPattern: number) % UInt64(changePlaces)) }

    /// The mark of the last change to the entry `number`, or to one that shares its place; each note of an older version
    /// changes all marks.
    func changeMark(of number: Int64) -> ChangeMark {
        let counted = hl_load(self.number(at: Self.countedNotePlace))
        let byOlder = hl_load(self.number(at: Self.notePlace)) &- counted
        return ChangeMark(
            generation: generation, count: hl_load(changeCount(at: Self.changePlace(number))) &+ byOlder)
    }

    /// Counts one more change to each of the entries; to all when `nil`.
    func noteChanges(of numbers: [Int64]?) {
        if let numbers {
            for number in numbers { hl_increment(changeCount(at: Self.changePlace(number))) }
        } else {
            for place in 0..<Self.changePlaces { hl_increment(changeCount(at: place)) }
        }
        hl_increment(number(at: Self.countedNotePlace))
        hl_increment(number(at: Self.notePlace))
    }

    /// The beginning of the file.
    private struct Header: Equatable {
        var magic: UInt64 = 0
        /// 0 when nobody knew it yet.
        var bootNumber: UInt64 = 0
        /// Changes when the file has lost a part. 0 in a file of an older version.
        var generation: UInt32 = 0
    }

    /// Opens and locks a file of the right size and for this start of the machine; `nil` if there can be none.
    private static func open(_ path: String, bootNumber: Int, patience: Double) -> Descriptor? {
        // One process at a time: two must not both find it unfit and one wipe the other's first lease. That takes
        // microseconds; who holds the lock longer is a stranger, and this process goes on by itself.
        guard let file = try? Descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW) else { return nil }
        let isLocked = file.lock(waiting: patience)
        let isHeld = !isLocked && errno == EWOULDBLOCK
        var found = Header()
        let count = withUnsafeMutableBytes(of: &found) { pread(file.number, $0.baseAddress, $0.count, 0) }
        guard count >= 0, let length = file.stamp?.size else { return nil }
        var wanted = found
        (wanted.magic, wanted.bootNumber) = (UInt64(magic), UInt64(truncatingIfNeeded: bootNumber))
        // What is not known is no other start of the machine.
        if bootNumber == 0, found.magic == wanted.magic { wanted.bootNumber = found.bootNumber }
        let isOfThisStart = found.bootNumber == wanted.bootNumber || found.bootNumber == 0
        let goesOn = found.magic == wanted.magic && isOfThisStart
        if goesOn, found.generation != 0, length >= size {
            if found != wanted, !isHeld { _ = write([wanted.bootNumber], to: file, at: bootNumberPlace) }
            return consume file
        }
        if isHeld { return nil }
        // Every page is there before it is written to by way of memory. And the file is never made shorter: others may have
        // it mapped.
        guard posix_fallocate(file.number, 0, off_t(size)) == 0 else { return nil }
        if !goesOn {
            // Those who have mapped a file that was cut to nothing go on lending in it.
            let isCut = found.magic == 0 && found.bootNumber == 0
            guard isCut || write([UInt8](repeating: 0, count: size), to: file) else { return nil }
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
