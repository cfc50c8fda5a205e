internal import ImageEngine
internal import JSONRPC

/// The value of a setting of the process.
public enum SettingText: Sendable, Equatable {
    case text(String)
    case number(Int)
    case decimal(Double)
    case flag(Bool)
    case none

    var literal: JSONLiteral {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .integer(number)
        case .decimal(let number): Int(exactly: number).map(JSONLiteral.integer) ?? .number(number)
        case .flag(let flag): .boolean(flag)
        case .none: .null
        }
    }
}

/// Every setting in force with its source, as `halcyon config` prints it.
public struct SettingListing: Sendable {
    private struct Row: Sendable {
        let path: [String]
        let value: JSONLiteral
        let source: SettingSource
    }

    private let file: String?
    private let rows: [Row]

    /// A listing.
    ///
    /// - Parameters:
    ///   - file: The configuration file that was read.
    ///   - server: The settings of the process.
    ///   - sources: Those of the caches.
    public init(
        file: String?, server: [(name: String, value: SettingText, source: SettingSource)], sources: SettingSources,
        cacheRoot: String
    ) {
        self.file = file
        var rows = server.map { Row(path: [$0.name], value: $0.value.literal, source: $0.source) }
        let downloader = sources.downloader()
        for field in SettingField.downloader
        where SettingField<ImageDownloader.Configuration>.unflagged.contains(field.name) {
            rows.append(
                Row(
                    path: ["downloader", field.name], value: field.value(downloader),
                    source: sources.source(ofDownloader: field.name)))
        }
        rows += Self.rows(sources, nil, folder: nil)
        for name in sources.names.sorted() { rows += Self.rows(sources, name, folder: "\(cacheRoot)/\(name)") }
        self.rows = rows
    }

    private static func rows(_ sources: SettingSources, _ name: String?, folder: String?) -> [Row] {
        var settings = sources.settings(of: name)
        if settings.disk.folder.isEmpty, let folder { settings.disk.folder = folder }
        let prefix = name.map { ["caches", $0] } ?? []
        var rows: [Row] = []
        if !settings.memory.isEnabled {
            rows.append(Row(path: prefix + ["memory"], value: false, source: sources.source(of: "memory", in: name)))
        }
        for (group, fields) in [("memory", SettingField.memory), ("disk", SettingField.disk)] {
            if group == "memory", !settings.memory.isEnabled { continue }
            for field in fields where !(name == nil && field.name == "folder") {
                rows.append(
                    Row(
                        path: prefix + [group, field.name], value: field.value(settings),
                        source: sources.source(of: "\(group).\(field.name)", in: name)))
            }
        }
        return rows
    }

    /// One line for each setting: name, value, source.
    public var text: [UInt8] {
        var lines = [(name: "file", value: file ?? "none", source: "")]
        for row in rows {
            lines.append((row.path.joined(separator: "."), Self.plain(row.value), row.source.rawValue))
        }
        let width = lines.map(\.name.count).max() ?? 0
        let valueWidth = min(lines.map(\.value.count).max() ?? 0, 40)
        let text = lines.map { line in
            let columns = Self.padded(line.name, width) + "  " + Self.padded(line.value, valueWidth)
            return line.source.isEmpty
                ? "\(Self.padded(line.name, width))  \(line.value)" : "\(columns)  \(line.source)"
        }
        return Array((text.joined(separator: "\n") + "\n").utf8)
    }

    /// One JSON object, shaped like the configuration file, where each value is `{"value": …, "source": …}`.
    public var json: [UInt8] {
        var tree = Node()
        for row in rows {
            tree.add(row.path[...], ["value": row.value, "source": .string(row.source.rawValue)])
        }
        let document = JSONLiteral.object([("file", file.map(JSONLiteral.string) ?? .null)] + tree.members)
        var writer = JSONWriter(indented: true)
        document.write(to: &writer)
        return writer.bytes + Array("\n".utf8)
    }

    private static func plain(_ value: JSONLiteral) -> String {
        if case .string(let text) = value { return text }
        var writer = JSONWriter()
        value.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    /// Objects within objects, in the order of their first members.
    private struct Node {
        private var order: [String] = []
        private var inner: [String: Node] = [:]
        private var value: JSONLiteral?

        var literal: JSONLiteral { value ?? .object(members) }
        var members: [(String, JSONLiteral)] { order.map { ($0, inner[$0]?.literal ?? .null) } }

        mutating func add(_ path: ArraySlice<String>, _ value: JSONLiteral) {
            guard let name = path.first else { return self.value = value }
            if inner[name] == nil { order.append(name) }
            inner[name, default: Node()].add(path.dropFirst(), value)
        }
    }
}
