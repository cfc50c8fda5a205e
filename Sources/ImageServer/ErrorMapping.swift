internal import ImageEngine
internal import JSONRPC

extension ImageError {
    /// The error on the wire. The one place where engine errors get their codes; the compiler finds a forgotten case.
    func rpcError(key: String? = nil) -> RPCError {
        var details: [(name: String, value: RPCError.Detail)] = []
        let kind: (code: Int, name: String)
        func url(_ url: String) { details.append(("url", .string(url))) }
        switch self {
        case .badData(_, let source):
            kind = (10000, "badData")
            url(source)
        case .notModified(let source):
            kind = (10001, "notModified")
            url(source)
        case .invalidStatusCode(let status, let source):
            kind = (10002, "invalidStatusCode")
            details.append(("statusCode", .integer(status)))
            url(source)
        case .notCached, .offline: kind = (10003, "notCached")
        case .remembered(let failure):
            var error = failure.rpcError(key: key)
            error.details.append(("cached", .boolean(true)))
            return error
        case .processingFailed: kind = (10004, "processingFailed")
        case .limitExceeded(let limit, _, let source):
            kind = (10005, "limitExceeded")
            details.append(("limit", .string(limit)))
            url(source)
        case .invalidURL(let source, _):
            kind = (20000, "invalidURL")
            url(source)
        case .connectionFailed(let source, _):
            kind = (20001, "connectionFailed")
            url(source)
        case .timedOut(let source, let option, _):
            kind = (20002, "timedOut")
            details.append(("limit", .string(option)))
            url(source)
        case .tlsFailed(let source, _):
            kind = (20003, "tlsFailed")
            url(source)
        case .forbiddenAddress(let source, _):
            kind = (20004, "forbiddenAddress")
            url(source)
        case .downloadCancelledBeforeStarting(let source):
            kind = (30000, "downloadCancelledBeforeStarting")
            url(source)
        case .storageFailed(_, let hint):
            kind = (40000, "storageFailed")
            details.append(("hint", .string(hint)))
        }
        if let key { details.append(("key", .string(key))) }
        return RPCError(
            code: kind.code, name: kind.name, message: description, isRetryable: isRetryable,
            details: details.map { detail in
                // A data URL of megabytes must not come back with its error.
                guard case .string(let text) = detail.value, text.utf8.count > 2048 else { return detail }
                return (detail.name, .string(String(text.prefix(256)) + "…"))
            })
    }
}

/// Any failure of a handler as the error for its caller.
func rpcError(_ error: any Error, key: String? = nil) -> RPCError {
    switch error {
    case let error as RPCError: error
    case let error as ImageError: error.rpcError(key: key)
    case is CancellationError: .requestCancelled
    default: .internalError("Something went wrong inside the server: \(error).")
    }
}
