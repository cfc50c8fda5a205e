import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A name that had a public address, and has one inside when another process asks for it.
@Suite struct ResolvedNameTests {
    private let folder: TemporaryFolder
    private let web: LocalServer

    init() throws {
        folder = try TemporaryFolder()
        web = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
    }

    private var url: String { "http://localhost:\(web.port)" }

    /// An engine that takes this machine for a public one, or not.
    private func engine(
        _ folder: TemporaryFolder? = nil, isPublic: Bool = false, _ reach: NetworkPolicy.Reach = .noCrossover
    ) throws -> TestEngine {
        try TestEngine(folder: folder ?? self.folder) {
            $0.downloader.proxy = .none
            $0.downloader.policy.reach = reach
            if isPublic { $0.downloader.network.classify = { _ in .public } }
        }
    }

    private func isForbidden(_ engine: TestEngine, _ path: String) async throws -> Bool {
        do {
            _ = try await engine.image(url + path)
            return false
        } catch ImageError.forbiddenAddress { return true }
    }

    @Test func theNextProcessDoesNotFollowANameThatFlippedInside() async throws {
        let (first, running) = (try engine(isPublic: true), try engine())
        #expect(try await !isForbidden(running, "/before"), "asked for directly, and never public")
        #expect(try await !isForbidden(first, "/a"))
        #expect(try await isForbidden(running, "/b"), "a process that runs hears of it")
        first.manager.flush()
        #expect(try await isForbidden(engine(), "/c"))
        #expect(try await !isForbidden(engine(nil, .any), "/d"))
        #expect(try await !isForbidden(engine(TemporaryFolder()), "/e"), "another folder knows nothing of it")
        let list = try Files.read(folder.path + "/cache/default/names", followsLinks: false)
        #expect(!String(decoding: list, as: UTF8.self).contains("localhost"))
        _ = try first.cache.clear()
        #expect(try await isForbidden(engine(), "/f"), "nor does clear make it forget")
    }

    @Test func linesOfOthersAreReadOnceAndTornOnesWhenTheyAreWhole() throws {
        let storage = StorageFolder(path: folder.path + "/lines")
        let (one, other) = (SharedLines(storage, name: "n"), SharedLines(storage, name: "n"))
        #expect(one.news().isEmpty)
        other.add("a 0")
        other.add("b 1")
        #expect(one.news() == ["a 0", "b 1"] && one.news().isEmpty)
        let file = try #require(FileHandle(forWritingAtPath: storage.path + "/n"))
        try file.seekToEnd()
        try file.write(contentsOf: Data("c".utf8))
        #expect(one.news().isEmpty)
        try file.write(contentsOf: Data(" 2\n".utf8))
        #expect(one.news() == ["c 2"])
    }

    @Test func theListIsBounded() throws {
        let storage = StorageFolder(path: folder.path + "/lines")
        let lines = SharedLines(storage, name: "n")
        let long = String(repeating: "x", count: 4000)
        for number in 0..<200 { lines.add("\(long)\(number)") }
        let size = try #require(FileStamp(path: storage.path + "/n")).size
        #expect(size <= SharedLines.sizeLimit + 5000)
        let news = SharedLines(storage, name: "n").news()
        #expect(news.last == "\(long)199" && news.allSatisfy { $0.hasPrefix(long) }, "no line is torn")
    }
}
