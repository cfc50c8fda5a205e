internal import Platform

/// How many things may start in a time for each host: a plain value (B-013).
///
/// A ``TokenBucket`` for every host that has begun something lately. Those that are full again are forgotten now and then,
/// for a new one is full too.
struct HostRate: Sendable, Equatable {
    /// Tokens a second for each host; 0 for no limit at all.
    let rate: Double
    /// How many may start at once before that counts.
    let burst: Int
    private var buckets: [String: TokenBucket] = [:]
    private var sweepCount = 1024

    /// How many hosts are remembered.
    var bucketCount: Int { buckets.count }

    /// Full buckets for all.
    init(rate: Double = 0, burst: Int = 1) {
        self.rate = rate > 0 && rate < 1e12 ? rate : 0
        self.burst = burst
    }

    /// How long, in nanoseconds, until a host may start something; 0 when it may now.
    mutating func delay(of host: String, at now: Int) -> Int {
        guard rate > 0 else { return 0 }
        return buckets[host]?.delay(at: now) ?? 0
    }

    /// Notes that a host starts something.
    mutating func take(of host: String, at now: Int) {
        guard rate > 0 else { return }
        if buckets.count >= sweepCount {
            buckets = buckets.filter { _, bucket in !bucket.isFull(at: now) }
            // So that a sweep pays for itself however many hosts there are.
            sweepCount = max(1024, 2 * buckets.count)
        }
        _ = buckets[host, default: TokenBucket(rate: rate, burst: burst, at: now)].take(at: now)
    }
}
