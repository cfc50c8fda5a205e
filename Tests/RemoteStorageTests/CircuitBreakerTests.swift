import Testing

@testable import RemoteStorage

private let second = 1_000_000_000

/// When an engine that failed is asked again.
@Suite struct CircuitBreakerTests {
    @Test func anEngineIsAskedUntilItFails() {
        var breaker = CircuitBreaker()
        var admissions: [CircuitBreaker.Admission] = []
        admissions.append(breaker.admit(at: 0))
        let changes = [breaker.failed(at: 5), breaker.failed(at: 6)]
        #expect(changes == [true, false], "the second is of an operation that began before")
        for now in [6, 5 + second - 1, 5 + second, 5 + second] { admissions.append(breaker.admit(at: now)) }
        #expect(breaker.state == .halfOpen, "one probe at a time")
        breaker.recovered(at: 5 + second)
        admissions.append(breaker.admit(at: 5 + second))
        #expect(admissions == [.pass, .refuse, .refuse, .probe, .refuse, .pass])
    }

    /// The pauses of an engine that fails at each probe, or at the first request after it, in seconds.
    ///
    /// - Parameter gap: The seconds between a probe that has got an answer and that request; `nil` when each probe fails.
    private func pauses(_ count: Int, gap: Int?) -> [Int] {
        var (breaker, now, pauses) = (CircuitBreaker(), second, [Int]())
        _ = breaker.failed(at: now)
        for _ in 0..<count {
            var pause = 0
            while breaker.admit(at: now + pause * second) != .probe { pause += 1 }
            pauses.append(pause)
            now += pause * second
            if let gap {
                breaker.recovered(at: now)
                now += gap * second
            }
            _ = breaker.failed(at: now)
        }
        return pauses
    }

    @Test(arguments: [nil, 0, 1, 1000])
    func thePauseDoublesFromOneSecondToAMinuteAsLongAsNoRequestIsAnswered(gap: Int?) {
        #expect(pauses(9, gap: gap) == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    }

    @Test(arguments: [(0, 4), (2 * second - 1, 4), (2 * second, 1), (100 * second, 1)])
    func thePauseBeginsAnewAfterAnAnswerWhenTheEngineWasInUseForAsLong(used: Int, next: Int) {
        var breaker = CircuitBreaker()
        for now in [second, 2 * second] {
            _ = breaker.admit(at: now)
            _ = breaker.failed(at: now)
        }
        let back = 4 * second
        let admission = breaker.admit(at: back)
        breaker.recovered(at: back)
        breaker.answered(at: back + used)
        _ = breaker.failed(at: back + used)
        let early = breaker.admit(at: back + used + next * second - 1)
        let due = breaker.admit(at: back + used + next * second)
        #expect([admission, early, due] == [.probe, .refuse, .probe])
    }
}
