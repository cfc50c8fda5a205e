internal import Glibc
internal import Platform

/// A folder that cannot be a root.
public struct RootError: Error, CustomStringConvertible {
    /// One sentence for the user.
    public let description: String
}

/// The folders below which local pictures are read and files are saved. Links are resolved before a path is judged.
struct WorkspaceRoots: Sendable {
    /// What exists there beside files of users: `/proc` shows memory and secrets, devices may never end.
    private static let refused = ["/proc", "/sys", "/dev"]

    /// A folder as it was named, and as it really is.
    private struct Root: Sendable {
        let named: String
        let real: String
    }

    private let roots: [Root]

    /// - Throws: ``RootError`` for a path that is not a folder.
    init(_ paths: [String]) throws(RootError) {
        var roots: [Root] = []
        for path in paths {
            guard let real = Self.real(path), Self.kind(real) == S_IFDIR else {
                throw RootError(description: "The root \(path) is not a folder; name one with --root.")
            }
            roots.append(Root(named: Self.normalized(path, below: Self.workingFolder), real: real))
        }
        self.roots = roots
    }

    /// The real path of a regular file below a root.
    func file(_ path: String) throws(ToolFailure) -> String {
        let real = try existing(path)
        guard Self.kind(real) == S_IFREG else {
            let isFolder = Self.kind(real) == S_IFDIR
            throw ToolFailure("\(path.excerpt) is \(isFolder ? "a folder" : "not a regular file").")
        }
        return real
    }

    /// The real path of a folder below a root.
    func folder(_ path: String) throws(ToolFailure) -> String {
        let real = try existing(path)
        guard Self.kind(real) == S_IFDIR else { throw ToolFailure("\(path.excerpt) is not a folder.") }
        return real
    }

    /// The real path of the folder that a file is to be saved in, and the name of the file. The folder must exist.
    func target(_ path: String) throws(ToolFailure) -> (folder: String, name: String) {
        if path.isEmpty { throw ToolFailure("The path is empty: give the name of the file to write, such as out.png.") }
        let absolute = try absolute(path)
        let end = absolute.utf8.lastIndex(of: Self.slash) ?? absolute.startIndex
        let name = String(absolute[absolute.utf8.index(after: end)...])
        guard !name.isEmpty, path.utf8.last != Self.slash else { throw ToolFailure("\(path.excerpt) names no file.") }
        let parent = end == absolute.startIndex ? "/" : String(absolute[..<end])
        let folder = try existing(parent, path, "The folder of \(path.excerpt) does not exist.")
        guard Self.kind(folder) == S_IFDIR else { throw ToolFailure("The folder of \(path.excerpt) is not a folder.") }
        // In hidden folders and files, programs keep what they do: hooks, settings, keys.
        let root = roots.first { Self.contains($0.real, folder) }?.real ?? ""
        let rest = Substring(folder.utf8.dropFirst(root.utf8.count))
        guard !(Self.parts(rest) + [name[...]]).contains(where: { $0.utf8.first == UInt8(ascii: ".") }) else {
            throw ToolFailure("\(path.excerpt) is hidden: choose a path without names that begin with a dot.")
        }
        return (folder, name)
    }

    private func existing(_ path: String) throws(ToolFailure) -> String {
        try existing(try absolute(path), path, "There is no file \(path.excerpt) below the allowed folders.")
    }

    /// The real path of what is there.
    ///
    /// - Parameters:
    ///   - given: The path as it was given.
    ///   - missing: What is said when there is nothing.
    private func existing(_ absolute: String, _ given: String, _ missing: String) throws(ToolFailure) -> String {
        if let real = Self.real(absolute) {
            try check(real, given)
            return real
        }
        // Whether there is something where a link leads outside is not told.
        if (try? Files.kind(absolute)) != nil { throw outside(given) }
        var parent = absolute[...]
        while let end = parent.utf8.lastIndex(of: Self.slash), end > parent.startIndex {
            parent = parent[..<end]
            guard let real = Self.real(String(parent)) else { continue }
            try check(real, given)
            break
        }
        throw ToolFailure(missing)
    }

    /// The path without `.` and `..`. A path outside of the roots is refused before anything is looked at, so that nobody
    /// learns what exists there.
    private func absolute(_ path: String) throws(ToolFailure) -> String {
        guard let first = roots.first else {
            throw ToolFailure("Local files cannot be used: the server was started without --root.")
        }
        if path.utf8.contains(0) { throw ToolFailure("The path contains a NUL.") }
        let absolute = Self.normalized(path, below: first.named)
        guard roots.contains(where: { Self.contains($0.named, absolute) || Self.contains($0.real, absolute) }) else {
            throw outside(path)
        }
        return absolute
    }

    private func check(_ real: String, _ path: String) throws(ToolFailure) {
        guard roots.contains(where: { Self.contains($0.real, real) }),
            !Self.refused.contains(where: { Self.contains($0, real) })
        else { throw outside(path) }
    }

    private func outside(_ path: String) -> ToolFailure {
        ToolFailure(
            "\(path.excerpt) is outside of the allowed folders: \(roots.map(\.named).joined(separator: ", ")).")
    }

    // MARK: Paths as text, byte by byte as the system reads them: a combining mark behind a slash makes another character of
    // both, and texts are equal that name two files.

    private static let slash = UInt8(ascii: "/")

    private static func parts(_ path: Substring) -> [Substring] {
        path.utf8.split(separator: slash).map { Substring($0) }
    }

    private static func contains(_ folder: String, _ path: String) -> Bool {
        let inside = folder.utf8.last == slash ? folder : folder + "/"
        return path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: inside.utf8)
    }

    /// An absolute path without empty parts, `.` and `..`.
    private static func normalized(_ path: String, below folder: String) -> String {
        var kept: [Substring] = []
        for part in parts((path.utf8.first == slash ? path : folder + "/" + path)[...]) where part != "." {
            if part == ".." { _ = kept.popLast() } else { kept.append(part) }
        }
        return "/" + kept.joined(separator: "/")
    }

    private static var workingFolder: String { real(".") ?? "/" }

    /// The path with all links resolved; `nil` when there is nothing.
    private static func real(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    private static func kind(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }
}
