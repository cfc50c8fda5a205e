internal import ImageEngine
internal import JSONRPC
internal import Platform

/// A value that is read from JSON and shown as JSON.
protocol SettingValue: WireValue {
    /// The value as JSON.
    var literal: JSONLiteral { get }
}

extension Bool: SettingValue {
    var literal: JSONLiteral { .boolean(self) }
}

/// A number that is set as an integer.
protocol SettingNumber: Sendable {
    /// The number that an integer sets.
    init(_ number: Int)
    /// The value as JSON: an integer when it is one.
    var literal: JSONLiteral { get }
}

extension Int: SettingNumber {
    var literal: JSONLiteral { .integer(self) }
}

extension Double: SettingNumber {
    var literal: JSONLiteral { Int(exactly: self).map(JSONLiteral.integer) ?? .number(self) }
}

extension NamedValue {
    var literal: JSONLiteral { .string(rawValue) }
}

/// The guarantee of a completed store.
enum Durability: String, NamedValue, SettingValue {
    case process, disk
}

extension DiskStorage.ExpireBy: NamedValue, SettingValue {}
extension DiskStorage.FileNames: NamedValue, SettingValue {}
extension Revalidation: NamedValue, SettingValue {}
extension DownloadOrder: NamedValue, SettingValue {}

extension StorageExpiration: SettingValue {
    var literal: JSONLiteral {
        switch self {
        case .never: "never"
        case .expired: "expired"
        case .date(let date): ["date": .string(ISO8601.text(date))]
        case .seconds(let seconds) where seconds < 0 || seconds.isNaN: "never"
        case .seconds(let seconds):
            if let days = Int(exactly: seconds / 86_400), days > 0 {
                ["days": .integer(days)]
            } else {
                ["seconds": seconds.literal]
            }
        }
    }
}

extension ExpirationExtension: SettingValue {
    var literal: JSONLiteral {
        switch self {
        case .none: "none"
        case .cacheTime: "cacheTime"
        case .expiration(let expiration): expiration.literal
        }
    }
}

extension DiskStorage.PathExtension: SettingValue {
    static var schema: JSONLiteral { FileExtension.schema }

    static func decode(_ view: JSONView) throws(Mismatch) -> DiskStorage.PathExtension {
        switch view.string {
        case "sniffed": return .sniffed
        case "fromKey": return .fromKey
        case "none": return .none
        default: break
        }
        do { return .fixed(try FileExtension.decode(view).text) } catch {
            throw .text("\"sniffed\", \"fromKey\", \"none\" or another 1 to 16 letters and digits", view)
        }
    }

    var literal: JSONLiteral {
        switch self {
        case .sniffed: "sniffed"
        case .fromKey: "fromKey"
        case .none: "none"
        case .fixed(let text): .string(text)
        }
    }
}

/// The absolute path of a file or folder.
struct AbsolutePath: SettingValue {
    let text: String

    static var schema: JSONLiteral { ["type": "string", "pattern": "^/"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> AbsolutePath {
        guard let text = view.string, text.utf8.first == UInt8(ascii: "/"), !text.utf8.contains(0) else {
            throw .text("an absolute path", view)
        }
        // Paths are compared as texts: a slash at the end would name the same folder differently.
        let end = text.utf8.reversed().drop { $0 == UInt8(ascii: "/") }.count
        return AbsolutePath(text: String(decoding: text.utf8.prefix(max(end, 1)), as: UTF8.self))
    }

    var literal: JSONLiteral { .string(text) }
}

extension [AbsolutePath]: SettingValue, WireValue {
    static var schema: JSONLiteral { ["type": "array", "items": AbsolutePath.schema] }

    static func decode(_ view: JSONView) throws(Mismatch) -> [AbsolutePath] {
        guard view.kind == .array else { throw .expected("a list of absolute paths", view) }
        var paths: [AbsolutePath] = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            do { paths.append(try AbsolutePath.decode(element)) } catch { throw error.within("\(index)") }
        }
        return paths
    }

    var literal: JSONLiteral { .array(map(\.literal)) }
}

/// The name of a cache.
struct CacheName: WireValue {
    let text: String

    static var schema: JSONLiteral { ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> CacheName {
        let text = try String.decode(view)
        guard CacheRegistry.isName(text) else { throw malformed }
        return CacheName(text: text)
    }

    /// The error for a text that is no name of a cache.
    static let malformed = Mismatch(
        path: "",
        message: "must be 1 to 64 letters, digits, '-', '_' or '.', and not begin with a dot",
        expected: "the name of a cache")
}
