internal import Downloading
internal import HTTPSemantics
internal import ImageErrors

/// Sends requests to one server over connections that stay open.
///
/// It has a downloader of its own: what the user sets for images, their limits and their counts, says nothing about the server
/// that the user names here. Only how the server is reached is the same: proxy, authorities, certificate and user agent.
struct HTTPClient: Sendable {
    struct Answer: Sendable {
        let status: Int
        /// The header fields, by names in lower case.
        let fields: [String: String]
        let body: [UInt8]
    }

    let downloader: ImageDownloader
    private let maxBytes: Int

    /// Every status but a demand for credentials, which the downloader may answer.
    private static let statuses = Set(200...599).subtracting([401, 407])

    /// - Parameters:
    ///   - base: The URL that all requests begin with.
    ///   - maxBytes: The largest image, in bytes.
    ///   - connectSeconds: The longest time to make a connection.
    ///   - silenceSeconds: The longest time for which the server may send nothing. Not shorter than any operation may take.
    ///   - netrc: The path of the file that has the credentials when a request has none.
    init(
        _ configuration: ImageDownloader.Configuration, to base: String, maxBytes: Int, connectSeconds: Double,
        silenceSeconds: Double, netrc: String? = nil
    ) {
        self.maxBytes = maxBytes + RemoteObject.overhead
        var own = ImageDownloader.Configuration()
        (own.userAgent, own.tls, own.proxy) = (configuration.userAgent, configuration.tls, configuration.proxy)
        own.policy.reach = .any
        // A redirect must not lead out of TLS.
        own.policy.allowedSchemes = base.hasPrefix("https:") ? ["https"] : ["http", "https"]
        (own.maxDownloadsPerHost, own.maxConcurrentDownloads) = (64, 64)
        (own.connectTimeout, own.timeout, own.netrc) = (connectSeconds, silenceSeconds, netrc)
        // An object that is written or removed twice is the same.
        own.repeatsChanges = true
        // The whole object is wanted in memory, and none is larger.
        var place = SpoolPlace(makePath: { throw RemoteError.tooLarge }, spares: [])
        place.memoryLimit = self.maxBytes
        downloader = ImageDownloader(own, accept: "*/*", spool: place)
    }

    /// Sends a request. Ends when the task is cancelled.
    ///
    /// - Parameter followsRedirects: `true` when the answer may come from elsewhere, where no credentials are sent to.
    /// - Throws: ``RemoteError``, when there is no answer or one that demands credentials.
    func answer(
        to method: RequestMethod, _ url: String, headers: [String: String] = [:], authorization: Authorization? = nil,
        body: [UInt8]? = nil, followsRedirects: Bool = false
    ) async throws -> Answer {
        var options = NetworkOptions()
        (options.request.method, options.request.headers) = (method, headers)
        (options.request.authorization, options.request.body) = (authorization, body)
        options.merges = false
        options.limits.maxBytes = maxBytes
        options.limits.validStatusCodes = Self.statuses
        options.limits.timeout = downloader.timeout
        options.limits.minBytesPerSecond = 0
        options.limits.maxRedirects = 3
        if !followsRedirects { options.transfer.redirect = .none }
        do {
            let request = try DownloadRequest(url: url, options: options)
            let download = try await downloader.download(request, priority: CallPriority(0.5), report: nil)
            return Answer(
                status: download.response.status, fields: download.response.fields, body: try download.body.bytes())
        } catch let error as ImageError {
            throw Self.error(error.first, hasCredentials: authorization != nil)
        }
    }

    private static func error(_ error: ImageError, hasCredentials: Bool) -> RemoteError {
        switch error {
        case .invalidStatusCode(401, _, _):
            hasCredentials
                ? .refused("status 401, it does not take the credentials of the URL")
                : .refused("status 401, it wants credentials (in the URL, or in the netrc file)")
        case .invalidStatusCode(407, _, _):
            .refused("status 407, the proxy wants credentials (in the URL of the setting proxy)")
        case .timedOut: .timedOut
        case .connectionFailed(_, let reason), .tlsFailed(_, let reason):
            .unreachable(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
        case .limitExceeded("maxBytes", _, _): .tooLarge
        case .limitExceeded("redirect", _, _), .limitExceeded("maxRedirects", _, _):
            .refused("it redirects the request, and not to the object (write the URL that it redirects to)")
        case .invalidURL, .forbiddenAddress:
            .refused("the URL is none, or it redirects to one without TLS")
        default: .malformed
        }
    }
}
