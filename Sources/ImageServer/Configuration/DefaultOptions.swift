internal import ImageEngine
internal import JSONRPC

/// The options of requests that leave them out, as one source of settings names them: a plain value.
public struct DefaultOptions: Sendable {
    /// In the order in which they were named. `null`: as built in, whatever a weaker source says.
    private var members: [(name: String, value: JSONLiteral)] = []

    /// The options that belong to one request, with what to do instead.
    private static let refused = [
        "headers": "name them in hostRules of the downloader",
        "authorization": "name it in hostRules of the downloader",
        "delegates": "name the questions in initialize",
        "method": "give it with the request", "body": "give it with the request",
        "slot": "give it with the request", "integrity": "give it with the request",
        "alternativeSources": "give them with the request",
    ]

    /// Names no option.
    public init() {}

    func names(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// Adds the options of another source. They replace the same options here, and those that mean the contrary.
    mutating func add(_ other: DefaultOptions) {
        let replaced = other.members.compactMap { member -> String? in
            switch (member.name, member.value) {
            case (_, .null): nil
            case ("scope", _): "credentialScope"
            case ("credentialScope", .string("shared")): "scope"
            case ("frame", _): "onlyLoadFirstFrame"
            case ("onlyLoadFirstFrame", _): "frame"
            default: nil
            }
        }
        members.removeAll { other.names($0.name) || replaced.contains($0.name) }
        members += other.members
    }

    /// What is not as built in.
    var named: [(name: String, value: JSONLiteral)] {
        members.filter { member in
            if case .null = member.value { false } else { true }
        }
    }

    /// The options of a request that names none; `nil` when all are as built in.
    ///
    /// - Throws: ``Mismatch`` when two sources name options that exclude each other.
    func options() throws(Mismatch) -> ImageOptions? {
        if named.isEmpty { return nil }
        var writer = JSONWriter()
        JSONLiteral.object(named).write(to: &writer)
        guard let document = try? JSONDocument(parsing: writer.bytes) else { return nil }
        return try ImageOptions.decode(document.root)
    }
}

extension DefaultOptions: WireValue {
    static var schema: JSONLiteral { ImageOptions.schema }

    static func decode(_ view: JSONView) throws(Mismatch) -> DefaultOptions {
        // Checks names and values.
        _ = try ImageOptions.decode(view)
        var options = DefaultOptions()
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if isIgnored(name) { return }
            if let instead = refused[name] {
                throw Mismatch(path: name, message: "belongs to one request: \(instead)")
            }
            options.members.append((name, JSONLiteral(value)))
        }
        return options
    }
}
