internal import HTTPSemantics
internal import Platform

/// The facts about a partial body that decide whether a response continues it.
///
/// Versions are never spliced: the validator must identify the exact bytes (RFC 9110, 8.8.1).
package struct ResumeNote: Hashable, Sendable {
    /// The size in bytes from which an interrupted body is worth storing.
    static let smallestBody = 64 << 10

    /// The entity tag, or the date of the last change where there is none, as sent in `If-Range`.
    package let validator: String
    /// The size of the whole body in bytes. `nil`: the server does not declare it.
    package let total: Int?
    /// The digest of the URL of the response, in hexadecimal.
    package let source: String
    /// The digest of the credentials that the configuration added, in hexadecimal; empty for none. A body fetched with
    /// one user's credentials is not resumed with another's.
    package let login: String

    /// A weak tag says that two bodies are equivalent, not that they are equal; the date does not count then either
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

    /// The meaning of a response to a range request.
    package enum Verdict: Equatable {
        /// Its body is the rest.
        case continues
        /// Its body is the whole.
        case isWhole
        /// It cannot be used: request the whole.
        case unusable
        /// It says nothing about the body.
        case unrelated
    }

    /// `true` when a server may reject a range with this status, so that its response to a request for the whole is
    /// unknown. The other statuses ask for credentials or a later retry.
    package static func refusesRanges(_ status: Int) -> Bool {
        status >= 400 && ![401, 407, 408, 425, 429, 502, 503, 504].contains(status)
    }

    /// Interprets a response to a request for everything from byte `offset` on.
    func verdict(on response: DownloadResponse, offset: Int, length: Int?) -> Verdict {
        switch response.status {
        case 206: break
        case 200, 203: return .isWhole
        // Nothing was asked that this could answer, and it would be answered again.
        case 304 where !response.isConfirmation: return .unusable
        case let status where Self.refusesRanges(status): return .unusable
        default: return .unrelated
        }
        guard let range = Self.range(response.fields["content-range"] ?? ""), range.first == offset,
            response.codings == [], response.foreignCompression == nil,
            Digest(of: response.url).hex == source
        else { return .unusable }
        if let whole = range.total {
            guard range.last == whole - 1, total == nil || total == whole else { return .unusable }
        } else if let total, range.last != total - 1 {
            return .unusable
        }
        if let length, length != range.last - range.first + 1 { return .unusable }
        // A server that answers 206 has to send the tag that it would have sent with 200; the date it may leave out
        // (RFC 9110, 15.3.7).
        let isTag = validator.hasPrefix("\"")
        if isTag, response.etag != validator { return .unusable }
        if !isTag, let modified = response.lastModified, modified != validator { return .unusable }
        return .continues
    }

    /// The parts of `bytes 100-199/200`.
    private static func range(_ text: String) -> (first: Int, last: Int, total: Int?)? {
        guard let match = text.wholeMatch(of: /(?i) *bytes +([0-9]+)-([0-9]+)\/([0-9]+|\*) */),
            let first = Int(match.1), let last = Int(match.2), first <= last
        else { return nil }
        return match.3 == "*" ? (first, last, nil) : Int(match.3).map { (first, last, $0) }
    }

    // MARK: As text

    /// The text form, stored beside the file with the given inode.
    package func text(inode: UInt64) -> String {
        "2\n\(inode)\n\(total.map(String.init) ?? "")\n\(source)\n\(validator)\n\(login)\n"
    }

    package static func read(_ text: String, inode: UInt64) -> ResumeNote? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 7, lines[0] == "2", UInt64(lines[1]) == inode, lines[2].isEmpty || Int(lines[2]) != nil,
            !lines[4].isEmpty
        else { return nil }
        return ResumeNote(
            validator: String(lines[4]), total: Int(lines[2]), source: String(lines[3]), login: String(lines[5]))
    }
}

extension ResumeNote {
    /// Creates the note of a response. `nil`: its body cannot be resumed.
    init?(_ response: DownloadResponse, length: Int?, login: String = "") {
        guard response.status == 200, length.map({ $0 >= Self.smallestBody }) ?? true,
            response.codings == [],
            // Not even a part of it may be stored (RFC 9111, 5.2.2.5).
            response.fields["cache-control"].map({ !CacheControl($0).noStore }) ?? true,
            response.fields["accept-ranges"]?.lowercased().split(separator: ",").contains(where: {
                $0.filter { $0 != " " } == "bytes"
            }) == true, let validator = Self.validator(response)
        else { return nil }
        self.init(validator: validator, total: length, source: Digest(of: response.url).hex, login: login)
    }
}
