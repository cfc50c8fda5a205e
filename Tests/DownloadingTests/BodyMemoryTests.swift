import Foundation
import TestSupport
import Testing

@testable import Downloading

/// What waits to be stored is in memory only as far as that is bounded for all downloads together.
@Suite struct BodyMemoryTests {
    private static func body(_ place: SpoolPlace, count: Int) throws -> DownloadedBody {
        let spool = BodySpool(place)
        try [UInt8](repeating: 1, count: count).withUnsafeBytes { try spool.append($0, expected: count) }
        return try spool.finish()
    }

    @Test func bodiesBeyondTheMemoryOfAllAreCollectedInFiles() throws {
        let folder = try TemporaryFolder()
        let names = Counter()
        let place = SpoolPlace(makePath: { "\(folder.path)/\(names.add()).part" })
        let size = BodySpool.memoryLimit
        var bodies: [DownloadedBody] = []
        for _ in 0..<(BodyMemory.limit / size) { bodies.append(try Self.body(place, count: size)) }
        #expect(bodies.filter { !$0.isInMemory }.isEmpty)
        let beyond = try Self.body(place, count: 10)
        #expect(!beyond.isInMemory && beyond.count == 10)
        #expect(try beyond.bytes() == [UInt8](repeating: 1, count: 10))
        bodies.removeLast()
        #expect(try Self.body(place, count: 10).isInMemory, "those that are used up make room")
    }
}
