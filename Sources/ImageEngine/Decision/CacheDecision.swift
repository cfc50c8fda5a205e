/// The decision about a cached entry for a request, with its reason. It is the only one: the hit on the reader thread,
/// loads, made variants, `probe`, `prefetch` and `explain` all use it; what ``CacheLookup/glance(at:in:options:needs:burst:)``
/// cannot tell without waiting is left to the load. A plain value.
struct CacheDecision: Sendable, Equatable {
    enum Action: Sendable, Equatable {
        /// Answers with the stored image. `isStale` is `true` when the request wanted it revalidated or loaded.
        case answer(isStale: Bool)
        /// Answers with the stored image, which is stale, and refreshes it in the background.
        case answerAndRefresh
        /// Asks the server whether the stored image has changed.
        case revalidate
        /// Loads the image.
        case load
        /// Fails, because nothing may be loaded.
        case fail
    }

    enum Reason: Sendable, Equatable {
        case nothingStored
        /// The request ignores cached images.
        case forced
        /// The image was fetched with credentials that the request does not have, or without the ones that it has.
        case foreign
        /// The bytes match none of the digests of `integrity`.
        case otherBytes
        /// The image could not be decoded, and the request requires decoding.
        case damaged
        /// The image was stored for a request with other `Vary` fields, or another method or body.
        case otherRequest
        /// The image is fresh by the rules of the request.
        case fresh
        /// The image is expired or stale.
        case stale
        /// The image is stale, and nothing may be loaded.
        case cacheOnly
        /// The image is stale, and the request accepts that (`max-stale`).
        case acceptedStale
        /// The image is stale, and its server allows its use while it is refreshed.
        case staleWhileRevalidate
    }

    let action: Action
    let reason: Reason

    /// `true` when an image is stored that may answer the request once its server has said so.
    fileprivate var hasUsableEntry: Bool { ![.nothingStored, .foreign, .otherBytes, .damaged].contains(reason) }

    /// `true` when the stored image is answered as it is, and is not stale.
    var isFreshAnswer: Bool { action == .answer(isStale: false) }
}

/// The rules of a request: the caller's side of a ``CacheDecision``. A plain value.
struct RetrievalPolicy: Sendable, Equatable {
    /// The rule for revalidating a stored image.
    var mode = Revalidation.never
    /// `true` when cached images are ignored, unless nothing can be loaded (``isOffline``).
    var isForced = false
    /// `true` when nothing may be loaded, and a stored image answers even if it is expired.
    var isOffline = false
    /// `true` when nothing may be loaded, and an expired image does not answer.
    var onlyFromCache = false
    /// The number of seconds past its expiry for which an image may answer after a failure, regardless of its server; with
    /// `nil`, its server decides.
    var staleIfError: Double?
    /// The request's own `Cache-Control` (RFC 9111, 5.2.1), when it follows HTTP.
    var wanted: CacheControl?

    /// The stored entry's side of a ``CacheDecision``.
    struct Entry: Sendable, Equatable {
        /// The number of seconds since the entry expired; `nil` while it has not.
        var expiredFor: Int?
        /// The server's statements about freshness; `nil` when unknown.
        var freshness: HTTPFreshness?
        /// The age of the server's response in seconds, or the time since it was stored when that is unknown.
        var age = 0
        /// `true` when method, body and `Vary` fields match the request; see ``HTTPMetadata/suits(_:)``.
        var suits = true
        /// `true` when the image must not be answered before its server permits it; see ``RequestScopes/isForeign(_:to:)``.
        var isForeign = false
        /// `true` when the server can be asked whether a request that has a user may be answered with a foreign image.
        var mayBePermitted = false
        /// `true` when the server can be asked whether the image has changed.
        var hasValidators = false
        /// `false` when the bytes match none of the request's digests.
        var isIntegral = true
        /// `true` when the image is known to be undecodable, and the request requires decoding.
        var isDamaged = false
        /// `true` when decoding the image has been tried, with either result.
        var isDecoded = false

        /// The reason why the entry can never answer the request; `nil` when there is none.
        fileprivate var refusal: CacheDecision.Reason? {
            isForeign ? .foreign : !isIntegral ? .otherBytes : isDamaged ? .damaged : nil
        }

        fileprivate func httpVerdict(for wanted: CacheControl?) -> HTTPFreshness.Verdict {
            guard let freshness else { return .mustRevalidate }
            let verdict = freshness.verdict(age: age)
            guard let wanted, verdict != .notStorable else { return verdict }
            // Who says how old an image may be wants none that is stale, but with `max-stale` (RFC 9111, 5.2.1.1).
            let isAsWanted =
                !wanted.noCache && age <= wanted.maxAge ?? .max
                && (verdict == .fresh || wanted.maxAge == nil || isStaleAsWanted(wanted))
                && (wanted.minFresh == 0 || freshness.lifetime - age >= wanted.minFresh)
            return isAsWanted ? verdict : .mustRevalidate
        }

