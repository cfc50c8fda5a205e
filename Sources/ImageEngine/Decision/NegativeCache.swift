internal import Platform

/// Failures that would come again, for as long as their requests want them remembered: a plain value.
struct NegativeCache: Sendable {
    /// The facts that two requests share which would fail alike: all that is sent, and what their bytes must be.
    struct Request: Hashable, Sendable {
        let download: DownloadRequest
        let integrity: Integrity?
        /// `true` when its picture must be one that can be decoded.
        let isDecoded: Bool

        /// A request as any caller may have sent it.
        init(_ download: DownloadRequest, _ options: ImageOptions) {
            self.download = download.common
            integrity = options.lookup.integrity
            isDecoded = options.lookup.verifyDecode == true
        }
    }

    private struct Memory: Sendable {
        let error: ImageError
        /// The cache key that the image was to have.
        let key: String
        let end: Int
        let number: UInt64
    }

    /// The largest number of failures; beyond it the oldest is forgotten, in O(`limit`).
    let limit: Int
    private var memories: [Request: Memory] = [:]
    private var last: UInt64 = 0

    /// Remembers nothing yet.
    init(limit: Int = 1024) { self.limit = limit }

    /// The number of remembered failures.
    ///
    /// - Parameter now: Nanoseconds of a clock that never goes back.
    func count(now: Int) -> Int { memories.values.count { now < $0.end } }

    /// The remembered failures, the oldest first.
    ///
    /// - Parameter now: Nanoseconds of a clock that never goes back.
    func list(now: Int) -> [RememberedFailure] {
        memories.sorted { $0.value.number < $1.value.number }.compactMap { request, memory in
            guard now < memory.end else { return nil }
            return RememberedFailure(
                url: request.download.url, key: memory.key, error: memory.error,
                seconds: Double(memory.end - now) / 1e9)
        }
    }

    /// Forgets the failures of a URL or of a cache key; all when `nil`.
    ///
    /// - Returns: The number of failures that were remembered.
    mutating func remove(_ name: String?, now: Int) -> Int {
        let before = count(now: now)
        if let name = name.map({ ExactText($0) }) {
            for (request, memory) in memories
            where ExactText(request.download.url) == name || ExactText(memory.key) == name { memories[request] = nil }
        } else {
            memories = [:]
        }
        return before - count(now: now)
    }

    /// The failure of the request, unless it was too long ago.
    mutating func failure(of request: Request, now: Int) -> ImageError? {
        guard let memory = memories[request] else { return nil }
        if now < memory.end { return memory.error }
        memories[request] = nil
        return nil
    }

    /// Remembers a failure, if it is one that would come again.
    ///
    /// - Parameters:
    ///   - key: The cache key that the image was to have.
    ///   - seconds: The time for which it is remembered.
    ///   - retryAfter: The seconds after which the server wants to be asked again.
    ///   - now: Nanoseconds of a clock that never goes back.
    mutating func note(
        _ error: ImageError, of request: Request, key: String = "", for seconds: Double, retryAfter: Double? = nil,
        now: Int
    ) {
        let span = Self.span(of: error, seconds, retryAfter: retryAfter)
        // A delegate may decide otherwise the next time.
        guard span > 0, error.wouldComeAgain(hasRetryAfter: retryAfter != nil), request.download.delegates == nil else {
            return
        }
        last += 1
        memories[request] = Memory(error: error, key: key, end: now + Int(min(span, 1e8) * 1e9), number: last)
        if memories.count > limit, let oldest = memories.min(by: { $0.value.number < $1.value.number }) {
            memories[oldest.key] = nil
        }
    }

    /// The time for which a failure is remembered: one of a moment's load as long as the server says, but not for ever;
    /// of others the server may say that it is over sooner.
    private static func span(of error: ImageError, _ seconds: Double, retryAfter: Double?) -> Double {
        guard seconds > 0, let retryAfter else { return seconds }
        return error.isRetryable ? min(retryAfter, longestRetryAfter) : min(retryAfter, seconds)
    }

    /// The longest time for which a server's wish to be left alone is obeyed, in seconds.
    static let longestRetryAfter = 3600.0

    /// Forgets the failures of a cache key; all when `nil`.
    mutating func forget(_ key: CacheKey?) { if !memories.isEmpty { _ = remove(key?.key, now: 0) } }
}

/// A failure that is repeated without asking, for a while.
public struct RememberedFailure: Sendable, Equatable {
    /// The URL that failed.
    public let url: String
    /// The cache key that its image was to have.
    public let key: String
    /// The failure.
    public let error: ImageError
    /// The rest of the time for which it is remembered, in seconds.
    public let seconds: Double
}

extension ImageError {
    /// `true` when the same request would fail in the same way for a while: never what the network or a moment's load may
    /// have done.
    fileprivate func wouldComeAgain(hasRetryAfter: Bool) -> Bool {
        switch self {
        case .badData, .dataModifyingFailed, .forbiddenAddress: true
        case .invalidStatusCode:
            isRetryable
                ? hasRetryAfter && [429, 503].contains(statusCode)
                : statusCode == 501 || statusCode.map((400..<500).contains) == true
        case .limitExceeded(let limit, _, _): ["maxBytes", "maxRedirects", "redirect"].contains(limit)
        default: false
        }
    }
}
