internal import ImageEngine
internal import JSONRPC

/// The questions for the client about one download: the value of the option `delegates`.
struct DelegationNames: WireValue {
    let questions: Set<DownloadDelegates.Question>

    static var schema: JSONLiteral {
        ["type": "array", "items": ["type": "string", "enum": .array(Delegation.names.map { .string($0) })]]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> DelegationNames {
        guard view.kind == .array else { throw .expected("a list of delegates", view) }
        var questions: Set<DownloadDelegates.Question> = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            guard let known = Delegation.all.first(where: { $0.name.description == element.string }) else {
                throw Mismatch.noneOf(Delegation.names, element).within("\(index)")
            }
            questions.insert(known.question)
        }
        return DelegationNames(questions: questions)
    }
}

/// The capabilities of a client in `initialize`; only the questions that it answers are read.
struct ClientCapabilities: WireValue {
    let questions: Set<DownloadDelegates.Question>

    static var schema: JSONLiteral {
        [
            "type": "object",
            "properties": [
                "delegates": [
                    "oneOf": [
                        ["type": "array", "items": textSchema],
                        ["type": "object", "additionalProperties": flagSchema],
                    ]
                ]
            ],
        ]
    }

    /// Reads the capabilities. Unknown names belong to another version and are ignored.
    static func decode(_ view: JSONView) throws(Mismatch) -> ClientCapabilities {
        var names: Set<String> = []
        if let delegates = view.member("delegates"), !delegates.isNull {
            do throws(Mismatch) { names = try Self.names(delegates) } catch { throw error.within("delegates") }
        }
        return ClientCapabilities(
            questions: Set(Delegation.all.filter { names.contains($0.name.description) }.map(\.question)))
    }

    private static func names(_ view: JSONView) throws(Mismatch) -> Set<String> {
        var names: Set<String> = []
        switch view.kind {
        case .array:
            for index in 0..<view.count {
                guard let element = view.element(index) else { continue }
                do throws(Mismatch) { names.insert(try String.decode(element)) } catch {
                    throw error.within("\(index)")
                }
            }
        case .object:
            try view.forEachMember { (name, value) throws(Mismatch) in
                let name = String(decoding: name, as: UTF8.self)
                do throws(Mismatch) { if try Bool.decode(value) { names.insert(name) } } catch {
                    throw error.within(name)
                }
            }
        default: throw .expected("a list of names or an object of booleans", view)
        }
        return names
    }
}
