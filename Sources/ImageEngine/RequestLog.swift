internal import ImageErrors
internal import Logging

/// Lines of the log about single requests, for `--log-level debug`: what the cache could not answer, what became of each
/// download, and what was not stored.
///
/// They name URLs, which are private: no other level does. Names and passwords, queries and fragments are left out, and with
/// them most of what is secret.
enum RequestLog {
    private static let logger = Logger(label: "halcyon.images")

    /// Notes an image that is loaded, with the reason why no cache answers.
    static func miss(_ url: String, _ reason: CacheDecision.Reason) {
        logger.debug("not answered from the cache", metadata: ["url": "\(shown(url))", "reason": "\(reason)"])
    }

    /// Notes a download that has ended well, so many nanoseconds after it was asked for.
    static func downloaded(_ download: Download, _ url: String, nanoseconds: Int) {
        logger.debug(
            "downloaded",
            metadata: [
                "url": "\(shown(url))", "bytes": "\(download.body.count)", "status": "\(download.response.status)",
                "milliseconds": "\(nanoseconds / 1_000_000)",
            ])
    }

    /// Notes a download that has failed, by the stable name of the error: its sentence holds the whole URL.
    static func failed(_ error: any Error, _ url: String) {
        let name = (error as? ImageError)?.name ?? "\(type(of: error))"
        logger.debug("not downloaded", metadata: ["url": "\(shown(url))", "error": "\(name)"])
    }

    /// Notes an image that no tier keeps, of a request that is told so.
    static func notStored(_ url: String, _ reason: NotStoredReason) {
        logger.debug("not stored", metadata: ["url": "\(shown(url))", "reason": "\(reason.rawValue)"])
    }

    private static func shown(_ url: String) -> String {
        if url.prefix(5).lowercased() == "data:" { return "data:" }
        return String(url.prefix { $0 != "?" && $0 != "#" }).excerpt
    }
}