        /// `true` when the request accepts the entry's staleness.
        fileprivate func isStaleAsWanted(_ wanted: CacheControl?) -> Bool {
            guard let wanted, let maxStale = wanted.maxStale, let freshness, expiredFor == nil else { return false }
            return !wanted.noCache && age <= wanted.maxAge ?? .max && wanted.minFresh == 0
                && freshness.mayBeUsed(age: age, staleFor: maxStale)
        }
    }

    /// `true` when an expired entry matters: it may be revalidated, or answer when nothing can be loaded.
    var usesExpired: Bool { mode != .never || isOffline || staleIfError != nil }

    /// `true` when nothing may be loaded, and a request that the cache cannot answer fails.
    var staysInCache: Bool { onlyFromCache || mode == .http && wanted?.onlyIfCached == true }

    /// `true` when the image is loaded although the cache cannot be looked into.
    func mayLoad(after error: ImageError) -> Bool { error.leavesStorageUnused && !onlyFromCache && !isOffline }

    /// `true` when cached images play no part.
    var ignoresCache: Bool { isForced && !isOffline }

    /// `true` when the image may be copied from the cache that `originalCache` names instead of being loaded.
    func mayCopyFromOtherCache(_ decision: CacheDecision) -> Bool {
        switch decision.action {
        case .answer, .answerAndRefresh: return false
        case .revalidate, .load, .fail: break
        }
        // A stale entry is revalidated rather than replaced by an image of another cache.
        return !isForced && (mode == .never || !decision.hasUsableEntry && (mode == .ifExpired || isOffline))
    }

    /// The decision about a stored entry, or that nothing is stored.
    func decision(for entry: Entry?) -> CacheDecision {
        let decided = CacheDecision.init(action:reason:)
        let load = staysInCache ? CacheDecision.Action.fail : .load
        guard let entry else { return decided(load, .nothingStored) }
        if ignoresCache { return decided(load, .forced) }
        if entry.isForeign, entry.mayBePermitted, entry.isIntegral, !entry.isDamaged, !staysInCache {
            return decided(.revalidate, .foreign)
        }
        if let refusal = entry.refusal { return decided(load, refusal) }
        if !entry.suits, mode == .http { return decided(load, .otherRequest) }
        if isFresh(entry), !isForced { return decided(.answer(isStale: false), .fresh) }
        if isOffline { return decided(.answer(isStale: true), .cacheOnly) }
        if onlyFromCache {
            return entry.expiredFor == nil ? decided(.answer(isStale: true), .cacheOnly) : decided(.fail, .stale)
        }
        let ask = decided(entry.hasValidators && entry.suits && !staysInCache ? .revalidate : load, .stale)
        switch mode {
        case .never: return decided(load, .stale)
        case .ifExpired, .always: return ask
        case .http:
            switch entry.httpVerdict(for: wanted) {
            case .notStorable: return decided(load, .stale)
            // A background refresh serves the next request; a request that accepts only the cache starts none.
            case .staleWhileRevalidate where entry.expiredFor == nil:
                return decided(staysInCache ? .answer(isStale: true) : .answerAndRefresh, .staleWhileRevalidate)
            case .fresh, .staleWhileRevalidate, .mustRevalidate:
                return entry.isStaleAsWanted(wanted) ? decided(.answer(isStale: true), .acceptedStale) : ask
            }
        }
    }

    /// `true` when the entry may answer without asking its server.
    private func isFresh(_ entry: Entry) -> Bool {
        guard entry.expiredFor == nil else { return false }
        switch mode {
        case .never, .ifExpired: return true
        case .always:
            return entry.suits && entry.freshness?.control.immutable == true && entry.httpVerdict(for: nil) == .fresh
        case .http: return entry.httpVerdict(for: wanted) == .fresh
        }
    }

    /// `true` when a stored image may answer after loading has failed (RFC 5861, 4).
    ///
    /// The option applies in place of what the server says, also where that forbids it, because a caller that sets it says
    /// how old an image it accepts. A header field of the request applies within the rules of HTTP.
    func mayStandIn(_ entry: Entry, after error: ImageError) -> Bool {
        guard entry.refusal == nil, entry.suits || mode == .never, error.first.isServersTrouble else { return false }
        if let staleIfError {
            let pastServersTime = mode == .http ? entry.freshness?.staleness(age: entry.age) ?? entry.age : 0
            return Double(max(pastServersTime, entry.expiredFor ?? 0)) < staleIfError
        }
        guard mode == .http, entry.expiredFor == nil else { return false }
        let asked = wanted?.staleIfError ?? 0
        return entry.freshness?.mayBeUsedAfterError(age: entry.age, staleFor: asked) ?? (entry.age < asked)
    }
}

extension ImageError {
    /// `true` when the server could not be reached or has an internal problem, also if that is remembered.
    var isServersTrouble: Bool {
        switch self {
        case .connectionFailed, .timedOut: true
        case .invalidStatusCode: [500, 502, 503, 504].contains(statusCode)
        case .remembered(let error): error.isServersTrouble
        default: false
        }
    }
}
