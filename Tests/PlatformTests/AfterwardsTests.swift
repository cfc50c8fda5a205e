import TestSupport
import Testing

@testable import Platform

/// What is done once for several things in a row.
@Suite struct AfterwardsTests {
    private final class Owner {}

    @Test func whatIsPutOffIsDoneOnceForEachOwnerWhenAllElseIs() {
        let (one, other) = (Owner(), Owner())
        var done: [String] = []
        Afterwards.gather {
            for turn in 1...3 {
                done.append("turn \(turn)")
                #expect(Afterwards.put(off: { done.append("one") }, for: one))
                if turn > 1 { #expect(Afterwards.put(off: { done.append("other") }, for: other)) }
            }
        }
        #expect(done == ["turn 1", "turn 2", "turn 3", "one", "other"])
    }

    @Test func whatTakesLongIsDoneLast() {
        let (long, short) = (Owner(), Owner())
        var done: [String] = []
        Afterwards.gather {
            #expect(Afterwards.put(off: { done.append("long") }, for: long, isLong: true))
            #expect(Afterwards.put(off: { done.append("short") }, for: short))
            #expect(Afterwards.put(off: { done.append("again") }, for: long))
        }
        #expect(done == ["short", "long"])
    }

    @Test func whatGathersWithinDoesNotEndIt() {
        let owner = Owner()
        var done: [String] = []
        Afterwards.gather {
            Afterwards.gather { #expect(Afterwards.put(off: { done.append("put off") }, for: owner)) }
            done.append("rest")
        }
        #expect(done == ["rest", "put off"])
    }

    @Test func nothingIsPutOffWhereNothingIsGathered() async throws {
        let owner = Owner()
        #expect(!Afterwards.put(off: {}, for: owner))
        var isPutOffAgain: Bool?
        Afterwards.gather {
            _ = Afterwards.put(off: { isPutOffAgain = Afterwards.put(off: {}, for: owner) }, for: owner)
        }
        #expect(isPutOffAgain == false, "it has ended")
        #expect(!Afterwards.put(off: {}, for: owner))
        let pool = BlockingPool(threads: 1)
        let (done, gathered) = (Counter(), Counter())
        Afterwards.gather {
            startThread {
                if Afterwards.put(off: {}, for: pool) { gathered.add() }
                done.add()
            }
        }
        try await eventually("the other thread has tried") { done.value == 1 }
        #expect(gathered.value == 0, "each thread gathers for itself")
    }

    @Test func whatIsSeenCountsAsLongAsItIsGathered() {
        let (one, other) = (Owner(), Owner())
        var isSeenAfterwards: Bool?
        Afterwards.noteSeen(one)
        #expect(!Afterwards.hasSeen(one), "nothing is gathered")
        Afterwards.gather {
            #expect(!Afterwards.hasSeen(one))
            Afterwards.noteSeen(one)
            Afterwards.gather { #expect(Afterwards.hasSeen(one) && !Afterwards.hasSeen(other)) }
            _ = Afterwards.put(off: { isSeenAfterwards = Afterwards.hasSeen(one) }, for: other)
        }
        #expect(isSeenAfterwards == false)
        Afterwards.gather { #expect(!Afterwards.hasSeen(one)) }
    }

    @Test func jobsOfAThreadThatGathersAreAllDone() async throws {
        let pool = BlockingPool(threads: 2)
        let done = Counter()
        Afterwards.gather {
            for _ in 0..<100 { pool.submit { done.add() } }
            #expect(done.value == 0, "nobody has been woken")
        }
        try await eventually("all are done") { done.value == 100 }
        Afterwards.gather { pool.submit { done.add() } }
        try await eventually("that too") { done.value == 101 }
    }
}
