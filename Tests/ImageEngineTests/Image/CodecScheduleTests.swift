import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import ImageRecipes
@testable import Platform

/// Who decodes what, and when: decided without any process.
@Suite struct CodecScheduleTests {
    private typealias Job = CodecSchedule.Job

    private func schedule(workers: Int = 2, memory: Int = 100) -> CodecSchedule {
        var limits = CodecPool.Configuration()
        (limits.maxWorkers, limits.idleSeconds, limits.memoryBytes) = (workers, 1e-8, memory)
        return CodecSchedule(limits)
    }

    private func group(_ source: String) -> CodecSchedule.Group {
        CodecSchedule.Group(RenderRequest(source: source, format: "png", outputs: []))
    }

    @Test func theFirstJobStartsAWorkerAndASecondOneWhileThatIsBusy() {
        var schedule = schedule()
        #expect(schedule.submit(Job(id: 1, cost: 1)) == .start(1))
        #expect(schedule.submit(Job(id: 2, cost: 1)) == .none, "the first worker has not asked yet")
        var next = schedule.next(1, at: 0)
        #expect(next.step == .run([1]) && next.effect == .start(2))
        next = schedule.next(2, at: 0)
        #expect(next.step == .run([2]) && next.effect == .none)
        #expect(schedule.submit(Job(id: 3, cost: 1)) == .none, "there are enough")
        #expect(schedule.next(1, at: 1).step == .run([3]))
    }

    @Test func aWorkerThatIsFreeIsWokenBeforeAnotherIsStarted() {
        var schedule = schedule()
        _ = schedule.submit(Job(id: 1, cost: 1))
        _ = schedule.next(1, at: 0)
        #expect(schedule.next(1, at: 5).step == .wait(10))
        #expect(schedule.submit(Job(id: 2, cost: 1)) == .wake(1))
        #expect(schedule.submit(Job(id: 3, cost: 1)) == .none)
        let next = schedule.next(1, at: 6)
        #expect(next.step == .run([2]) && next.effect == .start(2))
    }

    @Test func jobsOfAWorkerThatCannotBeStartedAreForTheOthersOrForNobody() {
        var schedule = schedule()
        #expect(schedule.submit(Job(id: 1, cost: 1)) == .start(1))
        #expect(schedule.submit(Job(id: 2, cost: 1)) == .none)
        #expect(schedule.giveUp(1) == [1, 2])
        #expect(schedule.waitingCount == 0 && schedule.workerCount == 0)
        #expect(schedule.submit(Job(id: 3, cost: 1)) == .start(2))
        #expect(schedule.next(2, at: 0).step == .run([3]))
        #expect(schedule.submit(Job(id: 4, cost: 1)) == .start(3))
        #expect(schedule.giveUp(3) == [])
        #expect(schedule.next(2, at: 1).step == .run([4]))
    }

    @Test func aWorkerWithoutWorkEndsAfterAWhileAndIsForgotten() {
        var schedule = schedule()
        _ = schedule.submit(Job(id: 1, cost: 1))
        _ = schedule.next(1, at: 0)
        #expect(schedule.next(1, at: 100).step == .wait(10))
        #expect(schedule.next(1, at: 104).step == .wait(6))
        #expect(schedule.next(1, at: 110).step == .end)
        #expect(schedule.workerCount == 0)
        #expect(schedule.submit(Job(id: 2, cost: 1)) == .start(2), "numbers are not used again")
    }

    @Test func whatIsLargeWaitsForMemoryAndNothingOvertakesIt() {
        var schedule = schedule()
        _ = schedule.submit(Job(id: 1, cost: 60))
        _ = schedule.next(1, at: 0)
        #expect(schedule.submit(Job(id: 2, cost: 60)) == .none)
        #expect(schedule.submit(Job(id: 3, cost: 1)) == .none)
        let next = schedule.next(1, at: 1)
        #expect(next.step == .run([2]) && next.effect == .start(2))
        #expect(schedule.next(2, at: 1).step == .run([3]))
    }

    @Test func whatIsLargerThanAllMemoryRunsAlone() {
        var schedule = schedule()
        #expect(schedule.submit(Job(id: 1, cost: 1000)) == .start(1))
        #expect(schedule.next(1, at: 0).step == .run([1]))
        #expect(schedule.submit(Job(id: 2, cost: 1)) == .none)
        #expect(schedule.next(1, at: 1).step == .run([2]))
    }

