internal import Downloading
internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// One recorded download of a ``Tape``: the request and its outcome.
///
/// Its text form is readable: the request line, a blank line, the head of the response as HTTP writes it, a blank line,
/// the body.
struct TapeExchange: Sendable, Equatable {
    /// The outcome of the request.
    enum Outcome: Sendable, Equatable {
        /// A response without its body.
        case answer(status: Int, url: String, fields: [String: String])
        case failure(ImageError)
    }

    /// The requested URL.
    var url: String
    var method = RequestMethod.get
    var outcome: Outcome

    /// The header fields of a response, and its redirects under upper-case names, which no header field has.
    static func fields(of download: Download) -> [String: String] {
        var fields = download.response.fields
        for (number, redirect) in download.route.enumerated() { fields[passed(number)] = redirect.text }
        return fields
    }

    /// Removes the redirects from the fields of a response, and returns them.
    static func takeRoute(from fields: inout [String: String]) -> [RedirectConstraints.Redirect] {
        var route: [RedirectConstraints.Redirect] = []
        while let text = fields.removeValue(forKey: passed(route.count)),
            let redirect = RedirectConstraints.Redirect(text)
        {
            route.append(redirect)
        }
        return route
    }

    private static func passed(_ number: Int) -> String { "REDIRECT \(number + 1)" }

    /// The maximum size of a head that is read, in bytes.
    static let headLimit = 1 << 20

    /// The text before the body.
    var head: [UInt8] {
        var lines = ["\(method.rawValue) \(Self.escaped(url))", ""]
        switch outcome {
        case .answer(let status, let url, let fields):
            lines.append("HTTP \(status) \(Self.escaped(url))")
            // A cookie may identify a user to everybody who gets the tape.
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) where name != "set-cookie" {
                lines.append("\(Self.escaped(name)): \(Self.escaped(value))")
            }
        case .failure(let error):
            let (name, details) = Self.details(of: error)
            lines.append("FAILED \(name)")
            for (key, value) in details { lines.append("\(key): \(Self.escaped(value))") }
        }
        return Array((lines + ["", ""]).joined(separator: "\n").utf8)
    }

    /// Reads the text form.
    ///
    /// - Returns: The exchange, and the offset of the body. `nil`: the text is malformed.
    static func parse(_ text: some RandomAccessCollection<UInt8>) -> (exchange: TapeExchange, bodyStart: Int)? {
        // Each of its two parts ends with a blank line.
        let (head, blank) = (text.prefix(headLimit), Array("\n\n".utf8))
        guard let first = head.firstRange(of: blank), let second = head[first.upperBound...].firstRange(of: blank)
        else { return nil }
        let lines = head[..<second.lowerBound]
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard lines.count >= 3, lines[1].isEmpty, let space = lines[0].firstIndex(of: " "),
            let method = RequestMethod(rawValue: String(lines[0][..<space])),
            let url = unescaped(lines[0][space...].dropFirst()), let outcome = outcome(lines[2...], of: url)
        else { return nil }
        let start = text.distance(from: text.startIndex, to: second.upperBound)
        return (TapeExchange(url: url, method: method, outcome: outcome), start)
    }

    private static func outcome(_ lines: ArraySlice<String>, of url: String) -> Outcome? {
        guard let first = lines.first else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), let name = unescaped(line[..<colon]),
                let value = unescaped(line[colon...].dropFirst().drop { $0 == " " })
            else { return nil }
            fields[name] = value
        }
        let words = first.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        switch words.first {
        case "HTTP":
            guard words.count == 3, let status = Int(words[1]), let final = unescaped(words[2]) else { return nil }
            return .answer(status: status, url: final, fields: fields)
        case "FAILED": return words.count == 2 ? error(String(words[1]), fields, url).map(Outcome.failure) : nil
        default: return nil
        }
    }

    // MARK: Errors

    private static func details(of error: ImageError) -> (name: String, details: [(String, String)]) {
        let first = error.first
        switch first {
        case .invalidStatusCode(let status, _, let seconds):
            return (first.name, [("status", "\(status)")] + (seconds.map { [("retryAfter", "\($0)")] } ?? []))
        case .timedOut(_, let option, let seconds):
            return (first.name, [("option", option), ("seconds", "\(seconds)")])
        case .limitExceeded(let limit, let reason, _): return (first.name, [("limit", limit), ("reason", reason)])
        case .connectionFailed(_, let reason), .tlsFailed(_, let reason), .forbiddenAddress(_, let reason),
            .badData(let reason, _, _), .invalidURL(_, let reason):
            return (first.name, [("reason", reason)])
        default: return (first.name, [])
        }
    }

    private static func error(_ name: String, _ details: [String: String], _ url: String) -> ImageError? {
        let reason = details["reason"] ?? ""
        switch name {
        case "invalidStatusCode":
            return details["status"].flatMap { Int($0) }.map {
                .invalidStatusCode($0, url: url, retryAfter: details["retryAfter"].flatMap(Double.init))
            }
        case "timedOut":
            return .timedOut(
                url: url, option: details["option"] ?? "timeout", seconds: details["seconds"].flatMap(Double.init) ?? 0)
        case "limitExceeded": return .limitExceeded(limit: details["limit"] ?? "", reason: reason, source: url)
        case "tlsFailed": return .tlsFailed(url: url, reason: reason)
        case "forbiddenAddress": return .forbiddenAddress(url: url, reason: reason)
        case "badData": return .badData(reason: reason, source: url)
        case "invalidURL": return .invalidURL(url, reason: reason)
        case "notModified": return .notModified(url: url)
        case "downloadCancelledBeforeStarting": return .downloadCancelledBeforeStarting(url: url)
        case "connectionFailed": return .connectionFailed(url: url, reason: reason)
        default: return nil
        }
    }

    // MARK: Text

    /// The text with control characters and percent signs replaced by a percent sign and two hexadecimal digits (RFC
    /// 3986, 2.1).
    private static func escaped(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x25 && $0 != 0x7F }) { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte >= 0x20, byte != 0x25, byte != 0x7F {
                bytes.append(byte)
            } else {
                bytes += percentEncoding(of: byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The inverse of ``escaped(_:)``. `nil`: the text is not a result of it.
    private static func unescaped(_ text: Substring) -> String? {
        guard text.utf8.contains(0x25) else { return String(text) }
        let plain = String(decoding: percentDecoded(text), as: UTF8.self)
        return escaped(plain) == text ? plain : nil
    }
}

extension RedirectConstraints.Redirect {
    /// One line for the status, then one for each field.
    var text: String {
        (["\(status)"] + fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }).joined(separator: "\n")
    }

    /// Reads the text form. `nil`: it is malformed.
    init?(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let status = lines.first.flatMap({ Int($0) }) else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            fields[String(line[..<colon])] = String(line[colon...].dropFirst(2))
        }
        self.init(status: status, fields: fields)
    }
}
