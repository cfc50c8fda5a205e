import Testing

@testable import ImageEngine
@testable import Platform

@Suite struct PrefetchQueueTests {
    /// A queue whose keys are the URLs without what follows a question mark.
    private func queue(_ urls: [String], concurrency: Int = 2, lookahead: Int = 2) -> PrefetchQueue {
        PrefetchQueue(urls, concurrency: concurrency, lookahead: lookahead) { url in
            ExactText(String(url.prefix { $0 != "?" }))
        }
    }

    @Test func urlsAreLookedForInBatchesAndLoadedAsFarAsTheyAreMissing() {
        var queue = queue(["a", "b", "c"])
        #expect(queue.next() == .look(["a", "b"]))
        queue.add(missing: "b")
        #expect(queue.next() == .load("b"))
        #expect(queue.next() == .look(["c"]))
        #expect(queue.next() == .wait)
    }

    @Test func noMoreAreLoadedThanMayBe() {
        var queue = queue(["a", "b", "c"], lookahead: 3)
        #expect(queue.next() == .look(["a", "b", "c"]))
        for url in ["a", "b", "c"] { queue.add(missing: url) }
        #expect(queue.next() == .load("a"))
        #expect(queue.next() == .load("b"))
        #expect(queue.next() == .wait)
        queue.ended("a")
        #expect(queue.next() == .load("c"))
    }

    @Test func urlsOfOneKeyWaitForEachOtherAndAreLookedForOnceMore() {
        var queue = queue(["a?1", "a?2"])
        #expect(queue.next() == .look(["a?1", "a?2"]))
        queue.add(missing: "a?1")
        queue.add(missing: "a?2")
        #expect(queue.next() == .load("a?1"))
        #expect(queue.next() == .wait)
        queue.ended("a?1")
        #expect(queue.next() == .look(["a?2"]))
    }

    @Test func whatIsNotLoadedYetIsRemovedAtTheEnd() {
        var queue = queue(["a?1", "a?2", "b", "c"], concurrency: 3, lookahead: 3)
        #expect(queue.next() == .look(["a?1", "a?2", "b"]))
        for url in ["a?1", "a?2", "b"] { queue.add(missing: url) }
        #expect(queue.next() == .load("a?1"))
        #expect(queue.next() == .load("b"))
        #expect(Set(queue.removeAll()) == ["a?2", "c"])
        queue.ended("a?1")
        #expect(queue.next() == .wait)
    }
}
