import Synchronization
import TestSupport

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A web server with one picture whose version, validators and headers the test sets.
final class PictureServer: Sendable {
    struct State: Sendable {
        var picture = hollowPNG(width: 7)
        var etag: String? = "\"1\""
        var lastModified: String?
        var headers: [String: String] = [:]
        /// What comes beside the validators in a 304.
        var confirmation: [String: String] = [:]
        /// Answered instead of anything else.
        var failure: Int?
        /// The `Retry-After` of failures.
        var retryAfter: String?
        /// Whether every conditional request is answered with 304.
        var confirmsAlways = false
        /// The tag of its 304s, if it is another one.
        var otherTag: String?
    }

    private let state: Box
    let server: LocalServer

    private final class Box: Sendable { let state = Mutex(State()) }

    init() throws {
        let box = Box()
        state = box
        server = try LocalServer { request in
            let state = box.state.withLock { $0 }
            var headers: [String: String] = [:]
            if let failure = state.failure {
                headers["Retry-After"] = state.retryAfter
                return .reply(failure, headers, [])
            }
            headers["ETag"] = state.etag
            headers["Last-Modified"] = state.lastModified
            let asked = request.headers["if-none-match"]
            let date = request.headers["if-modified-since"]
            let isSame = asked != nil ? asked == state.etag : date != nil && date == state.lastModified
            guard (asked ?? date) != nil, isSame || state.confirmsAlways else {
                return .reply(200, headers.merging(state.headers) { $1 }, state.picture)
            }
            if let other = state.otherTag { headers["ETag"] = other }
            return .reply(304, headers.merging(state.confirmation) { $1 }, [])
        }
    }

    deinit { server.stop() }

    func set(_ change: @Sendable (inout State) -> Void) { state.state.withLock { change(&$0) } }
    var url: String { server.url("/a.png") }
    var count: Int { server.requests.count }
    var conditions: [String?] { server.requests.map { $0.headers["if-none-match"] ?? $0.headers["if-modified-since"] } }
}
