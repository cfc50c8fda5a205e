internal import CCurl

/// Dates and delays as HTTP writes them.
enum HTTPTime {
    /// Seconds since 1970 of a date in any of its three forms (RFC 9110, 5.6.7).
    static func seconds(_ text: String) -> Int? {
        guard hc_load() == nil else { return nil }
        let seconds = hc_date(text)
        return seconds < 0 ? nil : Int(seconds)
    }

    /// The seconds to wait that a `Retry-After` field means at `now` (RFC 9110, 10.2.3).
    ///
    /// More than a hundred years is no more than that: the number is told to the client.
    static func delay(_ text: String, now: Int) -> Double? {
        if !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return min(Double(text) ?? 0, 3e9) }
        return seconds(text).map { Double(max($0 - now, 0)) }
    }
}
