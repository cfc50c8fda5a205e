/// How long a failed download waits for the network to come back: a plain value.
///
/// Only where this machine has no network at all: a server that cannot be reached over one that is there has a trouble of its
/// own. It waits once, however often the download fails.
struct ConnectivityWait: Sendable, Equatable {
    /// What is to be done.
    enum Step: Sendable, Equatable {
        /// Try again at once.
        case retry
        /// Look again after so many nanoseconds.
        case look(after: Int)
        /// It has failed.
        case giveUp
    }

    /// How often the network is looked at, in nanoseconds.
    static let interval = 250_000_000

    /// For how many seconds it waits; not at all when nil.
    let limit: Double?
    private var end: Int?
    private var hasWaited = false

    /// Waits for up to `limit` seconds.
    init(limit: Double?) { self.limit = limit }

    /// Whether a failure is one that the want of a network makes.
    static func concerns(_ error: ImageError) -> Bool {
        switch error {
        case .connectionFailed, .timedOut(_, "timeout", _): true
        default: false
        }
    }

    /// What is to be done after a failure, and then each time it was waited.
    ///
    /// - Parameter now: In nanoseconds of a clock that never goes back.
    mutating func next(hasNetwork: Bool, at now: Int) -> Step {
        guard let limit, limit > 0, !hasWaited else { return .giveUp }
        guard let end else {
            if hasNetwork { return .giveUp }
            end = now + Int(min(limit, 86_400) * 1e9)
            return next(hasNetwork: false, at: now)
        }
        if hasNetwork || now >= end { hasWaited = true }
        if hasNetwork { return .retry }
        return now >= end ? .giveUp : .look(after: min(Self.interval, end - now))
    }
}
