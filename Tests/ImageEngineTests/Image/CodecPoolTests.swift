import Foundation
import Glibc
import ImageRecipes
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Codec workers as processes: started late, replaced when they die, stopped when idle.
@Suite(.serialized) struct CodecPoolTests {
    private let clock = ManualClock()
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func pool(_ standIn: CodecStandIn, _ change: (inout CodecPool.Configuration) -> Void = { _ in })
        -> CodecPool
    {
        var configuration = CodecPool.Configuration(executable: standIn.path)
        change(&configuration)
        return CodecPool(configuration, now: { [clock] in clock.now })
    }

    private func request(_ source: String, _ steps: [ImageProcessor] = [.blackWhite], seconds: Double = 60)
        -> RenderRequest
    {
        _ = FileManager.default.createFile(atPath: "\(folder.path)/\(source)", contents: Data([1]))
        return RenderRequest(
            source: "\(folder.path)/\(source)", format: "png",
            outputs: [RenderOutput(steps: steps, path: "\(folder.path)/\(source)-\(steps.count)")],
            limits: RenderLimits(decodeSeconds: seconds))
    }

    private func failure(_ pool: CodecPool, _ request: RenderRequest) async throws -> CodecFailure? {
        do {
            _ = try await pool.render(request, cost: 1)
            return nil
        } catch let failure as CodecFailure {
            return failure
        }
    }

