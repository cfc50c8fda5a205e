public import HTTPSemantics

/// How an image is downloaded: the request, the limits of the transfer, retries and other sources.
public struct NetworkOptions: Hashable, Sendable {
    /// The request as it is sent to the first source.
    public var request = RequestContent()
    /// The limits of each transfer.
    public var limits = DownloadLimits()
    /// The options of the transfer that callers who share it have in common.
    public var transfer = TransferOptions()
    /// `true` when the download may be shared with other callers that send the same request.
    public var merges = true
    /// The delegates that are asked about the download while it runs.
    public var delegates: DownloadDelegates?
    /// The decoding of the body that happens before anything inspects it.
    public var dataModifier: DataModifier?
    /// Whether and when a failed download is retried.
    public var retry = RetryStrategy.never
    /// The number of seconds for which a failed download waits for a network while this machine has none. `nil`: not at all.
    public var waitForConnectivity: Double?
    /// The URLs that are tried in order when the first source fails.
    public var alternativeSources: [String] = []
    /// The number of seconds after which the next source is started beside one that has not answered. `nil`: only after a
    /// failure.
    public var hedgeAfter: Double?
    /// The path or URL of an image that answers when all sources failed.
    public var onFailureImage: String?

    /// Creates the default options.
    public init() {}
}

/// The options that decide how a transfer goes. Callers in one process share a transfer only when all of these are equal. A
/// bound that can be judged for each caller from the response alone belongs in ``DownloadLimits``. A cached image, and one
/// that another process loads at the moment, answers whatever these were when it was loaded.
public struct TransferOptions: Hashable, Sendable {
    /// Which redirects are followed.
    public var redirect = RedirectMode.follow
    /// The number of the rules by which it is sent, from ``ImageDownloader``: a request after a change of the rules takes
    /// no part in a transfer from before.
    package var rulesNumber = 0

    /// The default options.
    public init() {}
}
