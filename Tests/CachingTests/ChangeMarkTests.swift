import TestSupport
import Testing

@testable import Caching
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The marks by which processes learn that entries have changed.
@Suite struct ChangeMarkTests {
    private let disk: TestDisk

    init() throws {
        disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "a")
    }

    private var number: Int64 { disk.disk.name(of: CacheKey("a")).rowNumber }
    private var mark: ChangeMark { disk.disk.lending.changeMark(of: number) }

    /// Writes the entry once more in a transaction, and does `more` in it; the mark that is foretold before that.
    private func foretell(_ more: @Sendable (IndexWriter, IndexRow) throws -> Void) throws -> ChangeMark {
        try disk.disk.index.write { [number] writer in
            let row = try #require(try writer.row(number))
            try writer.put(row)
            let mark = writer.mark(of: number)
            try more(writer, row)
            return mark
        }
    }

    @Test func theMarkThatATransactionForetellsIsThatOfTheEntryUnlessItChangesItOnceMore() throws {
        let foretold = try foretell { _, _ in }
        #expect(foretold == mark)
        let outdated = try foretell { writer, row in try writer.remove(row.number) }
        #expect(outdated != mark)
    }

    /// Such a version counts its transactions, and none of the images that it removes.
    @Test func eachTransactionOfAnOlderVersionChangesAllMarks() throws {
        let before = mark
        overwrite(disk.root + "/leases/table", [200, 0, 0, 0], at: 64, truncates: false)
        #expect(before != mark)
        #expect(try foretell { _, _ in } == mark)
    }
}
