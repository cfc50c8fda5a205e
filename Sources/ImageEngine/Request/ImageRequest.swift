package import Platform

/// One caller's request for an image: the resource, its cache, and the options of the answer.
///
/// A class, because the stages of a request share it while it waits.
public final class ImageRequest: Sendable {
    /// The URL of the image, and its key.
    public let resource: Resource
    /// The cache that answers and stores.
    public let cache: ImageCache
    /// The options of the request. The engine completes them with the settings of the cache.
    public let options: ImageOptions
    /// The waiting caller.
    public let caller: ImageCaller
    /// The required parts of the result.
    public let needs: ImageNeeds

    /// A request.
    ///
    /// - Parameter caller: Default: one with the priority of the options.
    public init(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needs: ImageNeeds,
        caller: ImageCaller? = nil
    ) {
        (self.resource, self.cache, self.options, self.needs) = (resource, cache, options, needs)
        self.caller = caller ?? ImageCaller(priority: CallPriority(options.caller.downloadPriority))
    }

    /// The request as it is sent when no delegate changes it.
    var outgoing: OutgoingRequest { OutgoingRequest(url: resource.url, options: options) }

    /// `true` when a stored image may need revalidation with its server.
    var mayRevalidate: Bool { (options.lookup.revalidate ?? .never) != .never && resource.isOnNetwork }

    /// The error of a missed deadline, and the nanoseconds that remain; `nil` when there is none. It counts from the arrival,
    /// which is `now` unless the caller states another time, and includes queues, redirects, retries and other sources.
    func deadline(at now: Int) -> (error: ImageError, nanoseconds: Int)? {
        guard let seconds = options.caller.deadline else { return nil }
        // A day is the largest value of the option.
        let whole = seconds > 0 ? Int(min(seconds, 86_400) * 1e9) : 0
        let rest = max(0, whole - (now - (caller.arrived ?? now)))
        return (.timedOut(url: resource.name, option: "deadline", seconds: seconds), rest)
    }

    func with(_ options: ImageOptions) -> ImageRequest {
        ImageRequest(resource, in: cache, options: options, needs: needs, caller: caller)
    }
}

/// The required parts of a result.
public struct ImageNeeds: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Needs with the given bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A file that exists when the result is delivered.
    public static let file = ImageNeeds(rawValue: 1)
    /// The bytes, even if the disk cannot be written.
    public static let bytes = ImageNeeds(rawValue: 2)
    /// A file of raw pixels instead of an image; see ``PixelFile``. With ``bytes``, where the cache folder takes none, a file
    /// without a name that this process alone can open.
    public static let pixels = ImageNeeds(rawValue: 4)
    /// A file, or the bytes where there can be none.
    static let content = ImageNeeds(rawValue: 8)

    /// `true` when the caller does with nothing but a file.
    var wantsFile: Bool { contains(.file) && !contains(.content) }
    /// `true` when an image without a file is delivered with its bytes.
    var takesBytes: Bool { !isDisjoint(with: [.bytes, .content]) }
}

/// A caller that waits for an image: its priority, and its receiver of progress.
public struct ImageCaller: Sendable {
    /// The priority, which may change while the caller waits.
    public var priority: CallPriority
    /// Receives the download's progress, on any thread.
    public var report: (@Sendable (DownloadProgress) -> Void)?
    /// Called on any thread when the caller has joined a download, so that another caller may leave it without aborting
    /// it. Not called when the image needs no download.
    public var joined: @Sendable () -> Void
    /// Receives the download that goes on though the caller has left it as the last.
    package var goesOn: (@Sendable (Backlog) -> Void)?
    /// The request's arrival time for its deadline, in nanoseconds of the engine's clock. `nil`: the time of its start.
    public var arrived: Int?

    /// A caller.
    public init(
        priority: CallPriority, report: (@Sendable (DownloadProgress) -> Void)? = nil,
        joined: @escaping @Sendable () -> Void = {}, arrived: Int? = nil
    ) {
        (self.priority, self.report, self.joined, self.arrived) = (priority, report, joined, arrived)
    }
}

/// A request as it is sent, after changes by its delegate.
///
/// A class, because waiting loads hold it, and mostly have none.
final class OutgoingRequest: Sendable {
    let url: String
    let options: ImageOptions
    /// `true` when a delegate has been asked about it.
    let wasAsked: Bool

    init(url: String, options: ImageOptions, wasAsked: Bool = false) {
        (self.url, self.options, self.wasAsked) = (url, options, wasAsked)
    }
}

extension ImageOptions {
    /// `true` when a delegate may change the request before it is sent.
    var asksToModify: Bool { self.network.delegates?.questions.contains(.modifyRequest) == true }
}
