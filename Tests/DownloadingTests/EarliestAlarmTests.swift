import Testing

@testable import Downloading

@Suite struct EarliestAlarmTests {
    @Test func onlyAnEarlierMomentNeedsATimerOfItsOwn() {
        var alarm = EarliestAlarm()
        let isSet = [1000, 1000, 2000, 200].map { alarm.set($0) }
        #expect(isSet == [true, false, false, true], "the timer that is set would ring too late for the last one only")
    }

    @Test func aTimerThatAnEarlierOneReplacedCountsNoMore() {
        var alarm = EarliestAlarm()
        let isSet = [1000, 200].map { alarm.set($0) }
        let first = alarm.ring(at: 200)
        let isNextSet = alarm.set(900)
        let rings = [1000, 900, 900].map { alarm.ring(at: $0) }
        #expect(isSet == [true, true] && first && isNextSet, "the earlier one sets the next")
        #expect(rings == [false, true, false])
    }
}
