import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import ImageServer

/// The document that describes the protocol is true, and is what `protocol/` holds.
@Suite struct OpenRPCTests {
    @Test func theDocumentIsTheOneInTheProtocolFolder() throws {
        let path = Fixtures.repository + "/protocol/openrpc.json"
        let kept = try? Data(contentsOf: URL(fileURLWithPath: path))
        #expect(
            kept == Data(OpenRPCDocument.text),
            "protocol/openrpc.json is out of date; rewrite it: swift run halcyon discover > protocol/openrpc.json")
    }

    @Test func theDocumentFollowsTheMetaSchemaOfOpenRPC() throws {
        let folder = try TemporaryFolder()
        let document = folder.path + "/openrpc.json"
        try Data(OpenRPCDocument.text).write(to: URL(fileURLWithPath: document))
        let (code, output) = try validate(document)
        #expect(code == 0, "\(output)")
    }

    /// The validator itself must be able to fail.
    @Test(arguments: [
        ("\"openrpc\": \"1.3.2\"", "\"openrpc\": \"9.9.9\""), ("\"methods\": [", "\"methods_\": ["),
        ("\"paramStructure\": \"either\"", "\"paramStructure\": \"any\""),
        ("components/errors/badData", "components/errors/worse"),
        ("\"type\": \"integer\"", "\"type\": \"whole\""),
    ])
    func aDocumentThatIsWrongIsRefused(right: String, wrong: String) throws {
        let folder = try TemporaryFolder()
        let document = folder.path + "/openrpc.json"
        let text = String(decoding: OpenRPCDocument.text, as: UTF8.self)
        #expect(text.contains(right))
        try Data(text.replacingOccurrences(of: right, with: wrong).utf8).write(to: URL(fileURLWithPath: document))
        let (code, output) = try validate(document)
        #expect(code == 1 && !output.contains("Traceback"), "\(output)")
    }

    /// Every method is asked, well and badly: params, results and the codes of errors are as the document says.
    @Test func everySchemaAndEveryErrorIsWhatALiveServerAnswers() throws {
        let folder = try TemporaryFolder()
        let document = folder.path + "/openrpc.json"
        try Data(OpenRPCDocument.text).write(to: URL(fileURLWithPath: document))
        let done = try Command.shell(
            "/usr/bin/python3 -W ignore '\(Fixtures.folder)/schemas/live.py' '\(document)' '\(ServerProcess.binary)' '\(Fixtures.folder)/png-rgb.png' 2>&1"
        )
        #expect(done.status == 0, "\(String(decoding: done.output, as: UTF8.self))")
    }

    @Test func everyMemberOfTheDocumentHasWords() throws {
        var bare: [String] = []
        func look(_ value: JSON, _ path: String) {
            for (name, inner) in value.members ?? [:] {
                if name == "properties", let members = inner.members, members.count > 1 {
                    for (name, member) in members where member["description"] == nil && member["$ref"] == nil {
                        bare.append("\(path).\(name)")
                    }
                }
                look(inner, "\(path)/\(name)")
            }
            for element in value.elements ?? [] { look(element, path) }
        }
        look(try JSON(OpenRPCDocument.text), "")
        #expect(bare == [])
    }

    @Test func theDocumentListsEveryMethodWithItsParametersInOrder() throws {
        let document = try JSON(OpenRPCDocument.text)
        let methods = try #require(document["methods"]?.elements)
        #expect(methods.map { $0["name"]?.string } == Method.all.map(\.name))
        for (method, described) in zip(Method.all, methods) {
            let params = described["params"]?.elements ?? []
            #expect(params.map { $0["name"]?.string } == method.params.map(\.name.description))
            #expect(params.map { $0["required"]?.boolean } == method.params.map(\.isRequired))
            #expect((described["result"] == nil) == method.isNotification)
        }
        let options = document["components"]?["schemas"]?["ImageOptions"]?["properties"]?.members
        #expect(Set(options?.keys ?? [:].keys) == Set(OptionField.all.map(\.name)))
    }

    private func validate(_ document: String) throws -> (code: Int32, output: String) {
        // Not with Foundation's Process, whose wait may never end where other threads start processes.
        let done = try Command.shell(
            "/usr/bin/python3 -W ignore '\(Fixtures.folder)/schemas/validate.py' '\(document)' 2>&1")
        return (done.status, String(decoding: done.output, as: UTF8.self))
    }
}
