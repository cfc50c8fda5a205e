internal import Platform

/// Parsing of HTTP dates (RFC 9110, 5.6.7).
package enum HTTPDate {
    /// The moments from 1970 to the end of the year 9999, in seconds since 1970.
    package static let years = 0...253_402_300_799

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The seconds since 1970 of a date in any of the three forms. `nil`: anything else.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994`.
    package static func seconds(_ text: String) -> Int? {
        guard text.utf8.count <= 64 else { return nil }
        if let seconds = preferred(text) { return seconds }
        var words = text.split { " ,-\t".contains($0) }.map { $0.lowercased() }[...]
        if ["gmt", "utc", "z"].contains(words.last ?? "") { words.removeLast() }
        // The day of the week is redundant.
        guard let first = words.popFirst(), first.allSatisfy(\.isLetter), words.count == 4 else { return nil }
        guard let clock = words.first(where: { $0.contains(":") }),
            let month = words.lazy.compactMap({ months.firstIndex(of: $0) }).first
        else { return nil }
        let numbers = words.filter { $0.allSatisfy(\.isNumber) }
        // The hour may have one digit, and the seconds may be missing.
        let time = clock.split(separator: ":").map { Int($0) ?? .max }
        guard numbers.count == 2, (2...3).contains(time.count), let day = Int(numbers[0]), var year = Int(numbers[1]),
            year < 10_000
        else { return nil }
        if numbers[1].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        return ISO8601.seconds(
            year: year, month: month + 1, day: day, hour: time[0], minute: time[1],
            second: time.count > 2 ? time[2] : 0)
    }

    /// The seconds since 1970 of a date in exactly one of the three forms. Any day of the week and any case of letters
    /// is accepted. `nil`: not such a date, which means already expired (RFC 9111, 5.3).
    static func exactSeconds(_ text: String) -> Int? {
        if let seconds = preferred(text) { return seconds }
        let shape = text.lowercased().map { $0.isASCII && $0.isNumber ? "0" : String($0) }.joined()
        let words = shape.split(separator: " ", omittingEmptySubsequences: false)
        let isExact =
            switch words.count {
            case 4:
                days.contains { words[0] == $0 + "," } && months.contains { words[1] == "00-\($0)-00" }
                    && words[2] == "00:00:00" && words[3] == "gmt"
            case 5, 6:
                days.contains { words[0] == $0.prefix(3) } && months.contains { words[1] == $0 }
                    && (words.count == 5 ? words[2] == "00" : words[2].isEmpty && words[3] == "0")
                    && words.suffix(2) == ["00:00:00", "0000"]
            default: false
            }
        return isExact ? seconds(text) : nil
    }

    /// The number of seconds to wait that a `Retry-After` field means at `now` (RFC 9110, 10.2.3). At most a billion,
    /// because the number is reported to the client.
    package static func delay(_ text: String, now: Int) -> Double? {
        let isNumber = !text.isEmpty && text.has(only: 0x30...0x39)
        let delay = isNumber ? Double(text) ?? 0 : seconds(text).map { Double(max($0 - now, 0)) }
        return delay.map { min($0, 1e9) }
    }

    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    /// Parses the form that servers must send today, `Sun, 06 Nov 1994 08:49:37 GMT`, by fixed positions, because
    /// several dates come with each image. `nil` for anything else. Any case of letters and any day of the week is
    /// accepted.
    private static func preferred(_ text: String) -> Int? {
        var text = text
        return text.withUTF8(preferred)
    }

    private static func preferred(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        func number(_ place: Int, _ width: Int) -> Int? {
            text[place..<place + width].reduce(0) { number, byte in
                number.flatMap { (0x30...0x39).contains(byte) ? $0 * 10 + Int(byte) - 0x30 : nil }
            }
        }
        guard text.count == 29, text[..<3].allSatisfy(isLetter), text[3] == UInt8(ascii: ","),
            [4, 7, 11, 16, 25].allSatisfy({ text[$0] == 0x20 }), text[19] == UInt8(ascii: ":"), text[22] == text[19],
            zip(text[26...], "gmt".utf8).allSatisfy({ $0 | 0x20 == $1 }),
            let month = months.firstIndex(where: { zip($0.utf8, text[8..<11]).allSatisfy { $0 == $1 | 0x20 } }),
            let day = number(5, 2), let year = number(12, 4), let hour = number(17, 2), let minute = number(20, 2),
            let second = number(23, 2)
        else { return nil }
        return ISO8601.seconds(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }
}
