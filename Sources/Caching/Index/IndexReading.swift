/// The questions that both connections answer, for reading and for writing.
protocol IndexReading {
    typealias Failure = SQLiteDatabase.Failure

    var connection: IndexConnection { get }
}

extension IndexReading {
    func details(_ number: Int64) throws(Failure) -> IndexDetails? {
        try connection.first(.details, number, read: IndexDetails.init) ?? nil
    }

    /// The entries with `key` that processors made, or that belong to one user.
    func variants(of key: String) throws(Failure) -> [IndexRow] {
        try connection.all(.variants, key, read: IndexRow.init)
    }

    /// The files that are kept for leases.
    func lentFiles() throws(Failure) -> [LentFile] {
        try connection.all(.lentFiles, read: LentFile.init)
    }

    /// The numbers of entries that no version of ours would have written. Reads all entries.
    func unreadable() throws(Failure) -> [Int64] {
        try connection.all(.unreadable) { statement in
            let number = Int64(statement.integer(0))
            return IndexRow(statement)?.number == number ? nil : number
        }
    }
}

/// A file that has no entry any more, and is kept for a lease or goes.
struct LentFile: Sendable {
    let name: String
    let bytes: Int
    /// The end of the lease; 0 when it goes at once unless it is lent, and ``atOnce``.
    let until: Int

    /// The end of a lease that does not count: that of an image which was removed.
    static let atOnce = -1

    init?(_ statement: SQLiteStatement) {
        guard let name = statement.text(0) else { return nil }
        (self.name, bytes, until) = (name, statement.integer(1), statement.integer(2))
    }
}
