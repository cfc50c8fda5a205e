import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An answer to which a redirect led is good as long as that is, and only its own server says that it has not changed
/// (RFC 9111, 3, 4 and 4.3).
@Suite struct RedirectedAnswerTests {
    private struct Redirect: Sendable {
        var status = 302
        var headers: [String: String] = [:]
        var target = "/new"
    }

    private final class Web: Sendable { let redirect = Mutex<Redirect?>(Redirect()) }

    private let engine: TestEngine
    private let web = Web()
    private let server: LocalServer

    init() throws {
        engine = try TestEngine()
        server = try LocalServer { [web] request in
            if request.path == "/a", let redirect = web.redirect.withLock({ $0 }) {
                return .reply(redirect.status, redirect.headers.merging(["Location": redirect.target]) { $1 }, [])
            }
            // Servers number their versions alike.
            let headers = ["ETag": "\"1\"", "Cache-Control": "max-age=1000"]
            if request.headers["if-none-match"] == "\"1\"" { return .reply(304, headers, []) }
            return .reply(200, headers, hollowPNG(width: request.path == "/old" ? 8 : 7))
        }
    }

    private func set(_ change: (inout Redirect) -> Void) {
        web.redirect.withLock { redirect in
            var changed = Redirect()
            change(&changed)
            redirect = changed
        }
    }

    private func image(
        _ mode: Revalidation = .http, _ path: String = "/a", key: String? = nil,
        _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await engine.image(server.url(path), key: key) {
            $0.lookup.revalidate = mode
            change(&$0)
        }
    }

    /// What was asked, with a star where the server was asked for changes only.
    private var asked: [String] {
        server.requests.map { $0.path + ($0.headers["if-none-match"] == nil ? "" : "*") }
    }

    @Test(arguments: [Revalidation.http, .always])
    func validatorsSayNothingToAnotherTarget(mode: Revalidation) async throws {
        #expect(try await image(mode).record.header.width == 7)
        #expect(try await image(mode).isRevalidated)
        #expect(asked == ["/a", "/new", "/a", "/new*"])
        set { $0.target = "/old" }
        let changed = try await image(mode)
        #expect(changed.record.header.width == 8 && !changed.isRevalidated)
        // Nor does it say anything when there is no redirect any more.
        web.redirect.withLock { $0 = nil }
        #expect(try await image(mode).record.header.width == 7)
        #expect(asked.suffix(3) == ["/a", "/old", "/a"])
        #expect(try await image(.always).isRevalidated)
        set { $0.target = "/old" }
        #expect(try await image(.always).record.header.width == 8)
        #expect(asked.suffix(3) == ["/a*", "/a*", "/old"])
    }

    @Test func validatorsOfOneKeyGoToEveryURLThatItIsAskedForBy() async throws {
        _ = try await image(.always, "/b?token=1", key: "b")
        let other = try await image(.always, "/b?token=2", key: "b")
        #expect(other.isRevalidated)
        #expect(asked == ["/b?token=1", "/b?token=2*"])
    }

    private static let timed: [(status: Int, headers: [String: String], seconds: Int?)] = [
        (302, [:], 0), (303, [:], 0), (307, [:], 0), (301, [:], nil), (308, [:], nil),
        (302, ["Cache-Control": "max-age=60"], 60), (301, ["Cache-Control": "max-age=60"], 60),
        (302, ["Cache-Control": "max-age=60", "Age": "20"], 40), (308, ["Cache-Control": "no-cache"], 0),
        (302, ["Cache-Control": "max-age=5000"], nil), (301, ["Expires": "0"], 0),
        (307, ["Cache-Control": "max-age=60, stale-while-revalidate=10"], 60),
    ]

    @Test(arguments: timed.indices)
    func answerIsFreshAsLongAsWhatLedThere(index: Int) async throws {
        let (status, headers, seconds) = Self.timed[index]
        set { ($0.status, $0.headers) = (status, headers) }
        _ = try await image()
        for round in 1...2 {
            if let seconds {
                engine.clock.advance(seconds: Double(max(0, seconds - 1)))
                #expect(try await image().isRevalidated == (seconds == 0))
                engine.clock.advance(seconds: 1)
                #expect(try await image().isRevalidated)
                #expect(asked.count == (seconds == 0 ? 4 : 2) * round + 2)
            } else {
                engine.clock.advance(seconds: 400)
                #expect(try await image().cacheType != .none)
                #expect(asked.count == 2)
            }
        }
    }

    @Test func answerIsNotKeptWhenWhatLedThereMustNotBe() async throws {
        set { $0.headers = ["Cache-Control": "no-store"] }
        for _ in 0..<2 {
            let image = try await engine.image(server.url("/a"), bytes: true) { $0.lookup.revalidate = .http }
            #expect(image.bytes == hollowPNG(width: 7))
        }
        #expect(asked == ["/a", "/new", "/a", "/new"])
        #expect(engine.blobs.isEmpty)
        #expect(try await image(.never).record.path != nil, "only who goes by headers goes by these")
    }

    @Test func answerIsChosenByWhatTheOneWasChosenByThatLedThere() async throws {
        set { ($0.status, $0.headers) = (301, ["Vary": "X-Size", "Cache-Control": "max-age=500"]) }
        func load(_ size: String) async throws -> Bool {
            let before = asked.count
            _ = try await image { $0.network.request.headers = ["X-Size": size] }
            return asked.count == before
        }
        #expect(try await !load("1"))
        #expect(try await load("1"))
        #expect(try await !load("2"))
        #expect(try await load("2"))
        set { ($0.status, $0.headers) = (301, ["Vary": "*"]) }
        #expect(try await !load("3"))
        #expect(try await !load("3"))
    }
}
