/// How long an answer may be used again without asking (RFC 9111, 4.2): a plain value.
///
/// Every span is clamped to 68 years, so that no header can make a sum overflow (reliability C11).
package struct HTTPFreshness: Sendable, Equatable {
    /// What may be done with a stored answer.
    package enum Verdict: Sendable, Equatable {
        /// It may be used.
        case fresh
        /// It may be used now, and is to be asked for anew at once.
        case staleWhileRevalidate
        /// It may be used only after its server has been asked.
        case mustRevalidate
        /// It was not to be kept at all.
        case notStorable
    }

    /// The longest span there is, in seconds (RFC 9111, 1.2.2).
    package static let longest = 1 << 31
    /// The longest freshness that is guessed: a day.
    static let longestGuess = 86_400

    /// For how many seconds it is fresh, from when the server made it.
    package let lifetime: Int
    /// What its server said.
    package let control: CacheControl
    /// Whether it is a part of a body, which is never the answer to a request for the whole (RFC 9111, 3.4).
    let isPartial: Bool

    /// Statuses whose freshness may be guessed (RFC 9110, 15.1).
    private static let guessable: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// The freshness of an answer.
    ///
    /// - Parameters:
    ///   - date: When it was made, in seconds since 1970: its `Date`, or when it came.
    ///   - lastModified: Its `Last-Modified`: what has not changed for long will stay for a tenth of that.
    ///   - route: What limits it besides, with `max-age` from when it came.
    ///   - initialAge: How many seconds old it was when it came.
    package init(
        cacheControl: String?, expires: String?, date: Int, lastModified: String?, status: Int = 200,
        route: CacheControl? = nil, initialAge: Int = 0
    ) {
        var control = CacheControl(cacheControl ?? "")
        isPartial = status == 206
        let lifetime: Int
        if let maxAge = control.maxAge {
            lifetime = maxAge
        } else if let expires {
            // What is no date has passed, as "0".
            lifetime = HTTPDate.exactSeconds(expires).map { Self.span(from: date, to: $0) } ?? 0
        } else if let changed = lastModified.flatMap(HTTPDate.seconds), Self.guessable.contains(status) {
            lifetime = min(Self.span(from: changed, to: date) / 10, Self.longestGuess)
        } else {
            lifetime = 0
        }
        if let route { control.tighten(by: route) }
        self.lifetime = route?.maxAge.map { min(lifetime, Self.clamped(Self.clamped(initialAge) + $0)) } ?? lifetime
        self.control = control
    }

    /// What may be done with an answer that is `age` seconds old.
    package func verdict(age: Int) -> Verdict {
        if control.noStore || isPartial { return .notStorable }
        if control.noCache { return .mustRevalidate }
        if age < lifetime { return .fresh }
        if control.mustRevalidate { return .mustRevalidate }
        return staleness(age: age) < control.staleWhileRevalidate ? .staleWhileRevalidate : .mustRevalidate
    }

    /// Whether the server lets an answer that is `age` seconds old be used when asking has failed (RFC 5861, 4).
    ///
    /// - Parameter seconds: For how long past its time who asks would take it.
    package func mayBeUsedAfterError(age: Int, staleFor seconds: Int = 0) -> Bool {
        if control.noStore || control.noCache || isPartial { return false }
        if age < lifetime { return true }
        return !control.mustRevalidate && staleness(age: age) < max(control.staleIfError, seconds)
    }

    /// Whether an answer that is `age` seconds old may be used unasked by who takes one that has been stale for so many
    /// seconds (RFC 9111, 4.2.4). What must be asked for is not for anybody.
    package func mayBeUsed(age: Int, staleFor seconds: Int) -> Bool {
        if control.noStore || control.noCache || isPartial { return false }
        return age < lifetime || !control.mustRevalidate && staleness(age: age) <= seconds
    }

    /// For how many seconds an answer that is `age` seconds old has not been fresh any more.
    package func staleness(age: Int) -> Int { max(0, Self.clamped(age) - lifetime) }

    /// How old an answer is when it has come (RFC 9111, 4.2.3).
    ///
    /// - Parameters:
    ///   - date: Its `Date`.
    ///   - moment: When it had come; both in seconds since 1970.
    ///   - delay: How many seconds it took from when it was asked for.
    static func initialAge(age: String?, date: Int?, at moment: Int, delay: Int = 0) -> Int {
        // Repeated fields come joined: the first counts. One that is no number is ignored.
        let first = age?.split(separator: ",").first.map { $0.filter { !$0.isWhitespace } }
        let corrected = clamped(CacheControl.seconds(first) ?? 0) + clamped(delay)
        return clamped(max(corrected, date.map { span(from: $0, to: moment) } ?? 0))
    }

    /// The seconds from one moment to a later one; 0 when it is not later.
    package static func span(from start: Int, to end: Int) -> Int {
        let (span, overflow) = end.subtractingReportingOverflow(start)
        return overflow ? (end > start ? longest : 0) : clamped(span)
    }

    /// A span that can be calculated with.
    package static func clamped(_ span: Int) -> Int { min(max(span, 0), longest) }
}
