/// The errors that each method can give, for the document. Those that JSON-RPC defines for every message are not listed.
enum MethodErrors {
    /// The names of the errors, in the order of the document.
    static func names(of method: Method) -> [String] {
        var names = method.params.isEmpty && method.isLenient ? [] : ["invalidParams"]
        let own = loadingErrors[method.name] ?? []
        if !own.isEmpty { names.append("internalError") }
        return names + ["requestCancelled", "serverCancelled"]
            + ErrorCode.allCases.filter { own.contains($0) }.map { "\($0)" }
    }

    /// The errors of work with images that each method can give besides those of the protocol.
    private static let loadingErrors: [String: Set<ErrorCode>] = {
        let loading = Set(ErrorCode.allCases)
        var errors: [String: Set<ErrorCode>] = [
            "retrieve": loading, "download": loading, "probe": loading,
            "store": [
                .badData, .processingFailed, .limitExceeded, .invalidURL, .unreadableFile, .notCached, .storageFailed,
            ],
            "explain": [.invalidURL, .forbiddenAddress, .storageFailed], "inspect": [.notCached, .storageFailed],
            "prefetch": [.storageFailed],
        ]
        for name in [
            "remove", "isCached", "cachePath", "calculateSize", "clear", "clearMemory", "clearDisk", "list",
            "cleanExpired", "verify", "configure", "addReadOnlyCachePath", "caches",
        ] {
            errors[name] = [.storageFailed]
        }
        return errors
    }()
}
