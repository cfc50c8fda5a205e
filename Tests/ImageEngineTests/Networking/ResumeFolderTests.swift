import Foundation
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

/// The folder of bodies that broke off: who works on them, what is believed of them, and how many are kept.
@Suite struct ResumeFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A process of its own over the same folder.
    private func engine() throws -> TestEngine { try TestEngine(folder: folder) { $0.downloader.proxy = .none } }

    private var parts: [String] { folder.files.filter { $0.contains("/resume/") } }

    private func note(_ etag: String = "\"v1\"") throws -> ResumeNote {
        var response = DownloadResponse()
        response.status = 200
        response.url = "http://a/"
        response.etag = etag
        response.fields = ["accept-ranges": "bytes"]
        return try #require(ResumeNote(response, length: 1 << 20))
    }

    private func write(_ count: Int, to part: ResumePart) throws {
        try zeros(count).withUnsafeBytes { try Files.writeAll($0, to: part.file.descriptor, part.file.path) }
    }

    @Test func onlyOneWorksOnABodyAndWhatADeadOneLeftIsTaken() throws {
        let storage = StorageFolder(path: folder.path + "/cache/default")
        let identity = Digest(of: "a")
        var part = ResumeFolder(storage).begin(identity, try note())
        try write(100_000, to: try #require(part))
        #expect(ResumeFolder(storage).part(of: identity) == nil, "somebody works on it")
        #expect(ResumeFolder(storage).begin(identity, try note()) == nil)
        part = nil
        let taken = try #require(ResumeFolder(storage).part(of: identity))
        #expect(try taken.file.count == 100_000 && taken.note == note())
        taken.file.drop()
        #expect(ResumeFolder(storage).part(of: identity) == nil)
        #expect(parts.isEmpty)
    }

    /// Who hears that an attempt has ended asks for the rest before the transfer has gone.
    @Test func bodyIsLetGoBeforeItsEndIsTold() async throws {
        let storage = StorageFolder(path: folder.path + "/cache/default")
        let place = SpoolPlace(makePath: { try storage.partialPath() }, resume: ResumeFolder(storage))
        let request = try DownloadRequest(url: "http://a/", options: NetworkOptions())
        let spool = BodySpool(place)
        spool.makeResumable(as: request, try note())
        try zeros(600_000).withUnsafeBytes { try spool.append($0, expected: nil) }
        #expect(ResumeFolder(storage).part(of: request.resumeIdentity) == nil, "it is being written")
        spool.interrupt(keeps: true)
        let part = try #require(ResumeFolder(storage).part(of: request.resumeIdentity))
        #expect(part.file.count == 600_000)
        // One that was taken and not gone on with.
        part.file.letGo()
        #expect(ResumeFolder(storage).part(of: request.resumeIdentity)?.file.count == 600_000)
        withExtendedLifetime((spool, part)) {}
    }

    @Test func noteOfAnotherFileOrADamagedOneIsNotBelieved() throws {
        let storage = StorageFolder(path: folder.path + "/cache/default")
        let identity = Digest(of: "a")
        do {
            let part = try #require(ResumeFolder(storage).begin(identity, try note()))
            try write(100_000, to: part)
        }
        let place = folder.path + "/cache/default/partial/resume/\(identity.hex)"
        let good = try String(contentsOfFile: place + ".note", encoding: .utf8)
        for bad in [
            "", "1\n", good.replacingOccurrences(of: "\n\"v1\"", with: "\n"), "3" + good.dropFirst(), good + "\n",
        ] {
            try bad.write(toFile: place + ".note", atomically: true, encoding: .utf8)
            #expect(ResumeFolder(storage).part(of: identity) == nil, "\(bad)")
        }
        try good.write(toFile: place + ".note", atomically: true, encoding: .utf8)
        #expect(ResumeFolder(storage).part(of: identity) != nil)
        try Data(zeros(100_000)).write(to: URL(fileURLWithPath: place), options: .atomic)
        #expect(ResumeFolder(storage).part(of: identity) == nil, "another file has come to its place")
    }

    @Test func atMostThirtyTwoAreKeptAndNoneForMoreThanADay() throws {
        let storage = StorageFolder(path: folder.path + "/cache/default")
        for number in 0..<40 {
            let part = try #require(ResumeFolder(storage).begin(Digest(of: "\(number)"), try note()))
            try write(70_000, to: part)
        }
        try ResumeFolder(storage).clean()
        #expect(parts.count { !$0.hasSuffix(".note") } == ResumeFolder.countLimit)
        for name in parts where !name.hasSuffix(".note") {
            let old = Date(timeIntervalSinceNow: -90_000)
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: folder.path + "/" + name)
        }
        try ResumeFolder(storage).clean()
        #expect(parts.isEmpty)
    }

    /// The names of bodies that are there.
    private var bodies: Set<String> {
        Set(parts.filter { !$0.hasSuffix(".note") }.map { URL(fileURLWithPath: $0).lastPathComponent })
    }

    /// Cleans until those are left and no others: a process that another test begins has our locks for a moment.
    private func awaitBodies(_ names: [String], _ storage: StorageFolder) async throws {
        let expected = Set(names.map { Digest(of: $0).hex })
        try await eventually("\(names) being left") {
            try ResumeFolder(storage).clean()
            return bodies == expected
        }
        #expect(parts.count == 2 * names.count, "each has its note")
    }

    @Test func oldestGoFirstAndTheTooLargeAloneWhenBytesAreTooMany() async throws {
        let storage = StorageFolder(path: folder.path + "/cache/default")
        func begin(_ name: String, _ count: Int) throws -> ResumePart {
            let part = try #require(ResumeFolder(storage).begin(Digest(of: name), try note()))
            try write(count, to: part)
            return part
        }
        for (hours, name) in ["d", "c", "b", "a"].enumerated() {
            let path = try begin(name, 100_000).file.path
            let date = Date(timeIntervalSinceNow: -3600 * Double(hours + 1))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        try await awaitBodies(["a", "b", "c", "d"], storage)
        storage.resumeLimit.store(300_000, ordering: .relaxed)
        do {
            let part = try begin("e", 200_000)
            try await awaitBodies(["b", "c", "d", "e"], storage)
            part.file.keep()
        }
        try await awaitBodies(["d", "e"], storage)
        do {
            let part = try begin("f", 300_001)
            part.file.keep()
            #expect(!bodies.contains(Digest(of: "f").hex))
        }
        try await awaitBodies(["d", "e"], storage)
        do { try begin("g", 300_000).file.keep() }
        try await awaitBodies(["g"], storage)
    }

    @Test func bodiesThatBrokeOffTakeAQuarterOfTheLimitOfTheirCache() throws {
        let engine = try TestEngine(folder: folder) { $0.defaults.disk.bytesLimit = 4000 }
        var limit: Int { engine.manager.services.spool.resumeLimit.load(ordering: .relaxed) }
        #expect(limit == 1000)
        try engine.manager.caches.configure("other") { $0.disk.bytesLimit = 80 }
        #expect(limit == 1000)
        try engine.manager.caches.configure(CacheRegistry.defaultName) { $0.disk.bytesLimit = 8000 }
        #expect(limit == 2000)
        var settings = engine.cache.configuration
        settings.disk.bytesLimit = 0
        try engine.manager.caches.configureAll(defaults: settings, caches: [:])
        #expect(limit == 1 << 30)
    }

    @Test func lookingForLeftoversLeavesWhatCanBeGoneOnWith() throws {
        let storage = StorageFolder(path: folder.path + "/cache/default")
        do {
            let part = try #require(ResumeFolder(storage).begin(Digest(of: "a"), try note()))
            try write(100_000, to: part)
        }
        try LeftoverCollector(disk: engine().cache.disk).run()
        #expect(parts.count == 2)
    }
}
