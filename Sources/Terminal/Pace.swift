/// The speed of something that is counted, over the last seconds.
struct Pace: Sendable {
    /// The time that the speed is taken over, in nanoseconds.
    private static let window = 5_000_000_000
    /// The time between two counts that are kept, and the least that a speed is taken over.
    private static let (step, least) = (100_000_000, 500_000_000)

    private var counts: [(time: Int, amount: Int)] = []

    /// Notes how many there are at a time in nanoseconds, which never goes back.
    mutating func note(_ amount: Int, at time: Int) {
        if let last = counts.last, time - last.time < Self.step { return }
        counts.append((time, amount))
        while let first = counts.first, time - first.time > Self.window { counts.removeFirst() }
    }

    /// How many there were each second; `nil` as long as that cannot be told.
    var perSecond: Double? {
        guard let first = counts.first, let last = counts.last, last.time - first.time >= Self.least else { return nil }
        return Double(max(last.amount - first.amount, 0)) * 1e9 / Double(last.time - first.time)
    }

    /// The words for a number of seconds: `12 s`, `3:05 min`, `1:02 h`.
    static func text(seconds: Double) -> String {
        let whole = Int(min(seconds.rounded(.up), 359_999))
        func pair(_ number: Int) -> String { "\(number / 60):\(number % 60 < 10 ? "0" : "")\(number % 60)" }
        return whole < 60 ? "\(whole) s" : whole < 3600 ? "\(pair(whole)) min" : "\(pair(whole / 60)) h"
    }
}
