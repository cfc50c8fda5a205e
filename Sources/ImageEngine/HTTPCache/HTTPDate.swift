/// Dates as HTTP writes them (RFC 9110, 5.6.7).
enum HTTPDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Seconds since 1970 of a date in any of the three forms; nil for anything else.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    static func seconds(_ text: String) -> Int? {
        guard text.utf8.count <= 64 else { return nil }
        var words = text.split { " ,-\t".contains($0) }.map { $0.lowercased() }[...]
        if ["gmt", "utc", "z"].contains(words.last ?? "") { words.removeLast() }
        // The day of the week says nothing new.
        guard let first = words.popFirst(), first.allSatisfy(\.isLetter), words.count == 4 else { return nil }
        guard let clock = words.first(where: { $0.contains(":") }),
            let month = words.firstIndex(where: months.contains)
        else { return nil }
        let numbers = words.filter { $0.allSatisfy(\.isNumber) }
        guard numbers.count == 2, let day = Int(numbers[0]), var year = Int(numbers[1]),
            let monthNumber = months.firstIndex(of: words[month])
        else { return nil }
        if numbers[1].utf8.count == 2 { year += year < 70 ? 2000 : 1900 }
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(width - digits.count, 0)) + digits
        }
        let time = clock.utf8.count == 7 ? "0" + clock : clock
        return ISO8601.seconds("\(padded(year, 4))-\(padded(monthNumber + 1, 2))-\(padded(day, 2))T\(time)Z")
    }
}
