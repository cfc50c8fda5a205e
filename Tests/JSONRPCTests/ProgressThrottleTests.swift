import Testing

@testable import JSONRPC

/// At most ten reports a second, strictly growing.
@Suite struct ProgressThrottleTests {
    @Test func theFirstReportIsSentAndThenOneInATenthOfASecond() {
        var throttle = ProgressThrottle()
        let start = 5_000_000_000
        let tenth = 100_000_000
        let sent = [
            throttle.admits(0, now: start), throttle.admits(10, now: start),
            throttle.admits(20, now: start + tenth - 1),
            throttle.admits(20, now: start + tenth), throttle.admits(30, now: start + tenth + 1),
            throttle.admits(40, now: start + 2 * tenth),
        ]
        #expect(sent == [false, true, false, true, false, true])
    }

    @Test func onlyWhatHasGrownIsSent() {
        var throttle = ProgressThrottle()
        let sent = [
            throttle.admits(10, now: 0), throttle.admits(10, now: 1_000_000_000),
            throttle.admits(9, now: 2_000_000_000),
            throttle.admits(11, now: 2_000_000_001),
        ]
        #expect(sent == [true, false, false, true])
    }
}
