internal import Glibc

/// Colours text for a terminal, where that is wanted.
public struct Colours: Sendable {
    private let areOn: Bool

    private init(_ areOn: Bool) { self.areOn = areOn }

    /// No colours.
    public static let none = Colours(false)

    /// Colours for what is written to a descriptor: only on a terminal, and not with `NO_COLOR` (no-color.org) or `TERM=dumb`.
    public static func on(_ descriptor: Int32) -> Colours {
        func text(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }
        return Colours(isatty(descriptor) == 1 && text("NO_COLOR").isEmpty && text("TERM") != "dumb")
    }

    /// The text in red, for what failed. ECMA-48: SGR 31 and 39 set the colour and the usual one.
    public func red(_ text: String) -> String { areOn ? "\u{1B}[31m\(text)\u{1B}[39m" : text }
}
