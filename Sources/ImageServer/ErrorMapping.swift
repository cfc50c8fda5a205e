internal import ImageEngine
internal import JSONRPC
internal import Platform

/// The code of an engine error in the protocol, by the name of the error.
package enum ErrorCode: Int, CaseIterable {
    case badData = 10000
    case notModified = 10001
    case invalidStatusCode = 10002
    case notCached = 10003
    case processingFailed = 10004
    case limitExceeded = 10005
    case dataModifyingFailed = 10006
    case invalidURL = 20000
    case connectionFailed = 20001
    case timedOut = 20002
    case tlsFailed = 20003
    case forbiddenAddress = 20004
    case unreadableFile = 20005
    case downloadCancelledBeforeStarting = 30000
    case storageFailed = 40000

    /// The sentence of the document.
    var summary: String {
        switch self {
        case .badData: "The bytes are not an image that the engine can read, or they are cut off."
        case .notModified: "A 304 came to a request that carried no validator."
        case .invalidStatusCode: "The server answered with a status that is not accepted."
        case .notCached: "The cache does not have it, and nothing may be loaded for it."
        case .processingFailed: "A processor could not do its work, or there is no codec worker."
        case .limitExceeded: "A limit was exceeded; data.limit names it."
        case .dataModifyingFailed: "The downloaded bytes are not what dataModifier expects."
        case .invalidURL: "The text is not a URL that may be loaded."
        case .connectionFailed: "The server could not be reached, or closed the connection early."
        case .timedOut: "No bytes came for too long, or the whole request took too long."
        case .tlsFailed: "The certificate or the handshake failed."
        case .unreadableFile: "There is no such file, or it cannot be read."
        case .forbiddenAddress: "The configuration does not allow the host or the network."
        case .downloadCancelledBeforeStarting: "The client, asked about the request, wanted none to be sent."
        case .storageFailed: "The cache folder cannot be used; data.hint says what to do."
        }
    }
}

extension ImageError {
    /// The error of a request for an image, with its key.
    func rpcError(of resource: Resource) -> RPCError {
        rpcError(key: resource.cacheKey, isGiven: resource.url.isEmpty)
    }

    /// The error for the protocol. The compiler finds a missing case.
    ///
    /// - Parameter isGiven: `true` when the image was given under the key, which is then no URL that it comes from.
    func rpcError(key: String? = nil, isGiven: Bool = false) -> RPCError {
        if case .afterAttempts(let attempts) = self, let first = attempts.first {
            var error = first.error.first.rpcError(key: key, isGiven: isGiven)
            error.message = description
            // The limit keeps the error small for a request with a hundred retries of a hundred sources.
            error.details.append(("attempts", .objects(attempts.prefix(100).map(\.members))))
            return error
        }
        var details: [(name: String, value: RPCError.Detail)] = []
        let code: ErrorCode
        var key = key
        func url(_ url: String) { if !isGiven || url != key { details.append(("url", .string(url))) } }
        switch self {
        case .badData(_, let source, let sample):
            code = .badData
            url(source)
            details += sample?.details ?? []
        case .dataModifyingFailed(_, let source):
            code = .dataModifyingFailed
            url(source)
        case .notModified(let source):
            code = .notModified
            url(source)
        case .invalidStatusCode(let status, let source, let seconds):
            code = .invalidStatusCode
            details.append(("statusCode", .integer(status)))
            if let seconds { details.append(("retryAfter", .integer(Int(min(seconds, 1e9).rounded(.up))))) }
            url(source)
        case .notCached(let missing, let source):
            code = .notCached
            key = missing
            source.map(url)
        case .offline(let missing, let source):
            code = .notCached
            key = missing
            url(source)
        case .remembered(let failure):
            var error = failure.rpcError(key: key, isGiven: isGiven)
            error.details.append(("cached", .boolean(true)))
            return error
        case .processingFailed: code = .processingFailed
        case .notStored(let reason, let error):
            var error = error.rpcError(key: key, isGiven: isGiven)
            error.details.append(("stored", .string(reason.rawValue)))
            return error
        case .limitExceeded(let limit, _, let source):
            code = .limitExceeded
            details.append(("limit", .string(limit)))
            url(source)
        case .invalidURL(let source, _):
            code = .invalidURL
            url(source)
        case .connectionFailed(let source, _):
            code = .connectionFailed
            url(source)
        case .timedOut(let source, let option, _):
            code = .timedOut
            details.append(("limit", .string(option)))
            url(source)
        case .tlsFailed(let source, _):
            code = .tlsFailed
            url(source)
        case .unreadableFile(let source, _):
            code = .unreadableFile
            url(source)
        case .forbiddenAddress(let source, _):
            code = .forbiddenAddress
            url(source)
        case .downloadCancelledBeforeStarting(let source):
            code = .downloadCancelledBeforeStarting
            url(source)
        case .afterAttempts: code = .connectionFailed
        case .storageFailed(_, let hint, _):
            code = .storageFailed
            details.append(("hint", .string(hint)))
        }
        if let key { details.append(("key", .string(key))) }
        return RPCError(
            code: code.rawValue, name: name, message: description, isRetryable: isRetryable,
            details: details.map { detail in
                // A key or a data URL of megabytes must not be repeated in its error. A hint is the server's own.
                guard detail.name != "hint", case .string(let text) = detail.value else { return detail }
                return (detail.name, .string(text.shortened))
            })
    }
}

extension ImageError.Attempt {
    /// The attempt as an object of the protocol.
    fileprivate var members: [RPCError.Member] {
        let error = error.first.rpcError()
        let milliseconds = Int(min(max(seconds, 0), 1e9) * 1000)
        return [
            RPCError.Member("url", .string(url.shortened)),
            RPCError.Member("code", .integer(error.code)), RPCError.Member("name", .string(error.name)),
            RPCError.Member("message", .string(error.message)),
        ] + RenamedMember.seconds.members(.number(Double(milliseconds) / 1000), former: .integer(milliseconds))
            + RenamedMember.byteCount.members(.integer(bytes))
            + (status.map { RenamedMember.statusCode.members(.integer($0)) } ?? [])
    }
}

/// The error for the caller, from any failure of a handler.
func rpcError(_ error: any Error, key: String? = nil) -> RPCError {
    switch error {
    case let error as RPCError: error
    case let error as ImageError: error.rpcError(key: key)
    case is CancellationError: .requestCancelled
    default: .internalError("Something went wrong inside the server: \(error).")
    }
}

extension ContentSample {
    /// The sample as members of an error's `data`.
    fileprivate var details: [(name: String, value: RPCError.Detail)] {
        var details: [(name: String, value: RPCError.Detail)] = []
        if let type { details.append(("sniffedType", .string(type))) }
        if let contentType { details.append(("contentType", .string(contentType))) }
        if !firstBytes.isEmpty { details.append(("firstBytes", .string(Self.hex(firstBytes)))) }
        return details
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return bytes.reduce(into: "") { text, byte in
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
    }
}
