import Foundation
import Glibc
import TestSupport
import Testing

/// Whatever is merged, cancelled, made more urgent or fails, and however it ends: every request gets exactly one response,
/// the server that is asked sees no more connections than it should, and ours ends.
@Suite(.onThreads)
struct ModelTests {
    /// More of them, or others: `HALCYON_MODEL_SEEDS=1000..<3000`.
    static let seeds: [UInt64] = {
        let bounds = ProcessInfo.processInfo.environment["HALCYON_MODEL_SEEDS"]?.components(separatedBy: "..<")
        guard let bounds, bounds.count == 2, let low = UInt64(bounds[0]), let high = UInt64(bounds[1]), low < high
        else { return [UInt64](0..<100) }
        return [UInt64](low..<high)
    }()

    @Test(arguments: seeds)
    func everyRequestGetsExactlyOneResponse(seed: UInt64) throws {
        let cache = try TemporaryFolder()
        var model = try ExchangeModel(seed: seed)
        defer { model.stop() }
        let server = try ServerProcess(
            cache: cache.path, ["--max-concurrent-downloads", "\(ExchangeModel.mostInAll)"], isFramed: seed % 2 == 0)
        var replies = Replies()
        for piece in 0..<Int.random(in: 1...6, using: &model.random) {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...30, using: &model.random) {
                for message in model.messages() { bytes += server.frame(message) }
            }
            try server.sendRaw(bytes)
            // Some answers are read in between, so that later messages meet requests in every state.
            for _ in 0..<Int.random(in: 0...(piece + 1), using: &model.random) {
                try listen(server, &model, &replies)
            }
            if Bool.random(using: &model.random) { model.gates.randomElement(using: &model.random)?.open() }
        }
        let ending = try end(server, &model, &replies)
        for message in try server.rest() where !model.isMark(message) { replies.add(message) }
        #expect(server.exitCode() == ending.code, "seed \(seed), \(ending.name)")
        #expect(server.unparsedCount == 0, "seed \(seed), \(ending.name)")
        #expect(server.complaints().isEmpty, "seed \(seed), \(ending.name)")
        check(replies, model, ending, seed)
        for web in model.webs {
            // One more is kept for what is most urgent.
            #expect(web.mostActive <= ExchangeModel.mostPerHost + 1, "seed \(seed), \(ending.name)")
        }
    }

    /// How one run ended.
    private struct Ending {
        let name: String
        let code: Int32
        /// Whether requests that had not been read when the end came may be left without an answer.
        var mayLeaveUnread = false
    }

    /// Reads until the server has taken everything that was sent so far.
    private func listen(_ server: ServerProcess, _ model: inout ExchangeModel, _ replies: inout Replies) throws {
        try server.send(model.mark())
        while let message = try server.next(), !model.isMark(message) { replies.add(message) }
    }

    private func end(
        _ server: ServerProcess, _ model: inout ExchangeModel, _ replies: inout Replies
    ) throws -> Ending {
        switch Int.random(in: 0..<6, using: &model.random) {
        case 0:
            server.closeInput()
            model.gates.forEach { $0.open() }
            return Ending(name: "end of input", code: 0)
        case 1:
            try server.send(model.mark("shutdown"))
            try server.send(#"{"jsonrpc":"2.0","method":"exit"}"#)
            return Ending(name: "shutdown and exit", code: 0)
        case 2:
            try server.send(#"{"jsonrpc":"2.0","method":"exit"}"#)
            return Ending(name: "exit", code: 1)
        case 3:
            // One request at least is open when the signal comes, or the server might have left already.
            try server.send(model.endlessRequest())
            try listen(server, &model, &replies)
            server.closeInput()
            server.signal(SIGTERM)
            return Ending(name: "end of input and SIGTERM", code: 128 + SIGTERM)
        case 4:
            try listen(server, &model, &replies)
            server.signal(SIGTERM)
            return Ending(name: "SIGTERM at rest", code: 128 + SIGTERM)
        default:
            // Before it has begun to read, nobody minds the signal.
            if replies.order.isEmpty { try listen(server, &model, &replies) }
            server.signal(SIGTERM)
            return Ending(name: "SIGTERM", code: 128 + SIGTERM, mayLeaveUnread: true)
        }
    }

    private func check(_ replies: Replies, _ model: ExchangeModel, _ ending: Ending, _ seed: UInt64) {
        let context = "seed \(seed), \(ending.name)"
        #expect(replies.notifications.isEmpty, "\(context): \(replies.notifications)")
        // A second request with an id in flight is refused under that id: as many answers as requests, no more.
        var counts: [Int: Int] = [:]
        for id in replies.order { counts[id, default: 0] += 1 }
        for reply in replies.unexpected {
            guard let id = reply["id"]?.integer else {
                Issue.record("\(context): \(reply.text)")
                continue
            }
            counts[id, default: 0] += 1
        }
        for (id, request) in model.requests {
            let count = counts.removeValue(forKey: id) ?? 0
            #expect(count <= request.sent, "\(context): \(id) \(request) had \(count) answers")
            let least = ending.mayLeaveUnread ? 0 : request.sent - (request.mayBeSilent ? 1 : 0)
            #expect(count >= least, "\(context): \(id) \(request) had \(count) answers")
        }
        #expect(counts.isEmpty, "\(context): answers to nothing: \(counts)")
        for (id, reply) in replies.byID where model.requests[id]?.sent == 1 {
            let code = reply["error"]?["code"]?.integer
            #expect((reply["result"] != nil) != (code != nil), "\(context): \(reply.text)")
            if let code {
                let allowed: Set = [-32602, -32800, -32802, 10000, 10002, 10003, 10005, 20001, 20002]
                #expect(allowed.contains(code), "\(context): \(reply.text)")
            }
        }
    }
}
