import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Thousands of interleavings of store, retrieve, use, remove, clear, expire, evict, clean, verify and reopen, by two
/// storages on one folder, against a simple model.
///
/// The contents are drawn from a few pictures, so that sharing is common.
@Suite struct DiskLifeModelTests {
    struct Name: Hashable {
        let key: String
        let identifier: String
        var cacheKey: CacheKey { CacheKey(key, identifier: identifier) }
    }

    struct Entry {
        let bytes: [UInt8]
        let path: String
        let storedAt: Int
        let lifetime: Int?
        var expiresAt: Int?
        var use: Int
        let metadata: String?

        /// The number of the file's lease: each file has one of its own.
        var lease: Int64? { path.split(separator: "/").last.flatMap { LeaseNumber(fileName: String($0))?.value } }
    }

    /// What the folder should hold.
    struct Model {
        var entries: [Name: Entry] = [:]
        var leases: [Int64: Int] = [:]
        /// Paths handed out: whose they are, what they hold, and until when that is promised.
        var promises: [String: (name: Name, bytes: [UInt8], end: Int)] = [:]
        var uses = 0

        var bytes: Int {
            Dictionary(entries.values.map { ($0.bytes, $0.bytes.count) }) { a, _ in a }.values.reduce(0, +)
        }

        mutating func nextUse() -> Int {
            uses += 1
            return uses
        }

        mutating func lend(_ name: Name, at now: Int) {
            guard let entry = entries[name], let lease = entry.lease else { return }
            leases[lease] = max(leases[lease] ?? 0, now + 61)
            promises[entry.path] = (name, entry.bytes, now + 60)
        }

        func isOver(_ name: Name, at now: Int) -> Bool {
            guard let entry = entries[name] else { return true }
            return entry.expiresAt.map { $0 <= now } ?? false
        }

        /// Takes the least recently used out until so many bytes are left; not what is lent out.
        mutating func evict(to goal: Int, at now: Int) {
            for (name, entry) in entries.sorted(by: { $0.value.use < $1.value.use }) {
                if bytes <= goal { return }
                if entry.lease.flatMap({ leases[$0] }) ?? 0 <= now { entries[name] = nil }
            }
        }

        mutating func remove(_ name: Name) {
            entries[name] = nil
            promises = promises.filter { $0.value.name != name }
        }
    }

    private let pictures = (1...5).map { hollowPNG(width: $0, count: 200 * $0) }

    private func settings(_ configuration: inout DiskStorage.Configuration) {
        configuration.bytesLimit = 0
        configuration.expiration = .seconds(300)
    }

