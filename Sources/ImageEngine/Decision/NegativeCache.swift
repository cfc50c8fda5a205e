internal import Platform
internal import Synchronization

/// Failures that would come again, for as long as their requests want them remembered (D-11, C-09): a plain value.
struct NegativeCache: Sendable {
    /// What two requests have in common that would fail alike: all that is sent, and what their bytes must be.
    struct Request: Hashable, Sendable {
        let download: DownloadRequest
        let integrity: Integrity?
        /// Whether its picture must be one that can be decoded.
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
        /// The cache key that it was to have.
        let key: String
        let end: Int
        let number: UInt64
    }

    /// How many failures are remembered; beyond that the oldest go.
    let limit: Int
    private var memories: [Request: Memory] = [:]
    private var order: [UInt64: Request] = [:]
    private var oldest: UInt64 = 0
    private var last: UInt64 = 0

    /// A memory of nothing.
    init(limit: Int = 1024) { self.limit = limit }

    /// Whether nothing is remembered.
    var isEmpty: Bool { memories.isEmpty }

    /// How many failures are remembered.
    ///
    /// - Parameter now: Nanoseconds of a clock that never goes back.
    func count(now: Int) -> Int { memories.values.count { now < $0.end } }

    /// What is remembered, the oldest first.
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

    /// Forgets the failures of a URL or of a cache key; all when nil.
    ///
    /// - Returns: How many there were.
    mutating func remove(_ name: String?, now: Int) -> Int {
        let before = count(now: now)
        if let name = name.map({ ExactText($0) }) {
            for (request, memory) in memories
            where ExactText(request.download.url) == name || ExactText(memory.key) == name { forget(request) }
        } else {
            removeAll()
        }
        return before - count(now: now)
    }

    /// What the request failed with, unless that was too long ago.
    mutating func failure(of request: Request, now: Int) -> ImageError? {
        guard let memory = memories[request] else { return nil }
        if now < memory.end { return memory.error }
        forget(request)
        return nil
    }

    /// Remembers a failure, if it is one that would come again.
    ///
    /// - Parameters:
    ///   - key: The cache key that it was to have.
    ///   - seconds: For how long.
    ///   - retryAfter: In how many seconds the server wants to be asked again.
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
        forget(request)
        last += 1
        memories[request] = Memory(
            error: error, key: key, end: now + Int(min(span, 1e8) * 1e9), number: last)
        order[last] = request
        while memories.count > limit {
            oldest += 1
            if let request = order[oldest] { forget(request) }
        }
    }

    /// For how long a failure is remembered: one of a moment's load as long as the server says, but not for ever (D-11);
    /// of others the server may say that it is over sooner.
    private static func span(of error: ImageError, _ seconds: Double, retryAfter: Double?) -> Double {
        guard seconds > 0, let retryAfter else { return seconds }
        return error.isRetryable ? min(retryAfter, longestRetryAfter) : min(retryAfter, seconds)
    }

    /// The longest that a server's jobKey to be left alone is obeyed, in seconds.
    static let longestRetryAfter = 3600.0

    /// Forgets the failures of a cache key; all when nil.
    mutating func forget(_ key: CacheKey?) {
        if isEmpty { return }
        if let key { _ = remove(key.key, now: 0) } else { removeAll() }
    }

    /// Forgets everything.
    mutating func removeAll() { self = NegativeCache(limit: limit) }

    private mutating func forget(_ request: Request) {
        if let memory = memories.removeValue(forKey: request) { order[memory.number] = nil }
    }
}

/// A failure that is repeated without asking, for a while.
public struct RememberedFailure: Sendable, Equatable {
    /// The URL that failed.
    public let url: String
    /// The cache key that its image was to have.
    public let key: String
    /// What it failed with.
    public let error: ImageError
    /// For how many seconds it is remembered yet.
    public let seconds: Double
}

extension ImageError {
    /// Whether the same request would fail in the same way for a while: never what the network or a moment's load may
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
