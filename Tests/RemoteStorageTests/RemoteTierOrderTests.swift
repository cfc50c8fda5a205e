import Dispatch
import Platform
import Synchronization
import TestSupport
import Testing

@testable import RemoteStorage

/// The order of what is read, written and removed under one name, and when an engine that failed is used again.
@Suite struct RemoteTierOrderTests {
    private let storage = GatedStorage()
    private let clock = ManualClock()
    private let states = States()

    private final class States: Sendable {
        let all = Mutex<[CircuitBreaker.State]>([])
        /// Called before each report.
        let onReport = Mutex<(@Sendable (CircuitBreaker.State) -> Void)?>(nil)

        func note(_ state: CircuitBreaker.State) {
            let onReport = onReport.withLock { $0 }
            onReport?(state)
            all.withLock { $0.append(state) }
        }
    }

    private func tier(_ mode: RemoteMode = .readWrite, timeout: Double = 60) -> RemoteTier {
        var configuration = RemoteTier.Configuration()
        (configuration.timeout, configuration.mode, configuration.maxBytes) = (timeout, mode, 1000)
        return RemoteTier(
            storage, configuration, pool: BlockingPool(threads: 2), now: { [clock] in clock.now },
            report: { [states] state, _ in states.note(state) })
    }

    private func upload(_ name: String, to tier: RemoteTier, _ image: UInt8 = 1, _ claim: RemoteClaim? = nil) {
        tier.upload(
            RemoteUpload(name, byteCount: 1, seconds: nil, claim: claim) {
                RemoteObject(record: [], image: [image])
            })
    }

    private func bytes(_ image: [UInt8]) -> [UInt8]? { RemoteObject(record: [], image: image).bytes }

    @Test func aClaimThatIsAskedForAsTheProcessEndsIsGivenBack() async throws {
        let (tier, finished) = (tier(), Counter())
        async let asked = tier.claim("gated", seconds: 60)
        try await eventually("the question") { tier.isBusy }
        DispatchQueue.global().async {
            tier.finish()
            finished.add()
        }
        storage.claims.open()
        let claim = await asked.claim
        try await eventually("the end of the claim") { [storage] in storage.claimEnds.value == 1 }
        try await eventually("the end") { finished.value == 1 }
        #expect(claim != nil, "it is still held")
    }

    @Test func anUploadThatIsReplacedEndsItsClaim() async throws {
        let tier = tier()
        storage.gets.open()
        for name in ["a", "b", "c", "d"] { upload(name, to: tier) }
        upload("e", to: tier, 1, await tier.claim("e", seconds: 60).claim)
        upload("e", to: tier, 2)
        try await eventually("the end of the claim") { [storage] in storage.claimEnds.value == 1 }
        storage.openAll()
        try await eventually("the end of uploads") { tier.counts.queued == 0 }
        #expect(storage.objects.withLock { $0["e"] } == bytes([2]))
    }

    @Test func anObjectIsNotReadFromWhenItsRemovalBegins() async throws {
        let tier = tier()
        storage.gets.open()
        storage.objects.withLock { $0["a"] = bytes([1]) }
        #expect(await tier.object("a")?.image == [1])
        let removal = tier.removal(of: ["a", "b"])
        #expect(await tier.object("a") == nil && storage.getCount.value == 1)
        storage.removals.open()
        try await removal.remove("a")
        storage.objects.withLock { $0["a"] = bytes([2]) }
        #expect(await tier.object("a")?.image == [2])
        #expect(await tier.object("b") == nil && storage.getCount.value == 2)
        withExtendedLifetime(removal) {}
    }

    @Test func anObjectIsReadAgainWhenItsRemovalIsGivenUp() async {
        let tier = tier()
        storage.gets.open()
        storage.objects.withLock { $0["a"] = bytes([1]) }
        do {
            let removal = tier.removal(of: ["a"])
            #expect(await tier.object("a") == nil)
            withExtendedLifetime(removal) {}
        }
        #expect(await tier.object("a")?.image == [1])
    }

    @Test func whatIsUploadedAfterARemovalBeganStays() async throws {
        let tier = tier()
        storage.puts.open()
        let removal = tier.removal(of: ["a"])
        let removing = Task { try await removal.remove("a") }
        try await eventually("the removal") { [storage] in storage.removeCount.value == 1 }
        upload("a", to: tier)
        upload("b", to: tier)
        try await eventually("the other upload") { [storage] in storage.names == ["b"] }
        try await eventually("one upload left") { tier.counts.queued == 1 }
        storage.removals.open()
        try await removing.value
        try await eventually("the upload") { [storage] in storage.names == ["a", "b"] }
    }

    @Test func theRemovalOfAWrongObjectDoesNotTouchTheGoodOneThatFollows() async throws {
        let tier = tier()
        for gate in [storage.gets, storage.puts] { gate.open() }
        storage.objects.withLock { $0["a"] = [1, 2, 3] }
        #expect(await tier.object("a") == nil && tier.counts.wrong == 1)
        upload("a", to: tier)
        try await eventually("the removal") { [storage] in storage.removeCount.value == 1 }
        storage.removals.open()
        try await eventually("the upload") { [storage, good = bytes([1])] in
            storage.objects.withLock { $0["a"] } == good
        }
    }

    @Test func anImageLargerThanTheLimitIsNotRead() async {
        storage.gets.open()
        storage.objects.withLock { $0["a"] = bytes([UInt8](repeating: 1, count: 1001)) }
        let tier = tier()
        #expect(await tier.object("a") == nil && tier.counts.wrong == 0 && tier.counts.misses == 1)
    }

