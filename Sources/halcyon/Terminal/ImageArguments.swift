internal import ArgumentParser
internal import ImageEngine
internal import ImageServer
internal import JSONRPC

/// The arguments of the commands that load images.
struct ImageArguments: ParsableArguments {
    @Flag(help: "Load it again, whatever is cached.")
    var refresh = false

    @Flag(help: "Answer from the cache only.")
    var onlyCached = false

    @Option(
        help: "When a cached image is revalidated with its server: never, ifExpired, always or http.",
        completion: .list(Revalidation.allCases.map(\.rawValue)))
    var revalidate: String?

    @Option(name: [.customShort("H"), .long], help: "A header of the request, as 'Name: value'; may be repeated.")
    var header: [String] = []

    @Option(
        name: [.customShort("O"), .long],
        help: "An option of the protocol, as name=JSON (--option maxBytes=5MB); may be repeated.")
    var option: [String] = []

    func validate() throws {
        if let revalidate, Revalidation(rawValue: revalidate) == nil {
            let names = Revalidation.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--revalidate takes one of \(names), not '\(revalidate)'.")
        }
        if refresh, onlyCached {
            throw ValidationError("--refresh takes nothing from the cache, and --only-cached nothing else; give one.")
        }
        for header in header where header.firstIndex(of: ":") == nil {
            throw ValidationError("--header takes 'Name: value', not '\(header)'.")
        }
        for option in option {
            guard let sign = option.firstIndex(of: "="), sign != option.startIndex else {
                throw ValidationError("--option takes name=JSON, not '\(option)'.")
            }
        }
        if let name = Self.repeated(header.map { Self.name($0, before: ":").lowercased() }) {
            throw ValidationError("--header names \(name) twice; give its values in one, separated by commas.")
        }
        let flags = [
            (refresh, "forceRefresh"), (onlyCached, "onlyFromCache"), (revalidate != nil, "revalidate"),
            (!header.isEmpty, "headers"),
        ]
        let named = flags.filter(\.0).map(\.1) + option.map { Self.name($0, before: "=") }
        if let name = Self.repeated(named) {
            throw ValidationError("The option \(name) is given twice, by --option or by a flag of its own.")
        }
    }

    /// The first text that a list has more than once.
    private static func repeated(_ texts: [String]) -> String? {
        var seen: Set<String> = []
        return texts.first { !seen.insert($0).inserted }
    }

    /// The text before a sign, or all of it.
    private static func name(_ text: String, before sign: Character) -> String { String(text.prefix { $0 != sign }) }

    /// Writes the member `options` of the params.
    func write(to writer: inout JSONWriter) {
        writer.key("options")
        writer.object { options in
            if refresh { options.field("forceRefresh", true) }
            if onlyCached { options.field("onlyFromCache", true) }
            if let revalidate { options.field("revalidate", revalidate) }
            if !header.isEmpty {
                options.key("headers")
                options.object { headers in
                    for header in header { Self.write(header, to: &headers) }
                }
            }
            for option in option {
                let sign = option.firstIndex(of: "=") ?? option.endIndex
                let name = String(option[..<sign])
                options.key(name)
                Self.write(value: option[sign...].dropFirst(), isSize: name.hasSuffix("Bytes"), to: &options)
            }
        }
    }

    private static func write(_ header: String, to writer: inout JSONWriter) {
        let colon = header.firstIndex(of: ":") ?? header.endIndex
        writer.key(String(header[..<colon]))
        writer.write(String(header[colon...].dropFirst().drop { $0 == " " }))
    }

    /// Writes a value as JSON when it is JSON, otherwise as a string: `--option revalidate=http` needs no quotes.
    ///
    /// - Parameter isSize: `true` for a number of bytes, which may have a unit: `--option maxBytes=5MB`.
    private static func write(value: Substring, isSize: Bool, to writer: inout JSONWriter) {
        let bytes = Array(value.utf8)
        if isSize, let size = ByteSize.bytes(String(value)) {
            writer.write(size)
        } else if let document = try? JSONDocument(parsing: bytes) {
            writer.write(document.root)
        } else {
            writer.write(String(value))
        }
    }
}
