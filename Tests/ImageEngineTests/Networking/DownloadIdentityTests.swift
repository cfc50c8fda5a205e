import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import ImageEngine
@testable import Platform

@Suite struct DownloadIdentityTests {
    @Test func flightsDifferInAllThatIsSentAndInWhereItGoes() throws {
        func identity(
            _ url: String = "http://h/a", _ key: String = "k", _ change: (inout ImageOptions) -> Void = { _ in }
        ) throws -> Digest {
            try DownloadRequest(url: url, options: ImageOptions(change).network).flight(to: CacheKey(key))
        }
        let all = [
            try identity(), try identity("http://h/b"), try identity("http://h/a", "l"),
            try identity { $0.network.request.headers = ["a": "b"] },
            try identity { $0.network.request.headers = ["ab": ""] },
            try identity { $0.network.request.authorization = .basic(user: "a", password: "b") },
            try identity { $0.network.request.authorization = .basic(user: "ab", password: "") },
            try identity { $0.network.request.authorization = .bearer("ab") },
            try identity { $0.network.request.headers = ["bearer": "ab"] },
        ]
        #expect(Set(all).count == all.count)
        let patient = try identity {
            $0.network.limits.timeout = 99
            $0.network.limits.maxBytes = 5
        }
        #expect(try patient == identity(), "how long one waits is one's own business")
    }

    /// The mask belongs to the whole process; no other test depends on it.
    @Test func spooledBodiesAreForTheOwnerAloneWhateverTheMask() throws {
        let engine = try TestEngine()
        for mask: mode_t in [0o000, 0o077] {
            let old = umask(mask)
            defer { umask(old) }
            let spooled = BodySpool(SpoolPlace(makePath: { try engine.cache.disk.folder.partialPath() }))
            try zeros(BodySpool.memoryLimit + 1).withUnsafeBytes { try spooled.append($0, expected: nil) }
            #expect(engine.partials.count == 1)
            for entry in engine.partials { #expect(mode(engine.folder.path + "/" + entry) == 0o600) }
        }
    }
}
