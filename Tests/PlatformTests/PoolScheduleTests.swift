import TestSupport
import Testing

@testable import Platform

/// Who of a pool's threads works, keeps watch and sleeps.
@Suite struct PoolScheduleTests {
    @Test func asManyWorkAsThereAreWorkersAndOneKeepsWatch() {
        var crew = PoolSchedule(limit: 8, workers: 2)
        #expect(crew.call(isWaiting: false) == .nobody)
        for _ in 1...2 {
            #expect(crew.call(isWaiting: true) == .newThread)
            #expect(crew.call(isWaiting: true) == .nobody, "one comes after the other")
            #expect(crew.arrive() == .work)
            crew.begin()
        }
        #expect(crew.call(isWaiting: true) == .newThread)
        #expect(crew.arrive() == .watch)
        #expect(crew.call(isWaiting: true) == .nobody)
        crew.begin()
        #expect(crew.look(isWaiting: true) == .watch, "they get on")
        crew.begin()
        #expect(crew.look(isWaiting: false) == .watch, "there may be more in a moment")
        #expect(crew.look(isWaiting: false) == .sleep)
        #expect(crew.call(isWaiting: true) == .sleeper, "the next watch")
        #expect(crew.arrive() == .watch, "though it may all have been done by now")
    }

    @Test func theOneThatIsCalledToKeepWatchWorksInsteadWhenAnotherHasGoneToSleep() {
        var crew = PoolSchedule(limit: 8, workers: 1)
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .work)
        crew.begin()
        #expect(crew.call(isWaiting: true) == .newThread)
        crew.rest()
        #expect(crew.arrive() == .work)
    }

    @Test func otherThreadsGoOnWhereThereCanBeNoFurtherOneWhichIsCalledAgainLater() {
        var crew = PoolSchedule(limit: 4, workers: 1)
        #expect(crew.call(isWaiting: true) == .newThread)
        #expect(crew.remove() == false, "there is no other")
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .work)
        crew.begin()
        #expect(crew.call(isWaiting: true) == .newThread)
        #expect(crew.remove() == true)
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .watch)
    }

    @Test func whenNothingIsBegunOneAfterTheOtherWorksUpToTheLimit() {
        var crew = PoolSchedule(limit: 4, workers: 1)
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .work)
        crew.begin()
        for _ in 2...4 {
            #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .watch)
            #expect(crew.look(isWaiting: true) == .work)
            crew.begin()
        }
        #expect(crew.call(isWaiting: true) == .nobody)
        crew.rest()
        #expect(crew.call(isWaiting: true) == .sleeper, "it keeps watch again")
        #expect(crew.arrive() == .watch)
    }

    @Test func anotherWorksAtOnceInTheSteadOfOneThatSaysItWaitsForTheDisk() {
        var crew = PoolSchedule(limit: 3, workers: 1)
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .work)
        crew.begin()
        for _ in 2...3 {
            #expect(crew.beginWait(isWaiting: true) == .newThread && crew.arrive() == .work)
            crew.begin()
        }
        #expect(crew.beginWait(isWaiting: true) == .nobody, "all that may be are there")
        for _ in 1...3 { crew.endWait() }
        crew.rest()
        crew.rest()
        #expect(crew.call(isWaiting: true) == .sleeper && crew.arrive() == .watch, "one works again, which is enough")
        #expect(crew.beginWait(isWaiting: false) == .nobody)
    }

    @Test func theOneThatKeepsWatchWorksWhenAnotherThatWaitsForTheDiskLeavesNobodyElse() {
        var crew = PoolSchedule(limit: 2, workers: 1)
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .work)
        crew.begin()
        #expect(crew.call(isWaiting: true) == .newThread && crew.arrive() == .watch)
        crew.begin()
        #expect(crew.look(isWaiting: true) == .watch)
        #expect(crew.beginWait(isWaiting: true) == .nobody)
        crew.begin()
        #expect(crew.look(isWaiting: true) == .work, "though work is begun")
    }

    /// Whatever happens, work that waits has somebody who will begin it: one that works, comes or keeps watch.
    @Test func workThatWaitsIsNeverForgotten() {
        for seed in 1...60 as ClosedRange<UInt64> {
            for limit in 1...5 { walk(PoolSchedule(limit: limit, workers: Int(seed % 3) + 1), seed) }
        }
    }

    private enum Thread { case coming, working, waiting, watching, sleeping }

    private func walk(_ crew: PoolSchedule, _ seed: UInt64) {
        var (crew, random) = (crew, SeededGenerator(seed: seed))
        var (threads, waiting, stuck) = ([Thread](), 0, 0)
        func meet(_ call: PoolSchedule.Call) {
            switch call {
            case .nobody: break
            case .newThread: threads.append(.coming)
            case .sleeper:
                guard let one = threads.firstIndex(of: .sleeping) else {
                    return #expect(Bool(false), "nobody sleeps, seed \(seed)")
                }
                threads[one] = .coming
            }
        }
        func obey(_ duty: PoolSchedule.Duty, _ one: Int) {
            switch duty {
            case .watch: threads[one] = .watching
            case .sleep: threads[one] = .sleeping
            case .work:
                threads[one] = .working
                if waiting > 0 {
                    waiting -= 1
                    crew.begin()
                }
                meet(crew.call(isWaiting: waiting > 0))
            }
        }
        for _ in 0..<500 {
            let one = threads.isEmpty ? 0 : Int.random(in: 0..<threads.count, using: &random)
            switch threads.isEmpty || Int.random(in: 0..<3, using: &random) == 0 ? nil : threads[one] {
            case nil:
                waiting += 1
                meet(crew.call(isWaiting: true))
            case .coming: obey(crew.arrive(), one)
            case .watching: obey(crew.look(isWaiting: waiting > 0), one)
            case .sleeping: break
            case .working where stuck > 0: stuck -= 1
            case .working where Int.random(in: 0..<4, using: &random) == 0:
                threads[one] = .waiting
                meet(crew.beginWait(isWaiting: waiting > 0))
            case .waiting:
                crew.endWait()
                threads[one] = .working
            case .working:
                stuck = Int.random(in: 0..<20, using: &random) == 0 ? 50 : 0
                if waiting > 0 {
                    waiting -= 1
                    crew.begin()
                } else {
                    crew.rest()
                    threads[one] = .sleeping
                }
            }
            #expect(threads.count <= crew.limit && threads.count { $0 == .watching } <= 1)
            let isSeenTo = threads.contains { $0 != .sleeping }
            #expect(waiting == 0 || isSeenTo, "seed \(seed)")
            let free = threads.count < crew.limit || threads.contains(.sleeping)
            let isWatched = threads.contains { [.coming, .watching].contains($0) }
            #expect(waiting == 0 || !free || isWatched, "those that work may all be stuck, seed \(seed)")
        }
    }
}
