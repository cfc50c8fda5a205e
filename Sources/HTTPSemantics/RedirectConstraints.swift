internal import Platform

/// The constraints on a response beside its own header fields: the redirects that led to it, each of which has a
/// freshness of its own (RFC 9111, 3 and 4), and a request with `no-store` (5.2.1.5).
package struct RedirectConstraints: Sendable, Equatable {
    package struct Redirect: Sendable, Equatable {
        package let status: Int
        /// The header fields that limit its reuse, by lower-case names.
        package let fields: [String: String]

        /// Creates a redirect. Only the header fields that limit its reuse are stored.
        package init(status: Int, fields: [String: String]) {
            self.status = status
            self.fields = fields.filter { Self.names.contains($0.key) }
        }

        private static let names: Set = ["cache-control", "expires", "date", "age", "vary"]
    }

    package private(set) var isRedirected = false
    /// The directives of all redirects together. `max-age` counts from the arrival of the response.
    private(set) var control = CacheControl("")
    /// The lower-case names in `Vary` of all redirects.
    private(set) var vary: Set<String> = []

    private init() {
        control.staleWhileRevalidate = HTTPFreshness.longest
        control.staleIfError = HTTPFreshness.longest
    }

    /// Computes the constraints of a response that arrived at `wall`, in seconds since 1970. `nil`: there are none.
    ///
    /// - Parameter wanted: The `Cache-Control` of the request. `nil`: it does not count.
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
        control.tighten(by: freshness.control, isPermanent: isForGood)
        if isForGood { return }
        control.maxAge = min(control.maxAge ?? .max, max(0, freshness.lifetime - answer.initialAge))
    }

    // MARK: As text

    /// One line that holds everything except ``vary``.
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

    /// Reads the text form.
    package init(_ text: String, vary: Set<String>) {
        isRedirected = text.hasPrefix("redirected")
        control = CacheControl(text)
        self.vary = vary
    }
}

extension CacheControl {
    /// Adopts the stricter directives of another response that is used together with this one, except its `max-age`.
    ///
    /// - Parameter isPermanent: `true` when the other response never becomes stale.
    mutating func tighten(by other: CacheControl, isPermanent: Bool = false) {
        noStore = noStore || other.noStore
        noCache = noCache || other.noCache
        mustRevalidate = mustRevalidate || other.mustRevalidate
        if isPermanent { return }
        staleWhileRevalidate = min(staleWhileRevalidate, other.staleWhileRevalidate)
        staleIfError = min(staleIfError, other.staleIfError)
    }
}
