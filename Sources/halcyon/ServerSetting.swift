internal import JSONRPC
internal import Logging

/// A setting of the process. It has one name in the configuration file, one on the command line and one in the
/// environment.
enum ServerSetting: String, CaseIterable {
    case cacheDir, framing, memoryLimit, diskLimit, durability, maxDownloadsPerHost, maxConcurrentDownloads,
        cleanInterval, offline, logLevel, logFile

    /// Its name on the command line, without the dashes.
    var flag: String {
        switch self {
        case .cacheDir: "cache-dir"
        case .framing: "framing"
        case .memoryLimit: "memory-limit"
        case .diskLimit: "disk-limit"
        case .durability: "durability"
        case .maxDownloadsPerHost: "max-downloads-per-host"
        case .maxConcurrentDownloads: "max-concurrent-downloads"
        case .cleanInterval: "clean-interval"
        case .offline: "offline"
        case .logLevel: "log-level"
        case .logFile: "log-file"
        }
    }

    /// Its name in the environment.
    var variable: String {
        let bytes = flag.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 & 0xDF }
        return "HALCYON_" + String(decoding: bytes, as: UTF8.self)
    }

    /// Whether its value is an integer.
    var isNumber: Bool { smallest != nil }

    /// Whether its value is a boolean.
    var isFlag: Bool { self == .offline }

    /// The smallest number it can be.
    private var smallest: Int? {
        switch self {
        case .memoryLimit, .diskLimit, .cleanInterval: 0
        case .maxDownloadsPerHost, .maxConcurrentDownloads: 1
        default: nil
        }
    }

    /// What is wrong with a value, after its name; nil if nothing is.
    ///
    /// - Parameter isInFile: Whether it stands in a file, where nobody knows what a relative path is relative to.
    func problem(_ text: String, isInFile: Bool) -> String? {
        if let smallest {
            guard let number = Int(text), number >= smallest else {
                return "must be an integer, at least \(smallest), not \"\(text)\""
            }
            return nil
        }
        switch self {
        case .framing where text != "auto" && MessageFraming(rawValue: text) == nil:
            return "must be auto, lines or content-length, not \"\(text)\""
        case .durability where text != "process" && text != "disk":
            return "must be process or disk, not \"\(text)\""
        case .offline where text != "true" && text != "false":
            return "must be true or false, not \"\(text)\""
        case .logLevel where Logger.Level(rawValue: text) == nil:
            return "must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(text)\""
        case .cacheDir, .logFile:
            return isInFile && !text.hasPrefix("/") ? "must be an absolute path, not \"\(text)\"" : nil
        default: return nil
        }
    }
}
