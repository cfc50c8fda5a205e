internal import Synchronization

/// Failures that would come again, for as long as their requests want them remembered (D-11, C-09): a plain value.
struct NegativeCache: Sendable {
    private struct Memory: Sendable {
        let error: ImageError
        let end: Int
        let number: UInt64
    }

    /// How many failures are remembered; beyond that the oldest go.
    let limit: Int
    private var memories: [DownloadRequest: Memory] = [:]
    private var order: [UInt64: DownloadRequest] = [:]
    private var oldest: UInt64 = 0
    private var last: UInt64 = 0

    /// A memory of nothing.
    init(limit: Int = 1024) { self.limit = limit }

    /// How many failures are remembered.
    var count: Int { memories.count }

    /// What the request failed with, unless that was too long ago.
    mutating func failure(of request: DownloadRequest, now: Int) -> ImageError? {
        guard let memory = memories[request] else { return nil }
        if now < memory.end { return memory.error }
        forget(request)
        return nil
    }

    /// Remembers a failure, if it is one that would come again.
    ///
    /// - Parameters:
    ///   - seconds: For how long.
    ///   - retryAfter: In how many seconds the server wants to be asked again.
    ///   - now: Nanoseconds of a clock that never goes back.
    mutating func note(
        _ error: ImageError, of request: DownloadRequest, for seconds: Double, retryAfter: Double? = nil, now: Int
    ) {
        let span = retryAfter.map { min(seconds, $0) } ?? seconds
        // A delegate may decide otherwise the next time.
        guard span > 0, error.wouldComeAgain(hasRetryAfter: retryAfter != nil), request.delegates == nil else { return }
        forget(request)
        last += 1
        memories[request] = Memory(error: error, end: now + Int(min(span, 1e8) * 1e9), number: last)
        order[last] = request
        while memories.count > limit {
            oldest += 1
            if let request = order[oldest] { forget(request) }
        }
    }

    /// Forgets everything.
    mutating func removeAll() { self = NegativeCache(limit: limit) }

    private mutating func forget(_ request: DownloadRequest) {
        if let memory = memories.removeValue(forKey: request) { order[memory.number] = nil }
    }
}

extension ImageError {
    /// Whether the same request would fail in the same way for a while: never what the network or a moment's load may
    /// have done.
    fileprivate func wouldComeAgain(hasRetryAfter: Bool) -> Bool {
        switch self {
        case .badData, .forbiddenAddress: true
        case .invalidStatusCode:
            isRetryable
                ? hasRetryAfter && [429, 503].contains(statusCode)
                : statusCode == 501 || statusCode.map((400..<500).contains) == true
        case .limitExceeded(let limit, _, _): ["maxBytes", "maxRedirects"].contains(limit)
        default: false
        }
    }
}
