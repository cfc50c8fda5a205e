import Platform
import TestSupport
import Testing

@testable import RemoteStorage

/// What a tier does while its engine is slow.
@Suite struct RemoteTierLimitTests {
    private let storage = GatedStorage()
    private let clock = ManualClock()
    private let tier: RemoteTier

    init() {
        var configuration = RemoteTier.Configuration()
        // The pauses of tasks go by the system's clock; this limit is never reached.
        configuration.timeout = 60
        tier = RemoteTier(
            storage, configuration, pool: BlockingPool(threads: 2), now: { [clock] in clock.now }, report: { _, _ in })
    }

    private func upload(_ name: String, _ image: [UInt8] = [1]) {
        tier.upload(
            RemoteUpload(name, byteCount: image.count, seconds: nil, claim: nil) {
                RemoteObject(record: [], image: image)
            })
    }

    @Test func aRemovalIsNotUndoneByAnUploadThatRunsOrWaits() async throws {
        for gate in [storage.gets, storage.removals] { gate.open() }
        for name in ["a", "b", "c", "d", "e", "e"] { upload(name) }
        try await eventually("four uploads") { [storage] in storage.putCount.value == UploadQueue.width }
        let objects = tier.removal(of: ["a", "e"])
        let removal = Task { for name in ["a", "e"] { try await objects.remove(name) } }
        #expect(tier.counts.queued == 4, "the one that waits is left out")
        storage.puts.open()
        try await removal.value
        try await eventually("the end of uploads") { [tier] in tier.counts.queued == 0 }
        #expect(storage.objects.withLock { Set($0.keys) }.isDisjoint(with: ["a", "e"]))
        #expect(storage.objects.withLock { $0.keys.sorted() } == ["b", "c", "d"])
    }

    @Test func whoWaitsForAPlaceAsLongAsAnOperationMayTakeGoesWithout() async throws {
        let asking = (0..<40).map { number in Task { [tier] in await tier.object("\(number)") } }
        try await eventually("as many operations as there are places") { [storage] in storage.getCount.value == 32 }
        // One that begins to wait later is not late.
        try await eventually("the others wait") { [tier] in tier.waitingCount == 8 }
        clock.advance(seconds: 61)
        storage.gets.open()
        for one in asking { #expect(await one.value == nil) }
        #expect(storage.getCount.value == 32)
        #expect(tier.counts.misses == 40 && tier.counts.errors == 0 && tier.counts.breaker == .closed)
    }

    @Test func anUploadThatIsTooLargeOrOneTooManyIsLeftOut() async throws {
        upload("large", [UInt8](repeating: 0, count: tier.configuration.maxBytes + 1))
        #expect(tier.counts.queued == 0)
        for number in 0..<UploadQueue.mostUploads + 10 { upload("\(number)") }
        #expect(tier.counts.queued == UploadQueue.mostUploads && tier.counts.dropped == 10)
        storage.puts.open()
        try await eventually("the end of uploads") { [tier] in tier.counts.queued == 0 }
        #expect(tier.counts.uploads == UploadQueue.mostUploads)
    }
}
