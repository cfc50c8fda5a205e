internal import CLinux
internal import Glibc
internal import ImageEngine
internal import Platform

/// The destination that `--output` names: a file, a folder, or standard output.
struct OutputPlace {
    private enum Kind {
        case file, folder, stream
        /// What is written to and not replaced: a device, a pipe, what a link leads to.
        case existing
    }

    /// The name of standard output, as on the command line.
    static let stream = "-"

    private let path: String
    private let kind: Kind
    /// `true` when files that are there are replaced.
    private let replaces: Bool
    /// The names that are taken: images of different servers may have the same one.
    private var names: Set<String> = []

    /// - Parameters:
    ///   - count: The number of images.
    ///   - replaces: `true` when files that are there are replaced.
    init(_ path: String, count: Int, replaces: Bool) throws {
        var status = stat()
        let kind = stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
        if path == Self.stream || kind != nil && count == 1 && isatty(1) == 0 && Self.isStandardOutput(status) {
            self.kind = .stream
        } else if kind == S_IFDIR {
            self.kind = .folder
        } else if let kind, count == 1, kind != S_IFREG || replaces && Self.isLink(path) {
            if !replaces, kind == S_IFCHR, Self.isTerminal(path) {
                throw StartFailure(
                    description: "\(path) is a terminal: name a file, or write the bytes there with --force.")
            }
            self.kind = .existing
        } else if count > 1, !path.hasSuffix("/"), Self.format(path) != nil {
            throw StartFailure(
                description: "\(path) is the name of one image, and there are \(count): name a folder, such as images/."
            )
        } else if path.hasSuffix("/") || count > 1 {
            guard mkdir(path, 0o777) == 0 else {
                throw StartFailure(description: "The folder \(path) cannot be made: \(Self.reason(errno)).")
            }
            self.kind = .folder
        } else {
            self.kind = .file
            // Before anything is loaded.
            if !replaces, kind != nil { throw Self.inTheWay(path) }
        }
        (self.path, self.replaces) = (path, replaces)
    }

    /// The format that the name of a file tells; `nil` for other places.
    var format: ImageFormat? { kind == .file ? Self.format(path) : nil }

    /// The format that a name tells; `nil` when it tells none.
    static func format(_ name: String) -> ImageFormat? {
        let parts = (name.split(separator: "/").last ?? "").split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts.last.flatMap { ImageFormat(fileExtension: String($0)) } : nil
    }

    /// `true` for standard output.
    var isStream: Bool { kind == .stream }

    /// Copies an image to the destination.
    ///
    /// - Returns: The path of the copy, or ``stream``.
    mutating func take(_ source: String, from url: String) throws -> String {
        switch kind {
        case .stream:
            try Self.read(source) { try printToStdout($0) }
            return Self.stream
        case .existing:
            let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure(path) }
            defer { close(descriptor) }
            try copy(source, to: descriptor, called: path)
            return path
        case .file: return try copy(source, to: path)
        case .folder:
            return try copy(source, to: (path.hasSuffix("/") ? path : path + "/") + name(of: url, source))
        }
    }

    /// The name of an image in the folder: that of its URL with the extension of its format, and a number if it is taken.
    private mutating func name(of url: String, _ source: String) -> String {
        let ending = source.split(separator: "/").last?.split(separator: ".").dropFirst().last.map { "." + $0 } ?? ""
        let name = FilePath.lastName(of: url)
        let stem = name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name
        var number = 1
        var chosen = stem + ending
        while !names.insert(chosen).inserted {
            number += 1
            chosen = "\(stem)-\(number)\(ending)"
        }
        return chosen
    }

    /// Writes a file without a name, where the file system has such, and names it, so that no reader finds half an image, and
    /// nothing is left of a copy that is broken off.
    private func copy(_ source: String, to target: String) throws -> String {
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "./"
        let draft = "\(folder).halcyon-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let unnamed = hl_nameable_file(folder)
        let descriptor = unnamed >= 0 ? unnamed : open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure(target) }
        defer { close(descriptor) }
        do { try copy(source, to: descriptor, called: target) } catch {
            if unnamed < 0 { unlink(draft) }
            throw error
        }
        func name(_ path: String) -> Bool {
            unnamed < 0
                ? link(draft, path) == 0
                : linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
        }
        defer { unlink(draft) }
        if !replaces {
            // Fails where there is a file, also one that has just come.
            if name(target) { return target }
            // Not every file system has names for one file: then it is looked for first.
            var status = stat()
            if errno == EEXIST || lstat(target, &status) == 0 { throw Self.inTheWay(target) }
        }
        if unnamed >= 0, !name(draft) { throw Self.failure(target) }
        guard rename(draft, target) == 0 else { throw Self.failure(target) }
        return target
    }

    private func copy(_ source: String, to target: Int32, called name: String) throws {
        try Self.read(source) { piece in
            do throws(SystemError) { try Files.writeAll(piece, to: target, name) } catch {
                throw Self.failure(name, error.code)
            }
        }
    }

    /// Calls `body` with the pieces of a file, one after the other.
    private static func read(_ source: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let unreadable = { StartFailure(description: "\(source) cannot be read: \(reason($0)).") }
        let descriptor = open(source, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(errno) }
        defer { close(descriptor) }
        do { try Files.forEachPiece(of: descriptor, nil, source, body) } catch let error as SystemError {
            throw unreadable(error.code)
        }
    }

    /// `true` for what standard output is: `/dev/stdout`, or the file that it was redirected to.
    private static func isStandardOutput(_ status: stat) -> Bool {
        var output = stat()
        return fstat(1, &output) == 0 && (output.st_dev, output.st_ino) == (status.st_dev, status.st_ino)
            && output.st_rdev == status.st_rdev
    }

    private static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func isTerminal(_ path: String) -> Bool {
        let descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        return descriptor >= 0 && isatty(descriptor) == 1
    }

    private static func inTheWay(_ path: String) -> StartFailure {
        StartFailure(description: "\(path) already exists: choose another name, or replace it with --force.")
    }

    private static func failure(_ path: String, _ code: Int32 = errno) -> StartFailure {
        StartFailure(description: "\(path) cannot be written: \(reason(code)).")
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }
}
