internal import Platform
internal import Synchronization

/// Credentials that downloads were given besides those of their requests, by answers to challenges, by redirects or from
/// a netrc file: who asks in the same way again may be answered with what they brought.
///
/// Known as long as the process lives: after that an image of theirs is loaded once more.
final class Logins: Sendable {
    /// What two requests have in common that would be given the same.
    struct Request: Hashable, Sendable {
        /// Scheme, host and port.
        let origin: String
        /// What the request itself gives.
        let credentials: String?
        let delegates: DownloadDelegates?
    }

    /// How many requests are known; beyond that all are forgotten.
    static let requestLimit = 256
    /// How many logins of one request are known.
    static let loginLimit = 8

    private let known = Mutex<[Request: [String]]>([:])

    /// Takes note of what a download was given.
    func note(_ login: String, of request: Request) {
        known.withLock { known in
            if known.count >= Self.requestLimit, known[request] == nil { known = [:] }
            let others = known[request, default: []].filter { ExactText($0) != ExactText(login) }
            known[request] = [login] + others.prefix(Self.loginLimit - 1)
        }
    }

    /// What downloads of such requests were given, the latest first.
    func all(of request: Request) -> [String] { known.withLock { $0[request] ?? [] } }
}
