/// One who waits for an image: how urgent it is to it, and what it hears meanwhile.
public struct ImageCaller: Sendable {
    /// How urgent it is; may be changed while it waits.
    public var priority: CallPriority
    /// Hears of the download's progress, from any thread.
    public var report: (@Sendable (DownloadProgress) -> Void)?
    /// Called, from any thread, when the caller shares in a download: now another may leave it without its being broken
    /// off. Not called when the image takes no download.
    public var joined: @Sendable () -> Void
    /// When it came, in nanoseconds of the engine's clock, for its deadline; when it asks the engine if nil.
    public var arrived: Int?

    /// A caller.
    public init(
        priority: CallPriority, report: (@Sendable (DownloadProgress) -> Void)? = nil,
        joined: @escaping @Sendable () -> Void = {}, arrived: Int? = nil
    ) {
        self.priority = priority
        self.report = report
        self.joined = joined
        self.arrived = arrived
    }
}
