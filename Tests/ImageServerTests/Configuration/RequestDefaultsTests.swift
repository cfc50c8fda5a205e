import JSONRPC
import Testing

@testable import ImageEngine
@testable import ImageServer

/// The default options of several sources together, and changes that are taken back.
@Suite struct RequestDefaultsTests {
    private func options(_ text: String) throws -> DefaultOptions {
        let document = try JSONDocument(parsing: Array(text.utf8))
        return try DefaultOptions.decode(document.root)
    }

    private func text(_ defaults: RequestDefaults) -> String {
        var writer = JSONWriter()
        JSONLiteral.object(defaults.all.named).write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func changeThatIsTakenBackLeavesThoseAfterIt() throws {
        var defaults = RequestDefaults(try options(#"{"lease":1}"#))
        let first = try defaults.add(options(#"{"lease":2,"timeout":2}"#))
        let second = try defaults.add(options(#"{"timeout":3}"#))
        #expect(text(defaults) == #"{"lease":2,"timeout":3}"#)
        try defaults.settle(second, takesBack: false)
        try defaults.settle(first, takesBack: true)
        #expect(text(defaults) == #"{"lease":1,"timeout":3}"#)
        #expect(defaults.options?.storage.lease == 1 && defaults.options?.network.limits.timeout == 3)
        let third = try defaults.add(options(#"{"lease":null,"timeout":null}"#))
        #expect(text(defaults) == "{}" && defaults.options == nil)
        try defaults.settle(third, takesBack: true)
        #expect(text(defaults) == #"{"lease":1,"timeout":3}"#)
        try defaults.settle(third, takesBack: false)
        try defaults.use(options("{}"))
        #expect(text(defaults) == #"{"timeout":3}"#)
    }

    @Test(arguments: [
        (#"{"scope":"ann","lease":1}"#, #"{"credentialScope":"shared"}"#, #"{"lease":1,"credentialScope":"shared"}"#),
        (#"{"credentialScope":"shared"}"#, #"{"scope":"ann"}"#, #"{"scope":"ann"}"#),
        (#"{"credentialScope":"shared"}"#, #"{"scope":null}"#, #"{"credentialScope":"shared"}"#),
        (#"{"scope":"ann"}"#, #"{"credentialScope":"separate"}"#, #"{"scope":"ann","credentialScope":"separate"}"#),
        (#"{"frame":3}"#, #"{"onlyLoadFirstFrame":false}"#, #"{"onlyLoadFirstFrame":false}"#),
        (#"{"onlyLoadFirstFrame":true}"#, #"{"frame":3}"#, #"{"frame":3}"#),
    ])
    func whatIsNamedLaterReplacesItsContrary(_ first: String, _ second: String, _ both: String) throws {
        var defaults = RequestDefaults(try options(first))
        _ = try defaults.add(options(second))
        #expect(text(defaults) == both)
        #expect(defaults.options != nil)
    }
}
