internal import Platform

/// Failures that would occur again, remembered for the time that their requests allow: a plain value. Its time is in
/// nanoseconds, from a monotonic clock.
struct NegativeCache: Sendable {
    /// The properties shared by requests that would fail alike: all that is sent, and the requirements on the bytes.
    struct Request: Hashable, Sendable {
        let download: DownloadRequest
        let integrity: Integrity?
        /// `true` when the image must be decodable.
        let isDecoded: Bool

        /// The request without its caller's own properties.
        init(_ download: DownloadRequest, _ options: ImageOptions) {
            self.download = download.common
            integrity = options.lookup.integrity
            isDecoded = options.lookup.verifyDecode == true
        }
    }

    private struct Entry: Sendable {
        let error: ImageError
        /// The cache key of the image that failed.
        let key: String
        let start: Int
        let end: Int
        let number: UInt64

        /// The failure as it is repeated.
        func error(at now: Int) -> ImageError { error.repeated(after: Double(now - start) / 1e9) }
    }

    /// The largest number of failures; one more removes the oldest, in O(`limit`).
    let limit: Int
    private var entries: [Request: Entry] = [:]
    private var lastNumber: UInt64 = 0

    init(limit: Int = 1024) { self.limit = limit }

    var isEmpty: Bool { entries.isEmpty }

    /// The number of remembered failures.
    func count(now: Int) -> Int { entries.values.count { now < $0.end } }

    /// The remembered failures, the oldest first.
    func list(now: Int) -> [RememberedFailure] {
        entries.sorted { $0.value.number < $1.value.number }.compactMap { request, entry in
            guard now < entry.end else { return nil }
            return RememberedFailure(
                url: request.download.url, key: entry.key, error: entry.error(at: now),
                seconds: Double(entry.end - now) / 1e9)
        }
    }

    /// Forgets the failures of a URL or a cache key; all when `nil`.
    ///
    /// - Returns: The number of failures that were remembered.
    mutating func remove(_ name: String?, now: Int) -> Int {
        let before = count(now: now)
        if let name {
            let (key, url) = (ExactText(name), Resource.comparable(name))
            for (request, entry) in entries
            where ExactText(entry.key) == key || Resource.comparable(request.download.url) == url {
                entries[request] = nil
            }
        } else {
            entries = [:]
        }
        return before - count(now: now)
    }

    /// The failure of the request, unless its time is over.
    mutating func failure(of request: Request, now: Int) -> ImageError? {
        guard let entry = entries[request] else { return nil }
        if now < entry.end { return entry.error(at: now) }
        entries[request] = nil
        return nil
    }

    /// Forgets the failure of the request, which has succeeded.
    mutating func noteSuccess(of request: Request) { entries[request] = nil }

    /// Remembers a failure, if it would occur again.
    ///
    /// - Parameters:
    ///   - seconds: The time for which it is remembered.
    ///   - retryAfter: The server's `Retry-After`, in seconds.
    mutating func note(
        _ error: ImageError, of request: Request, key: String = "", for seconds: Double, retryAfter: Double? = nil,
        now: Int
    ) {
        let span = Self.span(of: error, seconds, retryAfter: retryAfter)
        // A delegate may decide differently the next time.
        guard span > 0, error.wouldComeAgain(hasRetryAfter: retryAfter != nil), request.download.delegates == nil else {
            return
        }
        lastNumber += 1
        entries[request] = Entry(
            error: error, key: key, start: now, end: now + Int(min(span, 1e8) * 1e9), number: lastNumber)
        if entries.count > limit, let oldest = entries.min(by: { $0.value.number < $1.value.number }) {
            entries[oldest.key] = nil
        }
    }

    /// The time for which a failure is remembered, in seconds. A temporary one lasts as long as the server says, up to
    /// ``longestRetryAfter``; for others the server may shorten the time.
    private static func span(of error: ImageError, _ seconds: Double, retryAfter: Double?) -> Double {
        guard seconds > 0, let retryAfter else { return seconds }
        return error.isRetryable ? min(retryAfter, longestRetryAfter) : min(retryAfter, seconds)
    }

    /// The longest `Retry-After` that is obeyed, in seconds.
    static let longestRetryAfter = 3600.0

    /// Forgets the failures of a cache key; all when `nil`.
    mutating func forget(_ key: CacheKey?) { if !entries.isEmpty { _ = remove(key?.key, now: 0) } }
}

/// A failure that is repeated for some time without a new request.
public struct RememberedFailure: Sendable, Equatable {
    /// The URL that failed.
    public let url: String
    /// The cache key of its image.
    public let key: String
    /// The failure.
    public let error: ImageError
    /// The remaining time for which it is remembered, in seconds.
    public let seconds: Double
}

extension ImageError {
    /// `true` when an equal request would fail in the same way for some time; never for failures that the network or a
    /// temporary overload may have caused.
    fileprivate func wouldComeAgain(hasRetryAfter: Bool) -> Bool {
        switch self {
        case .badData, .dataModifyingFailed, .forbiddenAddress: true
        case .invalidStatusCode:
            isRetryable
                ? hasRetryAfter && [429, 503].contains(statusCode)
                : statusCode == 501 || statusCode.map((400..<500).contains) == true
        case .limitExceeded(let limit, _, _): DownloadLimitName(rawValue: limit)?.isExceededAgain == true
        default: false
        }
    }
}
