internal import ImageEngine
internal import Platform

/// URLs and file names made from arguments and from URLs.
enum FilePath {
    /// The URL that an argument names: itself, or the URL of the file when it is a path.
    static func url(_ text: String) -> String {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let isURL = !scheme.isEmpty && text.dropFirst(scheme.count).first == ":"
        return isURL ? text : FileURL.text(absolutePath(text))
    }

    /// The last part of the path of a URL as a file name: without slashes and leading dots, and never empty.
    static func lastName(of url: String) -> String {
        if url.prefix(5).lowercased() == "data:" { return "data" }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last ?? ""
        let decoded = String(decoding: percentDecoded(last), as: UTF8.self)
        let plain = String(
            decoded.map { $0 == "/" || $0.isNewline || $0.asciiValue.map { $0 < 32 } == true ? "_" : $0 })
        let visible = plain.drop { $0 == "." }
        return visible.isEmpty ? "image" : cut(visible)
    }

    /// The beginning of a name that leaves room for a number and an extension in the 255 bytes of a file name.
    private static func cut(_ name: Substring) -> String {
        var count = 0
        return String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix { scalar in
                    count += UTF8.width(scalar)
                    return count <= 240
                }))
    }
}
