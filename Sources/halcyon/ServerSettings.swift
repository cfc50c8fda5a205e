internal import ArgumentParser
internal import Glibc
internal import ImageEngine
internal import ImageServer
internal import JSONRPC
internal import Logging

/// Every setting of one run, and where each came from: flags before the environment before the file.
struct ServerSettings {
    private var values: [ServerSetting: (text: String, source: SettingSource)] = [:]
    /// What flags, environment and file say about the caches.
    private(set) var sources = SettingSources()
    /// The configuration file that was read.
    private(set) var file: String?
    /// The folder of all caches, as an absolute path.
    private(set) var cacheRoot = ""

    /// Reads the environment and the configuration file.
    ///
    /// - Parameters:
    ///   - given: What the command line says.
    ///   - file: The configuration file that the command line names.
    init(given: [ServerSetting: String] = [:], file: String? = nil) throws {
        for setting in ServerSetting.allCases {
            if let text = given[setting] {
                try take(setting, text, .flag)
            } else if let text = Self.variable(setting.variable) {
                try take(setting, text, .environment)
            }
        }
        if let (path, bytes) = try Self.configurationFile(named: file ?? Self.variable("HALCYON_CONFIG")) {
            self.file = path
            try take(bytes, path)
        }
        cacheRoot = try Self.cacheRoot(values[.cacheDir]?.text)
    }

    // MARK: Values

    /// How messages are told apart; nil to find out.
    var framing: MessageFraming? { values[.framing].flatMap { MessageFraming(rawValue: $0.text) } }
    /// What is logged.
    var logLevel: Logger.Level { values[.logLevel].flatMap { Logger.Level(rawValue: $0.text) } ?? .warning }
    /// Where to, instead of stderr.
    var logFile: String? { values[.logFile]?.text }

    /// The folder that the run is recorded in.
    var mirror: String? { path(.mirror) }
    /// The folder that downloads are played from.
    var replay: String? { path(.replay) }

    /// Milliseconds of downloads before activity is told.
    var activationDelay: Int { number(.activationDelay) ?? 1000 }
    /// Milliseconds without downloads before their end is told.
    var completionDelay: Int { number(.completionDelay) ?? 170 }
    /// Seconds to wait for the client's answer to a question.
    var delegateTimeout: Int { number(.delegateTimeout) ?? 10 }

    /// The settings of the engine.
    var engine: ImageManager.Configuration {
        var engine = ImageManager.Configuration(cacheRoot: cacheRoot)
        engine.defaults = sources.settings(of: nil)
        engine.caches = sources.named
        engine.downloader = sources.downloader()
        if let seconds = number(.cleanInterval) { engine.cleanInterval = Double(seconds) }
        engine.downloader.userAgent = values[.userAgent]?.text ?? "halcyon/\(ImageServer.version)"
        engine.downloader.policy.allowedHosts = list(.allowedHosts)
        if values[.allowedSchemes] != nil { engine.downloader.policy.allowedSchemes = list(.allowedSchemes) }
        if let reach = values[.networkPolicy].flatMap({ NetworkPolicy.Reach(rawValue: $0.text) }) {
            engine.downloader.policy.reach = reach
        }
        if let proxy = values[.proxy] { engine.downloader.proxy = ProxyChoice(proxy.text) }
        engine.downloader.tls.caFile = path(.caFile)
        engine.downloader.tls.clientCertificate = path(.clientCertificate)
        engine.downloader.tls.clientKey = path(.clientKey)
        engine.downloader.tls.trustedHosts = list(.trustedHosts)
        engine.downloader.cookieFile = path(.cookieFile)
        engine.downloader.netrc = path(.netrc)
        engine.offline = values[.offline]?.text == "true"
        engine.codec = CodecPool.Configuration(executable: path(.codec) ?? Self.codecBeside)
        return engine
    }

    /// What is wrong with the files that go with downloads, in sentences. They may come yet, so it is no reason not to start.
    var fileProblems: [String] {
        let files: [ServerSetting] = [.caFile, .clientCertificate, .clientKey, .cookieFile, .netrc]
        return files.compactMap { setting in
            guard let path = path(setting), let problem = Self.problem(withFile: path) else { return nil }
            let isOptional = setting == .cookieFile || setting == .netrc
            let outcome = isOptional ? "Downloads go without it" : "Downloads that need it fail"
            return "\(path) (\(setting.rawValue)) \(problem). \(outcome) as long as that is so."
        }
    }

    private static func problem(withFile path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
        defer { close(descriptor) }
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? nil : "is no regular file"
    }

