internal import ArgumentParser
internal import Glibc
internal import ImageEngine
internal import ImageServer
internal import Platform
internal import RemoteStorage

/// The settings of one run with their sources: flags come before the environment, and that before the file.
struct ServerSettings {
    /// The values that flags, environment and file give.
    private(set) var sources = SettingSources()
    /// The configuration file that was read; `nil` when there is none.
    private(set) var file: String?
    /// The settings in force.
    private(set) var configuration = ServerConfiguration()

    /// Reads the environment and the configuration file.
    ///
    /// - Parameters:
    ///   - given: The values on the command line, by the names of the settings.
    ///   - file: The configuration file that the command line names.
    init(given: [String: String] = [:], file: String? = nil) throws {
        configuration.engine.fit(.own)
        sources.base = configuration.engine.defaults
        for setting in ServerSetting.accepted {
            if let text = given[setting.name] {
                try set(setting, text, .flag) { ValidationError("--\(setting.flag) \($0).") }
            } else if let text = try environmentVariable(setting.variable) {
                try set(setting, text, .environment) { ValidationError("\(setting.variable) \($0).") }
            }
        }
        if let (path, bytes) = try SettingPlaces.configurationFile(file ?? environmentVariable("HALCYON_CONFIG")) {
            self.file = path
            try add(bytes, path)
        }
        configuration.engine.codec.executable = SettingPlaces.codecBeside
        configuration.engine.remote.environment = AWSEnvironment { try? environmentVariable($0) }
        configuration = sources.configuration(configuration)
        if configuration.cacheDir == nil { configuration.cacheDir = try SettingPlaces.defaultCacheDir }
    }

    /// The defaults of a silent server with these codec workers, whatever environment and file say.
    init(codec: CodecPool.Configuration, cacheDir: String) {
        configuration.engine.codec = codec
        configuration.engine.cleanInterval = 0
        configuration.cacheDir = cacheDir
        configuration.logLevel = .critical
    }

    /// Every setting with its value and its source, for `halcyon config`.
    var listing: SettingListing { SettingListing(file: file, configuration: configuration, sources: sources) }

    /// A sentence for each file of downloads that cannot be read. It may appear later, so the server starts anyway.
    var fileProblems: [String] {
        ServerSetting.all.compactMap { setting in
            guard let consequence = setting.withoutFile, let path = setting.text(in: configuration),
                let problem = Self.problem(withFile: path)
            else { return nil }
            return "\(path) (\(setting.name)) \(problem). \(consequence) as long as that is so."
        }
    }

    private static func problem(withFile path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
        defer { close(descriptor) }
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? nil : "is not a regular file"
    }

    /// Adds the content of the configuration file at `path`.
    private mutating func add(_ bytes: [UInt8], _ path: String) throws {
        let content: ConfigurationFile
        do { content = try ConfigurationFile(parsing: bytes) } catch {
            throw StartFailure(description: "The configuration file \(path) cannot be used: \(error)")
        }
        for setting in ServerSetting.accepted {
            guard let text = content.values[setting.name] else { continue }
            try set(setting, text, .file) { StartFailure(description: "\(path): \"\(setting.name)\" \($0).") }
        }
        sources[.file].add(content.layer)
    }

    private mutating func set(
        _ setting: ServerSetting, _ text: String, _ source: SettingSource, failure: (String) -> any Error
    ) throws {
        do { try setting.set(text, in: &sources, from: source) } catch { throw failure(error.predicate) }
    }
}
