internal import ImageEngine
internal import Platform

/// Names of files, from what the user wrote and what servers say.
enum FilePath {
    /// The URL of what the user wrote: itself, or that of the file it names.
    static func url(_ text: String) -> String {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let isURL = !scheme.isEmpty && text.dropFirst(scheme.count).first == ":"
        return isURL ? text : FileURL.text(absolutePath(text))
    }

    /// The last part of a URL's path, as a name that a file may have: never a path, never hidden, never empty.
    static func lastName(of url: String) -> String {
        if url.hasPrefix("data:") { return "data" }
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last ?? ""
        let decoded = String(decoding: percentDecoded(last), as: UTF8.self)
        let plain = String(
            decoded.map { $0 == "/" || $0.isNewline || $0.asciiValue.map { $0 < 32 } == true ? "_" : $0 })
        let visible = plain.drop { $0 == "." }
        return visible.isEmpty ? "image" : String(visible.prefix(120))
    }
}
