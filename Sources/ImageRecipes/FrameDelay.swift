/// How long a frame is really shown.
public enum FrameDelay {
    /// Delays up to 11 ms mean 100 ms, as browsers and Kingfisher have it.
    public static func shown(_ milliseconds: Int) -> Int { milliseconds <= 11 ? 100 : milliseconds }
}