    @Test(arguments: 0..<6 as Range<UInt64>)
    func storageBehavesLikeItsModel(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let clock = ManualClock(seconds: 1_800_000_000)
        var disks = [try TestDisk(clock: clock, settings)]
        disks.append(try disks[0].reopened(settings))
        var model = Model()
        for step in 0..<500 {
            let at: Comment = "seed \(seed), step \(step)"
            let now = clock.seconds
            let actor = disks[Int.random(in: 0...1, using: &generator)]
            let name = Name(
                key: "key \(Int.random(in: 0..<6, using: &generator))",
                identifier: ["", "", "blur", "round"].randomElement(using: &generator) ?? "")
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<35: try store(name, actor, &model, now, &generator, at)
            case 35..<60: try retrieve(name, actor, &model, now, &generator, at)
            case 60..<70:
                let all = Bool.random(using: &generator)
                let gone = model.entries.keys.filter {
                    $0 == name || all && $0.key == name.key && !$0.identifier.isEmpty
                }
                let removed = try actor.disk.remove(name.cacheKey, allVariants: all)
                #expect(removed.count == gone.count, at)
                #expect(removed.bytes == gone.reduce(0) { $0 + (model.entries[$1]?.bytes.count ?? 0) }, at)
                for one in gone + [name] { model.remove(one) }
            case 70:
                let removed = try actor.disk.removeAll()
                #expect(removed.count == model.entries.count && removed.bytes == model.bytes, at)
                (model.entries, model.promises) = ([:], [:])
            case 71..<80: clock.advance(seconds: Double(Int.random(in: 1...80, using: &generator)))
            case 80..<84:
                let over = model.entries.keys.filter { model.isOver($0, at: now) }
                #expect(try actor.disk.removeExpired().count == over.count, at)
                for name in over { model.entries[name] = nil }
            case 84..<87:
                let goal = Int.random(in: 0...3000, using: &generator)
                guard try actor.disk.index.exists else { continue }
                try actor.disk.evictor.evict(to: goal)
                model.evict(to: goal, at: now)
            case 87..<90:
                actor.disk.clean()
                for name in model.entries.keys where model.isOver(name, at: now) { model.entries[name] = nil }
            case 90..<94: disks[Int.random(in: 0...1, using: &generator)] = try actor.reopened(settings)
            case 94..<97: #expect(try actor.disk.verify(repairs: true).isClean, at)
            default:
                let listed = try actor.disk.list(ListQuery()).entries.map {
                    Name(key: $0.key ?? "", identifier: $0.processorIdentifier)
                }
                #expect(Set(listed) == Set(model.entries.keys.filter { !model.isOver($0, at: now) }), at)
            }
            try check(model, disks, clock.seconds, step, at)
        }
        clock.advance(seconds: 1e6)
        disks[0].disk.clean()
        #expect(disks[1].blobs.count == model.entries.values.count { $0.expiresAt == nil }, "seed \(seed)")
        #expect(try disks[1].disk.totals().lent == 0, "seed \(seed)")
    }

    private func store(
        _ name: Name, _ disk: TestDisk, _ model: inout Model, _ now: Int, _ generator: inout SeededGenerator,
        _ at: Comment
    ) throws {
        let bytes = pictures.randomElement(using: &generator) ?? []
        let expiration = [nil, nil, .never, .seconds(50)].randomElement(using: &generator) ?? nil as StorageExpiration?
        let overwrites = Int.random(in: 0..<6, using: &generator) > 0
        let metadata = Bool.random(using: &generator) ? #"{"step":"\#(at)"}"# : nil
        let isLent = Bool.random(using: &generator)
        let stored = try disk.put(
            bytes, name.key, identifier: name.identifier, expiration: expiration,
            fileExtension: Bool.random(using: &generator) ? "img" : nil
        ) {
            $0.overwrites = overwrites
            $0.metadata = metadata
            $0.lease = isLent ? 60 : 0
        }
        let isKept = !overwrites && !model.isOver(name, at: now)
        #expect(stored.isNew == !isKept, at)
        let path = try #require(stored.record.path)
        if !isKept {
            let lifetime = (expiration ?? .seconds(300)).lifetime(at: now)
            model.entries[name] = Entry(
                bytes: bytes, path: path, storedAt: now, lifetime: lifetime, expiresAt: lifetime.map { now + $0 },
                use: model.nextUse(), metadata: metadata)
            // The same name: whoever reads there gets the new image, whole.
            if let promise = model.promises[path] { model.promises[path] = (name, bytes, promise.end) }
        }
        if isLent { model.lend(name, at: now) }
    }

    private func retrieve(
        _ name: Name, _ disk: TestDisk, _ model: inout Model, _ now: Int, _ generator: inout SeededGenerator,
        _ at: Comment
    ) throws {
        let isThere = !model.isOver(name, at: now)
        guard let record = try disk.record(name.key, identifier: name.identifier) else { return #expect(!isThere, at) }
        guard isThere, var entry = model.entries[name] else {
            Issue.record("there is an image where there should be none: \(at)")
            return
        }
        #expect(try disk.disk.data(of: record) == entry.bytes, at)
        #expect(record.path == entry.path && record.expiresAt == entry.expiresAt, at)
        guard Bool.random(using: &generator) else {
            let details = try disk.disk.inspect(name.cacheKey)
            #expect(details?.metadata == entry.metadata && details?.expiresAt == entry.expiresAt, at)
            return
        }
        record.extend(.cacheTime, at: now)
        disk.disk.touch(record, lease: 60)
        disk.disk.flushTouches()
        let end = entry.lifetime.map { max(now + $0, entry.expiresAt ?? 0) }
        entry.use = model.nextUse()
        // A change of less than a hundredth of the life is not written down.
        if abs((end ?? 0) - (entry.expiresAt ?? 0)) >= max(1, (entry.lifetime ?? 0) / 100) { entry.expiresAt = end }
        model.entries[name] = entry
        model.lend(name, at: now)
    }

    private func check(_ model: Model, _ disks: [TestDisk], _ now: Int, _ step: Int, _ at: Comment) throws {
        let totals = try disks[step % 2].disk.totals()
        #expect(totals.count == model.entries.count, at)
        #expect(totals.bytes == model.bytes, at)
        for promise in model.promises where promise.value.end >= now {
            #expect(content(promise.key) == promise.value.bytes, at)
        }
        guard step % 20 == 0 else { return }
        let found = try disks[step / 20 % 2].check()
        #expect(found.isClean, "\(at): \(found)")
        #expect(disks[0].partials.isEmpty, at)
        #expect(Set(disks[0].blobs).isSuperset(of: model.entries.values.map { $0.path.suffix(from: disks[0]) }), at)
        #expect(totals.bytes + totals.lent >= disks[0].bytesInBlobs, at)
    }
}

extension String {
    /// The path, relative to the folder of the test.
    fileprivate func suffix(from disk: TestDisk) -> String { String(dropFirst(disk.folder.path.count + 1)) }
}
