internal import Glibc
internal import Platform

/// Draws a few lines at the bottom of a terminal and replaces the lines drawn before.
public struct Painter: ~Copyable {
    /// The minimum time between two drawings, in nanoseconds.
    private static let interval = 50_000_000

    private let descriptor: Int32
    private var drawn = 0
    private var last = 0
    private var isBehind = false

    /// A painter on a terminal.
    ///
    /// - Returns: `nil` if the descriptor is not a terminal, or if the terminal cannot move its cursor (`TERM=dumb`).
    public init?(on descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return nil }
        if let kind = getenv("TERM"), String(cString: kind) == "dumb" { return nil }
        self.descriptor = descriptor
    }

    deinit { Self.write(Self.erasing(drawn), to: descriptor) }

    /// The number of milliseconds until a skipped drawing may be made; `nil` when everything is drawn.
    public var delay: Int? {
        isBehind ? max(last + Self.interval - monotonicNanoseconds(), 0) / 1_000_000 + 1 : nil
    }

    /// Draws the lines that `make` returns for the terminal's width. Skips the drawing if the last one was too recent;
    /// see ``delay``.
    public mutating func draw(_ make: (_ width: Int) -> [String]) {
        let now = monotonicNanoseconds()
        isBehind = now - last < Self.interval
        if isBehind { return }
        last = now
        let lines = make(width)
        Self.write(Self.erasing(drawn) + lines.map { $0 + "\n" }.joined(), to: descriptor)
        drawn = lines.count
    }

    /// Erases the lines, so that other text can be written there.
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
