internal import ArgumentParser
internal import Glibc
internal import ImageEngine
internal import Terminal

/// The places that settings come from, and the files and folders that count when no setting names others.
enum SettingPlaces {
    /// The largest configuration file that is read, in bytes.
    private static let maximumBytes = 1 << 20

    /// The path and content of the configuration file; `nil` when there is none.
    ///
    /// - Parameter name: Its path; `nil` for the default one, which need not be there.
    static func configurationFile(_ name: String?) throws -> (path: String, bytes: [UInt8])? {
        guard let path = try name.map(absolutePath) ?? defaultConfigurationFile else { return nil }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            if name == nil, code == ENOENT || code == ENOTDIR { return nil }
            if name == nil, code == EACCES || code == EPERM {
                // The default file is optional: the home of another user does not prevent the start.
                printToStderr("halcyon: \(path) may not be read and is left out.")
                return nil
            }
            throw unreadable(path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { return (path, bytes) }
            bytes += chunk.prefix(count)
            guard bytes.count <= maximumBytes else {
                throw StartFailure(description: "The configuration file \(path) is over \(maximumBytes) bytes long.")
            }
        }
    }

    private static func unreadable(_ path: String) -> StartFailure {
        StartFailure(
            description: "The configuration file \(path) cannot be read: \(String(cString: strerror(errno))).")
    }

    private static var defaultConfigurationFile: String? {
        get throws {
            if let base = try environmentVariable("XDG_CONFIG_HOME"), base.hasPrefix("/") {
                return base + "/halcyon/config.json"
            }
            guard let home = try environmentVariable("HOME"), home.hasPrefix("/") else { return nil }
            return home + "/.config/halcyon/config.json"
        }
    }

    /// The folder of all caches when no setting names one.
    static var defaultCacheDir: String {
        get throws {
            if let base = try environmentVariable("XDG_CACHE_HOME"), base.hasPrefix("/") { return base + "/halcyon" }
            guard let home = try environmentVariable("HOME"), home.hasPrefix("/") else {
                throw StartFailure(
                    description: "There is no home folder to keep the cache in: name a folder with --cache-dir.")
            }
            return home + "/.cache/halcyon"
        }
    }

    /// The codec worker beside this program.
    static var codecBeside: String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? -1
        }
        guard count > 0, let slash = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: buffer[..<slash], as: UTF8.self) + "/halcyon-codec"
    }
}

/// The value of a variable of the environment; `nil` when it is empty.
///
/// - Throws: `ValidationError` for one that is not UTF-8, which would name another file.
func environmentVariable(_ name: String) throws -> String? {
    guard let bytes = getenv(name), bytes.pointee != 0 else { return nil }
    guard let text = String(validatingCString: bytes) else { throw notText(name, String(cString: bytes)) }
    return text
}

/// The error about a value that is not UTF-8.
func notText(_ name: String, _ value: String) -> ValidationError {
    ValidationError(
        "\(name), \(value.forTerminal), is not UTF-8 text, as arguments and names of files have to be here.")
}
