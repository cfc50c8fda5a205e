import Platform
import Synchronization
import TestSupport
import Testing

@testable import ImageEngine

/// Work that one thread does for several.
@Suite struct ConvoyTests {
    private let convoy = Convoy<Int>(limit: 4)

    @Test func whatComesWhileOneWorksIsDoneTogetherInTheOrderItCame() async throws {
        let (convoy, rounds, done) = (convoy, Rounds(), Counter())
        let gate = Semaphore()
        for number in 0..<8 {
            startDetached {
                convoy.join(number) { jobs in
                    rounds.add(jobs)
                    if jobs == [0] { gate.wait() }
                }
                done.add()
            }
            try await eventually("\(number) has come") {
                number == 0 ? rounds.all == [[0]] : convoy.waitingCount == number
            }
        }
        #expect(done.value == 0)
        gate.signal()
        try await eventually("all are done") { done.value == 8 }
        #expect(rounds.all == [[0], [1, 2, 3, 4], [5, 6, 7]])
        #expect(convoy.waitingCount == 0)
    }

    @Test func everyJobOfManyThreadsIsDoneOnceBeforeItsCallReturns() async throws {
        let (convoy, rounds, done, early) = (convoy, Rounds(), Counter(), Counter())
        for thread in 0..<8 {
            startDetached {
                for turn in 0..<200 {
                    let job = thread * 1000 + turn
                    convoy.join(job) { rounds.add($0) }
                    if !rounds.has(job) { early.add() }
                }
                done.add()
            }
        }
        try await eventually("all are done") { done.value == 8 }
        let jobs = rounds.all.flatMap(\.self)
        #expect(jobs.count == 1600)
        #expect(Set(jobs).count == 1600)
        #expect(early.value == 0)
        #expect(rounds.all.allSatisfy { (1...4).contains($0.count) })
    }
}

/// What was done together.
final class Rounds: Sendable {
    private let state = Mutex<(rounds: [[Int]], jobs: Set<Int>)>(([], []))

    func add(_ jobs: [Int]) {
        state.withLock { state in
            state.rounds.append(jobs)
            state.jobs.formUnion(jobs)
        }
    }

    func has(_ job: Int) -> Bool { state.withLock { $0.jobs.contains(job) } }

    var all: [[Int]] { state.withLock { $0.rounds } }
}
