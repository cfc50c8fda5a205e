internal import HTTPSemantics
internal import Platform

/// What is known of a body that was begun, and decides whether an answer goes on with it: a plain value.
///
/// Versions are never spliced: only a validator that is the same for the same bytes will do (C-16, RFC 9110, 8.8.1).
package struct ResumeNote: Hashable, Sendable {
    /// The number of bytes from which a body that broke off is worth keeping.
    static let smallestBody = 64 << 10

    /// The entity tag, or the date of the last change where there is none: what `If-Range` asks with.
    package let validator: String
    /// Bytes of the whole body; nil when the server does not say.
    package let total: Int?
    /// The digest of the URL that answered, in hexadecimal.
    package let source: String
    /// The digest of the credentials that the configuration gave it, in hexadecimal; empty for none. What was begun with
    /// one user's is not gone on with by another.
    package let login: String

    /// The note for an answer, if its body can be gone on with later.
    ///
    /// - Parameters:
    ///   - length: Bytes of its body, if known.
    ///   - login: What ``login`` says.
    init?(_ response: DownloadResponse, length: Int?, login: String = "") {
        guard response.status == 200, length.map({ $0 >= Self.smallestBody }) ?? true,
            response.compression == nil,
            // Not even a part of it (RFC 9111, 5.2.2.5).
            response.fields["cache-control"].map({ !CacheControl($0).noStore }) ?? true,
            response.fields["accept-ranges"]?.lowercased().split(separator: ",").contains(where: {
                $0.filter { $0 != " " } == "bytes"
            }) == true, let validator = Self.validator(response)
        else { return nil }
        self.validator = validator
        total = length
        source = Digest(of: response.url).hex
        self.login = login
    }

    private init(validator: String, total: Int?, source: String, login: String) {
        (self.validator, self.total, self.source, self.login) = (validator, total, source, login)
    }

    /// A weak tag says that two bodies mean the same, not that they are the same; then the date does not count either
    /// (RFC 9110, 13.1.5). A date counts if the body was a second old when it was sent (8.8.2.2).
    private static func validator(_ response: DownloadResponse) -> String? {
        if let etag = response.etag {
            return etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.utf8.count >= 2 ? etag : nil
        }
        guard let modified = response.lastModified, let date = response.fields["date"],
            let changed = HTTPDate.seconds(modified), let sent = HTTPDate.seconds(date), sent - changed >= 1
        else { return nil }
        return modified
    }

    /// What to do with an answer to a request for the rest.
    package enum Verdict: Equatable {
        /// Its body is the rest.
        case goesOn
        /// It is the whole body, anew.
        case begins
        /// It is of no use: ask for the whole.
        case isUseless
        /// It says nothing about the body.
        case isOther
    }

    /// Whether a server may refuse a range like that: then it is not known what it would say of the whole. The others want
    /// credentials or patience.
    package static func refusesRanges(_ status: Int) -> Bool {
        status >= 400 && ![401, 407, 408, 425, 429, 502, 503, 504].contains(status)
    }

    /// Judges an answer to a request for everything from byte `offset` on.
    func judge(_ response: DownloadResponse, offset: Int, length: Int?) -> Verdict {
        switch response.status {
        case 206: break
        case 200, 203: return .begins
        case let status where Self.refusesRanges(status): return .isUseless
        default: return .isOther
        }
        guard let range = Self.range(response.fields["content-range"] ?? ""), range.first == offset,
            response.compression == nil,
            Digest(of: response.url).hex == source
        else { return .isUseless }
        if let whole = range.total {
            guard range.last == whole - 1, total == nil || total == whole else { return .isUseless }
        } else if let total, range.last != total - 1 {
            return .isUseless
        }
        if let length, length != range.last - range.first + 1 { return .isUseless }
        // A server that answers 206 has to send the tag that it would have sent with 200; the date it may leave out
        // (RFC 9110, 15.3.7).
        let isTag = validator.hasPrefix("\"")
        if isTag, response.etag != validator { return .isUseless }
        if !isTag, let modified = response.lastModified, modified != validator { return .isUseless }
        return .goesOn
    }

    /// The parts of `bytes 100-199/200`.
    private static func range(_ text: String) -> (first: Int, last: Int, total: Int?)? {
        let words = text.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]), first <= last else {
            return nil
        }
        if parts[1] == "*" { return (first, last, nil) }
        guard let total = number(parts[1]) else { return nil }
        return (first, last, total)
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int(text) : nil
    }

    // MARK: As text

    /// The note and what file it is about, as it is kept beside that.
    package func text(inode: UInt64) -> String {
        "2\n\(inode)\n\(total.map(String.init) ?? "")\n\(source)\n\(validator)\n\(login)\n"
    }

    /// Reads a note that is kept beside a file.
    package static func read(_ text: String, inode: UInt64) -> ResumeNote? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 7, lines[0] == "2", UInt64(lines[1]) == inode, lines[2].isEmpty || Int(lines[2]) != nil,
            !lines[4].isEmpty
        else { return nil }
        return ResumeNote(
            validator: String(lines[4]), total: Int(lines[2]), source: String(lines[3]), login: String(lines[5]))
    }
}
