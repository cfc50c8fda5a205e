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

    var isEmpty: Bool { members.isEmpty }

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

/// The default options of a server, of which those that the client has configured last may still be taken back: a plain value.
struct RequestDefaults: Sendable {
    /// Those that do not come from `configure`.
    private var others: DefaultOptions
    private var settled = DefaultOptions()
    private var changes: [(number: Int, options: DefaultOptions, isSettled: Bool)] = []
    private var last = 0
    /// The options of a request that names none; `nil` when all are as built in.
    private(set) var options: ImageOptions?

    init(_ others: DefaultOptions) {
        self.others = others
        options = try? all.options()
    }

    /// All of them together.
    var all: DefaultOptions {
        ([settled] + changes.map(\.options)).reduce(into: others) { $0.add($1) }
    }

    /// Replaces those that do not come from `configure`.
    mutating func use(_ others: DefaultOptions) throws(Mismatch) {
        try update { $0.others = others }
    }

    /// Adds a change, and returns its number.
    mutating func add(_ options: DefaultOptions) throws(Mismatch) -> Int {
        try update {
            $0.last += 1
            $0.changes.append(($0.last, options, false))
        }
        return last
    }

    /// Ends the time in which a change may be taken back.
    mutating func settle(_ number: Int, takesBack: Bool) throws(Mismatch) {
        guard let index = changes.firstIndex(where: { $0.number == number }) else { return }
        try update { defaults in
            if takesBack { defaults.changes.remove(at: index) } else { defaults.changes[index].isSettled = true }
            while let first = defaults.changes.first, first.isSettled {
                defaults.settled.add(first.options)
                defaults.changes.removeFirst()
            }
        }
    }

    private mutating func update(_ change: (inout RequestDefaults) -> Void) throws(Mismatch) {
        var next = self
        change(&next)
        next.options = try next.all.options()
        self = next
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
