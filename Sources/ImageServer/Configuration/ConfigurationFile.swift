internal import JSONRPC

/// The content of a configuration file: settings of the process by name, and settings of caches and the downloader.
package struct ConfigurationFile: Sendable {
    /// The settings of caches and of the downloader.
    package private(set) var layer = CacheLayer()
    /// The settings of the process by name, as texts that have not been checked.
    package private(set) var values: [String: String] = [:]

    /// Parses a file.
    package init(parsing content: [UInt8]) throws(ConfigurationFileFailure) {
        let document: JSONDocument
        do throws(JSONSyntaxError) {
            document = try JSONDocument(parsing: content)
        } catch {
            throw ConfigurationFileFailure(syntax: error, in: content)
        }
        do throws(Mismatch) { try read(document.root) } catch {
            throw ConfigurationFileFailure(description: error.error.message)
        }
    }

    private mutating func read(_ view: JSONView) throws(Mismatch) {
        guard view.kind == .object else {
            throw Mismatch(path: "the file", message: "must be an object, not \(view.kind.article)")
        }
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if try layer.read(name, value) || isIgnored(name) { return }
            guard let setting = ServerSetting.named(name) else {
                throw .unknown(name, among: ServerSetting.all.map(\.name) + CacheLayer.names, what: "setting")
            }
            if value.isNull { return }
            do throws(Mismatch) { values[name] = try setting.form.text(of: value) } catch { throw error.within(name) }
        }
    }
}

/// The reason why a configuration file cannot be used.
package struct ConfigurationFileFailure: Error, Equatable, CustomStringConvertible {
    /// A sentence that names the place in the file.
    package let description: String

    init(description: String) { self.description = description }

    init(syntax error: JSONSyntaxError, in content: [UInt8]) {
        let before = content.prefix(max(error.offset, 0))
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count + 1
        description =
            content.isEmpty ? "it is empty." : "it is not JSON: \(error.reason) (line \(line), column \(column))."
    }
}
