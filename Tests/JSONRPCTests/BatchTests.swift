import TestSupport
import Testing

@testable import JSONRPC

/// A batch is answered by one array, in the order of its requests.
@Suite struct BatchTests {
    private let desk = Desk()

    private func ids(_ reply: JSON?) -> [Int]? { reply?.elements?.compactMap { $0["id"]?.integer } }

    @Test func theAnswersComeTogetherInTheOrderOfTheRequests() async throws {
        let peer = try Peer(desk).start()
        let members = [
            request("1", "wait"), request("2", "echo", "[2]"), #"{"jsonrpc":"2.0","method":"echo"}"#,
            request("3", "wait"),
            request("4", "fail"), #"{"jsonrpc":"2.0","id":9,"result":1}"#, request("5", "unknown"), "17",
            request("6", "wait"),
        ]
        peer.send("[\(members.joined(separator: ","))]")
        #expect(try peer.everything() == [])
        for id in [6, 3] { try await desk.take(.integer(id)).respond { $0.write(id) } }
        #expect(try peer.everything("sync2") == [])
        try await desk.take(.integer(1)).fail(.internalError("It failed."))
        let reply = try #require(try peer.next()?.elements)
        #expect(reply.map { $0["id"] } == [1, 2, 3, 4, 5].map { .integer($0) } + [.null, .integer(6)])
        let codes = reply.map { $0["error"]?["code"]?.integer }
        #expect(codes == [-32603, nil, nil, -32603, -32601, -32600, nil])
        #expect(reply[1]["result"] == .array([.integer(2)]))
        #expect(reply[2]["result"] == .integer(3))
        #expect(try peer.everything("sync3") == [])
    }

    @Test func cancelledMembersAnswerInTheirPlacesOrNotAtAll() async throws {
        let peer = try Peer(desk).start()
        peer.send("[\((1...4).map { request("\($0)", "wait") }.joined(separator: ","))]")
        peer.send(cancellation("2", isAnswered: true))
        peer.send(cancellation("3", isAnswered: false))
        #expect(try peer.everything() == [])
        for id in [4, 1] { try await desk.take(.integer(id)).respond { $0.write(id) } }
        let reply = try #require(try peer.next())
        #expect(ids(reply) == [1, 2, 4])
        #expect(reply[1]?["error"]?["code"] == .integer(-32800))
    }

    @Test func aBatchWhoseMembersAreAllSilencedIsNotAnswered() throws {
        let peer = try Peer(desk).start()
        peer.send("[\(request("1", "wait")),\(request("2", "wait"))]")
        for id in ["1", "2"] { peer.send(cancellation(id, isAnswered: false)) }
        #expect(try peer.everything() == [])
        #expect(peer.connection.requestsInFlight == 0)
    }

    @Test func aCancellationInsideABatchIsObeyed() throws {
        let peer = try Peer(desk).start()
        peer.send("[\(request("1", "wait")),\(cancellation("1", isAnswered: true)),\(request("2", "echo"))]")
        let reply = try #require(try peer.next())
        #expect(ids(reply) == [1, 2])
        #expect(reply[0]?["error"]?["code"] == .integer(-32800))
    }

    @Test func anIdGivenTwiceInABatchIsRefusedTheSecondTime() async throws {
        let peer = try Peer(desk).start()
        peer.send("[\(request("1", "wait")),\(request("1", "echo"))]")
        try await desk.take(.integer(1)).respond { $0.write("first") }
        let reply = try #require(try peer.next())
        #expect(ids(reply) == [1, 1])
        #expect(reply[0]?["result"] == .string("first"))
        #expect(reply[1]?["error"]?["code"] == .integer(-32600))
    }

    @Test func aBatchBeyondTheLimitIsRefusedWhole() throws {
        let peer = try Peer(desk) { $0.batchCount = 3 }.start()
        let member = #"{"jsonrpc":"2.0","method":"echo"}"#
        peer.send("[\(Array(repeating: member, count: 4).joined(separator: ","))]")
        let reply = try #require(try peer.next())
        #expect(reply["id"] == .null)
        #expect(reply["error"]?["data"]?["limit"] == .string("batchCount"))
        #expect(desk.begun.isEmpty)
        peer.send("[\(Array(repeating: member, count: 3).joined(separator: ","))]")
        #expect(try peer.everything() == [])
        #expect(desk.begun.count == 4)
    }
}
