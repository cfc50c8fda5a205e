internal import JSONRPC
internal import Platform
internal import Synchronization

/// The durations of requests from start to answer, by method.
final class Latencies: Sendable {
    private let histograms: Mutex<[LatencyHistogram?]>

    /// - Parameter count: The number of methods.
    init(count: Int) { histograms = Mutex(Array(repeating: nil, count: count)) }

    /// Records that a request of the method with this number, started at `start`, has just been answered.
    ///
    /// - Complexity: O(1): about 50 ns including the clock.
    func record(_ method: Int, since start: Int) {
        let time = monotonicNanoseconds() - start
        histograms.withLock { histograms in
            if histograms[method] == nil { histograms[method] = LatencyHistogram() }
            histograms[method]?.record(time)
        }
    }

    /// The histograms of the methods that were called, with the methods' numbers.
    var recorded: [(method: Int, histogram: LatencyHistogram)] {
        histograms.withLock { $0 }.enumerated().compactMap { number, histogram in histogram.map { (number, $0) } }
    }
}

/// The durations of the requests of one method, in milliseconds.
struct LatencyReply: WireObject {
    let histogram: LatencyHistogram

    static let name = "Latency"

    private static func quantile(_ name: StaticString, _ part: Double, _ share: String) -> WireField<LatencyReply> {
        milliseconds(name, "The \(share) in milliseconds, exact to an eighth of the value.") {
            $0.quantile(part)
        }
    }

    private static func milliseconds(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (LatencyHistogram) -> Int
    ) -> WireField<LatencyReply> {
        WireField(name, summary, ["type": "number", "minimum": 0]) { reply, writer in
            writer.key(name)
            writer.write(Double(value(reply.histogram)) / 1e6)
        }
    }

    static let fields: [WireField<LatencyReply>] = [
        .count("count", "Requests that were answered, with a result or an error.") { $0.histogram.count },
        quantile("p50", 0.5, "median"), quantile("p95", 0.95, "95th percentile"),
        quantile("p99", 0.99, "99th percentile"),
        milliseconds("max", "The longest time in milliseconds.", \.longest),
    ]
}
