internal import Glibc
internal import Platform

/// Draws a few lines at the bottom of a terminal, over those drawn before.
public struct Painter: ~Copyable {
    /// Nanoseconds from one drawing to the next.
    private static let interval = 50_000_000

    private let descriptor: Int32
    private var drawn = 0
    private var last = 0
    private var isBehind = false

    /// A painter on a terminal.
    ///
    /// - Returns: nil if the descriptor is none, or one that cannot move its cursor (`TERM=dumb`).
    public init?(on descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return nil }
        if let kind = getenv("TERM"), String(cString: kind) == "dumb" { return nil }
        self.descriptor = descriptor
    }

    deinit { Self.write(Self.erasing(drawn), to: descriptor) }

    /// Milliseconds until what was not drawn may be; nil when everything is.
    public var delay: Int? {
        isBehind ? max(last + Self.interval - monotonicNanoseconds(), 0) / 1_000_000 + 1 : nil
    }

    /// Draws the lines that `make` makes for the terminal's width; not yet if something was drawn a moment ago, see
    /// ``delay``.
    public mutating func draw(_ make: (_ width: Int) -> [String]) {
        let now = monotonicNanoseconds()
        isBehind = now - last < Self.interval
        if isBehind { return }
        last = now
        let lines = make(width)
        Self.write(Self.erasing(drawn) + lines.map { $0 + "\n" }.joined(), to: descriptor)
        drawn = lines.count
    }

    /// Takes the lines away, so that something else can be written there.
    public mutating func erase() {
        Self.write(Self.erasing(drawn), to: descriptor)
        (drawn, last, isBehind) = (0, 0, false)
    }

    private var width: Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// ECMA-48: CUU moves the cursor up, ED clears from there to the end of the screen.
    private static func erasing(_ count: Int) -> String { count == 0 ? "" : "\u{1B}[\(count)A\u{1B}[J" }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        if !bytes.isEmpty { _ = Glibc.write(descriptor, bytes, bytes.count) }
    }
}
