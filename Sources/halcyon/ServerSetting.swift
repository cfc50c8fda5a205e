internal import ImageEngine
internal import JSONRPC
internal import Logging

/// A setting of the process. It has one name in the configuration file, one on the command line and one in the
/// environment.
enum ServerSetting: String, CaseIterable {
    case cacheDir, framing, memoryLimit, diskLimit, durability, maxDownloadsPerHost, maxConcurrentDownloads,
        downloadOrder, downloadsPerSecond, downloadsPerSecondPerHost, downloadBurst, timeout, activationDelay,
        completionDelay, cleanInterval,
        delegateTimeout, userAgent, allowedHosts, allowedSchemes, networkPolicy, proxy, caFile, clientCertificate,
        clientKey, trustedHosts, cookieFile, netrc, offline, codec, logLevel, logFile, mirror, replay

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
        case .downloadOrder: "download-order"
        case .downloadsPerSecond: "downloads-per-second"
        case .downloadsPerSecondPerHost: "downloads-per-second-per-host"
        case .downloadBurst: "download-burst"
        case .timeout: "timeout"
        case .activationDelay: "activation-delay"
        case .completionDelay: "completion-delay"
        case .cleanInterval: "clean-interval"
        case .delegateTimeout: "delegate-timeout"
        case .userAgent: "user-agent"
        case .allowedHosts: "allowed-hosts"
        case .allowedSchemes: "allowed-schemes"
        case .networkPolicy: "network-policy"
        case .proxy: "proxy"
        case .caFile: "ca-file"
        case .clientCertificate: "client-certificate"
        case .clientKey: "client-key"
        case .trustedHosts: "trusted-hosts"
        case .cookieFile: "cookie-file"
        case .netrc: "netrc"
        case .offline: "offline"
        case .codec: "codec"
        case .logLevel: "log-level"
        case .logFile: "log-file"
        case .mirror: "mirror"
        case .replay: "replay"
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
        case .memoryLimit, .diskLimit, .cleanInterval, .downloadsPerSecond, .downloadsPerSecondPerHost,
            .activationDelay, .completionDelay:
            0
        case .maxDownloadsPerHost, .maxConcurrentDownloads, .downloadBurst, .timeout, .delegateTimeout: 1
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
        case .downloadOrder where DownloadOrder(rawValue: text) == nil:
            return "must be fifo or lifo, not \"\(text)\""
        case .offline where text != "true" && text != "false":
            return "must be true or false, not \"\(text)\""
        case .logLevel where Logger.Level(rawValue: text) == nil:
            return "must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(text)\""
        case .networkPolicy where NetworkPolicy.Reach(rawValue: text) == nil:
            return "must be noCrossover, public or any, not \"\(text)\""
        case .proxy where text != "none" && !Self.isProxy(text):
            return "must be none or a URL such as http://proxy.example:3128, not \"\(text)\""
        case .allowedHosts, .trustedHosts:
            guard let bad = Self.list(text).first(where: { !HostPattern.isValid($0) }) else { return nil }
            return "must be hosts such as example.com or *.example.com with commas between them, not \"\(bad)\""
        case .allowedSchemes:
            let schemes = Self.list(text)
            guard schemes.isEmpty || !schemes.allSatisfy(NetworkPolicy.schemes.contains) else { return nil }
            return "must be some of http, https, file and data with commas between them, not \"\(text)\""
        case .userAgent where text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }):
            return "must not contain control characters"
        case .cacheDir, .codec, .logFile, .caFile, .clientCertificate, .clientKey, .cookieFile, .netrc, .mirror,
            .replay:
            return isInFile && !text.hasPrefix("/") ? "must be an absolute path, not \"\(text)\"" : nil
        default: return nil
        }
    }

    /// The parts of a list with commas.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }

    private static func isProxy(_ text: String) -> Bool {
        let schemes = ["http://", "https://", "socks://", "socks4://", "socks4a://", "socks5://", "socks5h://"]
        let text = text.lowercased()
        guard schemes.contains(where: { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }) else { return false }
        // What libcurl would not take is no name that cannot be resolved.
        let authority = text[(text.firstRange(of: "://")?.upperBound ?? text.startIndex)...].prefix {
            !"/?#".contains($0)
        }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let port = place.lastIndex(of: ":").map { place[place.index(after: $0)...] }
        guard let port, !port.contains("]") else { return !place.isEmpty }
        return place.first != ":" && (port.isEmpty || (1...65_535).contains(Int(port) ?? 0))
    }
}
