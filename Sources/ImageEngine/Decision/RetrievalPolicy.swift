/// Decides what a request does with what is stored: a plain value.
struct RetrievalPolicy: Sendable, Equatable {
    var mode = Revalidation.never
    /// Nothing may be loaded, and whatever is stored is answered.
    var isOffline = false
    /// Nothing may be loaded.
    var onlyFromCache = false
    /// For how many seconds past its time an image may stand in when loading fails, whatever its server said.
    var staleIfError: Double?
    /// What the request's own `Cache-Control` asks of an answer (RFC 9111, 5.2.1); counts where headers do.
    var wanted: CacheControl?

    /// What is stored.
    struct Entry: Sendable, Equatable {
        /// For how many seconds its time in the cache has been over; nil while it is not.
        var expiredFor: Int?
        /// What its server said; nil when that is not known.
        var freshness: HTTPFreshness?
        /// How many seconds old it is: since the server made it, or when that is not known since it was stored.
        var age = 0
        /// Whether the request may be given it at all: see ``HTTPMetadata/suits(_:)``.
        var suits = true
        /// Whether it was fetched with credentials that the request does not have: then nothing else counts.
        var isForeign = false
        /// Whether the server can be asked if it has changed.
        var hasValidators = false

        fileprivate func httpVerdict(for wanted: CacheControl?) -> HTTPFreshness.Verdict {
            guard let freshness else { return .mustRevalidate }
            let verdict = freshness.verdict(age: age)
            guard let wanted, verdict != .notStorable else { return verdict }
            let isAsWanted =
                !wanted.noCache && age <= wanted.maxAge ?? .max
                && (wanted.minFresh == 0 || freshness.lifetime - age >= wanted.minFresh)
            return isAsWanted ? verdict : .mustRevalidate
        }

        /// Whether its being stale is no matter to the request.
        fileprivate func isStaleAsWanted(_ wanted: CacheControl?) -> Bool {
            guard let wanted, let maxStale = wanted.maxStale, let freshness, expiredFor == nil else { return false }
            return !wanted.noCache && age <= wanted.maxAge ?? .max && wanted.minFresh == 0
                && freshness.mayBeUsed(age: age, staleFor: maxStale)
        }
    }

    enum Verdict: Sendable, Equatable {
        /// Answer with it. Stale is what the request would have had checked or loaded anew.
        case answer(isStale: Bool)
        /// Answer with it, which is stale, and load it anew behind the answer.
        case answerAndRefresh
        /// Ask the server whether it has changed.
        case revalidate
        /// Load the image.
        case load
    }

    /// What is to be done.
    ///
    /// - Parameter entry: nil if nothing is stored.
    func verdict(_ entry: Entry?) -> Verdict {
        guard let entry else { return .load }
        if entry.isForeign || !entry.suits && mode == .http { return .load }
        let isGood = isGood(entry)
        if isOffline { return .answer(isStale: !isGood) }
        if onlyFromCache { return entry.expiredFor == nil ? .answer(isStale: !isGood) : .load }
        if isGood { return .answer(isStale: false) }
        let staysHere = mode == .http && wanted?.onlyIfCached == true
        let ask = entry.hasValidators && entry.suits && !staysHere ? Verdict.revalidate : .load
        switch mode {
        case .never: return .load
        case .ifExpired, .always: return ask
        case .http:
            switch entry.httpVerdict(for: wanted) {
            case .notStorable: return .load
            // A refresh behind the answer is for the next one; who is content with what is stored asks for none.
            case .staleWhileRevalidate where entry.expiredFor == nil:
                return staysHere ? .answer(isStale: true) : .answerAndRefresh
            case .fresh, .staleWhileRevalidate, .mustRevalidate:
                return entry.isStaleAsWanted(wanted) ? .answer(isStale: true) : ask
            }
        }
    }

    /// Whether it may be answered without asking.
    private func isGood(_ entry: Entry) -> Bool {
        guard entry.expiredFor == nil else { return false }
        switch mode {
        case .never, .ifExpired: return true
        case .always:
            return entry.suits && entry.freshness?.control.immutable == true && entry.httpVerdict(for: nil) == .fresh
        case .http: return entry.httpVerdict(for: wanted) == .fresh
        }
    }

    /// Whether it may stand in when loading has failed (RFC 5861, 4).
    ///
    /// What the option allows counts even where the server forbids it: whoever asks for an old image knows that it is one.
    /// A header of the request allows what HTTP does.
    func mayStandIn(_ entry: Entry, after error: ImageError) -> Bool {
        guard !entry.isForeign, entry.suits || mode == .never, error.first.isServersTrouble else { return false }
        let pastServersTime = mode == .http ? entry.freshness?.staleness(age: entry.age) ?? entry.age : 0
        let staleness = max(pastServersTime, entry.expiredFor ?? 0)
        if let staleIfError, Double(staleness) < staleIfError { return true }
        guard mode == .http, entry.expiredFor == nil else { return false }
        let asked = wanted?.staleIfError ?? 0
        return entry.freshness?.mayBeUsedAfterError(age: entry.age, staleFor: asked) ?? (entry.age < asked)
    }
}

extension ImageError {
    /// The status that was not accepted.
    var statusCode: Int? {
        if case .invalidStatusCode(let status, _, _) = self { status } else { nil }
    }

    /// Whether the server could not be reached, or has a trouble of its own.
    var isServersTrouble: Bool {
        switch self {
        case .connectionFailed, .timedOut: true
        case .invalidStatusCode: [500, 502, 503, 504].contains(statusCode)
        default: false
        }
    }
}
