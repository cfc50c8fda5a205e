internal import ImageEngine
internal import JSONRPC

extension ImageError {
    /// The error for the protocol. Only this method assigns codes to engine errors; the compiler finds a missing case.
    func rpcError(key: String? = nil) -> RPCError {
        if case .afterAttempts(let attempts) = self, let first = attempts.first {
            var error = first.error.first.rpcError(key: key)
            error.message = description
            // The limit keeps the error small for a request with a hundred retries of a hundred sources.
            error.details.append(("attempts", .objects(attempts.prefix(100).map(\.members))))
            return error
        }
        var details: [(name: String, value: RPCError.Detail)] = []
        let code: Int
        func url(_ url: String) { details.append(("url", .string(url))) }
        switch self {
        case .badData(_, let source, let sample):
            code = 10000
            url(source)
            details += sample?.details ?? []
        case .dataModifyingFailed(_, let source):
            code = 10006
            url(source)
        case .notModified(let source):
            code = 10001
            url(source)
        case .invalidStatusCode(let status, let source, let seconds):
            code = 10002
            details.append(("statusCode", .integer(status)))
            if let seconds { details.append(("retryAfter", .integer(Int(min(seconds, 1e9).rounded(.up))))) }
            url(source)
        case .notCached, .offline: code = 10003
        case .remembered(let failure):
            var error = failure.rpcError(key: key)
            error.details.append(("cached", .boolean(true)))
            return error
        case .processingFailed: code = 10004
        case .limitExceeded(let limit, _, let source):
            code = 10005
            details.append(("limit", .string(limit)))
            url(source)
        case .invalidURL(let source, _):
            code = 20000
            url(source)
        case .connectionFailed(let source, _):
            code = 20001
            url(source)
        case .timedOut(let source, let option, _):
            code = 20002
            details.append(("limit", .string(option)))
            url(source)
        case .tlsFailed(let source, _):
            code = 20003
            url(source)
        case .forbiddenAddress(let source, _):
            code = 20004
            url(source)
        case .downloadCancelledBeforeStarting(let source):
            code = 30000
            url(source)
        case .afterAttempts: code = 20001
        case .storageFailed(_, let hint, _):
            code = 40000
            details.append(("hint", .string(hint)))
        }
        if let key { details.append(("key", .string(key))) }
        return RPCError(
            code: code, name: name, message: description, isRetryable: isRetryable,
            details: details.map { detail in
                // A data URL of megabytes must not be repeated in its error.
                guard case .string(let text) = detail.value, text.utf8.count > 2048 else { return detail }
                return (detail.name, .string(String(text.prefix(256)) + "…"))
            })
    }
}

extension ImageError.Attempt {
    /// The attempt as an object of the protocol.
    fileprivate var members: [RPCError.Member] {
        let error = error.first.rpcError()
        return [
            RPCError.Member("url", .string(url.utf8.count > 2048 ? String(url.prefix(256)) + "…" : url)),
            RPCError.Member("code", .integer(error.code)), RPCError.Member("name", .string(error.name)),
            RPCError.Member("message", .string(error.message)),
            RPCError.Member("milliseconds", .integer(Int(min(max(seconds, 0), 1e9) * 1000))),
            RPCError.Member("bytes", .integer(bytes)),
        ] + (status.map { [RPCError.Member("status", .integer($0))] } ?? [])
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
