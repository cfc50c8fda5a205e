/// The effective display time of a frame.
public enum FrameDelay {
    /// The display time in milliseconds: delays up to 11 ms mean 100 ms, as in browsers and Kingfisher.
    public static func shown(_ milliseconds: Int) -> Int { milliseconds <= 11 ? 100 : milliseconds }
}
