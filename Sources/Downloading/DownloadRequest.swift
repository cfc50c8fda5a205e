package import HTTPSemantics
package import ImageErrors
package import Platform
internal import Synchronization

/// One request of one caller: what is sent, and the limits of the answer.
///
/// Callers share a download if what is sent is equal (``Sent``), each within its own limits. A body fetched with one
/// caller's credentials can therefore never reach another caller. Neither the fragment of the URL nor the case of
/// header names matters, because neither changes what is sent. A caller's deadline ends only its own wait and is not
/// among the limits.
package struct DownloadRequest: Hashable, Sendable {
    /// What is sent, and the delegates that may change it: the identity under which downloads are merged.
    package typealias Sent = HashedOnce<Fields>

    package struct Fields: Hashable, Sendable {
        let givenURL: Uncompared<String>
        let webURL: WebURL
        let transfer: TransferOptions
        let method: RequestMethod
        /// `true` when a response that demands credentials is accepted as the answer and the request is not
        /// repeated with credentials.
        let takesChallenges: Bool
        /// A unique number for a request that must not be merged with any other.
        var own: UInt64?
        /// Made only when used, because many requests may wait.
        var rare: HashedOnce<RareFields>?
    }

    /// The parts that few requests have.
    package struct RareFields: Hashable, Sendable {
        let content: Uncompared<RequestContent>
        /// The credentials and header fields, compared by their bytes.
        let texts: [ExactText]
        let body: [UInt8]?
        let delegates: DownloadDelegates?
        /// The limits, when there is a delegate: it decides with them at hand, and for all callers alike.
        let delegateLimits: DownloadLimits?
        let validators: Validators?

        fileprivate init?(
            _ content: RequestContent, _ delegates: DownloadDelegates?, _ limits: DownloadLimits,
            _ validators: Validators?
        ) {
            if content == RequestContent(), delegates == nil, validators == nil { return nil }
            self.content = Uncompared(content)
            texts = content.texts.map { ExactText($0) }
            body = content.method == .get ? nil : content.body
            (self.delegates, delegateLimits) = (delegates, delegates == nil ? nil : limits)
            self.validators = content.method == .get ? validators : nil
        }
    }

    private(set) var sent: Sent
    private let sharedLimits: HashedOnce<DownloadLimits>
    package var limits: DownloadLimits { sharedLimits.value }
    package let dataModifier: DataModifier?

    /// Creates a request for `url`. libcurl, which performs the request, also parses it.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)``; ``ImageError/connectionFailed(url:reason:)`` when libcurl cannot
    ///   be loaded.
    package init(url: String, options: NetworkOptions, validators: Validators? = nil) throws(ImageError) {
        let limits = options.limits.bounded
        sharedLimits = Self.lastLimits.value(for: limits) { HashedOnce(limits) }
        sent = Sent(
            Fields(
                givenURL: Uncompared(url), webURL: try WebURL(url), transfer: options.transfer,
                method: options.request.method, takesChallenges: limits.takesChallenges,
                own: options.merges ? nil : Self.lastOwn.add(1, ordering: .relaxed).newValue,
                rare: RareFields(options.request, options.delegates, limits, validators).map(HashedOnce.init)))
        dataModifier = options.dataModifier
    }

    package var unconditional: DownloadRequest { validators == nil ? self : unconditional(own: sent.value.own) }

    /// The request without conditions, as any other caller may have sent it.
    package var common: DownloadRequest {
        validators == nil && sent.value.own == nil ? self : unconditional(own: nil)
    }

    private func unconditional(own: UInt64?) -> DownloadRequest {
        var (request, fields) = (self, sent.value)
        fields.own = own
        fields.rare = RareFields(content, delegates, limits, nil).map(HashedOnce.init)
        request.sent = Sent(fields)
        return request
    }

    /// The limits of the last request: those that wait mostly share them.
    private static let lastLimits = LastValue<DownloadLimits, HashedOnce<DownloadLimits>>()
    private static let lastOwn = Atomic<UInt64>(0)

    /// The URL as libcurl parses it.
    package var webURL: WebURL { sent.value.webURL }
    package var transfer: TransferOptions { sent.value.transfer }
    package var delegates: DownloadDelegates? { sent.value.rare?.value.delegates }
    package var method: RequestMethod { sent.value.method }
    package var body: [UInt8]? { sent.value.rare?.value.body }
    /// The validators that make the request conditional: the server may answer 304 instead of sending the body again.
    package var validators: Validators? { sent.value.rare?.value.validators }

    /// The validators that may be sent to a URL, which may be the target of a redirect.
    package func validators(for url: String, isRedirected: Bool) -> Validators? {
        validators.flatMap { $0.isDirect && !isRedirected || ExactText($0.url) == ExactText(url) ? $0 : nil }
    }

    /// Scheme, host and port: connections are counted by it.
    package var origin: String { webURL.origin }

    /// The URL as given by the first of the callers that share the download.
    package var url: String { sent.value.givenURL.value }

    /// The part of the request that the caller chose.
    package var content: RequestContent { sent.value.rare?.value.content.value ?? RequestContent() }

    /// The directives of the request's `Cache-Control`. `nil`: it has none.
    package var cacheControl: CacheControl? { content.headers.isEmpty ? nil : CacheControl(of: content.headers) }
}

extension DownloadRequest {
    /// `true` when a partial body of this request may be resumed. Not when the request has conditions or a range, nor
    /// when a delegate may change what is sent, because the credentials of the partial body are unknown then.
    var canResume: Bool {
        validators == nil && method == .get
            && delegates?.questions.isDisjoint(with: [.modifyRequest, .redirect, .challenge]) ?? true
            && !content.headers.contains { name, value in
                let name = name.lowercased()
                return name.hasPrefix("if-") || name == "range" || name == "accept-encoding"
                    || name == "cache-control" && CacheControl(value).noStore
            }
    }

    /// A digest of everything that is sent: equal for requests with the same body.
    var resumeIdentity: Digest { identity() }

    /// A digest that is equal for two requests, of any process, that fetch the same body for the same destination. It
    /// covers everything that is sent, so that nobody waits for a body fetched with other credentials.
    ///
    /// - Parameters:
    ///   - place: The name of the destination.
    ///   - marks: Further properties that distinguish the request.
    package func identity(at place: [String] = ["", ""], marks: [String] = []) -> Digest {
        var content = content
        content.authorization = content.authorization ?? webURL.credentials
        var fields = place + [webURL.text] + marks + content.texts
        // No header's name has upper-case letters here, so these words cannot collide with one.
        if method != .get {
            fields += ["METHOD", method.rawValue, (body ?? []).withUnsafeBytes { Digest(of: $0) }.hex]
        }
        if let dataModifier { fields += ["MODIFIER", dataModifier.rawValue] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.reduce(0) { $0 + $1.utf8.count + 8 })
        for field in fields {
            withUnsafeBytes(of: field.utf8.count.littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: field.utf8)
        }
        return bytes.withUnsafeBytes { Digest(of: $0) }
    }
}
