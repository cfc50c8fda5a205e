import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Platform

/// Threads of our own, and what wakes them.
@Suite struct ThreadTests {
    @Test func processThatMayNotHaveAnOptionalThreadGoesOn() async throws {
        #expect(!startOptionalThread(stackSize: 1 << 60) { Issue.record("there is no room for it") })
        let begun = Counter()
        #expect(startOptionalThread { begun.add() })
        try await eventually("another one begins") { begun.value == 1 }
    }

    /// As when the process has no free descriptor.
    @Test(arguments: [false, true]) func threadIsWokenAlsoByAnEventWithoutADescriptor(_ hasNone: Bool) async throws {
        let event = hasNone ? WakeEvent(-1) : WakeEvent()
        let (turns, isOver, ended) = (Counter(), Counter(), Counter())
        startThread {
            var places = [event.place]
            while isOver.value == 0 {
                event.poll(&places)
                if places[0].revents != 0 { turns.add() }
            }
            ended.add()
        }
        event.signal()
        try await eventually("it has been woken") { turns.value > 0 }
        isOver.add()
        event.signal()
        try await eventually("it sees the end") { ended.value == 1 }
    }

    @Test(arguments: [false, true]) func eventThatWasNotSignalledWakesNobody(_ isSignalled: Bool) {
        let event = WakeEvent()
        var places = [event.place]
        if isSignalled {
            event.signal()
            event.signal()
            #expect(event.poll(&places, 0) == 1 && places[0].revents != 0)
        }
        #expect(event.poll(&places, 0) == 0 && places[0].revents == 0)
    }
}
