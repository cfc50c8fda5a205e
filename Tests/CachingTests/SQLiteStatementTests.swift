import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

@Suite struct SQLiteStatementTests {
    /// Short ones share a piece of memory that the next run uses again; long ones do not fit into it.
    @Test(arguments: [0, 1, 40, 600, 2047, 2048, 2049, 70_000])
    func whatIsBoundIsWhatIsWrittenHoweverLongItIs(_ count: Int) throws {
        let folder = try TemporaryFolder()
        let database = try SQLiteDatabase(path: folder.path + "/test.sqlite", creates: true)
        try database.execute("CREATE TABLE pieces(number INTEGER, one TEXT, two BLOB, three TEXT, four TEXT)")
        let insert = try database.prepare("INSERT INTO pieces VALUES(?1, ?2, ?3, ?4, ?5)")
        func text(_ letter: Character, _ number: Int) -> String {
            String(repeating: letter, count: count) + "\(number)"
        }
        for number in 0..<5 {
            insert.bind(
                number, text("a", number), Digest(of: text("b", number)), nil as String?,
                number == 3 ? "" : text("é", number))
            try insert.run()
        }
        let select = try database.prepare("SELECT * FROM pieces ORDER BY number")
        for number in 0..<5 {
            #expect(try select.step())
            #expect(select.text(1) == text("a", number))
            #expect(select.digest(2) == Digest(of: text("b", number)))
            #expect(select.text(3) == nil)
            #expect(select.text(4) == (number == 3 ? "" : text("é", number)))
        }
        #expect(try !select.step())
    }

    /// What kept it from being opened with others may have been over at once, and then they write.
    @Test func connectionThatTakesTheFileForUnchangedKnowsWhenItIsNot() throws {
        let scratch = try TemporaryFolder()
        let path = scratch.path + "/index.sqlite"
        func open() throws -> SQLiteDatabase { try SQLiteDatabase(path: path, creates: true) }
        try open().execute("PRAGMA journal_mode = WAL; CREATE TABLE one (number); INSERT INTO one VALUES (1)")
        try #require(symlink("index.sqlite-shm", path + "-shm") == 0)
        let reader = try SQLiteDatabase.reading(path)
        try #require(unlink(path + "-shm") == 0)
        #expect(try reader.number("SELECT number FROM one") == 1)
        #expect(reader.isCurrent(path))
        let writer = try open()
        try writer.execute("UPDATE one SET number = 2")
        #expect(try reader.number("SELECT number FROM one") == 1, "it knows nothing of the log")
        #expect(!reader.isCurrent(path))
        let next = try SQLiteDatabase.reading(path)
        #expect(try next.number("SELECT number FROM one") == 2)
        try writer.execute("UPDATE one SET number = 3")
        #expect(next.isCurrent(path), "it shares memory with those that write")
        #expect(try next.number("SELECT number FROM one") == 3)
    }
}
