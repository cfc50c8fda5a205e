/// Dates as in RFC 3339: the profile of ISO 8601 that the protocol uses.
public enum ISO8601 {
    /// `2026-11-21T07:42:00Z` for seconds since 1970, within the years 0 to 9999.
    ///
    /// The date by H. Hinnant's `civil_from_days`; written out because this stands in every answer to a hit, and
    /// `strftime` costs ten times as much.
    public static func text(_ seconds: Int) -> String {
        let seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        let time = seconds - day * 86_400
        // Years begin in March and eras have 400 of them, so that leap days come last.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let parts =
            [
                (year, 4, "-"), (month, 2, "-"), (dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, 2, "T"),
                (time / 3600, 2, ":"), (time / 60 % 60, 2, ":"), (time % 60, 2, "Z"),
            ] as [(Int, Int, Unicode.Scalar)]
        return String(unsafeUninitializedCapacity: 20) { text in
            var place = 0
            for (value, width, separator) in parts {
                var rest = value
                for index in stride(from: width - 1, through: 0, by: -1) {
                    text[place + index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                    rest /= 10
                }
                text[place + width] = UInt8(ascii: separator)
                place += width + 1
            }
            return place
        }
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }

    /// Seconds since 1970 of a moment in UTC; `nil` if the calendar does not have it. A leap second counts as the next one.
    package static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
        guard (1...12).contains(month), (1...days(in: month, of: year)).contains(day), hour < 24, minute < 60,
            second <= 60
        else { return nil }
        // H. Hinnant's `days_from_civil`: several dates come with each image, and `timegm` looks for a time zone first.
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era * 146_097 + dayOfEra - 719_468) * 86_400 + hour * 3600 + minute * 60 + second
    }

    /// Seconds since 1970 of a date with an optional time, fraction and zone (`Z` or `±hh:mm`; UTC when missing).
    public static func seconds(_ text: String) -> Int? {
        let scalars = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= scalars.count else { return nil }
            let digits = scalars[range]
            guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
        }
        func has(_ character: Character, at place: Int) -> Bool {
            place < scalars.count && scalars[place] == character.asciiValue
        }
        guard let year = number(0..<4), has("-", at: 4), let month = number(5..<7), has("-", at: 7),
            let day = number(8..<10)
        else { return nil }
        var (hour, minute, second) = (0, 0, 0)
        var place = 10
        if has("T", at: 10) || has("t", at: 10) || has(" ", at: 10) {
            guard let hours = number(11..<13), has(":", at: 13), let minutes = number(14..<16) else { return nil }
            (hour, minute) = (hours, minutes)
            place = 16
            if has(":", at: 16) {
                guard let seconds = number(17..<19) else { return nil }
                second = seconds
                place = 19
            }
            if has(".", at: place) {
                place += 1
                while place < scalars.count, (0x30...0x39).contains(scalars[place]) { place += 1 }
            }
        }
        var offset = 0
        if has("Z", at: place) || has("z", at: place) {
            place += 1
        } else if has("+", at: place) || has("-", at: place) {
            guard let hours = number(place + 1..<place + 3), has(":", at: place + 3),
                let minutes = number(place + 4..<place + 6), hours < 24, minutes < 60
            else { return nil }
            offset = (has("-", at: place) ? -1 : 1) * (hours * 3600 + minutes * 60)
            place += 6
        }
        guard place == scalars.count else { return nil }
        return Self.seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
            .map { $0 - offset }
    }
}
