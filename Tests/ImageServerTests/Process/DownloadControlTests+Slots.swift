import TestSupport
import Testing

/// Slots, and what waits for the turn of a request that is given up.
extension DownloadControlTests {
    @Test func aNewerRequestInTheSlotCancelsTheOlderAtOnce() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        let slot = #"{"slot":"cover"}"#
        try server.request(1, "retrieve", retrieve(web, "/held/a", slot))
        try waitUntil("it is under way") { web.requests.count == 1 }
        try server.request(2, "retrieve", retrieve(web, "/held/b", slot))
        let first = try #require(try server.next())
        #expect(first["id"]?.integer == 1 && first["error"]?["code"]?.integer == -32800)
        try waitUntil("the older is dropped") { web.droppedCount == 1 }
        gate.open()
        let second = try #require(try server.next())
        #expect(second["id"]?.integer == 2 && second["result"] != nil)
        #expect(server.finish() == 0)
    }

    /// Who asks for the same again does not begin anew.
    @Test func theSameImageInTheSlotIsNotDownloadedTwice() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try server.request(1, "retrieve", retrieve(web, "/held/a", #"{"slot":"cover"}"#))
        try waitUntil("it is under way") { web.requests.count == 1 }
        for id in 2...9 {
            try server.request(id, "retrieve", retrieve(web, "/held/a", #"{"slot":"cover"}"#))
            #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        }
        gate.open()
        let last = try #require(try server.next())
        #expect(last["id"]?.integer == 9 && last["result"] != nil)
        #expect(web.requests.count == 1 && web.droppedCount == 0)
        #expect(server.finish() == 0)
    }

    /// What is asked for in the slot is another way of getting the same, which waits for the turn of the older.
    @Test func aNewerRequestInTheSlotDoesNotWaitForTheOlderOne() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try server.request(1, "retrieve", retrieve(web, "/held/a", #"{"slot":"cover"}"#))
        try waitUntil("it is under way") { web.requests.count == 1 }
        try server.request(2, "retrieve", retrieve(web, "/held/a", #"{"slot":"cover","forceRefresh":true}"#))
        #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        try waitUntil("the newer is under way") { web.requests.count == 2 && web.droppedCount == 1 }
        gate.open()
        #expect(try server.next()?["id"]?.integer == 2)
        #expect(server.finish() == 0)
    }

    /// What waits for the turn of a request that is cancelled begins afresh, and does not share what is broken off.
    @Test func aRefreshThatWaitedForACancelledRequestGetsWhatThereIsNow() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try server.request(1, "retrieve", retrieve(web, "/held/a", #"{"timeout":600}"#))
        try waitUntil("it is under way") { web.requests.count == 1 }
        try server.request(2, "retrieve", retrieve(web, "/held/a", #"{"forceRefresh":true}"#))
        try server.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
        #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        try waitUntil("it is asked for anew") { web.requests.count == 2 && web.droppedCount == 1 }
        gate.open()
        #expect(try server.next()?["id"]?.integer == 2)
        #expect(server.finish() == 0)
    }
}
