import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Work that one thread does for several.
@Suite struct GroupCommitTests {
    private let commits = GroupCommit<Int>(limit: 4)

    /// Work that can always be done.
    private func doing(_ body: @escaping @Sendable ([Int]) -> Void) -> GroupCommit<Int>.Work {
        { jobs, _ in
            body(jobs)
            return []
        }
    }

    @Test func whatComesWhileOneWorksIsDoneTogetherInTheOrderItCameAndNobodyWaits() async throws {
        let (commits, rounds, done) = (commits, Rounds(), Counter())
        let gate = Semaphore()
        let work = doing { jobs in
            rounds.add(jobs)
            if jobs == [0] { gate.wait() }
        }
        startThread {
            commits.join(0, work)
            done.add()
        }
        try await eventually("the first has come") { rounds.all == [[0]] }
        for number in 1..<8 { commits.join(number, work) }
        #expect(commits.waitingCount == 7 && done.value == 0)
        gate.signal()
        try await eventually("the leader is free") { done.value == 1 }
        #expect(rounds.all == [[0], [1, 2, 3, 4], [5, 6, 7]])
        #expect(commits.waitingCount == 0)
    }

    @Test func leaderWithoutTimeLeavesTheJobsOfOthersToAnotherThread() async throws {
        let (commits, rounds, done) = (commits, Rounds(), Counter())
        let (first, second) = (Semaphore(), Semaphore())
        let work = doing { jobs in
            rounds.add(jobs)
            if jobs == [0] { first.wait() } else { second.wait() }
        }
        startThread {
            commits.join(0, staysLeader: false, work)
            done.add()
        }
        try await eventually("the first has come") { rounds.all == [[0]] }
        for number in 1..<4 { commits.join(number, work) }
        first.signal()
        try await eventually("it goes while the others are done") {
            done.value == 1 && rounds.all == [[0], [1, 2, 3]]
        }
        second.signal()
        let again = Counter()
        commits.join(4, doing { _ in again.add() })
        try await eventually("there is a leader for what comes later") { again.value == 1 || rounds.has(4) }
        second.signal()
    }

    @Test func whatAThreadBringsInARowIsDoneTogetherWhenItIsThrough() {
        let (commits, rounds) = (commits, Rounds())
        Afterwards.gather {
            for number in 1...6 { commits.join(number, doing { rounds.add($0) }) }
            #expect(rounds.all.isEmpty && commits.waitingCount == 6)
        }
        #expect(rounds.all == [[1, 2, 3, 4], [5, 6]])
    }

    @Test func whoHasNoTimeTakesAlongWhatOthersPutOff() {
        let (commits, rounds) = (commits, Rounds())
        Afterwards.gather {
            commits.join(1, doing { rounds.add($0) })
            commits.join(2, staysLeader: false, doing { rounds.add($0) })
            #expect(rounds.all == [[1, 2]], "it may be waited for")
            commits.join(3, doing { rounds.add($0) })
        }
        #expect(rounds.all == [[1, 2], [3]])
    }

    @Test func workMayLetFurtherJobsJoin() {
        let (commits, rounds) = (commits, Rounds())
        let inner = doing { rounds.add($0) }
        commits.join(
            0,
            doing { jobs in
                rounds.add(jobs)
                if jobs == [0] { for number in 1..<7 { commits.join(number, inner) } }
            })
        #expect(rounds.all == [[0], [1, 2, 3, 4], [5, 6]])
    }

    /// In the first four rounds nothing can be done but 3; a job that has come meanwhile is tried before those that wait.
    @Test func whatCannotBeDoneNowIsTriedAgainAfterWhatHasComeMeanwhile() {
        let (commits, rounds, turns) = (commits, Rounds(), Gathered<Int>())
        Afterwards.gather {
            for number in 1...3 {
                commits.join(number) { jobs, turn in
                    rounds.add(jobs)
                    turns.add(turn)
                    if turn == 0 { commits.join(4) { _, _ in [] } }
                    return turn < 2 ? jobs.filter { $0 != 3 } : []
                }
            }
        }
        #expect(rounds.all == [[1, 2, 3], [4, 1, 2], [4, 1, 2]])
        #expect(turns.all == [0, 1, 2] && commits.waitingCount == 0)
    }

    @Test(arguments: [true, false]) func everyJobOfManyThreadsIsDoneOnce(_ stays: Bool) async throws {
        let (commits, rounds, done) = (commits, Rounds(), Counter())
        let work = doing { jobs in
            rounds.add(jobs)
            for _ in jobs { done.add() }
        }
        for thread in 0..<8 {
            startThread {
                for turn in 0..<200 { commits.join(thread * 1000 + turn, staysLeader: stays, work) }
            }
        }
        try await eventually("all are done") { done.value == 1600 }
        let jobs = rounds.all.flatMap(\.self)
        #expect(jobs.count == 1600)
        #expect(Set(jobs).count == 1600)
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
