internal import Platform

/// The limit of starts per time for each host.
///
/// Holds a ``TokenBucket`` for every host that started something recently. Full ones are dropped now and then, because
/// a new one is full too.
struct HostRate: Sendable, Equatable {
    /// The number of tokens per second and host. 0: no limit.
    let rate: Double
    /// The number of starts at once before the rate counts.
    let burst: Int
    private var buckets: [String: TokenBucket] = [:]
    private var sweepCount = 1024

    /// The number of hosts with a bucket.
    var bucketCount: Int { buckets.count }

    /// Creates full buckets for all hosts.
    init(rate: Double = 0, burst: Int = 1) {
        self.rate = rate > 0 && rate < 1e12 ? rate : 0
        self.burst = burst
    }

    /// The number of nanoseconds until a host may start something; 0 when it may now.
    mutating func delay(of host: String, at now: Int) -> Int {
        guard rate > 0 else { return 0 }
        return buckets[host]?.delay(at: now) ?? 0
    }

    /// Counts a start of a host.
    mutating func countStart(of host: String, at now: Int) {
        guard rate > 0 else { return }
        if buckets.count >= sweepCount {
            buckets = buckets.filter { _, bucket in !bucket.isFull(at: now) }
            // Growing, so that the cost of a sweep is amortised however many hosts there are.
            sweepCount = max(1024, 2 * buckets.count)
        }
        _ = buckets[host, default: TokenBucket(rate: rate, burst: burst, at: now)].takeToken(at: now)
    }
}