    @Test func aClaimThatComesTooLateIsGivenBack() async throws {
        let tier = tier(timeout: 0.01)
        let (claim, isTaken) = await tier.claim("slow", seconds: 60)
        #expect(claim == nil && !isTaken)
        try await eventually("the end of the claim") { [storage] in storage.claimEnds.value == 1 }
    }

    // MARK: The check

    @Test func anEngineThatIsOnlyWrittenIsNotReadToCheckIt() async {
        storage.openAll()
        let check = await tier(.writeOnly).check()
        #expect(check.isWell && check.steps.map(\.name) == [.write, .remove, .clock] && storage.getCount.value == 0)
    }

    @Test func aCheckThatFailsLeavesNothingBehind() async {
        storage.openAll()
        storage.losesWrites.store(true, ordering: .relaxed)
        let check = await tier().check()
        #expect(!check.isWell && check.steps.last?.name == .write)
        #expect(storage.removeCount.value == 1 && storage.names.isEmpty)
    }

    @Test func anEngineThatAnswersLaterThanARequestWaitsIsNotWell() async {
        storage.openAll()
        storage.onGet.withLock { $0 = { [clock] in clock.advance(seconds: 61) } }
        let check = await tier().check()
        #expect(check.steps.first?.problem?.contains("raise remoteTimeout") == true)
    }

    // MARK: The breaker

    @Test(arguments: [true, false])
    func anEngineInTheMidstOfAnAnswerIsNotLeftOut(isSending: Bool) async {
        let tier = tier(timeout: 0.01)
        storage.received.withLock { $0 = isSending ? .max : nil }
        let asked = Task { await tier.object("a") }
        try? await eventually("the failure") { tier.counts.errors == 1 || tier.counts.breaker == .open }
        storage.openAll()
        #expect(await asked.value == nil && tier.counts.breaker == (isSending ? .closed : .open))
    }

    @Test(arguments: RemoteMode.allCases)
    func anEngineThatIsOnlyWrittenIsTriedAgainToo(mode: RemoteMode) async throws {
        let tier = tier(mode)
        storage.openAll()
        storage.error.withLock { $0 = .failed("status 503") }
        if mode.writes { upload("a", to: tier) } else { _ = await tier.object("a") }
        try await eventually("the failure") { tier.counts.breaker == .open }
        storage.error.withLock { $0 = nil }
        clock.advance(seconds: 1.5)
        if mode.writes { upload("b", to: tier) } else { _ = await tier.object("b") }
        try await eventually("the probe") { tier.counts.breaker == .closed }
        #expect(states.all.withLock { $0 } == [.open, .halfOpen, .closed])
        if mode.writes {
            upload("c", to: tier)
            try await eventually("the upload") { [storage] in storage.names == ["c"] }
        }
    }

    @Test(arguments: [RemoteError.tooLarge])
    func aProbeThatGetsAnAnswerOfAnyKindShowsThatTheEngineIsThere(answer: RemoteError) async throws {
        let tier = tier()
        storage.openAll()
        storage.error.withLock { $0 = .failed("status 503") }
        _ = await tier.object("a")
        storage.error.withLock { $0 = answer }
        clock.advance(seconds: 1.5)
        _ = await tier.object("a")
        try await eventually("the probe") { tier.counts.breaker == .closed }
    }

    @Test func changesOfTheBreakerAreReportedInTheirOrder() async throws {
        let (tier, goesOn, reports) = (tier(), DispatchSemaphore(value: 0), Counter())
        storage.openAll()
        states.onReport.withLock { $0 = { if $0 == .open { goesOn.wait() } } }
        startThread {
            tier.note(RemoteError.malformed)
            reports.add()
        }
        try await eventually("it is left out") { tier.counts.breaker == .open }
        clock.advance(seconds: 1.5)
        _ = await tier.object("a")
        try await eventually("the probe") { tier.counts.breaker == .closed }
        goesOn.signal()
        try await eventually("the reports") { reports.value == 1 }
        #expect(states.all.withLock { $0 } == [.open, .halfOpen, .closed])
        #expect(tier.retire().reported == .closed)
    }

    @Test func aTierThatIsNotUsedAnyMoreKeepsNoClaim() async throws {
        let tier = tier()
        async let claim = tier.claim("gated", seconds: 60)
        try await eventually("it asks") { [storage] in storage.claims.waiterCount == 1 }
        _ = tier.retire()
        storage.claims.open()
        #expect(await claim.claim == nil)
        #expect(await tier.claim("other", seconds: 60).claim == nil)
        try await eventually("it is given back") { [storage] in storage.claimEnds.value == 1 && !tier.isBusy }
    }

    @Test func aTierThatIsNotUsedAnyMoreReportsNothingAndTakesNothing() async throws {
        let tier = tier()
        for name in ["a", "b", "c", "d", "e"] { upload(name, to: tier) }
        try await eventually("four uploads") { [storage] in storage.putCount.value == 4 }
        #expect(tier.retire().waiting.map(\.name) == ["e"] && tier.isBusy)
        storage.error.withLock { $0 = .failed("status 503") }
        storage.openAll()
        try await eventually("the end of uploads") { !tier.isBusy }
        #expect(tier.counts.breaker == .open && states.all.withLock { $0 }.isEmpty)
        upload("f", to: tier)
        #expect(tier.counts.queued == 0)
    }
}
