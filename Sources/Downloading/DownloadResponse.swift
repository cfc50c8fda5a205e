package import HTTPSemantics
internal import ImageErrors
internal import Platform

/// A response without its body.
package struct DownloadResponse: Sendable {
    package var status = 0
    package var url = ""
    package var contentType: String?
    package var etag: String?
    package var lastModified: String?
    /// `true` when it confirms the stored body.
    package var isConfirmation = false
    /// The header fields of the final response: lower-case names, repeated fields joined by commas.
    package var fields: [String: String] = [:]

    package init() {}

    /// The compressions of the body that the server declares, in the order in which they were applied. `nil`: one of
    /// them is not undone here.
    var codings: [ContentCoding]? { ContentCoding.list(in: fields["content-encoding"] ?? "") }

    /// The compression that makes the response unusable. `nil`: none.
    var foreignCompression: String? {
        if codings == nil { return fields["content-encoding"] }
        // libcurl would undo it without a bound.
        return fields["transfer-encoding"].flatMap { ContentCoding.list(in: $0) == [] ? nil : $0 }
    }

    /// Lets the fields describe the decoded body.
    mutating func noteDecoded(count: Int, hasEnded: Bool) {
        for name in ["content-encoding", "content-length"] { fields[name] = nil }
        guard fields["content-range"] != nil else { return }
        fields["content-range"] = "bytes 0-\(max(count, 1) - 1)/\(hasEnded ? "\(count)" : "*")"
    }
}

package struct Download: Sendable {
    /// The whole seconds between the last request and its response.
    package var delay = 0
    package let response: DownloadResponse
    package var body: DownloadedBody
    package var route: [RedirectConstraints.Redirect] = []
    /// The names of the header fields that were added to the requests after redirects, in lower case.
    package var addedFields: Set<String> = []
    /// Credentials from other sources than the request; see `Logins` of the engine.
    package var login: String?
    /// What the configuration added when ``login`` has credentials from there.
    package var configuration: ConfiguredCredentials?
    /// Result and timing. `nil`: no transfer brought it.
    package var report: DownloadReport.Shared?

    package init(response: DownloadResponse, body: DownloadedBody) { (self.response, self.body) = (response, body) }
}

/// The progress of a download.
public struct DownloadProgress: Sendable, Equatable {
    /// The number of received bytes of the body.
    public let received: Int
    /// The size of the whole body in bytes. `nil`: the server does not declare it.
    public let total: Int?

    /// Creates a progress value.
    public init(received: Int, total: Int?) {
        self.received = received
        self.total = total
    }
}

extension DownloadRequest {
    /// The error that there are more redirects than accepted. `nil`: there are not.
    func error(after redirects: Int) -> ImageError? {
        guard redirects > limits.maxRedirects else { return nil }
        return DownloadLimitName.maxRedirects.error("it redirects more than \(limits.maxRedirects) times", source: url)
    }

    /// The error of a response, by the redirects that led to it, its status and headers, and the decision of a delegate, if
    /// it made one. `nil`: it is accepted.
    func error(in response: DownloadResponse, after redirects: Int = 0, accepted: Bool?) -> ImageError? {
        if let error = error(after: redirects) { return error }
        let status = response.status
        if response.isConfirmation { return nil }
        switch accepted {
        case true: break
        case false: return statusError(of: response)
        default:
            if status == 304, limits.validStatusCodes == nil { return .notModified(url: url) }
            if !limits.accepts(status: status) { return statusError(of: response) }
        }
        if let types = limits.acceptContentTypes, accepted != true, let type = response.contentType,
            !MediaType.matches(type, types)
        {
            let wanted = types.sorted().joined(separator: ", ")
            return .badData(
                reason: "The server calls it \(type.excerpt), and acceptContentTypes allows only \(wanted).",
                source: url, sample: ContentSample(contentType: type))
        }
        if let coding = response.foreignCompression {
            return .badData(
                reason: "The server compressed it in a way that is not undone here (\(coding.excerpt)).", source: url)
        }
        return nil
    }

    private func statusError(of response: DownloadResponse) -> ImageError {
        let text = response.fields["retry-after"]
        return .invalidStatusCode(
            response.status, url: url, retryAfter: text.flatMap { HTTPDate.delay($0, now: wallSeconds()) })
    }
}
