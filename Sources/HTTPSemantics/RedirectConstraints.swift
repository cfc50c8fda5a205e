internal import Platform

/// What limits the use of an answer beside its own fields: the redirects that led to it, each of which is an answer with a
/// time of its own (RFC 9111, 3 and 4), and a request that wants nothing kept (5.2.1.5). A plain value.
package struct RedirectConstraints: Sendable, Equatable {
    /// An answer that led elsewhere.
    package struct Redirect: Sendable, Equatable {
        package let status: Int
        /// The fields that say for how long and for whom, names in small letters.
        package let fields: [String: String]

        /// An answer with such fields, of which only those are kept that count here.
        package init(status: Int, fields: [String: String]) {
            self.status = status
            self.fields = fields.filter { Self.names.contains($0.key) }
        }

        /// A line for the status, and one for each field.
        package var text: String {
            (["\(status)"] + fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }).joined(separator: "\n")
        }

        /// Reads a text; nil for what is none.
        package init?(_ text: String) {
            let lines = text.split(separator: "\n")
            guard let status = lines.first.flatMap({ Int($0) }) else { return nil }
            var fields: [String: String] = [:]
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { return nil }
                fields[String(line[..<colon])] = String(line[colon...].dropFirst(2))
            }
            self.init(status: status, fields: fields)
        }

        private static let names: Set = ["cache-control", "expires", "date", "age", "vary"]
    }

    /// Whether a redirect led to the answer.
    package private(set) var isRedirected = false
    /// What all of them allow: for `max-age` seconds from when the answer came they need not be asked again.
    private(set) var control = CacheControl("")
    /// What they were chosen by, in small letters.
    private(set) var vary: Set<String> = []

    /// Nothing but the answer.
    private init() {
        control.staleWhileRevalidate = HTTPFreshness.longest
        control.staleIfError = HTTPFreshness.longest
    }

    /// What limits an answer that came at `wall`, in seconds since 1970; nil if nothing does.
    ///
    /// - Parameter wanted: What the request said; nil if that does not count.
    package init?(_ redirects: [Redirect], wanted: CacheControl?, at wall: Int) {
        guard !redirects.isEmpty || wanted?.noStore == true else { return nil }
        self.init()
        isRedirected = !redirects.isEmpty
        for redirect in redirects { pass(redirect, at: wall) }
        if wanted?.noStore == true { control.noStore = true }
    }

    private mutating func pass(_ redirect: Redirect, at wall: Int) {
        let answer = HTTPMetadata(
            redirect.fields, status: redirect.status, to: HTTPScope(), at: 0, wall: wall)
        vary.formUnion(answer.vary)
        let freshness = answer.freshness(lastModified: nil)
        let isTimed = freshness.control.maxAge != nil || answer.expires != nil
        let isForGood = [301, 308].contains(redirect.status) && !isTimed
        control.tighten(by: freshness.control, mayBeStale: isForGood)
        if isForGood { return }
        control.maxAge = min(control.maxAge ?? .max, max(0, freshness.lifetime - answer.initialAge))
    }

    // MARK: As text

    /// One line that says all of it but ``vary``.
    package var text: String {
        var words = isRedirected ? ["redirected"] : []
        if let seconds = control.maxAge { words.append("max-age=\(seconds)") }
        if control.noStore { words.append("no-store") }
        if control.noCache { words.append("no-cache") }
        if control.mustRevalidate { words.append("must-revalidate") }
        words.append("stale-while-revalidate=\(control.staleWhileRevalidate)")
        words.append("stale-if-error=\(control.staleIfError)")
        return words.joined(separator: ", ")
    }

    /// Reads a text.
    package init(_ text: String, vary: Set<String>) {
        isRedirected = text.hasPrefix("redirected")
        control = CacheControl(text)
        self.vary = vary
    }
}

extension CacheControl {
    /// Takes over what is stricter in another answer that is used together with this one, but for how long it is fresh.
    ///
    /// - Parameter mayBeStale: Whether the other one never gets stale.
    mutating func tighten(by other: CacheControl, mayBeStale: Bool = false) {
        noStore = noStore || other.noStore
        noCache = noCache || other.noCache
        mustRevalidate = mustRevalidate || other.mustRevalidate
        if mayBeStale { return }
        staleWhileRevalidate = min(staleWhileRevalidate, other.staleWhileRevalidate)
        staleIfError = min(staleIfError, other.staleIfError)
    }
}
