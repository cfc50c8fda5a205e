/// The time for which a response may be reused without revalidation (RFC 9111, 4.2).
///
/// Every time span is clamped to 68 years, so that no header can make a sum overflow.
package struct HTTPFreshness: Sendable, Equatable {
    /// The permitted use of a stored response.
    package enum Verdict: Sendable, Equatable {
        /// It may be used.
        case fresh
        /// It may be used now and must be refreshed at once.
        case staleWhileRevalidate
        /// It may be used only after revalidation.
        case mustRevalidate
        /// It must not have been stored at all.
        case notStorable
    }

    /// What a freshness lifetime comes from.
    package enum Basis: Sendable {
        case maxAge, expires, lastModified, redirect
        /// No header field names one.
        case nothing
    }

    /// The longest time span, in seconds (RFC 9111, 1.2.2).
    package static let longest = 1 << 31
    /// The longest heuristic freshness lifetime: a day, in seconds.
    static let longestGuess = 86_400

    /// The freshness lifetime in seconds, counted from the response's date.
    package let lifetime: Int
    /// What the lifetime comes from.
    package let basis: Basis
    /// The directives of the server, restricted by those of the redirects.
    package let control: CacheControl
    /// `true` for a part of a body, which never answers a request for the whole (RFC 9111, 3.4).
    let isPartial: Bool

    /// The statuses with a heuristic freshness lifetime (RFC 9110, 15.1).
    private static let guessable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// Computes the freshness of a response.
    ///
    /// - Parameters:
    ///   - date: Its `Date` in seconds since 1970, or the time of its arrival.
    ///   - lastModified: Its `Last-Modified`. The heuristic lifetime is a tenth of the time since then.
    ///   - route: The directives of the redirects that led to it, with `max-age` counted from its arrival.
    ///   - initialAge: Its age on arrival, in seconds.
    package init(
        cacheControl: String?, expires: String?, date: Int, lastModified: String?, status: Int = 200,
        route: CacheControl? = nil, initialAge: Int = 0
    ) {
        var control = CacheControl(cacheControl ?? "")
        isPartial = status == 206
        var (lifetime, basis) = (0, Basis.nothing)
        if let maxAge = control.maxAge {
            (lifetime, basis) = (maxAge, .maxAge)
        } else if let expires {
            // An invalid date, such as "0", means already expired.
            (lifetime, basis) = (HTTPDate.exactSeconds(expires).map { Self.span(from: date, to: $0) } ?? 0, .expires)
        } else if let changed = lastModified.flatMap(HTTPDate.seconds), Self.guessable.contains(status) {
            (lifetime, basis) = (min(Self.span(from: changed, to: date) / 10, Self.longestGuess), .lastModified)
        }
        if let route { control.tighten(by: route) }
        let limit = route?.maxAge.map { Self.clamped(Self.clamped(initialAge) + $0) } ?? .max
        if limit < lifetime { (lifetime, basis) = (limit, .redirect) }
        (self.lifetime, self.basis, self.control) = (lifetime, basis, control)
    }

    /// The permitted use of a response that is `age` seconds old.
    package func verdict(age: Int) -> Verdict {
        if control.noStore || isPartial { return .notStorable }
        if control.noCache { return .mustRevalidate }
        if age < lifetime { return .fresh }
        if control.mustRevalidate { return .mustRevalidate }
        return staleness(age: age) < control.staleWhileRevalidate ? .staleWhileRevalidate : .mustRevalidate
    }

    /// `true` when a response that is `age` seconds old may be used after its revalidation has failed (RFC 5861, 4).
    ///
    /// - Parameter seconds: The seconds past freshness that the caller accepts, even when the server names fewer.
    package func mayBeUsedAfterError(age: Int, staleFor seconds: Int = 0) -> Bool {
        mayBeUsed(age: age, staleFor: max(control.staleIfError, seconds) - 1)
    }

    /// `true` when a response that is `age` seconds old may be used without revalidation by a caller who accepts it
    /// `seconds` past freshness (RFC 9111, 4.2.4). `must-revalidate` and `no-cache` exclude that.
    package func mayBeUsed(age: Int, staleFor seconds: Int) -> Bool {
        if control.noStore || control.noCache || isPartial { return false }
        return age < lifetime || !control.mustRevalidate && staleness(age: age) <= seconds
    }

    /// The number of seconds by which a response that is `age` seconds old is past freshness.
    package func staleness(age: Int) -> Int { max(0, Self.clamped(age) - lifetime) }

    /// The age of a response on arrival, in seconds (RFC 9111, 4.2.3).
    ///
    /// - Parameters:
    ///   - date: Its `Date`, in seconds since 1970.
    ///   - moment: Its arrival, in seconds since 1970.
    ///   - delay: The number of seconds between request and arrival.
    static func initialAge(age: String?, date: Int?, at moment: Int, delay: Int = 0) -> Int {
        // Repeated fields are joined by commas, and the first one counts. A value that is not a number is ignored.
        let first = age?.split(separator: ",").first.map { $0.filter { !$0.isWhitespace } }
        let corrected = clamped(CacheControl.seconds(first) ?? 0) + clamped(delay)
        return clamped(max(corrected, date.map { span(from: $0, to: moment) } ?? 0))
    }

    /// The number of seconds from one moment to a later one; 0 when it is not later.
    package static func span(from start: Int, to end: Int) -> Int {
        let (span, overflow) = end.subtractingReportingOverflow(start)
        return overflow ? (end > start ? longest : 0) : clamped(span)
    }

    /// The time span, limited to a range in which sums cannot overflow.
    package static func clamped(_ span: Int) -> Int { min(max(span, 0), longest) }
}
