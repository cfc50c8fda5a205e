internal import ArgumentParser
internal import Glibc
internal import Platform

/// A list that is read from a file: one item a line. Blank lines and lines that begin with `#` are no items.
struct LineList {
    /// The items, in their order.
    private(set) var items: [String] = []
    /// The number of lines without an item: before each item, and in the last place after all of them.
    private(set) var gaps = [0]

    /// The arguments, with `-` replaced by the lines of standard input.
    ///
    /// - Parameter isExact: `true` when blanks around an item belong to it, and a line that begins with `#` is one too.
    init(expanding words: [String], isExact: Bool = false) throws {
        for word in words {
            if word == "-" { try add(linesOf: word, isExact: isExact) } else { add(word) }
        }
    }

    /// The lines of a file; `-` is standard input.
    init(linesOf path: String) throws { try add(linesOf: path, isExact: false) }

    private mutating func add(_ item: String) {
        items.append(item)
        gaps.append(0)
    }

    private mutating func add(linesOf path: String, isExact: Bool) throws {
        var lines = try Self.content(of: path).split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        if lines.last?.isEmpty == true { lines.removeLast() }  // what follows the last line end is no line
        for line in lines {
            let item = isExact ? line : line.trimmingBlanks
            if item.isEmpty || !isExact && item.hasPrefix("#") { gaps[items.count] += 1 } else { add(String(item)) }
        }
    }

    /// The text of a file; `-` is standard input.
    static func content(of path: String) throws -> String {
        let descriptor = path == "-" ? 0 : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { if descriptor != 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        do { try Files.forEachPiece(of: descriptor, nil, path) { bytes += $0 } } catch let error as SystemError {
            throw unreadable(path, error.code)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StartFailure(description: "\(path) is not UTF-8 text, as names of files have to be here.")
        }
        return text
    }

    private static func unreadable(_ path: String, _ code: Int32 = errno) -> StartFailure {
        StartFailure(description: "\(path) cannot be read: \(String(cString: strerror(code))).")
    }
}

extension Substring {
    /// The text without the blanks around it, and without the mark that some editors begin a file with.
    fileprivate var trimmingBlanks: Substring {
        func isBlank(_ character: Character) -> Bool { character == "\u{FEFF}" || character.isWhitespace }
        let rest = drop(while: isBlank)
        return rest[..<(rest.lastIndex { !isBlank($0) }.map(rest.index(after:)) ?? rest.startIndex)]
    }
}
