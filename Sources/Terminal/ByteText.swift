/// Formats numbers of bytes for people.
public enum ByteText {
    private static let units = ["B", "kB", "MB", "GB", "TB", "PB"]

    /// A number of bytes with at most three significant digits, in powers of 1,000: `1.23 MB`.
    public static func text(_ count: Int) -> String {
        var value = Double(count)
        var unit = 0
        // A value that would be shown as 1000 is shown in the next unit.
        while value.magnitude >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        if unit == 0 { return "\(count) B" }
        let places = value.magnitude < 9.995 ? 2 : value.magnitude < 99.95 ? 1 : 0
        return "\(fixed(value, places)) \(units[unit])"
    }

    /// An integer with commas between its thousands.
    public static func grouped(_ number: Int) -> String {
        var text = ""
        for (place, digit) in String(number.magnitude).reversed().enumerated() {
            if place > 0, place % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + String(text.reversed())
    }

    private static func fixed(_ value: Double, _ places: Int) -> String {
        let scale = places == 2 ? 100.0 : places == 1 ? 10 : 1
        let scaled = Int((value * scale).rounded())
        if places == 0 { return "\(scaled)" }
        let fraction = String(scaled.magnitude % UInt(scale))
        let zeros = String(repeating: "0", count: places - fraction.count)
        return "\(scaled / Int(scale)).\(zeros)\(fraction)"
    }
}
