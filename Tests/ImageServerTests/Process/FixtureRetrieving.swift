import TestSupport
import Testing

/// Tests that retrieve pictures of the corpus from the real binary.
protocol FixtureRetrieving {}

extension FixtureRetrieving {
    func file(_ name: String) -> String { quoted("file://" + Fixtures.folder + "/" + name) }

    /// What `retrieve` answers for a picture of the corpus.
    func retrieve(_ server: ServerProcess, _ name: String, _ rest: String) throws -> JSON {
        let reply = try server.call(1, "retrieve", #"{"url":\#(file(name)),\#(rest)}"#)
        return try #require(reply["result"], "\(reply.text)")
    }
}
