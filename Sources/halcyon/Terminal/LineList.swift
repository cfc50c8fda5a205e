internal import ArgumentParser
internal import Glibc

/// Lists that are read from files: one item a line, without blank lines and lines that begin with `#`.
enum LineList {
    /// The arguments, with `-` replaced by the lines of standard input.
    static func expanded(_ words: [String]) throws -> [String] {
        var lines: [String] = []
        for word in words { lines += word == "-" ? try read(word) : [word] }
        return lines
    }

    /// The items in a file; `-` is standard input.
    static func read(_ path: String) throws -> [String] {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { if descriptor != 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            if count == 0 { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { String($0.drop { $0 == " " || $0 == "\t" }) }.filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    private static func unreadable(_ path: String) -> StartFailure {
        StartFailure(description: "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
}
