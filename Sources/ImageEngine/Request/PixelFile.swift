/// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied; the frames one below the other.
public struct PixelFile: Sendable {
    /// The path of the file, which lasts for the lease of the options, 60 s by default, or until the process ends.
    public let path: String
    /// The width in pixels.
    public let width: Int
    /// The height of one frame in pixels.
    public let height: Int
    /// The number of frames.
    public let frameCount: Int
    /// The number of bytes from one row to the next.
    public let stride: Int
    /// The size of the file, in bytes.
    public let byteCount: Int
    /// The display time of each frame in milliseconds; empty for a still image.
    public let delays: [Int]
    /// The number of times that the animation is played; 0 means forever.
    public let loopCount: Int
    /// The number of frames or pages of the original that the file lacks, although all were asked for.
    public let framesDropped: Int
}
