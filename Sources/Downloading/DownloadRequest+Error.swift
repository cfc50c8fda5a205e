internal import HTTPSemantics
internal import ImageErrors
internal import Platform

extension DownloadRequest {
    /// The error of a response, by its status and headers. `nil`: it is accepted.
    ///
    /// - Parameter accepted: The decision of a delegate, if it made one.
    func error(in response: DownloadResponse, accepted: Bool?) -> ImageError? {
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
        if let coding = response.compression {
            return .badData(
                reason: "The server compressed it (\(coding.excerpt)), though that was not accepted.", source: url)
        }
        return nil
    }

    private func statusError(of response: DownloadResponse) -> ImageError {
        let text = response.fields["retry-after"]
        return .invalidStatusCode(
            response.status, url: url, retryAfter: text.flatMap { HTTPTime.delay($0, now: wallSeconds()) })
    }
}
