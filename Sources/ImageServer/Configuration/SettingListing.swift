internal import ImageEngine
internal import JSONRPC

/// Every setting in force with its source, as `halcyon config` prints it.
package struct SettingListing: Sendable {
    private struct Row: Sendable {
        let path: [String]
        let value: JSONLiteral
        let source: SettingSource
    }

    private let file: String?
    private let rows: [Row]

    /// Makes a listing.
    ///
    /// - Parameters:
    ///   - file: The configuration file that was read; `nil` when there is none.
    ///   - configuration: The settings in force.
    ///   - sources: The sources that they come from.
    package init(file: String?, configuration: ServerConfiguration, sources: SettingSources) {
        self.file = file
        var rows = ServerSetting.all.filter { !$0.isOfCaches }.map { setting in
            Row(path: [setting.name], value: setting.value(configuration), source: sources.source(of: setting.name))
        }
        rows += SettingField.withoutFlags.map { field in
            Row(
                path: ["downloader", field.name], value: field.value(configuration.engine.downloader),
                source: sources.source(of: field.name))
        }
        rows += sources.options.named.map { option in
            Row(path: ["options", option.name], value: option.value, source: sources.source(ofOption: option.name))
        }
        rows += Self.rows(sources, nil, folder: nil)
        for name in sources.names.sorted() {
            rows += Self.rows(sources, name, folder: "\(configuration.engine.cacheRoot)/\(name)")
        }
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
    package var text: [UInt8] {
        var lines = [(name: "file", value: file ?? "none", source: "")]
        for row in rows {
            lines.append((row.path.joined(separator: "."), row.value.text ?? "null", row.source.rawValue))
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
    package var json: [UInt8] {
        var tree = Node()
        for row in rows {
            tree.add(row.path[...], ["value": row.value, "source": .string(row.source.rawValue)])
        }
        let document = JSONLiteral.object([("file", file.map(JSONLiteral.string) ?? .null)] + tree.members)
        var writer = JSONWriter(indented: true)
        document.write(to: &writer)
        return writer.bytes + Array("\n".utf8)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.count, 0))
    }

    /// A tree of objects, in the order in which their first members were added.
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

extension JSONLiteral {
    /// The value for people: a string without quotes, anything else as JSON; `nil` for null.
    var text: String? {
        switch self {
        case .null: return nil
        case .string(let text): return text
        default:
            var writer = JSONWriter()
            write(to: &writer)
            return String(decoding: writer.bytes, as: UTF8.self)
        }
    }
}