    /// The codec worker beside this program.
    private static var codecBeside: String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? -1
        }
        guard count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: buffer[..<slash], as: UTF8.self) + "/halcyon-codec"
    }

    private func list(_ setting: ServerSetting) -> [String] {
        values[setting].map { ServerSetting.list($0.text) } ?? []
    }

    private func path(_ setting: ServerSetting) -> String? { values[setting].map { absolutePath($0.text) } }

    private func number(_ setting: ServerSetting) -> Int? { values[setting].flatMap { Int($0.text) } }

    /// The settings that are not a cache's, for people: name, value as JSON text would have it, and source.
    var listed: [(name: String, value: SettingText, source: SettingSource)] {
        let engine = engine
        let downloader = engine.downloader
        let listed: [(ServerSetting, SettingText)] = [
            (.cacheDir, .text(cacheRoot)), (.framing, .text(framing?.rawValue ?? "auto")),
            (.maxDownloadsPerHost, .number(downloader.maxDownloadsPerHost)),
            (.maxConcurrentDownloads, .number(downloader.maxConcurrentDownloads)),
            (.downloadOrder, .text(downloader.order.rawValue)),
            (.downloadsPerSecond, .number(Int(downloader.startsPerSecond))),
            (.downloadsPerSecondPerHost, .number(Int(downloader.startsPerSecondPerHost))),
            (.downloadBurst, .number(downloader.burst)), (.timeout, .decimal(downloader.timeout)),
            (.activationDelay, .number(activationDelay)), (.completionDelay, .number(completionDelay)),
            (.cleanInterval, .number(Int(engine.cleanInterval))), (.delegateTimeout, .number(delegateTimeout)),
            (.userAgent, .text(downloader.userAgent)), (.allowedHosts, text(.allowedHosts)),
            (.allowedSchemes, .text(downloader.policy.allowedSchemes.joined(separator: ","))),
            (.networkPolicy, .text(downloader.policy.reach.rawValue)),
            (.proxy, text(values[.proxy].map { ProxyChoice.shown($0.text) })),
            (.caFile, text(path(.caFile))), (.clientCertificate, text(path(.clientCertificate))),
            (.clientKey, text(path(.clientKey))), (.trustedHosts, text(.trustedHosts)),
            (.cookieFile, text(path(.cookieFile))), (.netrc, text(path(.netrc))),
            (.offline, .flag(engine.offline)), (.codec, text(engine.codec.executable)),
            (.logLevel, .text(logLevel.rawValue)), (.logFile, logFile.map(SettingText.text) ?? .none),
            (.mirror, text(mirror)), (.replay, text(replay)),
        ]
        return listed.map { setting, value in
            let source = values[setting]?.source ?? .default
            return (setting.rawValue, value, max(source, sources.source(ofDownloader: setting.rawValue)))
        }
    }

    private func text(_ setting: ServerSetting) -> SettingText { text(values[setting]?.text) }

    private func text(_ value: String?) -> SettingText { value.map(SettingText.text) ?? .none }

    // MARK: Sources

    /// Takes a value from a source, unless a stronger one has it; what is about caches is added to its layer.
    private mutating func take(_ setting: ServerSetting, _ text: String, _ source: SettingSource) throws {
        if let problem = setting.problem(text, isInFile: source == .file) {
            switch source {
            case .flag: throw ValidationError("--\(setting.flag) \(problem).")
            case .environment: throw ValidationError("\(setting.variable) \(problem).")
            default: throw StartFailure(description: "\(file ?? ""): \"\(setting.rawValue)\" \(problem).")
            }
        }
        if (values[setting]?.source ?? .default) < source { values[setting] = (text, source) }
        switch setting {
        case .memoryLimit: sources[source].general.limitMemory(to: Int(text) ?? 0)
        case .diskLimit: sources[source].general.limitDisk(to: Int(text) ?? 0)
        case .durability: sources[source].general.sync(text == "disk")
        default: sources[source].downloader.set(setting.rawValue, text: text)
        }
    }

    private mutating func take(_ bytes: [UInt8], _ path: String) throws {
        let content: ConfigurationFile
        do {
            content = try ConfigurationFile(
                parsing: bytes, texts: ServerSetting.allCases.filter { !$0.isNumber && !$0.isFlag }.map(\.rawValue),
                numbers: ServerSetting.allCases.filter(\.isNumber).map(\.rawValue),
                flags: ServerSetting.allCases.filter(\.isFlag).map(\.rawValue))
        } catch {
            throw StartFailure(description: "The configuration file \(path) cannot be used: \(error)")
        }
        for setting in ServerSetting.allCases {
            if let text = content.values[setting.rawValue] { try take(setting, text, .file) }
        }
        sources[.file].add(content.layer)
    }

    /// The value of a variable that is not empty.
    private static func variable(_ name: String) -> String? {
        guard let text = getenv(name), text.pointee != 0 else { return nil }
        return String(cString: text)
    }

    /// The configuration file and its content; nil if there is none.
    private static func configurationFile(named name: String?) throws -> (path: String, bytes: [UInt8])? {
        guard let path = name.map(absolutePath) ?? defaultFile else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if name == nil, code == ENOENT || code == ENOTDIR { return nil }
            if name == nil, code == EACCES || code == EPERM {
                // Nobody asked for it: a home that is another user's is no reason not to start.
                printToStderr("halcyon: \(path) may not be read and is left out.")
                return nil
            }
            throw unreadable(path)
        }
        defer { close(descriptor) }
        let limit = 1 << 20
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return (path, bytes) }
            bytes += chunk.prefix(count)
            guard bytes.count <= limit else {
                throw StartFailure(description: "The configuration file \(path) is over \(limit) bytes long.")
            }
        }
    }

    private static func unreadable(_ path: String) -> StartFailure {
        StartFailure(
            description: "The configuration file \(path) cannot be read: \(String(cString: strerror(errno))).")
    }

    private static var defaultFile: String? {
        if let base = variable("XDG_CONFIG_HOME"), base.hasPrefix("/") { return base + "/halcyon/config.json" }
        guard let home = variable("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.config/halcyon/config.json"
    }

    private static func cacheRoot(_ given: String?) throws -> String {
        if let given, !given.isEmpty { return absolutePath(given) }
        if let base = variable("XDG_CACHE_HOME"), base.hasPrefix("/") { return base + "/halcyon" }
        guard let home = variable("HOME"), home.hasPrefix("/") else {
            throw StartFailure(
                description: "There is no home folder to keep the cache in: name a folder with --cache-dir.")
        }
        return home + "/.cache/halcyon"
    }
}
