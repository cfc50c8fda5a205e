import Foundation
import TestSupport

/// One case of `protocol/conformance`, in one framing.
struct ConformanceCase: Sendable {
    /// A step went otherwise than the case says.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    let isFramed: Bool
    private let content: JSON

    /// The files of cases.
    static let files: [String] = {
        let names = try? FileManager.default.contentsOfDirectory(atPath: Fixtures.repository + "/protocol/conformance")
        return (names ?? []).filter { $0.hasSuffix(".json") }.sorted()
    }()

    /// The cases of a file, each in the framings it asks for.
    static func all(in file: String) throws -> [ConformanceCase] {
        let path = URL(fileURLWithPath: Fixtures.repository + "/protocol/conformance/" + file)
        let document = try JSON([UInt8](Data(contentsOf: path)))
        return try (document["cases"]?.elements ?? []).flatMap { content in
            guard let name = content["name"]?.string else { throw Failure(description: "a case has no name") }
            let framings: [Bool]
            switch content["framing"]?.string ?? "both" {
            case "both": framings = [false, true]
            case "lines": framings = [false]
            case "content-length": framings = [true]
            case let other: throw Failure(description: "\(name): there is no framing \(other)")
            }
            return framings.map { ConformanceCase(name: name, isFramed: $0, content: content) }
        }
    }

    /// Runs the case against a fresh server with an empty cache.
    func run(http: LocalServer) throws {
        let scratch = try TemporaryFolder()
        let places = [
            "${fixtures}": Fixtures.folder, "${cache}": scratch.path + "/cache", "${work}": scratch.path + "/work",
            "${http}": String(http.url("/").dropLast()),
        ]
        for name in ["/cache", "/work"] {
            try FileManager.default.createDirectory(atPath: scratch.path + name, withIntermediateDirectories: false)
        }
        let content = Self.fill(content, places)
        let arguments = (content["args"]?.elements ?? []).compactMap(\.string)
        let server = try ServerProcess(
            cache: scratch.path + "/cache", arguments, isFramed: isFramed, directory: scratch.path + "/work")
        for (index, step) in (content["steps"]?.elements ?? []).enumerated() {
            try take(step, server, "step \(index + 1)")
        }
        server.closeInput()
        let rest = try server.rest()
        guard rest.isEmpty else { throw Failure(description: "the server also sent \(rest.map(\.text))") }
        let code = server.exitCode()
        guard Int(code) == content["exit"]?.integer ?? 0 else { throw Failure(description: "it exited with \(code)") }
        let complaints = server.complaints()
        guard complaints.isEmpty else { throw Failure(description: "it wrote to stderr: \(complaints)") }
    }

    private func take(_ step: JSON, _ server: ServerProcess, _ place: String) throws {
        let files = FileManager.default
        if let path = step["delete"]?.string { try files.removeItem(atPath: path) }
        if let path = step["write"]?["path"]?.string, let text = step["write"]?["text"]?.string {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        if let source = step["file"]?["copy"]?.string, let target = step["file"]?["to"]?.string {
            let source = source.hasPrefix("/") ? source : Fixtures.folder + "/" + source
            try files.copyItem(atPath: source, toPath: target)
        }
        if let raw = step["raw"]?.string { try server.send(raw) }
        if let message = step["send"] { try server.send(message.text) }
        if let pattern = step["expect"], pattern != .null { try expect(any: [pattern], server, place) }
        if let patterns = step["expectAny"]?.elements { try expect(any: patterns, server, place) }
    }

    /// The next messages match the patterns, in any order.
    private func expect(any patterns: [JSON], _ server: ServerProcess, _ place: String) throws {
        var left = patterns.map { ConformancePattern(pattern: $0) }
        while !left.isEmpty {
            guard let message = try server.next() else { throw Failure(description: "\(place): no more messages") }
            let problems = left.map { $0.mismatch(message) }
            guard let index = problems.firstIndex(of: nil) else {
                throw Failure(description: "\(place): \(problems.compactMap(\.self).joined(separator: "; or "))")
            }
            left.remove(at: index)
        }
    }

    private static func fill(_ value: JSON, _ places: [String: String]) -> JSON {
        switch value {
        case .string(let text):
            guard text.contains("${") else { return value }
            return .string(places.reduce(text) { $0.replacingOccurrences(of: $1.key, with: $1.value) })
        case .array(let elements): return .array(elements.map { fill($0, places) })
        case .object(let members): return .object(members.mapValues { fill($0, places) })
        default: return value
        }
    }
}
