internal import JSONRPC

/// The content of a configuration file: settings of caches, and settings of the process by name.
public struct ConfigurationFile: Sendable {
    /// What it says about caches.
    public private(set) var layer = CacheLayer()
    /// The settings of the process; numbers and booleans as text.
    public private(set) var values: [String: String] = [:]

    /// Parses a file.
    ///
    /// - Parameters:
    ///   - texts: The names of the process's settings that are strings.
    ///   - numbers: The names of those that are integers.
    ///   - flags: The names of those that are booleans.
    public init(
        parsing content: [UInt8], texts: [String], numbers: [String], flags: [String] = []
    ) throws(ConfigurationFileFailure) {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(parsing: content)
        } catch {
            throw ConfigurationFileFailure(syntax: error, in: content)
        }
        do throws(Mismatch) { try read(document.root, texts, numbers, flags) } catch {
            throw ConfigurationFileFailure(description: error.error.message)
        }
    }

    private mutating func read(_ view: JSONView, _ texts: [String], _ numbers: [String], _ flags: [String])
        throws(Mismatch)
    {
        guard view.kind == .object else {
            throw Mismatch(path: "the file", message: "must be an object, not \(view.kind.article)")
        }
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if try layer.read(name, value) || isIgnored(name)
                || value.isNull && (texts + numbers + flags).contains(name)
            {
                return
            }
            if texts.contains(name) {
                guard let text = value.string else { throw Mismatch.expected("a string", value).within(name) }
                values[name] = text
            } else if numbers.contains(name) {
                guard let number = value.integer else { throw Mismatch.expected("an integer", value).within(name) }
                values[name] = String(number)
            } else if flags.contains(name) {
                guard let flag = value.boolean else { throw Mismatch.expected("a boolean", value).within(name) }
                values[name] = String(flag)
            } else {
                throw .unknown(name, among: texts + numbers + flags + CacheLayer.names, what: "setting")
            }
        }
    }
}

/// Why a configuration file cannot be used, in a sentence.
public struct ConfigurationFileFailure: Error, Equatable, CustomStringConvertible {
    /// The sentence, with the place.
    public let description: String

    init(description: String) { self.description = description }

    init(syntax error: JSONSyntaxError, in content: [UInt8]) {
        let before = content.prefix(max(error.offset, 0))
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        description =
            content.isEmpty ? "it is empty." : "it is no JSON: \(error.reason) (line \(line), column \(column))."
    }
}
