internal import Platform
internal import Synchronization

/// The credentials that downloads used beyond those of their requests: from challenge responses, redirects or a netrc
/// file. An equal request may be answered with the images of such downloads.
///
/// They last as long as the process, those from the configuration as long as that; after that, their images are loaded
/// again.
final class Logins: Sendable {
    /// The properties shared by requests that would use the same credentials.
    struct Request: Hashable, Sendable {
        /// Scheme, host and port.
        let origin: String
        let credentials: String?
        let delegates: DownloadDelegates?
        /// The configuration that added some of the credentials; `nil`: none are from there.
        var configuration: ConfiguredCredentials?
    }

    /// The largest number of requests; one more clears all.
    static let requestLimit = 256
    static let loginLimit = 8

    private let known = Mutex<[Request: [String]]>([:])
    private let count = Atomic(0)

    /// `true` when none is known. Asked for every hit.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func note(_ login: String, of request: Request) {
        known.withLock { known in
            if known.count >= Self.requestLimit, known[request] == nil { known = [:] }
            let others = known[request, default: []].filter { ExactText($0) != ExactText(login) }
            known[request] = [login] + others.prefix(Self.loginLimit - 1)
            count.store(known.count, ordering: .relaxed)
        }
    }

    /// The credentials that downloads of equal requests used, the latest first.
    func all(of request: Request) -> [String] { known.withLock { $0[request] ?? [] } }
}