    @Test func jobsOnOneSourceThatWaitAreDoneTogetherUpToALimit() {
        var schedule = schedule(workers: 1)
        _ = schedule.submit(Job(id: 1, cost: 1))
        _ = schedule.next(1, at: 0)
        for id in 2...11 { _ = schedule.submit(Job(id: UInt64(id), group: group(id == 3 ? "b" : "a"), cost: 1)) }
        #expect(schedule.next(1, at: 1).step == .run([2, 4, 5, 6, 7, 8, 9, 10]))
        #expect(schedule.next(1, at: 2).step == .run([3]))
        #expect(schedule.next(1, at: 3).step == .run([11]))
    }

    @Test func sourcesThatOnlyLookTheSameAreNotDoneTogether() {
        let (composed, decomposed) = (group("/caf\u{E9}.png"), group("/cafe\u{301}.png"))
        #expect(composed != decomposed)
        #expect(composed == group("/caf\u{E9}.png"))
    }

    @Test func aCancelledJobIsDroppedOrGivenUpUnlessOthersAreDoneAlong() {
        var schedule = schedule(workers: 1)
        for id in 1...4 { _ = schedule.submit(Job(id: UInt64(id), group: id < 3 ? group("a") : nil, cost: 1)) }
        #expect(schedule.next(1, at: 0).step == .run([1, 2]))
        #expect(schedule.cancel(3) == nil && schedule.waitingCount == 1)
        #expect(schedule.cancel(3) == nil && schedule.cancel(1) == nil)
        #expect(schedule.cancel(2) == 1)
        #expect(schedule.next(1, at: 1).step == .run([4]))
    }

    /// Whatever happens in whatever order: every job is begun once or dropped, in order, and limits hold.
    @Test(arguments: 0..<200)
    func everyJobIsBegunOnceAndLimitsHold(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var schedule = schedule(workers: Int.random(in: 1...3, using: &random))
        var (now, id) = (0, UInt64(0))
        /// Workers that were started or woken and are to ask; those that wait; those that work, and what that costs.
        var (asking, sleeping, working) = (Set<Int>(), Set<Int>(), [Int: Int]())
        var costs: [UInt64: Int] = [:]
        var begun: [UInt64] = []
        func take(_ effect: CodecSchedule.Effect) {
            switch effect {
            case .none: break
            case .wake(let number):
                #expect(sleeping.remove(number) != nil)
                asking.insert(number)
            case .start(let number):
                #expect(!sleeping.contains(number) && working[number] == nil)
                asking.insert(number)
            }
        }
        func ask(_ number: Int) {
            asking.remove(number)
            sleeping.remove(number)
            working[number] = nil
            let (step, effect) = schedule.next(number, at: now)
            switch step {
            case .run(let ids):
                begun += ids
                working[number] = ids.compactMap { costs[$0] }.max() ?? 0
                let spent = working.values.reduce(0, +)
                #expect(spent <= 100 || working.count == 1)
            case .wait: sleeping.insert(number)
            case .end: break
            }
            take(effect)
            #expect(schedule.workerCount <= schedule.limits.maxWorkers)
        }
        func settle() {
            while let number = asking.min() { ask(number) }
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                id += 1
                costs[id] = Int.random(in: 1...130, using: &random)
                let group = Bool.random(using: &random) ? group("\(Int.random(in: 0...2, using: &random))") : nil
                take(schedule.submit(CodecSchedule.Job(id: id, group: group, cost: costs[id] ?? 1)))
            case 3:
                if id > 0 { _ = schedule.cancel(UInt64.random(in: 1...id, using: &random)) }
            case 4...5: if let number = working.keys.sorted().randomElement(using: &random) { ask(number) }
            case 6:
                now += Int.random(in: 0...12, using: &random)
                if let number = sleeping.sorted().randomElement(using: &random) { ask(number) }
            default: settle()
            }
        }
        // Now everything is let run to its end.
        for _ in 0..<1000 where schedule.waitingCount > 0 {
            settle()
            if let number = working.keys.min() { ask(number) }
        }
        #expect(schedule.waitingCount == 0, "something waits for ever")
        #expect(Set(begun).count == begun.count)
    }
}
