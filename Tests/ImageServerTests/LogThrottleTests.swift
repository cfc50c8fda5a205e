import Testing

@testable import ImageServer

/// No more lines of the log are told than somebody can read.
@Suite struct LogThrottleTests {
    @Test func aHundredInASecondAreToldAndThenHowManyWereNot() {
        var throttle = LogThrottle()
        let start = 7_000_000_000
        for number in 0..<250 { #expect((throttle.admit(now: start + number) != nil) == (number < 100)) }
        let late = throttle.admit(now: start + 999_999_999)
        #expect(late == nil)
        let next = throttle.admit(now: start + 1_000_000_000)
        #expect(next == 151)
        let then = throttle.admit(now: start + 1_000_000_001)
        #expect(then == 0)
    }
}
