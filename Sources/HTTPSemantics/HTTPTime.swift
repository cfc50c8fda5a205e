internal import Platform

/// Delays in header fields. For dates see ``HTTPDate``.
package enum HTTPTime {
    private static let longest = 1e9

    /// The number of seconds to wait that a `Retry-After` field means at `now` (RFC 9110, 10.2.3).
    ///
    /// At most a billion seconds, because the number is reported to the client.
    package static func delay(_ text: String, now: Int) -> Double? {
        if !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) { return min(Double(text) ?? 0, longest) }
        return HTTPDate.seconds(text).map { min(Double(max($0 - now, 0)), longest) }
    }
}