    @Test func oneIsStartedForTheFirstRequestAndAnotherWhileItIsBusy() async throws {
        let standIn = try CodecStandIn(making: [1], .wait)
        let pool = pool(standIn)
        #expect(pool.startedCount == 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for source in ["a", "b", "c"] {
                group.addTask { _ = try await pool.render(request(source), cost: 1) }
            }
            try await eventually { standIn.requests.count == 2 }
            try standIn.open()
            try await group.waitForAll()
        }
        #expect(standIn.requests.count == 3 && Set(standIn.requests.map(\.process)).count == 2)
        #expect(pool.startedCount == 2)
        for source in ["a", "b", "c"] { #expect(folder.files.contains("\(source)-1")) }
    }

    @Test func oneThatHasNothingToDoIsStopped() async throws {
        let standIn = try CodecStandIn(making: [1])
        let pool = pool(standIn) { $0.idleSeconds = 0.02 }
        _ = try await pool.render(request("a"), cost: 1)
        let process = try #require(standIn.requests.first?.process)
        #expect(Spawn.isRunning(process))
        try await eventually {
            // Its rest begins when its thread has seen that there is no more to do.
            clock.advance(seconds: 1)
            return pool.workerCount == 0 && !Spawn.isRunning(process)
        }
        _ = try await pool.render(request("b"), cost: 1)
        #expect(pool.startedCount == 2)
    }

    @Test(arguments: [CodecStandIn.Mode.die, .babble, .other])
    func oneThatDiesOrBabblesFailsItsRequestAndIsReplaced(mode: CodecStandIn.Mode) async throws {
        let standIn = try CodecStandIn(making: [1], mode)
        let pool = pool(standIn)
        switch try await failure(pool, request("a")) {
        case .died(let status): #expect(mode == .die && status == -SIGKILL)
        case .garbled: #expect(mode == .babble)
        case .otherVersion(_, let version): #expect(mode == .other && version == 99)
        case let other: Issue.record("\(mode): \(String(describing: other))")
        }
        try standIn.set(.make)
        #expect(try await failure(pool, request("b")) == nil)
        // A death may be nobody's fault: a fresh one has tried it again.
        #expect(pool.startedCount == (mode == .die ? 3 : 2))
    }

    @Test func onesThatEndAfterTheirReplyOrAreEndedOrStoppedFailNoOtherRequest() async throws {
        let standIn = try CodecStandIn(making: [1])
        let pool = pool(standIn) { $0.maxWorkers = 1 }
        for round in 0..<10 {
            try standIn.set(.last)
            #expect(try await failure(pool, request("last-\(round)")) == nil)
            try standIn.set(.make)
            #expect(try await failure(pool, request("next-\(round)")) == nil)
        }
        for (name, mode) in [("killed", CodecStandIn.Mode.dieOnce), ("stopped", .stopOnce)] {
            try standIn.set(mode)
            #expect(try await failure(pool, request(name)) == nil)
            #expect(folder.files.contains("\(name)-1"))
        }
    }

    @Test func filesThatCannotBeOpenedFailAloneAndLeaveNothing() async throws {
        let standIn = try CodecStandIn(making: [1], .refuse)
        let pool = pool(standIn)
        func kinds(_ request: RenderRequest) async throws -> [RenderFailure.Kind?] {
            try await pool.render(request, cost: 1).outcomes.map { outcome in
                if case .failed(let failure) = outcome { failure.kind } else { nil }
            }
        }
        var missing = request("a")
        missing.source = folder.path + "/nothing"
        #expect(try await kinds(missing) == [.sourceFailed])
        missing.source = folder.path
        #expect(try await kinds(missing) == [.sourceFailed])
        #expect(pool.startedCount == 0)
        #expect(try await kinds(request("b")) == [.processingFailed])
        #expect(!folder.files.contains("b-1"))
        try standIn.set(.make)
        var two = request("c")
        two.outputs.insert(RenderOutput(steps: [], path: folder.path + "/a"), at: 0)
        #expect(try await kinds(two) == [.resultFailed, nil])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/a")) == Data([1]))
        #expect(folder.files.contains("c-1"))
    }

    @Test func oneThatHasNotPreparedWhatAFormatNeedsIsReplacedByOneThatHas() async throws {
        let standIn = try CodecStandIn(making: [1])
        let pool = pool(standIn) { $0.maxWorkers = 1 }
        func render(_ name: String, _ format: String, to output: EncodedFormat = .png) async throws -> [String] {
            var wanted = request(name)
            wanted.format = format
            wanted.outputs[0].rule = .format(output, Encoding())
            _ = try await pool.render(wanted, cost: 1)
            return standIn.requests.last?.parts ?? []
        }
        #expect(try await render("a", "png") == [])
        #expect(try await render("b", "svg") == ["svg"])
        #expect(try await render("c", "png") == ["svg"])
        #expect(try await render("d", "png", to: .avif) == ["heif", "svg"])
        #expect(try await render("e", "heic", to: .avif) == ["heif", "svg"])
        #expect(pool.startedCount == 3)
    }

    @Test func oneThatHangsIsKilledAfterItsTime() async throws {
        let standIn = try CodecStandIn(making: [1], .hang)
        let pool = pool(standIn) { $0.graceSeconds = 0.2 }
        #expect(try await failure(pool, request("a", seconds: 0.3)) == .hung(seconds: 0.5))
        let process = try #require(standIn.requests.first?.process)
        try await eventually { !Spawn.isRunning(process) }
        try standIn.set(.make)
        #expect(try await failure(pool, request("b")) == nil)
    }

    @Test func oneThatEndsWhileItIsIdleIsReplacedAndNobodyNotices() async throws {
        let standIn = try CodecStandIn(making: [1])
        let pool = pool(standIn)
        for source in ["a", "b", "c"] {
            #expect(try await failure(pool, request(source)) == nil)
            let process = try #require(standIn.requests.last?.process)
            kill(process, SIGKILL)
            // Reaped by its thread: the number is nobody's any more.
            try await eventually { kill(process, 0) != 0 }
        }
        #expect(pool.startedCount == 3)
    }

    @Test func theLastCallerThatLeavesKillsItAndTheNextRequestGetsAnother() async throws {
        let standIn = try CodecStandIn(making: [1], .hang)
        let pool = pool(standIn)
        let task = Task { try await pool.render(request("a"), cost: 1) }
        try await eventually { standIn.requests.count == 1 }
        let waiting = Task { try await pool.render(request("w"), cost: 1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try standIn.set(.make)
        #expect(try await failure(pool, request("b")) == nil)
        let process = try #require(standIn.requests.first?.process)
        try await eventually { !Spawn.isRunning(process) }
    }

    @Test func requestsOnOneSourceThatWaitAreMadeInOnePass() async throws {
        let standIn = try CodecStandIn(making: [1], .wait)
        let pool = pool(standIn) { $0.maxWorkers = 1 }
        async let first = pool.render(request("a"), cost: 1)
        try await eventually { standIn.requests.count == 1 }
        let steps: [[ImageProcessor]] = try [[.blackWhite], [.blackWhite, .blur(Blur(radius: 1))]]
        let tasks = steps.map { steps in Task { try await pool.render(request("b", steps), cost: 1) } }
        try await eventually { pool.waitingCount == 2 }
        try standIn.open()
        _ = try await first
        for task in tasks { #expect(try await task.value.outcomes.count == 1) }
        #expect(standIn.requests.count == 2)
        #expect(Set(standIn.requests[1].outputs) == [["blackWhite"], ["blackWhite", "blur"]])
    }

    @Test func onePictureThatKillsItTakesNoneOfThoseMadeAlongWithIt() async throws {
        let standIn = try CodecStandIn(making: [1], .wait)
        let pool = pool(standIn) { $0.maxWorkers = 1 }
        async let first = pool.render(request("a"), cost: 1)
        try await eventually { standIn.requests.count == 1 }
        try standIn.set(.dieTogether)
        let steps: [[ImageProcessor]] = try [[.blackWhite], [.blur(Blur(radius: 1)), .blackWhite]]
        let tasks = steps.map { steps in Task { try await pool.render(request("b", steps), cost: 1) } }
        try await eventually { pool.waitingCount == 2 }
        try standIn.open()
        _ = try await first
        for task in tasks { #expect(try await task.value.outcomes.count == 1) }
        #expect(standIn.requests.map(\.outputs.count) == [1, 2, 1, 1])
    }

    @Test func withoutTheProgramTheErrorSaysHowToGetIt() async throws {
        let pool = CodecPool(CodecPool.Configuration(executable: folder.path + "/none"), now: { 0 })
        #expect(!pool.isAvailable)
        let failure = try #require(try await failure(pool, request("a")))
        let text = "\(failure.imageError("a"))"
        #expect(text.contains("halcyon-codec") && text.contains("--codec") && text.contains("HALCYON_CODEC"))
    }

    @Test func itGetsNoDescriptorAndNoSettingOfOurs() async throws {
        setenv("HALCYON_SECRET", "1", 1)
        defer { unsetenv("HALCYON_SECRET") }
        let standIn = try CodecStandIn(making: [1])
        let pool = pool(standIn)
        #expect(try await failure(pool, request("a")) == nil)
        let process = try #require(standIn.requests.first?.process)
        let environment = try #require(try? String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8))
        #expect(!environment.contains("HALCYON"))
        let descriptors = try Files.names(in: "/proc/\(process)/fd").filter { $0 != "." && $0 != ".." }
        #expect(Set(descriptors).isSubset(of: ["0", "1", "2", "3", "4", "5", "6"]), "\(descriptors)")
    }
}
