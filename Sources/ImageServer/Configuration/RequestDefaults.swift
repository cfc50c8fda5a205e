internal import ImageEngine

/// The default options of a server, of which those that the client has configured last may still be taken back: a plain value.
struct RequestDefaults: Sendable {
    /// Those that do not come from `configure`.
    private var others: DefaultOptions
    private var settled = DefaultOptions()
    private var changes: [(number: Int, options: DefaultOptions, isSettled: Bool)] = []
    private var last = 0
    /// The options of a request that names none; `nil` when all are as built in.
    private(set) var options: ImageOptions?

    init(_ others: DefaultOptions) {
        self.others = others
        options = try? all.options()
    }

    /// All of them together.
    var all: DefaultOptions {
        ([settled] + changes.map(\.options)).reduce(into: others) { $0.add($1) }
    }

    /// Replaces those that do not come from `configure`.
    mutating func use(_ others: DefaultOptions) throws(Mismatch) {
        try update { $0.others = others }
    }

    /// Adds a change, and returns its number.
    mutating func add(_ options: DefaultOptions) throws(Mismatch) -> Int {
        try update {
            $0.last += 1
            $0.changes.append(($0.last, options, false))
        }
        return last
    }

    /// Ends the time in which a change may be taken back.
    mutating func settle(_ number: Int, takesBack: Bool) throws(Mismatch) {
        guard let index = changes.firstIndex(where: { $0.number == number }) else { return }
        try update { defaults in
            if takesBack { defaults.changes.remove(at: index) } else { defaults.changes[index].isSettled = true }
            while let first = defaults.changes.first, first.isSettled {
                defaults.settled.add(first.options)
                defaults.changes.removeFirst()
            }
        }
    }

    private mutating func update(_ change: (inout RequestDefaults) -> Void) throws(Mismatch) {
        var next = self
        change(&next)
        next.options = try next.all.options()
        self = next
    }
}
